//! What retrieval hands back.

use serde::Serialize;
use zhiku_core::model::ModelError;
use zhiku_core::{
    ErrorCode, EvidenceId, EvidenceSet, ExitReason, Fault, Gap, NodeRecord, Reason, RunId, Stopped,
};
use zhiku_vault::VaultError;

use crate::plan::Intent;

/// How a retrieval ended. A refusal for lack of evidence is `ok`: the search was done, and there is nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceStatus {
    Ok,
    /// Some parts of the question have evidence, others are gaps.
    Partial,
    /// Time or steps ran out; what was found until then is there.
    BudgetExhausted,
    Cancelled,
    Failed,
}

/// One part of the question and what was found for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartResult {
    pub text: String,
    /// Best first; empty when the part is a gap.
    pub evidence_ids: Vec<EvidenceId>,
    /// Evidence of its own above the calibrated threshold.
    pub sufficient: bool,
}

/// The evidence for one question, frozen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EvidenceResult {
    pub run_id: RunId,
    pub status: EvidenceStatus,
    pub intent: Intent,
    pub evidence_set: EvidenceSet,
    pub sub_queries: Vec<PartResult>,
    /// In order, each once.
    pub completed_stages: Vec<String>,
    pub gaps: Vec<Gap>,
    pub retryable: bool,
    pub exit_reason: ExitReason,
    pub node_trace: Vec<NodeRecord>,
    /// Routes that could not be used, with the reason.
    pub route_degraded: Vec<Reason>,
    /// Set when `status` is `failed`.
    pub failure: Option<Failure>,
}

/// Why a retrieval failed, for a reader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    pub code: ErrorCode,
    pub message: String,
    pub hint: Option<String>,
}

/// A search could not be carried out. An embedder that is missing or broken is no error: it degrades a route.
#[derive(Debug, thiserror::Error)]
pub enum RetrievalError {
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl RetrievalError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Vault(error) => error.code(),
            Self::Stopped(Stopped::Cancelled) => ErrorCode::Cancelled,
            Self::Stopped(Stopped::Deadline) => ErrorCode::Timeout,
        }
    }

    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Vault(error) => error.hint(),
            Self::Stopped(_) => None,
        }
    }

    pub fn retryable(&self) -> bool {
        match self {
            Self::Vault(error) => error.retryable(),
            Self::Stopped(_) => true,
        }
    }

    fn fault(&self) -> Fault {
        match self {
            Self::Vault(error) => error.fault(),
            Self::Stopped(_) => Fault::User,
        }
    }
}

impl From<RetrievalError> for ModelError {
    /// For [`zhiku_core::Searcher`], whose error this is.
    fn from(error: RetrievalError) -> Self {
        Self {
            code: error.code(),
            fault: error.fault(),
            message: error.to_string(),
            hint: error.hint(),
            retryable: error.retryable(),
        }
    }
}
