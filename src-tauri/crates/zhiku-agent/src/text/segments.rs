//! Cuts a source text into the stretches that can be quoted: sentences, list items, table rows. Follows the text conventions
//! of `ParsedUnit`; pages carry plain lines, so tables and headings are recognised there by their shape.

use std::ops::Range;

use zhiku_core::{LineShape, is_cjk, line_shape};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SegmentKind {
    Sentence,
    ListItem,
    Row,
    /// The first row of a table: names of columns.
    HeaderRow,
    Heading,
}

/// A quotable stretch, in characters of the text it was cut from, free of marks and outer white space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) range: Range<usize>,
    pub(crate) kind: SegmentKind,
    /// Stretches of one block stand next to each other in the source with no blank line between.
    pub(crate) block: usize,
}

/// What a line end means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineEnds {
    /// A paragraph, an item or a row ends.
    Hard,
    /// The page had no more room; the sentence may go on.
    Soft,
}

pub(crate) fn segments(text: &str, ends: LineEnds) -> Vec<Segment> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    for (block, lines) in blocks(&chars).into_iter().enumerate() {
        match ends {
            LineEnds::Hard => hard_block(&chars, &lines, block, &mut found),
            LineEnds::Soft => soft_block(&chars, &lines, block, &mut found),
        }
    }
    found
}

/// The lines of each run of lines that are not blank.
fn blocks(chars: &[char]) -> Vec<Vec<Range<usize>>> {
    let mut blocks = vec![Vec::new()];
    let mut start = 0;
    for end in (0..=chars.len()).filter(|i| *i == chars.len() || chars[*i] == '\n') {
        let line = trimmed(chars, start..end);
        if line.is_empty() {
            blocks.push(Vec::new());
        } else if let Some(last) = blocks.last_mut() {
            last.push(line);
        }
        start = end + 1;
    }
    blocks.retain(|lines| !lines.is_empty());
    blocks
}

fn hard_block(chars: &[char], lines: &[Range<usize>], block: usize, found: &mut Vec<Segment>) {
    for (i, line) in lines.iter().enumerate() {
        let text = &chars[line.clone()];
        if text[0] == '|' {
            if !is_rule(text) {
                let next_is_rule = lines.get(i + 1).is_some_and(|next| is_rule(&chars[next.clone()]));
                let kind = if next_is_rule { SegmentKind::HeaderRow } else { SegmentKind::Row };
                push(chars, inner_cells(chars, line.clone()), kind, block, found);
            }
        } else if let Some(marks) = heading_marks(text) {
            push(chars, line.start + marks..line.end, SegmentKind::Heading, block, found);
        } else if let Some(marks) = list_marks(text) {
            sentences_of(chars, line.start + marks..line.end, SegmentKind::ListItem, block, found);
        } else {
            sentences_of(chars, line.clone(), SegmentKind::Sentence, block, found);
        }
    }
}

/// Lines of a block of a page: rows stand alone, the others are joined to running text.
fn soft_block(chars: &[char], lines: &[Range<usize>], block: usize, found: &mut Vec<Segment>) {
    let widest = lines.iter().map(|line| width(&chars[line.clone()])).max().unwrap_or(0);
    let all_cells = widest < 25 && lines.len() > 3;
    let mut open: Option<(Range<usize>, SegmentKind)> = None;
    let flush = |open: &mut Option<(Range<usize>, SegmentKind)>, found: &mut Vec<Segment>| {
        let Some((range, kind)) = open.take() else { return };
        if kind == SegmentKind::Sentence && is_heading_shape(&chars[range.clone()]) {
            push(chars, range, SegmentKind::Heading, block, found);
        } else {
            sentences_of(chars, range, kind, block, found);
        }
    };
    let is_row = |line: &Range<usize>| {
        let text = &chars[line.clone()];
        is_row_shape(text) || (all_cells && !ends_sentence(text))
    };
    let has_figure = |line: &Range<usize>| chars[line.clone()].iter().any(char::is_ascii_digit);
    for (i, line) in lines.iter().enumerate() {
        let text = &chars[line.clone()];
        if is_row(line) {
            flush(&mut open, found);
            let names =
                !has_figure(line) && lines.get(i + 1).is_some_and(|next| is_row(next) && has_figure(next));
            let kind = if names { SegmentKind::HeaderRow } else { SegmentKind::Row };
            push(chars, line.clone(), kind, block, found);
            continue;
        }
        if let Some(marks) = list_marks(text) {
            flush(&mut open, found);
            open = Some((line.start + marks..line.end, SegmentKind::ListItem));
        } else {
            open = Some(open.map_or((line.clone(), SegmentKind::Sentence), |(range, kind)| {
                (range.start..line.end, kind)
            }));
        }
        if text.ends_with(&[':']) || text.ends_with(&['：']) {
            flush(&mut open, found);
        }
    }
    flush(&mut open, found);
}

