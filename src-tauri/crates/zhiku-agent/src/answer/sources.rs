//! What the driver needs from retrieval and the vault. Principal, scope and filter are closed over by the implementation: a
//! run can neither name nor widen them.

use std::collections::HashSet;

use zhiku_core::{
    DocumentId, ErrorCode, EvidenceSet, ExitReason, Gap, Locator, NodeRecord, RunContext, Stage, UnitId,
};

use crate::extractive::SubQuery;

/// What one retrieval found. `evidence` is frozen from here on.
#[derive(Clone, Debug, PartialEq)]
pub struct Retrieved {
    pub evidence: EvidenceSet,
    pub sub_queries: Vec<SubQuery>,
    pub gaps: Vec<Gap>,
    pub exit_reason: ExitReason,
    pub node_trace: Vec<NodeRecord>,
}

/// A stretch of a unit's text that an answer quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cited {
    pub unit_id: UnitId,
    pub char_start: u32,
    pub char_end: u32,
}

/// Retrieval or the vault could not do its work.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct SourceError {
    pub code: ErrorCode,
    pub message: String,
    pub hint: Option<String>,
    pub retryable: bool,
}

/// Retrieval within one scope. Calls block; the driver keeps them off the async threads.
pub trait Sources: Send + Sync + 'static {
    /// Finds evidence; tells `on_stage` what is being done.
    fn retrieve(
        &self,
        question: &str,
        ctx: &RunContext,
        on_stage: &mut dyn FnMut(Stage),
    ) -> Result<Retrieved, SourceError>;

    /// Which of these documents may be used at this moment.
    fn visible(&self, documents: &[DocumentId]) -> Result<HashSet<DocumentId>, SourceError>;

    /// How much each term tells in this vault; as many values as terms, or none when unknown.
    fn term_weights(&self, terms: &[String]) -> Vec<f32>;

    /// Where exactly each of these stands, in their order; `None`, or none at all, where that is not known.
    fn places(&self, cited: &[Cited]) -> Vec<Option<Locator>>;
}
