//! Plain text: sections of bounded size, cut at headings and blank lines.
//!
//! A unit is an exact stretch of the decoded file, so a locator is simply where it stands. Headings are recognised by
//! their numbering (“第一章”, “1.2 Scope”, “Chapter 3”, “一、”); they are context, the text stays as it is.

use zhiku_core::{DocumentKind, Locator, ParsedUnit, UnitKind};

use super::render::text_unit;
use super::stretch::{read_stretch, stretch};
use super::whole::{Whole, decode_source};
use crate::encoding::looks_like_text;
use crate::error::ParseError;
use crate::parser::{DocumentParser, ParsedSummary, Source, UnitSink};

/// A unit is closed at a blank line once it is this long …
const GOOD_CHARS: usize = 1_200;
/// … at any line end once it is this long, and is never longer than …
const LONG_CHARS: usize = 3_000;
/// … this.
const MAX_CHARS: usize = 4_000;

pub(super) struct Text;

impl DocumentParser for Text {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Text
    }

    fn sniff(&self, head: &[u8], _name: &str) -> bool {
        looks_like_text(head)
    }

    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        let (decoded, lossy) = decode_source(source, None)?;
        let whole = Whole { units: units(&decoded.text), warnings: lossy.into_iter().collect() };
        whole.send(DocumentKind::Text, sink)
    }

    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
        read_stretch(source, locator)
    }
}

fn units(text: &str) -> Vec<ParsedUnit> {
    let mut cutter = Cutter::default();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let first = lines.iter().position(|line| !line.trim().is_empty()).unwrap_or(0);
    for (i, line) in lines.iter().enumerate() {
        let is_free_above = i == 0 || lines[i - 1].trim().is_empty();
        let is_free_below = lines.get(i + 1).is_none_or(|below| below.trim().is_empty());
        let level = if i == first && is_free_below && is_title(line) { Some(0) } else { None };
        cutter.line(line, level.or_else(|| heading(line, is_free_above && is_free_below)));
    }
    cutter.cut();
    cutter.units
}

#[derive(Default)]
struct Cutter {
    units: Vec<ParsedUnit>,
    path: Vec<(u8, String)>,
    /// Headings above the unit's first line.
    above: Vec<String>,
    text: String,
    n_chars: usize,
    /// Characters of the file before `text`.
    offset: usize,
    has_body: bool,
}

impl Cutter {
    fn line(&mut self, line: &str, heading: Option<u8>) {
        let n_chars = line.chars().count();
        let is_blank = line.trim().is_empty();
        let cut_here = match heading {
            Some(level) => self.has_body && (level < ARTICLE || self.n_chars >= GOOD_CHARS / 2),
            None => (is_blank && self.n_chars >= GOOD_CHARS) || self.n_chars >= LONG_CHARS,
        };
        if cut_here || self.n_chars + n_chars > MAX_CHARS {
            self.cut();
        }
        if let Some(level) = heading {
            self.path.retain(|(above, _)| *above < level);
            if self.text.trim().is_empty() {
                self.above = self.path.iter().map(|(_, text)| text.clone()).collect();
            }
            self.path.push((level, line.trim().to_owned()));
        }
        self.has_body |= !is_blank && heading.is_none();
        if n_chars <= MAX_CHARS {
            self.text.push_str(line);
            self.n_chars += n_chars;
        } else {
            self.long_line(line);
        }
    }

    /// A file without line ends: cut behind sentences, else anywhere.
    fn long_line(&mut self, line: &str) {
        let mut chars: Vec<char> = Vec::with_capacity(MAX_CHARS);
        for c in line.chars() {
            chars.push(c);
            let ends_sentence = matches!(c, '。' | '！' | '？' | '；' | '.' | ' ');
            if chars.len() >= MAX_CHARS || (chars.len() >= LONG_CHARS && ends_sentence) {
                self.text = chars.drain(..).collect();
                self.n_chars = self.text.chars().count();
                self.cut();
                self.has_body = true;
            }
        }
        self.n_chars = chars.len();
        self.text = chars.into_iter().collect();
    }

    fn cut(&mut self) {
        let text = std::mem::take(&mut self.text);
        let start = self.offset;
        self.offset += self.n_chars;
        self.n_chars = 0;
        self.has_body = false;
        let Some((locator, body)) = stretch(&text, start) else { return };
        let above = std::mem::take(&mut self.above);
        self.units.push(text_unit(UnitKind::Section, locator, body.to_owned(), above));
        self.above = self.path.iter().map(|(_, text)| text.clone()).collect();
    }
}

/// The level of an article (“第三条”): a place to cut only when enough stands above it.
const ARTICLE: u8 = 5;

/// Whether a short first line, free of the text below it, is the file's title.
fn is_title(line: &str) -> bool {
    let line = line.trim();
    line.chars().count() <= 40 && !ends_like_a_sentence(line)
}

fn ends_like_a_sentence(line: &str) -> bool {
    line.ends_with(['。', '；', '，', '、', '.', ';', ',', ':', '：', '！', '!', '？', '?'])
}

