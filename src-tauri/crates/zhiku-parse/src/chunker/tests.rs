use proptest::prelude::*;
use zhiku_core::{BBox, LayoutLine, Process, Trust, UnitKind, UnitLayout, char_slice, sentences};

use super::*;

fn unit(kind: UnitKind, locator: Locator, text: &str) -> ParsedUnit {
    ParsedUnit {
        kind,
        locator,
        text: text.to_owned(),
        process: Process::Text,
        trust: Trust::Normal,
        heading_path: vec!["Part I".to_owned()],
        layout: None,
        confidence: None,
        timing: Vec::new(),
    }
}

fn section(text: &str) -> ParsedUnit {
    let locator = Locator::Section { heading_path: vec!["Part I".to_owned()], char_start: 100, char_end: 0 };
    unit(UnitKind::Section, locator, text)
}

/// Like a subword tokeniser: up to four Latin letters, one ideograph or sign, two for an emoji; two special tokens.
fn count(text: &str) -> usize {
    let mut tokens = 2;
    let mut run = 0;
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            run += 1;
            tokens += usize::from(run % 4 == 1);
        } else {
            run = 0;
            tokens += if c.is_whitespace() { 0 } else { 1 + usize::from(c as u32 > 0xffff) };
        }
    }
    tokens
}

fn cut(unit: &ParsedUnit, max_tokens: usize, target_tokens: usize) -> Vec<ChunkDraft> {
    let input = ChunkInput { unit_id: UnitId::new(), unit };
    chunk(&[input], "Handbook", &count, &ChunkOptions { max_tokens, target_tokens })
}

fn check(text: &str, max_tokens: usize, target_tokens: usize, expect: &[(ChunkKind, &str, &str)]) {
    let chunks = cut(&section(text), max_tokens, target_tokens);
    let found: Vec<_> =
        chunks.iter().map(|chunk| (chunk.kind, chunk.header.as_str(), chunk.text.as_str())).collect();
    assert_eq!(found, expect);
}

#[test]
fn headings_stand_with_what_follows_and_above_what_comes_later() {
    let long = "Word ".repeat(30);
    let text = format!("# Paint\n\n{long}one.\n\n{long}two.\n\n## Walls\n\nWhite.");
    let chunks = cut(&section(&text), 60, 40);
    let found: Vec<_> = chunks.iter().map(|chunk| (chunk.header.as_str(), &chunk.text[..7])).collect();
    assert_eq!(
        found,
        vec![
            ("Handbook > Part I", "# Paint"),
            ("Handbook > Part I > Paint", "Word Wo"),
            ("Handbook > Part I > Paint", "## Wall"),
        ]
    );
}

#[test]
fn a_remark_in_code_is_no_heading() {
    let text = "# Paint\n\n```sh\n# mix the paint\nmix --all\n~~~\n# still code\n```\n\n## Walls\n\nWhite.";
    let chunks = cut(&section(text), 30, 10);
    let headers: Vec<_> = chunks.iter().map(|chunk| chunk.header.as_str()).collect();
    assert!(
        headers.iter().all(|header| !header.contains("mix the") && !header.contains("still")),
        "{headers:?}"
    );
    let last = chunks.last().expect("a chunk");
    assert_eq!((last.header.as_str(), &last.text[..8]), ("Handbook > Part I > Paint", "## Walls"));
}

#[test]
fn short_paragraphs_are_packed_and_sentences_stay_whole() {
    check(
        "One two. Three four.\n\nFive six.\n\nSeven eight nine ten.",
        40,
        14,
        &[
            (ChunkKind::Text, "Handbook > Part I", "One two. Three four.\n\nFive six."),
            (ChunkKind::Text, "Handbook > Part I", "Seven eight nine ten."),
        ],
    );
}

#[test]
fn a_table_that_is_cut_repeats_its_head() {
    let table = "| Name | Price |\n| --- | --- |\n| abcd | 1234 |\n| efgh | 5678 |\n| ijkl | 9012 |";
    let chunks = cut(&section(table), 40, 20);
    assert!(
        chunks
            .iter()
            .all(|chunk| chunk.kind == ChunkKind::Table && chunk.text.lines().all(|row| row.ends_with('|')))
    );
    assert_eq!(chunks[1].header, "Handbook > Part I\n| Name | Price |");
    assert_eq!(cut(&section(table), 200, 20).len(), 1, "a table that fits is one chunk, whatever the target");
}

