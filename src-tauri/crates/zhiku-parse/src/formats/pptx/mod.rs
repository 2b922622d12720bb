//! PowerPoint presentations (OOXML): a unit per slide and one for its notes.
//!
//! [`shapes`] puts what stands on a slide into reading order, [`graphics`] reads tables, charts and SmartArt, [`text`]
//! paragraphs, [`comments`] what reviewers wrote. What a slide takes over from its layout (page numbers, the firm's name) is
//! left out. Deliberately absent: animations, sound, drawings without words.

mod comments;
mod graphics;
mod shapes;
mod text;

use zhiku_core::{DocumentKind, Locator, ParseWarning, ParsedUnit, SlidePart, UnitKind};

use super::blocks::{Block, tidy_line};
use super::container::mentions;
use super::ole;
use super::ooxml::package::{MainPart, Package, Relation};
use super::pictures::{PartPicture, send_parts};
use super::render::{one_text, text_unit};
use super::whole::{Whole, no_such_place, warning};
use super::xml::{Element, parse_part};
use crate::detect::extension;
use crate::error::ParseError;
use crate::parser::{DocumentParser, ParsedSummary, Source, UnitSink};

pub(super) struct Pptx;

const MAIN: MainPart = MainPart { path: "ppt/presentation.xml", what: "PowerPoint presentation" };

impl DocumentParser for Pptx {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Pptx
    }

    fn sniff(&self, head: &[u8], name: &str) -> bool {
        let is_named =
            matches!(extension(name).as_deref(), Some("pptx" | "pptm" | "ppsx" | "ppsm" | "potx" | "potm"));
        if ole::is_encrypted(head) {
            return is_named;
        }
        head.starts_with(b"PK\x03\x04")
            && (mentions(head, b"ppt/") || is_named && mentions(head, b"[Content_Types].xml"))
    }

    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        let (whole, pictures) = read(source)?;
        let summary = whole.send(DocumentKind::Pptx, sink)?;
        send_parts(source, &pictures, sink)?;
        Ok(summary)
    }

    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
        let (whole, _) = read(source)?;
        let unit = whole.units.into_iter().find(|unit| unit.locator == *locator);
        unit.map(|unit| unit.text).ok_or_else(|| no_such_place(source, locator))
    }
}

/// What is written, and the pictures that are shown.
fn read(source: &Source<'_>) -> Result<(Whole, Vec<PartPicture>), ParseError> {
    let mut package = Package::open(source, &MAIN)?;
    let presentation = package.main_text()?;
    let (root, _) = parse_part(&presentation);
    let mut ids = Vec::new();
    if let Some(root) = &root {
        root.find_all("sldId", &mut ids);
    }
    let authors = comments::authors(&mut package)?;
    let (mut whole, mut pictures) = (Whole::default(), Vec::new());
    for (index, id) in ids.iter().enumerate() {
        let relation = id.foreign_attr("id");
        let slide = package.relations.iter().find(|found| Some(found.id.as_str()) == relation);
        let Some(path) = slide.map(|slide| slide.target.clone()) else { continue };
        let mut reader = SlideReader {
            package: &mut package,
            index: index as u32,
            authors: &authors,
            pictures: &mut pictures,
        };
        match reader.slide(&path) {
            Ok((mut units, mut warnings)) => {
                whole.units.append(&mut units);
                whole.warnings.append(&mut warnings);
            }
            Err(ParseError::Damaged { detail, .. }) => {
                let message = format!("could not read slide {}: {detail}", index + 1);
                whole.warnings.push(reader.warn("slide_failed", message));
            }
            Err(err) => return Err(err),
        }
    }
    if whole.units.is_empty() && whole.warnings.iter().any(|warning| warning.code == "slide_failed") {
        return Err(ParseError::damaged(source.name, "none of its slides can be read"));
    }
    if ids.is_empty() {
        whole.warnings.push(warning("no_text", "the presentation has no slides"));
    }
    Ok((whole, pictures))
}

struct SlideReader<'a, 'b> {
    package: &'a mut Package<'b>,
    index: u32,
    authors: &'a comments::Authors,
    pictures: &'a mut Vec<PartPicture>,
}

impl SlideReader<'_, '_> {
    fn place(&self, part: SlidePart) -> Locator {
        Locator::Slide { index: self.index, part }
    }

