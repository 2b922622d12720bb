//! The sheets of a spreadsheet, cells as they are shown.

use zhiku_core::ParsedUnit;

use super::styles::Styles;
use super::text::{Reader, number, table_rows};
use crate::formats::blocks::{Block, flatten};
use crate::formats::sheet::units::{Row, SheetUnits, Visibility};
use crate::formats::sheet::{MAX_COLUMN, MAX_ROW, Merges, Place, Range};
use crate::formats::table::MAX_COLUMNS;
use crate::formats::whole::{Whole, warning};
use crate::formats::xml::Element;

/// Equal rows with content beyond this many are left out.
const MAX_REPEATED_ROWS: usize = 1_000;

pub(super) fn read(body: &Element, styles: &Styles) -> Whole {
    let mut whole = Whole::default();
    for (n, table) in body.elements().filter(|element| &*element.name == "table").enumerate() {
        let name = table.attr("name").map_or_else(|| format!("Sheet{}", n + 1), str::to_owned);
        let is_hidden = styles.is_hidden(table.attr("style-name"));
        let visibility = if is_hidden { Visibility::Hidden } else { Visibility::Shown };
        if visibility == Visibility::Hidden {
            whole.warnings.push(warning("sheet_hidden", format!("the sheet {name} is hidden")));
        }
        let mut emit = |unit: ParsedUnit| {
            whole.units.push(unit);
            Ok(())
        };
        let mut units = SheetUnits::new(&name, visibility, &mut emit);
        let sheet = Sheet::read(table, styles, &mut units);
        units.merged.clone_from(&sheet.merged);
        let mut merges = Merges::new(sheet.merged);
        let mut taken = Ok(());
        for (row, n_repeats, cells) in sheet.rows {
            for n in 0..n_repeats {
                let mut cells = cells.clone();
                merges.fill(row + n, &mut cells);
                taken = taken.and_then(|()| units.row(row + n, cells));
            }
        }
        let n_cut = taken.and_then(|()| units.finish()).unwrap_or(0);
        if n_cut > 0 {
            let message = format!("{n_cut} cells of the sheet {name} stand beyond {MAX_COLUMNS} columns");
            whole.warnings.push(warning("columns_cut", message));
        }
    }
    whole
}

/// First row, how often it is repeated, and its cells; and what is merged.
#[derive(Default)]
struct Sheet {
    rows: Vec<(u32, u32, Row)>,
    merged: Vec<Range>,
}

impl Sheet {
    fn read(table: &Element, styles: &Styles, units: &mut SheetUnits<'_>) -> Self {
        let mut sheet = Self::default();
        let mut rows = Vec::new();
        table_rows(table, &mut rows);
        let mut reader = Reader::new(styles);
        let mut row = 0_u32;
        for element in rows {
            let n_repeats = number(element, "number-rows-repeated").min(MAX_ROW as usize + 1);
            let cells = sheet.row(element, row, &mut reader, units);
            if !cells.is_empty() {
                sheet.rows.push((row, n_repeats.min(MAX_REPEATED_ROWS) as u32, cells));
            }
            row = row.saturating_add(n_repeats as u32);
            if row > MAX_ROW {
                break;
            }
        }
        sheet
    }

    fn row(
        &mut self,
        element: &Element,
        row: u32,
        reader: &mut Reader<'_>,
        units: &mut SheetUnits<'_>,
    ) -> Row {
        let mut cells = Row::new();
        let mut column = 0_u32;
        let is_cell = |cell: &&Element| matches!(&*cell.name, "table-cell" | "covered-table-cell");
        for cell in element.elements().filter(is_cell) {
            let n_repeats = number(cell, "number-columns-repeated").min(MAX_COLUMN as usize + 1);
            let text = flatten(&reader.blocks(cell));
            let place = Place { row, column };
            for note in reader.take_notes() {
                if let Block::Note(note) = note {
                    let note = note.replacen("[Comment", &format!("[Comment on {place}"), 1);
                    units.notes.entry(place).or_default().push(note);
                }
            }
            let n_columns = number(cell, "number-columns-spanned") as u32;
            let n_rows = number(cell, "number-rows-spanned") as u32;
            if (n_columns > 1 || n_rows > 1) && !text.is_empty() {
                let last = Place {
                    row: row.saturating_add(n_rows - 1).min(MAX_ROW),
                    column: column.saturating_add(n_columns - 1).min(MAX_COLUMN),
                };
                self.merged.push(Range { first: place, last });
            }
            if !text.is_empty() && &*cell.name == "table-cell" {
                for n in 0..n_repeats.min(MAX_COLUMNS) as u32 {
                    cells.push((column + n, text.clone()));
                }
            }
            column = column.saturating_add(n_repeats as u32);
            if column > MAX_COLUMN {
                break;
            }
        }
        cells
    }
}
