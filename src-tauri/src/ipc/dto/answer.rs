//! Questions, answers and the stream between them.

use serde::{Deserialize, Serialize};
use specta::Type;
use specta_typescript::Number;

use super::{Locator, Process, Reason, Trust, mirrored};

mirrored!(
    /// How a run ended.
    AnswerStatus = zhiku_core::AnswerStatus {
        Completed, NeedsInput, InsufficientEvidence, Denied, Exhausted, Cancelled, Failed,
    }
);
mirrored!(
    /// Whether a citation supports the sentence that cites it.
    Support = zhiku_core::Support { Supported, Partly, Contradicted, Unsupported, Unchecked }
);
mirrored!(
    /// How sure an answer is.
    Confidence = zhiku_core::Confidence { High, Medium, Low, None }
);
mirrored!(
    /// What is being done for a question.
    Stage = zhiku_core::Stage { Planning, Retrieving, Reranking, Writing, Verifying }
);

/// One factual sentence of an answer and how its citations bear on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct Claim {
    pub text: String,
    pub citations: Vec<u32>,
    pub support: Support,
    pub reason: Reason,
}

/// `[n]` in an answer and the place it opens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct Citation {
    pub n: u32,
    pub evidence_id: String,
    pub document: String,
    pub version: u32,
    pub title: String,
    pub locator: Locator,
    /// Empty when the source is no longer there or no longer visible.
    pub quote: String,
    pub char_start: u32,
    pub char_end: u32,
    pub unit_id: String,
    /// The document was deleted or is not visible any more: the quote is withheld.
    pub source_gone: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct Gap {
    pub sub_query: String,
    pub reason: Reason,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct Usage {
    pub model_calls: u32,
    #[specta(type = Number)]
    pub input_tokens: f64,
    #[specta(type = Number)]
    pub output_tokens: f64,
}

/// A finished answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct Answer {
    pub status: AnswerStatus,
    pub text: String,
    pub citations: Vec<Citation>,
    pub claims: Vec<Claim>,
    pub gaps: Vec<Gap>,
    pub confidence: Confidence,
    pub usage: Usage,
    pub reason: Reason,
}

/// One piece of evidence, as far as a reader needs it while the answer is being written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct EvidenceItem {
    pub evidence_id: String,
    pub document: String,
    pub version: u32,
    pub title: String,
    pub unit_id: String,
    pub text: String,
    pub char_start: u32,
    pub char_end: u32,
    pub locator: Locator,
    pub process: Process,
    pub trust: Trust,
}

/// One event of an answer's stream; exactly one of `final`, `error`, `cancelled` ends it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "event", rename_all = "snake_case", rename_all_fields = "snake_case")]
pub enum AnswerEvent {
    RunStarted { seq: u32, run_id: String },
    Status { seq: u32, stage: Stage },
    EvidenceReady { seq: u32, items: Vec<EvidenceItem> },
    TextDelta { seq: u32, revision: u32, text: String },
    Citation { seq: u32, n: u32, evidence_id: String },
    Final { seq: u32, revision: u32, replace: bool, answer: Answer },
    Error { seq: u32, code: String, message: String, hint: Option<String>, retryable: bool },
    Cancelled { seq: u32 },
}

/// How a subscription ended: without a terminal event the answer is incomplete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct StreamEnd {
    pub last_seq: u32,
    pub terminal: bool,
}

/// A question to put.
#[derive(Clone, Debug, Serialize, Deserialize, Type)]
pub struct AskRequest {
    pub conversation_id: Option<String>,
    pub question: String,
    /// Narrows the question to these documents; empty means all.
    pub documents: Vec<String>,
    /// A provider's id, or nothing for answers made of quotations.
    pub provider: Option<String>,
}

/// A question was taken: `subscribe` to its run.
#[derive(Clone, Debug, Serialize, Deserialize, Type)]
pub struct AskTicket {
    pub conversation_id: String,
    pub run_id: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, Type)]
pub struct ConversationRow {
    pub conversation_id: String,
    pub title: String,
    #[specta(type = Number)]
    pub updated_ms: f64,
}

mirrored!(
    /// The persisted state of one run; `interrupted`: the program ended while it ran.
    RunState = zhiku_engine::RunState { Running, Interrupted, Ended }
);

/// A question and what became of it.
#[derive(Clone, Debug, Serialize, Deserialize, Type)]
pub struct Turn {
    pub run_id: String,
    pub question: String,
    #[specta(type = Number)]
    pub asked_ms: f64,
    pub state: RunState,
    /// Everything that was stored of its stream, so that an old answer is read like a new one.
    pub events: Vec<AnswerEvent>,
}
