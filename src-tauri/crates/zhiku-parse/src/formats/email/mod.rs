//! Mails: the headers as the first lines, the text, the attachments as files of their own.
//!
//! [`eml`] reads internet mail, [`msg`] what Outlook saves. Plain text is preferred to HTML. Deliberately absent: signatures
//! and encryption (such a mail shows its envelope).

mod eml;
mod msg;

use zhiku_core::{DocumentKind, Locator, ParseWarning};

use super::blocks::{Block, into_units, read_section, tidy_line, tidy_lines};
use super::ole;
use super::whole::{Whole, no_such_place};
use crate::detect::extension;
use crate::encoding::looks_like_text;
use crate::error::ParseError;
use crate::parser::{ChildFile, DocumentParser, ParsedSummary, Source, UnitSink};

pub(super) struct Email;

/// What both kinds of file hold.
#[derive(Default)]
struct Mail {
    subject: String,
    /// Name and value, in the order in which they are shown.
    headers: Vec<(&'static str, String)>,
    body: Vec<Block>,
    attachments: Vec<ChildFile>,
    warnings: Vec<ParseWarning>,
}

impl DocumentParser for Email {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Email
    }

    fn sniff(&self, head: &[u8], name: &str) -> bool {
        let extension = extension(name);
        if ole::is_ole(head) {
            return ole::names_stream(head, "__properties_version1.0")
                || extension.as_deref() == Some("msg") && !ole::shows_streams(head);
        }
        (extension.as_deref() == Some("eml") || starts_with_envelope(head)) && looks_like_text(head)
    }

    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        let mut mail = read(source)?;
        let attachments = std::mem::take(&mut mail.attachments);
        for attachment in attachments {
            sink.child(attachment)?;
        }
        mail.into_whole().send(DocumentKind::Email, sink)
    }

    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
        let whole = read(source)?.into_whole();
        read_section(&whole.units, locator).ok_or_else(|| no_such_place(source, locator))
    }
}

fn read(source: &Source<'_>) -> Result<Mail, ParseError> {
    if ole::is_ole(source.bytes) { msg::read(source) } else { eml::read(source) }
}

/// Whether a text begins as mail servers begin it.
fn starts_with_envelope(head: &[u8]) -> bool {
    const MARKS: [&[u8]; 5] =
        [b"Return-Path: ", b"Received: ", b"Delivered-To: ", b"Message-ID: ", b"MIME-Version: "];
    let holds = |mark: &[u8]| head[..head.len().min(16_384)].windows(mark.len()).any(|window| window == mark);
    MARKS.iter().any(|mark| head.starts_with(mark)) && holds(b"\nFrom: ") && holds(b"\nDate: ")
}

impl Mail {
    fn into_whole(self) -> Whole {
        let lines: Vec<String> = self
            .headers
            .iter()
            .map(|(name, value)| (name, tidy_line(value)))
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        let mut blocks = vec![Block::Paragraph(lines.join("\n"))];
        blocks.extend(self.body);
        Whole { units: into_units(blocks, Some(&self.subject)), warnings: self.warnings }
    }
}

/// Plain text as paragraphs.
fn paragraphs(text: &str) -> Vec<Block> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut blocks = Vec::new();
    let mut paragraph = String::new();
    for line in text.split('\n').chain(std::iter::once("")) {
        if line.trim().is_empty() {
            let lines = tidy_lines(&std::mem::take(&mut paragraph));
            blocks.extend((!lines.is_empty()).then_some(Block::Paragraph(lines)));
        } else {
            paragraph.push_str(line);
            paragraph.push('\n');
        }
    }
    blocks
}
