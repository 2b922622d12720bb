//! Questions about two things: each is looked for on its own, or the louder one would fill the evidence.

const LINKS_ZH: &[char] = &['和', '与', '跟', '同', '及'];
const DIFFERENCE_ZH: &[&str] = &[
    "有什么区别",
    "有什么差别",
    "有什么差异",
    "有什么不同",
    "有何区别",
    "有何不同",
    "的区别",
    "的差异",
    "的差别",
    "相比如何",
    "相比",
    "对比",
    "比较",
    "区别",
    "差异",
    "差别",
];

/// The question once for each of the two; empty when it is not about two.
pub(super) fn sides(question: &str) -> Vec<String> {
    let zh = sides_zh(question);
    if zh.is_empty() { sides_en(question) } else { zh }
}

/// `X 和 Y 的 Z 有什么区别`, `X 和 Y 的 Z 分别是多少`.
fn sides_zh(question: &str) -> Vec<String> {
    let text = question.trim().trim_end_matches(['？', '?', '。', '.']);
    let text = ["请问", "请比较", "比较一下", "比较", "对比"]
        .iter()
        .find_map(|word| text.strip_prefix(word))
        .unwrap_or(text)
        .trim();
    let each = text.contains("分别");
    let differs = DIFFERENCE_ZH.iter().any(|word| question.contains(word));
    if !each && !differs {
        return Vec::new();
    }
    let Some((x, rest)) = text.split_once(|c| LINKS_ZH.contains(&c)) else { return Vec::new() };
    let (y, tail) = match rest.split_once('的') {
        Some((y, tail)) => (y, format!("的{tail}")),
        None => (cut_at_any(rest, &["分别", "有什么", "有何", "相比", "哪个"]), String::new()),
    };
    let (x, y) = (x.trim(), y.trim());
    if x.is_empty() || y.is_empty() || x.chars().count() > 20 || y.chars().count() > 20 {
        return Vec::new();
    }
    let mut tail = tail.replace("分别", "").replace("各", "");
    for word in DIFFERENCE_ZH {
        tail = tail.replace(word, "");
    }
    let tail = tail.trim_end_matches('的').trim();
    let space = if tail.is_empty() || !ends_ascii(x) && !ends_ascii(y) { "" } else { " " };
    vec![format!("{x}{space}{tail}"), format!("{y}{space}{tail}")]
}

fn ends_ascii(text: &str) -> bool {
    text.chars().last().is_some_and(|c| c.is_ascii())
}

fn cut_at_any<'a>(text: &'a str, marks: &[&str]) -> &'a str {
    marks.iter().filter_map(|mark| text.find(mark)).min().map_or(text, |at| &text[..at])
}

/// `difference between X and Y in Z`, `compare X with Y`, `X vs Y`.
fn sides_en(question: &str) -> Vec<String> {
    let text = question.trim().trim_end_matches(['?', '.']);
    let lower = text.to_ascii_lowercase();
    let after = |mark: &str| lower.find(mark).map(|at| &text[at + mark.len()..]);
    let pair = if let Some(rest) = after("difference between ").or_else(|| after("differences between ")) {
        split_word(rest, &[" and "])
    } else if let Some(rest) = lower.strip_prefix("compare ").map(|rest| &text[text.len() - rest.len()..]) {
        split_word(rest, &[" with ", " to ", " and "])
    } else {
        split_word(text, &[" vs. ", " vs ", " versus "]).filter(|(x, _)| x.split_whitespace().count() <= 6)
    };
    let Some((x, rest)) = pair else { return Vec::new() };
    let (y, tail) = split_tail(rest);
    if x.trim().is_empty()
        || y.trim().is_empty()
        || x.split_whitespace().count() > 8
        || y.split_whitespace().count() > 8
    {
        return Vec::new();
    }
    let side = |thing: &str| format!("{} {tail}", thing.trim()).trim().to_owned();
    vec![side(x), side(y)]
}

fn split_word<'a>(text: &'a str, marks: &[&str]) -> Option<(&'a str, &'a str)> {
    let lower = text.to_ascii_lowercase();
    marks.iter().find_map(|mark| lower.find(mark).map(|at| (&text[..at], &text[at + mark.len()..])))
}

/// The second thing, and what the two are compared in.
fn split_tail(rest: &str) -> (&str, &str) {
    let lower = rest.to_ascii_lowercase();
    let at = [" in terms of ", " in ", " for ", " regarding ", " with regard to "]
        .iter()
        .filter_map(|mark| lower.find(mark))
        .min();
    at.map_or((rest, ""), |at| (&rest[..at], rest[at..].trim()))
}
