//! From a file to what search finds: registering, replacing, reusing, failing, reopening.

use zhiku_core::{DocumentState, Failure, JobStage, Reason, Searchable};
use zhiku_vault::{
    DocumentFilter, JobKind, JobLane, JobState, OpenOptions, PublishOutcome, RegisterOutcome, SearchFilter,
    SpaceChange, Vault, VaultError,
};

use crate::support::{
    World, claim, embed, found, found_dense, import_staged, register, space, stage, vector,
};

const RULE_1: &str = "售后 claims are filed within 7 days";
const RULE_2: &str = "售后 claims are filed within 14 days";
const COMMON: &str = "the warranty of waterproofing lasts five years";

#[test]
fn a_first_version_is_found_by_words_before_it_has_vectors() {
    let world = World::new();
    let (vault, scope) = (&world.vault, world.owner_scope());
    let version = world.register("rule.txt", &[RULE_1]).version;
    stage(vault, version, "rule", &[RULE_1]);
    assert!(found(vault, &scope, "claims").is_empty(), "staged is invisible");
    assert!(vault.units(&scope, version.document, version.version).expect("units").is_empty());
    assert_eq!(vault.publish_lexical(&[version]).expect("publish"), [PublishOutcome::Published]);
    assert_eq!(found(vault, &scope, "售后"), [RULE_1]);
    assert!(found_dense(vault, &scope, RULE_1).is_empty());
    let listed = &vault.list_documents(&scope, &DocumentFilter::default()).expect("list")[0];
    assert_eq!((listed.state, listed.searchable), (DocumentState::Published, Some(Searchable::Lexical)));
    assert!(vault.publish_hybrid(&[version]).is_err(), "vectors are missing");
    embed(vault, version);
    vault.publish_hybrid(&[version]).expect("publish");
    assert_eq!(found_dense(vault, &scope, RULE_1), [RULE_1]);
}

#[test]
fn a_replacing_version_switches_when_it_has_vectors() {
    let world = World::new();
    let (vault, scope) = (&world.vault, world.owner_scope());
    let first = world.import("rule.txt", &[COMMON, RULE_1]);
    let second = world.register("rule.txt", &[COMMON, RULE_2]);
    assert_eq!((second.outcome, second.version.version.0), (RegisterOutcome::NewVersion, 2));
    let second = second.version;
    stage(vault, second, "rule", &[COMMON, RULE_2]);
    assert_eq!(vault.publish_lexical(&[second]).expect("publish"), [PublishOutcome::AwaitsVectors]);
    assert_eq!(found(vault, &scope, "claims"), [RULE_1], "the old one stays");
    assert_eq!(vault.reuse_vectors(second).expect("reuse"), 1, "the unchanged chunk keeps its vectors");
    assert_eq!(vault.pending_chunks(second).expect("pending").len(), 1);
    embed(vault, second);
    assert_eq!(vault.publish_hybrid(&[second]).expect("publish"), [PublishOutcome::Published]);
    assert_eq!(found(vault, &scope, "claims"), [RULE_2]);
    assert_eq!(found_dense(vault, &scope, RULE_2)[0], RULE_2);
    assert_eq!(found_dense(vault, &scope, RULE_1).len(), 2, "nothing of the old version is scanned");
    let old = vault.units(&scope, first.document, first.version).expect("units");
    assert_eq!(old[1].text, RULE_1, "old citations still open");
    assert_eq!(
        vault.version(&scope, first.document, first.version).expect("version").state,
        DocumentState::Superseded
    );
    assert_eq!(vault.publish_hybrid(&[first]).expect("publish"), [PublishOutcome::Overtaken]);
    assert_eq!(found(vault, &scope, "claims"), [RULE_2]);
}

