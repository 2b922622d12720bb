//! From blocks to units: what Word, Markdown and HTML have in common once their own syntax is gone.
//!
//! A unit is a heading with what stands below it. Long sections are cut between blocks into several units, so that a
//! later version of the document differs in few of them. The text conventions are those of
//! [`zhiku_core::ParsedUnit`]. Deliberately absent: anything that knows a file format.

use std::collections::HashMap;

use zhiku_core::{Locator, ParsedUnit, Process, Trust, UnitKind};

use super::table::{self, Rows};

/// A section longer than this is cut into several units.
const MAX_UNIT_CHARS: usize = 6_000;
/// Longer headings are cut where they serve as context; their text stays whole.
const MAX_PATH_CHARS: usize = 160;

/// A piece of a document in reading order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Block {
    /// Level 0 is the document's title: it stands above level 1.
    Heading {
        level: u8,
        text: String,
    },
    Paragraph(String),
    /// `depth` counts from 0; an empty label continues the item above.
    Item {
        depth: usize,
        label: String,
        text: String,
    },
    Code(String),
    Table(Rows),
    /// A footnote, endnote or comment: printed at the end of its section.
    Note(String),
}

/// The units of a document. `context` is a title that is not part of the text (HTML `<title>`); it starts every heading
/// path unless it repeats the document's first heading.
pub(crate) fn into_units(blocks: Vec<Block>, context: Option<&str>) -> Vec<ParsedUnit> {
    let mut sections = Sections::new(context.map(tidy_line).filter(|title| !title.is_empty()));
    for block in blocks {
        sections.push(block);
    }
    sections.finish()
}

/// Reads a section again. The characters count in the section's own text: that of its units, joined by a blank line.
pub(crate) fn read_section(units: &[ParsedUnit], locator: &Locator) -> Option<String> {
    let Locator::Section { heading_path, char_start, char_end } = locator else { return None };
    let mut section = String::new();
    for unit in units {
        if let Locator::Section { heading_path: path, .. } = &unit.locator
            && path == heading_path
        {
            if !section.is_empty() {
                section.push_str("\n\n");
            }
            section.push_str(&unit.text);
        }
    }
    let n_chars = section.chars().count() as u32;
    (char_start < char_end && *char_end <= n_chars)
        .then(|| section.chars().skip(*char_start as usize).take((char_end - char_start) as usize).collect())
}

/// What a block says on one line, for table cells and headings.
pub(crate) fn flatten(blocks: &[Block]) -> String {
    let mut text = String::new();
    for block in blocks {
        let piece = match block {
            Block::Heading { text, .. } | Block::Paragraph(text) | Block::Code(text) | Block::Note(text) => {
                text.clone()
            }
            Block::Item { label, text, .. } => format!("{label} {text}"),
            Block::Table(rows) => rows
                .iter()
                .map(|row| row.iter().filter(|cell| !cell.is_empty()).cloned().collect::<Vec<_>>().join(" "))
                .collect::<Vec<_>>()
                .join("; "),
        };
        let piece = tidy_line(&piece);
        if !piece.is_empty() {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&piece);
        }
    }
    text
}

/// White space collapsed, invisible characters removed, one line.
pub(crate) fn tidy_line(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{200e}' | '\u{200f}' => {}
            // Non-breaking hyphen: the same word to a reader, another one to an index.
            '\u{2011}' => tidy.push('-'),
            c if c.is_whitespace() || c.is_control() => {
                if !tidy.is_empty() && !tidy.ends_with(' ') {
                    tidy.push(' ');
                }
            }
            c => tidy.push(c),
        }
    }
    tidy.truncate(tidy.trim_end().len());
    tidy
}

