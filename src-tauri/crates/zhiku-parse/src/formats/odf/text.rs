//! Paragraphs, lists, tables, notes and frames to blocks.

use super::styles::Styles;
use crate::formats::blocks::{Block, flatten, tidy_line, tidy_lines};
use crate::formats::docx::says_something;
use crate::formats::table::Grid;
use crate::formats::xml::{Element, Node};

/// A row that a text repeats more often repeats nothing but emptiness.
const MAX_REPEATED_ROWS: usize = 200;
/// A longer "heading" is text that was given an outline level.
const MAX_HEADING_CHARS: usize = 300;

pub(super) struct Reader<'a> {
    styles: &'a Styles,
    /// Frames of the paragraph being read: text boxes, tables.
    frames: Vec<Block>,
    notes: Vec<Block>,
    n_notes: usize,
}

/// What a list in a list needs to know.
#[derive(Clone, Copy)]
struct Level<'a> {
    style: Option<&'a str>,
    depth: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(styles: &'a Styles) -> Self {
        Self { styles, frames: Vec::new(), notes: Vec::new(), n_notes: 0 }
    }

    /// The blocks of a body; notes stand behind the block that refers to them.
    pub(super) fn document(&mut self, body: &Element) -> Vec<Block> {
        let mut blocks = Vec::new();
        for element in body.elements() {
            self.block(element, &mut blocks);
            blocks.append(&mut self.notes);
        }
        blocks
    }

    /// The blocks within a cell, a text box, a shape.
    pub(super) fn blocks(&mut self, parent: &Element) -> Vec<Block> {
        let mut blocks = Vec::new();
        for element in parent.elements() {
            self.block(element, &mut blocks);
        }
        blocks
    }

    pub(super) fn take_notes(&mut self) -> Vec<Block> {
        std::mem::take(&mut self.notes)
    }

    fn block(&mut self, element: &Element, out: &mut Vec<Block>) {
        match &*element.name {
            "p" | "h" => self.paragraph(element, out),
            "list" => self.list(element, Level { style: None, depth: 0 }, out),
            "table" => out.push(self.table(element)),
            "section" if element.attr("display").is_none_or(|display| display != "none") => {
                out.append(&mut self.blocks(element));
            }
            "text-box" | "numbered-paragraph" | "index-body" => out.append(&mut self.blocks(element)),
            "frame" | "custom-shape" | "rect" | "g" | "ellipse" | "line" | "connector" | "polygon" | "a" => {
                out.append(&mut self.frame(element));
            }
            "annotation" => self.annotation(element),
            _ => {}
        }
    }

    fn paragraph(&mut self, element: &Element, out: &mut Vec<Block>) {
        let text = self.line(element);
        let level = match &*element.name {
            "h" => Some(element.attr("outline-level").and_then(|level| level.parse().ok()).unwrap_or(1)),
            _ => element.attr("style-name").and_then(|style| self.styles.heading_level(style)),
        };
        let level = level.filter(|_| text.chars().count() <= MAX_HEADING_CHARS);
        if !text.is_empty() {
            out.push(match level {
                Some(level) => Block::Heading { level, text: tidy_line(&text) },
                None => Block::Paragraph(text),
            });
        }
        out.append(&mut self.frames);
    }

    /// The text of a paragraph; its frames are left for the caller.
    pub(super) fn line(&mut self, element: &Element) -> String {
        let mut text = String::new();
        self.inline(element, &mut text);
        tidy_lines(&text)
    }

    fn inline(&mut self, parent: &Element, out: &mut String) {
        for node in &parent.children {
            match node {
                Node::Text(text) => out.extend(text.chars().map(|c| if c == '\n' { ' ' } else { c })),
                Node::Element(element) => self.inline_element(element, out),
            }
        }
    }

    fn inline_element(&mut self, element: &Element, out: &mut String) {
        match &*element.name {
            "s" | "tab" => out.push(' '),
            "line-break" => out.push('\n'),
            "note" => self.note(element, out),
            "annotation" => self.annotation(element),
            "frame" | "custom-shape" | "rect" | "g" | "ellipse" => {
                let mut blocks = self.frame(element);
                // A picture's description stands in the line, boxes and tables behind it.
                if let [Block::Paragraph(text)] = &blocks[..]
                    && element.child("image").is_some()
                {
                    out.extend([" ", text, " "]);
                } else {
                    self.frames.append(&mut blocks);
                }
            }
            "ruby" => {
                if let Some(base) = element.child("ruby-base") {
                    self.inline(base, out);
                }
            }
            "hidden-text" | "annotation-end" | "bookmark" | "tracked-changes" | "ruby-text" | "script" => {}
            _ => self.inline(element, out),
        }
    }

    fn note(&mut self, element: &Element, out: &mut String) {
        self.n_notes += 1;
        let n = self.n_notes;
        out.extend(["[^", &n.to_string(), "]"]);
        let frames = std::mem::take(&mut self.frames);
        let blocks = element.child("note-body").map(|body| self.blocks(body)).unwrap_or_default();
        self.frames = frames;
        let text = flatten(&blocks);
        if !text.is_empty() {
            self.notes.push(Block::Note(format!("[^{n}]: {text}")));
        }
    }

    pub(super) fn annotation(&mut self, element: &Element) {
        let frames = std::mem::take(&mut self.frames);
        let text = flatten(&self.blocks(element));
        self.frames = frames;
        let author = element.child("creator").map(|creator| tidy_line(&creator.text()));
        let author = author.filter(|author| !author.is_empty());
        if !text.is_empty() {
            self.notes.push(Block::Note(match author {
                Some(author) => format!("[Comment by {author}: {text}]"),
                None => format!("[Comment: {text}]"),
            }));
        }
    }

    /// What a shape or frame says; a picture says its description.
    pub(super) fn frame(&mut self, element: &Element) -> Vec<Block> {
        let outer = std::mem::take(&mut self.frames);
        let mut blocks = self.blocks(element);
        self.frames = outer;
        if blocks.is_empty() {
            let description = ["desc", "title"].into_iter().find_map(|name| {
                let text = tidy_line(&element.child(name)?.text());
                says_something(&text).then_some(text)
            });
            blocks.extend(description.map(Block::Paragraph));
        }
        blocks
    }

    fn list(&mut self, list: &Element, level: Level<'_>, out: &mut Vec<Block>) {
        let style = list.attr("style-name").or(level.style);
        let is_numbered = style.is_some_and(|style| self.styles.is_numbered(style, level.depth));
        let mut n = 0_u32;
        for item in list.elements() {
            let is_item = &*item.name == "list-item";
            if is_item {
                let start = item.attr("start-value").and_then(|start| start.parse().ok());
                n = start.unwrap_or(n + 1);
            }
            let mut label = Some(match (is_item, is_numbered) {
                (true, true) => format!("{n}."),
                (true, false) => "-".to_owned(),
                (false, _) => String::new(),
            });
            for element in item.elements() {
                match &*element.name {
                    "list" => self.list(element, Level { style, depth: level.depth + 1 }, out),
                    "p" => {
                        let text = self.line(element);
                        if !text.is_empty() {
                            let label = label.take().unwrap_or_default();
                            out.push(Block::Item { depth: level.depth, label, text });
                        }
                        out.append(&mut self.frames);
                    }
                    _ => self.block(element, out),
                }
            }
        }
    }

    pub(super) fn table(&mut self, table: &Element) -> Block {
        let mut rows = Vec::new();
        table_rows(table, &mut rows);
        let mut grid = Grid::default();
        for row in rows {
            let n_repeats = number(row, "number-rows-repeated").min(MAX_REPEATED_ROWS);
            let cells: Vec<(String, usize, usize)> = row
                .elements()
                .filter(|cell| &*cell.name == "table-cell")
                .flat_map(|cell| {
                    let text = flatten(&self.blocks(cell));
                    let n = number(cell, "number-columns-repeated").min(crate::formats::table::MAX_COLUMNS);
                    let spans = (number(cell, "number-columns-spanned"), number(cell, "number-rows-spanned"));
                    std::iter::repeat_n((text, spans.0, spans.1), n)
                })
                .collect();
            let n_repeats = if cells.iter().all(|(text, ..)| text.is_empty()) { 1 } else { n_repeats };
            for _ in 0..n_repeats {
                grid.start_row();
                for (text, n_columns, n_rows) in &cells {
                    grid.cell(text, *n_columns, *n_rows);
                }
                grid.end_row();
            }
        }
        Block::Table(grid.into_rows())
    }
}

/// The rows of a table, whatever groups them.
pub(super) fn table_rows<'e>(table: &'e Element, found: &mut Vec<&'e Element>) {
    for element in table.elements() {
        match &*element.name {
            "table-row" => found.push(element),
            "table-header-rows" | "table-rows" | "table-row-group" => table_rows(element, found),
            _ => {}
        }
    }
}

/// A count; 1 where none is given.
pub(super) fn number(element: &Element, name: &str) -> usize {
    element.attr(name).and_then(|n| n.parse().ok()).unwrap_or(1).max(1)
}
