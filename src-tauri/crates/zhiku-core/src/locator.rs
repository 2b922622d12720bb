//! Where in a source a text stands. Persisted: changes need a migration.

use serde::{Deserialize, Serialize};

use crate::cells::{CellPlace, CellRange, MAX_COLUMN, MAX_ROW};
use crate::unit::{TimedText, UnitLayout, time_of};

/// A rectangle `[x0, y0, x1, y1]`, x to the right and y downwards, `x0 <= x1`, `y0 <= y1`.
///
/// In a [`Locator::Page`] the unit is the PDF point and the origin the top left of the unrotated crop box; in a
/// [`Locator::Region`] it is the pixel and the top left of the image.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BBox(pub [f32; 4]);

impl BBox {
    /// The smallest rectangle that holds both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (self.0, other.0);
        Self([a0.min(b0), a1.min(b1), a2.max(b2), a3.max(b3)])
    }

    /// The cells that a box in columns and rows stands for.
    pub(crate) fn cells(self) -> Option<CellRange> {
        let [x0, y0, x1, y1] = self.0;
        let is_box = x0 >= 0.0 && y0 >= 0.0 && x1 > x0 && y1 > y0;
        let is_in_sheet = x1 <= MAX_COLUMN as f32 + 1.0 && y1 <= MAX_ROW as f32 + 1.0;
        (is_box && is_in_sheet).then(|| CellRange {
            first: CellPlace { row: y0 as u32, column: x0 as u32 },
            last: CellPlace { row: y1 as u32 - 1, column: x1 as u32 - 1 },
        })
    }
}

/// Which text of a slide is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlidePart {
    Body,
    Notes,
}

/// A place in a source. Character positions count Unicode scalar values of the unit's text; ends are exclusive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Locator {
    /// `page_index` counts from 0 and opens the page; `page_label` is what is printed on it ("iv", "12").
    Page {
        page_index: u32,
        page_label: String,
        boxes: Vec<BBox>,
    },
    /// A heading and what stands below it. Characters count in the section's own text.
    Section {
        heading_path: Vec<String>,
        char_start: u32,
        char_end: u32,
    },
    /// `index` counts from 0.
    Slide {
        index: u32,
        part: SlidePart,
    },
    /// A spreadsheet range such as `B3:D9`.
    Cells {
        sheet: String,
        range: String,
    },
    Region {
        boxes: Vec<BBox>,
    },
    Time {
        start_ms: u64,
        end_ms: u64,
    },
    /// Characters of the whole decoded text file.
    Chars {
        char_start: u32,
        char_end: u32,
    },
}

impl Locator {
    /// The place of the characters `start..end` in a unit that stands at this place. Where the unit does not know where its
    /// characters stand, that is the whole unit's place.
    #[must_use]
    pub fn narrowed(&self, layout: Option<&UnitLayout>, timing: &[TimedText], start: u32, end: u32) -> Self {
        let boxes_of = |whole: &[BBox]| layout.map_or_else(|| whole.to_vec(), |own| own.boxes(start, end));
        match self {
            Self::Page { page_index, page_label, boxes } => {
                Self::Page { page_index: *page_index, page_label: page_label.clone(), boxes: boxes_of(boxes) }
            }
            Self::Region { boxes } => Self::Region { boxes: boxes_of(boxes) },
            Self::Section { heading_path, char_start: base, .. } => Self::Section {
                heading_path: heading_path.clone(),
                char_start: base + start,
                char_end: base + end,
            },
            Self::Chars { char_start: base, .. } => {
                Self::Chars { char_start: base + start, char_end: base + end }
            }
            Self::Time { start_ms, end_ms } => {
                let (start_ms, end_ms) = time_of(timing, start, end).unwrap_or((*start_ms, *end_ms));
                Self::Time { start_ms, end_ms }
            }
            Self::Cells { sheet, range } => {
                let touched = boxes_of(&[]).into_iter().filter_map(BBox::cells).reduce(CellRange::union);
                let range = touched.map_or_else(|| range.clone(), |cells| cells.to_string());
                Self::Cells { sheet: sheet.clone(), range }
            }
            Self::Slide { .. } => self.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::LayoutLine;

    #[test]
    fn a_quote_in_a_sheet_has_the_cells_that_it_touches() {
        let cell = |start: u32, end: u32, range: &str| {
            LayoutLine::cells(start, end, CellRange::parse(range).expect("a range"))
        };
        let layout = UnitLayout {
            page_size: [3.0, 9.0],
            lines: vec![
                cell(0, 0, "A8:A9"),
                cell(2, 5, "A8"),
                cell(8, 11, "C8"),
                cell(15, 18, "A9"),
                cell(21, 25, "B9"),
            ],
        };
        let unit = Locator::Cells { sheet: "S".to_owned(), range: "A1:C9".to_owned() };
        let check = |start, end, expect: &str| {
            let narrowed = unit.narrowed(Some(&layout), &[], start, end);
            assert_eq!(narrowed, Locator::Cells { sheet: "S".to_owned(), range: expect.to_owned() });
        };
        check(0, 13, "A8:C8");
        check(0, 27, "A8:C9");
        check(8, 9, "C8");
        check(5, 8, "A1:C9");
        assert_eq!(unit.narrowed(None, &[], 0, 13), unit);
    }

    #[test]
    fn a_quote_in_a_recording_has_the_time_at_which_it_is_said() {
        let timed = |char_start, start_ms| TimedText {
            char_start,
            char_end: char_start + 5,
            start_ms,
            end_ms: start_ms + 900,
        };
        let unit = Locator::Time { start_ms: 1_000, end_ms: 9_000 };
        let narrowed = unit.narrowed(None, &[timed(0, 1_000), timed(6, 4_000)], 6, 9);
        assert_eq!(narrowed, Locator::Time { start_ms: 4_000, end_ms: 4_900 });
        assert_eq!(unit.narrowed(None, &[], 6, 9), unit);
    }

    #[test]
    fn a_quote_in_the_second_part_of_a_section_counts_from_the_sections_beginning() {
        let unit = Locator::Section { heading_path: vec!["a".to_owned()], char_start: 100, char_end: 200 };
        let expect = Locator::Section { heading_path: vec!["a".to_owned()], char_start: 110, char_end: 120 };
        assert_eq!(unit.narrowed(None, &[], 10, 20), expect);
    }
}
