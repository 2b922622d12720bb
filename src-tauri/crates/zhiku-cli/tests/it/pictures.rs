//! Words that stand only in a picture within a document are found, and cited at their place in the picture.

use serde_json::Value;

use crate::common::{Zhiku, have_models, in_root, text};

/// Imports a document, asks what only its picture says, and expects the answer from there.
fn check(document: &str, question: &str, title: &str, words: &str) {
    let zhiku = Zhiku::new();
    let (lines, code) = zhiku.lines(&["import", text(&in_root(&format!("fixtures/documents/{document}")))]);
    assert_eq!(code, Some(0), "{lines:?}");
    let (answer, _) = zhiku.lines(&["ask", question]);
    let citations = answer[0]["citations"].as_array().expect("citations");
    let cited = citations.iter().find(|found| found["title"] == title);
    let cited = cited.unwrap_or_else(|| panic!("{answer:#?}"));
    assert!(cited["quote"].as_str().expect("quote").contains(words), "{cited}");
    assert_eq!(cited["locator"]["kind"], "region", "{cited}");
    assert!(!cited["locator"]["boxes"].as_array().expect("boxes").is_empty(), "{cited}");
    removed_with_its_document(&zhiku, document);
}

fn removed_with_its_document(zhiku: &Zhiku, document: &str) {
    let name = document.rsplit('/').next().and_then(|name| name.split('.').next()).expect("a name");
    let listed = zhiku.json(&["list"]);
    let is_document = |found: &&Value| found["title"] == name;
    let found = listed["documents"].as_array().expect("documents").iter().find(is_document).cloned();
    let id = found.expect("the document")["document"].as_str().expect("id").to_owned();
    zhiku.json(&["remove", &id]);
    assert!(zhiku.run(&["verify-removed", &id]).status.success());
    let hits = zhiku.json(&["search", "picture", "--mode", "lexical"]);
    assert_eq!(hits["hits"].as_array().expect("hits").len(), 0, "{hits}");
}

#[test]
fn a_picture_in_a_word_document_answers() {
    if have_models("pictures in Word documents") {
        check("docx/pictures.docx", "灭火器下次检查日期是哪天？", "pictures › picture 1", "2026年4月17日");
    }
}

#[test]
fn a_picture_on_a_slide_answers() {
    if have_models("pictures on slides") {
        check(
            "pptx/pictures.pptx",
            "What is the night gate code?",
            "pictures › slide 2 picture 1",
            "KESTREL",
        );
    }
}

#[test]
fn pictures_on_pages_of_text_answer() {
    if have_models("pictures in PDF") {
        let strips = "What is the maximum pressure of pump station seven?";
        check("pdf/pictures.pdf", strips, "pictures › page 1 picture 2", "8.6 bar");
        let form = "What is the serial number of the spare pump?";
        check("pdf/pictures.pdf", form, "pictures › page 2 picture 1", "71804");
    }
}

#[test]
fn pictures_without_words_are_not_kept() {
    if !have_models("pictures without words") {
        return;
    }
    let zhiku = Zhiku::new();
    zhiku.lines(&["import", text(&in_root("fixtures/documents/pdf/pictures.pdf"))]);
    let listed = zhiku.json(&["list"]);
    let titles: Vec<&str> =
        listed["documents"].as_array().expect("list").iter().filter_map(|d| d["title"].as_str()).collect();
    assert!(!titles.contains(&"pictures › page 2 picture 2"), "{titles:?}");
}
