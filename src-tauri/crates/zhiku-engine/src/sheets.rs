//! A spreadsheet as a grid: which sheets it has, and the cells of one stretch of rows at a time, so that a long sheet is never
//! read as a whole. Every call checks the scope again.

use std::collections::BTreeMap;

use zhiku_core::{CellPlace, CellRange, DocumentId, Locator, Trust, UnitId, UnitLayout, VersionNumber};
use zhiku_vault::UnitRow;

use crate::error::{EngineError, Result};
use crate::session::Session;

/// One sheet of a version and where its text stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheet {
    /// Empty for a table that is a file of its own.
    pub name: String,
    /// Whether those who open the file do not see it.
    pub hidden: bool,
    pub stretches: Vec<SheetStretch>,
}

/// Rows of a sheet that are one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SheetStretch {
    pub unit_id: UnitId,
    pub range: CellRange,
    pub trust: Trust,
}

/// What stands in the cells of a stretch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SheetCells {
    pub cells: Vec<SheetCell>,
    /// Cells that are shown as one.
    pub merged: Vec<CellRange>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SheetCell {
    pub place: CellPlace,
    pub text: String,
    /// What reviewers wrote at it.
    pub notes: Vec<String>,
}

impl Session {
    /// The sheets of a version in the file's order; none when it is no spreadsheet, or was read before cells kept their places.
    pub fn sheets(&self, document: DocumentId, version: VersionNumber) -> Result<Vec<Sheet>> {
        Ok(sheets_of(&self.vault().units(&self.scope()?, document, version)?))
    }

    /// The cells of one stretch.
    pub fn sheet_cells(&self, unit: UnitId) -> Result<SheetCells> {
        let unit =
            self.vault().unit(&self.scope()?, unit)?.ok_or_else(|| EngineError::not_found("source"))?;
        Ok(unit.layout.map(|layout| cells_of(&unit.text, &layout)).unwrap_or_default())
    }
}

fn sheets_of(units: &[UnitRow]) -> Vec<Sheet> {
    let mut sheets: Vec<Sheet> = Vec::new();
    for unit in units {
        let Locator::Cells { sheet, range } = &unit.locator else { continue };
        let (Some(range), true) = (CellRange::parse(range), unit.layout.is_some()) else { return Vec::new() };
        let stretch = SheetStretch { unit_id: unit.unit_id, range, trust: unit.trust };
        if let Some(known) = sheets.iter_mut().find(|known| known.name == *sheet) {
            known.stretches.push(stretch);
        } else {
            let hidden = zhiku_parse::is_hidden_sheet(sheet, &unit.heading_path);
            sheets.push(Sheet { name: sheet.clone(), hidden, stretches: vec![stretch] });
        }
    }
    sheets
}

fn cells_of(text: &str, layout: &UnitLayout) -> SheetCells {
    let chars: Vec<char> = text.chars().collect();
    let mut cells: BTreeMap<CellPlace, SheetCell> = BTreeMap::new();
    let mut merged = Vec::new();
    for line in &layout.lines {
        let Some(range) = line.cell_range() else { continue };
        let place = range.first;
        let Some(own) = chars.get(line.char_start as usize..line.char_end as usize) else { continue };
        if own.is_empty() {
            merged.push(range);
            continue;
        }
        let text = own.iter().collect::<String>().replace("\\|", "|");
        cells.entry(place).and_modify(|cell| cell.notes.push(text.clone())).or_insert_with(|| SheetCell {
            place,
            text,
            notes: Vec::new(),
        });
    }
    SheetCells { cells: cells.into_values().collect(), merged }
}

#[cfg(test)]
mod tests {
    use zhiku_core::LayoutLine;

    use super::*;

    #[test]
    fn cells_are_read_at_their_places_with_what_reviewers_wrote() {
        let text = "| item | a\\|b |\n| --- | --- |\n| tile | 5 |\n\nchecked";
        let at = |part: &str, range: &str| {
            let start = text.find(part).expect("a part") as u32;
            LayoutLine::cells(start, start + part.len() as u32, CellRange::parse(range).expect("a range"))
        };
        let merged = CellRange::parse("A1:A2").expect("a range");
        let layout = UnitLayout {
            page_size: [2.0, 2.0],
            lines: vec![
                LayoutLine::cells(0, 0, merged),
                at("item", "A1"),
                at("a\\|b", "B1"),
                at("tile", "A2"),
                at("5", "B2"),
                at("checked", "B2"),
            ],
        };
        let found = cells_of(text, &layout);
        let cell = |cell: &SheetCell| (cell.place.to_string(), cell.text.clone(), cell.notes.clone());
        let expect =
            [("A1", "item", None), ("B1", "a|b", None), ("A2", "tile", None), ("B2", "5", Some("checked"))];
        assert_eq!(
            found.cells.iter().map(cell).collect::<Vec<_>>(),
            expect.map(|(place, text, note)| (
                place.to_owned(),
                text.to_owned(),
                note.map(str::to_owned).into_iter().collect::<Vec<_>>()
            ))
        );
        assert_eq!(found.merged, [merged]);
    }
}
