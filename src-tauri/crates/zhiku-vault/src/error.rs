//! What can go wrong in a vault, and whose fault it is.

use std::path::PathBuf;

use zhiku_core::{ErrorCode, Fault};

use crate::lock::LockOwner;
use crate::principal::Function;

/// Every failure names the thing that failed; [`Self::hint`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    #[error("could not use the database: {0}")]
    Database(#[from] rusqlite::Error),
    #[error("could not use the lexical index: {0}")]
    Lexical(#[from] tantivy::TantivyError),
    #[error("could not access {path}: {source}", path = path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("could not open the vault: {owner} has it open")]
    Locked { owner: LockOwner },
    #[error(
        "could not open the database: its schema {found} is newer than {supported}, the newest this program knows"
    )]
    TooNew { found: u32, supported: u32 },
    /// Not there or not visible: the two look the same.
    #[error("could not find {what}")]
    NotFound { what: &'static str },
    #[error("the role does not allow to {function}")]
    Denied { function: Function },
    #[error("{0}")]
    InvalidInput(String),
    #[error("could not write: the vault is open for reading only")]
    ReadOnly,
    #[error("could not read the stored {what}")]
    Damaged { what: &'static str },
    #[error("the database's writer stopped")]
    WriterStopped,
}

/// Shorthand of this crate.
pub type Result<T, E = VaultError> = std::result::Result<T, E>;

impl VaultError {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }

    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Locked { .. } => ErrorCode::VaultLocked,
            Self::TooNew { .. } => ErrorCode::VaultTooNew,
            Self::NotFound { .. } => ErrorCode::NotFound,
            Self::Denied { .. } => ErrorCode::Denied,
            Self::InvalidInput(_) | Self::ReadOnly => ErrorCode::InvalidInput,
            Self::Database(_)
            | Self::Lexical(_)
            | Self::Io { .. }
            | Self::Damaged { .. }
            | Self::WriterStopped => ErrorCode::Internal,
        }
    }

    pub fn fault(&self) -> Fault {
        match self {
            Self::NotFound { .. } | Self::Denied { .. } | Self::InvalidInput(_) | Self::TooNew { .. } => {
                Fault::User
            }
            Self::Locked { .. } | Self::Io { .. } | Self::Damaged { .. } | Self::ReadOnly => {
                Fault::Environment
            }
            Self::Database(error) => match error.sqlite_error_code() {
                Some(
                    rusqlite::ErrorCode::DiskFull
                    | rusqlite::ErrorCode::SystemIoFailure
                    | rusqlite::ErrorCode::DatabaseCorrupt
                    | rusqlite::ErrorCode::DatabaseBusy
                    | rusqlite::ErrorCode::ReadOnly
                    | rusqlite::ErrorCode::CannotOpen,
                ) => Fault::Environment,
                _ => Fault::Bug,
            },
            Self::Lexical(tantivy::TantivyError::IoError(_)) => Fault::Environment,
            Self::Lexical(_) | Self::WriterStopped => Fault::Bug,
        }
    }

    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Locked { .. } => Some("close the other program, or open the vault for reading only".into()),
            Self::TooNew { .. } => Some("install the newest Zhiku".into()),
            _ if self.is_disk_full() => Some("free some disk space".into()),
            Self::Denied { .. } => Some("ask an owner of the vault".into()),
            _ => None,
        }
    }

    /// Whether it failed for want of room, and succeeds when there is some.
    pub fn is_disk_full(&self) -> bool {
        let full = |error: &std::io::Error| error.kind() == std::io::ErrorKind::StorageFull;
        match self {
            Self::Io { source, .. } => full(source),
            Self::Database(error) => error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull),
            Self::Lexical(tantivy::TantivyError::IoError(error)) => full(error),
            _ => false,
        }
    }

    pub fn retryable(&self) -> bool {
        matches!(self, Self::Locked { .. } | Self::Io { .. })
    }
}
