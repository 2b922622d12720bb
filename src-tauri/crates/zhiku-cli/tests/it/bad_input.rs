//! A folder as it comes: odd names, broken, empty and mislabelled files, archives in archives. What can be read is found, and
//! of each other file a reason is told.

use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use std::path::Path;

use serde_json::Value;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::common::{Zhiku, in_root, text};

fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(*name, SimpleFileOptions::default()).expect("a member");
        zip.write_all(bytes).expect("its bytes");
    }
    zip.finish().expect("an archive").into_inner()
}

/// The last that is said of each file, by its name.
fn import(zhiku: &Zhiku, folder: &Path) -> (BTreeMap<String, Value>, Option<i32>) {
    let (lines, code) = zhiku.lines(&["import", "--lexical-only", text(folder)]);
    let name = |line: &Value| {
        let path = line["path"].as_str().expect("a path").to_owned();
        Path::new(&path).file_name().expect("a name").to_string_lossy().into_owned()
    };
    (lines.into_iter().map(|line| (name(&line), line)).collect(), code)
}

fn titles(zhiku: &Zhiku) -> Vec<String> {
    let listed = zhiku.json(&["list"]);
    let documents = listed["documents"].as_array().expect("documents");
    documents.iter().map(|document| document["title"].as_str().expect("a title").to_owned()).collect()
}

#[test]
fn files_are_taken_in_under_any_name() {
    let folder = tempfile::tempdir().expect("folder");
    let longest = format!("{}.txt", "长".repeat(83)) + "";
    let names = [
        "📄 报告😀.md",
        "report.v2.final.txt",
        "a..b.txt",
        " leading and trailing .txt",
        &format!("xx{longest}"),
    ];
    assert_eq!(names[4].len(), 255);
    for (n, name) in names.iter().enumerate() {
        std::fs::write(folder.path().join(name), format!("the keyword of file {n} is needle{n}"))
            .expect("writes");
    }
    let zhiku = Zhiku::new();
    let (files, code) = import(&zhiku, folder.path());
    assert_eq!(code, Some(0), "{files:?}");
    for (n, name) in names.iter().enumerate() {
        assert_eq!(files[*name]["state"], "published", "{name}");
        let found = zhiku.json(&["search", &format!("needle{n}"), "--mode", "lexical"]);
        let stem = Path::new(name).file_stem().expect("a stem").to_string_lossy().trim().to_owned();
        assert_eq!(found["hits"][0]["title"], Value::from(stem), "{found}");
    }
}

#[test]
fn each_file_that_cannot_be_read_has_its_reason_and_stops_no_other() {
    let folder = tempfile::tempdir().expect("folder");
    let put = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).expect("writes");
    let fixture =
        |name: &str| std::fs::read(in_root(&format!("fixtures/documents/{name}"))).expect("fixture");
    let deck = fixture("pptx/quarter.pptx");
    put("empty.pdf", b"");
    put("cut.pptx", &deck[..deck.len() / 2]);
    put("damaged.pdf", &fixture("pdf/damaged.pdf"));
    put("locked.pdf", &fixture("pdf/password_sesame.pdf"));
    put("program.docx", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    put("zeros.txt", &[0; 4096]);
    put("really text.pdf", b"The gate opens at seven for deliveries.");
    put("really pdf.txt", &fixture("pdf/price_table.pdf"));
    put("fine.txt", b"The canteen is closed on Friday.");
    let zhiku = Zhiku::new();
    let (files, code) = import(&zhiku, folder.path());
    assert_eq!(code, Some(3));
    let told: BTreeMap<&str, &str> = files
        .iter()
        .map(|(name, line)| {
            (name.as_str(), line["reason"]["code"].as_str().or(line["state"].as_str()).expect("text"))
        })
        .collect();
    let expect = [
        ("cut.pptx", "file_damaged"),
        ("damaged.pdf", "file_damaged"),
        ("empty.pdf", "file_empty"),
        ("fine.txt", "published"),
        ("locked.pdf", "password_required"),
        ("program.docx", "format_unsupported"),
        ("really pdf.txt", "published"),
        ("really text.pdf", "published"),
        ("zeros.txt", "format_unsupported"),
    ];
    assert_eq!(told, BTreeMap::from(expect));
}

