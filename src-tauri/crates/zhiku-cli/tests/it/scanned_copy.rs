//! A scanned copy of a document is found at the same pages as the document with its text, as far as an answer looks.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::{Zhiku, have_models, in_root, text};
use crate::scanner::scanned_pdf;

/// The shortest documents of the set: every page is read.
const DOCUMENTS: [&str; 3] =
    ["AMCOR_2023Q4_EARNINGS", "FOOTLOCKER_2022_8K_dated-2022-05-20", "PEPSICO_2023_8K_dated-2023-05-05"];

#[test]
fn questions_hit_the_same_pages_of_a_scanned_copy() {
    let set = in_root("../shared/bench/financebench-dev");
    let has_pdftoppm = Command::new("pdftoppm").arg("-v").output().is_ok();
    if !set.is_dir() || !has_pdftoppm || !have_models("page hits of a scanned copy") {
        eprintln!("skipped without the public set, pdftoppm or models: page hits of a scanned copy");
        return;
    }
    let dir = tempfile::tempdir().expect("folder");
    let (originals, copies) = (dir.path().join("text"), dir.path().join("scans"));
    std::fs::create_dir(&originals).expect("folder");
    std::fs::create_dir(&copies).expect("folder");
    for document in DOCUMENTS {
        let name = format!("{document}.pdf");
        let original = set.join("pdf").join(&name);
        std::fs::copy(&original, originals.join(&name)).expect("copy");
        std::fs::write(copies.join(&name), scanned_pdf(&drawn_pages(&original))).expect("write");
    }
    let questions = dir.path().join("questions.jsonl");
    let all = std::fs::read_to_string(set.join("questions.jsonl")).expect("questions");
    let own: Vec<&str> = all.lines().filter(|line| is_about(line, &DOCUMENTS)).collect();
    std::fs::write(&questions, own.join("\n")).expect("write");

    let hits = |folder: &Path| {
        let zhiku = Zhiku::new();
        let report = zhiku.json(&["eval", "pages", "--pdf", text(folder), "--questions", text(&questions)]);
        eprintln!("{report}");
        assert_eq!(report["n_questions"], own.len());
        assert_eq!(report["n_pages"], 23);
        ["hit@5", "hit@10"].map(|name| report[name].as_f64().expect("a share"))
    };
    let (with_text, scanned) = (hits(&originals), hits(&copies));
    assert!(with_text[0] > 0.5, "{with_text:?}");
    // The first places are a matter of hundredths between passages of one table, and of where its rows were cut.
    assert!(
        scanned.iter().zip(&with_text).all(|(scanned, text)| scanned >= text),
        "{scanned:?} {with_text:?}"
    );
}

fn is_about(line: &str, documents: &[&str]) -> bool {
    let question: Value = serde_json::from_str(line).expect("a line is JSON");
    let pages = question["gold_pages"].as_array().expect("pages");
    pages.iter().any(|page| documents.iter().any(|document| page["doc"] == *document))
}

/// Each page as a grey JPEG at 150 dots per inch.
fn drawn_pages(pdf: &Path) -> Vec<Vec<u8>> {
    let dir = tempfile::tempdir().expect("folder");
    let drawn = Command::new("pdftoppm")
        .args(["-r", "150", "-gray", "-jpeg"])
        .args([pdf, &dir.path().join("page")])
        .status()
        .expect("starts");
    assert!(drawn.success());
    let mut pages: Vec<_> =
        std::fs::read_dir(dir.path()).expect("pages").map(|entry| entry.expect("entry").path()).collect();
    pages.sort();
    pages.iter().map(|page| std::fs::read(page).expect("page")).collect()
}
