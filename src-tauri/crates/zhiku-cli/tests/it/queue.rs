//! The queue, the governor and watched folders from the command line, without any model.

use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::common::{Zhiku, text};

fn note(dir: &Path, name: &str, words: &str) {
    let path = dir.join(name);
    std::fs::write(&path, words).expect("write");
    let file = std::fs::File::options().write(true).open(path).expect("open");
    file.set_modified(SystemTime::now() - Duration::from_hours(1)).expect("set time");
}

fn states(zhiku: &Zhiku) -> Vec<Value> {
    let listed = zhiku.json(&["list"]);
    let mut rows: Vec<Value> = listed["documents"]
        .as_array()
        .expect("documents")
        .iter()
        .map(|d| json!([d["title"], d["version"], d["state"], d["source_missing"]]))
        .collect();
    rows.sort_by_key(Value::to_string);
    rows
}

#[test]
fn a_paused_queue_takes_in_waits_over_restarts_and_goes_on() {
    let files = tempfile::tempdir().expect("temp dir");
    note(files.path(), "a.txt", "water proofing");
    note(files.path(), "b.txt", "tiles and grout");
    let zhiku = Zhiku::new();
    assert_eq!(zhiku.json(&["jobs", "pause"]), json!({ "paused": true }));
    assert_eq!(zhiku.lines(&["import", text(files.path())]).1, Some(0));
    let listed = zhiku.json(&["jobs", "list"]);
    assert_eq!((&listed["open"], &listed["paused"]), (&json!(2), &json!(true)));
    assert_eq!(zhiku.json(&["jobs", "cancel", "a"]), json!({ "cancelled": 1 }));
    assert_eq!(zhiku.json(&["jobs", "resume"]), json!({ "paused": false }));
    assert_eq!(states(&zhiku), [json!(["a", 1, "failed", false]), json!(["b", 1, "published", false])]);
    assert_eq!(zhiku.json(&["jobs", "retry"])["queued"], json!(1));
    assert_eq!(states(&zhiku)[0], json!(["a", 1, "published", false]));
}

#[test]
fn what_imports_may_use_is_set_and_kept() {
    let zhiku = Zhiku::new();
    let set = zhiku.json(&["governor", "--threads", "1", "--keep-usable", "off", "--disk-reserve-mb", "64"]);
    let expected =
        json!({ "threads": 1, "keep_usable": false, "memory_ceiling_mb": null, "disk_reserve_mb": 64 });
    assert_eq!(set, expected);
    assert_eq!(zhiku.json(&["governor"]), expected);
    let refused = zhiku.run(&["governor", "--memory-ceiling-mb", "5"]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(zhiku.json(&["governor"]), expected, "a refused setting changes nothing");
}

#[test]
fn a_full_disk_refuses_what_it_cannot_hold_and_says_why() {
    let files = tempfile::tempdir().expect("temp dir");
    note(files.path(), "a.txt", "water proofing");
    let zhiku = Zhiku::new();
    zhiku.json(&["governor", "--disk-reserve-mb", "1000000000"]);
    let (lines, code) = zhiku.lines(&["import", text(files.path())]);
    assert_eq!((lines[0]["reason"]["code"].as_str(), code), (Some("disk_full"), Some(3)));
    zhiku.json(&["governor", "--disk-reserve-mb", "1"]);
    assert_eq!(zhiku.lines(&["import", text(files.path())]).1, Some(0));
}

#[test]
fn a_watched_folder_is_followed_through_changes_moves_and_deletions() {
    let files = tempfile::tempdir().expect("temp dir");
    note(files.path(), "a.txt", "the first words");
    note(files.path(), "skip.log", "not wanted");
    let zhiku = Zhiku::new();
    let added = zhiku.json(&["watch", "add", text(files.path()), "--ignore", "*.log"]);
    assert_eq!(added["folders"][0]["queued"], json!(1));
    assert_eq!(states(&zhiku), [json!(["a", 1, "published", false])]);
    std::fs::rename(files.path().join("a.txt"), files.path().join("b.txt")).expect("rename");
    assert_eq!(zhiku.json(&["watch", "check"])["folders"][0]["gone"], json!(0));
    note(files.path(), "b.txt", "other words");
    zhiku.json(&["watch", "check"]);
    assert_eq!(states(&zhiku), [json!(["a", 2, "published", false])]);
    let versions = zhiku.json(&["versions", "a"]);
    assert_eq!(versions["versions"][0]["change"], json!("major"));
    std::fs::remove_file(files.path().join("b.txt")).expect("remove");
    assert_eq!(zhiku.json(&["watch", "check"])["folders"][0]["gone"], json!(1));
    assert_eq!(states(&zhiku), [json!(["a", 2, "published", true])]);
    zhiku.json(&["watch", "remove", text(files.path())]);
    assert_eq!(zhiku.json(&["watch", "list"]), json!({ "folders": [] }));
}
