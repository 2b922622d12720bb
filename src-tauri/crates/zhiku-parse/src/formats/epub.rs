//! EPUB books: the chapters in the order of the spine, each read as a web page.
//!
//! Headings make the sections, under the book's title. Deliberately absent: books under DRM, fixed layouts, the table of
//! contents (it repeats the headings).

use scraper::Html as Page;
use zhiku_core::{DocumentKind, Locator};

use super::blocks::{Block, into_units, read_section, tidy_line};
use super::container::{Container, mentions, resolve};
use super::html;
use super::whole::{Whole, no_such_place, warning};
use super::xml::{Element, parse_part};
use crate::detect::extension;
use crate::error::ParseError;
use crate::parser::{DocumentParser, ParsedSummary, Source, UnitSink};

pub(super) struct Epub;

impl DocumentParser for Epub {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Epub
    }

    fn sniff(&self, head: &[u8], name: &str) -> bool {
        let is_named = extension(name).as_deref() == Some("epub");
        head.starts_with(b"PK\x03\x04")
            && (mentions(&head[..head.len().min(200)], b"application/epub+zip")
                || is_named && mentions(head, b"META-INF/"))
    }

    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        read(source)?.send(DocumentKind::Epub, sink)
    }

    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
        read_section(&read(source)?.units, locator).ok_or_else(|| no_such_place(source, locator))
    }
}

fn read(source: &Source<'_>) -> Result<Whole, ParseError> {
    let mut container = Container::open(source)?;
    let book = Book::open(&mut container, source)?;
    let mut whole = Whole::default();
    let mut blocks: Vec<Block> = Vec::new();
    for path in &book.chapters {
        match container.text(path) {
            Ok(Some(text)) => {
                let page = Page::parse_document(&text);
                blocks.append(&mut html::page_blocks(&page));
            }
            Ok(None) => {
                whole.warnings.push(warning("part_unreadable", format!("the chapter {path} is missing")));
            }
            Err(ParseError::Damaged { detail, .. }) => {
                let message = format!("could not read the chapter {path}: {detail}");
                whole.warnings.push(warning("part_unreadable", message));
            }
            Err(err) => return Err(err),
        }
    }
    whole.units = into_units(blocks, book.title.as_deref());
    if whole.units.is_empty() && !whole.warnings.is_empty() {
        return Err(ParseError::damaged(source.name, "none of its chapters can be read"));
    }
    Ok(whole)
}

struct Book {
    title: Option<String>,
    /// Paths in reading order.
    chapters: Vec<String>,
}

impl Book {
    fn open(container: &mut Container<'_>, source: &Source<'_>) -> Result<Self, ParseError> {
        let damaged = |detail: &str| ParseError::damaged(source.name, detail);
        if let Some(encryption) = container.text("META-INF/encryption.xml")?
            && is_locked(&encryption)
        {
            let detail = "copy-protected EPUB".to_owned();
            return Err(ParseError::Unsupported { name: source.name.to_owned(), detail });
        }
        let root = container.text("META-INF/container.xml")?.and_then(|xml| parse_part(&xml).0);
        let path = root.as_ref().and_then(|root| root.find("rootfile")?.attr("full-path"));
        let path = path.ok_or_else(|| damaged("it does not say where its chapters are"))?.to_owned();
        let package = container.text(&path)?.and_then(|xml| parse_part(&xml).0);
        let package = package.ok_or_else(|| damaged("its list of chapters is missing"))?;
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let manifest: Vec<&Element> =
            package.child("manifest").into_iter().flat_map(Element::elements).collect();
        let chapter = |item: &Element| {
            let id = item.attr("idref")?;
            let entry = manifest.iter().find(|entry| entry.attr("id") == Some(id))?;
            let is_contents =
                entry.attr("properties").is_some_and(|list| list.split(' ').any(|p| p == "nav"));
            let is_page = entry.attr("media-type").is_none_or(|kind| kind.contains("html"));
            let path = percent_decoded(entry.attr("href")?)?;
            (is_page && !is_contents).then(|| resolve(folder, &path))
        };
        let spine = package.child("spine").into_iter().flat_map(Element::elements);
        let title = package.at(&["metadata", "title"]).map(|title| tidy_line(&title.text()));
        Ok(Self {
            title: title.filter(|title| !title.is_empty()),
            chapters: spine.filter_map(chapter).collect(),
        })
    }
}

/// Whether more than fonts is encrypted.
fn is_locked(encryption: &str) -> bool {
    let Some(root) = parse_part(encryption).0 else { return false };
    let mut methods = Vec::new();
    root.find_all("EncryptionMethod", &mut methods);
    methods.iter().any(|method| {
        method.attr("Algorithm").is_some_and(|name| {
            !name.contains("idpf.org/2008/embedding") && !name.contains("ns.adobe.com/pdf/enc")
        })
    })
}

/// A path as it is, from a path in a link.
fn percent_decoded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        if let Some(byte) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            out.push(byte);
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(out).ok()
}
