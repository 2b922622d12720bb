//! Word documents (OOXML): sections by heading, with numbering, tables, notes, comments, text boxes and formulas.
//!
//! The package and its parts are opened by [`super::ooxml`]; [`body`] walks the document's blocks and
//! [`inline`] the runs of a paragraph. Tracked deletions and hidden text are left out, as are page headers and footers.
//! Pictures come out as files of their own. Deliberately absent: layout (Word's pages exist only once it is printed), macros,
//! embedded files.

mod body;
mod inline;
mod labels;
mod math;
mod numbering;
mod parts;
mod styles;

pub(super) use inline::says_something;
pub(super) use math::inline as math_text;

use zhiku_core::{DocumentKind, Locator};

use super::blocks::{into_units, read_section};
use super::container::mentions;
use super::ole;
use super::ooxml::package::{MainPart, Package};
use super::pictures::{PartPicture, send_parts};
use super::whole::{Whole, no_such_place, warning};
use crate::detect::extension;
use crate::error::ParseError;
use crate::parser::{DocumentParser, ParsedSummary, Source, UnitSink};

pub(super) struct Docx;

const MAIN: MainPart = MainPart { path: "word/document.xml", what: "Word document" };

impl DocumentParser for Docx {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Docx
    }

    fn sniff(&self, head: &[u8], name: &str) -> bool {
        let is_named = matches!(extension(name).as_deref(), Some("docx" | "docm" | "dotx" | "dotm"));
        if ole::is_encrypted(head) {
            return !matches!(extension(name).as_deref(), Some("pptx" | "pptm" | "ppsx" | "xlsx" | "xlsm"));
        }
        head.starts_with(b"PK\x03\x04")
            && (mentions(head, b"word/")
                || is_named
                    && mentions(head, b"[Content_Types].xml")
                    && !mentions(head, b"xl/")
                    && !mentions(head, b"ppt/"))
    }

    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        let (whole, pictures) = read(source)?;
        let summary = whole.send(DocumentKind::Docx, sink)?;
        send_parts(source, &pictures, sink)?;
        Ok(summary)
    }

    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
        read_section(&read(source)?.0.units, locator).ok_or_else(|| no_such_place(source, locator))
    }
}

/// What is written, and the pictures that stand in between.
fn read(source: &Source<'_>) -> Result<(Whole, Vec<PartPicture>), ParseError> {
    let mut package = Package::open(source, &MAIN)?;
    let parts = parts::Parts::read(&mut package)?;
    let mut reader = body::Reader::new(&parts);
    let blocks = reader.document(&package.main_text()?);
    let mut warnings = parts.warnings.clone();
    warnings.append(&mut reader.warnings);
    if reader.n_hidden_chars > 0 {
        let message = format!("{} characters of hidden text were left out", reader.n_hidden_chars);
        warnings.push(warning("hidden_text_left_out", message));
    }
    let units = into_units(blocks, None);
    if units.is_empty() && warnings.iter().any(|warning| warning.code == "part_damaged") {
        return Err(ParseError::damaged(source.name, "its text cannot be read"));
    }
    let pictures = reader.pictures.iter().filter_map(|id| package.picture(&package.relations, id));
    let pictures = pictures.map(|part| PartPicture { place: None, part }).collect();
    Ok((Whole { units, warnings }, pictures))
}

#[cfg(test)]
mod tests;
