//! The assistant's own words in an answer. They carry no facts and never cite.

use zhiku_core::{Gap, Reason};

use crate::text::{Language, fold};

pub(super) fn refusal(language: Language, searched: &[String]) -> String {
    let searched = list(language, searched);
    match language {
        Language::Chinese => {
            format!("在你可以查看的文档里没有找到能回答这个问题的内容。已检索：{searched}。")
        }
        Language::English => {
            format!("Nothing in the documents you can see answers this question. Searched for: {searched}.")
        }
    }
}

pub(super) fn unsupported(language: Language) -> String {
    match language {
        Language::Chinese => "所写的回答得不到所引用来源的支持，因此没有采用。".to_owned(),
        Language::English => {
            "The written answer was not supported by the sources it cited, so it is not shown.".to_owned()
        }
    }
}

pub(super) fn exhausted(language: Language) -> String {
    match language {
        Language::Chinese => "这次提问的时间或用量已经用完，回答没有完成。".to_owned(),
        Language::English => {
            "The time or budget of this question was used up before the answer was finished.".to_owned()
        }
    }
}

/// The last paragraph: what is missing and what disagrees. Empty when there is nothing to say.
pub(super) fn limits(language: Language, gaps: &[Gap], conflicts: &[Gap]) -> String {
    let mut lines = Vec::new();
    if !gaps.is_empty() {
        let parts: Vec<String> = gaps.iter().map(|gap| gap.sub_query.clone()).collect();
        let parts = list(language, &parts);
        lines.push(match language {
            Language::Chinese => format!("没有找到依据的部分：{parts}。"),
            Language::English => format!("No source was found for: {parts}."),
        });
    }
    for conflict in conflicts {
        let name = |key: &str| conflict.reason.args.get(key).cloned().unwrap_or_default();
        lines.push(match language {
            Language::Chinese => {
                format!("来源说法不一致：{} 与 {}，请核对版本和日期。", name("a"), name("b"))
            }
            Language::English => {
                format!(
                    "The sources disagree: {} and {}. Check their versions and dates.",
                    name("a"),
                    name("b")
                )
            }
        });
    }
    lines.join("\n")
}

fn list(language: Language, parts: &[String]) -> String {
    let quoted: Vec<String> = parts
        .iter()
        .map(|part| part.trim().trim_end_matches(['?', '？', '。', '.']))
        .map(|part| format!("“{part}”"))
        .collect();
    quoted.join(match language {
        Language::Chinese => "、",
        Language::English => ", ",
    })
}

/// A greeting, thanks, or a question about the assistant itself: a fixed reply without search.
pub(super) fn small_talk(question: &str, language: Language) -> Option<(&'static str, Reason)> {
    let said: String = fold(question).chars().filter(|c| c.is_alphanumeric()).collect();
    let is = |words: &[&str]| words.contains(&said.as_str());
    let (kind, chinese, english) = if is(&[
        "你好",
        "您好",
        "嗨",
        "早上好",
        "下午好",
        "晚上好",
        "你好啊",
        "hello",
        "hi",
        "hey",
        "hellothere",
        "goodmorning",
        "goodafternoon",
    ]) {
        (
            "greeting",
            "你好！请问有什么想从文档里了解的？",
            "Hello! What would you like to know from your documents?",
        )
    } else if is(&[
        "谢谢",
        "谢谢你",
        "多谢",
        "感谢",
        "非常感谢",
        "thanks",
        "thankyou",
        "thankyouverymuch",
        "thx",
    ]) {
        ("thanks", "不客气。", "You are welcome.")
    } else if is(&["再见", "拜拜", "bye", "goodbye"]) {
        ("goodbye", "再见！", "Goodbye!")
    } else if is(&[
        "你是谁",
        "你能做什么",
        "你可以做什么",
        "你会什么",
        "whoareyou",
        "whatcanyoudo",
        "whatareyou",
        "help",
        "帮助",
    ]) {
        (
            "about",
            "我根据你可以查看的文档回答问题，每句话都标出处，点开就能看到原文。没有依据的内容我不会编。",
            "I answer questions from the documents you can see. Every sentence cites its source, which opens at the quoted \
             words. What the documents do not say, I do not make up.",
        )
    } else {
        return None;
    };
    let reply = match language {
        Language::Chinese => chinese,
        Language::English => english,
    };
    Some((reply, Reason::new("small_talk").with("kind", kind)))
}
