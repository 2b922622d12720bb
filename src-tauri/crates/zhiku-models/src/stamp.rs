//! Sums of files, and the notes that spare computing them at every start.
//!
//! Beside a file that was found whole lies `<name>.verified` with its sum, size and time of change. As long as size and time
//! are the same the file counts as verified; anything else is hashed again.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

const BLOCK: usize = 1 << 20;

/// Lower-case hexadecimal sha256. Stops with [`io::ErrorKind::Interrupted`] when cancelled.
pub(crate) fn sha256(path: &Path, cancel: &CancellationToken) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut block = vec![0; BLOCK];
    loop {
        if cancel.is_cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        match file.read(&mut block)? {
            0 => return Ok(hex(&hasher.finalize())),
            n => hasher.update(&block[..n]),
        }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Notes that `path` has the sum `sum`. A folder that cannot be written costs a hash at the next start, nothing else.
pub(crate) fn write(path: &Path, sum: &str) {
    let written = content(path, sum).and_then(|content| fs::write(stamp_path(path), content));
    if let Err(error) = written {
        tracing::debug!(path = %path.display(), %error, "could not note that a model file is verified");
    }
}

/// Whether `path` is unchanged since [`write()`] noted this very sum.
pub(crate) fn holds(path: &Path, sum: &str) -> bool {
    let (Ok(expected), Ok(noted)) = (content(path, sum), fs::read_to_string(stamp_path(path))) else {
        return false;
    };
    expected == noted
}

pub(crate) fn remove(path: &Path) {
    // Absent is as good as removed, and a stamp that stays does not fit a changed file.
    let _ = fs::remove_file(stamp_path(path));
}

fn stamp_path(path: &Path) -> PathBuf {
    with_suffix(path, ".verified")
}

/// `model.onnx` to `model.onnx<suffix>`.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn content(path: &Path, sum: &str) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    let changed = metadata.modified()?.duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
    Ok(format!("sha256 {sum}\nbytes {}\nmodified_ns {}\n", metadata.len(), changed.as_nanos()))
}
