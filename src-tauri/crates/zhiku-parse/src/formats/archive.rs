//! ZIP archives: the members as files of their own, and one unit that lists them.
//!
//! Members are unpacked one by one, within limits on their number, size and ratio; how deep archives in archives are followed
//! is up to the importer. What operating systems leave in archives is passed over.

use std::io::{Cursor, Read};

use zhiku_core::{DocumentKind, Locator, ParsedUnit};
use zip::ZipArchive;
use zip::result::ZipError;

use super::blocks::{Block, into_units, read_section};
use super::container::limit;
use super::names::{decode_name, safe_name};
use super::whole::{no_such_place, warning};
use crate::error::ParseError;
use crate::parser::{ChildFile, DocumentParser, ParsedSummary, Source, UnitSink};
use crate::worker::protocol::MAX_PAYLOAD_BYTES;

const MAX_MEMBERS: usize = 10_000;
/// All members together, unpacked.
const MAX_TOTAL_BYTES: u64 = 1024 * 1024 * 1024;
/// A large member that unpacks to more than this many times its size is a trap.
const MAX_RATIO: u64 = 200;
const LARGE_BYTES: u64 = 8 * 1024 * 1024;

pub(super) struct Archive;

impl DocumentParser for Archive {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Archive
    }

    fn sniff(&self, head: &[u8], _name: &str) -> bool {
        head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
    }

    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        let mut archive = open(source)?;
        let members = members(&mut archive);
        let listed = listing(&members);
        let n_locked = members.iter().filter(|member| member.is_locked).count();
        if n_locked > 0 && n_locked == members.len() && source.password.is_none() {
            return Err(ParseError::PasswordRequired { name: source.name.to_owned() });
        }
        for unit in listed {
            sink.unit(unit)?;
        }
        let mut n_total = 0;
        for member in &members {
            match unpack(&mut archive, member, source, MAX_TOTAL_BYTES - n_total) {
                Ok(bytes) => {
                    n_total += bytes.len() as u64;
                    if !bytes.is_empty() {
                        sink.child(ChildFile { name: member.name.clone(), bytes, embedded: false })?;
                    }
                }
                Err(Refusal::Member(code, message)) => sink.warning(warning(code, message))?,
                Err(Refusal::Archive(err)) => return Err(err),
            }
        }
        Ok(ParsedSummary { kind: DocumentKind::Archive, page_count: None })
    }

    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
        let units = listing(&members(&mut open(source)?));
        read_section(&units, locator).ok_or_else(|| no_such_place(source, locator))
    }
}

type Zip<'a> = ZipArchive<Cursor<&'a [u8]>>;

struct Member {
    index: usize,
    name: String,
    n_packed: u64,
    is_locked: bool,
}

enum Refusal {
    /// Warning code and message: the other members are read.
    Member(&'static str, String),
    Archive(ParseError),
}

fn open<'a>(source: &Source<'a>) -> Result<Zip<'a>, ParseError> {
    let archive =
        ZipArchive::new(Cursor::new(source.bytes)).map_err(|err| ParseError::damaged(source.name, err))?;
    match archive.len() {
        0 => Err(ParseError::Empty { name: source.name.to_owned() }),
        n if n > MAX_MEMBERS => Err(limit(source.name, "files within the file")),
        _ => Ok(archive),
    }
}

fn members(archive: &mut Zip<'_>) -> Vec<Member> {
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let Ok(entry) = archive.by_index_raw(index) else { continue };
        let name = safe_name(&decode_name(entry.name_raw()));
        let file = name.rsplit('/').next().unwrap_or(&name);
        let is_litter = name.starts_with("__MACOSX/")
            || matches!(file, "DS_Store" | ".DS_Store" | "Thumbs.db" | "desktop.ini");
        if entry.is_dir() || entry.is_symlink() || is_litter {
            continue;
        }
        let is_locked = entry.encrypted();
        members.push(Member { index, n_packed: entry.compressed_size(), is_locked, name });
    }
    members
}

/// So that an archive is found by what is in it.
fn listing(members: &[Member]) -> Vec<ParsedUnit> {
    let item = |member: &Member| Block::Item { depth: 0, label: "-".to_owned(), text: member.name.clone() };
    into_units(members.iter().map(item).collect(), None)
}

fn unpack(
    archive: &mut Zip<'_>,
    member: &Member,
    source: &Source<'_>,
    n_left: u64,
) -> Result<Vec<u8>, Refusal> {
    let name = &member.name;
    let entry = match source.password.filter(|_| member.is_locked) {
        Some(password) => archive.by_index_decrypt(member.index, password.as_bytes()),
        None => archive.by_index(member.index),
    };
    let entry = entry.map_err(|err| match err {
        ZipError::InvalidPassword => {
            Refusal::Archive(ParseError::WrongPassword { name: source.name.to_owned() })
        }
        err => Refusal::Member("member_unreadable", format!("could not unpack {name}: {err}")),
    })?;
    let most = MAX_PAYLOAD_BYTES.min(n_left).min(member.n_packed.saturating_mul(MAX_RATIO).max(LARGE_BYTES));
    let mut bytes = Vec::new();
    // The stated size may lie: what counts is what comes out.
    entry
        .take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(|err| Refusal::Member("member_unreadable", format!("could not unpack {name}: {err}")))?;
    if bytes.len() as u64 <= most {
        return Ok(bytes);
    }
    if most == n_left {
        return Err(Refusal::Archive(limit(source.name, "unpacked size")));
    }
    Err(Refusal::Member(
        "member_too_large",
        format!("{name} unpacks to more than is taken out of an archive"),
    ))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;
    use crate::parser::ParsedDocument;

    fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in members {
            zip.start_file(*name, SimpleFileOptions::default()).expect("a member");
            zip.write_all(bytes).expect("its bytes");
        }
        zip.finish().expect("an archive").into_inner()
    }

    fn parse(bytes: &[u8]) -> ParsedDocument {
        let mut document = ParsedDocument::default();
        Archive.parse(&Source::new(bytes, "a.zip"), &mut document).expect("parses");
        document
    }

    #[test]
    fn members_come_out_under_harmless_names_and_litter_does_not() {
        let document = parse(&zip(&[
            ("a/合同😀.txt", b"one"),
            ("../up.txt", b"two"),
            ("__MACOSX/a/._x", b"litter"),
            ("inner.zip", &zip(&[("deep.txt", b"three")])),
        ]));
        let names: Vec<_> = document.children.iter().map(|child| child.name.as_str()).collect();
        assert_eq!(names, ["a/合同😀.txt", "up.txt", "inner.zip"]);
        assert_eq!(document.units[0].text, "- a/合同😀.txt\n- up.txt\n- inner.zip");
    }

    #[test]
    fn a_member_that_grows_beyond_measure_is_left_out_and_the_others_stay() {
        let document = parse(&zip(&[("bomb", &vec![0; 40_000_000]), ("fine.txt", b"text")]));
        assert_eq!(document.children.len(), 1);
        assert_eq!(document.warnings[0].code, "member_too_large");
    }
}
