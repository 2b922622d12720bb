//! Word and PowerPoint files of before 2007: recognised here, read by way of LibreOffice.
//!
//! A worker cannot start programs. Its refusal [`Library::LibreOffice`] is the cue for its parent to convert the file and to
//! have the new one parsed; what is encrypted or damaged is told before that.

use std::io::{Cursor, Read};

use zhiku_core::{DocumentKind, Locator};

use super::ole;
use crate::detect::extension;
use crate::error::{Library, ParseError};
use crate::parser::{DocumentParser, ParsedSummary, Source, UnitSink};

pub(super) struct Doc;
pub(super) struct Ppt;

impl DocumentParser for Doc {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Doc
    }

    fn sniff(&self, head: &[u8], name: &str) -> bool {
        is_kind(head, name, "WordDocument", &["doc", "dot", "wps"])
    }

    fn parse(&self, source: &Source<'_>, _sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        Err(refuse(source, "WordDocument"))
    }

    fn read_at(&self, source: &Source<'_>, _locator: &Locator) -> Result<String, ParseError> {
        Err(refuse(source, "WordDocument"))
    }
}

impl DocumentParser for Ppt {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Ppt
    }

    fn sniff(&self, head: &[u8], name: &str) -> bool {
        is_kind(head, name, "PowerPoint Document", &["ppt", "pps", "pot", "dps"])
    }

    fn parse(&self, source: &Source<'_>, _sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        Err(refuse(source, "PowerPoint Document"))
    }

    fn read_at(&self, source: &Source<'_>, _locator: &Locator) -> Result<String, ParseError> {
        Err(refuse(source, "PowerPoint Document"))
    }
}

fn is_kind(head: &[u8], name: &str, stream: &str, extensions: &[&str]) -> bool {
    let is_named = extension(name).is_some_and(|found| extensions.contains(&found.as_str()));
    ole::is_ole(head)
        && !ole::is_encrypted(head)
        && (ole::names_stream(head, stream) || is_named && !ole::shows_streams(head))
}

fn refuse(source: &Source<'_>, stream: &str) -> ParseError {
    let name = source.name.to_owned();
    let mut file = match cfb::CompoundFile::open(Cursor::new(source.bytes)) {
        Ok(file) => file,
        Err(err) => return ParseError::damaged(&name, err),
    };
    let mut start = [0_u8; 12];
    let read = file.open_stream(format!("/{stream}")).and_then(|mut stream| stream.read_exact(&mut start));
    if let Err(err) = read {
        return ParseError::damaged(&name, format!("its text is missing: {err}"));
    }
    // fEncrypted of the file information block; PowerPoint adds a stream.
    let is_locked = match stream {
        "WordDocument" => start[11] & 1 == 1,
        _ => file.is_stream("/EncryptedSummary"),
    };
    if is_locked {
        // No password would help: better said at once than after asking for one.
        return ParseError::Unsupported { name, detail: "password-protected old Office".to_owned() };
    }
    ParseError::LibraryMissing {
        library: Library::LibreOffice,
        detail: format!("{name} is of old Office (before 2007) and has to be converted"),
    }
}
