//! Where sentences begin and end, for chunks, quotes and answers alike.
//!
//! One splitter for Chinese and English text in the conventions of [`crate::unit::ParsedUnit`]. A heading, a list item and
//! a table row are sentences of their own; a line break inside a paragraph is not an end. Deliberately absent: any
//! normalisation. Ranges point into the text as it is.

use std::ops::Range;

/// What one line of a unit's text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineShape {
    Blank,
    /// `# Heading`; the level counts from 1.
    Heading(u8),
    /// `- item`, `1. item`, `（一）…`; the number is the line's indent in spaces.
    ListItem(u8),
    /// `| a | b |`, or a line whose cells are set apart by two or more spaces or a tab (PDF pages).
    TableRow,
    Prose,
}

/// Tells the shape of one line, without its line break.
pub fn line_shape(line: &str) -> LineShape {
    let body = line.trim();
    if body.is_empty() {
        return LineShape::Blank;
    }
    if body.starts_with('|') && body.len() > 1 {
        return LineShape::TableRow;
    }
    let hashes = body.chars().take_while(|c| *c == '#').count();
    if (1..=6).contains(&hashes) && body[hashes..].starts_with(' ') {
        return LineShape::Heading(hashes as u8);
    }
    let marker = list_marker_chars(body);
    let rest: String = body.chars().skip(marker).collect();
    if has_cell_gap(rest.trim_start()) {
        return LineShape::TableRow;
    }
    if marker > 0 {
        let indent = line.chars().take_while(|c| c.is_whitespace()).count().min(40);
        return LineShape::ListItem(indent as u8);
    }
    LineShape::Prose
}

/// How many characters the marker of a list item has (`1.`, `•`, `(a)`, `第三条`), 0 for other lines.
fn list_marker_chars(body: &str) -> usize {
    let chars: Vec<char> = body.chars().take(12).collect();
    let spaced = |n: usize| chars.get(n).is_none_or(|c| c.is_whitespace());
    match chars.first() {
        Some('•' | '●' | '○' | '▪' | '■' | '◦' | '‣' | '·' | '∙' | '➢' | '\u{f0b7}') => {
            return 1;
        }
        Some('-' | '*' | '+' | '–' | '—') if spaced(1) && chars.len() > 1 => return 1,
        Some('①'..='⑳') => return 1,
        _ => {}
    }
    let open = usize::from(matches!(chars.first(), Some('(' | '（')));
    let digits = chars[open..].iter().take_while(|c| c.is_ascii_digit()).count();
    let hanzi = chars[open..].iter().take_while(|c| "一二三四五六七八九十百".contains(**c)).count();
    let letters = usize::from(chars.get(open).is_some_and(char::is_ascii_alphabetic));
    let roman = chars[open..].iter().take_while(|c| "ivx".contains(**c)).count();
    let close = |n: usize| matches!(chars.get(open + n), Some(')' | '）'));
    if open == 1 {
        let found = [digits, hanzi, roman, letters].into_iter().find(|n| (1..=4).contains(n) && close(*n));
        return found.map_or(0, |n| n + 2);
    }
    if (1..=3).contains(&digits) {
        match chars.get(digits) {
            Some('.' | ')') if spaced(digits + 1) && chars.len() > digits + 1 => return digits + 1,
            Some('、' | '．' | '）') => return digits + 1,
            _ => {}
        }
    }
    if (1..=4).contains(&hanzi) && matches!(chars.get(hanzi), Some('、' | '．')) {
        return hanzi + 1;
    }
    if letters == 1 && matches!(chars.get(1), Some(')')) && spaced(2) {
        return 2;
    }
    0
}

/// Two or more spaces, or a tab, between two cells; after a full stop they are only a typist's habit.
fn has_cell_gap(body: &str) -> bool {
    let mut before = '.';
    let mut gap = 0usize;
    for c in body.trim_end().chars() {
        if c == '\t' {
            gap += 2;
        } else if c.is_whitespace() {
            gap += 1;
        } else {
            if gap >= 2
                && !matches!(
                    before,
                    '.' | '!' | '?' | ':' | ';' | '。' | '！' | '？' | '；' | '：' | '"' | '”'
                )
            {
                return true;
            }
            gap = 0;
            before = c;
        }
    }
    false
}