fn sentences_of(
    chars: &[char],
    range: Range<usize>,
    kind: SegmentKind,
    block: usize,
    found: &mut Vec<Segment>,
) {
    let text: String = chars[range.clone()].iter().collect();
    for sentence in zhiku_core::sentences(&text) {
        push(chars, range.start + sentence.start..range.start + sentence.end, kind, block, found);
    }
}

fn push(chars: &[char], range: Range<usize>, kind: SegmentKind, block: usize, found: &mut Vec<Segment>) {
    let range = trimmed(chars, range);
    if chars[range.clone()].iter().any(|c| c.is_alphanumeric()) {
        found.push(Segment { range, kind, block });
    }
}

fn trimmed(chars: &[char], mut range: Range<usize>) -> Range<usize> {
    while range.start < range.end && chars[range.start].is_whitespace() {
        range.start += 1;
    }
    while range.end > range.start && chars[range.end - 1].is_whitespace() {
        range.end -= 1;
    }
    range
}

fn inner_cells(chars: &[char], mut range: Range<usize>) -> Range<usize> {
    while range.start < range.end && (chars[range.start] == '|' || chars[range.start].is_whitespace()) {
        range.start += 1;
    }
    while range.end > range.start && (chars[range.end - 1] == '|' || chars[range.end - 1].is_whitespace()) {
        range.end -= 1;
    }
    range
}

