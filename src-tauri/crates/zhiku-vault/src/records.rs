//! What a vault hands out and takes in.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use zhiku_core::{
    AclEffect, Chunk, ConversationId, DepartmentId, DocumentId, DocumentKind, DocumentState,
    DocumentVisibility, Failure, JobId, JobStage, Locator, ParseWarning, Process, ProfileId, Role, RunId,
    Searchable, TimedText, Trust, UnitId, UnitKind, UnitLayout, UtcMs, VaultId, VersionNumber,
};

/// Row number of a chunk: names it inside one vault, never given twice.
pub type ChunkKey = i64;

/// sha256 of a source's bytes or of a text.
pub type Sha256 = [u8; 32];

/// One version of one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VersionRef {
    pub document: DocumentId,
    pub version: VersionNumber,
}

/// Narrows a search further than the scope does; the default narrows nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchFilter {
    pub documents: Option<Vec<DocumentId>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LexicalHit {
    pub chunk_key: ChunkKey,
    /// BM25 over the fields with their boosts; above 0.
    pub score: f32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DenseHit {
    pub chunk_key: ChunkKey,
    pub cosine: f32,
}

/// A chunk with what a reader needs to know about its source.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkRow {
    pub key: ChunkKey,
    pub chunk: Chunk,
    pub title: String,
    pub process: Process,
    pub trust: Trust,
    pub vault_id: VaultId,
}

#[derive(Clone, Debug, PartialEq)]
pub struct UnitRow {
    pub unit_id: UnitId,
    pub document_id: DocumentId,
    pub version: VersionNumber,
    pub ordinal: u32,
    pub kind: UnitKind,
    pub locator: Locator,
    pub text: String,
    pub process: Process,
    pub trust: Trust,
    pub heading_path: Vec<String>,
    pub layout: Option<UnitLayout>,
    /// How sure recognition was, 0 to 1.
    pub confidence: Option<f32>,
    /// When each stretch of the text is said.
    pub timing: Vec<TimedText>,
}

impl UnitRow {
    /// The place of the characters `start..end` of its text.
    pub fn place_of(&self, start: u32, end: u32) -> Locator {
        self.locator.narrowed(self.layout.as_ref(), &self.timing, start, end)
    }
}

/// What recognition made of a unit that awaited it.
#[derive(Clone, Debug, PartialEq)]
pub struct Recognized {
    /// Empty when there is nothing to read.
    pub text: String,
    pub layout: Option<UnitLayout>,
    /// 0 to 1; 0 for an empty text.
    pub confidence: f32,
}

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
}

/// How far the newest version's job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    pub stage: JobStage,
    pub done: u32,
    pub total: u32,
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

/// A chunk that has no vectors yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingChunk {
    pub key: ChunkKey,
    pub chunk_id: zhiku_core::ChunkId,
    pub indexed_hash: Sha256,
    /// What to embed.
    pub indexed_text: String,
    pub n_tokens: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// From source bytes to a published version.
    Import,
    /// Vectors of a published version again, because the model or the chunker changed or a store was lost.
    Embed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    Queued,
    Running,
    Done,
    Failed,
    Cancelled,
}

/// One entry of the persistent queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    pub job_id: JobId,
    pub version: VersionRef,
    pub kind: JobKind,
    pub state: JobState,
    pub progress: Progress,
    /// How often it was started.
    pub attempts: u32,
    pub failure: Option<Failure>,
    pub created: UtcMs,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub profile_id: ProfileId,
    pub name: String,
    pub role: Role,
    pub departments: Vec<Department>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Department {
    pub department_id: DepartmentId,
    pub name: String,
}

/// Whom an explicit rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleSubject {
    Profile(ProfileId),
    Department(DepartmentId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DocumentRule {
    pub subject: RuleSubject,
    pub effect: AclEffect,
}

/// Who sees a document, as set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DocumentAccess {
    pub visibility: DocumentVisibility,
    /// Those who see it when the visibility is `departments`.
    pub departments: Vec<DepartmentId>,
    pub rules: Vec<DocumentRule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    pub conversation_id: ConversationId,
    pub title: String,
    pub created: UtcMs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    Running,
    /// Has its terminal event.
    Ended,
    /// The program ended before the run did.
    Interrupted,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary {
    pub run_id: RunId,
    pub conversation_id: Option<ConversationId>,
    pub question: String,
    pub state: RunState,
    pub created: UtcMs,
    pub ended: Option<UtcMs>,
}

/// What a store held of a document, and what was taken out of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreReceipt {
    pub store: String,
    pub found: u64,
    pub removed: u64,
}

/// The proof of a removal: one line per store of document content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub document: DocumentId,
    pub stores: Vec<StoreReceipt>,
}

impl Receipt {
    /// Whether no store holds anything of the document any more.
    pub fn is_clean(&self) -> bool {
        self.stores.iter().all(|store| store.found == store.removed)
    }
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
