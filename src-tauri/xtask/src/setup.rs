//! Everything a fresh machine lacks: system packages, UI packages and bundle, models. Each step looks first and does nothing
//! when its result is there, so it runs again in moments and without a network.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process::{built, cargo, command, output, root, run, succeeds};
use crate::python::{cache_dir, environment};

const BUILD_PACKAGES: &[&str] = &[
    "libwebkit2gtk-4.1-dev",
    "libgtk-3-dev",
    "libayatana-appindicator3-dev",
    "librsvg2-dev",
    "libxdo-dev",
    "libssl-dev",
    "libdbus-1-dev",
    "pkg-config",
    "build-essential",
    "cmake",
    "clang",
    "python3-venv",
    "python3-pip",
];

const TEST_PACKAGES: &[&str] = &[
    "xvfb",
    "xauth",
    "webkit2gtk-driver",
    "dbus",
    "dbus-x11",
    "gnome-keyring",
    "libsecret-tools",
    "fonts-noto-cjk",
    "poppler-utils",
    "imagemagick",
    "ffmpeg",
    "gstreamer1.0-plugins-base",
    "gstreamer1.0-plugins-good",
    "gstreamer1.0-plugins-bad",
    "gstreamer1.0-libav",
    "libreoffice-writer",
    "libreoffice-impress",
    "libreoffice-calc",
    "xdotool",
    "python3-xlib",
];

/// What `cargo xtask run` needs. `features` are those of the programs that are built on the way.
pub(crate) fn for_running(features: &[&str]) -> Result<()> {
    system_packages(BUILD_PACKAGES)?;
    ui()?;
    models(features);
    Ok(())
}

/// What `cargo xtask test` needs beyond that.
pub(crate) fn for_tests(features: &[&str]) -> Result<()> {
    for_running(features)?;
    system_packages(TEST_PACKAGES)?;
    cargo_tool("tauri-driver", "2.1.0")?;
    cargo_tool("cargo-deny", "0.20.2")?;
    npm_packages(&root().join("tests/e2e"))
}

fn system_packages(names: &[&str]) -> Result<()> {
    if !succeeds(command("apt-get", &["--version"])) {
        eprintln!("not a Debian-like system: please install the equivalents of {}", names.join(", "));
        return Ok(());
    }
    let missing: Vec<&str> = names.iter().copied().filter(|name| !is_installed(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let is_root = output(command("id", &["-u"])).is_some_and(|id| id.trim() == "0");
    if !is_root && !succeeds(command("sudo", &["-v"])) {
        bail!(
            "these system packages are missing and cannot be installed without administrator rights; please run:\n  sudo apt-get install --no-install-recommends {}",
            missing.join(" ")
        );
    }
    let apt = |args: &[&str]| {
        let mut words = if is_root { vec![] } else { vec!["sudo"] };
        words.extend(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        words.extend_from_slice(args);
        run(command(words[0], &words[1..]))
    };
    apt(&["update", "-qq"])?;
    let mut install = vec!["install", "-y", "-qq", "--no-install-recommends"];
    install.extend(missing);
    apt(&install).context("system packages could not be installed; is the package server reachable?")
}

fn is_installed(name: &str) -> bool {
    output(command("dpkg-query", &["-W", "-f=${Status}", name]))
        .is_some_and(|status| status.ends_with("ok installed"))
}

/// UI packages and the bundle in `ui/dist`, made anew when a source changed.
pub(crate) fn ui() -> Result<()> {
    let ui = root().join("ui");
    npm_packages(&ui)?;
    let stamp = ui.join("dist/.sources");
    let now = tree_stamp(&ui)?;
    if fs::read_to_string(&stamp).is_ok_and(|then| then == now) {
        return Ok(());
    }
    run(in_dir(&ui, "npm", &["run", "--silent", "build"]))?;
    fs::write(&stamp, now).context("could not write the UI stamp")
}

fn npm_packages(dir: &Path) -> Result<()> {
    let lock = dir.join("package-lock.json");
    let wanted = fs::read_to_string(&lock).with_context(|| format!("could not read {}", lock.display()))?;
    let stamp = dir.join("node_modules/.zhiku-lock");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    if !succeeds(command("npm", &["--version"])) {
        bail!("Node.js with npm is missing; install Node 20 or newer and run this again");
    }
    run(in_dir(dir, "npm", &["ci", "--no-audit", "--no-fund"]))
        .context("UI packages could not be installed")?;
    fs::write(&stamp, wanted).context("could not write the package stamp")
}

/// Models, ONNX Runtime and PDFium, by the application's own fetcher. A failure is not the end: words can be searched without.
fn models(features: &[&str]) {
    let fetched = built("zhiku", features)
        .and_then(|program| run(command(&program.to_string_lossy(), &["models", "fetch"])));
    if let Err(error) = fetched {
        eprintln!(
            "models are not complete: {error:#}\nZhiku starts all the same; see `zhiku doctor` for what is missing"
        );
    }
}

/// The folder of what speech recognition is measured on, rendered into the cache folder. A failure is not the end: those
/// tests are skipped.
pub(crate) fn recordings() -> Option<PathBuf> {
    match render_recordings() {
        Ok(folder) => Some(folder),
        Err(error) => {
            eprintln!("skipped: the recordings that speech recognition is measured on ({error:#})");
            None
        }
    }
}

fn render_recordings() -> Result<PathBuf> {
    let fixtures = root().join("fixtures");
    let folder = cache_dir()?.join("recordings");
    let mut hasher = DefaultHasher::new();
    for source in ["make_recordings.py", "recording_texts.py", "speech.py"] {
        fs::read(fixtures.join(source))?.hash(&mut hasher);
    }
    let (stamp, now) = (folder.join("sources"), format!("{:016x}", hasher.finish()));
    if fs::read_to_string(&stamp).is_ok_and(|then| then == now) {
        return Ok(folder);
    }
    let python = environment(&fixtures.join("recordings.txt"))?;
    run(in_dir(&fixtures, &python.to_string_lossy(), &["make_recordings.py", &folder.to_string_lossy()]))?;
    fs::write(&stamp, now).with_context(|| format!("could not write {}", stamp.display()))?;
    Ok(folder)
}

fn cargo_tool(name: &str, version: &str) -> Result<()> {
    let installed = output(cargo(&["install", "--list"])).unwrap_or_default();
    if installed.contains(&format!("{name} v{version}:")) {
        return Ok(());
    }
    run(cargo(&["install", name, "--version", version, "--locked"]))
}

pub(crate) fn in_dir(dir: &Path, program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(dir);
    command
}

/// A fingerprint of the UI's sources: names, sizes and contents.
fn tree_stamp(ui: &Path) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    let mut pending = vec![ui.to_path_buf()];
    while let Some(dir) = pending.pop() {
        let mut entries: Vec<_> = fs::read_dir(&dir)?.collect::<std::io::Result<_>>()?;
        entries.sort_by_key(fs::DirEntry::path);
        for entry in entries {
            let name = entry.file_name();
            if entry.file_type()?.is_dir() {
                if name != "node_modules" && name != "dist" {
                    pending.push(entry.path());
                }
            } else {
                entry.path().strip_prefix(ui)?.hash(&mut hasher);
                fs::read(entry.path())?.hash(&mut hasher);
            }
        }
    }
    Ok(format!("{:016x}", hasher.finish()))
}
