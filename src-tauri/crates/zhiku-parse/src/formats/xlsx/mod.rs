//! Excel workbooks (OOXML): units of rows, cells as they are shown.
//!
//! [`workbook`] reads what the sheets share (strings, formats), [`sheet`] streams one sheet's rows, [`comments`] what
//! reviewers wrote. A sheet is read twice, once for its merged cells (which the file lists behind the rows), and is never in
//! memory. Formulas count by the value that the file holds. Deliberately absent: charts, pivot caches, macros.

mod cells;
mod comments;
mod workbook;

use std::io::BufReader;

use zhiku_core::{DocumentKind, Locator, ParsedUnit};

use super::container::mentions;
use super::ole;
use super::ooxml::package::{MainPart, Package};
use super::sheet::Merges;
use super::sheet::units::{SheetUnits, Visibility};
use super::table::MAX_COLUMNS;
use super::whole::{no_such_place, warning};
use crate::detect::extension;
use crate::error::ParseError;
use crate::parser::{DocumentParser, ParsedSummary, Source, UnitSink};
use workbook::{Sheet, Workbook};

pub(super) struct Xlsx;

const MAIN: MainPart = MainPart { path: "xl/workbook.xml", what: "Excel workbook" };

impl DocumentParser for Xlsx {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Xlsx
    }

    fn sniff(&self, head: &[u8], name: &str) -> bool {
        let is_named = matches!(extension(name).as_deref(), Some("xlsx" | "xlsm" | "xltx" | "xltm"));
        if ole::is_encrypted(head) {
            return is_named;
        }
        head.starts_with(b"PK\x03\x04")
            && (mentions(head, b"xl/") || is_named && mentions(head, b"[Content_Types].xml"))
    }

    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        let mut package = Package::open(source, &MAIN)?;
        if extension(&package.main).as_deref() == Some("bin") {
            let detail = "binary Excel (xlsb)".to_owned();
            return Err(ParseError::Unsupported { name: source.name.to_owned(), detail });
        }
        let book = Workbook::read(&mut package)?;
        let mut n_failed = 0;
        for sheet in &book.sheets {
            if sheet.visibility == Visibility::Hidden {
                sink.warning(warning("sheet_hidden", format!("the sheet {} is hidden", sheet.name)))?;
            }
            let mut emit = |unit: ParsedUnit| sink.unit(unit);
            match read_sheet(&mut package, &book, sheet, &mut emit) {
                Ok(report) => {
                    for (code, message) in report.warnings(&sheet.name) {
                        sink.warning(warning(code, message))?;
                    }
                }
                Err(ParseError::Damaged { detail, .. }) => {
                    n_failed += 1;
                    let message = format!("could not read the sheet {}: {detail}", sheet.name);
                    sink.warning(warning("sheet_failed", message))?;
                }
                Err(err) => return Err(err),
            }
        }
        if n_failed > 0 && n_failed == book.sheets.len() {
            return Err(ParseError::damaged(source.name, "none of its sheets can be read"));
        }
        Ok(ParsedSummary { kind: DocumentKind::Xlsx, page_count: None })
    }

    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
        let Locator::Cells { sheet: wanted, .. } = locator else {
            return Err(no_such_place(source, locator));
        };
        let mut package = Package::open(source, &MAIN)?;
        let book = Workbook::read(&mut package)?;
        let mut text = None;
        for sheet in book.sheets.iter().filter(|sheet| sheet.name == *wanted) {
            let mut take = |unit: ParsedUnit| {
                if unit.locator == *locator {
                    text.get_or_insert(unit.text);
                }
                Ok(())
            };
            read_sheet(&mut package, &book, sheet, &mut take)?;
        }
        text.ok_or_else(|| no_such_place(source, locator))
    }
}

/// What is to be said about a sheet that was read.
struct Report {
    n_cut_columns: usize,
    is_damaged: bool,
}

impl Report {
    fn warnings(&self, sheet: &str) -> Vec<(&'static str, String)> {
        let mut warnings = Vec::new();
        if self.n_cut_columns > 0 {
            let message = format!(
                "{} cells of the sheet {sheet} stand beyond {MAX_COLUMNS} columns and were left out",
                self.n_cut_columns
            );
            warnings.push(("columns_cut", message));
        }
        if self.is_damaged {
            warnings.push(("part_damaged", format!("the sheet {sheet} breaks off: the file is damaged")));
        }
        warnings
    }
}

fn read_sheet(
    package: &mut Package<'_>,
    book: &Workbook,
    sheet: &Sheet,
    emit: &mut dyn FnMut(ParsedUnit) -> Result<(), ParseError>,
) -> Result<Report, ParseError> {
    let name = package.container.name;
    let missing = || ParseError::damaged(name, "the sheet is missing");
    let notes = comments::of_sheet(package, &sheet.path)?;
    let merges = {
        let part = package.container.stream(&sheet.path)?.ok_or_else(missing)?;
        cells::merged(BufReader::new(part))
    };
    let part = package.container.stream(&sheet.path)?.ok_or_else(missing)?;
    let mut units = SheetUnits::new(&sheet.name, sheet.visibility, emit);
    units.notes = notes;
    units.merged.clone_from(&merges);
    let mut merges = Merges::new(merges);
    let is_damaged = cells::rows(BufReader::with_capacity(64 * 1024, part), book, &mut |row, mut cells| {
        merges.fill(row, &mut cells);
        units.row(row, cells)
    })?;
    Ok(Report { n_cut_columns: units.finish()?, is_damaged })
}

#[cfg(test)]
mod tests;
