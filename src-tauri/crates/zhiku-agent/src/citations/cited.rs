//! An answer as sentences with their quotes: what both writers produce, what the verifier judges, what is rendered.

use std::fmt::Write as _;
use std::ops::Range;

use zhiku_core::{Citation, EvidenceId, EvidenceSet};

use super::quote::best_quote;
use super::{CitationBook, Numbered};
use crate::citations::guard::Piece;

/// A quote: an item of the evidence set and characters of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QuoteRef {
    pub(crate) evidence: usize,
    pub(crate) range: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Text(String),
    Mark(QuoteRef),
}

/// One sentence, the white space after it included, so that sentences put together give the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CitedSentence {
    pub(crate) parts: Vec<Part>,
}

impl CitedSentence {
    /// The words without marks.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for part in &self.parts {
            if let Part::Text(words) = part {
                // `night [1].` reads `night.` without its mark.
                if words.starts_with([
                    '.', ',', ';', ':', '!', '?', ')', '。', '，', '；', '：', '！', '？', '、', '）',
                ]) {
                    text.truncate(text.trim_end().len());
                }
                text.push_str(words);
            }
        }
        text.trim().to_owned()
    }

    pub(crate) fn quotes(&self) -> impl Iterator<Item = &QuoteRef> {
        self.parts.iter().filter_map(|part| match part {
            Part::Mark(quote) => Some(quote),
            Part::Text(_) => None,
        })
    }

    fn push_char(&mut self, c: char) {
        if let Some(Part::Text(text)) = self.parts.last_mut() {
            text.push(c);
        } else {
            self.parts.push(Part::Text(c.to_string()));
        }
    }
}

/// A text with its numbers given out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rendered {
    pub(crate) text: String,
    pub(crate) citations: Vec<Citation>,
    /// Per sentence, the numbers it cites.
    pub(crate) numbers: Vec<Vec<u32>>,
}

/// Puts sentences together; numbers are given out in order of first use.
pub(crate) fn render(sentences: &[CitedSentence], evidence: &EvidenceSet) -> Rendered {
    let mut book = CitationBook::default();
    let mut rendered = Rendered::default();
    for sentence in sentences {
        let mut cited = Vec::new();
        for part in &sentence.parts {
            match part {
                Part::Text(text) => rendered.text.push_str(text),
                Part::Mark(quote) => {
                    let Some(item) = evidence.items.get(quote.evidence) else { continue };
                    let n = book.number(item, &quote.range).n();
                    let _ = write!(rendered.text, "[{n}]");
                    cited.push(n);
                }
            }
        }
        cited.dedup();
        rendered.numbers.push(cited);
    }
    rendered.text = rendered.text.trim().to_owned();
    rendered.citations = book.into_citations();
    rendered
}

/// What reaches a reader while the text grows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Emit {
    Text(String),
    /// Goes before the text that shows the number for the first time.
    Citation {
        n: u32,
        evidence_id: EvidenceId,
    },
}

/// Cuts a growing text into sentences and gives each mark the quote that carries its sentence.
#[derive(Debug)]
pub(crate) struct CitedText<'a> {
    evidence: &'a EvidenceSet,
    sentences: Vec<CitedSentence>,
    book: CitationBook,
    ended: bool,
}

impl<'a> CitedText<'a> {
    pub(crate) fn new(evidence: &'a EvidenceSet) -> Self {
        Self { evidence, sentences: Vec::new(), book: CitationBook::default(), ended: true }
    }

    pub(crate) fn push(&mut self, pieces: Vec<Piece>) -> Vec<Emit> {
        let mut out = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    text.chars().for_each(|c| self.char(c));
                    emit_text(&mut out, &text);
                }
                Piece::Marks(numbers) => numbers.into_iter().for_each(|n| self.mark(n - 1, &mut out)),
            }
        }
        out
    }

    pub(crate) fn into_sentences(self) -> Vec<CitedSentence> {
        self.sentences
    }

    fn char(&mut self, c: char) {
        if c == '\n' {
            self.ended = true;
        }
        let joins = c.is_whitespace()
            || matches!(c, '.' | '。' | '!' | '！' | '?' | '？' | '”' | '"' | '）' | ')' | '」');
        if self.sentences.is_empty() || (self.ended && !joins) {
            self.sentences.push(CitedSentence::default());
            self.ended = false;
        }
        let Some(sentence) = self.sentences.last_mut() else { return };
        // A point ends a sentence only when a space follows: 3.5 and v2.1 go on.
        if c.is_whitespace() && ends_with_full_stop(&sentence.text()) {
            self.ended = true;
        }
        sentence.push_char(c);
        if matches!(c, '。' | '！' | '？' | '!' | '?') {
            self.ended = true;
        }
    }

    fn mark(&mut self, evidence: usize, out: &mut Vec<Emit>) {
        let Some(item) = self.evidence.items.get(evidence) else { return };
        if self.sentences.is_empty() {
            self.sentences.push(CitedSentence::default());
            self.ended = false;
        }
        let Some(sentence) = self.sentences.last_mut() else { return };
        let Some(range) = best_quote(&sentence.text(), item) else { return };
        let numbered = self.book.number(item, &range);
        sentence.parts.push(Part::Mark(QuoteRef { evidence, range }));
        if let Numbered::New(n) = numbered {
            out.push(Emit::Citation { n, evidence_id: item.evidence_id.clone() });
        }
        emit_text(out, &format!("[{}]", numbered.n()));
    }
}

fn emit_text(out: &mut Vec<Emit>, text: &str) {
    if let Some(Emit::Text(last)) = out.last_mut() {
        last.push_str(text);
    } else {
        out.push(Emit::Text(text.to_owned()));
    }
}

fn ends_with_full_stop(text: &str) -> bool {
    let Some(before) = text.trim_end_matches(['"', '”', ')']).strip_suffix('.') else { return false };
    let word = before.rsplit(|c: char| c.is_whitespace()).next().unwrap_or("");
    let abbreviation = [
        "e.g", "i.e", "etc", "Inc", "Corp", "Co", "Ltd", "No", "Mr", "Mrs", "Ms", "Dr", "vs", "approx",
        "Fig", "U.S",
    ];
    // `1.` at the start of a line numbers an item.
    let is_counter = word.len() <= 2 && word.chars().all(|c| c.is_ascii_digit());
    word.chars().count() > 1 && !is_counter && !abbreviation.contains(&word)
}
