//! Whether a claim says no where its source says yes, or the other way round.

use std::collections::HashSet;

use crate::citations::quote::overlap;
use crate::text::plain;
use crate::text::terms::content_terms;

/// Clauses share at least this part of the claim's words before their polarity is compared.
const SAME_MATTER: f32 = 0.6;

const CHINESE: &[&str] = &["不", "没", "未", "无", "勿", "禁止", "严禁", "免于", "非"];
/// Words in which those characters deny nothing.
const CHINESE_HARMLESS: &[&str] = &[
    "不仅",
    "不但",
    "不断",
    "不同",
    "不过",
    "不锈钢",
    "不少",
    "不久",
    "不管",
    "不论",
    "无论",
    "无线",
    "无机",
    "非常",
    "非洲",
    "未来",
    "除非",
    "并非",
    "无锡",
    "差不多",
    "不足",
    "不超过",
    "不低于",
    "不少于",
    "不高于",
    "不大于",
    "不小于",
    "不得超过",
    "不能超过",
    "不得少于",
    "不得低于",
    "不晚于",
    "不迟于",
];
const ENGLISH: &[&str] = &[
    "not",
    "no",
    "never",
    "none",
    "without",
    "cannot",
    "neither",
    "nor",
    "prohibited",
    "forbidden",
    "nothing",
];
/// Limits are stated with a denial that denies nothing: `no more than 5` is `at most 5`.
const ENGLISH_HARMLESS: &[&str] = &[
    "not only",
    "no later than",
    "no more than",
    "no less than",
    "not exceed",
    "not more than",
    "not less than",
];

/// The clause of the claim and that of the source that disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mismatch {
    pub(super) claim: String,
    pub(super) source: String,
}

pub(super) fn mismatch(claim: &str, source: &str) -> Option<Mismatch> {
    let source_clauses: Vec<(String, HashSet<String>, bool)> = clauses(source)
        .into_iter()
        .map(|clause| {
            let (terms, denied) = (matter(&clause), denies(&clause));
            (clause, terms, denied)
        })
        .collect();
    for clause in clauses(claim) {
        let wanted = matter(&clause);
        if wanted.len() < 2 {
            continue;
        }
        let share = |terms: &HashSet<String>| overlap(&wanted, terms);
        let best = source_clauses.iter().max_by(|a, b| share(&a.1).total_cmp(&share(&b.1)))?;
        let top = share(&best.1);
        let denied = denies(&clause);
        let agreed = source_clauses.iter().any(|other| other.2 == denied && share(&other.1) >= top - 0.15);
        if top >= SAME_MATTER && !agreed {
            return Some(Mismatch { claim: clause, source: best.0.clone() });
        }
    }
    None
}

fn matter(clause: &str) -> HashSet<String> {
    let mut terms = content_terms(clause);
    terms.retain(|term| !ENGLISH.contains(&term.as_str()) && !CHINESE.iter().any(|word| term.contains(word)));
    terms
}

fn denies(clause: &str) -> bool {
    let mut text = format!(" {} ", plain(clause).to_lowercase().replace('’', "'"));
    for word in CHINESE_HARMLESS.iter().chain(ENGLISH_HARMLESS) {
        text = text.replace(word, "");
    }
    let chinese = CHINESE.iter().map(|word| text.matches(word).count()).sum::<usize>();
    let english = text
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| ENGLISH.contains(word) || word.ends_with("n't"))
        .count();
    (chinese + english) % 2 == 1
}

fn clauses(text: &str) -> Vec<String> {
    text.split(['，', ',', '。', '；', ';', '！', '？', '!', '?', '\n'])
        .flat_map(|part| part.split(". "))
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposite_polarity_of_one_matter_is_found() {
        for (claim, source, expect) in [
            ("高铁二等座可以报销", "高铁二等座不可以报销。", true),
            ("The hotel invoice is not required", "The hotel invoice is required.", true),
            ("The hotel invoice is required", "The hotel invoice is required; meals are not.", false),
            ("保修期不超过两年", "保修期最长两年。", false),
            ("不仅防水而且防潮", "防水而且防潮。", false),
        ] {
            assert_eq!(mismatch(claim, source).is_some(), expect, "{claim} | {source}");
        }
    }
}
