//! The text of one unit as pieces that are not cut without need: paragraphs, list items, table rows, headings.

use std::ops::Range;
use std::rc::Rc;

use zhiku_core::{LineShape, line_shape, sentences};

/// A unit's text with the byte position of each character.
pub(super) struct UnitText<'a> {
    text: &'a str,
    /// One entry per character, and the length of the text at the end.
    byte_at: Vec<usize>,
}

impl<'a> UnitText<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut byte_at: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        byte_at.push(text.len());
        Self { text, byte_at }
    }

    pub(super) fn slice(&self, chars: &Range<usize>) -> &'a str {
        &self.text[self.byte_at[chars.start]..self.byte_at[chars.end]]
    }

    fn n_chars(&self) -> usize {
        self.byte_at.len() - 1
    }

    /// The sentences of a piece as pieces of the same kind.
    pub(super) fn sentences_of(&self, piece: &Piece) -> Vec<Piece> {
        let within = |range: Range<usize>| piece.range.start + range.start..piece.range.start + range.end;
        sentences(self.slice(&piece.range)).into_iter().map(|range| piece.part(within(range))).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceKind {
    Heading,
    Paragraph,
    ListItem,
    TableRow,
}

/// A stretch of a unit's text without outer white space.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) kind: PieceKind,
    /// Characters.
    pub(super) range: Range<usize>,
    /// The headings above it, outermost first.
    pub(super) path: Rc<Vec<String>>,
    /// The characters of the head of its table, which may be empty; only for rows.
    pub(super) table: Option<Range<usize>>,
    /// From the start of this row to the end of its table.
    pub(super) table_chars_left: usize,
    /// Says little without what follows: a heading, a short line without an end, a sentence that ends in a colon.
    pub(super) leads: bool,
}

impl Piece {
    fn part(&self, range: Range<usize>) -> Self {
        Self { range, ..self.clone() }
    }
}

pub(super) fn make_pieces(text: &UnitText<'_>, heading_path: &[String]) -> Vec<Piece> {
    let mut builder = Builder {
        pieces: Vec::new(),
        base: heading_path.to_vec(),
        open: Vec::new(),
        path: Rc::new(heading_path.to_vec()),
    };
    let lines = split_lines(text);
    let mut at = 0;
    while at < lines.len() {
        let (range, shape) = &lines[at];
        let mut next = at + 1;
        match shape {
            LineShape::Blank => {}
            LineShape::Heading(level) => builder.heading(text, range.clone(), *level),
            LineShape::TableRow => {
                next = end_of_run(&lines, at, |shape| shape == LineShape::TableRow);
                builder.table(text, &lines[at..next]);
            }
            LineShape::ListItem(_) => {
                next = end_of_run(&lines, next, |shape| shape == LineShape::Prose);
                builder.push(PieceKind::ListItem, text, range.start..lines[next - 1].0.end);
            }
            LineShape::Prose => {
                next = end_of_run(&lines, at, |shape| shape == LineShape::Prose);
                builder.push(PieceKind::Paragraph, text, range.start..lines[next - 1].0.end);
            }
        }
        at = next;
    }
    builder.pieces
}

fn end_of_run(
    lines: &[(Range<usize>, LineShape)],
    from: usize,
    goes_on: impl Fn(LineShape) -> bool,
) -> usize {
    lines[from..].iter().position(|(_, shape)| !goes_on(*shape)).map_or(lines.len(), |n| from + n)
}

fn split_lines(text: &UnitText<'_>) -> Vec<(Range<usize>, LineShape)> {
    let mut lines = Vec::new();
    let mut start = 0;
    // The mark that a stretch of code ends with.
    let mut fence: Option<&str> = None;
    for line in text.text.split('\n') {
        let end = start + line.chars().count();
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        let shape = match line_shape(line) {
            LineShape::Blank => LineShape::Blank,
            // A `#` there is a remark, not a heading.
            _ if fence.is_some() || mark.is_some() => LineShape::Prose,
            shape => shape,
        };
        fence = match (fence, mark) {
            (None, mark) => mark,
            (Some(open), Some(mark)) if open == mark => None,
            (open, _) => open,
        };
        lines.push((start..end, shape));
        start = end + 1;
    }
    debug_assert_eq!(start, text.n_chars() + 1);
    lines
}

struct Builder {
    pieces: Vec<Piece>,
    /// Headings above the unit.
    base: Vec<String>,
    /// Headings within the unit that are open now, with their levels.
    open: Vec<(u8, String)>,
    path: Rc<Vec<String>>,
}

