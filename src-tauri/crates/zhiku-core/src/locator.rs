//! Where in a source a text stands. Persisted: changes need a migration.

use serde::{Deserialize, Serialize};

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
