//! Rows of a sheet to units: tables between blank rows, titles above them, the header repeated in every unit.

use std::collections::BTreeMap;

use zhiku_core::{Locator, ParsedUnit, UnitKind};

use super::text::{SheetText, TableRow};
use super::{Place, Range};
use crate::error::ParseError;
use crate::formats::blocks::tidy_line;
use crate::formats::render::text_unit;
use crate::formats::table::MAX_COLUMNS;

const MAX_UNIT_CHARS: usize = 6_000;
const MAX_UNIT_ROWS: usize = 200;
/// So many lines of one cell each, and no more, can be the title of the table below them.
const MAX_TITLES: usize = 4;
/// A longer cell is cut: one cell must not be a unit's whole text many times over.
const MAX_CELL_CHARS: usize = 32_767;

/// Column and text of the cells that hold anything, from left to right.
pub(in crate::formats) type Row = Vec<(u32, String)>;

/// Takes the rows of one sheet and hands out its units as soon as they are complete.
pub(in crate::formats) struct SheetUnits<'a> {
    sheet: &'a str,
    heading: Vec<String>,
    /// What reviewers wrote, by cell; it stands at the end of the unit with that cell.
    pub notes: BTreeMap<Place, Vec<String>>,
    /// Merged cells, for those who show the sheet; their text is already in every row.
    pub merged: Vec<Range>,
    emit: &'a mut dyn FnMut(ParsedUnit) -> Result<(), ParseError>,
    region: Option<Region>,
    last_header: Option<Row>,
    text: SheetText,
    covered: Option<Range>,
    n_rows: usize,
    pub n_cut_columns: usize,
}

/// Rows without a blank one between them.
#[derive(Default)]
struct Region {
    titles: Vec<(u32, Row)>,
    header: Option<Row>,
    /// Whether the header is to be written and was not taken from the region above.
    rows: Vec<(u32, Row)>,
    n_chars: usize,
    last_row: u32,
}

impl<'a> SheetUnits<'a> {
    pub(in crate::formats) fn new(
        sheet: &'a str,
        is_hidden: Visibility,
        emit: &'a mut dyn FnMut(ParsedUnit) -> Result<(), ParseError>,
    ) -> Self {
        let heading = match is_hidden {
            // A table that is a file of its own has no name beside the file's.
            Visibility::Shown if sheet.is_empty() => Vec::new(),
            Visibility::Shown => vec![sheet.to_owned()],
            Visibility::Hidden => vec![hidden_heading(sheet)],
        };
        Self {
            sheet,
            heading,
            notes: BTreeMap::new(),
            merged: Vec::new(),
            emit,
            region: None,
            last_header: None,
            text: SheetText::default(),
            covered: None,
            n_rows: 0,
            n_cut_columns: 0,
        }
    }

    /// The next row that has cells; rows come from top to bottom.
    pub(in crate::formats) fn row(&mut self, row: u32, mut cells: Row) -> Result<(), ParseError> {
        for (_, text) in &mut cells {
            *text = tidy_line(text);
            if let Some((at, _)) = text.char_indices().nth(MAX_CELL_CHARS) {
                text.truncate(at);
            }
        }
        cells.retain(|(_, text)| !text.is_empty());
        let Some((first_column, _)) = cells.first() else { return Ok(()) };
        let n_before = cells.len();
        let limit = first_column + MAX_COLUMNS as u32;
        cells.retain(|(column, _)| *column < limit);
        self.n_cut_columns += n_before - cells.len();
        if self.region.as_ref().is_some_and(|region| row > region.last_row + 1) {
            self.end_region()?;
        }
        let region = self.region.get_or_insert_default();
        region.last_row = row;
        let n_chars = row_chars(&cells);
        if region.header.is_none() && is_single(&cells) {
            region.titles.push((row, cells));
            if region.titles.len() > MAX_TITLES {
                region.titles_are_rows();
            }
        } else if region.header.is_none() {
            region.start_table(row, cells, self.last_header.as_ref());
        } else {
            region.rows.push((row, cells));
        }
        region.n_chars += n_chars;
        let (n_chars, n_rows) = (region.n_chars, region.rows.len());
        if self.text.n_chars() + n_chars > MAX_UNIT_CHARS || self.n_rows + n_rows > MAX_UNIT_ROWS {
            self.write_region();
            self.flush()?;
        }
        Ok(())
    }

    pub(in crate::formats) fn finish(mut self) -> Result<usize, ParseError> {
        self.end_region()?;
        let rest = std::mem::take(&mut self.notes);
        self.text.cells(notes_of(&rest));
        self.flush()?;
        Ok(self.n_cut_columns)
    }

