//! One process owns a vault. The lock is the operating system's, so a killed owner leaves none behind; who holds it is
//! written into a file beside it, for the message that the second process shows.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Result, VaultError};

const LOCK_FILE: &str = "owner.lock";
const OWNER_FILE: &str = "owner.json";

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
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(VaultError::Locked { owner: read_owner(dir) }),
            Err(TryLockError::Error(source)) => return Err(VaultError::Io { path, source }),
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
