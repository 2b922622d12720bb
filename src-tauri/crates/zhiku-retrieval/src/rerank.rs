//! Reranking by late interaction: every token of the question looks for its nearest token in the passage (Khattab, Zaharia
//! 2020), once as embedded and once without the mean of the language, and the rare words they share count on top.
//!
//! `score = max_sim + 2 * centred + 0.5 * coverage + 0.25 * named`. Each part is an average over the question, so the score does not grow
//! with its length and means the same in every run. The weights are round numbers that were measured on public sets once
//! and are not fitted: any of 1 : 1 to 4 for the two similarities and 0.2 to 1 for the coverage ranks almost alike.
//! Token vectors are read from the vault, never computed here.

use std::collections::HashSet;

use zhiku_core::model::{EmbedSide, TokenMatrix};
use zhiku_vault::lexical::analyze;

use crate::language::{Language, LanguageMeans, dot, language_of};
use crate::recall::Asked;

const PLAIN_WEIGHT: f32 = 1.0;
const CENTRED_WEIGHT: f32 = 2.0;
const COVERAGE_WEIGHT: f32 = 0.5;
/// Half of what the words of a passage count: a title is about all of its document.
const NAMED_WEIGHT: f32 = 0.25;
/// A passage in another language cannot share the words. It is credited what a passage that answers in the same language
/// holds on average; names and numbers that are the same in both still count.
const CROSS_LANGUAGE_COVERAGE: f32 = 0.5;

/// How well one passage answers one query. The parts are comparable between runs with the same embedding model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Relevance {
    /// Mean over the query's tokens of the greatest cosine; `None` when the passage has no token vectors yet.
    pub max_sim: Option<f32>,
    /// The same with each language's mean subtracted; `None` without means.
    pub centred: Option<f32>,
    /// Mean of the lowest third of what `centred` averages: a question whose subject is there but not what is asked about it
    /// has a high `centred` and a low `weakest`.
    pub weakest: Option<f32>,
    /// Share of the query's telling words that the passage holds, by rarity.
    pub coverage: f32,
    /// Share of the document's title that the query names, by rarity.
    pub named: f32,
    /// Query and passage are in different languages.
    pub crosses: bool,
}

impl Relevance {
    /// Higher is better; `None` when only the words could be compared.
    pub fn score(&self) -> Option<f32> {
        let plain = self.max_sim?;
        let coverage = if self.crosses {
            CROSS_LANGUAGE_COVERAGE + (1.0 - CROSS_LANGUAGE_COVERAGE) * self.coverage
        } else {
            self.coverage
        };
        Some(
            PLAIN_WEIGHT * plain
                + CENTRED_WEIGHT * self.centred.unwrap_or(plain)
                + COVERAGE_WEIGHT * coverage
                + NAMED_WEIGHT * self.named,
        )
    }
}

/// Compares one query with one passage as indexed, header included.
pub(crate) fn relevance(
    asked: &Asked,
    indexed_text: &str,
    tokens: Option<&TokenMatrix>,
    means: &LanguageMeans,
    named: f32,
) -> Relevance {
    let found: HashSet<String> = analyze(indexed_text).into_iter().collect();
    let coverage = asked.terms.coverage(&found);
    let language = language_of(indexed_text);
    let crosses = crosses(asked.language, language);
    let similarity = match (&asked.vectors, tokens) {
        (Some(vectors), Some(tokens)) => {
            let ours = asked.language.or(language).and_then(|language| means.get(language, EmbedSide::Query));
            let theirs =
                language.or(asked.language).and_then(|language| means.get(language, EmbedSide::Passage));
            max_sim(
                &vectors.tokens,
                tokens,
                ours.zip(theirs).map(|(q, p)| (q.token.as_slice(), p.token.as_slice())),
            )
        }
        _ => None,
    };
    let centred = similarity.as_ref().and_then(|similarity| similarity.centred);
    Relevance {
        max_sim: similarity.as_ref().map(|similarity| similarity.plain),
        centred: centred.map(|(mean, _)| mean),
        weakest: centred.map(|(_, weakest)| weakest),
        coverage,
        named,
        crosses,
    }
}

/// Two known and different languages; a text without words is of any.
pub(crate) fn crosses(query: Option<Language>, passage: Option<Language>) -> bool {
    query.zip(passage).is_some_and(|(query, passage)| query != passage)
}

