//! A vault with an owner, and an embedder that counts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tempfile::TempDir;
use zhiku_core::model::{EmbedSide, Embedder, Embedding, EmbeddingSpace, ModelError, Priority, TokenMatrix};
use zhiku_core::{DocumentState, ErrorCode, Fault, RunContext};
use zhiku_ingest::governor::{GovernorSettings, MachineReading};
use zhiku_ingest::{
    MachineSource, ModelSource, ModelSources, Passage, Pipeline, PipelineConfig, import_passage,
};
use zhiku_parse::chunker::ChunkOptions;
use zhiku_parse::worker::{ParseLimits, WorkerCommand};
use zhiku_vault::{DocumentFilter, Home, OpenOptions, Scope, Vault, VersionRef};

pub(crate) const DIM: usize = 4;

/// Gives every text the same vector and counts how often each came. A gate may hold every call up.
#[derive(Default)]
pub(crate) struct Counting {
    pub(crate) seen: Mutex<HashMap<String, usize>>,
    /// Held by a test while no call shall pass.
    pub(crate) gate: Mutex<()>,
}

impl Counting {
    pub(crate) fn calls(&self) -> usize {
        self.seen.lock().expect("count").values().sum()
    }
}

impl Embedder for Counting {
    fn space(&self) -> EmbeddingSpace {
        EmbeddingSpace { model_id: "counting".to_owned(), dim: DIM as u32 }
    }

    fn count_tokens(&self, text: &str, _: EmbedSide) -> usize {
        text.chars().count()
    }

    fn max_tokens(&self) -> usize {
        512
    }

    fn embed(
        &self,
        texts: &[&str],
        _: EmbedSide,
        _: Priority,
        _: &RunContext,
    ) -> Result<Vec<Embedding>, ModelError> {
        drop(self.gate.lock().expect("gate"));
        let mut seen = self.seen.lock().expect("count");
        for text in texts {
            *seen.entry((*text).to_owned()).or_default() += 1;
        }
        Ok(vec![embedding(); texts.len()])
    }
}

pub(crate) fn embedding() -> Embedding {
    let row = vec![1.0, 0.0, 0.0, 0.0];
    Embedding { sentence: row.clone(), tokens: TokenMatrix { dim: DIM, values: row } }
}

pub(crate) fn missing(what: &str) -> ModelError {
    ModelError {
        code: ErrorCode::ModelMissing,
        fault: Fault::Environment,
        message: format!("no {what} model here"),
        hint: None,
        retryable: true,
    }
}

pub(crate) fn models(embedder: ModelSource<dyn Embedder>) -> ModelSources {
    ModelSources {
        embedder,
        reader: Arc::new(|| Err(missing("ocr"))),
        hearing: Arc::new(|| Err(missing("speech"))),
    }
}

/// A machine with room for everything.
pub(crate) fn idle_machine() -> MachineReading {
    MachineReading { own_memory: 1, memory_total: 1 << 40, others_busy: 0.0, disk_free: Some(1 << 40) }
}

pub(crate) struct World {
    pub(crate) dir: TempDir,
    pub(crate) vault: Vault,
    pub(crate) scope: Scope,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("temp dir");
        let home = Home::open(dir.path().join("home")).expect("home");
        home.add_profile("owner").expect("profile");
        let owner = home.sign_in("owner").expect("sign in");
        let vault = home.create_vault(&owner, "v", None, &OpenOptions::default()).expect("vault");
        let scope = vault.scope(&owner).expect("scope");
        Self { dir, vault, scope }
    }

    pub(crate) fn queue(&self, name: &str, text: &str) -> VersionRef {
        let passage = Passage { name, title: name, text };
        import_passage(&self.vault, &self.scope, &passage).expect("queued").version
    }

    pub(crate) fn start(&self, embedder: ModelSource<dyn Embedder>, machine: MachineSource) -> Pipeline {
        let config = PipelineConfig {
            worker: WorkerCommand::new(Path::new("/never-started")),
            limits: ParseLimits::default(),
            chunks: ChunkOptions::default(),
            governor: GovernorSettings::default(),
            machine,
        };
        Pipeline::start(self.vault.clone(), config, models(embedder)).expect("lanes start")
    }

    /// Works the queue until nothing is left.
    pub(crate) fn work(&self, embedder: ModelSource<dyn Embedder>) {
        self.start(embedder, Arc::new(idle_machine)).wait_until_idle();
    }

    pub(crate) fn state(&self, version: VersionRef) -> (DocumentState, Option<String>) {
        let listed = self.vault.list_documents(&self.scope, &DocumentFilter::default()).expect("list");
        let document = listed.iter().find(|d| d.document == version.document).expect("listed");
        (document.state, document.failure.as_ref().map(|failure| failure.reason.code.clone()))
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("create");
        std::fs::write(&path, text).expect("write");
        path
    }
}