fn is_rule(line: &[char]) -> bool {
    line.contains(&'-') && line.iter().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

fn heading_marks(line: &[char]) -> Option<usize> {
    let marks = line.iter().take_while(|c| **c == '#').count();
    ((1..=6).contains(&marks) && line.get(marks) == Some(&' ')).then_some(marks + 1)
}

/// Length of a list marker with the space after it: `- `, `• `, `1. `, `2) `, `3、`, `(4) `, `（一）`.
fn list_marks(line: &[char]) -> Option<usize> {
    if matches!(line[0], '-' | '*' | '•' | '·' | '◦' | '▪' | '●' | '■' | '–') && line.get(1) == Some(&' ')
    {
        return Some(2);
    }
    let open = usize::from(matches!(line[0], '(' | '（'));
    let is_counter = |c: &&char| c.is_ascii_digit() || "一二三四五六七八九十".contains(**c);
    let n = line[open..].iter().take_while(is_counter).count();
    if !(1..=3).contains(&n) {
        return None;
    }
    let end = open + n;
    let digits = line[end - 1].is_ascii_digit();
    match (open, line.get(end), line.get(end + 1)) {
        (1, Some(')'), Some(' ')) => Some(end + 2),
        (1, Some('）'), _) | (0, Some('、'), _) => Some(end + 1),
        (0, Some('.' | ')' | '．'), Some(' ')) if digits => Some(end + 2),
        _ => None,
    }
}

/// Columns taken: a wide character counts twice.
fn width(text: &[char]) -> usize {
    text.iter().map(|c| if is_cjk(*c) { 2 } else { 1 }).sum()
}

fn ends_sentence(text: &[char]) -> bool {
    let last = text.iter().rev().find(|c| !matches!(c, '”' | '"' | ')' | '）' | '」' | '’'));
    last.is_some_and(|c| matches!(c, '.' | '。' | '!' | '！' | '?' | '？' | ';' | '；' | ':' | '：'))
}

/// The words at the beginning of a row before its first cell gap or figure.
pub(crate) fn row_label(row: &str) -> Option<Range<usize>> {
    let chars: Vec<char> = row.chars().collect();
    let gap = chars.windows(2).position(|pair| pair.iter().all(|c| c.is_whitespace()) || pair[0] == '\t');
    let mut end = gap.unwrap_or(chars.len());
    for (i, c) in chars.iter().enumerate().take(end) {
        if !c.is_whitespace() {
            continue;
        }
        let word: String = chars[i + 1..].iter().take_while(|c| !c.is_whitespace()).collect();
        if is_figure(&word) {
            end = i;
            break;
        }
    }
    let label = trimmed(&chars, 0..end);
    let has_figure = chars[label.clone()].iter().any(char::is_ascii_digit);
    (width(&chars[label.clone()]) >= 8 && !has_figure).then_some(label)
}

/// A row of a table as a page shows it: a label and figures, mostly figures.
fn is_row_shape(text: &[char]) -> bool {
    let line: String = text.iter().collect();
    if line_shape(&line) == LineShape::TableRow {
        return true;
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let figures = words.iter().filter(|word| is_figure(word)).count();
    if ends_sentence(text) && figures * 2 < words.len() {
        return false;
    }
    let amounts =
        words.iter().filter(|word| is_figure(word) && word.chars().any(|c| c.is_ascii_digit())).count();
    (amounts >= 2 && figures * 5 >= words.len() * 2) || (amounts >= 1 && figures == words.len())
}

fn is_figure(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_digit() || "$€£¥%(),.-—–+/*—".contains(c))
}

fn is_heading_shape(text: &[char]) -> bool {
    if text.contains(&'\n')
        || ends_sentence(text)
        || text.iter().any(|c| matches!(c, '：' | ':' | '，' | '。'))
    {
        return false;
    }
    width(text) <= 80 && text.iter().filter(|c| c.is_whitespace()).count() < 13
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, ends: LineEnds, expect: &[(SegmentKind, &str)]) {
        let found = segments(text, ends);
        let got: Vec<(SegmentKind, String)> =
            found.iter().map(|segment| (segment.kind, super::super::slice(text, &segment.range))).collect();
        let expect: Vec<(SegmentKind, String)> =
            expect.iter().map(|(kind, text)| (*kind, (*text).to_owned())).collect();
        assert_eq!(got, expect);
    }

    #[test]
    fn marks_rules_and_pipes_are_no_part_of_a_quote() {
        check(
            "# 材料\n卫生间用蓝盾涂料。厨房不用。\n\n- 先做基层\n1. 再刷两遍\n\n| 材料 | 供应商 |\n| --- | --- |\n| 涂料 | 蓝盾 |",
            LineEnds::Hard,
            &[
                (SegmentKind::Heading, "材料"),
                (SegmentKind::Sentence, "卫生间用蓝盾涂料。"),
                (SegmentKind::Sentence, "厨房不用。"),
                (SegmentKind::ListItem, "先做基层"),
                (SegmentKind::ListItem, "再刷两遍"),
                (SegmentKind::HeaderRow, "材料 | 供应商"),
                (SegmentKind::Row, "涂料 | 蓝盾"),
            ],
        );
    }

    #[test]
    fn a_page_keeps_rows_apart_and_joins_running_text() {
        check(
            "CONSOLIDATED BALANCE SHEETS\n\nTotal current assets 1,234 1,567\nTotal assets $ 9,876 $ 8,765\n\
             Prepaid expenses  45  44\n\nThe hotel limit in Zurich is 220 francs\nper night. Claims are due after thirty days\nat the latest.",
            LineEnds::Soft,
            &[
                (SegmentKind::Heading, "CONSOLIDATED BALANCE SHEETS"),
                (SegmentKind::Row, "Total current assets 1,234 1,567"),
                (SegmentKind::Row, "Total assets $ 9,876 $ 8,765"),
                (SegmentKind::Row, "Prepaid expenses  45  44"),
                (SegmentKind::Sentence, "The hotel limit in Zurich is 220 francs\nper night."),
                (SegmentKind::Sentence, "Claims are due after thirty days\nat the latest."),
            ],
        );
    }
}
