//! One principal in one vault. The scope is made anew for every action: rights are those of now.

use std::collections::HashMap;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;
use zhiku_core::{AnswerEvent, RunId};
use zhiku_ingest::governor::Machine;
use zhiku_ingest::{FolderWatch, ImportProgress, Pipeline, PipelineConfig};
use zhiku_vault::{AccessMode, Principal, Scope, Vault};

use crate::engine::{Engine, lock};
use crate::error::{EngineError, Result};

/// A vault that this process has open, with its import pipeline and the runs that are under way.
pub(crate) struct OpenVault {
    /// Dropped first: it queues work.
    pub(crate) watch: Mutex<Option<FolderWatch>>,
    /// Dropped before the vault: it ends its threads. `None` where the vault is open for reading only.
    pub(crate) pipeline: Option<Pipeline>,
    pub(crate) vault: Vault,
    pub(crate) live: Mutex<HashMap<RunId, LiveRun>>,
}

/// A run that has not ended yet.
pub(crate) struct LiveRun {
    pub(crate) cancel: CancellationToken,
    pub(crate) listeners: Vec<UnboundedSender<AnswerEvent>>,
}

impl OpenVault {
    pub(crate) fn new(vault: Vault, engine: &Engine) -> Result<Self> {
        let pipeline = match vault.mode() {
            AccessMode::ReadOnly => None,
            AccessMode::Owner => {
                let sources = engine.models.sources();
                let config = PipelineConfig {
                    worker: engine.worker(),
                    limits: zhiku_parse::worker::ParseLimits::default(),
                    chunks: zhiku_parse::chunker::ChunkOptions::default(),
                    governor: engine.governor()?,
                    machine: Machine::source(vault.dir()),
                };
                let started = Pipeline::start(vault.clone(), config, sources);
                Some(started.map_err(|error| {
                    EngineError::bug(format!("could not start the import lanes: {error}"))
                })?)
            }
        };
        Ok(Self { watch: Mutex::default(), pipeline, vault, live: Mutex::default() })
    }
}

/// What one principal does in one vault. Cheap to clone.
#[derive(Clone)]
pub struct Session {
    pub(crate) engine: Arc<Engine>,
    pub(crate) open: Arc<OpenVault>,
    principal: Principal,
}

impl Session {
    pub(crate) fn new(engine: Arc<Engine>, open: Arc<OpenVault>, principal: Principal) -> Result<Self> {
        let session = Self { engine, open, principal };
        session.scope()?;
        Ok(session)
    }

    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    pub fn vault_name(&self) -> &str {
        self.open.vault.name()
    }

    pub(crate) fn vault(&self) -> &Vault {
        &self.open.vault
    }

    pub(crate) fn scope(&self) -> Result<Scope> {
        Ok(self.vault().scope(&self.principal)?)
    }

    pub(crate) fn pipeline(&self) -> Result<&Pipeline> {
        self.open.pipeline.as_ref().ok_or_else(|| {
            EngineError::invalid("the vault is open for reading only")
                .with_hint("close the other program that has it open")
        })
    }

    /// Everything that happens in the import queue from now on.
    pub fn watch_imports(&self) -> Result<Receiver<ImportProgress>> {
        Ok(self.pipeline()?.watch())
    }

    /// Whether nothing is queued or running, apart from what waits for a model.
    pub fn imports_idle(&self) -> bool {
        self.open.pipeline.as_ref().is_none_or(Pipeline::is_idle)
    }

    /// Blocks until [`Self::imports_idle`].
    pub fn wait_for_imports(&self) {
        if let Some(pipeline) = &self.open.pipeline {
            pipeline.wait_until_idle();
        }
    }

    /// Call when models were fetched: documents that waited for them go on.
    pub fn models_changed(&self) {
        if let Some(pipeline) = &self.open.pipeline
            && let Err(error) = pipeline.models_changed()
        {
            tracing::error!(%error, "what waits for a model could not be woken");
        }
    }

    pub(crate) fn live_run(&self, run: RunId) -> Option<CancellationToken> {
        lock(&self.open.live).get(&run).map(|live| live.cancel.clone())
    }
}
