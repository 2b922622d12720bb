//! The state of groups, and what paragraphs, cells and rows become.

use std::collections::HashMap;

use encoding_rs::{Encoding, WINDOWS_1252};

use super::codes::{charset, code_page, is_read_though_optional, is_unread, sign};
use super::tokens::{Token, Tokens};
use crate::formats::blocks::{Block, tidy_line, tidy_lines};
use crate::formats::table::Grid;

/// Deeper groups are read as if they were this deep.
const MAX_DEPTH: usize = 500;
/// A longer "heading" is text that was given an outline level.
const MAX_HEADING_CHARS: usize = 300;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Faults {
    /// Whether groups are open at the end of the file.
    pub is_cut: bool,
    pub n_hidden_chars: usize,
}

pub(super) fn read(bytes: &[u8]) -> (Vec<Block>, Faults) {
    let mut reader = Reader::default();
    let mut tokens = Tokens::new(bytes);
    while let Some(token) = tokens.next() {
        if let Some(n_binary) = reader.token(token) {
            tokens.pass_over(n_binary);
        }
    }
    reader.flush();
    reader.faults.is_cut = !reader.outer.is_empty() || reader.n_too_deep > 0;
    reader.end_paragraph();
    reader.end_table();
    (reader.blocks, reader.faults)
}

/// Where the text of a group goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Body,
    Nowhere,
    Fonts,
    Styles,
    /// The label of a list item.
    Label,
    Footnote,
    Comment,
    Author,
}

/// What a closing brace undoes.
#[derive(Clone)]
struct Group {
    target: Target,
    encoding: &'static Encoding,
    /// How many characters stand in for each `\u`.
    n_fallback: usize,
    is_hidden: bool,
    is_optional: bool,
}

#[derive(Clone, Default)]
struct Paragraph {
    style: Option<i32>,
    level: Option<u8>,
    depth: usize,
    is_cell: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct CellMerge {
    goes_on_from_left: bool,
    goes_on_from_above: bool,
}

struct Reader {
    group: Group,
    outer: Vec<Group>,
    n_too_deep: usize,
    default_encoding: &'static Encoding,
    fonts: HashMap<i32, &'static Encoding>,
    /// Heading levels by style number.
    styles: HashMap<i32, u8>,
    /// The font or style being defined.
    defined: i32,
    bytes: Vec<u8>,
    skip: usize,
    high_surrogate: Option<u32>,
    text: String,
    side: String,
    label: Option<String>,
    author: String,
    paragraph: Paragraph,
    cells: Vec<String>,
    merges: Vec<CellMerge>,
    merge: CellMerge,
    table: Option<Grid>,
    notes: Vec<Block>,
    n_notes: usize,
    blocks: Vec<Block>,
    faults: Faults,
}

impl Default for Reader {
    fn default() -> Self {
        let group = Group {
            target: Target::Body,
            encoding: WINDOWS_1252,
            n_fallback: 1,
            is_hidden: false,
            is_optional: false,
        };
        Self {
            group,
            outer: Vec::new(),
            n_too_deep: 0,
            default_encoding: WINDOWS_1252,
            fonts: HashMap::new(),
            styles: HashMap::new(),
            defined: 0,
            bytes: Vec::new(),
            skip: 0,
            high_surrogate: None,
            text: String::new(),
            side: String::new(),
            label: None,
            author: String::new(),
            paragraph: Paragraph::default(),
            cells: Vec::new(),
            merges: Vec::new(),
            merge: CellMerge::default(),
            table: None,
            notes: Vec::new(),
            n_notes: 0,
            blocks: Vec::new(),
            faults: Faults::default(),
        }
    }
}

impl Reader {
    /// Takes a token; gives the length of binary data behind it.
    fn token(&mut self, token: Token<'_>) -> Option<usize> {
        match token {
            Token::Byte(byte) if self.skip > 0 => {
                let _ = byte;
                self.skip -= 1;
            }
            Token::Byte(byte) => self.bytes.push(byte),
            Token::Open => {
                self.flush();
                self.skip = 0;
                if self.outer.len() >= MAX_DEPTH {
                    self.n_too_deep += 1;
                } else {
                    self.outer.push(self.group.clone());
                }
                self.group.is_optional = false;
            }
            Token::Close => self.close(),
            Token::Sign(b'*') => self.group.is_optional = true,
            Token::Sign(sign) => {
                self.flush();
                match sign {
                    b'~' => self.push(' '),
                    b'_' => self.push('-'),
                    _ => {}
                }
            }
            Token::Word("bin", n) => return Some(n.unwrap_or(0).max(0) as usize),
            Token::Word(word, number) => {
                self.flush();
                self.word(word, number);
            }
        }
        None
    }

