//! Spreadsheets as the grid shows them.

use serde::{Deserialize, Serialize};
use specta::Type;

use super::Trust;

/// One sheet and the stretches of rows that can be read on their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct Sheet {
    /// Empty for a table that is a file of its own.
    pub name: String,
    /// Whether those who open the file do not see it.
    pub hidden: bool,
    pub stretches: Vec<SheetStretch>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct SheetStretch {
    pub unit_id: String,
    pub trust: Trust,
    pub area: CellArea,
}

/// A rectangle of cells, corners included, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct CellArea {
    pub first_row: u32,
    pub first_column: u32,
    pub last_row: u32,
    pub last_column: u32,
}

/// What stands in the cells of one stretch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct SheetCells {
    pub cells: Vec<SheetCell>,
    pub merged: Vec<CellArea>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct SheetCell {
    pub row: u32,
    pub column: u32,
    pub text: String,
    /// What reviewers wrote at it.
    pub notes: Vec<String>,
}

impl From<zhiku_core::CellRange> for CellArea {
    fn from(range: zhiku_core::CellRange) -> Self {
        Self {
            first_row: range.first.row,
            first_column: range.first.column,
            last_row: range.last.row,
            last_column: range.last.column,
        }
    }
}

impl From<zhiku_engine::Sheet> for Sheet {
    fn from(sheet: zhiku_engine::Sheet) -> Self {
        let stretch = |stretch: zhiku_engine::SheetStretch| SheetStretch {
            unit_id: stretch.unit_id.to_string(),
            trust: stretch.trust.into(),
            area: stretch.range.into(),
        };
        Self {
            name: sheet.name,
            hidden: sheet.hidden,
            stretches: sheet.stretches.into_iter().map(stretch).collect(),
        }
    }
}

impl From<zhiku_engine::SheetCells> for SheetCells {
    fn from(found: zhiku_engine::SheetCells) -> Self {
        let cell = |cell: zhiku_engine::SheetCell| SheetCell {
            row: cell.place.row,
            column: cell.place.column,
            text: cell.text,
            notes: cell.notes,
        };
        Self {
            cells: found.cells.into_iter().map(cell).collect(),
            merged: found.merged.into_iter().map(Into::into).collect(),
        }
    }
}
