//! How large the sheets of an old Excel file say they are. The library that reads them makes room for all of it at once, so a
//! damaged number would take the memory of the whole machine.

use std::io::{Cursor, Read};

use crate::error::ParseError;

/// What the format allows ([MS-XLS] 2.5.53 and 2.5.165).
const MAX_COLUMNS: u32 = 256;
const MAX_ROWS: u32 = 65_536;

const BEGIN: u16 = 0x0809;
const END: u16 = 0x000A;
const SHEET: u16 = 0x0085;
const EXTENT: u16 = 0x0200;
/// Cells, with their row and column in front: numbers, labels, truth values, formulas, and several in a row.
const CELLS: [u16; 10] = [0x0203, 0x0204, 0x0205, 0x00D6, 0x00FD, 0x027E, 0x00BD, 0x0006, 0x0206, 0x0406];

/// Refuses a file in which a sheet or a cell lies beyond what the format allows.
pub(super) fn check(bytes: &[u8], name: &str) -> Result<(), ParseError> {
    // What is no sound container or has no workbook is told by the library.
    let Some(stream) = workbook(bytes) else { return Ok(()) };
    let globals = records(&stream);
    let sheets = globals.filter(|(kind, _)| *kind == SHEET).filter_map(|(_, data)| number(data, 0, 4));
    let all_fit = sheets
        .filter_map(|start| stream.get(start as usize..))
        .all(|sheet| own_records(sheet).all(|(kind, data)| fits(kind, data)));
    if all_fit {
        return Ok(());
    }
    Err(ParseError::damaged(name, "a sheet is larger than the format allows"))
}

fn workbook(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut file = cfb::CompoundFile::open(Cursor::new(bytes)).ok()?;
    let path = ["/Workbook", "/Book"].into_iter().find(|path| file.is_stream(path))?;
    let mut stream = Vec::new();
    file.open_stream(path).ok()?.take(bytes.len() as u64).read_to_end(&mut stream).ok()?;
    Some(stream)
}

/// Kind and contents of each record, up to the first that is cut off.
fn records(mut stream: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (head, rest) = stream.split_first_chunk::<4>()?;
        let [kind, length] = [[head[0], head[1]], [head[2], head[3]]].map(u16::from_le_bytes);
        let (data, rest) = rest.split_at_checked(length.into())?;
        stream = rest;
        Some((kind, data))
    })
}

/// Those of the sheet itself, without the charts in it.
fn own_records(sheet: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let within = records(sheet).scan(0_u32, |depth, (kind, data)| {
        match kind {
            BEGIN => *depth += 1,
            END if *depth <= 1 => return None,
            END => *depth -= 1,
            _ => {}
        }
        Some((*depth, kind, data))
    });
    within
        .filter(|(depth, kind, _)| *depth <= 1 && (*kind == EXTENT || CELLS.contains(kind)))
        .map(|(_, kind, data)| (kind, data))
}

fn fits(kind: u16, data: &[u8]) -> bool {
    let at = |from, length| number(data, from, length).unwrap_or(0);
    if kind != EXTENT {
        return at(2, 2) < MAX_COLUMNS;
    }
    let (end_row, end_column) = match data.len() {
        10 => (at(2, 2), at(6, 2)),
        _ => (at(4, 4), at(10, 2)),
    };
    end_row <= MAX_ROWS && end_column <= MAX_COLUMNS
}

fn number(data: &[u8], from: usize, length: usize) -> Option<u32> {
    let bytes = data.get(from..from + length)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn record(kind: u16, data: &[u8]) -> Vec<u8> {
        [&kind.to_le_bytes()[..], &(data.len() as u16).to_le_bytes(), data].concat()
    }

    /// A file with one sheet of these records.
    fn file(sheet: &[Vec<u8>]) -> Vec<u8> {
        let globals = |start: u32| {
            [record(BEGIN, &[0; 16]), record(SHEET, &start.to_le_bytes()), record(END, &[])].concat()
        };
        let stream = [globals(globals(0).len() as u32), sheet.concat()].concat();
        let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).expect("creates");
        file.create_stream("/Workbook").expect("a stream").write_all(&stream).expect("writes");
        file.into_inner().into_inner()
    }

    fn extent(rows: u32, columns: u16) -> Vec<u8> {
        let data = [&0_u32.to_le_bytes()[..], &rows.to_le_bytes(), &[0, 0], &columns.to_le_bytes(), &[0, 0]];
        record(EXTENT, &data.concat())
    }

    fn cell(column: u16) -> Vec<u8> {
        record(0x0203, &[&[7, 0], &column.to_le_bytes()[..], &[0; 10]].concat())
    }

    fn check_sheet(sheet: &[Vec<u8>], is_refused: bool) {
        let whole = [vec![record(BEGIN, &[0; 16])], sheet.to_vec(), vec![record(END, &[])]].concat();
        assert_eq!(check(&file(&whole), "a").is_err(), is_refused);
    }

    #[test]
    fn what_the_format_allows_is_read_and_more_is_refused() {
        check_sheet(&[extent(65_536, 256), cell(255)], false);
        check_sheet(&[extent(u32::MAX, 3)], true);
        check_sheet(&[extent(10, 257)], true);
        check_sheet(&[extent(10, 3), cell(256)], true);
        let chart = [record(BEGIN, &[0; 16]), extent(u32::MAX, 3), record(END, &[])].concat();
        check_sheet(&[extent(10, 3), chart.clone(), cell(2)], false);
        check_sheet(&[chart, cell(256)], true);
    }

    #[test]
    fn what_is_no_workbook_is_left_to_the_library() {
        for bytes in [&b""[..], b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 cut off", b"PK\x03\x04"] {
            assert_eq!(check(bytes, "a"), Ok(()));
        }
    }
}
