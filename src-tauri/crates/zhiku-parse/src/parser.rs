//! What a format implements: recognise, parse as a stream of units, read again at a locator.

use zhiku_core::{DocumentKind, Locator, ParseWarning, ParsedUnit};

use crate::error::ParseError;
use crate::picture::SourcePicture;

/// One file format. Implementations are stateless; everything about one file comes in with [`Source`].
pub trait DocumentParser: Send + Sync {
    fn kind(&self) -> DocumentKind;

    /// Whether a file is of this format. `head` holds the first bytes of the file ([`crate::detect::HEAD_BYTES`], or all
    /// of a shorter file). Content counts; the extension of `name` decides only where content cannot (Markdown, CSV).
    fn sniff(&self, head: &[u8], name: &str) -> bool;

    /// Brings out the units in reading order. What cannot be read is a warning where the rest of the file still can.
    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError>;

    /// Reads the source again at the locator of one of its units: gives exactly that unit's text.
    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError>;

    /// What stands at a place, as a picture, for recognition: a page of a PDF, a picture file.
    fn picture(&self, source: &Source<'_>, place: &Locator) -> Result<SourcePicture, ParseError> {
        Err(ParseError::NoSuchPlace { name: source.name.to_owned(), place: format!("{place:?}") })
    }
}

/// A file within a file: a member of an archive, an attachment of a mail, a picture in a document. It is imported as a
/// document of its own, if at all: the caller decides how deep.
#[derive(Clone, PartialEq, Eq)]
pub struct ChildFile {
    /// A relative path without `..`, fit to be shown: `invoices/may.pdf`, `image3.png (slide 4)`.
    pub name: String,
    pub bytes: Vec<u8>,
    /// Whether it is part of how the document looks, not a file that somebody attached.
    pub embedded: bool,
}

impl std::fmt::Debug for ChildFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChildFile")
            .field("name", &self.name)
            .field("n_bytes", &self.bytes.len())
            .field("embedded", &self.embedded)
            .finish()
    }
}

/// A file in memory. `name` is for messages and for formats that only an extension tells apart.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub bytes: &'a [u8],
    pub name: &'a str,
    pub password: Option<&'a str>,
    /// Units before this one (from 0) are skipped: a parse that lost a page goes on behind it. Formats that do not report
    /// [`UnitSink::unit_started`] may disregard it; their first units are then dropped by the caller.
    pub start_unit: u32,
}

impl<'a> Source<'a> {
    pub fn new(bytes: &'a [u8], name: &'a str) -> Self {
        Self { bytes, name, password: None, start_unit: 0 }
    }
}

impl std::fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source")
            .field("name", &self.name)
            .field("n_bytes", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

/// Takes what a parser brings out, as it comes. An error from the sink ends the parse with that error.
pub trait UnitSink {
    /// How many pages the file has; at most once, before the first unit.
    fn page_count(&mut self, n_pages: u32) -> Result<(), ParseError>;

    /// Unit `index` (from 0) is read next. If the process dies now, that unit is lost and the parse goes on behind it.
    fn unit_started(&mut self, index: u32) -> Result<(), ParseError> {
        let _ = index;
        Ok(())
    }

    fn unit(&mut self, unit: ParsedUnit) -> Result<(), ParseError>;

    fn warning(&mut self, warning: ParseWarning) -> Result<(), ParseError>;

    /// A file within the file. A caller that does not want them need not say so.
    fn child(&mut self, child: ChildFile) -> Result<(), ParseError> {
        let _ = child;
        Ok(())
    }
}

/// What is known at the end of a parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ParsedSummary {
    pub kind: DocumentKind,
    pub page_count: Option<u32>,
}

/// All of a file at once: for short files, tests and the command line. Importing streams instead.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedDocument {
    pub page_count: Option<u32>,
    pub units: Vec<ParsedUnit>,
    pub warnings: Vec<ParseWarning>,
    pub children: Vec<ChildFile>,
}

impl UnitSink for ParsedDocument {
    fn page_count(&mut self, n_pages: u32) -> Result<(), ParseError> {
        self.page_count = Some(n_pages);
        Ok(())
    }

    fn unit(&mut self, unit: ParsedUnit) -> Result<(), ParseError> {
        self.units.push(unit);
        Ok(())
    }

    fn warning(&mut self, warning: ParseWarning) -> Result<(), ParseError> {
        self.warnings.push(warning);
        Ok(())
    }

    fn child(&mut self, child: ChildFile) -> Result<(), ParseError> {
        self.children.push(child);
        Ok(())
    }
}
