//! What a vault hands out and takes in: passages here, the rest by subject.

mod documents;
mod jobs;
mod people;
mod runs;
mod sources;

pub use documents::*;
pub use jobs::*;
pub use people::*;
pub use runs::*;
pub use sources::*;

use zhiku_core::{
    Chunk, DocumentId, Locator, Process, TimedText, Trust, UnitId, UnitKind, UnitLayout, VaultId,
    VersionNumber,
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