#[test]
fn a_failed_replacement_leaves_the_old_version() {
    let world = World::new();
    let (vault, scope) = (&world.vault, world.owner_scope());
    world.import("rule.txt", &[RULE_1]);
    let second = world.register("rule.txt", &[RULE_2]).version;
    let job = vault.enqueue_job(&scope, second, JobKind::Import).expect("job");
    let claimed = claim(vault, JobLane::Text).expect("a job");
    assert_eq!((claimed.job_id, claimed.version, claimed.state), (job, second, JobState::Running));
    let failure = Failure { stage: JobStage::Parse, reason: Reason::new("damaged_file"), retryable: false };
    vault.fail_job(job, &failure).expect("fail");
    assert_eq!(found(vault, &scope, "claims"), [RULE_1]);
    let listed = &vault.list_documents(&scope, &DocumentFilter::default()).expect("list")[0];
    assert_eq!((listed.state, &listed.failure), (DocumentState::Failed, &Some(failure)));
    assert_eq!(listed.published.map(|version| version.0), Some(1));
    let retried = vault.retry_version(&scope, second).expect("retry");
    assert_eq!(claim(vault, JobLane::Text).map(|job| job.job_id), Some(retried));
}

#[test]
fn the_same_bytes_are_one_document() {
    let world = World::new();
    let (vault, scope) = (&world.vault, world.owner_scope());
    let first = world.import("a.txt", &[RULE_1]);
    let again = world.register("a.txt", &[RULE_1]);
    assert_eq!(
        (again.outcome, again.version, again.state),
        (RegisterOutcome::SameBytes, first, DocumentState::Published)
    );
    let copy = world.register("b.txt", &[RULE_1]);
    assert_eq!((copy.outcome, copy.version), (RegisterOutcome::SameBytes, first));
    assert_eq!(vault.show(&scope, first.document).expect("show").source_paths.len(), 2);
    let changed = world.register("b.txt", &[RULE_2]);
    assert_eq!(changed.outcome, RegisterOutcome::New, "one of two copies changed: a source of its own");
    assert_eq!(vault.show(&scope, first.document).expect("show").source_paths.len(), 1);
}

#[test]
fn an_unfinished_version_gives_way_to_a_newer_one() {
    let world = World::new();
    let (vault, scope) = (&world.vault, world.owner_scope());
    let first = world.register("a.txt", &[RULE_1]).version;
    vault.enqueue_job(&scope, first, JobKind::Import).expect("job");
    let job = claim(vault, JobLane::Text).expect("job").job_id;
    let second = world.register("a.txt", &[RULE_2]).version;
    assert!(!vault.job_is_running(job).expect("state"));
    assert!(matches!(vault.staged_units(first), Ok(0)));
    assert!(vault.stage_units(first, 0, &[]).is_err());
    import_staged(vault, second, "a", &[RULE_2]);
    assert_eq!(found(vault, &scope, "claims"), [RULE_2]);
}

#[test]
fn stages_may_be_repeated() {
    let world = World::new();
    let (vault, scope) = (&world.vault, world.owner_scope());
    let version = world.register("a.txt", &[RULE_1, COMMON]).version;
    stage(vault, version, "a", &[RULE_1, COMMON]);
    let units = vault.staged_unit_rows(version).expect("units");
    let chunks = vault.pending_chunks(version).expect("chunks");
    stage(vault, version, "a", &[RULE_1, COMMON]);
    assert_eq!(vault.staged_unit_rows(version).expect("units"), units);
    assert_eq!(vault.pending_chunks(version).expect("chunks"), chunks);
    vault.publish_lexical(&[version]).expect("publish");
    vault.publish_lexical(&[version]).expect("publish");
    embed(vault, version);
    vault.publish_hybrid(&[version]).expect("publish");
    vault.publish_hybrid(&[version]).expect("publish");
    vault.publish_lexical(&[version]).expect("publish");
    assert_eq!(found(vault, &scope, "claims"), [RULE_1]);
    assert_eq!(found_dense(vault, &scope, RULE_1).len(), 2);
    assert!(vault.stage_units(version, 0, &[]).is_err(), "a published version does not change");
    assert!(!vault.stage_finished(version, JobStage::Parse, 1).expect("stage"));
    vault.finish_stage(version, JobStage::Parse, 1).expect("stage");
    assert!(vault.stage_finished(version, JobStage::Parse, 1).expect("stage"));
    assert!(!vault.stage_finished(version, JobStage::Parse, 2).expect("stage"));
}

