//! One sheet as a stream: its merged cells, and its rows.

use std::io::BufRead;

use quick_xml::events::{BytesRef, BytesStart, BytesText, Event};
use quick_xml::reader::Reader;

use super::workbook::Workbook;
use crate::error::ParseError;
use crate::formats::sheet::units::Row;
use crate::formats::sheet::{MAX_ROW, Place, Range};
use crate::formats::xml::predefined;

/// More merged cells than this are not looked at.
const MAX_MERGES: usize = 100_000;

pub(super) fn merged(part: impl BufRead) -> Vec<Range> {
    let mut reader = Reader::from_reader(part);
    let mut buffer = Vec::new();
    let mut ranges = Vec::new();
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(start) | Event::Empty(start)) if start.local_name().as_ref() == "mergeCell" => {
                ranges.extend(attr(&start, "ref").as_deref().and_then(Range::parse));
            }
            Ok(Event::Eof) | Err(_) => return ranges,
            Ok(_) if ranges.len() >= MAX_MERGES => return ranges,
            Ok(_) => {}
        }
    }
}

/// Hands over the rows from top to bottom, cells as they are shown. Says whether the sheet breaks off.
pub(super) fn rows(
    part: impl BufRead,
    book: &Workbook,
    each: &mut dyn FnMut(u32, Row) -> Result<(), ParseError>,
) -> Result<bool, ParseError> {
    let mut reader = Reader::from_reader(part);
    let mut buffer = Vec::new();
    let mut state = State { book, row: 0, next_row: 0, column: 0, cells: Row::new(), cell: Cell::default() };
    loop {
        buffer.clear();
        let Ok(event) = reader.read_event_into(&mut buffer) else {
            each(state.row, state.take_row())?;
            return Ok(true);
        };
        match event {
            Event::Start(start) => state.open(&start),
            Event::Empty(start) => {
                let name = start.local_name();
                if matches!(name.as_ref(), "c" | "row") {
                    state.open(&start);
                    if name.as_ref() == "c" {
                        state.close_cell();
                    }
                }
            }
            Event::End(end) => match end.local_name().as_ref() {
                "c" => state.close_cell(),
                "v" | "t" => state.cell.reads = None,
                "rPh" => state.cell.in_reading = false,
                "row" => each(state.row, state.take_row())?,
                "sheetData" => return Ok(false),
                _ => {}
            },
            Event::Text(piece) => state.text(|out| text_of(&piece, out)),
            Event::CData(piece) => state.text(|out| out.push_str(&piece)),
            Event::GeneralRef(reference) => state.text(|out| out.extend(entity(&reference))),
            Event::Eof => {
                each(state.row, state.take_row())?;
                return Ok(true);
            }
            _ => {}
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    Value,
    Inline,
}

#[derive(Default)]
struct Cell {
    kind: String,
    style: usize,
    value: String,
    inline: String,
    reads: Option<Reads>,
    in_reading: bool,
}

struct State<'a> {
    book: &'a Workbook,
    row: u32,
    next_row: u32,
    column: u32,
    cells: Row,
    cell: Cell,
}

impl State<'_> {
    fn open(&mut self, start: &BytesStart<'_>) {
        match start.local_name().as_ref() {
            "row" => {
                let stated =
                    attr(start, "r").and_then(|n| n.parse::<u32>().ok()).and_then(|n| n.checked_sub(1));
                // Rows that go backwards would make ranges that no reader finds.
                self.row = stated.filter(|n| *n >= self.next_row).unwrap_or(self.next_row).min(MAX_ROW);
                self.next_row = self.row + 1;
                self.column = 0;
            }
            "c" => {
                let place = attr(start, "r").as_deref().and_then(Place::parse);
                if let Some(place) = place.filter(|place| place.column >= self.column) {
                    self.column = place.column;
                }
                self.cell = Cell {
                    kind: attr(start, "t").unwrap_or_default(),
                    style: attr(start, "s").and_then(|style| style.parse().ok()).unwrap_or(0),
                    ..Cell::default()
                };
            }
            "v" => self.cell.reads = Some(Reads::Value),
            "t" if !self.cell.in_reading => self.cell.reads = Some(Reads::Inline),
            "rPh" => self.cell.in_reading = true,
            _ => {}
        }
    }

    fn text(&mut self, append: impl FnOnce(&mut String)) {
        match self.cell.reads {
            Some(Reads::Value) => append(&mut self.cell.value),
            Some(Reads::Inline) => append(&mut self.cell.inline),
            None => {}
        }
    }

    fn close_cell(&mut self) {
        let cell = std::mem::take(&mut self.cell);
        let text = self.shown(&cell);
        if !text.trim().is_empty() {
            self.cells.push((self.column, text));
        }
        self.column += 1;
    }

    fn shown(&self, cell: &Cell) -> String {
        let value = cell.value.trim();
        match cell.kind.as_str() {
            "s" => {
                let text = value.parse::<usize>().ok().and_then(|n| self.book.strings.get(n));
                text.map(ToString::to_string).unwrap_or_default()
            }
            "inlineStr" => cell.inline.clone(),
            "str" => cell.value.clone(),
            "b" => if value == "1" { "TRUE" } else { "FALSE" }.to_owned(),
            // `#DIV/0!` and its kin; ISO dates.
            "e" | "d" => value.to_owned(),
            _ => match value.parse::<f64>() {
                Ok(number) => self.book.show(number, cell.style),
                Err(_) if cell.value.is_empty() => cell.inline.clone(),
                Err(_) => cell.value.clone(),
            },
        }
    }

    fn take_row(&mut self) -> Row {
        std::mem::take(&mut self.cells)
    }
}

fn attr(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = start.attributes();
    let found = attributes.with_checks(false).flatten().find(|attr| attr.key.as_ref() == name)?;
    found.normalized_value(quick_xml::XmlVersion::Implicit1_0).ok().map(std::borrow::Cow::into_owned)
}

/// Appends text; Excel writes characters that XML has not as `_x000D_`.
pub(super) fn text_of(piece: &BytesText<'_>, out: &mut String) {
    let text = piece.xml10_content();
    let mut rest = text.as_ref();
    while let Some(at) = rest.find("_x") {
        let escape = rest[at..].get(..7).filter(|escape| escape.ends_with('_'));
        let code = escape.and_then(|escape| u32::from_str_radix(&escape[2..6], 16).ok());
        if let Some(c) = code.and_then(char::from_u32) {
            out.push_str(&rest[..at]);
            out.push(c);
            rest = &rest[at + 7..];
        } else {
            out.push_str(&rest[..at + 2]);
            rest = &rest[at + 2..];
        }
    }
    out.push_str(rest);
}

pub(super) fn entity(reference: &BytesRef<'_>) -> Option<char> {
    match reference.resolve_char_ref() {
        Ok(Some(c)) => Some(c),
        _ => predefined(reference),
    }
}
