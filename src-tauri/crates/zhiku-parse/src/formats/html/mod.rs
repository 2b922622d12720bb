//! Web pages: the main content as sections by heading, with lists and tables.
//!
//! The page is parsed as a browser does (html5ever) and walked as a flat stream of openings and closings, so no depth of
//! nesting reaches the stack. [`content`] says what of a page is content; [`convert`] turns it into blocks. Deliberately
//! absent: scripts, styles and anything fetched.

mod content;
mod convert;

use encoding_rs::Encoding;
use scraper::Html as Page;
use zhiku_core::{DocumentKind, Locator};

use super::blocks::{Block, into_units, read_section};
use super::whole::{Whole, decode_source, no_such_place};
use crate::detect::extension;
use crate::encoding::looks_like_text;
use crate::error::ParseError;
use crate::parser::{DocumentParser, ParsedSummary, Source, UnitSink};

pub(super) struct Html;

impl DocumentParser for Html {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Html
    }

    fn sniff(&self, head: &[u8], name: &str) -> bool {
        let start = beginning(head);
        let is_named = matches!(extension(name).as_deref(), Some("html" | "htm" | "xhtml" | "xht" | "shtml"));
        let says_so = ["<!doctype html", "<html", "<head", "<body"].iter().any(|mark| start.contains(mark));
        (says_so && start.starts_with('<') || is_named) && looks_like_text(head)
    }

    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        read(source)?.send(DocumentKind::Html, sink)
    }

    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
        read_section(&read(source)?.units, locator).ok_or_else(|| no_such_place(source, locator))
    }
}

/// The blocks of HTML that stands within another format.
pub(super) fn fragment_blocks(html: &str) -> Vec<Block> {
    let fragment = Page::parse_fragment(html);
    convert::blocks(fragment.tree.root(), convert::Keep::Everything)
}

/// The blocks of a page that another format holds.
pub(super) fn page_blocks(page: &Page) -> Vec<Block> {
    content::main_blocks(page)
}

fn read(source: &Source<'_>) -> Result<Whole, ParseError> {
    let (decoded, lossy) = decode_source(source, declared_encoding(source.bytes))?;
    let page = Page::parse_document(&decoded.text);
    let blocks = content::main_blocks(&page);
    let units = into_units(blocks, content::title(&page).as_deref());
    Ok(Whole { units, warnings: lossy.into_iter().collect() })
}

/// What `<meta charset>`, `<meta http-equiv>` or the XML declaration says.
fn declared_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).to_lowercase();
    let mut rest = start.as_str();
    while let Some(at) = rest.find("charset").or_else(|| rest.find("encoding")) {
        let value = rest[at..].trim_start_matches(|c: char| c.is_ascii_lowercase()).trim_start();
        if let Some(value) = value.strip_prefix('=') {
            let value = value.trim_start_matches(['"', '\'', ' ']);
            let end = value
                .find(|c: char| !(c.is_ascii_alphanumeric() || "-_:".contains(c)))
                .unwrap_or(value.len());
            // A page that can be read as far as its `<meta>` is not UTF-16.
            return Encoding::for_label(&value.as_bytes()[..end]).map(Encoding::output_encoding);
        }
        rest = &rest[at + "charset".len()..];
    }
    None
}

/// The first characters without byte order mark, white space and comments, in lower case.
fn beginning(head: &[u8]) -> String {
    let text = match Encoding::for_bom(head) {
        Some((encoding, _)) => encoding.decode(&head[..head.len().min(8192)]).0.into_owned(),
        None => String::from_utf8_lossy(&head[..head.len().min(8192)]).into_owned(),
    };
    let mut text = text.trim_start_matches('\u{feff}').trim_start();
    while let Some(comment) = text.strip_prefix("<!--") {
        let Some(end) = comment.find("-->") else { break };
        text = comment[end + 3..].trim_start();
    }
    text.chars().take(2_000).collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests;