impl Builder {
    fn push(&mut self, kind: PieceKind, text: &UnitText<'_>, range: Range<usize>) {
        if let Some(range) = trimmed(text, range) {
            let path = Rc::clone(&self.path);
            let leads =
                kind == PieceKind::Heading || (kind == PieceKind::Paragraph && leads_on(text.slice(&range)));
            self.pieces.push(Piece { kind, range, path, table: None, table_chars_left: 0, leads });
        }
    }

    fn heading(&mut self, text: &UnitText<'_>, range: Range<usize>, level: u8) {
        self.open.retain(|(above, _)| *above < level);
        self.path = Rc::new(
            self.base.iter().cloned().chain(self.open.iter().map(|(_, title)| title.clone())).collect(),
        );
        let title = text.slice(&range).trim().trim_start_matches('#').trim().to_owned();
        self.push(PieceKind::Heading, text, range);
        if !title.is_empty() && self.path.last() != Some(&title) {
            self.open.push((level, title.clone()));
            self.path = Rc::new(self.path.iter().cloned().chain([title]).collect());
        }
    }

    fn table(&mut self, text: &UnitText<'_>, lines: &[(Range<usize>, LineShape)]) {
        let end = lines[lines.len() - 1].0.end;
        // Only a ruled table says which row is its head.
        let ruled = lines.len() > 2 && is_rule(text.slice(&lines[1].0));
        let head = if ruled { lines[0].0.clone() } else { lines[0].0.start..lines[0].0.start };
        let first_row = if ruled { lines[0].0.start..lines[1].0.end } else { lines[0].0.clone() };
        let rest = lines[if ruled { 2 } else { 1 }..].iter().map(|(range, _)| range.clone());
        for range in std::iter::once(first_row).chain(rest) {
            if let Some(range) = trimmed(text, range) {
                let table_chars_left = end.saturating_sub(range.start);
                let path = Rc::clone(&self.path);
                let table = Some(head.clone());
                let kind = PieceKind::TableRow;
                self.pieces.push(Piece { kind, range, path, table, table_chars_left, leads: false });
            }
        }
    }
}

/// A line such as `Earnings per Share`, or `as follows:`.
fn leads_on(body: &str) -> bool {
    const LONGEST_TITLE: usize = 80;
    const LONGEST_LEAD: usize = 240;
    let n_chars = body.chars().take(LONGEST_LEAD + 1).count();
    let last = body.chars().last().unwrap_or(' ');
    if matches!(last, ':' | '：') {
        return n_chars <= LONGEST_LEAD;
    }
    let wordy = body.chars().filter(|c| c.is_alphabetic()).count() * 2 > n_chars;
    n_chars <= LONGEST_TITLE
        && wordy
        && !body.contains('\n')
        && (last.is_alphanumeric() || matches!(last, ')' | '）'))
}

fn is_rule(line: &str) -> bool {
    line.contains('-') && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

fn trimmed(text: &UnitText<'_>, range: Range<usize>) -> Option<Range<usize>> {
    let body = text.slice(&range);
    let n_before = body.chars().take_while(|c| c.is_whitespace()).count();
    let n_body = body.trim().chars().count();
    (n_body > 0).then(|| range.start + n_before..range.start + n_before + n_body)
}

/// Cuts a piece near its middle: at a line break, else at a space, else between two characters. `None` if there is nothing
/// to cut.
pub(super) fn halves(text: &UnitText<'_>, piece: &Piece) -> Option<(Piece, Piece)> {
    let chars: Vec<char> = text.slice(&piece.range).chars().collect();
    if chars.len() < 2 {
        return None;
    }
    let middle = chars.len() / 2;
    let (from, to) = (chars.len() / 4, chars.len() - chars.len() / 4);
    let nearest = |wanted: &dyn Fn(usize) -> bool| {
        (from.max(1)..to).filter(|at| wanted(*at)).min_by_key(|at| at.abs_diff(middle))
    };
    let cut = nearest(&|at| chars[at] == '\n')
        .or_else(|| nearest(&|at| chars[at].is_whitespace()))
        .or_else(|| nearest(&|at| !is_attached(chars[at]) && chars[at - 1] != '\u{200d}'))
        .unwrap_or(middle);
    let (start, end) = (piece.range.start, piece.range.end);
    let left = trimmed(text, start..start + cut).map(|range| piece.part(range));
    let right = trimmed(text, start + cut..end).map(|range| piece.part(range));
    left.zip(right)
}

/// Marks that belong to the character before them.
fn is_attached(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{20d0}'..='\u{20ff}')
}
