//! Why a job ends before it is published, and what then happens to it.

use zhiku_core::{DocumentState, JobStage, Reason};
use zhiku_vault::{Job, VaultError};

use crate::shared::Shared;

pub(crate) enum Halt {
    Failed {
        stage: JobStage,
        reason: Reason,
        retryable: bool,
    },
    Vault {
        stage: JobStage,
        error: VaultError,
    },
    /// Cancelled, removed, or all work stands still.
    TakenBack,
}

pub(crate) fn at(stage: JobStage) -> impl Fn(VaultError) -> Halt {
    move |error| Halt::Vault { stage, error }
}

impl Halt {
    /// Whether the job ends because there is nothing to read.
    pub(crate) fn has_no_words(&self) -> bool {
        matches!(self, Self::Failed { stage: JobStage::Chunk, .. })
    }

    /// Stores and tells how the job ended.
    pub(crate) fn end(self, shared: &Shared, job: &Job) {
        match self {
            Self::Failed { stage, reason, retryable } => shared.fail(job, stage, reason, retryable),
            Self::Vault { stage, error } => shared.fail_with(job, stage, &error),
            Self::TakenBack => taken_back(shared, job),
        }
    }
}

/// A job that is still ours stopped because all work stands still, and goes on later; any other one was cancelled.
fn taken_back(shared: &Shared, job: &Job) {
    if shared.is_running(job) {
        shared.put_back(job);
    } else {
        shared.settle(job.version, DocumentState::Failed, JobStage::Parse, Some(Reason::new("cancelled")));
    }
}
