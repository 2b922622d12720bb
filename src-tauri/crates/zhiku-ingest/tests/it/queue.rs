//! Pausing, cancelling and a full disk: what stands still goes on where it was, and nothing is made twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zhiku_core::DocumentState;
use zhiku_core::model::Embedder;
use zhiku_ingest::governor::MachineReading;
use zhiku_ingest::{MachineSource, ModelSource, Pipeline};

use crate::support::{Counting, World, idle_machine};

fn source(counting: &Arc<Counting>) -> ModelSource<dyn Embedder> {
    let counting = Arc::clone(counting);
    Arc::new(move || Ok(Arc::clone(&counting) as Arc<dyn Embedder>))
}

/// Until it holds: the lanes' own threads bring it about.
fn wait_for(pipeline: &Pipeline, holds: impl Fn(&Pipeline) -> bool) {
    while !holds(pipeline) {
        std::thread::yield_now();
    }
}

#[test]
fn a_full_disk_holds_the_work_up_with_a_reason_and_room_lets_it_go_on() {
    let world = World::new();
    let version = world.queue("a", "some words");
    let free = Arc::new(AtomicU64::new(1));
    let machine: MachineSource = {
        let free = Arc::clone(&free);
        Arc::new(move || MachineReading { disk_free: Some(free.load(Ordering::Relaxed)), ..idle_machine() })
    };
    let pipeline = world.start(source(&Arc::default()), machine);
    wait_for(&pipeline, |pipeline| pipeline.held_up().is_some());
    assert_eq!(pipeline.held_up().map(|reason| reason.code), Some("disk_full".to_owned()));
    assert!(pipeline.disk_is_full() && !pipeline.is_idle());
    assert_eq!(world.state(version), (DocumentState::Queued, None));
    free.store(1 << 40, Ordering::Relaxed);
    pipeline.wait_until_idle();
    assert_eq!(world.state(version), (DocumentState::Published, None));
    assert_eq!(pipeline.held_up(), None);
}

#[test]
fn a_full_disk_without_work_holds_nobody_up() {
    let world = World::new();
    let machine: MachineSource = Arc::new(|| MachineReading { disk_free: Some(0), ..idle_machine() });
    let pipeline = world.start(source(&Arc::default()), machine);
    pipeline.wait_until_idle();
    assert_eq!(pipeline.held_up(), None);
}

#[test]
fn short_memory_lets_one_lane_work_and_all_ends() {
    let world = World::new();
    let versions = ["a", "b", "c"].map(|name| world.queue(name, name));
    let machine: MachineSource = Arc::new(|| MachineReading { own_memory: 1 << 39, ..idle_machine() });
    world.start(source(&Arc::default()), machine).wait_until_idle();
    for version in versions {
        assert_eq!(world.state(version), (DocumentState::Published, None));
    }
}

#[test]
fn a_pause_outlives_the_pipeline_and_resuming_embeds_nothing_twice() {
    let world = World::new();
    let version = world.queue("a", "some words");
    let counting = Arc::new(Counting::default());
    {
        let pipeline = world.start(source(&counting), Arc::new(idle_machine));
        pipeline.wait_until_idle();
        pipeline.pause().expect("paused");
    }
    let other = world.queue("b", "other words");
    let pipeline = world.start(source(&counting), Arc::new(idle_machine));
    assert!(pipeline.is_paused() && !pipeline.is_idle());
    assert_eq!(world.state(other), (DocumentState::Queued, None));
    pipeline.resume().expect("resumed");
    pipeline.wait_until_idle();
    assert_eq!([version, other].map(|version| world.state(version).0), [DocumentState::Published; 2]);
    assert_eq!(counting.calls(), 2);
}

#[test]
fn what_is_cancelled_while_it_is_embedded_ends_and_a_retry_makes_the_rest() {
    let world = World::new();
    // More than one batch, so that a step follows the one that is held up.
    let text =
        (0..200).map(|n| format!("paragraph {n} {}", "words ".repeat(70))).collect::<Vec<_>>().join("\n\n");
    let version = world.queue("long", &text);
    let counting = Arc::new(Counting::default());
    let pipeline = {
        let held = counting.gate.lock().expect("gate");
        let pipeline = world.start(source(&counting), Arc::new(idle_machine));
        let embedding = |_: &Pipeline| {
            let detail = world.vault.show(&world.scope, version.document).expect("show");
            detail.summary.searchable.is_some()
        };
        wait_for(&pipeline, embedding);
        assert_eq!(world.vault.cancel_imports(&world.scope, Some(version.document)).expect("cancel"), 1);
        drop(held);
        pipeline
    };
    pipeline.wait_until_idle();
    assert_eq!(world.state(version), (DocumentState::Published, Some("cancelled".to_owned())), "words stay");
    assert_eq!(world.vault.retry_failed(&world.scope).expect("retry"), 1);
    pipeline.wake();
    pipeline.wait_until_idle();
    assert_eq!(world.state(version), (DocumentState::Published, None));
    let digest = world.vault.digest(&world.scope).expect("digest");
    assert_eq!((digest.n_vectors, digest.max_embedded), (digest.n_chunks, 1));
    assert_eq!(counting.calls() as u64, digest.n_chunks, "no text was embedded twice");
}
