//! Places in sources.

use serde::{Deserialize, Serialize};
use specta::Type;
use specta_typescript::Number;

use super::mirrored;

mirrored!(
    /// Which text of a slide is meant.
    SlidePart = zhiku_core::SlidePart { Body, Notes }
);

/// A place in a source; see `zhiku_core::Locator` for units and origins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "snake_case")]
pub enum Locator {
    Page {
        page_index: u32,
        page_label: String,
        #[specta(type = Vec<[Number; 4]>)]
        boxes: Vec<[f32; 4]>,
    },
    Section {
        heading_path: Vec<String>,
        char_start: u32,
        char_end: u32,
    },
    Slide {
        index: u32,
        part: SlidePart,
    },
    Cells {
        sheet: String,
        range: String,
    },
    Region {
        #[specta(type = Vec<[Number; 4]>)]
        boxes: Vec<[f32; 4]>,
    },
    Time {
        #[specta(type = Number)]
        start_ms: f64,
        #[specta(type = Number)]
        end_ms: f64,
    },
    Chars {
        char_start: u32,
        char_end: u32,
    },
}

fn rectangles(boxes: Vec<zhiku_core::BBox>) -> Vec<[f32; 4]> {
    boxes.into_iter().map(|rectangle| rectangle.0).collect()
}

impl From<zhiku_core::Locator> for Locator {
    fn from(locator: zhiku_core::Locator) -> Self {
        match locator {
            zhiku_core::Locator::Page { page_index, page_label, boxes } => {
                Self::Page { page_index, page_label, boxes: rectangles(boxes) }
            }
            zhiku_core::Locator::Section { heading_path, char_start, char_end } => {
                Self::Section { heading_path, char_start, char_end }
            }
            zhiku_core::Locator::Slide { index, part } => Self::Slide { index, part: part.into() },
            zhiku_core::Locator::Cells { sheet, range } => Self::Cells { sheet, range },
            zhiku_core::Locator::Region { boxes } => Self::Region { boxes: rectangles(boxes) },
            zhiku_core::Locator::Time { start_ms, end_ms } => {
                Self::Time { start_ms: start_ms as f64, end_ms: end_ms as f64 }
            }
            zhiku_core::Locator::Chars { char_start, char_end } => Self::Chars { char_start, char_end },
        }
    }
}