    fn end_region(&mut self) -> Result<(), ParseError> {
        self.write_region();
        if let Some(region) = self.region.take() {
            self.last_header = region.header.or(self.last_header.take());
        }
        if self.text.n_chars() > MAX_UNIT_CHARS { self.flush() } else { Ok(()) }
    }

    /// Writes what the region holds; its header stays for the rows to come.
    fn write_region(&mut self) {
        let Some(region) = &mut self.region else { return };
        let titles = std::mem::take(&mut region.titles);
        let rows = std::mem::take(&mut region.rows);
        region.n_chars = 0;
        for (row, cells) in &titles {
            cover(&mut self.covered, *row, cells);
            self.text.cell(Place { row: *row, column: cells[0].0 }, &cells[0].1);
        }
        if rows.is_empty() {
            return;
        }
        for (row, cells) in &rows {
            cover(&mut self.covered, *row, cells);
        }
        let header = region.header.as_ref().filter(|header| **header != rows[0].1);
        let header = header.map(|cells| TableRow { row: None, cells });
        let own = rows.iter().map(|(row, cells)| TableRow { row: Some(*row), cells });
        self.text.table(&header.into_iter().chain(own).collect::<Vec<_>>());
        self.n_rows += rows.len();
    }

    fn flush(&mut self) -> Result<(), ParseError> {
        let mut text = std::mem::take(&mut self.text);
        self.n_rows = 0;
        let Some(range) = self.covered.take() else { return Ok(()) };
        let below = Place { row: range.last.row + 1, column: 0 };
        let later = self.notes.split_off(&below);
        text.cells(notes_of(&std::mem::replace(&mut self.notes, later)));
        let locator = Locator::Cells { sheet: self.sheet.to_owned(), range: range.to_string() };
        let (text, layout) = text.finish(range, &self.merged);
        let unit = text_unit(UnitKind::SheetRange, locator, text, self.heading.clone());
        (self.emit)(ParsedUnit { layout: Some(layout), ..unit })
    }
}

fn notes_of(notes: &BTreeMap<Place, Vec<String>>) -> impl Iterator<Item = (Place, &str)> {
    notes.iter().flat_map(|(place, notes)| notes.iter().map(|note| (*place, note.as_str())))
}

fn hidden_heading(sheet: &str) -> String {
    format!("{sheet} (hidden)")
}

/// Whether units of this sheet under this heading come from a sheet that those who open the file do not see.
pub fn is_hidden_sheet(sheet: &str, heading_path: &[String]) -> bool {
    heading_path.first().is_some_and(|heading| *heading == hidden_heading(sheet))
}

/// Whether a sheet is shown to those who open the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::formats) enum Visibility {
    Shown,
    Hidden,
}

impl Region {
    /// A column of single cells is a list, not a pile of titles.
    fn titles_are_rows(&mut self) {
        let titles = std::mem::take(&mut self.titles);
        self.header = titles.first().map(|(_, cells)| cells.clone());
        self.rows = titles;
    }

    /// The first row with several cells is the header, unless it looks like a further row of the table above.
    fn start_table(&mut self, row: u32, cells: Row, above: Option<&Row>) {
        let goes_on = above.filter(|above| {
            let first = |row: &Row| row.first().map(|(column, _)| *column);
            let last = |row: &Row| row.last().map(|(column, _)| *column);
            self.titles.is_empty()
                && !cells.iter().all(|(_, text)| is_word(text))
                && first(above) <= first(&cells)
                && last(above) >= last(&cells)
        });
        self.header = Some(goes_on.unwrap_or(&cells).clone());
        self.rows.push((row, cells));
    }
}

fn is_word(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit() || "-+¥￥$€£(".contains(c))
}

/// Whether all cells say the same: one cell, or one that was merged over several columns.
fn is_single(cells: &Row) -> bool {
    cells.iter().all(|(_, text)| *text == cells[0].1)
}

fn row_chars(cells: &Row) -> usize {
    cells.iter().map(|(_, text)| text.chars().count() + 3).sum()
}

fn cover(covered: &mut Option<Range>, row: u32, cells: &Row) {
    let (Some((first, _)), Some((last, _))) = (cells.first(), cells.last()) else { return };
    let range = Range { first: Place { row, column: *first }, last: Place { row, column: *last } };
    *covered = Some(covered.map_or(range, |known| known.union(range)));
}

#[cfg(test)]
mod tests;