    fn warn(&self, code: &str, message: String) -> ParseWarning {
        let locator = Some(self.place(SlidePart::Body));
        ParseWarning { locator, ..warning(code, message) }
    }

    fn slide(&mut self, path: &str) -> Result<(Vec<ParsedUnit>, Vec<ParseWarning>), ParseError> {
        let (root, faults) = self.part(path)?;
        let mut warnings = Vec::new();
        let number = self.index + 1;
        if faults {
            warnings.push(self.warn("slide_damaged", format!("slide {number} breaks off")));
        }
        if root.attr("show").is_some_and(|show| matches!(show, "0" | "false")) {
            warnings.push(self.warn("slide_hidden", format!("slide {number} is hidden in the show")));
        }
        let relations = self.package.relations_of(path)?;
        if let Some(background) = root.at(&["cSld", "bg"]) {
            self.take_pictures(background, &relations);
        }
        let tree = root.at(&["cSld", "spTree"]);
        let shapes = tree.map(|tree| shapes::in_reading_order(tree)).unwrap_or_default();
        let mut blocks = Vec::new();
        for shape in shapes {
            self.shape(shape, &relations, &mut blocks)?;
        }
        blocks.append(&mut comments::of_slide(self.package, &relations, self.authors)?);
        let title = blocks.iter().find_map(|block| match block {
            Block::Heading { text, .. } => Some(tidy_line(text)),
            _ => None,
        });
        let mut units = Vec::new();
        let body = one_text(&blocks);
        if !body.is_empty() {
            units.push(text_unit(UnitKind::Slide, self.place(SlidePart::Body), body, Vec::new()));
        }
        let notes = self.notes(&relations)?;
        if !notes.is_empty() {
            let path = title.into_iter().collect();
            units.push(text_unit(UnitKind::Slide, self.place(SlidePart::Notes), notes, path));
        }
        Ok((units, warnings))
    }

    fn part(&mut self, path: &str) -> Result<(Element, bool), ParseError> {
        let name = self.package.container.name;
        let xml = self.package.container.text(path)?;
        let xml = xml.ok_or_else(|| ParseError::damaged(name, "the slide is missing"))?;
        let (root, faults) = parse_part(&xml);
        root.map(|root| (root, faults.is_damaged))
            .ok_or_else(|| ParseError::damaged(name, "the slide is empty"))
    }

    fn shape(
        &mut self,
        shape: &Element,
        relations: &[Relation],
        out: &mut Vec<Block>,
    ) -> Result<(), ParseError> {
        match &*shape.name {
            "sp" => {
                out.append(&mut text::of_shape(shape));
                self.take_pictures(shape, relations);
            }
            "pic" => {
                out.extend(shapes::description(shape).map(Block::Paragraph));
                self.take_pictures(shape, relations);
            }
            "graphicFrame" => out.append(&mut graphics::blocks(shape, relations, self.package)?),
            _ => {}
        }
        Ok(())
    }

    /// The pictures that a shape shows or is filled with.
    fn take_pictures(&mut self, shape: &Element, relations: &[Relation]) {
        let mut blips = Vec::new();
        shape.find_all("blip", &mut blips);
        for id in blips.into_iter().filter_map(|blip| blip.foreign_attr("embed")) {
            let place = Some(format!("slide {}", self.index + 1));
            self.pictures.extend(self.package.picture(relations, id).map(|part| PartPicture { place, part }));
        }
    }

    fn notes(&mut self, relations: &[Relation]) -> Result<String, ParseError> {
        let Some(relation) = relations.iter().find(|relation| relation.kind == "notesSlide") else {
            return Ok(String::new());
        };
        let Some(xml) = self.package.container.text(&relation.target)? else { return Ok(String::new()) };
        let (Some(root), _) = parse_part(&xml) else { return Ok(String::new()) };
        let shapes = root.at(&["cSld", "spTree"]).map(shapes::in_reading_order).unwrap_or_default();
        // The notes page shows the slide, its number and the date as well.
        let is_notes = |shape: &&Element| {
            &*shape.name == "sp" && matches!(shapes::placeholder(shape), Some("body") | None)
        };
        let blocks: Vec<Block> = shapes.into_iter().filter(is_notes).flat_map(text::of_shape).collect();
        Ok(one_text(&blocks))
    }
}
