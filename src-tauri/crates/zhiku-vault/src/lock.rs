//! One process owns a vault. The lock is the operating system's, so a killed owner leaves none behind; who holds it is
//! written into a file beside it, for the message that the second process shows.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::{Result, VaultError};

const LOCK_FILE: &str = "owner.lock";
const OWNER_FILE: &str = "owner.json";
/// How long an owner that is just ending may take. The lock of a killed one lives on for a moment when it was starting a
/// process: the new process holds all open files until it runs its own program.
const PATIENCE: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Who has the vault open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockOwner {
    pub pid: u32,
    pub program: String,
    /// UTC milliseconds.
    pub since_ms: i64,
}

impl fmt::Display for LockOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.program, self.pid)
    }
}

/// Held while the vault is open for writing; released when dropped or when the process ends.
#[derive(Debug)]
pub(crate) struct OwnerLock {
    _file: File,
}

impl OwnerLock {
    pub(crate) fn acquire(dir: &Path, program: &str, now_ms: i64) -> Result<Self> {
        let path = dir.join(LOCK_FILE);
        let file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(&path)
            .map_err(VaultError::io(&path))?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => std::thread::sleep(LOOK_AGAIN),
                Err(TryLockError::WouldBlock) => return Err(VaultError::Locked { owner: read_owner(dir) }),
                Err(TryLockError::Error(source)) => return Err(VaultError::Io { path, source }),
            }
        }
        let owner = LockOwner { pid: std::process::id(), program: program.to_owned(), since_ms: now_ms };
        let owner_path = dir.join(OWNER_FILE);
        let text = serde_json::to_vec(&owner).map_err(|_| VaultError::Damaged { what: "lock owner" })?;
        std::fs::write(&owner_path, text).map_err(VaultError::io(&owner_path))?;
        Ok(Self { _file: file })
    }
}

fn read_owner(dir: &Path) -> LockOwner {
    std::fs::read(dir.join(OWNER_FILE))
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or(LockOwner { pid: 0, program: "another program".to_owned(), since_ms: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_that_is_just_ending_is_waited_for_and_another_is_named() {
        let dir = tempfile::tempdir().expect("temp dir");
        let first = OwnerLock::acquire(dir.path(), "first", 1).expect("free");
        let Err(VaultError::Locked { owner }) = OwnerLock::acquire(dir.path(), "second", 2) else {
            panic!("two owners");
        };
        assert_eq!(owner.program, "first");
        let ending = std::thread::spawn(move || {
            std::thread::sleep(PATIENCE / 4);
            drop(first);
        });
        OwnerLock::acquire(dir.path(), "third", 3).expect("free again");
        ending.join().expect("ends");
    }
}
