//! What parent and child say to each other: JSON behind a length of four bytes, little endian.
//!
//! The child reads hostile files, so the parent takes what it says as hostile too: sizes are bounded before anything is
//! allocated, and units are checked ([`is_sound`]).

use std::io::{self, Read, Write};
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use zhiku_core::{DocumentKind, Locator, ParseWarning, ParsedUnit};

use crate::error::ParseError;
use crate::parser::ParsedSummary;

/// The largest frame: one unit with its layout.
pub(super) const MAX_FRAME_BYTES: u32 = 64 * 1024 * 1024;

/// Sent once, before the bytes of the file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) name: String,
    pub(super) password: Option<String>,
    pub(super) n_bytes: u64,
    pub(super) task: Task,
    pub(super) pdfium: Option<PathBuf>,
    pub(super) memory_bytes: u64,
    pub(super) cpu_seconds: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Task {
    Parse { start_unit: u32 },
    ReadAt { locator: Locator },
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Frame {
    Detected {
        kind: DocumentKind,
    },
    PageCount(u32),
    UnitStarted(u32),
    Unit(Box<ParsedUnit>),
    Warning(ParseWarning),
    /// The answer to [`Task::ReadAt`].
    Text(String),
    Done(ParsedSummary),
    Failed(ParseError),
}

pub(super) fn write_frame<T: Serialize>(out: &mut dyn Write, frame: &T) -> io::Result<()> {
    let body = serde_json::to_vec(frame).map_err(io::Error::other)?;
    let length = u32::try_from(body.len()).ok().filter(|n| *n <= MAX_FRAME_BYTES);
    let length = length.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "frame too large"))?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(&body)?;
    out.flush()
}

/// `None` at the orderly end of the stream.
pub(super) fn read_frame<T: DeserializeOwned>(from: &mut dyn Read) -> io::Result<Option<T>> {
    let mut length = [0u8; 4];
    let mut filled = 0;
    while filled < length.len() {
        match from.read(&mut length[filled..])? {
            0 if filled == 0 => return Ok(None),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => filled += n,
        }
    }
    let length = u32::from_le_bytes(length);
    if length > MAX_FRAME_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "frame too large"));
    }
    let mut body = vec![0u8; length as usize];
    from.read_exact(&mut body)?;
    serde_json::from_slice(&body).map(Some).map_err(|err| io::Error::new(io::ErrorKind::InvalidData, err))
}

/// Whether a unit keeps the promises of its type, so that nobody downstream trips over it.
pub(super) fn is_sound(unit: &ParsedUnit, reading: Option<u32>) -> bool {
    let n_chars = unit.text.chars().count();
    let fits = |start: u32, end: u32| start <= end && end as usize <= n_chars;
    let layout_fits = unit.layout.as_ref().is_none_or(|layout| {
        layout.lines.iter().all(|line| {
            let n = (line.char_end.saturating_sub(line.char_start)) as usize;
            fits(line.char_start, line.char_end) && (line.xs.is_empty() || line.xs.len() == n + 1)
        })
    });
    let place_fits = match &unit.locator {
        Locator::Page { page_index, page_label, .. } => {
            reading.is_none_or(|reading| reading == *page_index) && page_label.chars().count() <= 200
        }
        _ => true,
    };
    layout_fits && place_fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_that_claims_too_much_is_refused_before_it_is_read() {
        let mut bytes: &[u8] = &[0xff, 0xff, 0xff, 0xff, 1, 2, 3];
        assert_eq!(
            read_frame::<Frame>(&mut bytes).expect_err("too large").kind(),
            io::ErrorKind::InvalidData
        );
    }

    #[test]
    fn a_cut_stream_is_an_error_and_an_ended_one_is_not() {
        let mut out = Vec::new();
        write_frame(&mut out, &Frame::PageCount(3)).expect("writes");
        assert!(matches!(read_frame::<Frame>(&mut &out[..]), Ok(Some(Frame::PageCount(3)))));
        assert!(read_frame::<Frame>(&mut &out[..out.len() - 1]).is_err());
        assert!(matches!(read_frame::<Frame>(&mut &[][..]), Ok(None)));
    }
}
