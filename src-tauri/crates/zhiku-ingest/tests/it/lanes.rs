//! What the lanes do when something of ours breaks: the document in hand fails with a reason, the rest goes on, and waiting
//! for the import ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use zhiku_core::model::{EmbedSide, Embedder, Embedding, EmbeddingSpace, ModelError, Priority};
use zhiku_core::{DocumentState, RunContext};
use zhiku_ingest::ModelSource;

use crate::support::{Counting, World, missing};

const FATAL: &str = "fatal";

/// Panics at a text with [`FATAL`] in it.
#[derive(Default)]
struct Brittle(Counting);

impl Embedder for Brittle {
    fn space(&self) -> EmbeddingSpace {
        self.0.space()
    }

    fn count_tokens(&self, text: &str, side: EmbedSide) -> usize {
        self.0.count_tokens(text, side)
    }

    fn max_tokens(&self) -> usize {
        self.0.max_tokens()
    }

    fn embed(
        &self,
        texts: &[&str],
        side: EmbedSide,
        priority: Priority,
        ctx: &RunContext,
    ) -> Result<Vec<Embedding>, ModelError> {
        assert!(!texts.iter().any(|text| text.contains(FATAL)), "the model broke");
        self.0.embed(texts, side, priority, ctx)
    }
}

#[test]
fn a_panic_while_embedding_costs_one_document() {
    let world = World::new();
    let versions = [("a", "harmless words"), ("b", "a fatal sentence"), ("c", "more words")]
        .map(|(name, text)| world.queue(name, text));
    world.work(Arc::new(|| Ok(Arc::new(Brittle::default()))));
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
            Ok(Arc::new(Brittle::default()))
        })
    };
    world.work(Arc::clone(&source));
    assert_eq!(world.state(version), (DocumentState::Failed, Some("internal_fault".to_owned())));
    broken.store(false, Ordering::Relaxed);
    world.vault.retry_version(&world.scope, version).expect("retry");
    world.work(source);
    assert_eq!(world.state(version), (DocumentState::Published, None));
}

#[test]
fn what_waits_for_a_model_is_found_by_words_and_goes_on_when_it_is_there() {
    let world = World::new();
    let version = world.queue("a", "harmless words");
    let present = Arc::new(AtomicBool::new(false));
    let source: ModelSource<dyn Embedder> = {
        let present = Arc::clone(&present);
        Arc::new(move || {
            if present.load(Ordering::Relaxed) {
                Ok(Arc::new(Counting::default()))
            } else {
                Err(missing("embedding"))
            }
        })
    };
    let pipeline = world.start(source, Arc::new(crate::support::idle_machine));
    pipeline.wait_until_idle();
    let searchable = || {
        let summary = world.vault.show(&world.scope, version.document).expect("show").summary;
        summary.searchable.map(zhiku_core::Searchable::as_str)
    };
    assert_eq!(searchable(), Some("lexical"));
    present.store(true, Ordering::Relaxed);
    pipeline.models_changed().expect("told");
    pipeline.wait_until_idle();
    assert_eq!(searchable(), Some("hybrid"));
}
