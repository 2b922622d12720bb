//! Places in a spreadsheet as people write them: `B3`, `B3:D9`.

use std::fmt;

/// No program writes rows or columns beyond these.
pub const MAX_ROW: u32 = 1_048_575;
pub const MAX_COLUMN: u32 = 16_383;

/// A cell's place, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellPlace {
    pub row: u32,
    pub column: u32,
}

/// A rectangle of cells, corners included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellRange {
    pub first: CellPlace,
    pub last: CellPlace,
}

impl CellPlace {
    /// Reads `B3`; dollar signs do not matter.
    pub fn parse(text: &str) -> Option<Self> {
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

impl fmt::Display for CellPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut letters = Vec::new();
        let mut rest = self.column + 1;
        while rest > 0 {
            letters.push(char::from(b'A' + ((rest - 1) % 26) as u8));
            rest = (rest - 1) / 26;
        }
        write!(f, "{}{}", letters.iter().rev().collect::<String>(), self.row + 1)
    }
}

impl CellRange {
    pub fn of(place: CellPlace) -> Self {
        Self { first: place, last: place }
    }

    /// Reads `A1:D40` or `A1`.
    pub fn parse(text: &str) -> Option<Self> {
        let (first, last) = text.split_once(':').unwrap_or((text, text));
        let (a, b) = (CellPlace::parse(first)?, CellPlace::parse(last)?);
        Some(Self {
            first: CellPlace { row: a.row.min(b.row), column: a.column.min(b.column) },
            last: CellPlace { row: a.row.max(b.row), column: a.column.max(b.column) },
        })
    }

    /// The smallest rectangle that holds both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        let (a, b) = (self, other);
        Self {
            first: CellPlace {
                row: a.first.row.min(b.first.row),
                column: a.first.column.min(b.first.column),
            },
            last: CellPlace { row: a.last.row.max(b.last.row), column: a.last.column.max(b.last.column) },
        }
    }
}

impl fmt::Display for CellRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last { self.first.fmt(f) } else { write!(f, "{}:{}", self.first, self.last) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_ranges_read_as_they_are_written() {
        for text in ["A1", "Z9", "AA10", "XFD1048576", "BC77"] {
            assert_eq!(CellPlace::parse(text).map(|place| place.to_string()).as_deref(), Some(text));
        }
        for text in ["", "A", "1", "A0", "XFE1", "A1048577", "1A", "A1B", "ÄÖ1"] {
            assert_eq!(CellPlace::parse(text), None, "{text}");
        }
        for (text, expect) in [("$D$9:B3", "B3:D9"), ("C4:C4", "C4"), ("C4", "C4")] {
            assert_eq!(CellRange::parse(text).map(|range| range.to_string()).as_deref(), Some(expect));
        }
    }
}
