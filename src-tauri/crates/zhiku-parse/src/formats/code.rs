//! Source code, scripts, configuration: exact stretches of the file of about a hundred lines.
//!
//! A stretch ends at a blank line before something that starts at the left edge, where a function or section begins.

use zhiku_core::{DocumentKind, Locator, ParsedUnit, UnitKind};

use super::render::text_unit;
use super::stretch::{read_stretch, stretch};
use super::whole::{Whole, decode_source};
use crate::detect::extension;
use crate::encoding::looks_like_text;
use crate::error::ParseError;
use crate::parser::{DocumentParser, ParsedSummary, Source, UnitSink};

/// From this many lines on a unit may end where something new begins; at the most it has …
const GOOD_LINES: usize = 80;
/// … this many lines, or this many characters.
const MAX_LINES: usize = 140;
const MAX_CHARS: usize = 6_000;

const EXTENSIONS: &[&str] = &[
    "asm",
    "awk",
    "bas",
    "bash",
    "bat",
    "c",
    "cc",
    "cfg",
    "clj",
    "cljs",
    "cmake",
    "cmd",
    "conf",
    "cpp",
    "cs",
    "css",
    "cxx",
    "dart",
    "diff",
    "ex",
    "exs",
    "f90",
    "fs",
    "go",
    "gradle",
    "graphql",
    "groovy",
    "h",
    "hpp",
    "hs",
    "ini",
    "ipynb",
    "java",
    "jl",
    "js",
    "jsx",
    "kt",
    "kts",
    "less",
    "lisp",
    "lua",
    "m",
    "make",
    "mjs",
    "ml",
    "mm",
    "pas",
    "patch",
    "php",
    "pl",
    "plist",
    "pm",
    "properties",
    "proto",
    "ps1",
    "py",
    "pyi",
    "r",
    "rb",
    "rs",
    "sass",
    "scala",
    "scss",
    "sh",
    "sol",
    "sql",
    "svelte",
    "swift",
    "tcl",
    "tex",
    "tf",
    "toml",
    "ts",
    "tsx",
    "v",
    "vb",
    "vbs",
    "vhd",
    "vue",
    "wat",
    "xml",
    "xsd",
    "xsl",
    "yaml",
    "yml",
    "zig",
    "zsh",
];
const NAMES: &[&str] = &["makefile", "dockerfile", "gemfile", "rakefile", "jenkinsfile", "cmakelists.txt"];

pub(super) struct Code;

impl DocumentParser for Code {
    fn kind(&self) -> DocumentKind {
        DocumentKind::Code
    }

    fn sniff(&self, head: &[u8], name: &str) -> bool {
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name).to_lowercase();
        let is_named = extension(name).is_some_and(|found| EXTENSIONS.contains(&found.as_str()))
            || NAMES.contains(&file.as_str());
        is_named && looks_like_text(head)
    }

    fn parse(&self, source: &Source<'_>, sink: &mut dyn UnitSink) -> Result<ParsedSummary, ParseError> {
        let (decoded, lossy) = decode_source(source, None)?;
        let whole = Whole { units: units(&decoded.text), warnings: lossy.into_iter().collect() };
        whole.send(DocumentKind::Code, sink)
    }

    fn read_at(&self, source: &Source<'_>, locator: &Locator) -> Result<String, ParseError> {
        read_stretch(source, locator)
    }
}

fn units(text: &str) -> Vec<ParsedUnit> {
    let mut units = Vec::new();
    let mut unit = Stretch::default();
    let mut was_blank = true;
    for line in text.split_inclusive('\n') {
        let begins = was_blank && line.starts_with(|c: char| !c.is_whitespace() && !"})]".contains(c));
        let n_chars = line.chars().count();
        let is_full = unit.n_lines >= MAX_LINES || unit.n_chars + n_chars > MAX_CHARS;
        if is_full || (begins && unit.n_lines >= GOOD_LINES) {
            units.extend(unit.finish());
        }
        if n_chars > MAX_CHARS {
            // Minified code: any place is as good as another.
            for piece in line.chars().collect::<Vec<_>>().chunks(MAX_CHARS) {
                unit.push(&piece.iter().collect::<String>());
                units.extend(unit.finish());
            }
        } else {
            unit.push(line);
        }
        was_blank = line.trim().is_empty();
    }
    units.extend(unit.finish());
    units
}

#[derive(Default)]
struct Stretch {
    text: String,
    n_chars: usize,
    n_lines: usize,
    /// Characters of the file before `text`.
    offset: usize,
}

impl Stretch {
    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.n_chars += line.chars().count();
        self.n_lines += 1;
    }

    fn finish(&mut self) -> Option<ParsedUnit> {
        let text = std::mem::take(&mut self.text);
        let start = self.offset;
        self.offset += self.n_chars;
        (self.n_chars, self.n_lines) = (0, 0);
        let (locator, body) = stretch(&text, start)?;
        Some(text_unit(UnitKind::Section, locator, body.to_owned(), Vec::new()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_end_where_functions_begin_and_are_exact_stretches() {
        let function = format!("fn f() {{\n{}}}\n\n", "    let 数 = 1;\n".repeat(45));
        let text = format!("\n\n{}{}", function.repeat(8), "x".repeat(15_000));
        let units = units(&text);
        assert!(units.len() >= 5);
        let source = Source::new(text.as_bytes(), "a.rs");
        for unit in &units {
            assert_eq!(Code.read_at(&source, &unit.locator).as_ref(), Ok(&unit.text));
            assert!(unit.text.starts_with("fn f()") || unit.text.starts_with('x'));
        }
    }
}
