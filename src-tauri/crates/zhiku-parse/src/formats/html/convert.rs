//! From a parsed page to blocks: one pass over openings, closings and texts, with explicit stacks.

use ego_tree::{NodeRef, iter::Edge};
use scraper::{ElementRef, Node};

use super::content::{is_boilerplate, is_decoration, is_hidden};
use crate::formats::blocks::{Block, flatten, tidy_line, tidy_lines};
use crate::formats::table::Grid;

/// Whether navigation and the like are left out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    Content,
    Everything,
}

/// Tables within tables beyond this are read as running text.
const MAX_TABLE_DEPTH: usize = 24;
/// A cell of this many characters in several blocks is page layout, not data.
const LAYOUT_CELL_CHARS: usize = 1_500;

/// The blocks below a node.
pub(super) fn blocks(root: NodeRef<'_, Node>, keep: Keep) -> Vec<Block> {
    let mut converter = Converter { keep, frames: vec![Frame::default()], tables: Vec::new() };
    let mut skipped = None;
    for edge in root.traverse() {
        match edge {
            Edge::Open(node) if skipped.is_none() => {
                if converter.open(node) == Flow::Skip {
                    skipped = Some(node.id());
                }
            }
            Edge::Close(node) => match skipped {
                Some(id) if id == node.id() => skipped = None,
                Some(_) => {}
                None => converter.close(node),
            },
            Edge::Open(_) => {}
        }
    }
    converter.finish()
}

#[derive(PartialEq, Eq)]
enum Flow {
    Enter,
    Skip,
}

/// What is being written to: the page, or a table cell, or a caption.
#[derive(Default)]
struct Frame {
    blocks: Vec<Block>,
    inline: String,
    lists: Vec<List>,
    /// The label of the item whose first line has not come yet.
    item: Option<String>,
    heading: Option<u8>,
    pre_depth: usize,
}

struct List {
    is_ordered: bool,
    next: i64,
}

#[derive(Default)]
struct TableState {
    rows: Vec<Vec<Cell>>,
    open_cell: Option<(usize, usize)>,
    is_layout: bool,
}

struct Cell {
    blocks: Vec<Block>,
    n_columns: usize,
    n_rows: usize,
}

struct Converter {
    keep: Keep,
    frames: Vec<Frame>,
    tables: Vec<TableState>,
}

impl Converter {
    fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn open(&mut self, node: NodeRef<'_, Node>) -> Flow {
        match node.value() {
            Node::Text(text) => self.frame().text(text),
            Node::Element(_) => {
                if let Some(element) = ElementRef::wrap(node) {
                    return self.open_element(element);
                }
            }
            _ => {}
        }
        Flow::Enter
    }

    fn open_element(&mut self, element: ElementRef<'_>) -> Flow {
        let value = element.value();
        let name = value.name();
        let is_unread = matches!(
            name,
            "script"
                | "style"
                | "template"
                | "noscript"
                | "iframe"
                | "object"
                | "canvas"
                | "audio"
                | "video"
                | "svg"
                | "select"
                | "textarea"
                | "button"
                | "datalist"
                | "head"
                | "title"
                | "rt"
                | "rp"
                | "dialog"
                | "map"
                | "noframes"
        );
        if is_unread || is_hidden(value) || (self.keep == Keep::Content && is_boilerplate(element)) {
            return Flow::Skip;
        }
        match name {
            "br" => self.frame().inline.push('\n'),
            "hr" => self.frame().flush(),
            "img" => {
                if let Some(alt) = value.attr("alt").map(tidy_line).filter(|alt| !alt.is_empty())
                    && !is_decoration(element)
                {
                    self.frame().text(&format!(" {alt} "));
                }
            }
            "input" => {
                if matches!(value.attr("type"), Some("checkbox" | "radio")) {
                    let mark = if value.attr("checked").is_some() { "[x] " } else { "[ ] " };
                    self.frame().text(mark);
                }
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.frame().open_heading(name.as_bytes()[1] - b'0'),
            "pre" | "listing" | "xmp" => {
                self.frame().flush();
                self.frame().pre_depth += 1;
            }
            "ul" | "menu" | "dir" | "dl" => self.frame().open_list(false, 1),
            "ol" => {
                let start = value.attr("start").and_then(|start| start.trim().parse().ok()).unwrap_or(1);
                self.frame().open_list(true, start);
            }
            "li" | "dt" => {
                let number = value.attr("value").and_then(|value| value.trim().parse().ok());
                self.frame().open_item(number);
            }
            "table" => self.open_table(value.attr("role")),
            "tr" => self.open_row(),
            "td" | "th" => self.open_cell(span(value.attr("colspan")), span(value.attr("rowspan"))),
            "caption" if !self.tables.is_empty() => self.frames.push(Frame::default()),
            "q" => self.frame().text("“"),
            _ if is_block(name) => self.frame().flush(),
            _ => {}
        }
        Flow::Enter
    }

    fn close(&mut self, node: NodeRef<'_, Node>) {
        let Some(element) = node.value().as_element() else { return };
        match element.name() {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.frame().close_heading(),
            "pre" | "listing" | "xmp" => self.frame().close_pre(),
            "ul" | "menu" | "dir" | "ol" | "dl" => self.frame().close_list(),
            "li" | "dt" => self.frame().close_item(),
            "table" => self.close_table(),
            "td" | "th" => self.close_cell(),
            "caption" if self.frames.len() > 1 => {
                let caption = self.pop_frame();
                let text = flatten(&caption);
                if !text.is_empty() {
                    self.frame().blocks.push(Block::Paragraph(text));
                }
            }
            "q" => self.frame().text("”"),
            name if is_block(name) => self.frame().flush(),
            _ => {}
        }
    }

    fn open_table(&mut self, role: Option<&str>) {
        self.frame().flush();
        let is_layout = matches!(role, Some("presentation" | "none"));
        self.tables.push(TableState { is_layout, ..TableState::default() });
    }

    fn open_row(&mut self) {
        self.frame().flush();
        if let Some(table) = self.tables.last_mut() {
            table.rows.push(Vec::new());
        }
    }

    fn open_cell(&mut self, n_columns: usize, n_rows: usize) {
        if self.tables.is_empty() || self.tables.len() > MAX_TABLE_DEPTH {
            self.frame().flush();
            return;
        }
        if let Some(table) = self.tables.last_mut() {
            table.open_cell = Some((n_columns, n_rows));
            self.frames.push(Frame::default());
        }
    }

    fn close_cell(&mut self) {
        let open = self.tables.last_mut().and_then(|table| table.open_cell.take());
        let Some((n_columns, n_rows)) = open else {
            self.frame().flush();
            return;
        };
        let blocks = self.pop_frame();
        if let Some(table) = self.tables.last_mut() {
            if table.rows.is_empty() {
                table.rows.push(Vec::new());
            }
            if let Some(row) = table.rows.last_mut() {
                row.push(Cell { blocks, n_columns, n_rows });
            }
        }
    }

    fn close_table(&mut self) {
        let Some(table) = self.tables.pop() else { return };
        self.frame().flush();
        let n_cells: usize = table.rows.iter().map(Vec::len).sum();
        let holds_page =
            |cell: &Cell| cell.blocks.len() > 2 && flatten(&cell.blocks).chars().count() > LAYOUT_CELL_CHARS;
        if n_cells <= 1 || table.is_layout || table.rows.iter().flatten().any(holds_page) {
            let blocks = table.rows.into_iter().flatten().flat_map(|cell| cell.blocks);
            self.frame().blocks.extend(blocks);
            return;
        }
        let mut grid = Grid::default();
        for row in table.rows.iter().filter(|row| !row.is_empty()) {
            grid.start_row();
            for cell in row {
                grid.cell(&flatten(&cell.blocks), cell.n_columns, cell.n_rows);
            }
            grid.end_row();
        }
        self.frame().blocks.push(Block::Table(grid.into_rows()));
    }

    fn pop_frame(&mut self) -> Vec<Block> {
        match self.frames.pop() {
            Some(mut frame) => {
                frame.flush();
                frame.blocks
            }
            None => Vec::new(),
        }
    }

    fn finish(mut self) -> Vec<Block> {
        let mut blocks = Vec::new();
        for mut frame in self.frames.drain(..) {
            frame.flush();
            blocks.append(&mut frame.blocks);
        }
        blocks
    }
}

impl Frame {
    fn text(&mut self, text: &str) {
        if self.pre_depth > 0 {
            self.inline.push_str(text);
            return;
        }
        for c in text.chars() {
            if c.is_whitespace() {
                if !self.inline.ends_with([' ', '\n']) && !self.inline.is_empty() {
                    self.inline.push(' ');
                }
            } else {
                self.inline.push(c);
            }
        }
    }