/// The sentences of a text as ranges of CHARACTERS, in order, without outer white space. Every character that is not white
/// space lies in exactly one of them.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    for group in groups(&chars) {
        match group.kind {
            GroupKind::Whole => push_trimmed(&chars, group.range, &mut found),
            GroupKind::Running => split_running(&chars, group.range, &mut found),
        }
    }
    found
}

/// The part of a text between two character positions. Positions past the end are taken as the end.
pub fn char_slice(text: &str, range: Range<usize>) -> &str {
    let byte_at = |text: &str, n: usize| text.char_indices().nth(n).map_or(text.len(), |(at, _)| at);
    let start = byte_at(text, range.start);
    let rest = &text[start..];
    &rest[..byte_at(rest, range.end.saturating_sub(range.start))]
}

enum GroupKind {
    /// One sentence whatever it holds.
    Whole,
    /// Lines of one paragraph or list item.
    Running,
}

struct Group {
    kind: GroupKind,
    range: Range<usize>,
}

fn groups(chars: &[char]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut open = false;
    let mut start = 0;
    while start < chars.len() {
        let end = chars[start..].iter().position(|c| *c == '\n').map_or(chars.len(), |n| start + n);
        let line: String = chars[start..end].iter().collect();
        match line_shape(&line) {
            LineShape::Blank => open = false,
            LineShape::Heading(_) | LineShape::TableRow => {
                groups.push(Group { kind: GroupKind::Whole, range: start..end });
                open = false;
            }
            LineShape::ListItem(_) => {
                groups.push(Group { kind: GroupKind::Running, range: start..end });
                open = true;
            }
            LineShape::Prose => match groups.last_mut() {
                Some(last) if open => last.range.end = end,
                _ => {
                    groups.push(Group { kind: GroupKind::Running, range: start..end });
                    open = true;
                }
            },
        }
        start = end + 1;
    }
    groups
}

fn push_trimmed(chars: &[char], range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let body = &chars[range.clone()];
    let Some(first) = body.iter().position(|c| !c.is_whitespace()) else { return };
    let last = body.iter().rposition(|c| !c.is_whitespace()).unwrap_or(first);
    found.push(range.start + first..range.start + last + 1);
}

fn split_running(chars: &[char], range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let mut start = range.start;
    let mut at = range.start;
    while at < range.end {
        if let Some(end) = sentence_end(chars, start, at, range.end) {
            push_trimmed(chars, start..end, found);
            start = end;
            at = end;
        } else {
            at += 1;
        }
    }
    push_trimmed(chars, start..range.end, found);
}

/// If the character at `at` ends the sentence that began at `start`: the position behind it and its closing marks.
fn sentence_end(chars: &[char], start: usize, at: usize, limit: usize) -> Option<usize> {
    let mark = chars[at];
    if !matches!(mark, '。' | '！' | '？' | '；' | '.' | '!' | '?' | '…') {
        return None;
    }
    let mut end = at + 1;
    while end < limit && matches!(chars[end], '。' | '！' | '？' | '.' | '!' | '?' | '…') {
        end += 1;
    }
    let marks_end = end;
    while end < limit && is_closer(chars[end]) {
        end += 1;
    }
    if matches!(mark, '。' | '！' | '？' | '；') {
        return Some(end);
    }
    let next = chars[end..limit].iter().position(|c| !c.is_whitespace()).map(|n| end + n);
    let Some(next) = next else { return Some(end) };
    let spaced = next > end;
    if !spaced && !is_cjk(chars[next]) {
        return None;
    }
    match mark {
        '!' | '?' => (!chars[next].is_lowercase()).then_some(end),
        '.' if marks_end == at + 1 => full_stop_ends(chars, start, at, next, limit, spaced).then_some(end),
        // An ellipsis ends a sentence only when a capital or nothing follows.
        _ => (spaced && chars[next].is_uppercase()).then_some(end),
    }
}

