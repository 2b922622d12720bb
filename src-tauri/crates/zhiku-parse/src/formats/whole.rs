//! Formats that are read as a whole before their first unit comes out: everything but PDF.

use encoding_rs::Encoding;
use zhiku_core::{DocumentKind, Locator, ParseWarning, ParsedUnit};

use crate::encoding::{Decoded, decode};
use crate::error::ParseError;
use crate::parser::{ParsedSummary, Source, UnitSink};

/// Larger text files are refused: their text alone would fill the worker's memory several times over.
const MAX_TEXT_BYTES: usize = 64 * 1024 * 1024;

/// What a file held.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Whole {
    pub units: Vec<ParsedUnit>,
    pub warnings: Vec<ParseWarning>,
}

impl Whole {
    pub(crate) fn send(
        self,
        kind: DocumentKind,
        sink: &mut dyn UnitSink,
    ) -> Result<ParsedSummary, ParseError> {
        if self.units.is_empty() && self.warnings.is_empty() {
            sink.warning(warning("no_text", "the file holds no text"))?;
        }
        for unit in self.units {
            sink.unit(unit)?;
        }
        for warning in self.warnings {
            sink.warning(warning)?;
        }
        Ok(ParsedSummary { kind, page_count: None })
    }
}

/// A warning about the file as a whole.
pub(crate) fn warning(code: &str, message: impl Into<String>) -> ParseWarning {
    ParseWarning { locator: None, message: message.into(), code: code.to_owned() }
}

/// The text of a text-based file, with a warning when parts of it could not be decoded.
pub(crate) fn decode_source(
    source: &Source<'_>,
    declared: Option<&'static Encoding>,
) -> Result<(Decoded, Option<ParseWarning>), ParseError> {
    let name = source.name.to_owned();
    if source.bytes.is_empty() {
        return Err(ParseError::Empty { name });
    }
    if source.bytes.len() > MAX_TEXT_BYTES {
        let (bytes, limit) = (source.bytes.len() as u64, MAX_TEXT_BYTES as u64);
        return Err(ParseError::TooLarge { name, bytes, limit });
    }
    let Some(decoded) = decode(source.bytes, declared) else {
        return Err(ParseError::Unsupported { name, detail: "binary".to_owned() });
    };
    let lossy = (decoded.n_replaced > 0).then(|| {
        let message =
            format!("{} characters could not be read as {}", decoded.n_replaced, decoded.encoding.name());
        warning("characters_replaced", message)
    });
    Ok((decoded, lossy))
}

/// The characters `start..end` of a text.
pub(crate) fn slice_chars(text: &str, start: u32, end: u32) -> Option<&str> {
    let n_chars = end.checked_sub(start).filter(|n| *n > 0)?;
    let (from, _) = text.char_indices().nth(start as usize)?;
    let tail = &text[from..];
    let mut ends = tail.char_indices().map(|(at, c)| at + c.len_utf8());
    ends.nth(n_chars as usize - 1).map(|to| &tail[..to])
}

pub(crate) fn no_such_place(source: &Source<'_>, locator: &Locator) -> ParseError {
    ParseError::NoSuchPlace { name: source.name.to_owned(), place: format!("{locator:?}") }
}
