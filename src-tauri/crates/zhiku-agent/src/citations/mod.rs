//! From marks in a text to places in sources.
//!
//! A number `[n]` stands for one quote of one piece of evidence, so two sentences that rest on different sentences of one
//! page get two numbers, and each opens at its own words. [`guard`] keeps every other mark away from the reader while a
//! model writes, [`quote`] finds the words that a sentence rests on, [`CitationBook`] gives out the numbers.

pub(crate) mod cited;
pub(crate) mod guard;
pub(crate) mod quote;

use std::ops::Range;

use zhiku_core::{Citation, Evidence};

use crate::text::slice;

/// The numbers given out so far, in order of first use.
#[derive(Clone, Debug, Default)]
pub(crate) struct CitationBook {
    citations: Vec<Citation>,
}

impl CitationBook {
    /// The number of the quote at `range` (characters of the evidence's text); `true` when it is new.
    pub(crate) fn number(&mut self, evidence: &Evidence, range: &Range<usize>) -> Numbered {
        let char_start = evidence.char_start + range.start as u32;
        let char_end = evidence.char_start + range.end as u32;
        let known = self.citations.iter().find(|citation| {
            citation.evidence_id == evidence.evidence_id
                && citation.char_start == char_start
                && citation.char_end == char_end
        });
        if let Some(citation) = known {
            return Numbered::Known(citation.n);
        }
        let n = self.citations.len() as u32 + 1;
        self.citations.push(Citation {
            n,
            evidence_id: evidence.evidence_id.clone(),
            document: evidence.document_id,
            version: evidence.version,
            title: evidence.title.clone(),
            locator: evidence.locator.clone(),
            quote: slice(&evidence.text, range),
            char_start,
            char_end,
            unit_id: evidence.unit_id,
        });
        Numbered::New(n)
    }

    pub(crate) fn into_citations(self) -> Vec<Citation> {
        self.citations
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbered {
    New(u32),
    Known(u32),
}

impl Numbered {
    pub(crate) fn n(self) -> u32 {
        match self {
            Self::New(n) | Self::Known(n) => n,
        }
    }
}
