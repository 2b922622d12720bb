//! Running other programs: what is run is shown, and a failure names the program.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The checkout this program was built from.
pub(crate) fn root() -> PathBuf {
    // CARGO_MANIFEST_DIR is <root>/src-tauri/xtask; `cargo xtask` sets it at run time as well.
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest.ancestors().nth(2).map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// A command that runs in the checkout.
pub(crate) fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    command
}

pub(crate) fn cargo(args: &[&str]) -> Command {
    command(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()), args)
}

/// Builds one of the programs and tells where it is. All programs and tests are built with the features of the whole
/// workspace, so that no dependency is compiled twice.
pub(crate) fn built(name: &str, features: &[&str]) -> Result<PathBuf> {
    let features = features.join(",");
    let mut words = vec!["build", "--quiet", "--workspace", "--bin", name];
    if !features.is_empty() {
        words.extend(["--features", &features]);
    }
    run(cargo(&words))?;
    Ok(target_dir().join("debug").join(program_name(name)))
}

/// Builds one of the example programs in release and tells where it is.
pub(crate) fn built_example(name: &str) -> Result<PathBuf> {
    run(cargo(&["build", "--release", "--workspace", "--example", name]))?;
    Ok(target_dir().join("release/examples").join(program_name(name)))
}

fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

fn program_name(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

/// Shows the command, runs it, and fails when it fails.
pub(crate) fn run(mut command: Command) -> Result<()> {
    let shown = show(&command);
    eprintln!("\n▸ {shown}");
    let status = command.status().with_context(|| format!("could not start {shown}"))?;
    if !status.success() {
        bail!("{shown} failed ({status})");
    }
    Ok(())
}

/// Whether a command runs and succeeds; its output is thrown away.
pub(crate) fn succeeds(mut command: Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// What a command prints, or `None` when it cannot run or fails.
pub(crate) fn output(mut command: Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn show(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_name()
        .unwrap_or(command.get_program())
        .to_string_lossy()
        .into_owned();
    let args = command.get_args().map(|arg| arg.to_string_lossy().into_owned());
    std::iter::once(program).chain(args).collect::<Vec<_>>().join(" ")
}