/// The level of a heading line, from 1. `stands_free`: blank lines above and below, which a one-part number needs to be
/// more than a list item.
fn heading(line: &str, stands_free: bool) -> Option<u8> {
    let line = line.trim();
    let n_chars = line.chars().count();
    if n_chars == 0 || n_chars > 60 || ends_like_a_sentence(line) {
        return None;
    }
    chinese_heading(line)
        .or_else(|| numbered_heading(line, stands_free))
        .or_else(|| worded_heading(line, stands_free))
}

fn chinese_heading(line: &str) -> Option<u8> {
    if let Some(rest) = line.strip_prefix('第') {
        let number: String = rest.chars().take_while(|c| is_number_char(*c)).collect();
        let rest = &rest[number.len()..];
        let levels = [
            ("编", 1),
            ("部分", 1),
            ("篇", 1),
            ("章", 2),
            ("节", 3),
            ("節", 3),
            ("条", ARTICLE),
            ("條", ARTICLE),
        ];
        return levels
            .iter()
            .find(|(word, _)| !number.is_empty() && rest.starts_with(word))
            .map(|(_, level)| *level);
    }
    let number: String = line.chars().take_while(|c| "一二三四五六七八九十".contains(*c)).collect();
    let starts = !number.is_empty() && line[number.len()..].starts_with('、');
    (starts && line.chars().count() <= 30).then_some(3)
}

fn is_number_char(c: char) -> bool {
    c.is_ascii_digit() || "〇零一二三四五六七八九十百千两".contains(c)
}

fn numbered_heading(line: &str, stands_free: bool) -> Option<u8> {
    let number: String = line.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let rest = &line[number.len()..];
    let parts: Vec<&str> = number.trim_end_matches('.').split('.').collect();
    let is_number = parts.iter().all(|part| !part.is_empty() && part.len() <= 2) && parts.len() <= 5;
    let title = rest.trim_start();
    let has_title = title.chars().next().is_some_and(char::is_alphabetic) && rest.len() > title.len();
    if !is_number || !has_title {
        return None;
    }
    (parts.len() > 1 || stands_free).then_some(2 + parts.len().min(2) as u8)
}

fn worded_heading(line: &str, stands_free: bool) -> Option<u8> {
    let mut words = line.split_whitespace();
    let (first, second) = (words.next()?.to_lowercase(), words.next()?);
    let is_number =
        second.trim_end_matches([':', '.']).chars().all(|c| c.is_ascii_digit() || "IVXLC".contains(c));
    let level = match first.as_str() {
        "part" => 1,
        "chapter" | "appendix" => 2,
        "section" | "article" => 3,
        _ => return None,
    };
    (is_number && stands_free).then_some(level)
}

#[cfg(test)]
mod tests {
    use super::super::whole::slice_chars;
    use super::*;

    fn check(text: &str, expect: &[(&[&str], &str)]) {
        let found: Vec<_> = units(text).into_iter().map(|unit| (unit.heading_path, unit.text)).collect();
        let expect: Vec<_> = expect
            .iter()
            .map(|(path, text)| {
                (path.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>(), (*text).to_owned())
            })
            .collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn chapters_and_sections_are_units_with_their_headings_as_context() {
        check(
            "规定\n\n第一章 保修\n\n第一节 范围\n防水五年。\n\n第二节 流程\n报修后两小时内响应。\n第二章 附则\n自发布之日起施行。\n",
            &[
                (&[], "规定\n\n第一章 保修\n\n第一节 范围\n防水五年。"),
                (&["规定", "第一章 保修"], "第二节 流程\n报修后两小时内响应。"),
                (&["规定"], "第二章 附则\n自发布之日起施行。"),
            ],
        );
    }

    #[test]
    fn a_numbered_list_is_no_row_of_headings() {
        check("Buy:\n1. Milk\n2. Bread\n", &[(&[], "Buy:\n1. Milk\n2. Bread")]);
        check(
            "Intro.\n\n1.1 Scope\nAll staff.\n1.2 Limits\n180 EUR.",
            &[(&[], "Intro."), (&[], "1.1 Scope\nAll staff."), (&[], "1.2 Limits\n180 EUR.")],
        );
    }

    #[test]
    fn long_text_is_cut_at_blank_lines_and_every_unit_is_an_exact_stretch() {
        let paragraph = "The tenant reports the damage within two days.\n".repeat(20);
        let text = format!("{}{}", format!("{paragraph}\n").repeat(12), "长文本没有换行。".repeat(2_000));
        let units = units(&text);
        assert!(units.len() > 10);
        for unit in &units {
            let Locator::Chars { char_start, char_end } = unit.locator else { panic!("not characters") };
            assert_eq!(slice_chars(&text, char_start, char_end), Some(unit.text.as_str()));
            assert!(unit.text.chars().count() <= MAX_CHARS);
        }
        let n_kept: usize =
            units.iter().map(|unit| unit.text.split_whitespace().collect::<String>().chars().count()).sum();
        assert_eq!(n_kept, text.split_whitespace().collect::<String>().chars().count());
    }
}