/// Like [`tidy_line`], but keeps line breaks; empty lines go.
pub(crate) fn tidy_lines(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(tidy_line).filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PartKind {
    Heading,
    Item,
    Note,
    Other,
}

struct Sections {
    context: Option<String>,
    units: Vec<ParsedUnit>,
    /// Open headings, outermost first, with their level.
    path: Vec<(u8, String)>,
    /// Headings above the first line of the unit being written.
    above: Vec<String>,
    parts: Vec<(PartKind, String)>,
    n_chars: usize,
    notes: Vec<String>,
    /// Characters of the section that earlier units hold.
    section_offset: usize,
    /// The locator path of the section being written, once its first unit is out.
    section_path: Option<Vec<String>>,
    seen_paths: HashMap<Vec<String>, usize>,
    has_title: bool,
}

impl Sections {
    fn new(context: Option<String>) -> Self {
        let above = context.iter().cloned().collect();
        Self {
            context,
            units: Vec::new(),
            path: Vec::new(),
            above,
            parts: Vec::new(),
            n_chars: 0,
            notes: Vec::new(),
            section_offset: 0,
            section_path: None,
            seen_paths: HashMap::new(),
            has_title: false,
        }
    }

    fn push(&mut self, block: Block) {
        match block {
            Block::Heading { level, text } => self.heading(level, &text),
            Block::Paragraph(text) => {
                for piece in pieces(&text) {
                    self.part(PartKind::Other, piece);
                }
            }
            Block::Item { depth, label, text } => self.item(depth, &label, &text),
            Block::Code(text) => {
                let text = text.trim_end().trim_start_matches('\n').replace('\t', "    ");
                for piece in pieces(&text) {
                    self.part(PartKind::Other, format!("```\n{piece}\n```"));
                }
            }
            Block::Table(rows) => {
                for part in table::render_parts(&rows, MAX_UNIT_CHARS) {
                    self.part(PartKind::Other, part);
                }
            }
            Block::Note(text) => self.notes.push(tidy_line(&text)),
        }
    }

    fn heading(&mut self, level: u8, text: &str) {
        let text = tidy_line(text);
        if text.is_empty() {
            return;
        }
        let continues = self.parts.iter().all(|(kind, _)| *kind == PartKind::Heading)
            && self.section_path.is_none()
            && self.notes.is_empty()
            && self.path.last().is_none_or(|(above, _)| *above < level);
        if !continues {
            self.end_section();
        }
        while self.path.last().is_some_and(|(above, _)| *above >= level) {
            self.path.pop();
        }
        if self.parts.is_empty() {
            self.above = self.full_path();
        }
        // A page's title is its first heading, often with the name of the site behind it.
        if self.units.is_empty()
            && self.context.as_ref().is_some_and(|context| context.contains(text.as_str()))
        {
            self.context = None;
            self.above.clear();
        }
        self.has_title |= level == 0;
        let n_marks = usize::from(level) + usize::from(self.has_title);
        let marks = "#".repeat(n_marks.clamp(1, 6));
        let shown: String = text.chars().take(MAX_PATH_CHARS).collect();
        self.path.push((level, shown));
        self.part(PartKind::Heading, format!("{marks} {text}"));
    }

    fn item(&mut self, depth: usize, label: &str, text: &str) {
        let indent = "  ".repeat(depth.min(8));
        for (i, line) in text.split('\n').enumerate() {
            let lead = if i == 0 && !label.is_empty() { format!("{label} ") } else { "  ".to_owned() };
            for piece in pieces(line) {
                self.part(PartKind::Item, format!("{indent}{lead}{piece}"));
            }
        }
    }

    fn part(&mut self, kind: PartKind, text: String) {
        if text.trim().is_empty() {
            return;
        }
        let n_chars = text.chars().count() + 2;
        if self.n_chars + n_chars > MAX_UNIT_CHARS
            && self.parts.iter().any(|(kind, _)| *kind != PartKind::Heading)
        {
            self.end_unit();
        }
        self.n_chars += n_chars;
        self.parts.push((kind, text));
    }

    fn end_section(&mut self) {
        for note in std::mem::take(&mut self.notes) {
            for piece in pieces(&note) {
                self.part(PartKind::Note, piece);
            }
        }
        self.end_unit();
        self.section_offset = 0;
        self.section_path = None;
    }

    fn end_unit(&mut self) {
        if self.parts.is_empty() {
            return;
        }
        let text = join(&std::mem::take(&mut self.parts));
        self.n_chars = 0;
        let path = match &self.section_path {
            Some(path) => path.clone(),
            None => self.unique_path(),
        };
        let start = self.section_offset;
        let end = start + text.chars().count();
        self.units.push(ParsedUnit {
            kind: UnitKind::Section,
            locator: Locator::Section {
                heading_path: path.clone(),
                char_start: start as u32,
                char_end: end as u32,
            },
            text,
            process: Process::Text,
            trust: Trust::Normal,
            heading_path: self.above.clone(),
            layout: None,
            confidence: None,
            timing: Vec::new(),
        });
        self.section_offset = end + 2;
        self.section_path = Some(path);
        self.above = self.full_path();
    }

    fn full_path(&self) -> Vec<String> {
        self.context.iter().cloned().chain(self.path.iter().map(|(_, text)| text.clone())).collect()
    }

    /// Two sections under the same headings get different paths, or a locator would not name one place.
    fn unique_path(&mut self) -> Vec<String> {
        let mut path = self.full_path();
        loop {
            let seen = self.seen_paths.entry(path.clone()).or_insert(0);
            *seen += 1;
            if *seen == 1 {
                return path;
            }
            let n = *seen;
            let numbered = path.pop().map_or_else(|| format!("({n})"), |last| format!("{last} ({n})"));
            path.push(numbered);
        }
    }

    fn finish(mut self) -> Vec<ParsedUnit> {
        self.end_section();
        self.units
    }
}

pub(super) fn join(parts: &[(PartKind, String)]) -> String {
    let mut text = String::new();
    let mut last = None;
    for (kind, part) in parts {
        match last {
            None => {}
            Some(last) if last == *kind && matches!(kind, PartKind::Item | PartKind::Note) => text.push('\n'),
            Some(_) => text.push_str("\n\n"),
        }
        text.push_str(part);
        last = Some(*kind);
    }
    text
}

/// A text of bounded pieces: cut behind a line, else behind a sentence, else anywhere.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest: Vec<char> = text.chars().collect();
    while rest.len() > MAX_UNIT_CHARS {
        let window = &rest[..MAX_UNIT_CHARS];
        let cut = window
            .iter()
            .rposition(|c| *c == '\n')
            .or_else(|| window.iter().rposition(|c| matches!(c, '。' | '！' | '？' | '；')))
            .or_else(|| window.iter().rposition(|c| *c == ' '))
            .filter(|cut| *cut > 0)
            .map_or(MAX_UNIT_CHARS, |cut| cut + 1);
        let tail = rest.split_off(cut);
        pieces.push(rest.iter().collect::<String>().trim_end().to_owned());
        rest = tail;
    }
    pieces.push(rest.into_iter().collect());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heading(level: u8, text: &str) -> Block {
        Block::Heading { level, text: text.to_owned() }
    }

    fn paragraph(text: &str) -> Block {
        Block::Paragraph(text.to_owned())
    }

    fn check(blocks: Vec<Block>, context: Option<&str>, expect: &[(&[&str], &[&str], &str)]) {
        let units = into_units(blocks, context);
        let found: Vec<_> = units
            .iter()
            .map(|unit| {
                let Locator::Section { heading_path, .. } = &unit.locator else { panic!("not a section") };
                (heading_path.clone(), unit.heading_path.clone(), unit.text.clone())
            })
            .collect();
        let own = |path: &[&str]| path.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        let expect: Vec<_> = expect.iter().map(|(a, b, text)| (own(a), own(b), (*text).to_owned())).collect();
        assert_eq!(found, expect);
        for unit in &units {
            assert_eq!(read_section(&units, &unit.locator).as_deref(), Some(unit.text.as_str()));
        }
    }

    #[test]
    fn each_heading_with_content_is_a_unit_and_a_bare_one_joins_its_first_child() {
        check(
            vec![heading(1, "A"), heading(2, "B"), paragraph("x"), heading(2, "C"), paragraph("y")],
            None,
            &[(&["A", "B"], &[], "# A\n\n## B\n\nx"), (&["A", "C"], &["A"], "## C\n\ny")],
        );
    }

    #[test]
    fn equal_heading_paths_are_told_apart() {
        check(
            vec![heading(1, "A"), paragraph("x"), heading(1, "A"), paragraph("y")],
            None,
            &[(&["A"], &[], "# A\n\nx"), (&["A (2)"], &[], "# A\n\ny")],
        );
    }

    #[test]
    fn a_title_stands_above_level_one_and_a_context_title_is_not_text() {
        check(
            vec![heading(0, "T"), paragraph("x"), heading(1, "A"), paragraph("y")],
            None,
            &[(&["T"], &[], "# T\n\nx"), (&["T", "A"], &["T"], "## A\n\ny")],
        );
        check(vec![paragraph("x")], Some("Page"), &[(&["Page"], &["Page"], "x")]);
        check(
            vec![heading(1, "Page"), paragraph("x")],
            Some("Page | Site"),
            &[(&["Page"], &[], "# Page\n\nx")],
        );
    }

    #[test]
    fn notes_stand_at_the_end_of_their_section() {
        check(
            vec![paragraph("x[^1]"), Block::Note("[^1]: n".into()), paragraph("y"), heading(1, "A")],
            None,
            &[(&[], &[], "x[^1]\n\ny\n\n[^1]: n"), (&["A"], &[], "# A")],
        );
    }

    #[test]
    fn long_sections_are_cut_between_blocks_and_long_paragraphs_behind_sentences() {
        let sentence = "保修期内的维修不收取任何费用。".repeat(700);
        let units = into_units(vec![heading(1, "A"), paragraph(&sentence), paragraph("end")], None);
        assert!(units.len() >= 2);
        for unit in &units {
            assert!(unit.text.chars().count() <= MAX_UNIT_CHARS + 8);
            assert_eq!(read_section(&units, &unit.locator).as_deref(), Some(unit.text.as_str()));
        }
        assert_eq!(units[1].heading_path, vec!["A".to_owned()]);
        let all: String = units.iter().map(|unit| unit.text.replace('\n', "")).collect();
        assert_eq!(all, format!("# A{sentence}end"));
    }
}
