//! What parent and child say to each other: JSON behind a length of four bytes, little endian; behind the JSON of a frame
//! that announces them, bytes as they are.
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
use crate::picture::PictureFrame;

/// The largest frame: one unit with its layout.
pub(super) const MAX_FRAME_BYTES: u32 = 64 * 1024 * 1024;
/// The most bytes behind a frame: a file within the file, or a picture.
pub(crate) const MAX_PAYLOAD_BYTES: u64 = 192 * 1024 * 1024;

/// Sent once, before the bytes of the file. Not to be printed: it holds the password.
#[derive(Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) name: String,
    pub(super) password: Option<String>,
    pub(super) n_bytes: u64,
    pub(super) task: Task,
    pub(super) pdfium: Option<PathBuf>,
    pub(super) memory_bytes: u64,
    pub(super) cpu_seconds: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Task {
    Parse {
        start_unit: u32,
    },
    ReadAt {
        locator: Locator,
    },
    /// Answered in order, each with a picture or why there is none.
    Pictures {
        places: Vec<Locator>,
    },
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
    /// A file within the file; its bytes follow.
    Child {
        name: String,
        embedded: bool,
        n_bytes: u64,
        #[serde(skip)]
        bytes: Vec<u8>,
    },
    /// A picture of [`Task::Pictures`]; the pixels follow.
    Picture {
        frame: PictureFrame,
        n_bytes: u64,
        #[serde(skip)]
        bytes: Vec<u8>,
    },
    NoPicture(ParseError),
    Done(ParsedSummary),
    Failed(ParseError),
}

impl Frame {
    /// The bytes that follow the frame: how many are announced, and where they are kept.
    fn payload(&mut self) -> Option<(u64, &mut Vec<u8>)> {
        match self {
            Self::Child { n_bytes, bytes, .. } | Self::Picture { n_bytes, bytes, .. } => {
                Some((*n_bytes, bytes))
            }
            _ => None,
        }
    }
}

/// Writes a frame and the bytes that follow it.
pub(super) fn write_reply(out: &mut dyn Write, frame: &Frame) -> io::Result<()> {
    write_frame(out, frame)?;
    if let Frame::Child { bytes, .. } | Frame::Picture { bytes, .. } = frame {
        out.write_all(bytes)?;
        out.flush()?;
    }
    Ok(())
}

/// Reads a frame and the bytes that follow it.
pub(super) fn read_reply(from: &mut dyn Read) -> io::Result<Option<Frame>> {
    let Some(mut frame) = read_frame::<Frame>(from)? else { return Ok(None) };
    if let Some((n_bytes, bytes)) = frame.payload() {
        if n_bytes > MAX_PAYLOAD_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "more bytes than allowed"));
        }
        from.take(n_bytes).read_to_end(bytes)?;
        if bytes.len() as u64 != n_bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(Some(frame))
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

    #[test]
    fn bytes_follow_the_frame_that_announces_them_and_no_more_than_announced() {
        let child = |n_bytes: u64| Frame::Child {
            name: "a.png".to_owned(),
            embedded: true,
            n_bytes,
            bytes: vec![0, 255, 7],
        };
        let mut out = Vec::new();
        write_reply(&mut out, &child(3)).expect("writes");
        write_reply(&mut out, &Frame::PageCount(1)).expect("writes");
        let mut from = &out[..];
        let Ok(Some(Frame::Child { bytes, .. })) = read_reply(&mut from) else { panic!("no child") };
        assert_eq!(bytes, [0, 255, 7]);
        assert!(matches!(read_reply(&mut from), Ok(Some(Frame::PageCount(1)))));
        for n_bytes in [4, MAX_PAYLOAD_BYTES + 1] {
            let mut out = Vec::new();
            write_reply(&mut out, &child(n_bytes)).expect("writes");
            assert!(read_reply(&mut &out[..]).is_err());
        }
    }
}
