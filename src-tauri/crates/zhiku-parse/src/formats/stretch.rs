//! Units that are exact stretches of a text file: plain text and source code.

use zhiku_core::Locator;

use super::whole::{decode_source, no_such_place, slice_chars};
use crate::error::ParseError;
use crate::parser::Source;

/// The place and text of a stretch that begins `offset` characters into the file. Blank lines around belong to no unit;
/// indentation of the first line does. `None` for a blank one.
pub(super) fn stretch(text: &str, offset: usize) -> Option<(Locator, &str)> {
    let body = text.find(|c: char| !c.is_whitespace())?;
    let first_line = text[..body].rfind('\n').map_or(0, |at| at + 1);
    let char_start = offset + text[..first_line].chars().count();
    let body = text[first_line..].trim_end();
    let char_end = char_start + body.chars().count();
    Some((Locator::Chars { char_start: char_start as u32, char_end: char_end as u32 }, body))
}

pub(super) fn read_stretch(source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
    let no_such = || no_such_place(source, locator);
    let Locator::Chars { char_start, char_end } = locator else { return Err(no_such()) };
    let (decoded, _) = decode_source(source, None)?;
    slice_chars(&decoded.text, *char_start, *char_end).map(str::to_owned).ok_or_else(no_such)
}