#[test]
fn archives_are_followed_so_deep_and_lead_nowhere() {
    let folder = tempfile::tempdir().expect("folder");
    let mut nested = zipped(&[("bottom.txt", b"the bottom holds needlebottom")]);
    for level in (1..=7).rev() {
        let note = format!("level {level} holds needle{level}x");
        nested = zipped(&[("note.txt", note.as_bytes()), ("inner.zip", &nested)]);
    }
    std::fs::write(folder.path().join("deep.zip"), nested).expect("writes");
    let escaping =
        zipped(&[("../../up.txt", b"needleup"), ("/abs.txt", b"needleabs"), ("a/..", b"needledots")]);
    std::fs::write(folder.path().join("escaping.zip"), escaping).expect("writes");
    std::fs::copy(in_root("fixtures/documents/archive/contract_gbk.zip"), folder.path().join("gbk.zip"))
        .expect("copies");
    let zhiku = Zhiku::new();
    // Without --lexical-only: what comes inside is waited for.
    let (lines, _) = zhiku.lines(&["import", text(folder.path())]);
    let found = |word: &str| {
        let hits = zhiku.json(&["search", word, "--mode", "lexical"]);
        !hits["hits"].as_array().expect("hits").is_empty()
    };
    assert!(found("needle1x") && found("needle3x"), "{lines:?}");
    assert!(!found("needle7x") && !found("needlebottom"), "archives are followed without end");
    let listed = zhiku.json(&["list"]);
    let documents = listed["documents"].as_array().expect("documents");
    let warned = |document: &&Value| {
        document["title"].as_str().is_some_and(|title| title.starts_with("deep"))
            && document["warnings"].as_u64() > Some(0)
    };
    assert!(documents.iter().any(|document| warned(&document)), "nobody is told: {listed}");
    assert!(found("needleup") && found("needleabs"));
    let titles = titles(&zhiku);
    assert!(titles.iter().all(|title| !title.contains("..") && !title.contains("\u{fffd}")), "{titles:?}");
    assert!(titles.iter().any(|title| title.starts_with("gbk › ") && title.contains('合')), "{titles:?}");
    assert!(
        !folder.path().join("up.txt").exists()
            && !folder.path().parent().expect("a parent").join("up.txt").exists()
    );
}

#[test]
fn old_office_files_without_libreoffice_say_what_to_install() {
    let folder = tempfile::tempdir().expect("folder");
    for (name, stream) in [("letter.doc", "/WordDocument"), ("talk.ppt", "/PowerPoint Document")] {
        let mut file = cfb::create(folder.path().join(name)).expect("a compound file");
        file.create_stream(stream).expect("a stream").write_all(&[0; 4096]).expect("writes");
        file.flush().expect("writes");
    }
    let zhiku = Zhiku::new();
    for name in ["letter.doc", "talk.ppt"] {
        let path = folder.path().join(name);
        let mut command = zhiku.command(&["parse", text(&path)]);
        let output = command.env("ZHIKU_SOFFICE", "/nonexistent/soffice").output().expect("runs");
        let told: Value = serde_json::from_slice(&output.stdout).expect("json");
        let message = told["error"]["message"].as_str().expect("a message");
        assert!(message.contains("LibreOffice") && message.contains(name), "{told}");
        assert!(
            told["error"]["hint"].as_str().is_some_and(|hint| hint.contains("install LibreOffice")),
            "{told}"
        );
    }
    let mut command = zhiku.command(&["import", "--lexical-only", text(folder.path())]);
    let output = command.env("ZHIKU_SOFFICE", "/nonexistent/soffice").output().expect("runs");
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(told.matches("\"needs_libreoffice\"").count(), 2, "{told}");
    assert_eq!(output.status.code(), Some(3));
}