#[test]
fn a_line_that_leads_to_the_next_piece_goes_with_it() {
    check(
        "One two three four. Five six seven eight.\n\nEarnings per Share\n\nNine ten. Eleven twelve.",
        40,
        16,
        &[
            (ChunkKind::Text, "Handbook > Part I", "One two three four. Five six seven eight."),
            (ChunkKind::Text, "Handbook > Part I", "Earnings per Share\n\nNine ten. Eleven twelve."),
        ],
    );
}

#[test]
fn page_chunks_carry_the_boxes_of_their_lines() {
    let line = |start: u32, end: u32, y: f32| LayoutLine {
        char_start: start,
        char_end: end,
        bbox: BBox([0.0, y, 90.0, y + 9.0]),
        xs: Vec::new(),
    };
    let mut page = unit(
        UnitKind::Page,
        Locator::Page { page_index: 3, page_label: "iv".into(), boxes: vec![] },
        "First one.\n\nSecond one.",
    );
    page.layout =
        Some(UnitLayout { page_size: [100.0, 100.0], lines: vec![line(0, 10, 10.0), line(12, 23, 40.0)] });
    let chunks = cut(&page, 30, 4);
    let Locator::Page { page_index: 3, boxes, .. } = &chunks[1].locator else {
        panic!("{:?}", chunks[1].locator)
    };
    assert_eq!(boxes, &vec![BBox([0.0, 40.0, 90.0, 49.0])]);
}

#[test]
fn a_word_without_end_is_cut_and_the_limit_holds() {
    for text in ["x".repeat(10_000), "汉".repeat(3_000), "👩‍👩‍👧".repeat(500), "no end ".repeat(2_000)]
    {
        let chunks = cut(&section(&text), 480, 300);
        assert!(chunks.len() > 1 && chunks.iter().all(|chunk| chunk.n_tokens <= 480));
    }
}

#[test]
fn a_title_that_is_too_long_is_shortened() {
    let unit = section("Text.");
    let input = ChunkInput { unit_id: UnitId::new(), unit: &unit };
    let title = "very long title ".repeat(200);
    let chunks = chunk(&[input], &title, &count, &ChunkOptions { max_tokens: 60, target_tokens: 40 });
    assert!(chunks[0].n_tokens <= 60 && chunks[0].header.starts_with("very long"));
}

fn any_text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[a-zA-Z]{1,12}( [a-zA-Z]{1,9}){0,20}[.!?]?",
        "[一-龥，。！]{1,60}",
        "#{1,4} [a-zA-Z一-龥 ]{1,30}",
        "(- |1\\. )[a-zA-Z一-龥. ]{1,60}",
        "\\|( [a-z0-9]{0,9} \\|){1,5}",
        Just("| --- | --- |".to_owned()),
        Just(String::new()),
        "[a-z]{1,300}",
        "[👩👍🏽‍\u{fe0f}é]{1,40}",
        "[a-z]{1,9}  [0-9,]{1,9}  [0-9,]{1,9}",
        "[ \t\u{3000}]{0,4}",
    ];
    proptest::collection::vec(line, 0..25).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn chunks_cover_every_visible_character_once_within_the_limit(text in any_text(), max in 24usize..120) {
        let unit = section(&text);
        let chunks = cut(&unit, max, max * 2 / 3);
        let chars: Vec<char> = text.chars().collect();
        let mut next = 0;
        for draft in &chunks {
            let span = draft.spans[0];
            let (start, end) = (span.char_start as usize, span.char_end as usize);
            prop_assert!(start >= next && end > start);
            prop_assert!(chars[next..start].iter().all(|c| c.is_whitespace()));
            prop_assert_eq!(char_slice(&text, start..end), draft.text.as_str());
            prop_assert!(draft.n_tokens as usize <= max, "{} tokens of {}", draft.n_tokens, max);
            let whole = if draft.header.is_empty() { draft.text.clone() } else { format!("{}\n{}", draft.header, draft.text) };
            prop_assert_eq!(draft.n_tokens as usize, count(&whole));
            next = end;
        }
        prop_assert!(chars[next..].iter().all(|c| c.is_whitespace()));
    }

    #[test]
    fn no_sentence_is_cut_that_fits(words in proptest::collection::vec("[A-Z][a-z]{1,8} [a-z]{1,8} [a-z]{1,8}\\.", 1..60)) {
        let text = words.join(" ");
        let chunks = cut(&section(&text), 60, 40);
        let whole: Vec<&str> = sentences(&text).into_iter().map(|range| char_slice(&text, range)).collect();
        let cut: Vec<String> = chunks.iter().flat_map(|chunk| {
            sentences(&chunk.text).into_iter().map(|range| char_slice(&chunk.text, range).to_owned()).collect::<Vec<_>>()
        }).collect();
        prop_assert_eq!(whole, cut);
    }
}