#[test]
fn the_lexical_index_can_be_lost() {
    let mut world = World::new();
    world.import("a.txt", &[RULE_1]);
    world.import("b.txt", &[COMMON]);
    for damage in [false, true] {
        let lexical = world.vault.dir().join("lexical");
        if damage {
            std::fs::write(lexical.join("meta.json"), b"{").expect("damage");
        } else {
            // Files of an open index may be removed on this system; it is opened anew below.
            std::fs::remove_dir_all(&lexical).expect("remove");
        }
        world = world.reopen();
        assert_eq!(found(&world.vault, &world.owner_scope(), "claims"), [RULE_1]);
        assert_eq!(found(&world.vault, &world.owner_scope(), "warranty"), [COMMON]);
    }
}

#[test]
fn lost_token_vectors_are_reported_and_can_be_made_again() {
    let world = World::new();
    let version = world.import("a.txt", &[RULE_1, COMMON]);
    let dir = world.vault.dir().to_owned();
    let World { dir: _temp, home, vault, owner, .. } = world;
    drop(vault);
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(dir.join(format!("token_vectors.sqlite{suffix}")));
    }
    std::fs::write(
        dir.join("token_vectors.sqlite"),
        b"no database at all, but long enough to be read as one",
    )
    .expect("damage");
    let vault = Vault::open(&dir, &OpenOptions::default()).expect("open");
    let scope = vault.scope(&owner).expect("scope");
    assert!(vault.token_vectors_recreated());
    let missing = vault.chunks_without_token_vectors().expect("missing");
    assert_eq!(missing.len(), 2);
    let again: Vec<_> = missing
        .iter()
        .map(|(_, chunk)| {
            let values = vector(&chunk.indexed_text);
            let tokens = zhiku_core::model::TokenMatrix { dim: values.len(), values: values.clone() };
            (chunk.chunk_id, values, tokens)
        })
        .collect();
    vault.store_vectors(version, &again).expect("store");
    assert!(vault.chunks_without_token_vectors().expect("missing").is_empty());
    let keys: Vec<_> = missing.iter().map(|(_, chunk)| chunk.key).collect();
    assert_eq!(vault.token_vectors(&scope, &keys).expect("tokens").len(), 2);
    drop(home);
}

#[test]
fn another_embedding_model_drops_all_vectors_and_queues_the_work() {
    let world = World::new();
    let (vault, scope) = (&world.vault, world.owner_scope());
    let version = world.import("a.txt", &[RULE_1]);
    assert_eq!(vault.set_embedding_space(&space("test")).expect("space"), SpaceChange::Unchanged);
    assert_eq!(
        vault.set_embedding_space(&space("other")).expect("space"),
        SpaceChange::Changed { queued: 1 }
    );
    assert!(found_dense(vault, &scope, RULE_1).is_empty());
    assert_eq!(found(vault, &scope, "claims"), [RULE_1], "words still find it");
    let job = claim(vault, JobLane::Vectors).expect("job");
    assert_eq!((job.version, job.kind), (version, JobKind::Embed));
    embed(vault, version);
    vault.publish_hybrid(&[version]).expect("publish");
    vault.finish_job(job.job_id).expect("finish");
    assert_eq!(found_dense(vault, &scope, RULE_1), [RULE_1]);
}

