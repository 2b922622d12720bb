//! The process is killed at every kill-point of imports, a replacement and a removal, the first, second, fourth … time it
//! comes there; after reopening and going on, the vault is what it would have been.

use std::path::Path;
use std::process::Command;

use zhiku_core::{DocumentKind, DocumentState, VersionNumber};
use zhiku_vault::{
    ChildSource, DocumentFilter, FileStamp, Home, JobKind, JobLane, JobState, KILL_POINTS, OpenOptions,
    Recognized, RegisterOutcome, Scope, SearchFilter, Vault, VersionRef,
};

use crate::support::{awaiting, embed, found, found_dense, register, space, stage, stage_chunks};

const DIR_VARIABLE: &str = "ZHIKU_CRASH_TEST_DIR";
const V1: &[&str] = &["售后 claims are filed within 7 days", "the warranty lasts five years"];
const V2: &[&str] = &["售后 claims are filed within 14 days", "the warranty lasts five years"];
const OTHER: &[&str] = &["海棠 A uses membrane M-208"];
const MOVING: &[&str] = &["a memo that wanders from place to place"];
const GONE: &[&str] = &["a note that is removed again"];

/// What the killed process did, and what a session does that goes on after it: every step may find itself done already.
fn work(vault: &Vault, scope: &Scope, files: &Path) {
    vault.set_embedding_space(&space("test")).expect("space");
    import(vault, scope, &files.join("gone.txt"), GONE, 1);
    import(vault, scope, &files.join("other.txt"), OTHER, 1);
    import(vault, scope, &files.join("rule.txt"), V1, 1);
    import(vault, scope, &files.join("rule.txt"), V2, 2);
    scan_with_attachment(vault, scope, &files.join("scan.txt"));
    moved_and_taken_back(vault, scope, files);
    let documents = vault.list_documents(scope, &DocumentFilter::default()).expect("list");
    if let Some(gone) = documents.iter().find(|document| document.title == "gone") {
        std::fs::write(files.join("gone.removed"), b"").expect("write");
        vault.remove(scope, gone.document).expect("remove");
    }
}

fn import(vault: &Vault, scope: &Scope, path: &Path, paragraphs: &[&str], number: u32) {
    if is_past(vault, scope, path, number) {
        return;
    }
    std::fs::write(path, paragraphs.join("\n")).expect("write");
    let registered = register(vault, scope, path);
    assert_eq!(registered.version.version, VersionNumber(number), "nothing is registered twice");
    vault.stamp_source(scope, path, &FileStamp { bytes: 1, modified_ms: 1, identity: None }).expect("stamp");
    let version = registered.version;
    if registered.outcome != RegisterOutcome::SameBytes || registered.state != DocumentState::Published {
        vault.enqueue_job(scope, version, JobKind::Import).expect("job");
        stage(vault, version, "title", paragraphs);
        vault.record_change(version).expect("change");
        vault.publish_lexical(&[version]).expect("publish");
    }
    vault.reuse_vectors(version).expect("reuse");
    embed(vault, version);
    vault.publish_hybrid(&[version]).expect("publish");
    finish_jobs(vault);
}

/// A document whose words are recognised after its parse, and which brings a document of its own.
fn scan_with_attachment(vault: &Vault, scope: &Scope, path: &Path) {
    std::fs::write(path, "pixels").expect("write");
    let scan = register(vault, scope, path).version;
    if vault.published_version(scan.document).expect("published").is_none() {
        let there = vault.staged_unit_rows(scan).expect("units");
        let unit = match there.first() {
            Some(unit) => unit.unit_id,
            None => vault.stage_units(scan, 0, &[awaiting()]).expect("units")[0],
        };
        let read =
            Recognized { text: "the scanned stamp says approved".to_owned(), layout: None, confidence: 0.9 };
        vault.store_recognized(scan, unit, &read).expect("recognized");
        stage_chunks(vault, scan, "scan", &[(unit, &read.text)]);
        vault.publish_lexical(&[scan]).expect("publish");
    }
    embed(vault, scan);
    vault.publish_hybrid(&[scan]).expect("publish");
    let object = vault.put_bytes(b"attached").expect("put");
    let source =
        ChildSource { name: "inner.txt", title: "scan › inner", kind: DocumentKind::Text, embedded: false };
    let inner = vault.register_child(scan, &source, &object).expect("child");
    if inner.state != DocumentState::Published {
        stage(vault, inner.version, "inner", &["the attachment names a supplier"]);
        vault.publish_lexical(&[inner.version]).expect("publish");
    }
    embed(vault, inner.version);
    vault.publish_hybrid(&[inner.version]).expect("publish");
    finish_jobs(vault);
}

/// A file that is moved and then gone, and an import that is taken back.
fn moved_and_taken_back(vault: &Vault, scope: &Scope, files: &Path) {
    let (from, to) = (files.join("moving.txt"), files.join("moved.txt"));
    import(vault, scope, &from, MOVING, 1);
    vault.move_source(scope, &from, &to).expect("move");
    vault.source_gone(scope, &to).expect("gone");
    let path = files.join("stopped.txt");
    std::fs::write(&path, "an import that is taken back").expect("write");
    let stopped = register(vault, scope, &path).version;
    vault.enqueue_job(scope, stopped, JobKind::Import).expect("job");
    vault.cancel_imports(scope, Some(stopped.document)).expect("cancel");
}

