//! Keeps citation marks apart from the text of a model while it streams.
//!
//! A mark may be cut anywhere between two deltas, so from an opening bracket on the text is held back until it is clear what
//! it is. What comes out does not depend on where the stream was cut (property test). A mark that names no evidence never
//! comes out, also not pieced together from the remains of nested brackets.

use unicode_normalization::UnicodeNormalization;

/// Longer brackets are no marks.
const MAX_HELD: usize = 400;

/// Words that models put into their marks.
const MARK_WORDS: &[&str] = &[
    "source", "sources", "ref", "evidence", "doc", "document", "cite", "来源", "证据", "资料", "文献",
    "参考", "引用",
];

/// What the guard lets through, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    /// Numbers of evidence as the model was given them, from 1; all of them exist.
    Marks(Vec<usize>),
}

/// Feed deltas with [`Self::push`], end with [`Self::finish`].
#[derive(Clone, Debug)]
pub(crate) struct MarkerGuard {
    n_evidence: usize,
    held: Vec<char>,
    /// Spaces whose fate depends on what follows: before a mark that is taken out they go too.
    spaces: String,
    removed: Vec<String>,
    after_removal: bool,
}

impl MarkerGuard {
    pub(crate) fn new(n_evidence: usize) -> Self {
        Self {
            n_evidence,
            held: Vec::new(),
            spaces: String::new(),
            removed: Vec::new(),
            after_removal: false,
        }
    }

    /// Marks that were taken out because they name nothing, as written.
    pub(crate) fn removed(&self) -> &[String] {
        &self.removed
    }

    pub(crate) fn push(&mut self, delta: &str) -> Vec<Piece> {
        let mut out = Pieces::default();
        for c in delta.chars() {
            self.step(c, &mut out);
        }
        out.0
    }

    pub(crate) fn finish(&mut self) -> Vec<Piece> {
        let mut out = Pieces::default();
        let held: String = self.held.drain(..).collect();
        if is_mark_start(&held) {
            self.removed.push(held);
        } else {
            self.text(&held, &mut out);
        }
        self.spaces.clear();
        out.0
    }

    fn step(&mut self, c: char, out: &mut Pieces) {
        if is_open(c) {
            self.held.push(c);
        } else if self.held.is_empty() {
            self.text(c.encode_utf8(&mut [0; 4]), out);
        } else if is_close(c) {
            self.held.push(c);
            self.close(out);
        } else {
            self.held.push(c);
            if self.held.len() > MAX_HELD {
                // The bracket must not become half of a mark together with what follows.
                let held: String = self.held.drain(..).map(|c| if is_open(c) { '(' } else { c }).collect();
                self.text(&held, out);
            }
        }
    }

    fn close(&mut self, out: &mut Pieces) {
        let open = self.held.iter().rposition(|c| is_open(*c)).unwrap_or(0);
        let bracket: String = self.held[open..].iter().collect();
        let Some(numbers) = parse_mark(&bracket) else {
            let held: String = self.held.drain(..).collect();
            self.text(&held, out);
            return;
        };
        self.held.truncate(open);
        let known: Vec<usize> =
            numbers.iter().copied().filter(|n| (1..=self.n_evidence).contains(n)).collect();
        if known.len() < numbers.len() {
            self.removed.push(bracket);
        }
        if known.is_empty() {
            self.after_removal = true;
            return;
        }
        let held: String = self.held.drain(..).collect();
        self.text(&held, out);
        self.flush_spaces(out);
        out.marks(known);
    }

    /// Visible text. An opening bracket in it can no longer begin a mark.
    fn text(&mut self, text: &str, out: &mut Pieces) {
        for c in text.chars() {
            if c == ' ' {
                self.spaces.push(c);
                continue;
            }
            if self.after_removal && is_closing_punctuation(c) {
                self.spaces.clear();
            }
            self.after_removal = false;
            self.flush_spaces(out);
            out.char(c);
        }
    }

    fn flush_spaces(&mut self, out: &mut Pieces) {
        for c in self.spaces.drain(..) {
            out.char(c);
        }
    }
}

#[derive(Default)]
struct Pieces(Vec<Piece>);

impl Pieces {
    fn char(&mut self, c: char) {
        if let Some(Piece::Text(text)) = self.0.last_mut() {
            text.push(c);
        } else {
            self.0.push(Piece::Text(c.to_string()));
        }
    }

    fn marks(&mut self, numbers: Vec<usize>) {
        self.0.push(Piece::Marks(numbers));
    }
}

fn is_open(c: char) -> bool {
    matches!(c, '[' | '［' | '【')
}

fn is_close(c: char) -> bool {
    matches!(c, ']' | '］' | '】')
}

fn is_closing_punctuation(c: char) -> bool {
    matches!(
        c,
        '.' | ','
            | ';'
            | ':'
            | '!'
            | '?'
            | ')'
            | '\n'
            | '。'
            | '，'
            | '；'
            | '：'
            | '！'
            | '？'
            | '）'
            | '、'
    )
}

/// The numbers of `[1]`, `[1, 2]`, `[1-3]`, `【1】`, `［１］`, `[D1]`, `[^1]`, `[来源 1]`, `【1†source】`; `None` for other brackets.
fn parse_mark(bracket: &str) -> Option<Vec<usize>> {
    let folded: String = bracket.nfkc().flat_map(char::to_lowercase).collect();
    let inner = folded.trim_matches(|c| is_open(c) || is_close(c));
    let inner = inner.split('†').next().unwrap_or(inner);
    let mut inner = inner.trim().to_owned();
    for word in MARK_WORDS {
        inner = inner.replace(word, " ");
    }
    if !inner.contains(|c: char| c.is_ascii_digit()) || !inner.chars().all(is_mark_char) {
        return None;
    }
    let inner = inner.replace(['–', '—', '~', '～'], "-");
    let mut numbers = Vec::new();
    for part in inner.split([',', '、', ';', ' ', '\n', '&']).map(str::trim).filter(|part| !part.is_empty())
    {
        let ends: Vec<Option<usize>> = part
            .split('-')
            .map(|end| end.trim_start_matches(['d', '^', '#', ':', '.']).parse().ok())
            .collect();
        match ends[..] {
            [Some(n)] => numbers.push(n),
            [Some(from), Some(to)] if from <= to && to - from < 20 => numbers.extend(from..=to),
            // A number too large to read still is a mark, of nothing.
            _ => numbers.push(0),
        }
    }
    let mut seen = std::collections::HashSet::new();
    numbers.retain(|n| seen.insert(*n));
    Some(numbers)
}

fn is_mark_char(c: char) -> bool {
    c.is_ascii_digit()
        || c.is_whitespace()
        || matches!(c, ',' | '、' | ';' | '&' | '-' | '–' | '—' | '~' | 'd' | '^' | '#' | ':' | '.')
}

/// Whether the held text can only be the beginning of a mark: at the end of a stream it is dropped.
fn is_mark_start(held: &str) -> bool {
    let folded: String = held.nfkc().flat_map(char::to_lowercase).collect();
    folded.chars().any(|c| c.is_ascii_digit()) && folded.chars().all(|c| is_open(c) || is_mark_char(c))
}

#[cfg(test)]
mod tests;
