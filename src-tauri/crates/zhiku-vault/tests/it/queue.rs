//! The queue as people use it: order, lanes, cancelling, trying again; and that it says nothing of what is not visible.

use zhiku_core::{DocumentState, DocumentVisibility, Failure, JobStage, Reason};
use zhiku_vault::{Job, JobKind, JobLane, Scope, Urgency, Vault, VaultError, VersionRef};

use crate::support::{World, claim, stage};

fn queued(world: &World, name: &str, urgency: Urgency) -> VersionRef {
    let version = world.register(name, &[name]).version;
    let scope = world.owner_scope();
    world.vault.enqueue_job_with(&scope, version, JobKind::Import, urgency).expect("job");
    version
}

fn claimed(vault: &Vault, lane: JobLane, n_chunks: u32) -> Vec<VersionRef> {
    vault.claim_jobs(lane, n_chunks).expect("claim").into_iter().map(|job: Job| job.version).collect()
}

fn state(world: &World, version: VersionRef) -> (DocumentState, Option<String>) {
    let summary = world.vault.show(&world.owner_scope(), version.document).expect("show").summary;
    (summary.state, summary.failure.map(|failure| failure.reason.code))
}

#[test]
fn what_somebody_waits_for_goes_first_and_watched_folders_last() {
    let world = World::new();
    let behind = queued(&world, "behind.txt", Urgency::Behind);
    let turn = queued(&world, "turn.txt", Urgency::InTurn);
    let first = queued(&world, "first.txt", Urgency::First);
    let raised = queued(&world, "raised.txt", Urgency::Behind);
    world.vault.prioritize(&world.owner_scope(), &[raised.document], Urgency::First).expect("prioritize");
    let order: Vec<_> = (0..4).flat_map(|_| claimed(&world.vault, JobLane::Text, 1)).collect();
    assert_eq!(order, [first, raised, turn, behind]);
    assert!(claimed(&world.vault, JobLane::Text, 1).is_empty());
}

#[test]
fn jobs_go_from_lane_to_lane_and_on_in_theirs_after_a_crash() {
    let world = World::new();
    let version = queued(&world, "a.txt", Urgency::InTurn);
    let job = claim(&world.vault, JobLane::Text).expect("job").job_id;
    assert!(!world.vault.has_waiting_jobs(JobLane::Vectors).expect("waiting"));
    world.vault.pass_jobs(&[job], JobLane::Vectors).expect("pass");
    assert_eq!(claimed(&world.vault, JobLane::Vectors, 1), [version]);
    let world = world.reopen();
    assert!(claimed(&world.vault, JobLane::Text, 1).is_empty());
    assert_eq!(claimed(&world.vault, JobLane::Vectors, 1), [version]);
    world.vault.pass_jobs(&[job], JobLane::AwaitsModel).expect("pass");
    assert!(!world.vault.has_waiting_jobs(JobLane::Vectors).expect("waiting"));
    assert_eq!(world.vault.work_summary(&world.owner_scope()).expect("work").n_open, 0);
    let world = world.reopen();
    assert_eq!(claimed(&world.vault, JobLane::Vectors, 1), [version], "the model may be there now");
}

#[test]
fn a_group_has_about_as_many_chunks_as_are_asked_for() {
    let world = World::new();
    let versions: Vec<_> = ["a.txt", "b.txt", "c.txt"]
        .map(|name| {
            let version = queued(&world, name, Urgency::InTurn);
            stage(&world.vault, version, name, &["one", "two"]);
            version
        })
        .into();
    assert_eq!(claimed(&world.vault, JobLane::Text, 3), versions[..2]);
    assert_eq!(claimed(&world.vault, JobLane::Text, 3), versions[2..]);
}

