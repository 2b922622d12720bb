//! The import queue: what is left, pausing, cancelling, trying again, and how much of the machine it may take.

use std::num::NonZeroUsize;

use serde_json::json;
use zhiku_core::{DocumentId, Reason};
use zhiku_ingest::governor::GovernorSettings;
use zhiku_vault::{Job, Setting, Urgency, VaultDigest, VersionRef, WorkSummary};

use crate::engine::{Engine, lock};
use crate::error::{EngineError, Result};
use crate::session::Session;

const SETTING: &str = "governor";
const SETTING_VERSION: u32 = 1;
/// Less does not hold the models.
const LEAST_CEILING: u64 = 512 * 1024 * 1024;

impl Session {
    /// What the queue has left, without what waits for a model that is not there.
    pub fn work(&self) -> Result<WorkSummary> {
        Ok(self.vault().work_summary(&self.scope()?)?)
    }

    /// The jobs that are waiting or running, in the order in which they are done, at most `limit`.
    pub fn open_jobs(&self, limit: u32) -> Result<Vec<Job>> {
        Ok(self.vault().open_jobs(&self.scope()?, limit)?)
    }

    /// Why work waits that nobody paused: the disk is full, or memory is short.
    pub fn imports_held_up(&self) -> Option<Reason> {
        self.open.pipeline.as_ref().and_then(zhiku_ingest::Pipeline::held_up)
    }

    /// Stops the work after the step at hand; outlives the program.
    pub fn pause_imports(&self) -> Result<()> {
        Ok(self.pipeline()?.pause()?)
    }

    pub fn resume_imports(&self) -> Result<()> {
        Ok(self.pipeline()?.resume()?)
    }

    pub fn imports_paused(&self) -> bool {
        self.open.pipeline.as_ref().is_some_and(zhiku_ingest::Pipeline::is_paused)
    }

    /// Takes one document's import back, or all; returns how many ended. What was read of it stays for a later try.
    pub fn cancel_imports(&self, document: Option<DocumentId>) -> Result<usize> {
        let cancelled = self.vault().cancel_imports(&self.scope()?, document)?;
        let pipeline = self.pipeline()?;
        pipeline.forget_cancelled(document);
        pipeline.wake();
        Ok(cancelled)
    }

    /// Tries the newest version of a document again.
    pub fn retry(&self, document: DocumentId) -> Result<()> {
        let scope = self.scope()?;
        let newest = self.vault().show(&scope, document)?.summary.newest;
        self.vault().retry_version(&scope, VersionRef { document, version: newest })?;
        self.pipeline()?.wake();
        Ok(())
    }

    /// Tries everything again that failed and may be tried again; returns how many.
    pub fn retry_failed(&self) -> Result<usize> {
        let queued = self.vault().retry_failed(&self.scope()?)?;
        self.pipeline()?.wake();
        Ok(queued)
    }

    /// Has these documents done before all others.
    pub fn do_first(&self, documents: &[DocumentId]) -> Result<()> {
        Ok(self.vault().prioritize(&self.scope()?, documents, Urgency::First)?)
    }

    /// All that the vault holds as hashes, to compare two vaults by. For owners only, since it looks at every document.
    pub fn digest(&self) -> Result<VaultDigest> {
        Ok(self.vault().digest(&self.scope()?)?)
    }
}

impl Engine {
    /// How much of the machine imports may use.
    pub fn governor(&self) -> Result<GovernorSettings> {
        let Some(setting) = self.home.setting(SETTING)? else { return Ok(GovernorSettings::default()) };
        Ok(serde_json::from_value(setting.value).unwrap_or_else(|error| {
            tracing::warn!(%error, "the stored settings of imports are not understood; the usual ones are used");
            GovernorSettings::default()
        }))
    }

    /// Acts at once on what is under way; models are loaded anew for another number of threads.
    pub fn set_governor(&self, settings: GovernorSettings) -> Result<()> {
        if settings.memory_ceiling.is_some_and(|bytes| bytes < LEAST_CEILING) {
            return Err(EngineError::invalid("the memory ceiling is too low for the models")
                .with_hint("set it to 512 MB or more"));
        }
        self.home.set_setting(SETTING, &Setting { value: json!(settings), version: SETTING_VERSION })?;
        self.models.set_threads(settings.threads(processors()));
        for vault in lock(&self.open_vaults).iter().filter_map(|(_, vault)| vault.upgrade()) {
            if let Some(pipeline) = &vault.pipeline {
                pipeline.set_governor(settings);
            }
        }
        Ok(())
    }
}

pub(crate) fn processors() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}
