//! Excel workbooks of before 2007 (BIFF), through calamine.
//!
//! Dates are told from numbers; other number formats (percent, digits) are not available and numbers stand as the file holds
//! them. A sheet is in memory as a whole: these files have at most 65,536 rows.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use calamine::{Data, Reader, SheetVisible, Xls as Workbook, XlsError};
use zhiku_core::{DocumentKind, Locator, ParsedUnit};

use super::ole;
use super::sheet::number_format::{Epoch, NumberFormat, general};
use super::sheet::units::{Row, SheetUnits, Visibility};
use super::sheet::{Merges, Place, Range};
use super::whole::{no_such_place, warning};
use super::xls_extent;
use crate::detect::extension;
use crate::error::ParseError;
use crate::parser::{DocumentParser, ParsedSummary, Source, UnitSink};

pub(super) struct Xls;

impl DocumentParser for Xls {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Xls
    }

    fn sniff(&self, head: &[u8], name: &str) -> bool {
        let is_named = matches!(extension(name).as_deref(), Some("xls" | "xlt" | "et"));
        // Excel 2 to 4 had no container.
        let is_bare = is_named && head.first() == Some(&9) && matches!(head.get(1), Some(0 | 2 | 4));
        let holds_book = ole::names_stream(head, "Workbook") || ole::names_stream(head, "Book");
        is_bare
            || ole::is_ole(head)
                && !ole::is_encrypted(head)
                && (holds_book && !ole::names_stream(head, "WordDocument")
                    || is_named && !ole::shows_streams(head))
    }

    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        let mut book = open(source)?;
        for sheet in sheets(&book) {
            if sheet.visibility == Visibility::Hidden {
                sink.warning(warning("sheet_hidden", format!("the sheet {} is hidden", sheet.name)))?;
            }
            let read = read_sheet(&mut book, &sheet, source.name, &mut |unit| sink.unit(unit));
            match read {
                Err(ParseError::Damaged { detail, .. }) => {
                    let message = format!("could not read the sheet {}: {detail}", sheet.name);
                    sink.warning(warning("sheet_failed", message))?;
                }
                other => other?,
            }
        }
        Ok(ParsedSummary { kind: DocumentKind::Xls, page_count: None })
    }

    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
        let Locator::Cells { sheet: wanted, .. } = locator else {
            return Err(no_such_place(source, locator));
        };
        let mut book = open(source)?;
        let mut text = None;
        for sheet in sheets(&book).into_iter().filter(|sheet| sheet.name == *wanted) {
            read_sheet(&mut book, &sheet, source.name, &mut |unit| {
                if unit.locator == *locator {
                    text.get_or_insert(unit.text);
                }
                Ok(())
            })?;
        }
        text.ok_or_else(|| no_such_place(source, locator))
    }
}

type Book<'a> = Workbook<Cursor<&'a [u8]>>;

fn open<'a>(source: &Source<'a>) -> Result<Book<'a>, ParseError> {
    let name = source.name.to_owned();
    xls_extent::check(source.bytes, source.name)?;
    unpanicking(source.name, || Workbook::new(Cursor::new(source.bytes)))?.map_err(|err| match err {
        XlsError::Password if source.password.is_some() => {
            ParseError::Unsupported { name, detail: "password-protected Excel".to_owned() }
        }
        XlsError::Password => ParseError::PasswordRequired { name },
        other => ParseError::damaged(&name, other),
    })
}

/// The library trusts the lengths that a file names and panics where they are wrong.
fn unpanicking<T>(name: &str, read: impl FnOnce() -> T) -> Result<T, ParseError> {
    catch_unwind(AssertUnwindSafe(read))
        .map_err(|_| ParseError::damaged(name, "its parts do not fit together"))
}

struct Sheet {
    name: String,
    visibility: Visibility,
}

fn sheets(book: &Book<'_>) -> Vec<Sheet> {
    let sheet = |sheet: &calamine::Sheet| Sheet {
        name: sheet.name.clone(),
        visibility: match sheet.visible {
            SheetVisible::Visible => Visibility::Shown,
            SheetVisible::Hidden | SheetVisible::VeryHidden => Visibility::Hidden,
        },
    };
    book.sheets_metadata().iter().map(sheet).collect()
}

fn read_sheet(
    book: &mut Book<'_>,
    sheet: &Sheet,
    name: &str,
    emit: &mut dyn FnMut(ParsedUnit) -> Result<(), ParseError>,
) -> Result<(), ParseError> {
    let cells = book.worksheet_range(&sheet.name).map_err(|err| ParseError::damaged(name, err))?;
    let merges = book.merge_cells_by_sheet_name(&sheet.name).unwrap_or_default();
    let merges = merges.into_iter().map(|area| Range {
        first: Place { row: area.start.0, column: area.start.1 },
        last: Place { row: area.end.0, column: area.end.1 },
    });
    let merges: Vec<Range> = merges.collect();
    let Some((first_row, first_column)) = cells.start() else { return Ok(()) };
    let mut units = SheetUnits::new(&sheet.name, sheet.visibility, emit);
    units.merged.clone_from(&merges);
    let mut merges = Merges::new(merges);
    for (row, values) in (first_row..).zip(cells.rows()) {
        let shown = (first_column..).zip(values).map(|(column, value)| (column, shown(value)));
        let mut cells: Row = shown.filter(|(_, text)| !text.trim().is_empty()).collect();
        merges.fill(row, &mut cells);
        units.row(row, cells)?;
    }
    units.finish().map(|_| ())
}

fn shown(value: &Data) -> String {
    match value {
        Data::Int(number) => number.to_string(),
        Data::Float(number) => general(*number),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
        Data::Bool(value) => if *value { "TRUE" } else { "FALSE" }.to_owned(),
        Data::DateTime(moment) => {
            let (year, month, day, hour, minute, second, _) = moment.to_ymd_hms_milli();
            if moment.is_duration() {
                return NumberFormat::parse("[h]:mm:ss").show(moment.as_f64(), Epoch::Year1900);
            }
            match (moment.as_f64() < 1.0, hour, minute, second) {
                (true, ..) => format!("{hour}:{minute:02}:{second:02}"),
                (_, 0, 0, 0) => format!("{year:04}-{month:02}-{day:02}"),
                _ => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"),
            }
        }
        Data::Error(error) => error.to_string(),
        Data::Empty => String::new(),
    }
}
