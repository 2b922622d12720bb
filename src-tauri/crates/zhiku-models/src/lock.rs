//! One process at a time fetches into a folder. The lock goes when its holder ends, however it ends.

use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::error::ModelsError;

const POLL: Duration = Duration::from_millis(50);

/// Held until dropped.
#[derive(Debug)]
pub(crate) struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Creates `folder` and waits for its lock, until cancelled. `id` is for the error.
    pub(crate) fn acquire(folder: &Path, id: &str, cancel: &CancellationToken) -> Result<Self, ModelsError> {
        fs::create_dir_all(folder).map_err(|error| ModelsError::io("create", folder, error))?;
        let path = folder.join(".lock");
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|error| ModelsError::io("open", &path, error))?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::Error(error)) => return Err(ModelsError::io("lock", &path, error)),
                Err(TryLockError::WouldBlock) if cancel.is_cancelled() => {
                    return Err(ModelsError::Cancelled { id: id.to_owned() });
                }
                // The standard library has no lock with a time limit.
                Err(TryLockError::WouldBlock) => std::thread::sleep(POLL),
            }
        }
    }
}
