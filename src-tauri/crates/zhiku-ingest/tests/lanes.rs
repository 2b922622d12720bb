//! What the lanes do when something of ours breaks: the document in hand fails with a reason, the rest goes on, and waiting
//! for the import ends.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;
use zhiku_core::model::{EmbedSide, Embedder, Embedding, EmbeddingSpace, ModelError, Priority, TokenMatrix};
use zhiku_core::{DocumentState, ErrorCode, Fault, RunContext};
use zhiku_ingest::{ModelSource, ModelSources, Passage, Pipeline, PipelineConfig, import_passage};
use zhiku_parse::chunker::ChunkOptions;
use zhiku_parse::worker::{ParseLimits, WorkerCommand};
use zhiku_vault::{DocumentFilter, Home, OpenOptions, Scope, Vault, VersionRef};

const DIM: usize = 4;
const FATAL: &str = "fatal";

/// Gives every text the same vector, and panics at a text with [`FATAL`] in it.
struct Brittle;

impl Embedder for Brittle {
    fn space(&self) -> EmbeddingSpace {
        EmbeddingSpace { model_id: "brittle".to_owned(), dim: DIM as u32 }
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
        assert!(!texts.iter().any(|text| text.contains(FATAL)), "the model broke");
        let row = vec![1.0, 0.0, 0.0, 0.0];
        let embedding = Embedding { sentence: row.clone(), tokens: TokenMatrix { dim: DIM, values: row } };
        Ok(vec![embedding; texts.len()])
    }
}

fn missing(what: &str) -> ModelError {
    ModelError {
        code: ErrorCode::ModelMissing,
        fault: Fault::Environment,
        message: format!("no {what} model here"),
        hint: None,
        retryable: true,
    }
}

struct World {
    _dir: TempDir,
    vault: Vault,
    scope: Scope,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("temp dir");
        let home = Home::open(dir.path().join("home")).expect("home");
        home.add_profile("owner").expect("profile");
        let owner = home.sign_in("owner").expect("sign in");
        let vault = home.create_vault(&owner, "v", None, &OpenOptions::default()).expect("vault");
        let scope = vault.scope(&owner).expect("scope");
        Self { _dir: dir, vault, scope }
    }

    fn queue(&self, name: &str, text: &str) -> VersionRef {
        let passage = Passage { name, title: name, text };
        import_passage(&self.vault, &self.scope, &passage).expect("queued").version
    }

    fn work(&self, embedder: ModelSource<dyn Embedder>) {
        let models = ModelSources {
            embedder,
            reader: Arc::new(|| Err(missing("ocr"))),
            hearing: Arc::new(|| Err(missing("speech"))),
        };
        let config = PipelineConfig {
            worker: WorkerCommand::new(Path::new("/never-started")),
            limits: ParseLimits::default(),
            chunks: ChunkOptions::default(),
        };
        let pipeline = Pipeline::start(self.vault.clone(), config, models).expect("lanes start");
        pipeline.wake();
        pipeline.wait_until_idle();
    }

    fn state(&self, version: VersionRef) -> (DocumentState, Option<String>) {
        let listed = self.vault.list_documents(&self.scope, &DocumentFilter::default()).expect("list");
        let document = listed.iter().find(|d| d.document == version.document).expect("listed");
        (document.state, document.failure.as_ref().map(|failure| failure.reason.code.clone()))
    }
}

#[test]
fn a_panic_while_embedding_costs_one_document() {
    let world = World::new();
    let versions = [("a", "harmless words"), ("b", "a fatal sentence"), ("c", "more words")]
        .map(|(name, text)| world.queue(name, text));
    world.work(Arc::new(|| Ok(Arc::new(Brittle))));
    assert_eq!(world.state(versions[0]), (DocumentState::Published, None));
    assert_eq!(world.state(versions[2]), (DocumentState::Published, None));
    assert_eq!(world.state(versions[1]).1.as_deref(), Some("internal_fault"));
}

#[test]
fn a_panic_in_the_text_lane_ends_the_wait_and_a_retry_heals_it() {
    let world = World::new();
    let version = world.queue("a", "harmless words");
    let broken = Arc::new(AtomicBool::new(true));
    let source: ModelSource<dyn Embedder> = {
        let broken = Arc::clone(&broken);
        Arc::new(move || {
            assert!(!broken.load(Ordering::Relaxed), "the model could not be opened");
            Ok(Arc::new(Brittle))
        })
    };
    world.work(Arc::clone(&source));
    assert_eq!(world.state(version), (DocumentState::Failed, Some("internal_fault".to_owned())));
    broken.store(false, Ordering::Relaxed);
    world.vault.retry_version(&world.scope, version).expect("retry");
    world.work(source);
    assert_eq!(world.state(version), (DocumentState::Published, None));
}
