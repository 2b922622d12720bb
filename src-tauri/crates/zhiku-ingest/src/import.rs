//! Taking a file in: recognise it, store its bytes, register the source, queue the work.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use zhiku_core::{
    DocumentKind, DocumentState, JobStage, Locator, ParsedUnit, Process, Reason, Trust, UnitKind,
};
use zhiku_parse::detect::{HEAD_BYTES, detect};
use zhiku_vault::{
    FileStamp, JobKind, RegisterOutcome, Registered, Scope, StoredObject, Urgency, Vault, VaultError,
};

use crate::governor::HoldUp;
use crate::media_kind::media_kind;

/// Goes up when stored units of older versions of this code must be made again.
pub(crate) const PARSE_VERSION: u32 = 1;

/// What became of one file.
#[derive(Clone, Debug)]
pub enum Imported {
    /// Work is queued.
    Queued(Registered),
    /// These bytes are there already.
    Unchanged(Registered),
    /// The file cannot be taken in; the others are not affected.
    Refused(Reason),
}

/// How often a file is read again that changes while it is read.
const READINGS: usize = 3;

/// Takes in one file. A file that cannot be read or is of no known format is a refusal, not an error: one bad file never
/// stops a batch. Nor is it one when there is no room: it can be taken in later.
pub fn import_path(
    vault: &Vault,
    scope: &Scope,
    path: &Path,
    urgency: Urgency,
) -> Result<Imported, VaultError> {
    let kind = match recognise(path) {
        Ok(kind) => kind,
        Err(reason) => return Ok(Imported::Refused(reason)),
    };
    let (object, stamp) = match read_whole(vault, path)? {
        Ok(read) => read,
        Err(reason) => return Ok(Imported::Refused(reason)),
    };
    let registered = vault.register_source(scope, path, &title_of(path), kind, &object)?;
    vault.stamp_source(scope, path, &stamp)?;
    queue(vault, scope, registered, urgency)
}

fn queue(
    vault: &Vault,
    scope: &Scope,
    registered: Registered,
    urgency: Urgency,
) -> Result<Imported, VaultError> {
    let is_new = registered.outcome != RegisterOutcome::SameBytes;
    match registered.state {
        DocumentState::Published if !is_new => return Ok(Imported::Unchanged(registered)),
        DocumentState::Failed if !is_new => {
            vault.retry_version(scope, registered.version)?;
        }
        _ => {
            vault.enqueue_job_with(scope, registered.version, JobKind::Import, urgency)?;
        }
    }
    Ok(Imported::Queued(registered))
}

/// A file's bytes as they were at one time: what was written to while it was read is read again, and what went away leaves
/// nothing behind.
fn read_whole(vault: &Vault, path: &Path) -> Result<Result<(StoredObject, FileStamp), Reason>, VaultError> {
    let stamp = |path: &Path| std::fs::metadata(path).map(|metadata| FileStamp::of(&metadata));
    for _ in 0..READINGS {
        let before = match stamp(path) {
            Ok(before) => before,
            Err(error) => return Ok(Err(unreadable(path, &error))),
        };
        let object = match vault.put_object(path) {
            Ok(object) => object,
            Err(error) if error.is_disk_full() => return Ok(Err(HoldUp::DiskFull.reason())),
            // The file went away or cannot be read: the user's disk, not the vault's.
            Err(VaultError::Io { path: failed, source }) if failed == path => {
                return Ok(Err(unreadable(path, &source)));
            }
            Err(error) => return Err(error),
        };
        match stamp(path) {
            Ok(after) if after == before && object.bytes == before.bytes => return Ok(Ok((object, before))),
            Ok(_) => vault.drop_object(&object)?,
            Err(error) => {
                vault.drop_object(&object)?;
                return Ok(Err(unreadable(path, &error)));
            }
        }
    }
    Ok(Err(Reason::new("file_being_written").with("name", file_name(path))))
}

/// A passage that is text already: no file to parse.
#[derive(Clone, Copy, Debug)]
pub struct Passage<'a> {
    /// Names it among its kind; the same name again is a new version.
    pub name: &'a str,
    pub title: &'a str,
    pub text: &'a str,
}

/// Takes in a passage as a document of one section and queues what follows parsing.
pub fn import_passage(vault: &Vault, scope: &Scope, passage: &Passage<'_>) -> Result<Registered, VaultError> {
    let object =
        vault.put_bytes(format!("{}\n{}\n{}", passage.name, passage.title, passage.text).as_bytes())?;
    let path = Path::new("/passages").join(passage.name);
    let registered = vault.register_source(scope, &path, passage.title, DocumentKind::Text, &object)?;
    if registered.state == DocumentState::Published {
        return Ok(registered);
    }
    let n_chars = passage.text.chars().count() as u32;
    let unit = ParsedUnit {
        kind: UnitKind::Section,
        locator: Locator::Section { heading_path: Vec::new(), char_start: 0, char_end: n_chars },
        text: passage.text.to_owned(),
        process: Process::Text,
        trust: Trust::Normal,
        heading_path: Vec::new(),
        layout: None,
        confidence: None,
        timing: Vec::new(),
    };
    vault.stage_units(registered.version, 0, &[unit])?;
    vault.finish_stage(registered.version, JobStage::Parse, PARSE_VERSION)?;
    vault.enqueue_job(scope, registered.version, JobKind::Import)?;
    Ok(registered)
}

fn recognise(path: &Path) -> Result<DocumentKind, Reason> {
    let mut head = Vec::new();
    // Opening a pipe would wait for somebody to write to it.
    let is_file = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?.is_file();
    if !is_file {
        return Err(unreadable(path, &ErrorKind::InvalidInput.into()));
    }
    File::open(path)
        .and_then(|file| file.take(HEAD_BYTES as u64).read_to_end(&mut head))
        .map_err(|error| unreadable(path, &error))?;
    kind_of(&head, &file_name(path))
}

/// What a file that begins with `head` is.
pub(crate) fn kind_of(head: &[u8], name: &str) -> Result<DocumentKind, Reason> {
    if let Some(kind) = media_kind(head, name) {
        return Ok(kind);
    }
    detect(head, name).map(zhiku_parse::DocumentParser::kind).map_err(|error| error.reason())
}

fn unreadable(path: &Path, error: &std::io::Error) -> Reason {
    Reason::new("file_unreadable").with("name", file_name(path)).with("detail", error.kind())
}

pub(crate) fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(|| path.to_string_lossy().into_owned(), |name| name.to_string_lossy().into_owned())
}

/// The file's name without its last extension: what people call a document.
fn title_of(path: &Path) -> String {
    let title = path.file_stem().map(|stem| stem.to_string_lossy().trim().to_owned()).unwrap_or_default();
    if title.is_empty() { file_name(path) } else { title }
}
