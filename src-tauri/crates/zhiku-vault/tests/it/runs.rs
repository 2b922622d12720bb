//! Conversations and runs: whose they are, what survives a crash, what is left of removed sources.

use zhiku_core::{
    Answer, AnswerEvent, AnswerStatus, Citation, Confidence, DocumentVisibility, ErrorCode, Evidence,
    EvidenceId, EvidenceSetId, ExitReason, Modality, Process, Reason, Route, RunId, Scores, Stage, Trust,
    Usage, VersionNumber,
};
use zhiku_vault::{RunState, UnitRow, VersionRef};

use crate::support::World;

const QUOTE: &str = "claims are filed within 7 days";
const SENTENCE: &str = "You have a week [1].";

fn evidence(world: &World, unit: &UnitRow) -> Evidence {
    Evidence {
        evidence_id: EvidenceId::document(1),
        citation_id: "c1".to_owned(),
        vault_id: world.vault.id(),
        document_id: unit.document_id,
        version: unit.version,
        title: "rule".to_owned(),
        unit_id: unit.unit_id,
        chunk_id: None,
        header: "rule".to_owned(),
        text: QUOTE.to_owned(),
        char_start: 0,
        char_end: 5,
        modality: Modality::Document,
        media_ref: None,
        locator: unit.locator.clone(),
        process: Process::Text,
        confidence: None,
        trust: Trust::Normal,
        scores: Scores::default(),
    }
}

fn answer(unit: &UnitRow) -> Answer {
    Answer {
        status: AnswerStatus::Completed,
        text: SENTENCE.to_owned(),
        citations: vec![Citation {
            n: 1,
            evidence_id: EvidenceId::document(1),
            document: unit.document_id,
            version: unit.version,
            title: "rule".to_owned(),
            locator: unit.locator.clone(),
            quote: QUOTE.to_owned(),
            char_start: 0,
            char_end: 5,
            unit_id: unit.unit_id,
        }],
        claims: Vec::new(),
        gaps: Vec::new(),
        confidence: Confidence::High,
        usage: Usage::default(),
        reason: Reason::new("evidence_sufficient"),
        route: Route { name: "direct".to_owned(), reason: Reason::new("simple") },
        exit_reason: ExitReason::EvidenceSufficient,
        node_trace: Vec::new(),
    }
}

/// A finished run of the reader that quotes a document.
fn answered(world: &World, version: VersionRef) -> RunId {
    let reader = world.reader_scope();
    let unit = world.vault.units(&reader, version.document, version.version).expect("units").remove(0);
    let conversation =
        world.vault.create_conversation(&reader, "售后").expect("conversation").conversation_id;
    let run = RunId::new();
    world.vault.create_run(&reader, run, Some(conversation), "how long?").expect("run");
    let events = [
        AnswerEvent::RunStarted { seq: 1, run_id: run },
        AnswerEvent::EvidenceReady {
            seq: 2,
            evidence_set_id: EvidenceSetId::new(),
            items: vec![evidence(world, &unit)],
        },
        AnswerEvent::Final { seq: 3, revision: 1, replace: true, answer: Box::new(answer(&unit)) },
    ];
    for event in &events {
        world.vault.append_event(run, event).expect("append");
    }
    run
}

fn stored_text(world: &World, run: RunId) -> String {
    let events = world.vault.events_after(&world.reader_scope(), run, 0).expect("events");
    serde_json::to_string(&events).expect("json")
}

#[test]
fn a_run_is_its_profiles_own() {
    let world = World::new();
    let version = world.import("rule.txt", &[QUOTE]);
    let run = answered(&world, version);
    let (owner, reader) = (world.owner_scope(), world.reader_scope());
    assert_eq!(world.vault.run(&owner, run).expect_err("not the owner's").code(), ErrorCode::NotFound);
    assert!(world.vault.events_after(&owner, run, 0).is_err());
    assert!(world.vault.runs(&owner, None).expect("runs").is_empty());
    assert!(world.vault.conversations(&owner).expect("conversations").is_empty());
    let own = world.vault.runs(&reader, None).expect("runs");
    assert_eq!((own.len(), own[0].state), (1, RunState::Ended));
    assert_eq!(world.vault.events_after(&reader, run, 2).expect("events").len(), 1);
}

#[test]
fn exactly_one_terminal_event_is_kept() {
    let world = World::new();
    let version = world.import("rule.txt", &[QUOTE]);
    let run = answered(&world, version);
    assert!(world.vault.append_event(run, &AnswerEvent::Cancelled { seq: 4 }).is_err());
    let repeated = RunId::new();
    world.vault.create_run(&world.reader_scope(), repeated, None, "q").expect("run");
    for _ in 0..2 {
        world
            .vault
            .append_event(repeated, &AnswerEvent::Status { seq: 1, stage: Stage::Planning })
            .expect("append");
    }
    assert_eq!(world.vault.events_after(&world.reader_scope(), repeated, 0).expect("events").len(), 1);
}

#[test]
fn a_run_without_an_end_is_interrupted_after_a_crash() {
    let world = World::new();
    let run = RunId::new();
    world.vault.create_run(&world.reader_scope(), run, None, "q").expect("run");
    world.vault.append_event(run, &AnswerEvent::RunStarted { seq: 1, run_id: run }).expect("append");
    let world = world.reopen();
    let found = world.vault.run(&world.reader_scope(), run).expect("run");
    assert_eq!(found.state, RunState::Interrupted);
    assert_eq!(world.vault.events_after(&world.reader_scope(), run, 0).expect("events").len(), 1);
}

#[test]
fn quotes_of_a_withdrawn_document_are_blank_and_come_back_with_it() {
    let world = World::new();
    let version = world.import("rule.txt", &[QUOTE]);
    let run = answered(&world, version);
    assert!(stored_text(&world, run).contains(QUOTE));
    let owner = world.owner_scope();
    world.vault.set_visibility(&owner, version.document, DocumentVisibility::OwnerOnly, &[]).expect("set");
    let text = stored_text(&world, run);
    assert!(!text.contains(QUOTE) && !text.contains("rule") && text.contains(SENTENCE), "{text}");
    let withdrawn = world.vault.withdrawn_documents(&world.reader_scope(), run).expect("withdrawn");
    assert!(withdrawn.contains(&version.document));
    world.vault.set_visibility(&owner, version.document, DocumentVisibility::AllMembers, &[]).expect("set");
    assert!(stored_text(&world, run).contains(QUOTE));
}

#[test]
fn quotes_of_a_removed_document_are_gone_and_the_sentences_stay() {
    let world = World::new();
    let version = world.import("rule.txt", &[QUOTE]);
    let run = answered(&world, version);
    let owner = world.owner_scope();
    let receipt = world.vault.remove(&owner, version.document).expect("remove");
    let evidence = receipt.stores.iter().find(|store| store.store == "run_evidence").expect("store");
    assert_eq!((evidence.found, evidence.removed), (2, 2));
    let text = stored_text(&world, run);
    assert!(!text.contains(QUOTE) && text.contains(SENTENCE), "{text}");
    let withdrawn = world.vault.withdrawn_documents(&world.reader_scope(), run).expect("withdrawn");
    assert!(withdrawn.contains(&version.document));
    assert_eq!(version.version, VersionNumber(1));
}
