//! Checks each sentence of an answer against what it cites.
//!
//! Rules first: a sentence that stands in its source is supported; numbers, dates, codes and names must occur there; a denial
//! must be a denial there. What is left is judged by how many of its words the source has, and, where the words cannot
//! tell (another language), by a similarity that the caller measured. Deliberately absent: general knowledge.

mod negation;

use std::collections::HashSet;

use zhiku_core::{Evidence, Reason, Support};

use crate::citations::quote::overlap;
use crate::facts::{Decimal, Fact, Stated, Unit, facts};
use crate::text::terms::content_terms;
use crate::text::{language_of, plain};

/// Shares of a claim's words that its source must have.
const SUPPORTED_SHARE: f32 = 0.55;
const PARTLY_SHARE: f32 = 0.3;
/// Late-interaction similarity (mean over the claim's tokens of the best cosine) from which two texts are on one matter.
const SAME_MATTER_SIMILARITY: f32 = 0.84;

/// What a judgement rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// A rule decided; a similarity would change nothing.
    Rule,
    /// The share of common words decided; a similarity may know better.
    Words,
}

/// A judgement with the words that decided it.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub support: Support,
    pub reason: Reason,
    pub basis: Basis,
}

fn by_rule(support: Support, reason: Reason) -> Verdict {
    Verdict { support, reason, basis: Basis::Rule }
}

fn by_words(support: Support, reason: Reason) -> Verdict {
    Verdict { support, reason, basis: Basis::Words }
}

/// Judges `claim` by the pieces of evidence it cites. `similarity` is the highest late-interaction similarity between the
/// claim and a cited quote, where it was measured.
pub fn verify(claim: &str, cited: &[&Evidence], similarity: Option<f32>) -> Verdict {
    if cited.is_empty() {
        return by_rule(Support::Unsupported, Reason::new("no_citation"));
    }
    let source = Source::of(cited);
    let tight_claim = tight(claim);
    if tight_claim.chars().count() >= 4 && source.tight.contains(&tight_claim) {
        return by_rule(Support::Supported, Reason::new("quoted"));
    }
    // Figures are compared as facts; the words are what is left.
    let mut wanted = content_terms(claim);
    wanted.retain(|term| !term.chars().any(|c| c.is_ascii_digit()));
    let share = overlap(&wanted, &source.terms);
    let same_language = language_of(claim) == language_of(&source.text);
    let stated = facts(claim);
    if let Some(found) = facts_verdict(&stated, &source, share, same_language) {
        return found;
    }
    if let Some(mismatch) = negation::mismatch(claim, &source.text) {
        let reason =
            Reason::new("negation_differs").with("claim", mismatch.claim).with("source", mismatch.source);
        return by_rule(Support::Contradicted, reason);
    }
    words_verdict(&wanted, &stated, &source, share, similarity, same_language)
}

/// What the cited evidence says, prepared for comparison.
struct Source {
    text: String,
    /// Text, headings and title: names and dates may stand there.
    with_context: String,
    tight: String,
    terms: HashSet<String>,
    facts: Vec<Stated>,
    context_facts: Vec<Stated>,
}

impl Source {
    fn of(cited: &[&Evidence]) -> Self {
        let join = |part: fn(&Evidence) -> String| {
            cited.iter().map(|item| part(item)).collect::<Vec<_>>().join("\n")
        };
        let text = join(|item| item.text.clone());
        let context = join(|item| format!("{}\n{}", item.title, item.header));
        Self {
            tight: tight(&text),
            terms: content_terms(&format!("{text}\n{context}")),
            facts: facts(&text),
            context_facts: facts(&context),
            with_context: plain(&format!("{text}\n{context}")).to_lowercase(),
            text,
        }
    }

    fn holds(&self, fact: &Fact) -> bool {
        let stated = || self.facts.iter().map(|stated| &stated.fact);
        match fact {
            Fact::Number { value, unit } => stated().any(|other| match other {
                Fact::Number { value: held, unit: held_unit } => {
                    (held == value || self.scaled(held, value)) && compatible(*unit, *held_unit)
                }
                // 2019 alone is read as a year on one side and may be a plain number on the other.
                Fact::Date { year: Some(year), month: None, day: None } => {
                    unit.is_none() && Decimal::parse(&year.to_string(), 0) == *value
                }
                _ => false,
            }),
            Fact::Date { year, month, day } => {
                let within = |wanted: &Option<u32>, held: &Option<u32>| wanted.is_none() || wanted == held;
                stated().chain(self.context_facts.iter().map(|stated| &stated.fact)).any(
                    |other| match other {
                        Fact::Date { year: y, month: m, day: d } => {
                            within(year, y) && within(month, m) && within(day, d)
                        }
                        Fact::Number { value, .. } => {
                            month.is_none()
                                && year.is_some_and(|year| Decimal::parse(&year.to_string(), 0) == *value)
                        }
                        _ => false,
                    },
                )
            }
            Fact::Code(code) => occurs_alone(&self.with_context, code),
            Fact::Name(name) => self.with_context.contains(name.trim_end_matches("'s")),
        }
    }