/// Mean over the query's tokens of the greatest cosine, plain and with both means subtracted. `None` when a side is empty.
///
/// The centred cosine comes out of the plain product: `(q - m)·(p - n) = q·p - q·n - m·p + m·n`, so the second similarity
/// costs two products per token and not per pair.
fn max_sim(
    query: &TokenMatrix,
    passage: &TokenMatrix,
    means: Option<(&[f32], &[f32])>,
) -> Option<Similarity> {
    if query.n_tokens() == 0 || passage.n_tokens() == 0 || query.dim != passage.dim {
        return None;
    }
    let asked: Vec<Row<'_>> = query.rows().map(|row| Row::of(row, means, Side::Query)).collect();
    let between_means = means.map_or(0.0, |(ours, theirs)| dot(ours, theirs));
    let mut best = vec![f32::MIN; asked.len()];
    let mut best_centred = vec![f32::MIN; asked.len()];
    for row in passage.rows() {
        let theirs = Row::of(row, means, Side::Passage);
        for (i, ours) in asked.iter().enumerate() {
            let product = dot(ours.values, theirs.values) * ours.scale * theirs.scale;
            best[i] = best[i].max(product);
            let centred = (product - ours.with_other_mean - theirs.with_other_mean + between_means)
                * ours.centred_scale
                * theirs.centred_scale;
            best_centred[i] = best_centred[i].max(centred);
        }
    }
    let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
    best_centred.sort_by(f32::total_cmp);
    let lowest_third = &best_centred[..(best_centred.len() / 3).max(1)];
    Some(Similarity { plain: mean(&best), centred: means.map(|_| (mean(&best_centred), mean(lowest_third))) })
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Similarity {
    plain: f32,
    /// Over all tokens, and over the lowest third of them.
    centred: Option<(f32, f32)>,
}

#[derive(Clone, Copy)]
enum Side {
    Query,
    Passage,
}

/// One token with what its similarities need.
struct Row<'a> {
    values: &'a [f32],
    /// Brings it to norm 1; stored vectors lost a little of theirs.
    scale: f32,
    /// Product of the unit vector with the mean of the other side.
    with_other_mean: f32,
    /// Brings the unit vector less the mean of its side to norm 1.
    centred_scale: f32,
}

impl<'a> Row<'a> {
    fn of(values: &'a [f32], means: Option<(&[f32], &[f32])>, side: Side) -> Self {
        let scale = inverse(dot(values, values).sqrt());
        let Some((query_mean, passage_mean)) = means else {
            return Self { values, scale, with_other_mean: 0.0, centred_scale: 0.0 };
        };
        let (own, other) = match side {
            Side::Query => (query_mean, passage_mean),
            Side::Passage => (passage_mean, query_mean),
        };
        let squared = 1.0 - 2.0 * dot(values, own) * scale + dot(own, own);
        Self {
            values,
            scale,
            with_other_mean: dot(values, other) * scale,
            centred_scale: inverse(squared.max(0.0).sqrt()),
        }
    }
}

fn inverse(norm: f32) -> f32 {
    if norm > 1e-6 { 1.0 / norm } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::centred;

    fn matrix(rows: &[[f32; 3]]) -> TokenMatrix {
        TokenMatrix { dim: 3, values: rows.concat() }
    }

    fn centred_rows(matrix: &TokenMatrix, mean: &[f32]) -> TokenMatrix {
        TokenMatrix { dim: matrix.dim, values: matrix.rows().flat_map(|row| centred(row, mean)).collect() }
    }

    #[test]
    fn each_token_of_the_question_takes_its_nearest() {
        let query = matrix(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
        let passage = matrix(&[[0.0, 0.6, 0.8], [2.0, 0.0, 0.0]]);
        let similarity = max_sim(&query, &passage, None).expect("both have tokens");
        assert!((similarity.plain - 0.8).abs() < 1e-6);
        assert_eq!(similarity.centred, None);
    }

    #[test]
    fn the_centred_similarity_equals_that_of_centred_vectors() {
        let query = matrix(&[[0.8, 0.6, 0.0], [0.0, 0.6, 0.8]]);
        let passage = matrix(&[[0.6, 0.0, 0.8], [0.48, 0.6, 0.64], [0.0, 1.0, 0.0]]);
        let (ours, theirs) = ([0.3, 0.4, 0.1], [0.2, 0.3, 0.4]);
        let similarity = max_sim(&query, &passage, Some((&ours, &theirs))).expect("both have tokens");
        let direct =
            max_sim(&centred_rows(&query, &ours), &centred_rows(&passage, &theirs), None).expect("tokens");
        let (centred, weakest) = similarity.centred.expect("means are there");
        assert!((centred - direct.plain).abs() < 1e-5);
        assert!(weakest <= centred);
    }

    #[test]
    fn without_tokens_there_is_no_score() {
        assert_eq!(max_sim(&TokenMatrix::default(), &matrix(&[[1.0, 0.0, 0.0]]), None), None);
        assert_eq!(Relevance { coverage: 1.0, ..Relevance::default() }.score(), None);
    }

    #[test]
    fn a_passage_in_another_language_is_not_punished_for_its_words() {
        let same = Relevance { max_sim: Some(0.8), centred: Some(0.5), ..Relevance::default() };
        let other = Relevance { crosses: true, ..same };
        assert!(other.score() > same.score());
        assert!(!crosses(None, Some(Language::English)) && !crosses(Some(Language::Chinese), None));
    }
}
