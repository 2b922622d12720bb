//! Blocks as one text, for units that are as long as they are: slides, notes, chapters of a mail.

use zhiku_core::{Locator, ParsedUnit, Process, Trust, UnitKind};

use super::blocks::{Block, PartKind, join, tidy_line};
use super::table::render_parts;

/// The text conventions of [`zhiku_core::ParsedUnit`]; notes stand at the end.
pub(super) fn one_text(blocks: &[Block]) -> String {
    let mut parts = Vec::new();
    let mut notes = Vec::new();
    for block in blocks {
        match block {
            Block::Heading { level, text } => {
                let marks = "#".repeat(usize::from((*level).clamp(1, 6)));
                parts.push((PartKind::Heading, format!("{marks} {}", tidy_line(text))));
            }
            Block::Paragraph(text) => parts.push((PartKind::Other, text.clone())),
            Block::Item { depth, label, text } => {
                let indent = "  ".repeat((*depth).min(8));
                for (n, line) in text.lines().enumerate() {
                    let lead =
                        if n == 0 && !label.is_empty() { format!("{label} ") } else { "  ".to_owned() };
                    parts.push((PartKind::Item, format!("{indent}{lead}{line}")));
                }
            }
            Block::Code(text) => parts.push((PartKind::Other, format!("```\n{}\n```", text.trim_end()))),
            Block::Table(rows) => {
                parts.extend(render_parts(rows, usize::MAX).into_iter().map(|part| (PartKind::Other, part)));
            }
            Block::Note(text) => notes.push((PartKind::Note, tidy_line(text))),
        }
    }
    parts.append(&mut notes);
    parts.retain(|(_, text)| !text.trim().is_empty());
    join(&parts)
}

/// A unit of text that was read, not recognised.
pub(super) fn text_unit(
    kind: UnitKind,
    locator: Locator,
    text: String,
    heading_path: Vec<String>,
) -> ParsedUnit {
    ParsedUnit {
        kind,
        locator,
        text,
        process: Process::Text,
        trust: Trust::Normal,
        heading_path,
        layout: None,
        confidence: None,
        timing: Vec::new(),
    }
}
