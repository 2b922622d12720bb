//! The ZIP container of a Word document, read within limits.
//!
//! Only parts that the document's relationships name are read, each into memory and never to disk; what an entry is
//! called does not matter beyond that. External relationships are not followed.

use std::io::{Cursor, Read};

use encoding_rs::{UTF_16BE, UTF_16LE};
use zip::ZipArchive;

use super::xml::{Element, parse_part};
use crate::error::ParseError;
use crate::parser::Source;

const MAX_ENTRIES: usize = 20_000;
/// Uncompressed size of one part; the text of a 3,000-page document is about a tenth of it.
const MAX_PART_BYTES: u64 = 128 * 1024 * 1024;
/// A part that unpacks to more than this many times its size, and is large, is no document.
const MAX_RATIO: u64 = 400;
const LARGE_PART_BYTES: u64 = 16 * 1024 * 1024;

const OLE_SIGNATURE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

pub(super) struct Package<'a> {
    name: &'a str,
    archive: ZipArchive<Cursor<&'a [u8]>>,
    document: String,
    /// Type (last path segment) and target of the document part's relationships.
    relations: Vec<(String, String)>,
}

/// Whether this is the container that Office puts around an encrypted document.
pub(super) fn is_encrypted(head: &[u8]) -> bool {
    let mark: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    head.starts_with(OLE_SIGNATURE) && head.windows(mark.len()).any(|window| window == mark)
}

impl<'a> Package<'a> {
    pub(super) fn open(source: &Source<'a>) -> Result<Self, ParseError> {
        let name = source.name;
        if is_encrypted(source.bytes) {
            return Err(encrypted(source));
        }
        if source.bytes.starts_with(OLE_SIGNATURE) {
            let detail = "old Office (before 2007)".to_owned();
            return Err(ParseError::Unsupported { name: name.to_owned(), detail });
        }
        let archive =
            ZipArchive::new(Cursor::new(source.bytes)).map_err(|err| ParseError::damaged(name, err))?;
        if archive.len() > MAX_ENTRIES {
            return Err(limit(name, "entries"));
        }
        let mut package = Self { name, archive, document: String::new(), relations: Vec::new() };
        package.document = package.find_document()?;
        package.relations = package.relations_of(&package.document.clone())?;
        Ok(package)
    }

    /// The main part's XML.
    pub(super) fn document_text(&mut self) -> Result<String, ParseError> {
        let document = self.document.clone();
        self.part(&document)?.ok_or_else(|| ParseError::damaged(self.name, "the main part is missing"))
    }

    /// The part that the document relates to as `kind` ("styles", "footnotes" …).
    pub(super) fn related(&mut self, kind: &str) -> Result<Option<String>, ParseError> {
        let Some((_, target)) = self.relations.iter().find(|(found, _)| found == kind) else {
            return Ok(None);
        };
        let target = target.clone();
        self.part(&target)
    }

    fn find_document(&mut self) -> Result<String, ParseError> {
        let relations = self.relations_of("")?;
        let stated =
            relations.into_iter().find(|(kind, _)| kind == "officeDocument").map(|(_, target)| target);
        [stated, Some("word/document.xml".to_owned())]
            .into_iter()
            .flatten()
            .find(|path| self.archive.index_for_name(path).is_some())
            .ok_or_else(|| ParseError::damaged(self.name, "it holds no Word document"))
    }

    fn relations_of(&mut self, part: &str) -> Result<Vec<(String, String)>, ParseError> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let path = format!("{folder}/_rels/{file}.rels");
        let Some(xml) = self.part(path.trim_start_matches('/'))? else { return Ok(Vec::new()) };
        let (root, _) = parse_part(&xml);
        let relation = |element: &Element| {
            let kind = element.attr("Type")?.rsplit('/').next()?.to_owned();
            let is_internal = element.attr("TargetMode").is_none_or(|mode| mode != "External");
            is_internal
                .then(|| element.attr("Target").map(|target| (kind, resolve(folder, target))))
                .flatten()
        };
        Ok(root.map(|root| root.elements().filter_map(relation).collect()).unwrap_or_default())
    }

    fn part(&mut self, path: &str) -> Result<Option<String>, ParseError> {
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
        Ok(Some(xml_text(bytes)))
    }
}

fn encrypted(source: &Source<'_>) -> ParseError {
    let name = source.name.to_owned();
    match source.password {
        None => ParseError::PasswordRequired { name },
        Some(_) => ParseError::Unsupported { name, detail: "password-protected Word".to_owned() },
    }
}

fn limit(name: &str, what: &str) -> ParseError {
    ParseError::LimitExceeded { name: name.to_owned(), what: what.to_owned() }
}

/// A relationship's target as a path within the package.
fn resolve(folder: &str, target: &str) -> String {
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

fn xml_text(bytes: Vec<u8>) -> String {
    match bytes.as_slice() {
        [0xff, 0xfe, ..] => UTF_16LE.decode(&bytes).0.into_owned(),
        [0xfe, 0xff, ..] => UTF_16BE.decode(&bytes).0.into_owned(),
        _ => String::from_utf8(bytes)
            .unwrap_or_else(|err| String::from_utf8_lossy(err.as_bytes()).into_owned()),
    }
}
