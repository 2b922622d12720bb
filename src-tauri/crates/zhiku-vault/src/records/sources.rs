//! Where documents come from: files outside, watched folders, stored originals.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use zhiku_core::{DocumentId, DocumentKind, DocumentState, UtcMs};

use super::{Sha256, VersionRef};

/// What came inside another document.
#[derive(Clone, Copy, Debug)]
pub struct ChildSource<'a> {
    /// Names it inside its container.
    pub name: &'a str,
    pub title: &'a str,
    pub kind: DocumentKind,
    /// A picture of a page rather than a file of its own: no list shows it.
    pub embedded: bool,
}

/// A folder whose files are taken in as they come and change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedFolder {
    pub path: PathBuf,
    /// Patterns as in `.gitignore` of what is left out.
    pub ignore: Vec<String>,
    pub added: UtcMs,
}

/// A place that a document was imported from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    pub document: DocumentId,
    pub path: PathBuf,
    /// Size and time of change when it was last taken in, where that is known.
    pub stamp: Option<FileStamp>,
    pub is_missing: bool,
}

/// What tells without reading that a file is what it was.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileStamp {
    pub bytes: u64,
    pub modified_ms: i64,
    /// The same for a file wherever it is moved on its disk, and for no other; `None` where the system tells none.
    pub identity: Option<String>,
}

impl FileStamp {
    pub fn of(metadata: &std::fs::Metadata) -> Self {
        let modified_ms = metadata.modified().map_or(0, millis);
        Self { bytes: metadata.len(), modified_ms, identity: identity(metadata) }
    }
}

fn millis(at: std::time::SystemTime) -> i64 {
    at.duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

/// The number of a deleted file is given to the next one: only with the time of creation does it name a file.
#[cfg(unix)]
fn identity(metadata: &std::fs::Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let created = metadata.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(format!("{:x}:{:x}:{:x}", metadata.dev(), metadata.ino(), created.as_nanos()))
}

#[cfg(not(unix))]
fn identity(_: &std::fs::Metadata) -> Option<String> {
    None
}

/// A source's bytes, known to the object store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredObject {
    pub hash: Sha256,
    pub bytes: u64,
    /// Set when the bytes stay where they are, being too many to copy.
    pub referenced_path: Option<PathBuf>,
}

/// What an import calls a version's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLabel {
    pub file_name: String,
    pub title: String,
    pub kind: DocumentKind,
}

/// What an import brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterOutcome {
    /// A new document.
    New,
    /// These bytes are there already: nothing to do, unless that version failed.
    SameBytes,
    /// A known source with other bytes.
    NewVersion,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registered {
    pub version: VersionRef,
    pub outcome: RegisterOutcome,
    /// The version's state now; `Failed` with `SameBytes` means it may be tried again.
    pub state: DocumentState,
}

/// What is known of a version's original.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectState {
    /// Copied into the vault.
    Stored,
    /// Outside the vault, unchanged as far as its size tells.
    Referenced,
    /// Outside the vault and not there any more.
    Missing,
    /// Outside the vault and not what it was.
    Changed,
}