    /// Ends the paragraph or list item that is being written.
    fn flush(&mut self) {
        if self.pre_depth > 0 {
            return;
        }
        if self.heading.is_some() {
            self.text(" ");
            return;
        }
        let text = tidy_lines(&std::mem::take(&mut self.inline));
        if text.is_empty() {
            return;
        }
        let depth = self.lists.len().saturating_sub(1);
        let block = match self.item.take() {
            Some(label) => Block::Item { depth, label, text },
            None if self.lists.is_empty() => Block::Paragraph(text),
            None => Block::Item { depth, label: String::new(), text },
        };
        self.blocks.push(block);
    }

    fn open_heading(&mut self, level: u8) {
        self.flush();
        self.heading = Some(level);
    }

    fn close_heading(&mut self) {
        if let Some(level) = self.heading.take() {
            let text = tidy_line(&std::mem::take(&mut self.inline));
            if !text.is_empty() {
                // An item that consists of a heading is not a section of its own.
                self.blocks.push(match self.item.take() {
                    Some(label) => Block::Item { depth: self.lists.len().saturating_sub(1), label, text },
                    None => Block::Heading { level, text },
                });
            }
        }
    }

    fn close_pre(&mut self) {
        self.pre_depth = self.pre_depth.saturating_sub(1);
        if self.pre_depth == 0 {
            let code = std::mem::take(&mut self.inline);
            if !code.trim().is_empty() {
                self.blocks.push(Block::Code(code));
            }
        }
    }

    fn open_list(&mut self, is_ordered: bool, start: i64) {
        self.flush();
        self.item = None;
        self.lists.push(List { is_ordered, next: start });
    }

    fn close_list(&mut self) {
        self.flush();
        self.item = None;
        self.lists.pop();
    }

    fn open_item(&mut self, number: Option<i64>) {
        self.flush();
        let label = match self.lists.last_mut() {
            Some(list) if list.is_ordered => {
                let n = number.unwrap_or(list.next);
                list.next = n.saturating_add(1);
                format!("{n}.")
            }
            _ => "-".to_owned(),
        };
        self.item = Some(label);
    }

    fn close_item(&mut self) {
        self.flush();
        self.item = None;
    }
}

fn span(value: Option<&str>) -> usize {
    value.and_then(|value| value.trim().parse::<usize>().ok()).unwrap_or(1).clamp(1, 65_534)
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "center"
            | "dd"
            | "details"
            | "div"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "header"
            | "hgroup"
            | "html"
            | "legend"
            | "main"
            | "nav"
            | "p"
            | "section"
            | "search"
            | "summary"
            | "tbody"
            | "thead"
            | "tfoot"
            | "tr"
            | "option"
            | "optgroup"
    )
}
