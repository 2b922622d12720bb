//! Chunks: text cut from units for recall.

use serde::{Deserialize, Serialize};

use crate::ids::{ChunkId, DocumentId, UnitId, VersionNumber};
use crate::locator::Locator;

/// The structure a chunk was cut from. Persisted: changes need a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChunkKind {
    Text,
    List,
    Table,
}

impl ChunkKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::List => "list",
            Self::Table => "table",
        }
    }
}

/// Characters `char_start..char_end` of one unit's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkSpan {
    pub unit_id: UnitId,
    pub char_start: u32,
    pub char_end: u32,
}

/// A chunk of one version. `text` is exactly the text of its spans joined by `\n`; `header` is context that was not cut
/// from here (title, heading path, repeated table header) and is indexed and embedded with it but never quoted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chunk {
    pub chunk_id: ChunkId,
    pub document_id: DocumentId,
    pub version: VersionNumber,
    /// Position within the version, from 0.
    pub ordinal: u32,
    pub kind: ChunkKind,
    pub header: String,
    pub text: String,
    pub spans: Vec<ChunkSpan>,
    pub locator: Locator,
    /// Tokens of header and text together, special tokens included, as the embedding model counts them.
    pub n_tokens: u32,
}

impl Chunk {
    /// What the embedder and the lexical index see.
    pub fn indexed_text(&self) -> String {
        if self.header.is_empty() { self.text.clone() } else { format!("{}\n{}", self.header, self.text) }
    }
}