fn finish_jobs(vault: &Vault) {
    for job in vault.claim_jobs(JobLane::Text, 100).expect("claim") {
        vault.pass_jobs(&[job.job_id], JobLane::Vectors).expect("pass");
    }
    for job in vault.claim_jobs(JobLane::Vectors, 100).expect("claim") {
        vault.finish_job(job.job_id).expect("finish");
    }
}

/// The document is removed already, or at a later version.
fn is_past(vault: &Vault, scope: &Scope, path: &Path, number: u32) -> bool {
    let title = path.file_stem().expect("name").to_string_lossy().into_owned();
    let documents = vault.list_documents(scope, &DocumentFilter::default()).expect("list");
    match documents.iter().find(|document| document.title == title) {
        Some(document) => document.newest.0 > number,
        None => path.with_extension("removed").exists(),
    }
}

/// All that a person could tell two vaults apart by.
fn state(vault: &Vault, scope: &Scope) -> String {
    let documents = vault.list_documents(scope, &DocumentFilter::default()).expect("list");
    let mut lines = Vec::new();
    for document in &documents {
        let detail = vault.show(scope, document.document).expect("show");
        let places = detail.source_paths.iter().map(|path| path.file_name().unwrap_or_default());
        lines.push(format!(
            "{} from {:?} missing {}",
            document.title,
            places.collect::<Vec<_>>(),
            document.source_missing
        ));
        for version in detail.versions {
            let at = VersionRef { document: version.document, version: version.version };
            let units = vault.units(scope, at.document, at.version).expect("units");
            let chunks = vault.chunks_of(scope, at.document, at.version).expect("chunks");
            let keys: Vec<_> = chunks.iter().map(|row| row.key).collect();
            let texts: Vec<_> = chunks.into_iter().map(|row| row.chunk.text).collect();
            lines.push(format!(
                "{} v{} {:?} {:?} {:?} units {} chunks {texts:?} vectors {} tokens {} original {}",
                document.title,
                at.version,
                version.state,
                version.searchable,
                version.change,
                units.len(),
                version.n_vectors,
                vault.token_vectors(scope, &keys).expect("tokens").len(),
                vault.open_object(scope, at.document, at.version).is_ok(),
            ));
        }
    }
    for question in ["claims", "warranty", "M-208", "note removed", "stamp approved", "attachment supplier"] {
        lines.push(format!("{question}: {:?}", found(vault, scope, question)));
        let hits = vault.search_lexical(scope, question, &SearchFilter::default(), 50).expect("search").len();
        let mut dense = found_dense(vault, scope, question);
        dense.sort();
        lines.push(format!("  {hits} hits, dense {dense:?}"));
    }
    let jobs = vault.jobs(scope).expect("jobs");
    lines.push(format!(
        "unfinished jobs {}",
        jobs.iter().filter(|job| matches!(job.state, JobState::Queued | JobState::Running)).count()
    ));
    lines.push(format!("objects {}", count_files(&vault.dir().join("objects"))));
    lines.sort();
    lines.join("\n")
}

fn count_files(dir: &Path) -> usize {
    let entries = std::fs::read_dir(dir).expect("list").map(|entry| entry.expect("entry").path());
    entries.map(|path| if path.is_dir() { count_files(&path) } else { 1 }).sum()
}

fn prepare(dir: &Path) {
    let home = Home::open(dir.join("home")).expect("home");
    home.add_profile("owner").expect("profile");
    let owner = home.sign_in("owner").expect("sign in");
    home.create_vault(&owner, "v", Some(&dir.join("vault")), &OpenOptions::default()).expect("vault");
}

fn go_on(dir: &Path) -> String {
    let home = Home::open(dir.join("home")).expect("home");
    let owner = home.sign_in("owner").expect("sign in");
    let vault = Vault::open(dir.join("vault"), &OpenOptions::default()).expect("open");
    let scope = vault.scope(&owner).expect("scope");
    work(&vault, &scope, dir);
    drop(vault);
    // Once more, so that what the opening repairs is repaired.
    let vault = Vault::open(dir.join("vault"), &OpenOptions::default()).expect("open");
    state(&vault, &scope)
}

/// Not a test of its own: the process that is killed, when the variable says so.
#[test]
fn killed_process() {
    let Ok(dir) = std::env::var(DIR_VARIABLE) else { return };
    go_on(Path::new(&dir));
}

/// Runs the work in a process of its own; says whether it was killed.
fn run_killed(dir: &Path, at: &str) -> bool {
    let status = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "crash::killed_process", "--nocapture"])
        .env(DIR_VARIABLE, dir)
        .env("ZHIKU_KILL_AT", at)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .expect("start");
    match status.code() {
        Some(0) => false,
        Some(code) => panic!("the work failed with {code} before it was killed at {at}"),
        None => true,
    }
}

#[test]
fn a_kill_at_any_point_loses_and_doubles_nothing() {
    let undisturbed = tempfile::tempdir().expect("temp dir");
    prepare(undisturbed.path());
    let expected = go_on(undisturbed.path());
    assert!(expected.contains("rule v2") && !expected.contains("gone v1"), "{expected}");
    for name in KILL_POINTS {
        let mut nth = 1;
        loop {
            let dir = tempfile::tempdir().expect("temp dir");
            prepare(dir.path());
            if !run_killed(dir.path(), &format!("{name}:{nth}")) {
                assert!(nth > 1, "the work never passes {name}");
                break;
            }
            assert_eq!(go_on(dir.path()), expected, "killed at {name}:{nth}");
            nth *= 2;
        }
    }
}
