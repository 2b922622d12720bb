//! Documents, their versions, and what a whole vault holds.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use zhiku_core::{
    DocumentId, DocumentKind, DocumentState, DocumentVisibility, Failure, ParseWarning, ProfileId,
    Searchable, UtcMs, VersionNumber,
};

use super::{Progress, Sha256};

/// One document as a list shows it. `state` and `progress` are those of the newest version; `published` is what search finds.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentSummary {
    pub document: DocumentId,
    pub title: String,
    pub kind: DocumentKind,
    pub owner: ProfileId,
    pub visibility: DocumentVisibility,
    pub published: Option<VersionNumber>,
    /// Of the published version.
    pub searchable: Option<Searchable>,
    pub newest: VersionNumber,
    pub state: DocumentState,
    pub failure: Option<Failure>,
    pub progress: Option<Progress>,
    pub bytes: u64,
    pub n_units: u32,
    pub n_chunks: u32,
    pub n_warnings: u32,
    pub created: UtcMs,
    /// What it came inside, if anything.
    pub parent: Option<DocumentId>,
    /// None of the files that it was imported from is there any more; the vault has its own copy.
    pub source_missing: bool,
}

/// A stretch of the list of documents.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentPage {
    /// Documents of the whole list.
    pub total: u32,
    /// Documents whose import failed and may be tried again, whatever their title.
    pub n_retryable: u32,
    pub documents: Vec<DocumentSummary>,
}

/// What a vault holds, for comparing two of them. Ids and times are left out, so that equal imports are equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VaultDigest {
    pub n_documents: u64,
    pub n_units: u64,
    pub n_chunks: u64,
    pub n_vectors: u64,
    pub n_token_vectors: u64,
    /// How often vectors were made by the model, and the most for one chunk.
    pub n_embedded: u64,
    pub max_embedded: u64,
    /// sha256 over documents, units, chunks and which of them have vectors.
    pub content: String,
    /// sha256 over the vectors themselves.
    pub vectors: String,
}

/// Which documents a list is about; the default is all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentFilter {
    /// Part of the title, without regard to case.
    pub title_contains: Option<String>,
    pub state: Option<DocumentState>,
}

/// A document in full.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentDetail {
    pub summary: DocumentSummary,
    /// The places it was imported from.
    pub source_paths: Vec<PathBuf>,
    /// Newest first.
    pub versions: Vec<VersionDetail>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct VersionDetail {
    pub document: DocumentId,
    pub version: VersionNumber,
    pub hash: Sha256,
    pub bytes: u64,
    pub state: DocumentState,
    pub searchable: Option<Searchable>,
    pub failure: Option<Failure>,
    pub warnings: Vec<ParseWarning>,
    pub n_units: u32,
    pub n_chunks: u32,
    /// Chunks that have their vectors.
    pub n_vectors: u32,
    pub created: UtcMs,
    pub published: Option<UtcMs>,
    pub effective_date: Option<EffectiveDate>,
    /// Known once its units were compared with those of the version before.
    pub change: Option<VersionChange>,
    /// Chunks whose vectors were made for this version, and those that took the vectors of equal chunks.
    pub n_embedded: u32,
    pub n_reused: u32,
}

/// How far a version is from the one that it replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionChange {
    pub extent: ChangeExtent,
    /// Units that the version before does not have, or that it had and this one has not, whichever are more.
    pub n_changed_units: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeExtent {
    /// There is no version before.
    First,
    Minor,
    /// More than three tenths of its units are new, changed or gone: another text rather than a corrected one.
    Major,
}

/// The date from which a document says it holds, `2024`, `2024-03` or `2024-03-01` by precision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectiveDate {
    pub date: String,
    pub precision: DatePrecision,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DatePrecision {
    Year,
    Month,
    Day,
}

/// What [`crate::Vault::publish_lexical`] and [`crate::Vault::publish_hybrid`] did with a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishOutcome {
    /// It is what search finds now.
    Published,
    /// It replaces a version with vectors and waits for its own; the old one stays searchable.
    AwaitsVectors,
    /// A newer version was published, or the document was removed.
    Overtaken,
}
