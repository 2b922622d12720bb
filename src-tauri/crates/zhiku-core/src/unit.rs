//! Units: the smallest locatable pieces of a version, as a parser brings them out.

use serde::{Deserialize, Serialize};

use crate::cells::CellRange;
use crate::evidence::{Process, Trust};
use crate::locator::{BBox, Locator};

/// What a unit is in its source. Persisted: changes need a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnitKind {
    Page,
    Section,
    Slide,
    SheetRange,
    Image,
    AudioSpan,
    VideoSpan,
}

impl UnitKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Section => "section",
            Self::Slide => "slide",
            Self::SheetRange => "sheet_range",
            Self::Image => "image",
            Self::AudioSpan => "audio_span",
            Self::VideoSpan => "video_span",
        }
    }
}

/// One unit as parsed, before it has an id.
///
/// Text conventions, shared by all parsers: one paragraph, list item or table row per line (`\n`); a blank line between
/// blocks; a heading is a line `# Heading` (`##` …); a list item starts with `- ` or `1. `, two spaces of indent per level;
/// a table row is `| a | b |`, the first row is the header and is followed by `| --- | --- |`. PDF pages carry plain
/// lines in reading order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParsedUnit {
    pub kind: UnitKind,
    pub locator: Locator,
    pub text: String,
    pub process: Process,
    pub trust: Trust,
    /// Headings above the unit's first line, outermost first (PDF: from the outline).
    pub heading_path: Vec<String>,
    /// Where each line stands on the page or picture, or each cell in its sheet; only for those.
    pub layout: Option<UnitLayout>,
    /// How sure recognition was, 0 to 1; `None` where nothing had to be recognised.
    #[serde(default)]
    pub confidence: Option<f32>,
    /// When each stretch of the text is said, in order; empty for what has no time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timing: Vec<TimedText>,
}

/// A stretch of a unit's text and when it is said. Persisted (postcard): changes need a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimedText {
    pub char_start: u32,
    pub char_end: u32,
    pub start_ms: u64,
    pub end_ms: u64,
}

/// From when to when the characters `start..end` are said; `None` where no stretch touches them.
pub fn time_of(timing: &[TimedText], start: u32, end: u32) -> Option<(u64, u64)> {
    let mut touched = timing.iter().filter(|timed| timed.char_start < end && timed.char_end > start);
    let first = touched.next()?;
    Some((first.start_ms, touched.next_back().unwrap_or(first).end_ms))
}

impl ParsedUnit {
    /// The place of the characters `start..end` of its text.
    pub fn place_of(&self, start: u32, end: u32) -> Locator {
        self.locator.narrowed(self.layout.as_ref(), &self.timing, start, end)
    }

    /// Whether its words are still to be recognised: a scanned page or picture whose parser found no text to trust.
    pub fn awaits_recognition(&self) -> bool {
        self.process == Process::Ocr && self.text.is_empty()
    }
}

/// The place of every character of a page, of a picture in pixels, or of a sheet in cells. Persisted (postcard): changes need
/// a migration.
///
/// In a sheet each cell is a line without `xs`, in a box of columns and rows counted from 0 (`B3` is `[1, 2, 2, 3]`). A
/// header that is repeated from above has no place. A line without characters tells of merged cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnitLayout {
    /// Width and height of the unrotated crop box in points, of the picture in pixels, or of the unit's sheet up to here in
    /// columns and rows.
    pub page_size: [f32; 2],
    pub lines: Vec<LayoutLine>,
}

/// One line of text on a page. `xs` has one entry per character plus one: character `i` of the line spans `xs[i]..xs[i+1]`,
/// in tenths of a point from the left edge of the crop box. In vertical or rotated text all characters share the line's box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayoutLine {
    /// First character of the line in the unit's text.
    pub char_start: u32,
    pub char_end: u32,
    pub bbox: BBox,
    pub xs: Vec<i32>,
}

impl UnitLayout {
    /// The boxes that cover the characters `start..end`, one per line touched, in text order.
    pub fn boxes(&self, start: u32, end: u32) -> Vec<BBox> {
        self.lines
            .iter()
            .filter(|line| line.char_start < end && line.char_end > start)
            .map(|line| line.part(start, end))
            .collect()
    }
}

impl LayoutLine {
    /// A cell of a sheet, or merged cells where no character is meant.
    pub fn cells(char_start: u32, char_end: u32, range: CellRange) -> Self {
        let (first, last) = (range.first, range.last);
        let sides = [first.column, first.row, last.column + 1, last.row + 1];
        Self { char_start, char_end, bbox: BBox(sides.map(|side| side as f32)), xs: Vec::new() }
    }

    /// The cells of a line of a sheet; `None` for a box that can be none.
    pub fn cell_range(&self) -> Option<CellRange> {
        self.bbox.cells()
    }

    fn part(&self, start: u32, end: u32) -> BBox {
        let n_chars = (self.char_end - self.char_start) as usize;
        if self.xs.len() != n_chars + 1 {
            return self.bbox;
        }
        let from = start.max(self.char_start) - self.char_start;
        let to = end.min(self.char_end) - self.char_start;
        let edges = &self.xs[from as usize..=to as usize];
        let (Some(left), Some(right)) = (edges.iter().min(), edges.iter().max()) else { return self.bbox };
        let [x0, y0, x1, y1] = self.bbox.0;
        BBox([(*left as f32 / 10.0).max(x0), y0, (*right as f32 / 10.0).min(x1), y1])
    }
}

/// Something that could not be read; the rest of the file is unaffected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParseWarning {
    pub locator: Option<Locator>,
    /// English, for logs and the command line; what a person sees is made from `code`.
    pub message: String,
    pub code: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> UnitLayout {
        let line = |start: u32, y: f32| LayoutLine {
            char_start: start,
            char_end: start + 4,
            bbox: BBox([10.0, y, 50.0, y + 10.0]),
            xs: vec![100, 200, 300, 400, 500],
        };
        UnitLayout { page_size: [100.0, 100.0], lines: vec![line(0, 10.0), line(5, 30.0)] }
    }

    #[test]
    fn a_quote_over_two_lines_gets_the_touched_part_of_each() {
        let boxes = layout().boxes(2, 7);
        assert_eq!(boxes, vec![BBox([30.0, 10.0, 50.0, 20.0]), BBox([10.0, 30.0, 30.0, 40.0])]);
    }

    #[test]
    fn the_time_of_a_quote_is_that_of_the_stretches_it_touches() {
        let timed = |n: u32| TimedText {
            char_start: n * 10,
            char_end: n * 10 + 9,
            start_ms: u64::from(n) * 1000,
            end_ms: u64::from(n) * 1000 + 900,
        };
        let timing = [timed(0), timed(1), timed(2)];
        assert_eq!(time_of(&timing, 12, 15), Some((1000, 1900)));
        assert_eq!(time_of(&timing, 5, 21), Some((0, 2900)));
        assert_eq!(time_of(&timing, 9, 10), None);
    }

    #[test]
    fn a_range_outside_every_line_has_no_box() {
        assert!(layout().boxes(4, 5).is_empty());
    }
}
