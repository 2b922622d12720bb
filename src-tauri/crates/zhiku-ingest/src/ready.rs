//! Versions on their way to a first publication by words. Publications are gathered: a commit of the lexical index costs about
//! the same for one document as for a hundred.

use std::time::{Duration, Instant};

use zhiku_core::{DocumentState, JobStage};
use zhiku_vault::{Job, JobLane, PublishOutcome, VersionRef};

use crate::guard::guarded;
use crate::shared::Shared;

/// How long a parsed document may wait for company before it is published.
const GATHER: Duration = Duration::from_millis(800);
const GATHER_DOCUMENTS: usize = 64;

/// Prepared versions that wait to be published together.
#[derive(Default)]
pub(crate) struct Ready {
    jobs: Vec<Job>,
    since: Option<Instant>,
}

impl Ready {
    pub(crate) fn push(&mut self, job: Job) {
        self.since.get_or_insert_with(Instant::now);
        self.jobs.push(job);
    }

    pub(crate) fn is_due(&self) -> bool {
        self.jobs.len() >= GATHER_DOCUMENTS || self.since.is_some_and(|since| since.elapsed() > GATHER)
    }

    pub(crate) fn publish(&mut self, shared: &Shared) {
        self.since = None;
        let jobs = std::mem::take(&mut self.jobs);
        if jobs.is_empty() {
            return;
        }
        let versions: Vec<VersionRef> = jobs.iter().map(|job| job.version).collect();
        match guarded(|| shared.vault.publish_lexical(&versions)) {
            Ok(Ok(outcomes)) => {
                for (job, outcome) in jobs.iter().zip(&outcomes) {
                    // All that is in the file was read.
                    shared.passwords.forget(job.version);
                    let state = match outcome {
                        PublishOutcome::Published => DocumentState::Published,
                        PublishOutcome::AwaitsVectors => DocumentState::Ready,
                        PublishOutcome::Overtaken => DocumentState::Superseded,
                    };
                    shared.progress(job, state, JobStage::PublishLexical, 1, 1);
                }
                shared.hand_over(&jobs, JobLane::Vectors);
            }
            Ok(Err(error)) => {
                for job in &jobs {
                    shared.fail_with(job, JobStage::PublishLexical, &error);
                }
            }
            Err(reason) => {
                let stage = JobStage::PublishLexical;
                for job in &jobs {
                    shared.fail(job, stage, reason.clone(), true);
                }
            }
        }
    }
}
