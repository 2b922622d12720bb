//! Which of the model's segments were really said. Whisper invents text where nobody speaks and sometimes repeats itself.

/// Given to the model before Mandarin, so that it writes Mandarin with punctuation; it is sometimes echoed.
pub(crate) const MANDARIN_PROMPT: &str = "以下是普通话的句子。";

/// Less sure than this means noise.
const MIN_CONFIDENCE: f32 = 0.35;
/// A phrase that Whisper says into silence counts only if it is this sure that somebody speaks …
const MAX_NO_SPEECH: f32 = 0.3;
/// … and sure of the words.
const SURE: f32 = 0.55;
/// As often in a row, a phrase is a loop and not a way of speaking.
const MAX_REPEATS: usize = 4;
/// Longest phrase looked for in loops, in characters.
const MAX_PERIOD: usize = 24;
/// What the captions that Whisper was trained on say when nobody speaks.
const SILENCE_PHRASES: [&str; 14] = [
    "谢谢观看",
    "谢谢大家",
    "感谢观看",
    "感谢收看",
    "请不吝点赞",
    "订阅",
    "字幕",
    "未经作者授权",
    "thanks for watching",
    "thank you for watching",
    "thank you",
    "please subscribe",
    "subtitles by",
    "bye",
];

/// One segment as the model gave it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Candidate<'a> {
    pub(crate) text: &'a str,
    /// Mean probability of its tokens.
    pub(crate) confidence: f32,
    /// How likely the model thinks that the sound holds no speech.
    pub(crate) no_speech: f32,
}

/// Whether a segment is kept.
pub(crate) fn is_plausible(segment: &Candidate<'_>) -> bool {
    let words: String = segment.text.chars().filter(|c| c.is_alphanumeric()).collect();
    let prompt: String = MANDARIN_PROMPT.chars().filter(|c| c.is_alphanumeric()).collect();
    if words.is_empty() || words == prompt || segment.confidence < MIN_CONFIDENCE || is_loop(&words) {
        return false;
    }
    let doubtful = segment.no_speech > MAX_NO_SPEECH || segment.confidence < SURE;
    !(doubtful && is_silence_phrase(segment.text))
}

/// A known phrase with hardly anything around it.
fn is_silence_phrase(text: &str) -> bool {
    let text = simplified_marks(&text.to_lowercase());
    SILENCE_PHRASES
        .iter()
        .any(|phrase| text.contains(phrase) && text.chars().count() <= phrase.chars().count() * 3 + 2)
}

/// The Traditional spelling of the same phrases, and without marks at the ends.
fn simplified_marks(text: &str) -> String {
    let fold = |c: char| match c {
        '謝' => '谢',
        '觀' => '观',
        '請' => '请',
        '點' => '点',
        '贊' | '讚' => '赞',
        '訂' => '订',
        '閱' => '阅',
        '經' => '经',
        '權' => '权',
        other => other,
    };
    text.trim_matches(|c: char| !c.is_alphanumeric()).chars().map(fold).collect()
}

/// Whether most of it is one phrase over and over.
fn is_loop(words: &str) -> bool {
    let chars: Vec<char> = words.chars().collect();
    (1..=MAX_PERIOD).any(|period| {
        let same = chars.iter().zip(chars.iter().skip(period)).filter(|(a, b)| a == b).count();
        chars.len() > period * MAX_REPEATS && same * 10 >= (chars.len() - period) * 9
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, confidence: f32, no_speech: f32, expected: bool) {
        let segment = Candidate { text, confidence, no_speech };
        assert_eq!(is_plausible(&segment), expected, "{segment:?}");
    }

    #[test]
    fn ordinary_sentences_are_kept() {
        check("卫生间用的是聚氨酯防水涂料。", 0.8, 0.1, true);
        check("The customer signs the report.", 0.6, 0.5, true);
        check("好的好的好的", 0.8, 0.0, true);
    }

    #[test]
    fn nothing_but_marks_and_the_prompt_are_dropped() {
        check("…", 0.9, 0.0, false);
        check("以下是普通话的句子", 0.9, 0.0, false);
    }

    #[test]
    fn guesses_are_dropped() {
        check("卫生间用的是聚氨酯防水涂料。", 0.2, 0.1, false);
    }

    #[test]
    fn thanks_are_dropped_only_where_speech_is_doubtful() {
        check("謝謝大家", 0.9, 0.05, true);
        check("謝謝觀看", 0.5, 0.05, false);
        check("Thank you.", 0.9, 0.6, false);
        check("Thank you for signing the report before the engineer left.", 0.6, 0.6, true);
    }

    #[test]
    fn loops_are_dropped() {
        check("我们我们我们我们我们我们", 0.9, 0.0, false);
        check(&"and the customer ".repeat(6), 0.9, 0.0, false);
        check("哈哈哈哈哈哈哈哈", 0.9, 0.0, false);
    }
}
