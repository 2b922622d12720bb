//! The old container of Office (OLE, compound file), as far as it must be told apart: encrypted new documents and old ones.

use crate::error::ParseError;
use crate::parser::Source;

const SIGNATURE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

pub(super) fn is_ole(head: &[u8]) -> bool {
    head.starts_with(SIGNATURE)
}

/// Whether this is the container that Office puts around an encrypted document.
pub(super) fn is_encrypted(head: &[u8]) -> bool {
    is_ole(head) && names_stream(head, "EncryptedPackage")
}

/// Whether a stream of this name is in the container, as far as `head` goes. Names are UTF-16.
pub(super) fn names_stream(head: &[u8], stream: &str) -> bool {
    let mark: Vec<u8> = stream.encode_utf16().flat_map(u16::to_le_bytes).collect();
    head.windows(mark.len()).any(|window| window == mark)
}

/// Whether the container's list of streams begins within `head`.
pub(super) fn shows_streams(head: &[u8]) -> bool {
    names_stream(head, "Root Entry")
}

/// Why a file that should be a ZIP package cannot be read, when it is an OLE container instead.
pub(super) fn refusal(source: &Source<'_>, what: &str) -> Option<ParseError> {
    let name = source.name.to_owned();
    if is_encrypted(source.bytes) {
        return Some(match source.password {
            None => ParseError::PasswordRequired { name },
            // What can be opened was opened before its parser got it.
            Some(_) => ParseError::damaged(&name, format!("the {what} in it cannot be found")),
        });
    }
    let detail = "old Office (before 2007)".to_owned();
    is_ole(source.bytes).then_some(ParseError::Unsupported { name, detail })
}
