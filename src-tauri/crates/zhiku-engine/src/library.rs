//! Documents: import, list, show, remove.

use std::path::{Path, PathBuf};

use zhiku_core::{DocumentId, DocumentState, Reason};
use zhiku_ingest::governor::HoldUp;
use zhiku_ingest::{IgnoreRules, Imported, files_below, import_path};
use zhiku_vault::{
    DocumentDetail, DocumentFilter, DocumentPage, DocumentSummary, Receipt, RegisterOutcome, Urgency,
    VersionDetail, VersionRef,
};

use crate::error::{EngineError, Result};
use crate::session::Session;

/// So many files at once are brought by hand.
const FEW_FILES: usize = 8;

/// What became of one file of an import.
#[derive(Clone, Debug)]
pub struct ImportedFile {
    pub path: PathBuf,
    /// The document's version; `None` when the file was refused.
    pub version: Option<VersionRef>,
    pub outcome: Option<RegisterOutcome>,
    /// Whether work is queued for it.
    pub queued: bool,
    pub refusal: Option<Reason>,
}

impl Session {
    /// Takes in files and folders and queues the work; tells about each file as soon as it is taken in. Returns before
    /// anything is parsed: follow with [`Session::watch_imports`].
    pub fn import(
        &self,
        paths: &[PathBuf],
        on_file: &mut dyn FnMut(&ImportedFile),
    ) -> Result<Vec<ImportedFile>> {
        let pipeline = self.pipeline()?;
        let scope = self.scope()?;
        let found = self.files_in(paths);
        // Who brings a few files waits for just these; a whole folder goes in its turn.
        let urgency = if found.len() <= FEW_FILES { Urgency::First } else { Urgency::InTurn };
        let mut files = Vec::with_capacity(found.len());
        for path in found {
            let taken_in = match path {
                Err(refused) => refused,
                Ok(path) if pipeline.disk_is_full() => refused(&path, HoldUp::DiskFull.reason()),
                Ok(path) => match import_path(self.vault(), &scope, &path, urgency)? {
                    Imported::Queued(registered) => {
                        pipeline.wake();
                        taken(path, registered.version, registered.outcome, true)
                    }
                    Imported::Unchanged(registered) => {
                        taken(path, registered.version, registered.outcome, false)
                    }
                    Imported::Refused(reason) => refused(&path, reason),
                },
            };
            on_file(&taken_in);
            files.push(taken_in);
        }
        Ok(files)
    }

    /// All files at or below the paths, without those of the vault itself.
    fn files_in(&self, paths: &[PathBuf]) -> Vec<Result<PathBuf, ImportedFile>> {
        let mut files = Vec::new();
        for path in paths {
            match files_below(path, &IgnoreRules::standard()) {
                Ok(below) => {
                    files.extend(
                        below.into_iter().filter(|path| !path.starts_with(self.vault().dir())).map(Ok),
                    );
                }
                Err(error) => {
                    let reason = Reason::new("file_unreadable").with("name", name(path));
                    files.push(Err(refused(path, reason.with("detail", error.kind()))));
                }
            }
        }
        files
    }

    /// A stretch of the list, newest first, of the documents with `title_part` in their title.
    pub fn page(&self, title_part: &str, offset: u32, limit: u32) -> Result<DocumentPage> {
        Ok(self.vault().document_page(&self.scope()?, title_part, offset, limit)?)
    }

    pub fn list(&self) -> Result<Vec<DocumentSummary>> {
        Ok(self.vault().list_documents(&self.scope()?, &DocumentFilter::default())?)
    }

    pub fn show(&self, document: DocumentId) -> Result<DocumentDetail> {
        Ok(self.vault().show(&self.scope()?, document)?)
    }

    /// Opens a document that waits for its password and reads it. The password stays in memory, and only until the document
    /// is read; a wrong one leaves the document waiting.
    pub fn unlock(&self, document: DocumentId, password: String) -> Result<()> {
        let scope = self.scope()?;
        let pipeline = self.pipeline()?;
        let shown = self.vault().show(&scope, document)?;
        let version = VersionRef { document, version: shown.summary.newest };
        let waits = |found: &VersionDetail| {
            found.version == version.version
                && found.state == DocumentState::Failed
                && found.failure.as_ref().is_some_and(|failure| awaits_password(&failure.reason))
        };
        if !shown.versions.iter().any(waits) {
            return Err(EngineError::invalid(format!(
                "{} does not wait for a password",
                shown.summary.title
            )));
        }
        pipeline.give_password(version, password);
        if let Err(error) = self.vault().retry_version(&scope, version) {
            pipeline.forget_password(version);
            return Err(error.into());
        }
        pipeline.wake();
        Ok(())
    }

    /// Removes a document and all that was made from it. The very next question does not see it.
    pub fn remove(&self, document: DocumentId) -> Result<Receipt> {
        Ok(self.vault().remove(&self.scope()?, document)?)
    }

    /// Looks for anything that is left of a removed document.
    pub fn verify_removed(&self, document: DocumentId) -> Result<Receipt> {
        Ok(self.vault().verify_removed(&self.scope()?, document)?)
    }

    /// The document with this id, or with exactly this title.
    pub fn find_document(&self, id_or_title: &str) -> Result<DocumentId> {
        if let Ok(id) = id_or_title.parse() {
            return Ok(id);
        }
        let matching: Vec<_> =
            self.list()?.into_iter().filter(|document| document.title == id_or_title).collect();
        match matching.as_slice() {
            [one] => Ok(one.document),
            [] => Err(EngineError::not_found("document")),
            _ => Err(EngineError::invalid(format!(
                "{} documents are named {id_or_title}; use the id",
                matching.len()
            ))),
        }
    }
}

/// Whether a document failed for want of the right password.
pub fn awaits_password(reason: &Reason) -> bool {
    matches!(&*reason.code, "password_required" | "wrong_password")
}

fn taken(path: PathBuf, version: VersionRef, outcome: RegisterOutcome, queued: bool) -> ImportedFile {
    ImportedFile { path, version: Some(version), outcome: Some(outcome), queued, refusal: None }
}

fn refused(path: &Path, reason: Reason) -> ImportedFile {
    ImportedFile { path: path.to_owned(), version: None, outcome: None, queued: false, refusal: Some(reason) }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
