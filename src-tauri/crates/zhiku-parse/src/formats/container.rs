//! ZIP containers of documents (Office, OpenDocument, EPUB), read within limits.
//!
//! Only parts that the document itself names are read, each into memory and never to disk; what an entry is called does not
//! matter beyond that.

use std::io::{Cursor, Read};

use encoding_rs::{UTF_16BE, UTF_16LE};
use zip::ZipArchive;

use crate::error::ParseError;
use crate::parser::Source;

const MAX_ENTRIES: usize = 20_000;
/// Uncompressed size of one part that is read whole; the text of a 3,000-page document is about a tenth of it.
const MAX_PART_BYTES: u64 = 128 * 1024 * 1024;
/// Uncompressed size of one part that is read as a stream.
const MAX_STREAM_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// A part that unpacks to more than this many times its size, and is large, is no document.
const MAX_RATIO: u64 = 400;
const LARGE_PART_BYTES: u64 = 16 * 1024 * 1024;

pub(super) struct Container<'a> {
    pub(super) name: &'a str,
    archive: ZipArchive<Cursor<&'a [u8]>>,
}

impl<'a> Container<'a> {
    pub(super) fn open(source: &Source<'a>) -> Result<Self, ParseError> {
        let name = source.name;
        let archive =
            ZipArchive::new(Cursor::new(source.bytes)).map_err(|err| ParseError::damaged(name, err))?;
        if archive.len() > MAX_ENTRIES {
            return Err(limit(name, "entries"));
        }
        Ok(Self { name, archive })
    }

    pub(super) fn holds(&self, path: &str) -> bool {
        self.archive.index_for_name(path).is_some()
    }

    /// The bytes of a part; `None` when there is no such part.
    pub(super) fn bytes(&mut self, path: &str) -> Result<Option<Vec<u8>>, ParseError> {
        let name = self.name;
        let Some(index) = self.archive.index_for_name(path) else { return Ok(None) };
        let entry = self.archive.by_index(index).map_err(|err| ParseError::damaged(name, err))?;
        let n_packed = entry.compressed_size().max(1);
        let mut bytes = Vec::new();
        // The stated size may lie: what counts is what comes out.
        entry
            .take(MAX_PART_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|err| ParseError::damaged(name, err))?;
        let n_bytes = bytes.len() as u64;
        if n_bytes > MAX_PART_BYTES || (n_bytes > LARGE_PART_BYTES && n_bytes / n_packed > MAX_RATIO) {
            return Err(limit(name, "unpacked size"));
        }
        Ok(Some(bytes))
    }

    /// An XML part as text.
    pub(super) fn text(&mut self, path: &str) -> Result<Option<String>, ParseError> {
        Ok(self.bytes(path)?.map(xml_text))
    }

    /// A part that may be too large to be held in memory. It ends early, with an error, where it grows beyond all measure.
    pub(super) fn stream(&mut self, path: &str) -> Result<Option<impl Read + '_>, ParseError> {
        let name = self.name;
        let Some(index) = self.archive.index_for_name(path) else { return Ok(None) };
        let entry = self.archive.by_index(index).map_err(|err| ParseError::damaged(name, err))?;
        let most = entry.compressed_size().saturating_mul(MAX_RATIO * 4).max(LARGE_PART_BYTES);
        Ok(Some(entry.take(most.min(MAX_STREAM_BYTES))))
    }
}

pub(super) fn limit(name: &str, what: &str) -> ParseError {
    ParseError::LimitExceeded { name: name.to_owned(), what: what.to_owned() }
}

/// A reference from within `folder` as a path within the container.
pub(super) fn resolve(folder: &str, target: &str) -> String {
    let joined = if target.starts_with('/') { target.to_owned() } else { format!("{folder}/{target}") };
    let mut path: Vec<&str> = Vec::new();
    for segment in joined.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                path.pop();
            }
            segment => path.push(segment),
        }
    }
    path.join("/")
}

/// XML as text: UTF-8 unless a mark says otherwise.
pub(super) fn xml_text(bytes: Vec<u8>) -> String {
    match bytes.as_slice() {
        [0xff, 0xfe, ..] => UTF_16LE.decode(&bytes).0.into_owned(),
        [0xfe, 0xff, ..] => UTF_16BE.decode(&bytes).0.into_owned(),
        _ => String::from_utf8(bytes)
            .unwrap_or_else(|err| String::from_utf8_lossy(err.as_bytes()).into_owned()),
    }
}

/// Whether a ZIP file's first bytes name an entry that starts with `mark`.
pub(super) fn mentions(head: &[u8], mark: &[u8]) -> bool {
    head.windows(mark.len()).any(|window| window == mark)
}
