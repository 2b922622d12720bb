//! Files of old Office to new ones, by LibreOffice as a process of its own.
//!
//! The parent does it: a worker cannot start programs. LibreOffice gets a copy of the file in a folder of its own, a profile of
//! its own, a time limit, and is ended with everything it started. The result is then parsed like any foreign file.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use zhiku_core::DocumentKind;

use super::command::ParseLimits;
use crate::detect::extension;
use crate::error::{Library, ParseError};

/// The environment variable that names the LibreOffice program when it is not where it usually is.
const SOFFICE_VARIABLE: &str = "ZHIKU_SOFFICE";
/// Longer than a conversion takes; the first start of LibreOffice alone takes some ten seconds.
const MAX_TIME: Duration = Duration::from_mins(3);
const TICK: Duration = Duration::from_millis(40);

/// The new file; it is gone when this value is.
pub(super) struct Converted {
    pub(super) path: PathBuf,
    _folder: TempDir,
}

/// `kind` is Doc or Ppt; where it is not known the name decides.
pub(super) fn to_new_office(
    path: &Path,
    name: &str,
    kind: Option<DocumentKind>,
    limits: &ParseLimits,
    cancel: &CancellationToken,
) -> Result<Converted, ParseError> {
    let is_slides = match kind {
        Some(kind) => kind == DocumentKind::Ppt,
        None => matches!(extension(name).as_deref(), Some("ppt" | "pps" | "pot")),
    };
    let (old, new) = if is_slides { ("ppt", "pptx") } else { ("doc", "docx") };
    let io_error =
        |err: std::io::Error| ParseError::Io { attempt: format!("convert {name}"), detail: err.to_string() };
    let program = find_program().ok_or_else(|| ParseError::LibraryMissing {
        library: Library::LibreOffice,
        detail: format!("{name} is of old Office and LibreOffice, which converts it, is not installed"),
    })?;
    let folder = tempfile::tempdir().map_err(io_error)?;
    let input = folder.path().join(format!("input.{old}"));
    std::fs::copy(path, &input).map_err(io_error)?;
    let mut command = Command::new(program);
    command
        .args([
            "--headless",
            "--norestore",
            "--nologo",
            "--nodefault",
            "--nolockcheck",
            "--nofirststartwizard",
        ])
        .arg(format!("-env:UserInstallation={}", file_url(&folder.path().join("profile"))))
        .args(["--convert-to", new, "--outdir"])
        .arg(folder.path())
        .arg(&input)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Running::start(&mut command).map_err(io_error)?.wait(name, limits.total_time.min(MAX_TIME), cancel)?;
    let path = folder.path().join(format!("input.{new}"));
    if !path.is_file() {
        return Err(ParseError::damaged(name, "LibreOffice could not open it"));
    }
    Ok(Converted { path, _folder: folder })
}

fn find_program() -> Option<PathBuf> {
    if let Some(stated) = std::env::var_os(SOFFICE_VARIABLE) {
        return Some(PathBuf::from(stated)).filter(|path| path.is_file());
    }
    let names = if cfg!(windows) { &["soffice.exe"][..] } else { &["soffice", "libreoffice"][..] };
    let folders = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let usual = [
        "/Applications/LibreOffice.app/Contents/MacOS",
        "C:\\Program Files\\LibreOffice\\program",
        "/usr/lib/libreoffice/program",
        "/opt/libreoffice/program",
    ];
    let folders = folders.unwrap_or_default().into_iter().chain(usual.map(PathBuf::from));
    folders.flat_map(|folder| names.iter().map(move |name| folder.join(name))).find(|path| path.is_file())
}

/// A path as LibreOffice wants it.
fn file_url(path: &Path) -> String {
    let mut url = String::from("file://");
    let path = path.to_string_lossy().replace('\\', "/");
    if !path.starts_with('/') {
        url.push('/');
    }
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~:".contains(&byte) {
            url.push(char::from(byte));
        } else {
            let code = format!("%{byte:02X}");
            url.push_str(&code);
        }
    }
    url
}

/// A running LibreOffice. Dropping it ends it and what it started.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> std::io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        command.spawn().map(Self)
    }

    fn wait(mut self, name: &str, time: Duration, cancel: &CancellationToken) -> Result<(), ParseError> {
        let started = Instant::now();
        loop {
            let ended = self.0.try_wait().map_err(|err| ParseError::Io {
                attempt: format!("convert {name}"),
                detail: err.to_string(),
            })?;
            if ended.is_some() {
                return Ok(());
            }
            if cancel.is_cancelled() {
                return Err(ParseError::Cancelled { name: name.to_owned() });
            }
            if started.elapsed() > time {
                return Err(ParseError::LimitExceeded { name: name.to_owned(), what: "time".to_owned() });
            }
            std::thread::sleep(TICK);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(Some(_))) {
            return;
        }
        // It starts further processes, which live in its group.
        #[cfg(unix)]
        let _ = rustix::process::kill_process_group(
            rustix::process::Pid::from_child(&self.0),
            rustix::process::Signal::KILL,
        );
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_urls_whatever_is_in_them() {
        assert_eq!(file_url(Path::new("/tmp/a b/文")), "file:///tmp/a%20b/%E6%96%87");
    }
}
