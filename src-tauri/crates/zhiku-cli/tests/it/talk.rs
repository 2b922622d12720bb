//! A talk of ten minutes: a question about the eighth of them is answered with the second at which it was said.

use std::path::PathBuf;

use serde_json::Value;

use crate::common::{Zhiku, have_models, text};

const QUESTION: &str = "Within how many days must the engineer arrive?";
const SAID: &str = "The engineer must arrive within three days.";
const NEAR_MS: u64 = 2_000;

#[test]
fn an_answer_opens_a_long_recording_where_it_was_said() {
    let talk = std::env::var_os("ZHIKU_RECORDINGS").map(|folder| PathBuf::from(folder).join("talk.wav"));
    let Some(talk) = talk.filter(|_| have_models("hearing of a talk")) else {
        eprintln!("skipped without models or ZHIKU_RECORDINGS (a folder of fixtures/make_recordings.py)");
        return;
    };
    let zhiku = Zhiku::new();
    let (lines, code) = zhiku.lines(&["import", text(&talk)]);
    assert_eq!(code, Some(0), "{lines:?}");

    let answer = zhiku.json(&["ask", QUESTION, "--model", "extractive"]);
    let citations = answer["citations"].as_array().expect("citations");
    let cited = citations.iter().find(|citation| {
        citation["quote"].as_str().is_some_and(|quote| quote.to_lowercase().contains("three days"))
    });
    let cited = cited.unwrap_or_else(|| panic!("{SAID} is not cited: {answer}"));
    let truth: Value =
        serde_json::from_slice(&std::fs::read(talk.with_extension("json")).expect("truth")).expect("json");
    let sentences = truth["sentences"].as_array().expect("sentences");
    let said = sentences.iter().find(|sentence| sentence["text"] == SAID).expect("the sentence");
    let (start, expected) = (cited["locator"]["start_ms"].as_u64(), said["start_ms"].as_u64().expect("time"));
    eprintln!("said at {expected} ms, cited at {start:?}");
    assert!(start.is_some_and(|start| start.abs_diff(expected) <= NEAR_MS), "{cited}");
}
