//! The paragraphs of a shape: items where they have bullets, a heading where the shape is the title.

use super::shapes::placeholder;
use crate::formats::blocks::{Block, tidy_line, tidy_lines};
use crate::formats::docx::math_text;
use crate::formats::xml::Element;

/// What a shape says.
pub(super) fn of_shape(shape: &Element) -> Vec<Block> {
    let Some(body) = shape.child("txBody") else { return Vec::new() };
    match placeholder(shape) {
        Some("title" | "ctrTitle") => {
            let text = tidy_line(&paragraphs(body).map(paragraph_text).collect::<Vec<_>>().join(" "));
            if text.is_empty() { Vec::new() } else { vec![Block::Heading { level: 1, text }] }
        }
        role => body_blocks(body, matches!(role, Some("body" | "obj")) && n_paragraphs(body) > 1),
    }
}

/// What a table cell says, on one line.
pub(super) fn of_cell(cell: &Element) -> String {
    let texts = cell.child("txBody").map(|body| paragraphs(body).map(paragraph_text).collect::<Vec<_>>());
    tidy_line(&texts.unwrap_or_default().join(" "))
}

fn paragraphs(body: &Element) -> impl Iterator<Item = &Element> {
    body.elements().filter(|element| &*element.name == "p")
}

fn n_paragraphs(body: &Element) -> usize {
    paragraphs(body).filter(|paragraph| !paragraph_text(paragraph).trim().is_empty()).count()
}

/// `is_list`: the layout gives these paragraphs bullets unless they say otherwise.
fn body_blocks(body: &Element, is_list: bool) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut counters = [0_u32; 10];
    for paragraph in paragraphs(body) {
        let text = tidy_lines(&paragraph_text(paragraph));
        if text.is_empty() {
            continue;
        }
        let properties = paragraph.child("pPr");
        let level = properties.and_then(|p| p.attr("lvl")?.parse::<usize>().ok()).unwrap_or(0).min(9);
        let holds = |name: &str| properties.is_some_and(|properties| properties.child(name).is_some());
        if holds("buAutoNum") {
            let start = properties.and_then(|p| p.child("buAutoNum")?.attr("startAt")?.parse().ok());
            counters[level] = if counters[level] == 0 { start.unwrap_or(1) } else { counters[level] + 1 };
            let label = format!("{}.", counters[level]);
            counters[level + 1..].fill(0);
            blocks.push(Block::Item { depth: level, label, text });
        } else if (is_list || level > 0 || holds("buChar") || holds("buBlip")) && !holds("buNone") {
            counters[level + 1..].fill(0);
            blocks.push(Block::Item { depth: level, label: "-".to_owned(), text });
        } else {
            counters.fill(0);
            blocks.push(Block::Paragraph(text));
        }
    }
    blocks
}

pub(super) fn paragraph_text(paragraph: &Element) -> String {
    let mut text = String::new();
    append(paragraph, &mut text);
    text
}

fn append(parent: &Element, out: &mut String) {
    for element in parent.elements() {
        match &*element.name {
            "r" | "fld" => {
                if let Some(text) = element.child("t") {
                    out.push_str(&text.text());
                }
            }
            "br" => out.push('\n'),
            "tab" => out.push(' '),
            "oMath" | "oMathPara" => out.push_str(&math_text(element)),
            "AlternateContent" => {
                if let Some(choice) = element.elements().next() {
                    append(choice, out);
                }
            }
            "m" | "Choice" => append(element, out),
            _ => {}
        }
    }
}
