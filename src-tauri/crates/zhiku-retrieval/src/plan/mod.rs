//! From a question to an intent and at most four sub-queries, by rules that always work.
//!
//! A sub-query holds words of the question only, so it can never contain an expected answer. When in doubt a question stays
//! whole: a split that was not needed costs precision, one that was missed is caught by assessment as a gap.

mod compare;
mod intent;
mod split;

pub use intent::Intent;

/// The most parts of one question.
pub(crate) const MAX_SUB_QUERIES: usize = 4;

/// What is asked for, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub intent: Intent,
    /// 1 to [`MAX_SUB_QUERIES`], in the order asked; none only for a question without words.
    pub sub_queries: Vec<String>,
}

/// Plans one question.
pub fn plan(question: &str) -> Plan {
    let question = question.trim();
    let intent = Intent::of(question);
    if question.is_empty() {
        return Plan { intent, sub_queries: Vec::new() };
    }
    let mut parts: Vec<String> = Vec::new();
    for part in split::parts(question) {
        let sides = compare::sides(&part);
        let pieces = if sides.is_empty() { vec![part] } else { sides };
        for piece in pieces {
            if !parts.contains(&piece) {
                parts.push(piece);
            }
        }
    }
    Plan { intent, sub_queries: at_most(parts, MAX_SUB_QUERIES) }
}

/// What is too many goes into the last part.
fn at_most(mut parts: Vec<String>, limit: usize) -> Vec<String> {
    if parts.len() > limit {
        let rest = parts.split_off(limit - 1);
        parts.push(rest.join(" "));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, intent: Intent, expect: &[&str]) {
        let plan = plan(question);
        assert_eq!(
            (plan.intent, plan.sub_queries.iter().map(String::as_str).collect::<Vec<_>>()),
            (intent, expect.to_vec())
        );
    }

    #[test]
    fn one_fact_stays_one_query() {
        check("海棠 A 用了哪种防水材料？", Intent::Factoid, &["海棠 A 用了哪种防水材料？"]);
        check(
            "Who wrote the rules and regulations?",
            Intent::Factoid,
            &["Who wrote the rules and regulations?"],
        );
        check("黑豹队的防线上有谁和谁？", Intent::Factoid, &["黑豹队的防线上有谁和谁？"]);
        check(
            "Which player, who was born in 1990, won?",
            Intent::Factoid,
            &["Which player, who was born in 1990, won?"],
        );
        check("采购部和销售部共用的打印机在哪里？", Intent::Factoid, &["采购部和销售部共用的打印机在哪里？"]);
        check("   ", Intent::Factoid, &[]);
    }

    #[test]
    fn several_facts_become_several_queries() {
        check(
            "What is the hotel limit in Munich and how many days do I have to file the claim?",
            Intent::Factoid,
            &["What is the hotel limit in Munich", "how many days do I have to file the claim?"],
        );
        check(
            "海棠 A 用了哪种防水材料，由谁供应，售后流程怎么解释？",
            Intent::Procedural,
            &["海棠 A 用了哪种防水材料", "由谁供应（海棠 A 防水材料）", "售后流程怎么解释？"],
        );
        check("质保期是几年？保修电话是多少？", Intent::Factoid, &["质保期是几年？", "保修电话是多少？"]);
        check(
            "What is the hotel limit? How long is parental leave?",
            Intent::Factoid,
            &["What is the hotel limit?", "How long is parental leave?"],
        );
    }

    #[test]
    fn a_part_without_a_subject_gets_that_of_the_first() {
        check(
            "Which waterproofing was used in Haitang A, and who supplied it?",
            Intent::Factoid,
            &["Which waterproofing was used in Haitang A", "who supplied it? (waterproofing Haitang A)"],
        );
    }

    #[test]
    fn what_is_said_before_the_question_stays_with_it() {
        check("我在慕尼黑出差。酒店上限是多少？", Intent::Factoid, &["我在慕尼黑出差。酒店上限是多少？"]);
        check("如果客户不满意，应该怎么处理？", Intent::Procedural, &["如果客户不满意，应该怎么处理？"]);
    }

    #[test]
    fn each_side_of_a_comparison_is_asked_on_its_own() {
        check(
            "海棠 A 和海棠 B 的防水材料有什么区别？",
            Intent::Comparative,
            &["海棠 A 的防水材料", "海棠 B 的防水材料"],
        );
        check(
            "海棠 A 与海棠 B 的工期分别是多少？",
            Intent::Factoid,
            &["海棠 A 的工期是多少", "海棠 B 的工期是多少"],
        );
        check(
            "What is the difference between plan A and plan B in price?",
            Intent::Comparative,
            &["plan A in price", "plan B in price"],
        );
    }

    #[test]
    fn never_more_than_four() {
        let plan = plan("A是什么？B是什么？C是什么？D是什么？E是什么？");
        assert_eq!(plan.sub_queries, ["A是什么？", "B是什么？", "C是什么？", "D是什么？ E是什么？"]);
    }
}
