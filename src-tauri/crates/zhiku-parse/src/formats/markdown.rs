//! Markdown (CommonMark with GitHub's tables, footnotes, task lists): sections by heading, text without its marks.
//!
//! Embedded HTML is read as HTML. Links keep their text, images their alternative text; addresses are left out.

use pulldown_cmark::{Event, HeadingLevel, MetadataBlockKind, Options, Parser, Tag, TagEnd};
use zhiku_core::{DocumentKind, Locator};

use super::blocks::{Block, flatten, into_units, read_section, tidy_line, tidy_lines};
use super::html;
use super::whole::{Whole, decode_source, no_such_place};
use crate::detect::extension;
use crate::encoding::looks_like_text;
use crate::error::ParseError;
use crate::parser::{DocumentParser, ParsedSummary, Source, UnitSink};

pub(super) struct Markdown;

impl DocumentParser for Markdown {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Markdown
    }

    fn sniff(&self, head: &[u8], name: &str) -> bool {
        let is_named =
            matches!(extension(name).as_deref(), Some("md" | "markdown" | "mkd" | "mdown" | "mkdn"));
        is_named && looks_like_text(head)
    }

    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        read(source)?.send(DocumentKind::Markdown, sink)
    }

    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
        read_section(&read(source)?.units, locator).ok_or_else(|| no_such_place(source, locator))
    }
}

fn read(source: &Source<'_>) -> Result<Whole, ParseError> {
    let (decoded, lossy) = decode_source(source, None)?;
    Ok(Whole { units: into_units(blocks(&decoded.text), None), warnings: lossy.into_iter().collect() })
}

fn blocks(text: &str) -> Vec<Block> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS
        | Options::ENABLE_DEFINITION_LIST
        | Options::ENABLE_GFM;
    let mut writer = Writer::default();
    for event in Parser::new_ext(text, options) {
        writer.event(event);
    }
    writer.flush();
    writer.blocks
}

#[derive(Default)]
struct Writer {
    blocks: Vec<Block>,
    inline: String,
    /// Open lists: the next number of an ordered one.
    lists: Vec<Option<u64>>,
    /// The label of the item whose first line has not come yet.
    item: Option<String>,
    code: Option<String>,
    html: Option<String>,
    metadata: Option<String>,
    table: Option<Vec<Vec<String>>>,
    /// The footnote being defined, and where its blocks begin.
    footnote: Option<(String, usize)>,
}

