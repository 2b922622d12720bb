//! Protected documents wait for their password; it opens them and is kept nowhere.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{Zhiku, have_models, in_root, text};

/// A protected document, its password, and words that are in it.
struct Protected {
    fixture: &'static str,
    password: &'static str,
    words: &'static str,
}

const DOCUMENTS: [Protected; 4] = [
    Protected { fixture: "pdf/password_sesame.pdf", password: "sesame", words: "knows the password" },
    Protected { fixture: "docx/password_芝麻.docx", password: "芝麻", words: "调薪" },
    Protected { fixture: "xlsx/password_sesame.xlsx", password: "sesame", words: "Harbour" },
    Protected { fixture: "pptx/password_sesame.pptx", password: "sesame", words: "merger" },
];

/// The document under a name that does not tell its password.
fn copied(document: &Protected, folder: &TempDir) -> PathBuf {
    let extension = document.fixture.rsplit('.').next().expect("an extension");
    let path = folder.path().join(format!("plans.{extension}"));
    std::fs::copy(in_root(&format!("fixtures/documents/{}", document.fixture)), &path).expect("copies");
    path
}

fn import(zhiku: &Zhiku, path: &Path, password: Option<&str>) -> (Value, Option<i32>) {
    let mut args = vec!["import", "--lexical-only", text(path)];
    let (lines, code) = match password {
        Some(password) => {
            args.push("--password-stdin");
            zhiku.lines_with(&args, &format!("{password}\n"))
        }
        None => zhiku.lines(&args),
    };
    (lines.last().expect("a line").clone(), code)
}

fn n_hits(zhiku: &Zhiku, words: &str) -> usize {
    zhiku.json(&["search", words, "--mode", "lexical"])["hits"].as_array().expect("hits").len()
}

#[test]
fn a_protected_document_waits_until_the_right_password_is_given() {
    for document in &DOCUMENTS {
        let (zhiku, folder) = (Zhiku::new(), tempfile::tempdir().expect("folder"));
        let path = copied(document, &folder);

        let (last, code) = import(&zhiku, &path, None);
        assert_eq!((&last["state"], code), (&"failed".into(), Some(3)), "{last}");
        assert_eq!(last["reason"]["code"], "password_required", "{last}");
        let (last, code) = import(&zhiku, &path, Some("open sesame"));
        assert_eq!((&last["reason"]["code"], code), (&"wrong_password".into(), Some(3)), "{last}");
        let listed = zhiku.json(&["list"]);
        let failure = &listed["documents"][0]["failure"];
        assert_eq!(
            (&failure["reason"]["code"], &failure["retryable"]),
            (&"wrong_password".into(), &true.into())
        );

        let (last, code) = import(&zhiku, &path, Some(document.password));
        assert_eq!((&last["state"], code), (&"published".into(), Some(0)), "{last}");
        assert!(n_hits(&zhiku, document.words) > 0, "{}", document.fixture);
        let listed = zhiku.json(&["list"]);
        assert_eq!(listed["documents"].as_array().map(Vec::len), Some(1), "{listed}");
        assert_eq!(listed["documents"][0]["failure"], Value::Null, "{listed}");
    }
}

/// Its pages are drawn after the text lane is done with the file: the password must still be there.
#[test]
fn a_protected_scan_is_read_with_its_password() {
    if !have_models("reading of protected scans") {
        return;
    }
    let (zhiku, path) = (Zhiku::new(), in_root("fixtures/documents/pdf/password_scan.pdf"));
    let (lines, code) = zhiku.lines_with(&["import", "--password-stdin", text(&path)], "scan\n");
    assert_eq!(code, Some(0), "{lines:?}");
    let hit = &zhiku.json(&["search", "Quarantine depot hall", "--mode", "lexical"])["hits"][0];
    assert_eq!(
        (&hit["locator"]["kind"], &hit["locator"]["page_index"]),
        (&"page".into(), &0.into()),
        "{hit}"
    );
    assert!(n_hits(&zhiku, "Marwick") > 0);
}

#[test]
fn no_file_of_the_home_holds_a_password() {
    for document in &DOCUMENTS {
        let (zhiku, folder) = (Zhiku::new(), tempfile::tempdir().expect("folder"));
        let path = copied(document, &folder);
        let wrong = "wr0ng-guess-7";
        import(&zhiku, &path, Some(wrong));
        import(&zhiku, &path, Some(document.password));
        let mut files = Vec::new();
        below(zhiku.home(), &mut files);
        assert!(files.len() > 3, "{files:?}");
        for word in [document.password, wrong] {
            let wide: Vec<u8> = word.encode_utf16().flat_map(u16::to_le_bytes).collect();
            for file in &files {
                let bytes = std::fs::read(file).expect("reads");
                for needle in [word.as_bytes(), &wide] {
                    let is_there = bytes.windows(needle.len()).any(|window| window == needle);
                    assert!(!is_there, "{word} is in {}", file.display());
                }
            }
        }
    }
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("folder").map(|entry| entry.expect("entry").path()) {
        if entry.is_dir() { below(&entry, files) } else { files.push(entry) }
    }
}

#[test]
fn one_file_is_parsed_with_its_password() {
    let zhiku = Zhiku::new();
    for document in &DOCUMENTS {
        let path = in_root(&format!("fixtures/documents/{}", document.fixture));
        let refused = zhiku.json_error(&["parse", text(&path)]);
        assert_eq!(refused["error"]["code"], "password_required", "{refused}");
        let (parsed, code) = zhiku
            .lines_with(&["parse", text(&path), "--password-stdin"], &format!("{}\r\n", document.password));
        assert_eq!(code, Some(0), "{parsed:?}");
        let units = parsed[0]["units"].as_array().expect("units");
        assert!(
            units.iter().any(|unit| unit["text"].as_str().is_some_and(|text| text.contains(document.words)))
        );
    }
    let (lines, code) = zhiku.lines_with(&["import", "x.pdf", "--password-stdin"], "\n");
    assert_eq!((&lines[0]["error"]["code"], code), (&"invalid_input".into(), Some(1)), "{lines:?}");
}