#[test]
fn a_second_process_is_told_who_has_the_vault_and_may_read() {
    let world = World::new();
    world.import("a.txt", &[RULE_1]);
    let options = OpenOptions { program: "zhiku-cli".to_owned(), ..OpenOptions::default() };
    let Err(VaultError::Locked { owner }) = Vault::open(world.vault.dir(), &options) else {
        panic!("not locked")
    };
    assert_eq!((owner.pid, owner.program.as_str()), (std::process::id(), "Zhiku"));
    let beside = Vault::open_read_only(world.vault.dir(), &options).expect("read only");
    let scope = beside.scope(&world.owner).expect("scope");
    assert_eq!(found(&beside, &scope, "claims"), [RULE_1]);
    assert_eq!(found_dense(&beside, &scope, RULE_1), [RULE_1]);
    assert!(matches!(beside.create_conversation(&scope, "t"), Err(VaultError::ReadOnly)));
    world.import("b.txt", &[COMMON]);
    assert_eq!(found(&beside, &scope, "warranty"), [COMMON], "what the owner publishes is seen");
}

#[test]
fn a_newer_vault_is_refused() {
    let world = World::new();
    let dir = world.vault.dir().to_owned();
    let World { dir: _temp, vault, .. } = world;
    drop(vault);
    let db = rusqlite::Connection::open(dir.join("vault.sqlite")).expect("open");
    db.pragma_update(None, "user_version", 999).expect("set");
    drop(db);
    let Err(error) = Vault::open(&dir, &OpenOptions::default()) else { panic!("opened") };
    assert!(matches!(error, VaultError::TooNew { found: 999, .. }), "{error}");
}

#[test]
fn readers_see_whole_versions_while_versions_are_replaced() {
    const ROUNDS: usize = 12;
    let world = World::new();
    let (vault, scope) = (&world.vault, world.owner_scope());
    let text = |round: usize, part: usize| format!("claims rule round{round} part {part}");
    let paragraphs = |round| [text(round, 0), text(round, 1), text(round, 2)];
    let import = |round: usize| {
        let texts = paragraphs(round);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let path = world.file("rule.txt", &texts.join("\n"));
        let version = register(vault, &scope, &path).version;
        stage(vault, version, "rule", &texts);
        embed(vault, version);
        vault.publish_hybrid(&[version]).expect("publish");
    };
    import(0);
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|threads| {
        let readers: Vec<_> = (0..3)
            .map(|_| {
                threads.spawn(|| {
                    let mut searches = 0;
                    while !done.load(std::sync::atomic::Ordering::SeqCst) {
                        let texts = found(vault, &scope, "claims");
                        assert_eq!(texts.len(), 3, "{texts:?}");
                        let round = |text: &String| text.split(' ').nth(2).map(str::to_owned);
                        assert!(texts.iter().all(|text| round(text) == round(&texts[0])), "mixed: {texts:?}");
                        searches += 1;
                    }
                    searches
                })
            })
            .collect();
        for round in 1..ROUNDS {
            import(round);
        }
        done.store(true, std::sync::atomic::Ordering::SeqCst);
        for reader in readers {
            assert!(reader.join().expect("reader") > 0);
        }
    });
    let hits = vault.search_lexical(&scope, "claims", &SearchFilter::default(), 50).expect("search");
    assert_eq!(hits.len(), 3);
}

#[test]
fn many_documents_in_one_publication() {
    let world = World::new();
    let (vault, scope) = (&world.vault, world.owner_scope());
    let texts: Vec<String> = (0..300).map(|n| format!("document number{n} 编号")).collect();
    let versions: Vec<_> = texts
        .iter()
        .enumerate()
        .map(|(n, text)| {
            let version = world.register(&format!("{n}.txt"), &[text]).version;
            stage(vault, version, "d", &[text]);
            version
        })
        .collect();
    vault.publish_lexical(&versions).expect("publish");
    assert_eq!(found(vault, &scope, "number217"), [texts[217].as_str()]);
    let only = SearchFilter { documents: Some(vec![versions[3].document]) };
    assert_eq!(vault.search_lexical(&scope, "编号", &only, 10).expect("search").len(), 1);
}