    fn close(&mut self) {
        self.flush();
        self.skip = 0;
        if self.n_too_deep > 0 {
            self.n_too_deep -= 1;
            return;
        }
        let Some(outer) = self.outer.pop() else { return };
        let ended = std::mem::replace(&mut self.group, outer);
        if ended.target == self.group.target {
            return;
        }
        let side = tidy_line(&std::mem::take(&mut self.side));
        match ended.target {
            Target::Label => self.label = Some(side),
            Target::Author => self.author = side,
            Target::Footnote if !side.is_empty() => {
                self.n_notes += 1;
                let n = self.n_notes;
                self.text.extend(["[^", &n.to_string(), "]"]);
                self.notes.push(Block::Note(format!("[^{n}]: {side}")));
            }
            Target::Comment if !side.is_empty() => {
                let author = std::mem::take(&mut self.author);
                self.notes.push(Block::Note(match author.as_str() {
                    "" => format!("[Comment: {side}]"),
                    author => format!("[Comment by {author}: {side}]"),
                }));
            }
            _ => {}
        }
    }

    fn word(&mut self, word: &str, number: Option<i32>) {
        if std::mem::take(&mut self.group.is_optional) && !is_read_though_optional(word) {
            self.group.target = Target::Nowhere;
        }
        let is_on = number != Some(0);
        match word {
            _ if is_unread(word) => self.group.target = Target::Nowhere,
            "u" => self.unicode(number.unwrap_or(0)),
            "uc" => self.group.n_fallback = number.unwrap_or(1).clamp(0, 8) as usize,
            "ansicpg" => {
                self.default_encoding = code_page(number.unwrap_or(1252));
                self.group.encoding = self.default_encoding;
            }
            "mac" => self.default_encoding = code_page(10000),
            "fonttbl" => self.group.target = Target::Fonts,
            "stylesheet" => self.group.target = Target::Styles,
            "fcharset" if self.group.target == Target::Fonts => {
                if let Some(encoding) = charset(number.unwrap_or(0)) {
                    self.fonts.insert(self.defined, encoding);
                }
            }
            "f" if self.group.target == Target::Fonts => self.defined = number.unwrap_or(0),
            "s" if self.group.target == Target::Styles => self.defined = number.unwrap_or(0),
            "outlinelevel" if self.group.target == Target::Styles => self.define_level(number),
            "f" | "af" => {
                let font = number.and_then(|number| self.fonts.get(&number));
                self.group.encoding = font.copied().unwrap_or(self.default_encoding);
            }
            "plain" => {
                self.group.encoding = self.default_encoding;
                self.group.is_hidden = false;
            }
            "v" | "deleted" => self.group.is_hidden = is_on,
            "footnote" => self.group.target = Target::Footnote,
            "annotation" => self.group.target = Target::Comment,
            "atnauthor" => self.group.target = Target::Author,
            "listtext" | "pntext" => self.group.target = Target::Label,
            _ if self.group.target == Target::Body => self.body_word(word, number),
            _ => {
                if let Some(c) = sign(word).or_else(|| (word == "par").then_some(' ')) {
                    self.push(c);
                }
            }
        }
    }

    fn body_word(&mut self, word: &str, number: Option<i32>) {
        match word {
            "par" | "sect" => {
                if self.paragraph.is_cell {
                    self.text.push('\n');
                } else {
                    self.end_paragraph();
                }
            }
            "pard" => self.paragraph = Paragraph::default(),
            "s" => self.paragraph.style = number,
            "outlinelevel" => {
                self.paragraph.level = number.filter(|n| (0..9).contains(n)).map(|n| n as u8 + 1);
            }
            "ilvl" => self.paragraph.depth = number.unwrap_or(0).clamp(0, 8) as usize,
            "intbl" => self.paragraph.is_cell = true,
            "trowd" => self.merges.clear(),
            "clvmrg" => self.merge.goes_on_from_above = true,
            "clmrg" => self.merge.goes_on_from_left = true,
            "cellx" => self.merges.push(std::mem::take(&mut self.merge)),
            "cell" => {
                self.label = None;
                self.cells.push(tidy_line(&std::mem::take(&mut self.text)));
            }
            "row" => self.end_row(),
            _ => {
                if let Some(c) = sign(word) {
                    self.push(c);
                }
            }
        }
    }

    fn define_level(&mut self, number: Option<i32>) {
        if let Some(level) = number.filter(|n| (0..9).contains(n)) {
            self.styles.insert(self.defined, level as u8 + 1);
        }
    }

