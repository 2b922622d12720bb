//! How far a job is and how it ends: stored in the vault, told to who watches.

use zhiku_core::{DocumentState, Failure, JobStage, Reason};
use zhiku_vault::{Job, Progress, VaultError, VersionRef};

use crate::progress::ImportProgress;
use crate::shared::{Shared, lock};

impl Shared {
    /// Stores and tells how far a job is.
    pub(crate) fn progress(&self, job: &Job, state: DocumentState, stage: JobStage, done: u32, total: u32) {
        if let Err(error) = self.vault.job_progress(job.job_id, Progress { stage, done, total }) {
            tracing::warn!(%error, "could not store a job's progress");
        }
        let version = job.version;
        self.tell(&ImportProgress { version, state, stage, done, total, reason: None, settled: false });
    }

    /// Ends a job without success and tells so.
    pub(crate) fn fail(&self, job: &Job, stage: JobStage, reason: Reason, retryable: bool) {
        let failure = Failure { stage, reason: reason.clone(), retryable };
        if let Err(error) = self.vault.fail_job(job.job_id, &failure) {
            tracing::error!(%error, "could not store a failure");
        }
        self.settle(job.version, DocumentState::Failed, stage, Some(reason));
    }

    /// A vault error ends a job as ours or the disk's, unless the job was taken back meanwhile. A full disk ends nothing: the
    /// job waits for room.
    pub(crate) fn fail_with(&self, job: &Job, stage: JobStage, error: &VaultError) {
        if matches!(error, VaultError::NotFound { .. }) {
            self.settle(job.version, DocumentState::Deleted, stage, None);
            return;
        }
        if error.is_disk_full() {
            tracing::warn!(%error, stage = stage.as_str(), "no room on the disk; the job waits");
            self.found_full();
            self.put_back(job);
            return;
        }
        tracing::error!(%error, stage = stage.as_str(), "a stage failed");
        self.fail(job, stage, Reason::new("storage_failed").with("detail", error), true);
    }

    pub(crate) fn settle(
        &self,
        version: VersionRef,
        state: DocumentState,
        stage: JobStage,
        reason: Option<Reason>,
    ) {
        self.passwords.forget(version);
        self.tell(&ImportProgress { version, state, stage, done: 0, total: 0, reason, settled: true });
    }

    fn tell(&self, progress: &ImportProgress) {
        lock(&self.watchers).retain(|watcher| watcher.send(progress.clone()).is_ok());
    }
}