    /// `1,577 million` may stand as 1,577 in a table whose head says "in millions".
    fn scaled(&self, held: &Decimal, wanted: &Decimal) -> bool {
        held.digits == wanted.digits
            && ["million", "thousand", "billion", "万元", "千元", "百万", "亿元"]
                .iter()
                .any(|scale| self.with_context.contains(scale))
    }
}

fn compatible(a: Option<Unit>, b: Option<Unit>) -> bool {
    match (a, b) {
        // A bare number is no percentage.
        (Some(Unit::Percent), None) | (None, Some(Unit::Percent)) => false,
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}

/// Something the claim states is not in the source.
fn facts_verdict(stated: &[Stated], source: &Source, share: f32, same_language: bool) -> Option<Verdict> {
    let missing: Vec<&Stated> = stated
        .iter()
        .filter(|stated| same_language || !matches!(stated.fact, Fact::Name(_)))
        .filter(|stated| !source.holds(&stated.fact))
        .collect();
    let first = missing.first()?;
    let words = missing.iter().map(|stated| stated.words.clone()).collect::<Vec<_>>().join(", ");
    if let Some(other) = rival(&first.fact, source).filter(|_| share >= PARTLY_SHARE) {
        let reason = Reason::new("number_differs").with("claim", &first.words).with("source", &other.words);
        return Some(by_rule(Support::Contradicted, reason));
    }
    let code = match first.fact {
        Fact::Number { .. } => "number_missing",
        Fact::Date { .. } => "date_missing",
        Fact::Code(_) => "code_missing",
        Fact::Name(_) => "name_missing",
    };
    Some(by_rule(Support::Unsupported, Reason::new(code).with("words", words)))
}

/// A fact of the same kind that the source states instead.
fn rival<'a>(fact: &Fact, source: &'a Source) -> Option<&'a Stated> {
    source.facts.iter().find(|other| match (fact, &other.fact) {
        (Fact::Number { unit: Some(a), value }, Fact::Number { unit: Some(b), value: held }) => {
            a == b || value == held
        }
        (Fact::Date { month: a, .. }, Fact::Date { month: b, .. }) => a.is_some() == b.is_some(),
        _ => false,
    })
}

fn words_verdict(
    wanted: &HashSet<String>,
    stated: &[Stated],
    source: &Source,
    share: f32,
    similarity: Option<f32>,
    same_language: bool,
) -> Verdict {
    let has_figures = stated.iter().any(|stated| !matches!(stated.fact, Fact::Name(_)));
    // Figures that all agree say more than words.
    let share = match (has_figures, wanted.is_empty()) {
        (true, true) => 1.0,
        (true, false) if share > 0.0 => share + 0.15,
        _ => share,
    };
    let percent = (share.min(1.0) * 100.0).round();
    if share >= SUPPORTED_SHARE {
        return by_words(Support::Supported, Reason::new("words_agree").with("percent", percent));
    }
    if !same_language && similarity.is_none() {
        return if has_figures {
            by_words(Support::Partly, Reason::new("figures_agree"))
        } else {
            by_words(Support::Unchecked, Reason::new("other_language"))
        };
    }
    let similar = similarity.is_some_and(|similarity| similarity >= SAME_MATTER_SIMILARITY);
    if share >= PARTLY_SHARE || similar {
        let support = if similar && (share >= PARTLY_SHARE || has_figures) {
            Support::Supported
        } else {
            Support::Partly
        };
        let mut open: Vec<&str> = wanted.difference(&source.terms).map(String::as_str).collect();
        open.sort_unstable();
        open.truncate(6);
        let code = if similar { "meaning_agrees" } else { "partly_covered" };
        return by_words(support, Reason::new(code).with("words", open.join(", ")));
    }
    by_words(Support::Unsupported, Reason::new("text_unrelated").with("percent", percent))
}

/// Letters and figures only.
fn tight(text: &str) -> String {
    plain(text).to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Whether `code` stands in `text` and is not part of a longer code.
fn occurs_alone(text: &str, code: &str) -> bool {
    text.match_indices(code).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + code.len()..].chars().next();
        let part_of_code = |c: char| c.is_ascii_alphanumeric();
        !before.is_some_and(part_of_code) && !after.is_some_and(part_of_code)
    })
}

#[cfg(test)]
mod tests;
