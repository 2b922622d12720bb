//! Terms that carry meaning, and how much each weighs.

use std::collections::{HashMap, HashSet};

/// Words that a question is made of but that no answer has to contain, after analysis.
const STOP: &[&str] = &[
    "a",
    "about",
    "all",
    "also",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "for",
    "from",
    "had",
    "has",
    "have",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "many",
    "may",
    "me",
    "much",
    "must",
    "my",
    "of",
    "on",
    "or",
    "our",
    "please",
    "shall",
    "should",
    "so",
    "tell",
    "than",
    "that",
    "the",
    "their",
    "them",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "us",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "who",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
    "的",
    "了",
    "吗",
    "呢",
    "是",
    "在",
    "和",
    "与",
    "或",
    "有",
    "被",
    "把",
    "对",
    "从",
    "到",
    "为",
    "于",
    "以",
    "及",
    "等",
    "也",
    "都",
    "就",
    "而",
    "其",
    "之",
    "这",
    "那",
    "我",
    "你",
    "他",
    "她",
    "它",
    "我们",
    "你们",
    "他们",
    "什么",
    "怎么",
    "怎样",
    "如何",
    "哪",
    "哪些",
    "哪个",
    "哪种",
    "哪里",
    "哪儿",
    "谁",
    "多少",
    "几",
    "为什么",
    "是否",
    "请",
    "请问",
    "一下",
    "可以",
    "能",
    "吧",
    "啊",
    "个",
    "种",
    "些",
    "时候",
    "怎",
    "么",
    "何",
    "多",
    "少",
    "里",
    "一个",
    "这个",
    "那个",
    "应",
    "应该",
    "需要",
];

/// All terms of a text as the index sees them.
pub(crate) fn terms(text: &str) -> Vec<String> {
    zhiku_vault::lexical::analyze(text)
}

/// The distinct terms of a text without the words of [`STOP`].
pub(crate) fn content_terms(text: &str) -> HashSet<String> {
    terms(text).into_iter().filter(|term| !STOP.contains(&term.as_str()) && !is_glue(term)).collect()
}

/// Bigrams that consist of question words only, such as 是什.
fn is_glue(term: &str) -> bool {
    let mut chars = term.chars();
    let all_stop = term
        .chars()
        .all(|c| "的了吗呢是在和与或有什么哪谁多少几怎样请问为何吧啊种些个里这那其之".contains(c));
    all_stop && chars.next().is_some()
}

/// How much a term tells; terms that were never weighed count 1.
#[derive(Clone, Debug, Default)]
pub struct TermWeights(HashMap<String, f32>);

impl TermWeights {
    pub fn new(weights: impl IntoIterator<Item = (String, f32)>) -> Self {
        Self(weights.into_iter().collect())
    }

    pub(crate) fn of(&self, term: &str) -> f32 {
        self.0.get(term).copied().unwrap_or(1.0).max(0.05)
    }

    /// The weighted share of `wanted` that is in `present`, 0 to 1.
    pub(crate) fn share(&self, wanted: &HashSet<String>, present: &HashSet<String>) -> f32 {
        let total: f32 = wanted.iter().map(|term| self.of(term)).sum();
        if total <= 0.0 {
            return 0.0;
        }
        wanted.iter().filter(|term| present.contains(*term)).map(|term| self.of(term)).sum::<f32>() / total
    }
}

/// The terms of a question for which weights are worth asking.
pub fn question_terms(text: &str) -> Vec<String> {
    let mut terms: Vec<String> = content_terms(text).into_iter().collect();
    terms.sort();
    terms
}
