//! Answers and the events by which they reach a reader. Persisted: changes need a migration.

use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::ids::{DocumentId, EvidenceId, EvidenceSetId, RunId, VersionNumber};
use crate::locator::Locator;
use crate::reason::Reason;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerStatus {
    Completed,
    NeedsInput,
    InsufficientEvidence,
    Denied,
    Exhausted,
    Cancelled,
    Failed,
}

impl AnswerStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::NeedsInput => "needs_input",
            Self::InsufficientEvidence => "insufficient_evidence",
            Self::Denied => "denied",
            Self::Exhausted => "exhausted",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }
}

/// Why retrieval stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitReason {
    EvidenceSufficient,
    RetrievalBudgetExhausted,
    NothingFound,
    Deadline,
    Cancelled,
}

/// Whether a citation supports the sentence that cites it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    Supported,
    Partly,
    Contradicted,
    Unsupported,
    Unchecked,
}

/// One factual sentence of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub text: String,
    /// Citation numbers `n` as shown.
    pub citations: Vec<u32>,
    pub support: Support,
    pub reason: Reason,
}

/// `[n]` in the answer and the place it opens. `quote` is a contiguous stretch of the source's text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Citation {
    pub n: u32,
    pub evidence_id: EvidenceId,
    pub document: DocumentId,
    pub version: VersionNumber,
    pub title: String,
    pub locator: Locator,
    pub quote: String,
    /// Where `quote` stands in the unit's text.
    pub char_start: u32,
    pub char_end: u32,
    pub unit_id: crate::ids::UnitId,
}

/// A part of the question for which nothing was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    pub sub_query: String,
    pub reason: Reason,
}

/// The way a question took, with its reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Route {
    /// `direct`: retrieve once, answer.
    pub name: String,
    pub reason: Reason,
}

/// One visit of a retrieval node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeRecord {
    pub node: String,
    pub took_ms: f64,
    /// Short facts about the visit (`candidates`, `route_degraded` …).
    pub facts: serde_json::Value,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub model_calls: u32,
    pub input_tokens: u64,
    pub output_tokens: u64,
}

/// How sure the answer is, from its evidence and the checks of its claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    High,
    Medium,
    Low,
    None,
}

/// A finished answer, as persisted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub status: AnswerStatus,
    pub text: String,
    pub citations: Vec<Citation>,
    pub claims: Vec<Claim>,
    pub gaps: Vec<Gap>,
    pub confidence: Confidence,
    pub usage: Usage,
    /// Why it ended as it did; also for refusals.
    pub reason: Reason,
    pub route: Route,
    pub exit_reason: ExitReason,
    pub node_trace: Vec<NodeRecord>,
}

/// What is being done, for the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Planning,
    Retrieving,
    Reranking,
    Writing,
    Verifying,
}

/// One event of an answer's stream. Exactly one of `Final`, `Error`, `Cancelled` ends it, and it is persisted before it is
/// sent. `seq` counts from 1 over all events of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum AnswerEvent {
    RunStarted { seq: u64, run_id: RunId },
    Status { seq: u64, stage: Stage },
    EvidenceReady { seq: u64, evidence_set_id: EvidenceSetId, items: Vec<Evidence> },
    TextDelta { seq: u64, revision: u32, text: String },
    Citation { seq: u64, n: u32, evidence_id: EvidenceId },
    Final { seq: u64, revision: u32, replace: bool, answer: Box<Answer> },
    Error { seq: u64, code: String, message: String, hint: Option<String>, retryable: bool },
    Cancelled { seq: u64 },
}

impl AnswerEvent {
    pub fn seq(&self) -> u64 {
        match self {
            Self::RunStarted { seq, .. }
            | Self::Status { seq, .. }
            | Self::EvidenceReady { seq, .. }
            | Self::TextDelta { seq, .. }
            | Self::Citation { seq, .. }
            | Self::Final { seq, .. }
            | Self::Error { seq, .. }
            | Self::Cancelled { seq } => *seq,
        }
    }

    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Final { .. } | Self::Error { .. } | Self::Cancelled { .. })
    }
}
