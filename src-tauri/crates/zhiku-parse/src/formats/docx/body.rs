//! The document's blocks: paragraphs, tables and what wraps them.

use std::collections::HashMap;

use zhiku_core::ParseWarning;

use super::math;
use super::numbering::{Counters, Label};
use super::parts::Parts;
use super::styles::NumberingRef;
use crate::formats::blocks::{Block, flatten, tidy_line, tidy_lines};
use crate::formats::table::Grid;
use crate::formats::whole::warning;
use crate::formats::xml::{Element, Ns, for_each_body_child};

/// A longer "heading" is text that was given an outline level.
const MAX_HEADING_CHARS: usize = 300;
/// A cell of this many characters in several blocks is page layout, not data.
const LAYOUT_CELL_CHARS: usize = 1_500;

/// Walks a document in order and remembers what reaches across paragraphs.
pub(super) struct Reader<'a> {
    pub(super) parts: &'a Parts,
    counters: Counters,
    /// Open fields, outermost first: whether their code (not their result) is being read.
    pub(super) fields: Vec<FieldPart>,
    /// Text boxes anchored in the paragraph being read.
    pub(super) boxes: Vec<Block>,
    /// Notes and comments of the block being read.
    pub(super) notes: Vec<Block>,
    /// Relations of the pictures so far, in order.
    pub(super) pictures: Vec<String>,
    /// Labels of the notes that were referred to.
    pub(super) note_labels: HashMap<(NoteKind, String), usize>,
    pub(super) n_hidden_chars: usize,
    pub(super) warnings: Vec<ParseWarning>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldPart {
    Code,
    Result,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum NoteKind {
    Footnote,
    Endnote,
    Comment,
}

impl<'a> Reader<'a> {
    pub(super) fn new(parts: &'a Parts) -> Self {
        Self {
            parts,
            counters: Counters::default(),
            fields: Vec::new(),
            boxes: Vec::new(),
            notes: Vec::new(),
            pictures: Vec::new(),
            note_labels: HashMap::new(),
            n_hidden_chars: 0,
            warnings: Vec::new(),
        }
    }

    /// All blocks of the main part.
    pub(super) fn document(&mut self, xml: &str) -> Vec<Block> {
        let mut blocks = Vec::new();
        let faults = for_each_body_child(xml, &mut |element| {
            self.block(&element, &mut blocks);
            blocks.append(&mut self.notes);
        });
        if faults.is_damaged {
            self.warnings
                .push(warning("part_damaged", "the document's text breaks off: the file is damaged"));
        }
        if faults.n_too_deep > 0 {
            self.warnings
                .push(warning("nesting_cut", format!("{} parts are nested too deeply", faults.n_too_deep)));
        }
        blocks
    }

    /// The blocks within a cell, a text box, a note.
    pub(super) fn blocks(&mut self, parent: &Element) -> Vec<Block> {
        let mut blocks = Vec::new();
        for element in parent.elements() {
            self.block(element, &mut blocks);
        }
        blocks
    }

    fn block(&mut self, element: &Element, out: &mut Vec<Block>) {
        match (element.ns, &*element.name) {
            (Ns::Word, "p") => self.paragraph(element, out),
            (Ns::Word, "tbl") => self.table(element, out),
            (Ns::Word, "sdt") => {
                if let Some(content) = element.child("sdtContent") {
                    out.append(&mut self.blocks(content));
                }
            }
            (Ns::Word, "ins" | "moveTo" | "customXml" | "smartTag") => out.append(&mut self.blocks(element)),
            (Ns::Math, "oMath" | "oMathPara") => out.push(Block::Paragraph(math::inline(element))),
            (Ns::Word, "altChunk") => {
                self.warnings
                    .push(warning("embedded_file_left_out", "a file embedded in the document was left out"));
            }
            (Ns::Other, "AlternateContent") => {
                for choice in element.elements() {
                    let mut blocks = self.blocks(choice);
                    if !blocks.is_empty() {
                        out.append(&mut blocks);
                        break;
                    }
                }
            }
            _ => {}
        }
    }

    fn paragraph(&mut self, element: &Element, out: &mut Vec<Block>) {
        let mut text = String::new();
        let outer_boxes = std::mem::take(&mut self.boxes);
        self.inline(element, &mut text);
        let mut boxes = std::mem::replace(&mut self.boxes, outer_boxes);
        let properties = element.child("pPr");
        let style = properties.and_then(|properties| properties.child_val("pStyle"));
        let label = self.numbering(properties, style).and_then(|numbering| {
            let label = self.parts.numbering.label(&self.parts.styles, &mut self.counters, &numbering);
            label.map(|label| (label, numbering.depth))
        });
        let text = tidy_lines(&text);
        if !text.is_empty() {
            let level =
                self.heading_level(properties, style).filter(|_| text.chars().count() <= MAX_HEADING_CHARS);
            out.push(labelled(text, level, label));
        }
        out.append(&mut boxes);
    }

    fn heading_level(&self, properties: Option<&Element>, style: Option<&str>) -> Option<u8> {
        let direct =
            properties.and_then(|p| p.child_val("outlineLvl")).and_then(|level| level.parse::<u8>().ok());
        match direct {
            Some(level) => (level < 9).then_some(level + 1),
            None => style.and_then(|style| self.parts.styles.heading_level(style)),
        }
    }

    fn numbering(&self, properties: Option<&Element>, style: Option<&str>) -> Option<NumberingRef> {
        let from_style = style.and_then(|style| self.parts.styles.numbering(style));
        let Some(direct) = properties.and_then(|properties| properties.child("numPr")) else {
            return from_style;
        };
        let num_id =
            direct.child_val("numId").map(str::to_owned).or(from_style.as_ref().map(|n| n.num_id.clone()))?;
        let level = direct.child_val("ilvl").and_then(|level| level.parse().ok());
        let level = level.or(from_style.as_ref().map(|numbering| numbering.level)).unwrap_or(0);
        let depth = level.max(from_style.map_or(0, |numbering| numbering.depth));
        (num_id != "0").then_some(NumberingRef { num_id, level, depth })
    }

    fn table(&mut self, element: &Element, out: &mut Vec<Block>) {
        let mut rows = Vec::new();
        unwrap_into(element, "tr", &mut rows);
        rows.retain(|row| row.child("trPr").is_none_or(|properties| properties.child("del").is_none()));
        let table: Vec<(usize, Vec<Cell>)> = rows
            .into_iter()
            .map(|row| {
                let mut cells = Vec::new();
                unwrap_into(row, "tc", &mut cells);
                let before =
                    row.child("trPr").and_then(|p| p.child_val("gridBefore")).and_then(|n| n.parse().ok());
                (before.unwrap_or(0), cells.into_iter().map(|cell| self.cell(cell)).collect())
            })
            .collect();
        let n_cells: usize = table.iter().map(|(_, cells)| cells.len()).sum();
        let holds_page =
            |cell: &Cell| cell.blocks.len() > 2 && flatten(&cell.blocks).chars().count() > LAYOUT_CELL_CHARS;
        if n_cells <= 1 || table.iter().any(|(_, cells)| cells.iter().any(holds_page)) {
            out.extend(table.into_iter().flat_map(|(_, cells)| cells).flat_map(|cell| cell.blocks));
            return;
        }
        let mut grid = Grid::default();
        for (before, cells) in &table {
            grid.start_row();
            grid.skip(*before);
            for cell in cells {
                match cell.merge {
                    Merge::Above => grid.continue_above(cell.n_columns),
                    Merge::None => grid.cell(&flatten(&cell.blocks), cell.n_columns, 1),
                }
            }
        }
        out.push(Block::Table(grid.into_rows()));
    }

    fn cell(&mut self, element: &Element) -> Cell {
        let properties = element.child("tcPr");
        let n_columns =
            properties.and_then(|p| p.child_val("gridSpan")).and_then(|n| n.parse().ok()).unwrap_or(1);
        let merge = match properties.and_then(|properties| properties.child("vMerge")) {
            Some(merge) if merge.attr("val").is_none_or(|val| val == "continue") => Merge::Above,
            _ => Merge::None,
        };
        Cell { blocks: self.blocks(element), n_columns, merge }
    }

    /// A note's or comment's text on one line.
    pub(super) fn note_text(&mut self, element: &Element) -> String {
        let (fields, n_pictures) = (std::mem::take(&mut self.fields), self.pictures.len());
        let blocks = self.blocks(element);
        self.fields = fields;
        // Notes are a part with relations of its own.
        self.pictures.truncate(n_pictures);
        tidy_line(&flatten(&blocks))
    }
}

struct Cell {
    blocks: Vec<Block>,
    n_columns: usize,
    merge: Merge,
}

enum Merge {
    None,
    Above,
}

/// Rows of a table, cells of a row: also those within content controls and tracked insertions.
fn unwrap_into<'e>(parent: &'e Element, name: &str, found: &mut Vec<&'e Element>) {
    for element in parent.elements() {
        match &*element.name {
            child if child == name => found.push(element),
            "sdt" | "sdtContent" | "ins" | "moveTo" | "customXml" => unwrap_into(element, name, found),
            _ => {}
        }
    }
}

fn labelled(text: String, heading: Option<u8>, label: Option<(Label, usize)>) -> Block {
    match (heading, label) {
        (Some(level), Some((Label::Number(label), _))) => {
            Block::Heading { level, text: format!("{label} {text}") }
        }
        (Some(level), _) => Block::Heading { level, text },
        (None, None) => Block::Paragraph(text),
        (None, Some((Label::Bullet, depth))) => Block::Item { depth, label: "-".to_owned(), text },
        (None, Some((Label::Number(label), depth))) => {
            let number = label.trim_end_matches(['.', ')', '、', '．', '）']);
            if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
                Block::Item { depth, label: format!("{number}."), text }
            } else if label.starts_with('第') {
                // An article of a rule, not an item of a list.
                Block::Paragraph(format!("{label} {text}"))
            } else {
                Block::Item { depth, label: "-".to_owned(), text: format!("{label} {text}") }
            }
        }
    }
}
