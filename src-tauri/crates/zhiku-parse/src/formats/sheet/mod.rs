//! What spreadsheets have in common once their files are read: cells, ranges, units of rows, numbers as they are shown.

pub(super) mod number_format;
mod text;
pub(super) mod units;

pub(super) use zhiku_core::cells::{CellPlace as Place, CellRange as Range, MAX_COLUMN, MAX_ROW};

/// Merged cells of a sheet, filled while its rows go by from top to bottom.
#[derive(Default)]
pub(super) struct Merges {
    /// By first row, the next one last.
    waiting: Vec<Range>,
    open: Vec<(Range, String)>,
}

/// A longer text stands only in the first place of its merged cell.
const MAX_REPEATED_BYTES: usize = 600;
/// More open merged cells than this are no table that anyone reads.
const MAX_OPEN: usize = 2_000;

impl Merges {
    pub(super) fn new(mut ranges: Vec<Range>) -> Self {
        ranges.sort_by_key(|range| std::cmp::Reverse(range.first));
        Self { waiting: ranges, open: Vec::new() }
    }

    /// Puts the text of merged cells into every place of the row that they cover. A row without cells of its own stays empty.
    pub(super) fn fill(&mut self, row: u32, cells: &mut Vec<(u32, String)>) {
        while let Some(range) = self.waiting.pop_if(|range| range.first.row <= row) {
            let text = cells.iter().find(|(column, _)| *column == range.first.column);
            let text = text.filter(|_| range.first.row == row).map(|(_, text)| text.clone());
            if let Some(text) = text.filter(|text| !text.is_empty() && text.len() <= MAX_REPEATED_BYTES)
                && self.open.len() < MAX_OPEN
            {
                self.open.push((range, text));
            }
        }
        self.open.retain(|(range, _)| range.last.row >= row);
        if cells.is_empty() {
            return;
        }
        for (range, text) in &self.open {
            let last = range.last.column.min(range.first.column + super::table::MAX_COLUMNS as u32);
            for column in range.first.column..=last {
                match cells.binary_search_by_key(&column, |(column, _)| *column) {
                    Ok(at) => cells[at].1.clone_from(text),
                    Err(at) => cells.insert(at, (column, text.clone())),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_cells_stand_in_every_place_they_cover() {
        let range = |text| Range::parse(text).expect("a range");
        let mut merges = Merges::new(vec![range("A1:A3"), range("C2:D2")]);
        let mut check = |row: u32, cells: &[(u32, &str)], expect: &[(u32, &str)]| {
            let own = |cells: &[(u32, &str)]| {
                cells.iter().map(|(column, text)| (*column, (*text).to_owned())).collect::<Vec<_>>()
            };
            let mut found = own(cells);
            merges.fill(row, &mut found);
            assert_eq!(found, own(expect));
        };
        check(0, &[(0, "a"), (1, "b")], &[(0, "a"), (1, "b")]);
        check(1, &[(2, "c")], &[(0, "a"), (2, "c"), (3, "c")]);
        check(2, &[], &[]);
        check(3, &[(1, "d")], &[(1, "d")]);
    }
}
