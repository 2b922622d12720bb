//! Evidence: what was selected for one run and may be cited by its answer. Persisted: changes need a migration.

use serde::{Deserialize, Serialize};

use crate::ids::{ChunkId, DocumentId, EvidenceId, EvidenceSetId, UnitId, VaultId, VersionNumber};
use crate::locator::Locator;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Modality {
    Document,
    Image,
    Audio,
    Video,
    Web,
    Graph,
}

/// How the words came about: read from a text layer, recognised, transcribed …
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Process {
    Text,
    Ocr,
    Asr,
    Caption,
    Graph,
    Web,
}

/// Whether a text may be used without a word of warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    Normal,
    /// The source does not show this text to a reader (white, invisible, off the page).
    HiddenText,
    /// The text addresses the assistant.
    InstructionsFound,
}

/// Scores of different kinds; they are never added to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Cosine, -1 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dense: Option<f32>,
    /// BM25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical: Option<f32>,
    /// Reciprocal rank fusion.
    pub fused: f32,
    /// Of the reranker in use; comparable within one run and, for calibrated thresholds, with one model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank: Option<f32>,
}

/// One piece of evidence. `text` is what was cut from the source at `locator`, never altered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    pub evidence_id: EvidenceId,
    pub citation_id: String,
    pub vault_id: VaultId,
    pub document_id: DocumentId,
    pub version: VersionNumber,
    pub title: String,
    pub unit_id: UnitId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_id: Option<ChunkId>,
    /// Title and heading path: context for a model, not quotable.
    pub header: String,
    pub text: String,
    /// Where `text` starts and ends in the unit's text.
    pub char_start: u32,
    pub char_end: u32,
    pub modality: Modality,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_ref: Option<String>,
    pub locator: Locator,
    pub process: Process,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
    pub trust: Trust,
    pub scores: Scores,
}

/// Frozen before the first word of an answer: its ids never change meaning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvidenceSet {
    pub evidence_set_id: EvidenceSetId,
    pub items: Vec<Evidence>,
}

impl EvidenceSet {
    pub fn get(&self, id: &EvidenceId) -> Option<&Evidence> {
        self.items.iter().find(|item| &item.evidence_id == id)
    }
}
