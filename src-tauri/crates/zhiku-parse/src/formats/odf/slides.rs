//! The pages of a presentation and their notes.

use zhiku_core::{Locator, ParseWarning, SlidePart, UnitKind};

use super::styles::Styles;
use super::text::Reader;
use crate::formats::blocks::{Block, flatten, tidy_line};
use crate::formats::reading_order::{self, Area};
use crate::formats::render::{one_text, text_unit};
use crate::formats::whole::{Whole, warning};
use crate::formats::xml::Element;

pub(super) fn read(body: &Element, styles: &Styles) -> Whole {
    let mut whole = Whole::default();
    let pages = body.elements().filter(|element| &*element.name == "page");
    for (index, page) in pages.enumerate() {
        let place = |part| Locator::Slide { index: index as u32, part };
        if styles.is_hidden(page.attr("style-name")) {
            let message = format!("slide {} is hidden in the show", index + 1);
            let locator = Some(place(SlidePart::Body));
            whole.warnings.push(ParseWarning { locator, ..warning("slide_hidden", message) });
        }
        let mut reader = Reader::new(styles);
        let blocks = page_blocks(page, &mut reader);
        let title = blocks.iter().find_map(|block| match block {
            Block::Heading { text, .. } => Some(tidy_line(text)),
            _ => None,
        });
        let text = one_text(&blocks);
        if !text.is_empty() {
            whole.units.push(text_unit(UnitKind::Slide, place(SlidePart::Body), text, Vec::new()));
        }
        let notes = page.child("notes").map(|notes| page_blocks(notes, &mut reader)).unwrap_or_default();
        let text = one_text(&notes);
        if !text.is_empty() {
            let path = title.into_iter().collect();
            whole.units.push(text_unit(UnitKind::Slide, place(SlidePart::Notes), text, path));
        }
    }
    whole
}

fn page_blocks(page: &Element, reader: &mut Reader<'_>) -> Vec<Block> {
    let mut shapes = Vec::new();
    collect(page, &mut shapes);
    let (titles, rest): (Vec<_>, Vec<_>) =
        shapes.into_iter().partition(|(shape, _)| shape.attr("class") == Some("title"));
    let mut blocks = Vec::new();
    for (title, _) in titles {
        let text = flatten(&reader.frame(title));
        if !text.is_empty() {
            blocks.push(Block::Heading { level: 1, text });
        }
    }
    for shape in reading_order::sort(rest) {
        if &*shape.name == "annotation" {
            reader.annotation(shape);
        } else {
            blocks.append(&mut reader.frame(shape));
        }
    }
    blocks.append(&mut reader.take_notes());
    blocks
}

/// Shapes with their places; groups opened, what the layout repeats on each page left out.
fn collect<'e>(parent: &'e Element, found: &mut Vec<(&'e Element, Option<Area>)>) {
    for shape in parent.elements() {
        let is_furniture =
            matches!(shape.attr("class"), Some("page-number" | "footer" | "header" | "date-time" | "page"));
        match &*shape.name {
            "g" | "a" => collect(shape, found),
            "notes" | "forms" | "page-thumbnail" => {}
            _ if is_furniture => {}
            _ => found.push((shape, place(shape))),
        }
    }
}

fn place(shape: &Element) -> Option<Area> {
    let length = |name: &str| shape.attr(name).and_then(millimetres);
    Some(Area {
        x: length("x")?,
        y: length("y")?,
        width: length("width").unwrap_or(0.0),
        height: length("height").unwrap_or(0.0),
    })
}

fn millimetres(length: &str) -> Option<f64> {
    let digits = length.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &length[digits.len()..] {
        "cm" => 10.0,
        "in" => 25.4,
        "pt" => 25.4 / 72.0,
        "pc" => 25.4 / 6.0,
        "px" => 25.4 / 96.0,
        _ => 1.0,
    };
    digits.parse::<f64>().ok().map(|number| number * scale)
}