fn full_stop_ends(chars: &[char], start: usize, at: usize, next: usize, limit: usize, spaced: bool) -> bool {
    if chars[next].is_lowercase() {
        return false;
    }
    let word_start = chars[start..at]
        .iter()
        .rposition(|c| {
            c.is_whitespace()
                || is_cjk(*c)
                || matches!(c, '(' | '（' | '"' | '“' | '‘' | '[' | '/' | '—' | '–')
        })
        .map_or(start, |n| start + n + 1);
    let word: String = chars[word_start..at].iter().flat_map(|c| c.to_lowercase()).collect();
    if !spaced {
        return !chars[at - usize::from(at > start)].is_ascii_digit();
    }
    let leads = chars[start..word_start].iter().all(|c| c.is_whitespace());
    let is_number = !word.is_empty() && word.chars().all(|c| c.is_ascii_digit());
    if leads && is_number && word.len() <= 3 {
        return false;
    }
    if ALWAYS_GOES_ON.contains(&word.as_str()) {
        return false;
    }
    if BEFORE_NUMBERS.contains(&word.as_str()) {
        return !(chars[next].is_ascii_digit() || matches!(chars[next], '(' | '['));
    }
    let initial = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    let dotted = word.contains('.')
        && word
            .split('.')
            .all(|part| part.chars().count() <= 2 && !part.contains(|c: char| c.is_ascii_digit()));
    if initial || dotted || MAY_GO_ON.contains(&word.as_str()) {
        let follower: String = chars[next..limit].iter().take_while(|c| c.is_alphabetic()).collect();
        return STARTERS.contains(&follower.as_str()) || is_cjk(chars[next]);
    }
    true
}

fn is_closer(c: char) -> bool {
    matches!(c, '”' | '’' | '"' | '\'' | ')' | ']' | '）' | '】' | '」' | '』' | '》' | '〉' | '］' | '»')
}

/// Han, kana, Hangul and their punctuation: scripts that set no spaces after a full stop.
pub fn is_cjk(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff01}'..='\u{ff60}' | '\u{20000}'..='\u{3ffff}')
}

const ALWAYS_GOES_ON: &[&str] = &[
    "mr", "mrs", "ms", "dr", "prof", "rev", "gen", "sen", "rep", "gov", "hon", "messrs", "vs", "e.g", "i.e",
    "cf", "viz", "approx", "ca", "incl", "excl", "resp", "st",
];

const BEFORE_NUMBERS: &[&str] = &[
    "no", "nos", "fig", "figs", "eq", "eqs", "sec", "secs", "art", "arts", "vol", "vols", "pp", "p", "ch",
    "para", "reg", "ref", "tel", "ext", "item", "rev",
];

const MAY_GO_ON: &[&str] = &[
    "inc", "ltd", "co", "corp", "llc", "plc", "jr", "sr", "etc", "al", "dept", "est", "bros", "assn", "univ",
    "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "mon", "tue", "wed",
    "thu", "fri",
];

