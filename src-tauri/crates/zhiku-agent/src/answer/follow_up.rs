//! Follow-up questions: `那个案例的供应商呢？` is searched together with the question before it.

use super::Turn;
use crate::text::terms::content_terms;

const CUES: &[&str] = &["那个", "这个", "那", "它", "其", "呢？", "呢?", "上述", "刚才", "前面", "该"];
const ENGLISH_CUES: &[&str] = &[
    "it", "its", "they", "them", "their", "that", "this", "those", "these", "there", "he", "she", "and",
    "same",
];

/// The text to search for. Answers are never searched with: they are no source.
pub(super) fn searched(question: &str, history: &[Turn]) -> String {
    let Some(last) = history.last() else { return question.to_owned() };
    if !refers_back(question) {
        return question.to_owned();
    }
    format!("{} {}", last.question.trim(), question.trim())
}

fn refers_back(question: &str) -> bool {
    let few_words = content_terms(question).len() < 8;
    let lower = question.to_lowercase();
    let chinese = CUES.iter().any(|cue| question.contains(cue));
    let english = lower.split(|c: char| !c.is_alphanumeric()).any(|word| ENGLISH_CUES.contains(&word))
        || lower.starts_with("what about")
        || lower.starts_with("how about");
    few_words && (chinese || english)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_question_that_refers_back_takes_the_last_one_along() {
        let history =
            [Turn { question: "海棠 A 用了哪种防水？".into(), answer: "蓝盾。".into() }];
        assert_eq!(searched("那个案例的供应商呢？", &history), "海棠 A 用了哪种防水？ 那个案例的供应商呢？");
        assert_eq!(searched("年假有多少天？", &history), "年假有多少天？");
        assert_eq!(searched("那个案例的供应商呢？", &[]), "那个案例的供应商呢？");
    }
}
