//! What spreadsheets have in common once their files are read: cells, ranges, units of rows, numbers as they are shown.

pub(super) mod number_format;
pub(super) mod units;

/// A cell's place, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    pub row: u32,
    pub column: u32,
}

/// A rectangle of cells, corners included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub first: Place,
    pub last: Place,
}

/// No program writes rows or columns beyond these.
pub(super) const MAX_ROW: u32 = 1_048_575;
pub(super) const MAX_COLUMN: u32 = 16_383;

impl Place {
    /// Reads `B3`; dollar signs do not matter.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut column = 0_u32;
        let mut row = 0_u32;
        let mut n_letters = 0;
        for c in text.chars().filter(|c| *c != '$') {
            match c {
                'A'..='Z' | 'a'..='z' if row == 0 && n_letters < 3 => {
                    n_letters += 1;
                    column = column * 26 + (c.to_ascii_uppercase() as u32 - 'A' as u32 + 1);
                }
                '0'..='9' if n_letters > 0 => row = row.checked_mul(10)? + (c as u32 - '0' as u32),
                _ => return None,
            }
        }
        let place = Self { row: row.checked_sub(1)?, column: column.checked_sub(1)? };
        (place.row <= MAX_ROW && place.column <= MAX_COLUMN).then_some(place)
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut letters = Vec::new();
        let mut rest = self.column + 1;
        while rest > 0 {
            letters.push(char::from(b'A' + ((rest - 1) % 26) as u8));
            rest = (rest - 1) / 26;
        }
        write!(f, "{}{}", letters.iter().rev().collect::<String>(), self.row + 1)
    }
}

impl Range {
    /// Reads `A1:D40` or `A1`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (first, last) = text.split_once(':').unwrap_or((text, text));
        let (a, b) = (Place::parse(first)?, Place::parse(last)?);
        Some(Self {
            first: Place { row: a.row.min(b.row), column: a.column.min(b.column) },
            last: Place { row: a.row.max(b.row), column: a.column.max(b.column) },
        })
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.first, self.last)
    }
}

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
    fn places_and_ranges_read_as_they_are_written() {
        for text in ["A1", "Z9", "AA10", "XFD1048576", "BC77"] {
            assert_eq!(Place::parse(text).map(|place| place.to_string()).as_deref(), Some(text));
        }
        for text in ["", "A", "1", "A0", "XFE1", "A1048577", "1A", "A1B", "ÄÖ1"] {
            assert_eq!(Place::parse(text), None, "{text}");
        }
        assert_eq!(Range::parse("$D$9:B3").map(|range| range.to_string()).as_deref(), Some("B3:D9"));
    }

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
