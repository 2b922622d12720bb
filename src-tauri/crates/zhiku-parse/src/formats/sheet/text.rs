//! The text of a unit of rows as it grows, and where each cell of it stands.

use std::collections::BTreeSet;

use zhiku_core::{LayoutLine, UnitLayout};

use super::units::Row;
use super::{Place, Range};
use crate::formats::table::{MAX_COLUMNS, separator};

/// Wider tables leave out the columns in which nothing stands.
const WIDE: usize = 40;
/// Merged cells that a unit tells of; more are no table that anyone reads.
const MAX_MERGED: usize = 2_000;

/// A row to be written. One without a place repeats the header from above: a citation of it would lead away from its rows.
pub(super) struct TableRow<'a> {
    pub(super) row: Option<u32>,
    pub(super) cells: &'a Row,
}

/// Blocks between blank lines.
#[derive(Default)]
pub(super) struct SheetText {
    text: String,
    n_chars: u32,
    cells: Vec<LayoutLine>,
}

impl SheetText {
    pub(super) fn n_chars(&self) -> usize {
        self.n_chars as usize
    }

    /// A block that stands in one cell: a title, a reviewer's note.
    pub(super) fn cell(&mut self, place: Place, text: &str) {
        self.start_block();
        self.placed(place, text);
    }

    /// Further lines of a block that stand in one cell each.
    pub(super) fn cells<'t>(&mut self, cells: impl IntoIterator<Item = (Place, &'t str)>) {
        for (n, (place, text)) in cells.into_iter().enumerate() {
            if n == 0 {
                self.cell(place, text);
            } else {
                self.push("\n");
                self.placed(place, text);
            }
        }
    }

    /// A table; the first row is its header.
    pub(super) fn table(&mut self, rows: &[TableRow<'_>]) {
        let used = || rows.iter().flat_map(|row| row.cells.iter().map(|(column, _)| *column));
        let (Some(first), Some(last)) = (used().min(), used().max()) else { return };
        let columns: Vec<u32> = if (last - first) as usize >= WIDE {
            used().collect::<BTreeSet<u32>>().into_iter().take(MAX_COLUMNS).collect()
        } else {
            (first..=last).collect()
        };
        self.start_block();
        for (n, row) in rows.iter().enumerate() {
            if n > 0 {
                self.push("\n");
            }
            self.row(row, &columns);
            if n == 0 {
                self.push("\n");
                self.push(&separator(columns.len()));
            }
        }
    }

    fn row(&mut self, row: &TableRow<'_>, columns: &[u32]) {
        self.push("|");
        let mut cells = row.cells.iter().peekable();
        for column in columns {
            self.push(" ");
            while cells.next_if(|(before, _)| before < column).is_some() {}
            if let Some((column, text)) = cells.next_if(|(at, _)| at == column) {
                let text = text.replace('|', "\\|");
                match row.row {
                    Some(row) => self.placed(Place { row, column: *column }, &text),
                    None => self.push(&text),
                }
            }
            self.push(" |");
        }
    }

    /// The text and its layout, with the merged cells among `merged` that reach into `covered`.
    pub(super) fn finish(self, covered: Range, merged: &[Range]) -> (String, UnitLayout) {
        let reaches_in = |range: &&Range| {
            range.first.row <= covered.last.row
                && range.last.row >= covered.first.row
                && range.first.column <= covered.last.column
                && range.last.column >= covered.first.column
        };
        let merged = merged.iter().filter(reaches_in).take(MAX_MERGED);
        let mut lines: Vec<LayoutLine> = merged.map(|range| LayoutLine::cells(0, 0, *range)).collect();
        lines.extend(self.cells);
        let page_size = [covered.last.column + 1, covered.last.row + 1].map(|side| side as f32);
        (self.text, UnitLayout { page_size, lines })
    }

    fn start_block(&mut self) {
        if !self.text.is_empty() {
            self.push("\n\n");
        }
    }

    fn placed(&mut self, place: Place, text: &str) {
        let start = self.n_chars;
        self.push(text);
        self.cells.push(LayoutLine::cells(start, self.n_chars, Range::of(place)));
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.n_chars += text.chars().count() as u32;
    }
}
