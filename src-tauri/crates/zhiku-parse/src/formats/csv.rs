//! Tables as text files: comma, semicolon, tab or pipe between the fields, quotes, any encoding, rows of any length.
//!
//! They are sheets without a name: a field has the place that a spreadsheet program would show it at, an empty line is an
//! empty row, and a line that only names the delimiter is none.

use zhiku_core::{DocumentKind, Locator, ParsedUnit};

use super::sheet::units::{SheetUnits, Visibility};
use super::table::MAX_COLUMNS;
use super::whole::{Whole, decode_source, no_such_place, warning};
use crate::detect::extension;
use crate::encoding::looks_like_text;
use crate::error::ParseError;
use crate::parser::{DocumentParser, ParsedSummary, Source, UnitSink};

const DELIMITERS: [char; 4] = [',', '\t', ';', '|'];

pub(super) struct Csv;

impl DocumentParser for Csv {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Csv
    }

    fn sniff(&self, head: &[u8], name: &str) -> bool {
        matches!(extension(name).as_deref(), Some("csv" | "tsv" | "tab")) && looks_like_text(head)
    }

    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        let (decoded, lossy) = decode_source(source, None)?;
        let (units, n_cut) = units(&decoded.text)?;
        let mut warnings: Vec<_> = lossy.into_iter().collect();
        if n_cut > 0 {
            let message = format!("{n_cut} cells stand beyond {MAX_COLUMNS} columns and were left out");
            warnings.push(warning("columns_cut", message));
        }
        Whole { units, warnings }.send(DocumentKind::Csv, sink)
    }

    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
        let (decoded, _) = decode_source(source, None)?;
        let found = units(&decoded.text)?.0.into_iter().find(|unit| unit.locator == *locator);
        found.map(|unit| unit.text).ok_or_else(|| no_such_place(source, locator))
    }
}

/// The fields of a row.
type Row = Vec<String>;

/// The units, and how many cells had to be left out.
fn units(text: &str) -> Result<(Vec<ParsedUnit>, usize), ParseError> {
    let mut found = Vec::new();
    let mut emit = |unit| {
        found.push(unit);
        Ok(())
    };
    let mut sheet = SheetUnits::new("", Visibility::Shown, &mut emit);
    let mut rows = rows(text, delimiter(text));
    if rows.len() > 3 && rows.iter().skip(1).step_by(2).all(is_blank) {
        // Line ends written twice, as some programs do: these rows are none.
        rows.retain(|row| !is_blank(row));
    }
    for (row, cells) in (0..).zip(rows) {
        sheet.row(row, (0..).zip(cells).collect())?;
    }
    let n_cut = sheet.finish()?;
    Ok((found, n_cut))
}

fn is_blank(row: &Row) -> bool {
    row.iter().all(|cell| cell.trim().is_empty())
}

/// All rows, empty ones too. A quote opens a quoted field only at the field's beginning; one that never closes is an
/// ordinary character, or the rest of the file would become one cell.
fn rows(text: &str, delimiter: char) -> Vec<Row> {
    let chars: Vec<char> = text.chars().collect();
    let mut rows = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let (row, next) = row(&chars, at, delimiter);
        let is_directive = rows.is_empty() && row.concat().starts_with("sep=");
        if !is_directive {
            rows.push(row);
        }
        at = next;
    }
    rows
}

fn row(chars: &[char], start: usize, delimiter: char) -> (Row, usize) {
    let mut cells = Vec::new();
    let mut at = start;
    loop {
        let (cell, next) = field(chars, at, delimiter);
        cells.push(cell);
        at = next;
        match chars.get(at) {
            Some(c) if *c == delimiter => at += 1,
            Some(_) => return (cells, at + 1),
            None => return (cells, at),
        }
    }
}

/// A quoted field is searched for its end no further than this.
const MAX_QUOTED_CHARS: usize = 32_000;

fn field(chars: &[char], start: usize, delimiter: char) -> (String, usize) {
    if chars.get(start) == Some(&'"')
        && let Some(quoted) = quoted_field(chars, start, delimiter)
    {
        return quoted;
    }
    let n_chars = chars[start..].iter().take_while(|c| **c != delimiter && **c != '\n').count();
    (chars[start..start + n_chars].iter().collect(), start + n_chars)
}

