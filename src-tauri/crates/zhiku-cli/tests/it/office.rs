//! What an office has beside text: scans, pictures, mails, archives. Each is found by its words and cited at its exact place.

use serde_json::Value;

use crate::common::{Zhiku, have_models, in_root, text};
use crate::scanner::scanned_pdf;

fn truth(scan: &str, words: &str) -> [f64; 4] {
    let path = in_root(&format!("fixtures/scans/{scan}.json"));
    let truth: Value = serde_json::from_slice(&std::fs::read(path).expect("truth")).expect("json");
    let lines = truth["lines"].as_array().expect("lines");
    let line = lines.iter().find(|line| line["text"].as_str().is_some_and(|text| text.contains(words)));
    let bbox = &line.expect("the line")["bbox"];
    [0, 1, 2, 3].map(|at| bbox[at].as_f64().expect("number"))
}

fn first_hit(zhiku: &Zhiku, query: &str) -> Value {
    zhiku.json(&["search", query, "-k", "1", "--mode", "lexical"])["hits"][0].clone()
}

/// Whether some box of a hit lies over the middle of the drawn line.
fn covers(hit: &Value, bbox: [f64; 4]) -> bool {
    let (x, y) = (f64::midpoint(bbox[0], bbox[2]), f64::midpoint(bbox[1], bbox[3]));
    hit["locator"]["boxes"].as_array().expect("boxes").iter().any(|found| {
        let side = |at: usize| found[at].as_f64().expect("number");
        side(0) < x && x < side(2) && side(1) < y && y < side(3)
    })
}

#[test]
fn a_photographed_page_is_found_by_its_words_at_their_place() {
    if !have_models("reading of pictures") {
        return;
    }
    let zhiku = Zhiku::new();
    zhiku.lines(&["import", text(&in_root("fixtures/scans/clean_zh.png"))]);
    let hit = first_hit(&zhiku, "M-208 承重上限");
    assert_eq!(hit["locator"]["kind"], "region", "{hit}");
    assert!(covers(&hit, truth("clean_zh", "M-208")), "{hit}");
}

#[test]
fn a_scanned_page_of_a_pdf_is_cited_by_page_and_boxes() {
    if !have_models("reading of scans") {
        return;
    }
    let jpeg = std::fs::read(in_root("fixtures/scans/noisy_zh.jpg")).expect("fixture");
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("扫描件.pdf");
    std::fs::write(&path, scanned_pdf(&[jpeg])).expect("write");
    let zhiku = Zhiku::new();
    let (lines, code) = zhiku.lines(&["import", text(&path)]);
    assert_eq!(code, Some(0), "{lines:?}");
    let hit = first_hit(&zhiku, "M-208 承重上限");
    assert_eq!(
        (&hit["locator"]["kind"], &hit["locator"]["page_index"]),
        (&"page".into(), &0.into()),
        "{hit}"
    );
    assert!(covers(&hit, truth("noisy_zh", "M-208").map(|side| side / 2.0)), "{hit}");
}

#[test]
fn a_video_is_cited_with_its_time() {
    let has_ffmpeg = std::process::Command::new("ffmpeg").arg("-version").output().is_ok();
    if !has_ffmpeg || !have_models("reading of videos") {
        eprintln!("skipped without ffmpeg or models: a video is cited with its time");
        return;
    }
    let zhiku = Zhiku::new();
    let (lines, code) = zhiku.lines(&["import", text(&in_root("fixtures/media/slides.mp4"))]);
    assert_eq!(code, Some(0), "{lines:?}");
    let hit = first_hit(&zhiku, "售后流程分为四步");
    assert_eq!(hit["locator"]["kind"], "time", "{hit}");
    let (answer, _) = zhiku.lines(&["ask", "售后流程分为几步？"]);
    let citation = &answer[0]["citations"][0];
    let at = |name: &str| citation["locator"][name].as_u64().expect("milliseconds");
    assert_eq!((at("start_ms"), at("end_ms")), (4_000, 5_500), "{answer:?}");
    assert_eq!(citation["quote"], "售后流程分为四步");
}

#[test]
fn a_row_of_a_sheet_is_cited_by_its_cells() {
    if !have_models("questions to sheets") {
        return;
    }
    let zhiku = Zhiku::new();
    let stock = in_root("fixtures/documents/xlsx/stock.xlsx");
    let suppliers = in_root("fixtures/stories/renovation/材料与供应商表.csv");
    let (lines, code) = zhiku.lines(&["import", text(&stock), text(&suppliers)]);
    assert_eq!(code, Some(0), "{lines:?}");
    for (question, words, sheet, range) in [
        ("西仓的防水涂料有多少库存？", "45.5", "库存", "B7:G7"),
        ("FS-101 防水涂料的供应商是谁？", "青禾建材有限公司", "", "A2:E2"),
    ] {
        let answer = zhiku.json(&["ask", question]);
        let citations = answer["citations"].as_array().expect("citations");
        let own = |citation: &&Value| citation["quote"].as_str().is_some_and(|quote| quote.contains(words));
        let citation = citations.iter().find(own).unwrap_or_else(|| panic!("{answer}"));
        let place = serde_json::json!({ "kind": "cells", "sheet": sheet, "range": range });
        assert_eq!(citation["locator"], place, "{answer}");
    }
}

#[test]
fn what_is_inside_a_mail_or_archive_is_found_and_goes_with_it() {
    let zhiku = Zhiku::new();
    let mail = in_root("fixtures/documents/email/repair.eml");
    let archive = in_root("fixtures/documents/archive/contract_gbk.zip");
    let (lines, _) = zhiku.lines(&["import", text(&mail), text(&archive)]);
    let listed = zhiku.json(&["list"]);
    let documents = listed["documents"].as_array().expect("documents");
    let titles: Vec<&str> = documents.iter().filter_map(|d| d["title"].as_str()).collect();
    let inside: Vec<&&str> = titles.iter().filter(|title| title.contains(" › ")).collect();
    assert!(inside.len() >= 2, "{titles:?} {lines:?}");
    let container = documents.iter().find(|d| d["title"] == "contract_gbk").expect("the archive");
    let id = container["document"].as_str().expect("id");
    zhiku.json(&["remove", id]);
    let after = zhiku.json(&["list"]);
    let left = after["documents"].as_array().expect("documents");
    assert!(left.iter().all(|d| !d["title"].as_str().expect("title").starts_with("contract_gbk")), "{after}");
    assert!(zhiku.run(&["verify-removed", id]).status.success());
}
