//! Killing the real program in the middle of an import costs work, never content: the state after the next import is that of
//! an undisturbed one.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use crate::common::{Zhiku, have_models, in_root, text};
use serde_json::{Value, json};
use zhiku_engine::{AccessMode, Engine, EngineConfig, VaultDigest};

const FILES: [&str; 3] = ["two_columns.pdf", "after_sales_rules.pdf", "page_labels.pdf"];

fn import_args() -> Vec<String> {
    let paths = FILES.iter().map(|name| text(&in_root(&format!("fixtures/documents/pdf/{name}"))).to_owned());
    std::iter::once("import".to_owned()).chain(paths).collect()
}

/// What a user can tell of the vault: documents with their counts, and what is found.
fn visible_state(zhiku: &Zhiku) -> Value {
    let listed = zhiku.json(&["list"]);
    let mut documents: Vec<Value> = listed["documents"]
        .as_array()
        .expect("documents")
        .iter()
        .map(|d| {
            json!([
                d["title"],
                d["version"],
                d["state"],
                d["searchable"],
                d["units"],
                d["chunks"],
                d["warnings"]
            ])
        })
        .collect();
    documents.sort_by_key(Value::to_string);
    let found: Vec<Value> = ["售后服务 保修", "page", "column"]
        .iter()
        .map(|query| {
            let hits = zhiku.json(&["search", query, "-k", "5", "--mode", "lexical"]);
            let hits =
                hits["hits"].as_array().expect("hits").iter().map(|hit| json!([hit["title"], hit["text"]]));
            Value::Array(hits.collect())
        })
        .collect();
    json!({ "documents": documents, "found": found })
}

fn undisturbed() -> Value {
    let zhiku = Zhiku::new();
    let args = import_args();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    assert_eq!(zhiku.lines(&args).1, Some(0));
    visible_state(&zhiku)
}

/// All that a vault holds as hashes. Vectors are left out: their rounding depends on what else was in a batch.
fn held(zhiku: &Zhiku) -> VaultDigest {
    let engine =
        Engine::open(EngineConfig::new(zhiku.home().to_owned(), "test").expect("config")).expect("engine");
    let owner = engine.sign_in(None).expect("profile");
    let session = engine.open_vault(&owner, None, AccessMode::Owner).expect("vault");
    VaultDigest { vectors: String::new(), ..session.digest().expect("digest") }
}

/// Notes of a line or two, no two alike.
fn write_notes(dir: &Path, n_notes: usize) {
    for n in 0..n_notes {
        let folder = dir.join((n % 7).to_string());
        std::fs::create_dir_all(&folder).expect("create");
        let text = format!("Note {n}: order {} was checked. 第 {n} 号材料已验收。", n * 31);
        std::fs::write(folder.join(format!("note-{n}.txt")), text).expect("write");
    }
}

/// A small generator with a fixed seed: the same kills in every run.
fn random(seed: &mut u64) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as usize
}

#[test]
fn ten_random_kills_lose_and_duplicate_nothing() {
    if !have_models("random kills") {
        return;
    }
    let expected = undisturbed();
    let zhiku = Zhiku::new();
    let args = import_args();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut seed = 20_261_130;
    for _ in 0..10 {
        let mut child =
            zhiku.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
        let lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
        // Reading the n-th line of progress is the moment; an import that is already over ends the reading.
        let _ = lines.take(1 + random(&mut seed) % 12).count();
        let _ = child.kill();
        let _ = child.wait();
    }
    zhiku.succeeds(&args);
    assert_eq!(visible_state(&zhiku), expected);
}

#[test]
fn many_small_files_come_through_ten_kills_and_none_is_embedded_twice() {
    if !have_models("many small files") {
        return;
    }
    let files = tempfile::tempdir().expect("temp dir");
    write_notes(files.path(), 80);
    let args = ["import", text(files.path())];
    let undisturbed = Zhiku::new();
    undisturbed.succeeds(&args);
    let expected = held(&undisturbed);
    assert_eq!((expected.n_documents, expected.n_vectors), (80, expected.n_chunks));
    let zhiku = Zhiku::new();
    let mut seed = 20_261_201;
    for _ in 0..10 {
        let mut child =
            zhiku.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
        let lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
        let _ = lines.take(1 + random(&mut seed) % 120).count();
        let _ = child.kill();
        let _ = child.wait();
    }
    zhiku.succeeds(&args);
    let found = held(&zhiku);
    assert_eq!((found.max_embedded, found.n_embedded), (1, found.n_chunks));
    assert_eq!(found, expected);
}

#[cfg(feature = "fault-injection")]
#[test]
fn a_kill_at_every_point_is_made_good_by_the_next_import() {
    if !have_models("kill-points") {
        return;
    }
    let expected = undisturbed();
    let args = import_args();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut never_reached = Vec::new();
    for point in zhiku_engine::KILL_POINTS {
        let zhiku = Zhiku::new();
        let killed = zhiku.command(&args).env("ZHIKU_KILL_AT", point).output().expect("starts");
        if killed.status.success() {
            never_reached.push(*point);
            continue;
        }
        assert_eq!(zhiku.lines(&args).1, Some(0), "after {point}");
        assert_eq!(visible_state(&zhiku), expected, "after {point}");
    }
    // Nothing here is inside another file, scanned, moved, cancelled or removed; the vault's own tests kill those.
    let elsewhere = [
        "source_moved",
        "source_gone",
        "child_registered",
        "recognized",
        "cancelled",
        "marked_deleted",
        "erased_store",
        "erased_rows",
    ];
    assert_eq!(never_reached, elsewhere);
}