const STARTERS: &[&str] = &[
    "A",
    "According",
    "Additionally",
    "After",
    "All",
    "Also",
    "Although",
    "An",
    "And",
    "Any",
    "As",
    "At",
    "Based",
    "Because",
    "Before",
    "Both",
    "But",
    "By",
    "Certain",
    "Changes",
    "Each",
    "For",
    "From",
    "Further",
    "He",
    "How",
    "However",
    "If",
    "In",
    "It",
    "Its",
    "Management",
    "Many",
    "Most",
    "Net",
    "No",
    "Not",
    "On",
    "Once",
    "Other",
    "Our",
    "Please",
    "See",
    "She",
    "Since",
    "Some",
    "Such",
    "That",
    "The",
    "Their",
    "Then",
    "There",
    "Therefore",
    "These",
    "They",
    "This",
    "Those",
    "Through",
    "To",
    "Total",
    "Under",
    "Until",
    "Upon",
    "We",
    "What",
    "When",
    "Where",
    "While",
    "With",
    "You",
    "Your",
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let found: Vec<&str> = sentences(text).into_iter().map(|range| char_slice(text, range)).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn full_stops_inside_numbers_codes_and_names_do_not_end() {
        check("It costs 3.5 EUR. Use v2.1.3 now.", &["It costs 3.5 EUR.", "Use v2.1.3 now."]);
        check("Dr. Smith met J. R. Jones. They spoke.", &["Dr. Smith met J. R. Jones.", "They spoke."]);
        check(
            "See No. 5 of the U.S. Code. The rest is in Fig. 3.",
            &["See No. 5 of the U.S. Code.", "The rest is in Fig. 3."],
        );
        check(
            "We sell in the U.S. The rest is sold by Acme Inc. in Asia.",
            &["We sell in the U.S.", "The rest is sold by Acme Inc. in Asia."],
        );
        check("The answer is no. We left.", &["The answer is no.", "We left."]);
        check("Sales rose to 2019. Costs fell.", &["Sales rose to 2019.", "Costs fell."]);
    }

    #[test]
    fn chinese_ends_at_its_own_marks_with_closing_quotes() {
        check(
            "他说：“好。”然后走了；没有回头！3.5米够吗？够",
            &["他说：“好。”", "然后走了；", "没有回头！", "3.5米够吗？", "够"],
        );
        check(
            "防水采用M-208.5型。见GB/T 50326-2017第3.1条。",
            &["防水采用M-208.5型。", "见GB/T 50326-2017第3.1条。"],
        );
    }

    #[test]
    fn closing_marks_belong_to_the_sentence_they_close() {
        check(
            "He said \"Stop.\" Then (it was late.) We left.",
            &["He said \"Stop.\"", "Then (it was late.)", "We left."],
        );
        check("Really? yes! And now… Good.", &["Really? yes!", "And now…", "Good."]);
    }

    #[test]
    fn a_line_break_inside_a_paragraph_is_no_end() {
        check(
            "The first line goes\non here. And\nmore.\n\nNew block\nwithout end",
            &["The first line goes\non here.", "And\nmore.", "New block\nwithout end"],
        );
        check("防水材料应当\n符合标准。\n下一句", &["防水材料应当\n符合标准。", "下一句"]);
    }

    #[test]
    fn headings_items_and_rows_stand_alone() {
        check(
            "# Rules 1.2\nText here.\n- one. Two\n- three\n1. four\n| a | b. C |\n| --- | --- |",
            &[
                "# Rules 1.2",
                "Text here.",
                "- one.",
                "Two",
                "- three",
                "1. four",
                "| a | b. C |",
                "| --- | --- |",
            ],
        );
        check(
            "Net sales  1,234  5. 6\nCosts  7\nprose goes on",
            &["Net sales  1,234  5. 6", "Costs  7", "prose goes on"],
        );
        check("End of one.  Start of two.", &["End of one.", "Start of two."]);
        check("（一）总则\n（二）细则\n三、附则", &["（一）总则", "（二）细则", "三、附则"]);
    }

    proptest! {
        #[test]
        fn every_visible_character_lies_in_exactly_one_sentence(text in "[a-cA-C0-9 .!?。；…\n|#•\\-\"”(（一、)\t]{0,80}") {
            let chars: Vec<char> = text.chars().collect();
            let found = sentences(&text);
            let mut next = 0;
            for range in &found {
                prop_assert!(range.start < range.end && range.end <= chars.len());
                prop_assert!(chars[next..range.start].iter().all(|c| c.is_whitespace()));
                prop_assert!(!chars[range.start].is_whitespace() && !chars[range.end - 1].is_whitespace());
                next = range.end;
            }
            prop_assert!(chars[next..].iter().all(|c| c.is_whitespace()));
        }
    }
}
