//! Whether what was found answers a part of the question. "Some hit" is not enough: a search always has a best hit.
//!
//! # The curve
//! A logistic curve over what reranking measured, `p = 1 / (1 + exp(-x))`:
//! - one language: `x = -8 + 20 * weakest + 2.5 * coverage`
//! - two languages: `x = -9 + 12 * centred + 14 * weakest`
//!
//! `weakest` decides: it is low when the passage is about the right thing but not about what is asked of it, where every
//! average is high. Fitted (multilingual-e5-small, q4) on `calibration/questions.tsv`, 62 questions that the passages of
//! `calibration/passages.tsv` answer and 58 that they do not though most sound as if they did, then rounded; left out one by
//! one, the area under the curve is 0.93 in one language and 0.91 across. At the default threshold, with the two rules
//! below, 55 of the 62 are accepted and 6 of the 58 (`tests/it/calibration.rs`). What is wrongly accepted names the right
//! thing and lacks the fact: the answer's own check of each sentence is the second gate. Without vectors only
//! [`Thresholds::lexical_coverage`] is asked.
//! Another embedding model needs another fit.
//!
//! Two things must be in the evidence whatever the curve says: a code that the question names (M-209 does not answer for
//! M-208), and an amount of money when it asks for a price.

use std::collections::HashSet;

use zhiku_vault::lexical::analyze;

use crate::amount::{asks_for_amount, holds_amount};
use crate::rerank::Relevance;
use crate::search::Ranked;
use crate::words::content_terms;

/// How many of the best are looked at.
const N_JUDGED: usize = 3;

/// Where the line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Least probability that a passage answers.
    pub sufficient: f32,
    /// Least coverage when only words could be compared.
    pub lexical_coverage: f32,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { sufficient: 0.45, lexical_coverage: 0.55 }
    }
}

/// What assessment says of one part.
#[derive(Clone, Debug, PartialEq)]
pub enum Sufficiency {
    Sufficient,
    /// The best there is does not answer.
    TooWeak,
    /// The question asks for a price, and there is none.
    AmountMissing,
    /// A code that the question names stands nowhere.
    CodeMissing(String),
    /// Nothing was found at all.
    Nothing,
}

impl Sufficiency {
    pub(crate) fn is_sufficient(&self) -> bool {
        *self == Self::Sufficient
    }
}

/// The probability that a passage answers, by the curve; `None` when only words could be compared.
pub(crate) fn probability(relevance: &Relevance) -> Option<f32> {
    let (centred, weakest) = relevance.centred.zip(relevance.weakest)?;
    let x = if relevance.crosses {
        -9.0 + 12.0 * centred + 14.0 * weakest
    } else {
        -8.0 + 20.0 * weakest + 2.5 * relevance.coverage
    };
    Some(1.0 / (1.0 + (-x).exp()))
}

fn answers(relevance: &Relevance, thresholds: Thresholds) -> bool {
    match probability(relevance) {
        Some(probability) => probability >= thresholds.sufficient,
        None => relevance.coverage >= thresholds.lexical_coverage,
    }
}

/// Judges a part by its best candidates.
pub(crate) fn assess(question: &str, ranked: &[Ranked], thresholds: Thresholds) -> Sufficiency {
    let best = &ranked[..ranked.len().min(N_JUDGED)];
    if best.is_empty() {
        return Sufficiency::Nothing;
    }
    let mut good: Vec<&Ranked> =
        best.iter().filter(|ranked| answers(&ranked.relevance, thresholds)).collect();
    if good.is_empty() {
        return Sufficiency::TooWeak;
    }
    if asks_for_amount(question) {
        good.retain(|ranked| holds_amount(&ranked.row.chunk.indexed_text()));
        if good.is_empty() {
            return Sufficiency::AmountMissing;
        }
    }
    let codes = codes(question);
    if codes.is_empty() {
        return Sufficiency::Sufficient;
    }
    let held: HashSet<String> =
        good.iter().flat_map(|ranked| analyze(&ranked.row.chunk.indexed_text())).collect();
    match codes.into_iter().find(|code| !held.contains(code)) {
        Some(missing) => Sufficiency::CodeMissing(missing),
        None => Sufficiency::Sufficient,
    }
}

/// The question's codes in one piece: letters and digits together, `M-208`, `E17`. A plain number is no code, it may be spelled
/// otherwise; nor is a year with its prefix (`FY2019`).
fn codes(question: &str) -> Vec<String> {
    let is_code = |term: &String| {
        let letters = term.chars().filter(char::is_ascii_alphabetic).count();
        let digits = term.chars().filter(char::is_ascii_digit).count();
        let is_period = term.starts_with("fy")
            || term.starts_with('q') && digits == 1
            || term.ends_with("th")
            || term.ends_with("st");
        letters > 0 && letters <= 6 && digits > 0 && term.is_ascii() && !is_period
    };
    content_terms(question).into_iter().filter(is_code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relevance(weakest: f32, coverage: f32) -> Relevance {
        Relevance {
            max_sim: Some(0.85),
            centred: Some(0.6),
            weakest: Some(weakest),
            coverage,
            ..Relevance::default()
        }
    }

    #[test]
    fn the_curve_rises_with_the_weakest_word_and_with_coverage() {
        let p = |weakest, coverage| probability(&relevance(weakest, coverage)).expect("has vectors");
        assert!(p(0.5, 1.0) > 0.95 && p(0.2, 0.0) < 0.05);
        assert!(p(0.35, 0.8) > p(0.35, 0.2) && p(0.4, 0.5) > p(0.3, 0.5));
        assert_eq!(probability(&Relevance::default()), None);
    }

    #[test]
    fn words_alone_are_judged_by_coverage() {
        let words = |coverage| Relevance { coverage, ..Relevance::default() };
        assert!(answers(&words(0.8), Thresholds::default()));
        assert!(!answers(&words(0.3), Thresholds::default()));
    }

    #[test]
    fn what_is_a_code_in_a_question() {
        assert_eq!(codes("What does alarm E42 mean?"), ["e42"]);
        assert!(codes("What was the revenue in FY2019 and in 2020?").is_empty());
        assert!(codes("海棠 A 用了哪种防水材料？").is_empty());
    }

    #[test]
    fn nothing_found_is_not_enough() {
        assert_eq!(assess("x", &[], Thresholds::default()), Sufficiency::Nothing);
    }
}