fn quoted_field(chars: &[char], start: usize, delimiter: char) -> Option<(String, usize)> {
    let mut cell = String::new();
    let mut at = start + 1;
    while at < chars.len().min(start + MAX_QUOTED_CHARS) {
        match chars[at] {
            '"' if chars.get(at + 1) == Some(&'"') => {
                cell.push('"');
                at += 2;
            }
            '"' => {
                at += 1;
                // `"5" pipe`: what stands behind the closing quote belongs to the field.
                while let Some(c) = chars.get(at).filter(|c| **c != delimiter && **c != '\n') {
                    cell.push(*c);
                    at += 1;
                }
                return Some((cell, at));
            }
            c => {
                cell.push(c);
                at += 1;
            }
        }
    }
    None
}

/// The delimiter under which most rows have the same number of columns; more columns break ties.
fn delimiter(text: &str) -> char {
    let stated = text.lines().next().and_then(|line| line.trim_matches('"').strip_prefix("sep="));
    if let Some(stated) = stated.and_then(|rest| rest.chars().next()) {
        return stated;
    }
    let head: String = text.chars().take(20_000).collect();
    let score = |delimiter: char| {
        let mut rows = rows(&head, delimiter);
        rows.retain(|row| !is_blank(row));
        // The sample may end within a row.
        if rows.len() > 3 {
            rows.pop();
        }
        let mut counts = std::collections::BTreeMap::new();
        for row in &rows {
            *counts.entry(row.len()).or_insert(0_usize) += 1;
        }
        let (n_columns, n_rows) =
            counts.into_iter().max_by_key(|(columns, n)| (*n, *columns)).unwrap_or((1, 0));
        if n_columns < 2 {
            0.0
        } else {
            n_rows as f32 / rows.len() as f32 + 0.01 * (n_columns.min(30) as f32)
        }
    };
    let mut best = (',', 0.0);
    for delimiter in DELIMITERS {
        let score = score(delimiter);
        if score > best.1 {
            best = (delimiter, score);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let (units, _) = units(text).expect("read");
        let found: Vec<_> = units.into_iter().map(|unit| unit.text).collect();
        assert_eq!(found.join("\n\n"), expect);
    }

    #[test]
    fn delimiters_are_told_by_the_rows_they_make() {
        check("a,b\n1,2\n", "| a | b |\n| --- | --- |\n| 1 | 2 |");
        check("a;b\n1,5;2,5\n3,5;4\n", "| a | b |\n| --- | --- |\n| 1,5 | 2,5 |\n| 3,5 | 4 |");
        check("a\tb\n\"1\t2\"\t3", "| a | b |\n| --- | --- |\n| 1 2 | 3 |");
        check("sep=|\na|b\n", "| a | b |\n| --- | --- |");
        check("only\none\n", "only\n\none");
    }

    #[test]
    fn quotes_hold_delimiters_line_ends_and_quotes() {
        check("a,b\n\"x, \"\"y\"\"\nz\",2\n", "| a | b |\n| --- | --- |\n| x, \"y\" z | 2 |");
        check("a,b\n\"x,2\n3,4", "| a | b |\n| --- | --- |\n| \"x | 2 |\n| 3 | 4 |");
        check("size,n\n5\" pipe,2\n", "| size | n |\n| --- | --- |\n| 5\" pipe | 2 |");
    }

    #[test]
    fn ragged_rows_widen_the_table() {
        check("a,b\n1\n1,2,3\n", "| a | b |  |\n| --- | --- | --- |\n| 1 |  |  |\n| 1 | 2 | 3 |");
    }

    #[test]
    fn an_empty_line_is_an_empty_row_unless_every_line_end_is_doubled() {
        let ranges = |text: &str| {
            let (units, _) = units(text).expect("read");
            let locators = units.into_iter().map(|unit| unit.locator);
            let cells = |locator| match locator {
                Locator::Cells { sheet, range } => format!("{sheet}!{range}"),
                other => panic!("{other:?}"),
            };
            locators.map(cells).collect::<Vec<_>>()
        };
        assert_eq!(ranges("sep=;\na;b\n1;2\n\n3;4\n"), ["!A1:B4"]);
        assert_eq!(ranges("a;b\n\n1;2\n\n3;4\n\n"), ["!A1:B3"]);
    }

    #[test]
    fn long_tables_become_several_units_that_read_again_as_themselves() {
        let text: String = "材料,供应商\n".to_owned()
            + &(0..2_000).map(|i| format!("材料{i},\"供应商, {i}\"\n")).collect::<Vec<_>>().concat();
        let (units, _) = units(&text).expect("read");
        assert!(units.len() > 5);
        let source = Source::new(text.as_bytes(), "a.csv");
        for unit in units {
            assert!(unit.text.starts_with("| 材料 | 供应商 |\n| --- | --- |\n| 材料"));
            assert_eq!(Csv.read_at(&source, &unit.locator), Ok(unit.text));
        }
    }
}
