//! Taking a file in: recognise it, store its bytes, register the source, queue the work.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use zhiku_core::{
    DocumentKind, DocumentState, JobStage, Locator, ParsedUnit, Process, Reason, Trust, UnitKind,
};
use zhiku_parse::detect::{HEAD_BYTES, detect};
use zhiku_vault::{JobKind, RegisterOutcome, Registered, Scope, Vault, VaultError};

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

/// Takes in one file. A file that cannot be read or is of no known format is a refusal, not an error: one bad file never
/// stops a batch.
pub fn import_path(vault: &Vault, scope: &Scope, path: &Path) -> Result<Imported, VaultError> {
    let kind = match recognise(path) {
        Ok(kind) => kind,
        Err(reason) => return Ok(Imported::Refused(reason)),
    };
    let object = match vault.put_object(path) {
        Ok(object) => object,
        // The file went away or cannot be read: the user's disk, not the vault's.
        Err(VaultError::Io { path: failed, source }) if failed == path => {
            return Ok(Imported::Refused(unreadable(path, &source)));
        }
        Err(error) => return Err(error),
    };
    let registered = vault.register_source(scope, path, &title_of(path), kind, &object)?;
    if registered.outcome == RegisterOutcome::SameBytes {
        if registered.state != DocumentState::Failed {
            if registered.state != DocumentState::Published {
                vault.enqueue_job(scope, registered.version, JobKind::Import)?;
                return Ok(Imported::Queued(registered));
            }
            return Ok(Imported::Unchanged(registered));
        }
        vault.retry_version(scope, registered.version)?;
        return Ok(Imported::Queued(registered));
    }
    vault.enqueue_job(scope, registered.version, JobKind::Import)?;
    Ok(Imported::Queued(registered))
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