impl Writer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.inline.push_str(&text);
            }
            Event::Html(html) => match &mut self.html {
                Some(block) => block.push_str(&html),
                None => self.inline_html(&html),
            },
            Event::InlineHtml(html) => self.inline_html(&html),
            Event::FootnoteReference(label) => self.inline.extend(["[^", &*label, "]"]),
            Event::SoftBreak => self.soft_break(),
            Event::HardBreak => self.inline.push('\n'),
            Event::Rule => self.flush(),
            Event::TaskListMarker(is_done) => self.inline.push_str(if is_done { "[x] " } else { "[ ] " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { .. } | Tag::Paragraph | Tag::BlockQuote(_) => self.flush(),
            Tag::CodeBlock(_) => {
                self.flush();
                self.code = Some(String::new());
            }
            Tag::HtmlBlock => {
                self.flush();
                self.html = Some(String::new());
            }
            Tag::List(first) => {
                self.flush();
                self.lists.push(first);
            }
            Tag::Item => self.start_item(),
            Tag::FootnoteDefinition(label) => {
                self.flush();
                self.footnote = Some((label.to_string(), self.blocks.len()));
            }
            Tag::Table(_) => {
                self.flush();
                self.table = Some(Vec::new());
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(rows) = &mut self.table {
                    rows.push(Vec::new());
                }
            }
            Tag::MetadataBlock(_) => self.metadata = Some(String::new()),
            Tag::DefinitionListTitle => {
                self.flush();
                self.lists.push(None);
                self.item = Some("-".to_owned());
            }
            Tag::DefinitionListDefinition => {
                self.flush();
                self.lists.push(None);
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => self.end_heading(level),
            TagEnd::CodeBlock => {
                if let Some(code) = self.code.take().filter(|code| !code.trim().is_empty()) {
                    self.blocks.push(Block::Code(code));
                }
            }
            TagEnd::HtmlBlock => {
                if let Some(html) = self.html.take() {
                    self.blocks.extend(html::fragment_blocks(&html));
                }
            }
            TagEnd::List(_) | TagEnd::DefinitionListTitle | TagEnd::DefinitionListDefinition => {
                self.flush();
                self.item = None;
                self.lists.pop();
            }
            TagEnd::Item => {
                self.flush();
                self.item = None;
            }
            TagEnd::FootnoteDefinition => self.end_footnote(),
            TagEnd::TableCell => {
                let text = tidy_line(&std::mem::take(&mut self.inline));
                if let Some(row) = self.table.as_mut().and_then(|rows| rows.last_mut()) {
                    row.push(text);
                }
            }
            TagEnd::Table => {
                if let Some(rows) = self.table.take() {
                    self.blocks.push(Block::Table(rows));
                }
            }
            TagEnd::MetadataBlock(kind) => self.end_metadata(kind),
            TagEnd::Paragraph | TagEnd::BlockQuote(_) => self.flush(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        let target =
            self.code.as_mut().or(self.html.as_mut()).or(self.metadata.as_mut()).unwrap_or(&mut self.inline);
        target.push_str(text);
    }

    /// A line end in the source is a space between words and nothing between Chinese characters.
    fn soft_break(&mut self) {
        if !self.inline.chars().next_back().is_some_and(is_wide) {
            self.inline.push(' ');
        }
    }

    /// `<br>` breaks the line; any other tag leaves only what stands in it.
    fn inline_html(&mut self, html: &str) {
        let tag = html.trim_start_matches(['<', '/']).to_lowercase();
        if tag.starts_with("br") && !tag[2..].starts_with(char::is_alphanumeric) {
            self.inline.push('\n');
        }
    }

    fn start_item(&mut self) {
        self.flush();
        let label = match self.lists.last_mut() {
            Some(Some(next)) => {
                let label = format!("{next}.");
                *next = next.saturating_add(1);
                label
            }
            _ => "-".to_owned(),
        };
        self.item = Some(label);
    }

    fn flush(&mut self) {
        let text = tidy_lines(&std::mem::take(&mut self.inline));
        if text.is_empty() {
            return;
        }
        let depth = self.lists.len().saturating_sub(1);
        self.blocks.push(match self.item.take() {
            Some(label) => Block::Item { depth, label, text },
            None if self.lists.is_empty() => Block::Paragraph(text),
            None => Block::Item { depth, label: String::new(), text },
        });
    }

    fn end_heading(&mut self, level: HeadingLevel) {
        if !self.lists.is_empty() || self.footnote.is_some() {
            self.flush();
            return;
        }
        let text = tidy_line(&std::mem::take(&mut self.inline));
        self.blocks.push(Block::Heading { level: level as u8, text });
    }

    fn end_footnote(&mut self) {
        self.flush();
        if let Some((label, start)) = self.footnote.take() {
            let text = flatten(&self.blocks.split_off(start.min(self.blocks.len())));
            self.blocks.push(Block::Note(format!("[^{label}]: {text}")));
        }
    }

    fn end_metadata(&mut self, kind: MetadataBlockKind) {
        let Some(metadata) = self.metadata.take() else { return };
        let mark = if kind == MetadataBlockKind::YamlStyle { ':' } else { '=' };
        let title = metadata.lines().find_map(|line| {
            let (key, value) = line.split_once(mark)?;
            (key.trim().eq_ignore_ascii_case("title"))
                .then(|| value.trim().trim_matches(['"', '\'']).to_owned())
        });
        if let Some(text) = title.filter(|title| !title.is_empty()) {
            self.blocks.push(Block::Heading { level: 0, text });
        }
    }
}

fn is_wide(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::ParsedDocument;

    fn check(text: &str, expect: &str) {
        let source = Source::new(text.as_bytes(), "a.md");
        let mut document = ParsedDocument::default();
        Markdown.parse(&source, &mut document).expect("a document");
        let found: Vec<_> = document.units.iter().map(|unit| unit.text.as_str()).collect();
        assert_eq!(found.join("\n\n"), expect);
        for unit in &document.units {
            assert_eq!(Markdown.read_at(&source, &unit.locator).as_ref(), Ok(&unit.text));
        }
    }

    #[test]
    fn marks_go_and_words_stay() {
        check(
            "# A *b*\n\nSee [the rule](http://x/y) and <https://z.example>, **five** `years`[^1].\n![a chart](c.png)\n\n\
             [^1]: From hand-over.\n",
            "# A b\n\nSee the rule and https://z.example, five years[^1]. a chart\n\n[^1]: From hand-over.",
        );
    }

    #[test]
    fn lists_nest_count_and_tick() {
        check(
            "3. a\n   - b\n     - c\n4. d\n\n   e\n\n- [x] f\n- [ ] g\n",
            "3. a\n  - b\n    - c\n4. d\n  e\n- [x] f\n- [ ] g",
        );
    }

    #[test]
    fn tables_and_code_keep_their_shape() {
        check(
            "| a | b |\n|---|:-:|\n| 1 | x \\| y |\n\n```rust\nfn f() {}\n```\n",
            "| a | b |\n| --- | --- |\n| 1 | x \\| y |\n\n```\nfn f() {}\n```",
        );
    }

    #[test]
    fn embedded_html_is_read_as_html() {
        check(
            "a<br>b &copy; <b>c</b><!-- no -->\n\n<table><tr><th>x<th>y</tr><tr><td>1<td>2</tr></table>\n\n<!-- gone -->\n",
            "a\nb © c\n\n| x | y |\n| --- | --- |\n| 1 | 2 |",
        );
    }

    #[test]
    fn the_title_of_the_front_matter_stands_above_all() {
        check(
            "---\ntitle: \"差旅制度\"\nauthor: x\n---\n\n# 住宿\n\n每晚\n五百元。\n",
            "# 差旅制度\n\n## 住宿\n\n每晚五百元。",
        );
    }

    #[test]
    fn deep_nesting_is_survived() {
        let text = format!("{}deep", "> ".repeat(20_000));
        let mut document = ParsedDocument::default();
        Markdown.parse(&Source::new(text.as_bytes(), "a.md"), &mut document).expect("a document");
        let text =
            format!("{}deep", (0..2_000).map(|i| "  ".repeat(i) + "- a\n").collect::<Vec<_>>().concat());
        Markdown.parse(&Source::new(text.as_bytes(), "a.md"), &mut document).expect("a document");
    }
}