#[test]
fn a_cancelled_import_ends_keeps_what_was_read_and_may_be_tried_again() {
    let world = World::new();
    let (vault, scope) = (&world.vault, world.owner_scope());
    let version = queued(&world, "a.txt", Urgency::InTurn);
    let job = claim(vault, JobLane::Text).expect("job").job_id;
    stage(vault, version, "a", &["one", "two"]);
    assert_eq!(vault.cancel_imports(&scope, Some(version.document)).expect("cancel"), 1);
    assert!(!vault.job_is_running(job).expect("running"));
    assert_eq!(state(&world, version), (DocumentState::Failed, Some("cancelled".to_owned())));
    assert!(vault.cancel_imports(&scope, Some(version.document)).is_err(), "there is nothing left to cancel");
    assert_eq!(vault.document_page(&scope, "", 0, 1).expect("page").n_retryable, 1);
    assert_eq!(vault.retry_failed(&scope).expect("retry"), 1);
    assert_eq!(state(&world, version), (DocumentState::Queued, None));
    assert_eq!(vault.staged_units(version).expect("units"), 2);
    assert_eq!(claimed(vault, JobLane::Text, 1), [version]);
}

#[test]
fn all_is_cancelled_and_only_what_may_be_is_tried_again() {
    let world = World::new();
    let (vault, scope) = (&world.vault, world.owner_scope());
    let damaged = queued(&world, "damaged.txt", Urgency::First);
    let job = claim(vault, JobLane::Text).expect("job").job_id;
    let failure = Failure { stage: JobStage::Parse, reason: Reason::new("damaged_file"), retryable: false };
    vault.fail_job(job, &failure).expect("fail");
    let others = ["a.txt", "b.txt"].map(|name| queued(&world, name, Urgency::InTurn));
    assert_eq!(vault.cancel_imports(&scope, None).expect("cancel"), 2);
    assert_eq!(vault.cancel_imports(&scope, None).expect("cancel"), 0);
    assert_eq!(vault.retry_failed(&scope).expect("retry"), 2);
    assert_eq!(claimed(vault, JobLane::Text, 10), others);
    assert_eq!(state(&world, damaged), (DocumentState::Failed, Some("damaged_file".to_owned())));
}

#[test]
fn a_cancelled_replacement_leaves_the_old_version() {
    let world = World::new();
    let first = world.import("rule.txt", &["claims within 7 days"]);
    let second = queued(&world, "rule.txt", Urgency::InTurn);
    assert_eq!(second.document, first.document);
    world.vault.cancel_imports(&world.owner_scope(), None).expect("cancel");
    let summary = world.vault.show(&world.owner_scope(), first.document).expect("show").summary;
    assert_eq!(summary.published, Some(first.version));
}

#[test]
fn the_queue_says_nothing_of_what_is_not_visible() {
    let world = World::new();
    let (vault, owner) = (&world.vault, world.owner_scope());
    let secret = queued(&world, "secret.txt", Urgency::InTurn);
    vault.set_visibility(&owner, secret.document, DocumentVisibility::OwnerOnly, &[]).expect("visibility");
    let seen = |scope: &Scope| {
        let work = vault.work_summary(scope).expect("work");
        (work.n_open, work.current.is_some(), vault.open_jobs(scope, 10).expect("jobs").len())
    };
    assert_eq!(seen(&owner), (1, true, 1));
    assert_eq!(seen(&world.reader_scope()), (0, false, 0));
    let refused = vault.cancel_imports(&world.reader_scope(), None);
    assert!(matches!(refused, Err(VaultError::Denied { .. })), "{refused:?}");
}

#[test]
fn a_pause_outlives_the_program() {
    let world = World::new();
    assert!(!world.vault.imports_paused().expect("paused"));
    world.vault.set_imports_paused(true).expect("pause");
    let world = world.reopen();
    assert!(world.vault.imports_paused().expect("paused"));
}

#[test]
fn a_page_of_the_list_has_what_is_on_screen_and_the_sum() {
    let world = World::new();
    let scope = world.owner_scope();
    for n in 0..7 {
        queued(&world, &format!("Bericht {n}.txt"), Urgency::InTurn);
    }
    queued(&world, "合同.txt", Urgency::InTurn);
    let page = world.vault.document_page(&scope, "BERICHT", 5, 3).expect("page");
    let titles: Vec<_> = page.documents.iter().map(|document| document.title.as_str()).collect();
    assert_eq!((page.total, titles), (7, vec!["Bericht 1", "Bericht 0"]));
    let page = world.vault.document_page(&scope, "", 0, 2).expect("page");
    assert_eq!((page.total, page.documents[0].title.as_str()), (8, "合同"));
}
