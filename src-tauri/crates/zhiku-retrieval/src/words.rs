//! Which words of a question carry its meaning.

use std::collections::HashSet;
use std::sync::OnceLock;

use zhiku_vault::lexical::analyze;

/// Words that ask, point or join: a passage that answers need not hold them.
const STOP_WORDS: &str = "a an the of in on at to for from by with about as into over under between during per within \
    and or but not no nor so than then if else is are was were be been being am do does did done has have had having can \
    could will would shall should may might must need it its this that these those there here he she they them his her \
    their him i me my mine we us our you your yours one what which who whom whose when where why how many much long often \
    far old get gets got give gives given tell show please describe explain find know let any some all each every most \
    more less very just also only such other same own new used use using make made made take took way kind type sort \
    mean means called name named according say says said state stated \
    的 了 着 过 吗 呢 吧 啊 呀 么 是 在 有 没有 和 与 及 以及 或 或者 还 还有 也 都 就 才 又 再 很 更 最 太 被 把 给 对 对于 关于 从 到 向 \
    往 由 以 用 为 为了 因为 所以 因此 如果 那么 但是 而 而且 并 并且 其 其中 之 这 那 这个 那个 这些 那些 这里 那里 此 该 每 各 我 你 您 \
    他 她 它 我们 你们 他们 自己 谁 什么 哪 哪个 哪些 哪种 哪里 哪儿 哪位 哪年 哪一年 哪一 一 个 种 些 位 几 多少 多 多久 多长 多大 何 何时 何处 \
    怎么 怎样 如何 为什么 为何 是否 能 能否 可以 可 会 要 应 应该 应当 需要 需 得 请 请问 告诉 说明 解释 介绍 一下 一个 一种 时候 什么样 \
    怎么样 有关 上 下 里 中 内 后 前 时 地 得 所 使 叫 叫做 称 称为 位于 属于 进行 使用 采用 第几 几个 几天 天 年";

/// Stems and words as the analyser brings them out.
fn stop_words() -> &'static HashSet<String> {
    static WORDS: OnceLock<HashSet<String>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let whole = STOP_WORDS.split_whitespace().map(str::to_owned);
        let analyzed = STOP_WORDS.split_whitespace().filter_map(|word| {
            let terms = analyze(word);
            if terms.len() == 1 { terms.into_iter().next() } else { None }
        });
        whole.chain(analyzed).collect()
    })
}

/// The distinct terms of a question that tell something, in order. All of its terms when none does.
pub(crate) fn content_terms(question: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for term in analyze(question) {
        if !all.contains(&term) {
            all.push(term);
        }
    }
    let telling: Vec<String> = all.iter().filter(|term| !stop_words().contains(*term)).cloned().collect();
    if telling.is_empty() { all } else { telling }
}

/// Whether a term is a code or a number: what has a digit is meant literally.
pub(crate) fn is_literal(term: &str) -> bool {
    term.chars().any(|c| c.is_ascii_digit())
}

/// The terms of a question with how much each tells in this vault.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WeightedTerms {
    terms: Vec<(String, f32)>,
}

impl WeightedTerms {
    pub(crate) fn new(terms: Vec<String>, weights: Vec<f32>) -> Self {
        Self { terms: terms.into_iter().zip(weights).collect() }
    }

    /// Share of the terms that occur in `found`, each by its weight: 0 to 1.
    pub(crate) fn coverage(&self, found: &HashSet<String>) -> f32 {
        let total: f32 = self.terms.iter().map(|(_, weight)| weight).sum();
        if total <= 0.0 {
            return 0.0;
        }
        let held: f32 =
            self.terms.iter().filter(|(term, _)| found.contains(term)).map(|(_, weight)| weight).sum();
        // An empty sum is -0.0, which a trace would show.
        held / total + 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_only_ask_are_left_out() {
        assert_eq!(
            content_terms("How many weeks of parental leave do employees get?"),
            ["week", "parent", "leav", "employe"]
        );
        assert_eq!(content_terms("海棠 A 用了哪种防水材料？")[0], "海棠");
        assert!(
            !content_terms("海棠 A 用了哪种防水材料？").iter().any(|term| term == "哪种" || term == "用")
        );
        assert_eq!(content_terms("what is it"), ["what", "is", "it"]);
    }

    #[test]
    fn coverage_weighs_rare_terms_more() {
        let terms = WeightedTerms::new(vec!["rare".into(), "common".into()], vec![3.0, 1.0]);
        let found = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        assert!((terms.coverage(&found(&["rare"])) - 0.75).abs() < 1e-6);
        assert!((terms.coverage(&found(&["common", "x"])) - 0.25).abs() < 1e-6);
        assert!(WeightedTerms::default().coverage(&found(&["x"])).abs() < 1e-6);
    }
}
