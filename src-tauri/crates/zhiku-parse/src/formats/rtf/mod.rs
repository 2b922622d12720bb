//! Rich Text Format: sections by heading style, lists, tables, notes; any code page.
//!
//! [`tokens`] cuts the file into control words and bytes, [`codes`] knows code pages and signs, [`reader`] keeps the state
//! of groups and makes blocks. Pictures, fields' codes, headers and footers are left out.

mod codes;
mod reader;
mod tokens;

use zhiku_core::{DocumentKind, Locator};

use super::blocks::{into_units, read_section};
use super::whole::{Whole, no_such_place, warning};
use crate::error::ParseError;
use crate::parser::{DocumentParser, ParsedSummary, Source, UnitSink};

pub(super) struct Rtf;

impl DocumentParser for Rtf {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Rtf
    }

    fn sniff(&self, head: &[u8], _name: &str) -> bool {
        head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).starts_with(b"{\\rtf")
    }

    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        read(source)?.send(DocumentKind::Rtf, sink)
    }

    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
        read_section(&read(source)?.units, locator).ok_or_else(|| no_such_place(source, locator))
    }
}

fn read(source: &Source<'_>) -> Result<Whole, ParseError> {
    let (blocks, faults) = reader::read(source.bytes);
    let units = into_units(blocks, None);
    if units.is_empty() && faults.is_cut {
        return Err(ParseError::damaged(source.name, "its text breaks off before it begins"));
    }
    let mut warnings = Vec::new();
    if faults.is_cut {
        warnings.push(warning("part_damaged", "the document's text breaks off: the file is damaged"));
    }
    if faults.n_hidden_chars > 0 {
        let message = format!("{} characters of hidden text were left out", faults.n_hidden_chars);
        warnings.push(warning("hidden_text_left_out", message));
    }
    Ok(Whole { units, warnings })
}

#[cfg(test)]
mod tests;