    /// `\u-10179` and the like; the stand-in behind it is skipped.
    fn unicode(&mut self, number: i32) {
        let unit = number as u32 & 0xffff;
        self.skip = self.group.n_fallback;
        let c = match unit {
            0xd800..=0xdbff => {
                self.high_surrogate = Some(unit);
                return;
            }
            0xdc00..=0xdfff => {
                let high = self.high_surrogate.take();
                high.and_then(|high| char::from_u32(0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00)))
            }
            // Symbol fonts put their characters here.
            0xf020..=0xf0ff => Some('•').filter(|_| unit == 0xf0b7),
            unit => char::from_u32(unit),
        };
        if let Some(c) = c {
            self.push(c);
        }
    }

    /// Decodes the bytes read so far.
    fn flush(&mut self) {
        if self.bytes.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.bytes);
        let (text, _) = self.group.encoding.decode_without_bom_handling(&bytes);
        for c in text.chars() {
            self.push(c);
        }
    }

    fn push(&mut self, c: char) {
        if self.group.is_hidden {
            self.faults.n_hidden_chars += usize::from(!c.is_whitespace());
            return;
        }
        match self.group.target {
            Target::Body => self.text.push(c),
            Target::Styles => {
                if c == ';' {
                    self.name_style();
                } else {
                    self.side.push(c);
                }
            }
            Target::Label | Target::Footnote | Target::Comment | Target::Author => self.side.push(c),
            Target::Nowhere | Target::Fonts => {}
        }
    }

    /// The end of a style's definition: its name may say that it is a heading.
    fn name_style(&mut self) {
        let name = tidy_line(&std::mem::take(&mut self.side)).to_lowercase();
        let number = name.strip_prefix("heading").or_else(|| name.strip_prefix("标题"));
        let level = match name.as_str() {
            "title" => Some(0),
            _ => number.and_then(|number| number.trim().parse::<u8>().ok()).filter(|n| (1..=9).contains(n)),
        };
        if let Some(level) = level {
            self.styles.entry(self.defined).or_insert(level);
        }
        self.defined = 0;
    }

    fn end_paragraph(&mut self) {
        let text = tidy_lines(&std::mem::take(&mut self.text));
        let label = self.label.take();
        if !text.is_empty() {
            self.end_table();
            let style = self.paragraph.style.and_then(|style| self.styles.get(&style).copied());
            let level = self.paragraph.level.or(style).filter(|_| text.chars().count() <= MAX_HEADING_CHARS);
            self.blocks.push(match (level, label) {
                (Some(level), label) => {
                    let number = label.filter(|label| label.contains(|c: char| c.is_alphanumeric()));
                    let lead = number.map(|number| format!("{number} ")).unwrap_or_default();
                    Block::Heading { level, text: tidy_line(&format!("{lead}{text}")) }
                }
                (None, Some(label)) => item(self.paragraph.depth, &label, text),
                (None, None) => Block::Paragraph(text),
            });
        }
        self.blocks.append(&mut self.notes);
    }

    fn end_row(&mut self) {
        let rest = tidy_line(&std::mem::take(&mut self.text));
        self.cells.extend((!rest.is_empty()).then_some(rest));
        let cells = std::mem::take(&mut self.cells);
        let grid = self.table.get_or_insert_default();
        grid.start_row();
        for (n, text) in cells.iter().enumerate() {
            let merge = |n: usize| self.merges.get(n).copied().unwrap_or_default();
            if merge(n).goes_on_from_left {
                continue;
            }
            let n_columns = 1 + (n + 1..cells.len()).take_while(|n| merge(*n).goes_on_from_left).count();
            if merge(n).goes_on_from_above {
                grid.continue_above(n_columns);
            } else {
                grid.cell(text, n_columns, 1);
            }
        }
        grid.end_row();
        self.paragraph.is_cell = false;
    }

    fn end_table(&mut self) {
        if let Some(grid) = self.table.take() {
            self.blocks.push(Block::Table(grid.into_rows()));
        }
    }
}

fn item(depth: usize, label: &str, text: String) -> Block {
    let number = label.trim_end_matches(['.', ')', '、', '．', '）']);
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_bullet =
        !label.contains(|c: char| c.is_alphanumeric()) || label.chars().count() == 1 && !is_number;
    if is_number {
        Block::Item { depth, label: format!("{number}."), text }
    } else if is_bullet {
        Block::Item { depth, label: "-".to_owned(), text }
    } else {
        Block::Item { depth, label: "-".to_owned(), text: format!("{label} {text}") }
    }
}
