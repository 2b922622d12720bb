//! Codes (`M-208`, `GB/T 50326-2017`) and names: capitalised Latin words and what Chinese text puts in quotation marks.

use std::sync::LazyLock;

use regex::Regex;

use super::{Fact, Stated, blank};

static CODE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[A-Za-z0-9]+(?:[-/._][A-Za-z0-9]+)*").ok());

static QUOTED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[《「『“]([^》」』”]{2,30})[》」』”]").ok());

static CAPITALISED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\b[A-Z][A-Za-z&'’-]+\b").ok());

/// Takes the codes out of `text`: words of letters and figures, and words all in capitals.
pub(super) fn read_codes(text: &str, found: &mut Vec<Stated>) -> String {
    let mut rest = text.to_owned();
    let Some(pattern) = CODE.as_ref() else { return rest };
    for hit in pattern.find_iter(text).filter(|hit| is_code(hit.as_str())) {
        found.push(Stated { fact: Fact::Code(hit.as_str().to_lowercase()), words: hit.as_str().to_owned() });
        blank(&mut rest, hit.range());
    }
    rest
}

fn is_code(word: &str) -> bool {
    let letters = word.chars().filter(char::is_ascii_alphabetic).count();
    let figures = word.chars().filter(char::is_ascii_digit).count();
    if figures > 0 && letters > 0 {
        // 5mm, 24kHz, 30th, 12-month: a number and its unit.
        let tail: String =
            word.chars().skip_while(|c| c.is_ascii_digit() || matches!(c, '.' | '-')).collect();
        let is_quantity = word.starts_with(|c: char| c.is_ascii_digit())
            && tail.chars().all(|c| c.is_ascii_alphabetic())
            && (tail.len() <= 3 || word.contains('-'));
        return !is_quantity;
    }
    letters >= 2
        && figures == 0
        && word.contains('/')
        && word.chars().all(|c| c.is_ascii_uppercase() || c == '/')
}

/// Reads names; nothing needs the rest any more.
pub(super) fn read_names(text: &str, found: &mut Vec<Stated>) {
    if let Some(pattern) = QUOTED.as_ref() {
        for name in pattern.captures_iter(text).filter_map(|captures| captures.get(1)) {
            found.push(Stated {
                fact: Fact::Name(name.as_str().to_lowercase()),
                words: name.as_str().to_owned(),
            });
        }
    }
    let Some(pattern) = CAPITALISED.as_ref() else { return };
    for hit in pattern.find_iter(text).filter(|hit| !starts_sentence(text, hit.start())) {
        found.push(Stated { fact: Fact::Name(hit.as_str().to_lowercase()), words: hit.as_str().to_owned() });
    }
}

/// The first word of a sentence is capitalised whatever it is.
fn starts_sentence(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches([' ', '"', '“', '(', '*', '-', '_']);
    before.is_empty() || before.ends_with(['.', '!', '?', ':', ';', '。', '：', '；', '！', '？', '·'])
}
