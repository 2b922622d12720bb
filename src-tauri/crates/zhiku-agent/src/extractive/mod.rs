//! The extractive answerer: selects, orders and trims sentences of the evidence. Every sentence of its answer stands word
//! for word in one source, so its quote is the sentence itself.
//!
//! Pure apart from an optional embedder that sharpens the choice. It answers each part of a question on its own and names the
//! parts for which nothing is above the threshold. Deliberately absent: words of its own beyond a few that carry no facts.

mod candidates;
mod complete;
mod score;
mod select;

use zhiku_core::model::Embedder;
use zhiku_core::{Citation, EvidenceId, EvidenceSet, Gap, Reason, RunContext, Stopped};

use crate::citations::cited::{CitedSentence, Part, QuoteRef, render};
use crate::text::segments::SegmentKind;
use crate::text::terms::{TermWeights, content_terms};
use crate::text::{Language, language_of};
use candidates::Candidate;
pub(crate) use score::similarities;

/// The most sentences of one answer.
const MAX_SENTENCES: usize = 6;

/// A part of the question and what was found for it, best first.
#[derive(Clone, Debug, PartialEq)]
pub struct SubQuery {
    pub text: String,
    pub evidence_ids: Vec<EvidenceId>,
    /// Retrieval found evidence for this part above its calibrated threshold.
    pub sufficient: bool,
}

/// What the extractive answerer works from.
pub struct ExtractInput<'a> {
    pub sub_queries: &'a [SubQuery],
    pub evidence: &'a EvidenceSet,
    /// How much the words of the question tell in this vault.
    pub weights: &'a TermWeights,
    /// Sharpens the choice and bridges languages; without it words decide alone.
    pub embedder: Option<&'a dyn Embedder>,
}

/// Selected sentences and the parts without any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extract {
    pub(crate) sentences: Vec<CitedSentence>,
    pub gaps: Vec<Gap>,
    /// Two sources state different figures for one matter.
    pub conflicts: Vec<Gap>,
    /// Why the embedder could not help.
    pub degraded: Option<Reason>,
}

impl Extract {
    pub fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }

    /// The text with its numbers, and what they stand for.
    pub fn render(&self, evidence: &EvidenceSet) -> (String, Vec<Citation>) {
        let rendered = render(&self.sentences, evidence);
        (rendered.text, rendered.citations)
    }
}

/// Selects the sentences that answer. Stops between model calls when `ctx` says so.
pub fn extract(input: &ExtractInput<'_>, ctx: &RunContext) -> Result<Extract, Stopped> {
    let candidates = candidates::of(input.evidence);
    let mut result = Extract::default();
    let mut used: Vec<usize> = Vec::new();
    let mut paragraphs: Vec<(Vec<usize>, Language)> = Vec::new();
    let n_parts = input.sub_queries.len().max(1);
    for (i, part) in input.sub_queries.iter().enumerate() {
        ctx.check()?;
        if !part.sufficient {
            result.gaps.push(gap(part, "evidence_insufficient"));
            continue;
        }
        let scored = score::score(part, &candidates, input, &mut result.degraded, ctx)?;
        // Room is kept for the parts still to come.
        let room = MAX_SENTENCES.saturating_sub(used.len() + (n_parts - i - 1)).max(1);
        let mut chosen = select::select(&scored, &candidates, &used, room.min(select::per_part(n_parts)));
        if chosen.is_empty() && !select::already_answered(&scored, &candidates, &used) {
            result.gaps.push(gap(part, "no_sentence_above_threshold"));
            continue;
        }
        chosen = complete::complete(
            chosen,
            &content_terms(&part.text),
            &scored,
            &candidates,
            &used,
            input.evidence,
        );
        if let Some(other) = select::conflicting(&chosen, &scored, &candidates, input.evidence) {
            result.conflicts.push(conflict(part, &chosen, other, &candidates, input.evidence));
            // Both sides are shown, next to each other.
            chosen.retain(|at| *at != other);
            chosen.insert(1, other);
        }
        used.extend(&chosen);
        if !chosen.is_empty() {
            paragraphs.push((chosen, language_of(&part.text)));
        }
    }
    for (chosen, language) in paragraphs {
        if chosen.iter().all(|at| candidates[*at].is_page_row()) {
            // A label alone is no sentence: say what it is. These words carry no facts and cite nothing.
            let words = match language {
                Language::Chinese => "见表格中的这一行：\n",
                Language::English => "See this row of the table:\n",
            };
            result.sentences.push(CitedSentence { parts: vec![Part::Text(words.to_owned())] });
        }
        result.sentences.extend(paragraph(&chosen, &candidates));
    }
    Ok(result)
}

fn gap(part: &SubQuery, code: &str) -> Gap {
    Gap { sub_query: part.text.clone(), reason: Reason::new(code) }
}

fn conflict(
    part: &SubQuery,
    chosen: &[usize],
    other: usize,
    candidates: &[Candidate],
    set: &EvidenceSet,
) -> Gap {
    let name = |candidate: usize| {
        let item = &set.items[candidates[candidate].evidence];
        format!("{} (v{})", item.title, item.version)
    };
    let reason = Reason::new("sources_conflict").with("a", name(chosen[0])).with("b", name(other));
    Gap { sub_query: part.text.clone(), reason }
}

/// The sentences of one part: running text, or one line each where rows and items stand together.
fn paragraph(chosen: &[usize], candidates: &[Candidate]) -> Vec<CitedSentence> {
    let is_line = |at: &usize| matches!(candidates[*at].kind, SegmentKind::Row | SegmentKind::ListItem);
    let n_lines = chosen.iter().filter(|at| is_line(at)).count();
    let mut sentences = Vec::new();
    for (i, at) in chosen.iter().enumerate() {
        let candidate = &candidates[*at];
        let as_line = (n_lines > 1 || candidate.is_page_row()) && is_line(at);
        let mut parts = Vec::new();
        let mark = if as_line { "- " } else { "" };
        parts.push(Part::Text(format!("{mark}{} ", candidate.shown)));
        parts.push(Part::Mark(QuoteRef { evidence: candidate.evidence, range: candidate.range.clone() }));
        let next = chosen.get(i + 1);
        let after = match next {
            None => "\n\n",
            Some(next) if n_lines > 1 && (as_line || is_line(next)) => "\n",
            Some(_) => " ",
        };
        parts.push(Part::Text(after.to_owned()));
        sentences.push(CitedSentence { parts });
    }
    sentences
}

#[cfg(test)]
mod tests;
