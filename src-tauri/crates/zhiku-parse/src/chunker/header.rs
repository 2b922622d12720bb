//! The header of a chunk: `title > heading > heading`, and below it the head of a table that began in an earlier chunk.

use std::cell::RefCell;
use std::collections::HashMap;

use super::pieces::{Piece, UnitText};

/// Writes headers that never take more than their share of a chunk.
pub(super) struct HeaderWriter<'a> {
    title: &'a str,
    count: &'a dyn Fn(&str) -> usize,
    max_tokens: usize,
    /// Costs of headers already counted: neighbouring chunks have the same.
    known: RefCell<HashMap<String, usize>>,
}

impl<'a> HeaderWriter<'a> {
    pub(super) fn new(title: &'a str, count: &'a dyn Fn(&str) -> usize, max_tokens: usize) -> Self {
        Self { title, count, max_tokens, known: RefCell::default() }
    }

    /// Tokens of the header that a chunk of these pieces gets.
    pub(super) fn cost(&self, pieces: &[&Piece], text: &UnitText<'_>) -> usize {
        self.tokens(&self.write(pieces, text))
    }

    pub(super) fn write(&self, pieces: &[&Piece], text: &UnitText<'_>) -> String {
        let mut header = self.path_line(&common_path(pieces));
        if let Some(head) = repeated_head(pieces, text) {
            let longer = if header.is_empty() { head.to_owned() } else { format!("{header}\n{head}") };
            if self.tokens(&longer) <= self.max_tokens {
                header = longer;
            }
        }
        header
    }

    /// Shortened from the outside in: the title and the nearest heading say most.
    fn path_line(&self, path: &[String]) -> String {
        let title = one_line(self.title);
        let mut path: Vec<String> =
            path.iter().map(|heading| one_line(heading)).filter(|heading| !heading.is_empty()).collect();
        if path.first() == Some(&title) {
            path.remove(0);
        }
        loop {
            let parts: Vec<&str> = std::iter::once(title.as_str())
                .chain(path.iter().map(String::as_str))
                .filter(|part| !part.is_empty())
                .collect();
            let line = parts.join(" > ");
            if self.tokens(&line) <= self.max_tokens {
                return line;
            }
            if path.is_empty() {
                return self.shorten(&title);
            }
            path.remove(0);
        }
    }

    fn shorten(&self, text: &str) -> String {
        let mut chars: Vec<char> = text.chars().collect();
        while !chars.is_empty() {
            chars.truncate(chars.len() / 2);
            let line: String = chars.iter().collect();
            if self.tokens(&line) <= self.max_tokens {
                return line.trim().to_owned();
            }
        }
        String::new()
    }

    fn tokens(&self, header: &str) -> usize {
        if header.is_empty() {
            return 0;
        }
        if let Some(known) = self.known.borrow().get(header) {
            return *known;
        }
        let tokens = (self.count)(header).saturating_sub((self.count)(""));
        self.known.borrow_mut().insert(header.to_owned(), tokens);
        tokens
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The headings that are above every piece.
fn common_path(pieces: &[&Piece]) -> Vec<String> {
    let mut common: &[String] = &pieces[0].path;
    for piece in pieces {
        let n = common.iter().zip(piece.path.iter()).take_while(|(a, b)| a == b).count();
        common = &common[..n];
    }
    common.to_vec()
}

/// The head of the table in whose middle the chunk begins.
fn repeated_head<'t>(pieces: &[&Piece], text: &UnitText<'t>) -> Option<&'t str> {
    let head = pieces[0].table.as_ref()?;
    (head.end > head.start && pieces[0].range.start > head.start).then(|| text.slice(head).trim())
}
