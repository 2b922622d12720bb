//! OpenDocument: texts as sections, presentations as slides, spreadsheets as ranges of rows.
//!
//! [`text`] turns paragraphs, lists and tables into blocks; [`slides`] and [`sheets`] are built on it. Cells are taken as
//! they are shown, which the file holds. Deliberately absent: tracked deletions, tables of contents, embedded objects.

mod sheets;
mod slides;
mod styles;
mod text;

use zhiku_core::{DocumentKind, Locator};

use super::blocks::{into_units, read_section};
use super::container::{Container, mentions};
use super::whole::{Whole, no_such_place, warning};
use super::xml::{Element, parse_part};
use crate::detect::extension;
use crate::error::ParseError;
use crate::parser::{DocumentParser, ParsedSummary, Source, UnitSink};
use styles::Styles;

pub(super) struct Odt;
pub(super) struct Ods;
pub(super) struct Odp;

impl DocumentParser for Odt {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Odt
    }

    fn sniff(&self, head: &[u8], name: &str) -> bool {
        is_open_document(head, name, "text", &["odt", "ott"])
    }

    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        read_text(source)?.send(DocumentKind::Odt, sink)
    }

    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
        read_section(&read_text(source)?.units, locator).ok_or_else(|| no_such_place(source, locator))
    }
}

impl DocumentParser for Ods {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Ods
    }

    fn sniff(&self, head: &[u8], name: &str) -> bool {
        is_open_document(head, name, "spreadsheet", &["ods", "ots"])
    }

    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        read_with(source, "spreadsheet", sheets::read)?.send(DocumentKind::Ods, sink)
    }

    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
        same_place(source, read_with(source, "spreadsheet", sheets::read)?, locator)
    }
}

impl DocumentParser for Odp {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Odp
    }

    fn sniff(&self, head: &[u8], name: &str) -> bool {
        is_open_document(head, name, "presentation", &["odp", "otp"])
    }

    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        read_with(source, "presentation", slides::read)?.send(DocumentKind::Odp, sink)
    }

    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
        same_place(source, read_with(source, "presentation", slides::read)?, locator)
    }
}

fn is_open_document(head: &[u8], name: &str, kind: &str, extensions: &[&str]) -> bool {
    const TYPE: &str = "application/vnd.oasis.opendocument.";
    if !head.starts_with(b"PK\x03\x04") {
        return false;
    }
    if mentions(&head[..head.len().min(200)], TYPE.as_bytes()) {
        return mentions(&head[..head.len().min(200)], format!("{TYPE}{kind}").as_bytes());
    }
    // The type may stand further behind; then the name counts.
    mentions(head, b"content.xml")
        && extension(name).is_some_and(|found| extensions.contains(&found.as_str()))
}

/// The units whose locator is the one wanted: slides and ranges have one each.
fn same_place(source: &Source<'_>, whole: Whole, locator: &Locator) -> Result<String, ParseError> {
    let unit = whole.units.into_iter().find(|unit| unit.locator == *locator);
    unit.map(|unit| unit.text).ok_or_else(|| no_such_place(source, locator))
}

fn read_text(source: &Source<'_>) -> Result<Whole, ParseError> {
    read_with(source, "text", |body, styles| {
        let mut reader = text::Reader::new(styles);
        let blocks = reader.document(body);
        Whole { units: into_units(blocks, None), warnings: Vec::new() }
    })
}

/// Opens the document and hands over what it holds.
fn read_with(
    source: &Source<'_>,
    kind: &str,
    read: impl Fn(&Element, &Styles) -> Whole,
) -> Result<Whole, ParseError> {
    let mut container = Container::open(source)?;
    if is_encrypted(&mut container)? {
        let name = source.name.to_owned();
        // No password would help: better said at once than after asking for one.
        return Err(ParseError::Unsupported { name, detail: "password-protected OpenDocument".to_owned() });
    }
    let missing = || ParseError::damaged(source.name, "its content is missing");
    let content = container.text("content.xml")?.ok_or_else(missing)?;
    let (root, faults) = parse_part(&content);
    let root = root.ok_or_else(missing)?;
    let mut styles = Styles::default();
    styles.read(&root);
    if let Some(named) = container.text("styles.xml")?.and_then(|xml| parse_part(&xml).0) {
        styles.read(&named);
    }
    let body = root.at(&["body", kind]).ok_or_else(missing)?;
    let mut whole = read(body, &styles);
    if faults.is_damaged {
        if whole.units.is_empty() {
            return Err(ParseError::damaged(source.name, "its text cannot be read"));
        }
        whole.warnings.push(warning("part_damaged", "the document's text breaks off: the file is damaged"));
    }
    if faults.n_too_deep > 0 {
        let message = format!("{} parts are nested too deeply", faults.n_too_deep);
        whole.warnings.push(warning("nesting_cut", message));
    }
    Ok(whole)
}

fn is_encrypted(container: &mut Container<'_>) -> Result<bool, ParseError> {
    let manifest = container.text("META-INF/manifest.xml")?;
    Ok(manifest.is_some_and(|manifest| manifest.contains("encryption-data")))
}
