//! What kind of answer is wanted.

use serde::Serialize;

/// The intent of a question; it changes how evidence is chosen ([`super::super::evidence`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    Factoid,
    Analytical,
    Comparative,
    Procedural,
    Exploratory,
}

const COMPARATIVE: &[&str] = &[
    "区别",
    "差别",
    "差异",
    "对比",
    "比较",
    "相比",
    "不同之处",
    "有何不同",
    "有什么不同",
    "哪个更",
    "谁更",
    "difference between",
    "differences between",
    "differ from",
    "compare",
    "compared",
    "comparison",
    " versus ",
    " vs ",
    " vs. ",
];
const PROCEDURAL: &[&str] = &[
    "怎么办",
    "怎么做",
    "怎么处理",
    "怎么申请",
    "怎么解释",
    "怎样",
    "如何",
    "步骤",
    "流程",
    "手续",
    "how do ",
    "how to ",
    "how can ",
    "how should ",
    "steps",
    "procedure",
    "process for",
    "process of",
];
const ANALYTICAL: &[&str] = &[
    "为什么",
    "为何",
    "原因",
    "分析",
    "影响",
    "意味着什么",
    "why ",
    "analyse",
    "analyze",
    "reasons",
    "impact of",
    "what caused",
    "what drove",
    "consequences",
];
const EXPLORATORY: &[&str] = &[
    "有哪些",
    "哪些",
    "介绍",
    "概述",
    "概括",
    "总结",
    "列出",
    "列举",
    "overview",
    "summar",
    "list ",
    "tell me about",
    "what are the ",
    "which topics",
];

impl Intent {
    /// By the words that ask. A comparison outranks a procedure, a procedure an analysis, and so on; without any of these
    /// words a single fact is meant.
    pub(super) fn of(question: &str) -> Self {
        let text = question.to_lowercase();
        let asks = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if asks(COMPARATIVE) {
            Self::Comparative
        } else if asks(PROCEDURAL) {
            Self::Procedural
        } else if asks(ANALYTICAL) {
            Self::Analytical
        } else if asks(EXPLORATORY) {
            Self::Exploratory
        } else {
            Self::Factoid
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intents_in_both_languages() {
        let check = |question: &str, expect| assert_eq!(Intent::of(question), expect, "{question}");
        check("报销期限是几天？", Intent::Factoid);
        check("What is the hotel limit in Munich?", Intent::Factoid);
        check("为什么毛利下降了？", Intent::Analytical);
        check("Why did margins fall?", Intent::Analytical);
        check("如何申请售后？", Intent::Procedural);
        check("How do I file a claim?", Intent::Procedural);
        check("两种涂料的区别是什么？", Intent::Comparative);
        check("Compare plan A with plan B", Intent::Comparative);
        check("这个案例用了哪些材料？", Intent::Exploratory);
        check("Give me an overview of the policy", Intent::Exploratory);
    }
}
