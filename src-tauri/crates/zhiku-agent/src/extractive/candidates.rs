//! The stretches of the evidence that an answer may be made of, with what is known about each.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use zhiku_core::{Evidence, EvidenceSet, Trust, is_cjk};

use crate::citations::quote::line_ends;
use crate::facts;
use crate::text::segments::{LineEnds, Segment, SegmentKind, row_label, segments};
use crate::text::terms::content_terms;
use crate::text::{shown, slice};

/// Longer stretches are no sentences: a parser took a table or a list for running text.
const MAX_CHARS: usize = 700;

#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// Position in the evidence set.
    pub(super) evidence: usize,
    /// Characters of the evidence's text.
    pub(super) range: Range<usize>,
    pub(super) kind: SegmentKind,
    pub(super) block: usize,
    pub(super) shown: String,
    pub(super) terms: HashSet<String>,
    /// Terms of what stands above it: headings, column names, the sentence before, the title.
    pub(super) context: HashSet<String>,
    pub(super) figures: Vec<facts::Decimal>,
    pub(super) has_date: bool,
    /// Cut off at the edge of the evidence, or without an end.
    pub(super) fragment: bool,
    /// A row of a page with its one figure: an answer by itself.
    pub(super) whole_row: bool,
    /// From a page, where rows and columns are recognised by shape only.
    pub(super) from_page: bool,
}

impl Candidate {
    pub(super) fn is_page_row(&self) -> bool {
        self.from_page && self.kind == SegmentKind::Row && !self.whole_row
    }

    /// Too short to say something by itself.
    pub(super) fn is_short(&self) -> bool {
        let width: usize = self.shown.chars().map(|c| if is_cjk(c) { 2 } else { 1 }).sum();
        width < 20
    }
}

/// All candidates of a set, in the order of the evidence and of the text. Text that no reader of the source sees, and text
/// that addresses the assistant, is none.
pub(super) fn of(set: &EvidenceSet) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for (at, item) in set.items.iter().enumerate() {
        if item.trust != Trust::HiddenText {
            of_item(at, item, &mut found);
        }
    }
    found
}

fn of_item(at: usize, item: &Evidence, found: &mut Vec<Candidate>) {
    let line_ends = line_ends(item);
    let parts = segments(&item.text, line_ends);
    let n_chars = item.text.chars().count();
    let above = content_terms(&format!("{}\n{}", item.title, item.header));
    let mut heading = HashSet::new();
    let mut columns = HashSet::new();
    for (i, part) in parts.iter().enumerate() {
        let text = slice(&item.text, &part.range);
        match part.kind {
            SegmentKind::Heading => {
                heading = content_terms(&text);
                columns.clear();
                continue;
            }
            SegmentKind::HeaderRow => {
                columns = content_terms(&text);
                continue;
            }
            _ if part.range.len() > MAX_CHARS || addresses_assistant(&text) => continue,
            _ => {}
        }
        let from_page = line_ends == LineEnds::Soft;
        if from_page && part.kind == SegmentKind::Row && heads_figures(&parts, i, item) {
            columns = content_terms(&text);
            continue;
        }
        let (part, text, whole_row) = match part.kind {
            SegmentKind::Row if from_page => match page_row(part, &text) {
                Some(row) => row,
                None => continue,
            },
            _ => (part.clone(), text, false),
        };
        let fragment = is_fragment(&text, &part, item, n_chars);
        // On a page, captions, heads of columns and what the edge of the evidence cut off look like running text.
        let no_sentence = !ends(&text) && (text.contains('\n') || facts::numbers(&text).len() > 2);
        if from_page && part.kind == SegmentKind::Sentence && (no_sentence || fragment) {
            continue;
        }
        let mut context = above.clone();
        context.extend(heading.iter().cloned());
        if part.kind == SegmentKind::Row {
            context.extend(columns.iter().cloned());
        } else if let Some(before) = previous(&parts, i) {
            context.extend(content_terms(&slice(&item.text, &before.range)));
        }
        let stated = facts::facts(&text);
        found.push(Candidate {
            evidence: at,
            range: part.range.clone(),
            kind: part.kind,
            block: part.block,
            shown: shown(&text),
            terms: content_terms(&text),
            context,
            figures: facts::numbers(&text),
            has_date: stated.iter().any(|stated| matches!(stated.fact, facts::Fact::Date { .. })),
            fragment,
            whole_row,
            from_page,
        });
    }
}

fn previous(parts: &[Segment], i: usize) -> Option<&Segment> {
    let before = parts.get(i.checked_sub(1)?)?;
    (before.block == parts[i].block).then_some(before)
}

/// A row of a page: the cells of one line need not follow each other in what another reader of the page makes of it, so a row
/// of several figures is quoted by its label only; the figures stand beside the place that opens. A label with its one figure
/// stays together.
fn page_row(part: &Segment, text: &str) -> Option<(Segment, String, bool)> {
    let figures = facts::numbers(text);
    if figures.is_empty() {
        return Some((part.clone(), text.to_owned(), false));
    }
    let starts_with_words = text.chars().next().is_some_and(char::is_alphabetic);
    if figures.len() == 1 && starts_with_words && text.ends_with(|c: char| c.is_ascii_digit() || c == '%') {
        return Some((part.clone(), text.to_owned(), true));
    }
    let label = row_label(text)?;
    let range = part.range.start + label.start..part.range.start + label.end;
    Some((Segment { range, ..part.clone() }, slice(text, &label), false))
}

/// Words above rows of figures in the same block: the head of their columns.
fn heads_figures(parts: &[Segment], i: usize, item: &Evidence) -> bool {
    let figures = |part: &Segment| facts::numbers(&slice(&item.text, &part.range)).len();
    let next = parts.get(i + 1).filter(|next| next.block == parts[i].block && next.kind == SegmentKind::Row);
    figures(&parts[i]) == 0 && next.is_some_and(|next| figures(next) > 0)
}

fn ends(text: &str) -> bool {
    text.trim_end_matches(['”', '"', ')', '）', '」', '’', ']'])
        .ends_with(['.', '。', '!', '！', '?', '？', ':', '：', ';', '；'])
}

/// A sentence that begins or ends where the evidence was cut.
fn is_fragment(text: &str, part: &Segment, item: &Evidence, n_chars: usize) -> bool {
    if part.kind != SegmentKind::Sentence {
        return false;
    }
    let first = text.chars().next();
    let begins_inside =
        first.is_some_and(|c| c.is_lowercase() || matches!(c, ',' | '，' | '、' | ')' | '）' | ';'));
    let open_end = !ends(text);
    let at_edge = (part.range.start == 0 && item.char_start > 0 && begins_inside)
        || (part.range.end == n_chars && open_end && n_chars > 200);
    at_edge || begins_inside
}

static ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)ignore (?:all |any |the |your |previous |prior |above )+(?:instructions|rules|prompts?)|disregard (?:all |the |your |previous |prior |above )+|system prompt|you are now |as an ai\b|(?:忽略|无视|忘记)[^。]{0,12}(?:指令|指示|规则|要求|提示)|系统提示词|你现在是|作为(?:一个)?(?:AI|人工智能|助手)",
    )
    .ok()
});

/// Text that speaks to the assistant instead of to a reader.
pub(crate) fn addresses_assistant(text: &str) -> bool {
    ADDRESS.as_ref().is_some_and(|pattern| pattern.is_match(text))
}
