//! How well each candidate answers one part of a question.
//!
//! Scores of different kinds are not added as they are: words give a share (0 to 1), the embedder's similarity is
//! standardised over the candidates of this part first.

use std::collections::HashSet;

use zhiku_core::model::{EmbedSide, Embedder, Priority};
use zhiku_core::{ErrorCode, Reason, RunContext, Stopped};

use super::candidates::Candidate;
use super::{ExtractInput, SubQuery};
use crate::text::terms::content_terms;

/// The most candidates that the embedder looks at for one part of a question.
const MAX_EMBEDDED: usize = 24;
/// What a term in the heading, the column names or the sentence before counts against one in the sentence.
const CONTEXT_SHARE: f32 = 0.35;

#[derive(Clone, Copy, Debug)]
pub(super) struct Scored {
    pub(super) candidate: usize,
    /// Orders candidates of one part.
    pub(super) total: f32,
    /// Share of the question's words, context included.
    pub(super) words: f32,
    /// Mean over the question's tokens of the best cosine, where it was measured.
    pub(super) similarity: Option<f32>,
}

/// The candidates of the part's own evidence, best first.
pub(super) fn score(
    part: &SubQuery,
    candidates: &[Candidate],
    input: &ExtractInput<'_>,
    degraded: &mut Option<Reason>,
    ctx: &RunContext,
) -> Result<Vec<Scored>, Stopped> {
    let wanted = content_terms(&part.text);
    let asked = Asked::of(&part.text);
    let mut scored: Vec<(Scored, f32)> = candidates
        .iter()
        .enumerate()
        .filter_map(|(at, candidate)| {
            let id = &input.evidence.items[candidate.evidence].evidence_id;
            let rank = part.evidence_ids.iter().position(|own| own == id)?;
            let words = words_share(&wanted, candidate, input);
            let rest = prior(rank) + asked.bonus(candidate) - penalty(candidate);
            Some((Scored { candidate: at, total: words + rest, words, similarity: None }, rest))
        })
        .collect();
    scored.sort_by(|a, b| b.0.total.total_cmp(&a.0.total));
    if let Some(embedder) = input.embedder {
        let n = scored.len().min(MAX_EMBEDDED);
        let texts: Vec<&str> =
            scored[..n].iter().map(|(one, _)| candidates[one.candidate].shown.as_str()).collect();
        match similarities(&part.text, &texts, embedder, ctx) {
            Ok(similarities) => blend(&mut scored, &similarities),
            Err(error) if error.code == ErrorCode::Cancelled => return Err(Stopped::Cancelled),
            Err(error) => {
                *degraded = Some(Reason::new("embedder_unavailable").with("code", error.code.as_str()));
            }
        }
    }
    let mut scored: Vec<Scored> = scored.into_iter().map(|(one, _)| one).collect();
    scored.sort_by(|a, b| b.total.total_cmp(&a.total));
    Ok(scored)
}

fn words_share(wanted: &HashSet<String>, candidate: &Candidate, input: &ExtractInput<'_>) -> f32 {
    let own = input.weights.share(wanted, &candidate.terms);
    let both: HashSet<String> = candidate.terms.union(&candidate.context).cloned().collect();
    own + CONTEXT_SHARE * (input.weights.share(wanted, &both) - own)
}

/// Retrieval's order counts a little.
fn prior(rank: usize) -> f32 {
    0.12 / (1.0 + rank as f32 * 0.5)
}

fn penalty(candidate: &Candidate) -> f32 {
    let mut penalty = 0.0;
    if candidate.fragment {
        penalty += 0.12;
    }
    if candidate.is_short() && !candidate.is_page_row() && !candidate.whole_row {
        penalty += 0.12;
    }
    if candidate.shown.ends_with(['?', '？']) {
        penalty += 0.2;
    }
    penalty
}

/// What kind of thing a question asks for.
struct Asked {
    figure: bool,
    date: bool,
}

impl Asked {
    fn of(question: &str) -> Self {
        let text = format!(" {} ", question.to_lowercase());
        let any = |words: &[&str]| words.iter().any(|word| text.contains(word));
        Self {
            figure: any(&[
                "多少",
                "几",
                "多大",
                "多长",
                "多高",
                "多久",
                "上限",
                "价格",
                "金额",
                "比例",
                "how many",
                "how much",
                "how long",
                "how old",
                "how far",
                "what percent",
                "limit",
                "amount",
                "rate",
                "number of",
                "price",
                "cost",
            ]),
            date: any(&[
                "哪年",
                "哪一年",
                "何时",
                "什么时候",
                "哪天",
                "日期",
                "时间",
                " when ",
                "what year",
                "what date",
                "which year",
            ]),
        }
    }

    fn bonus(&self, candidate: &Candidate) -> f32 {
        let figure = self.figure && !candidate.figures.is_empty();
        let date = self.date && (candidate.has_date || !candidate.figures.is_empty());
        if figure || date { 0.1 } else { 0.0 }
    }
}

/// Replaces half of the words' weight by the standardised similarity.
fn blend(scored: &mut [(Scored, f32)], similarities: &[f32]) {
    let n = similarities.len() as f32;
    let mean = similarities.iter().sum::<f32>() / n.max(1.0);
    let variance = similarities.iter().map(|s| (s - mean).powi(2)).sum::<f32>() / n.max(1.0);
    // Among near-equal candidates the similarity must not be blown up.
    let spread = variance.sqrt().max(0.01);
    for ((one, rest), similarity) in scored.iter_mut().zip(similarities) {
        let standard = ((similarity - mean) / spread).clamp(-2.5, 2.5) / 5.0 + 0.5;
        one.similarity = Some(*similarity);
        one.total = 0.5 * one.words + 0.5 * standard + *rest;
    }
    for (one, rest) in scored.iter_mut().skip(similarities.len()) {
        one.total = 0.5 * one.words + *rest;
    }
}

/// Late interaction of the question with each text.
pub(crate) fn similarities(
    question: &str,
    texts: &[&str],
    embedder: &dyn Embedder,
    ctx: &RunContext,
) -> Result<Vec<f32>, zhiku_core::model::ModelError> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let query = embedder.embed(&[question], EmbedSide::Query, Priority::Interactive, ctx)?;
    let passages = embedder.embed(texts, EmbedSide::Passage, Priority::Interactive, ctx)?;
    let Some(query) = query.first() else { return Ok(vec![0.0; texts.len()]) };
    Ok(passages.iter().map(|passage| max_sim(query, passage)).collect())
}

fn max_sim(query: &zhiku_core::model::Embedding, passage: &zhiku_core::model::Embedding) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    let sum: f32 = query
        .tokens
        .rows()
        .map(|row| passage.tokens.rows().map(|other| dot(row, other)).fold(-1.0, f32::max))
        .sum();
    sum / query.tokens.n_tokens().max(1) as f32
}
