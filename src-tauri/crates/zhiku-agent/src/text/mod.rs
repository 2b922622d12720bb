//! Small facts about texts that the answer code needs: language, folding for comparison, how a stretch of a source is
//! shown. Deliberately absent: the analyser (it is the vault's) and sentence boundaries (they are core's).

pub(crate) mod segments;
pub(crate) mod terms;

use unicode_normalization::UnicodeNormalization;
use zhiku_core::is_cjk;

/// The languages in which the assistant speaks its few own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    Chinese,
    English,
}

/// An answer follows its question: Chinese as soon as a fifth of the letters are Han characters.
pub fn language_of(text: &str) -> Language {
    let han = text.chars().filter(|c| is_cjk(*c)).count();
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    if han > 0 && han * 5 >= letters { Language::Chinese } else { Language::English }
}

fn is_cjk_punctuation(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff65}' | '“' | '”' | '‘' | '’' | '…' | '—')
}

/// Characters that a reader never sees.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

/// For comparison: NFKC, lower case, no white space, nothing invisible.
pub(crate) fn fold(text: &str) -> String {
    text.nfkc().filter(|c| !c.is_whitespace() && !is_invisible(*c)).flat_map(char::to_lowercase).collect()
}

/// NFKC with single spaces, for scanning with patterns.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.nfkc().filter(|c| !is_invisible(*c)) {
        if c.is_whitespace() {
            if !out.ends_with(' ') {
                out.push(' ');
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// A stretch of a source as shown in an answer: line ends of the source become spaces where the language writes them, cells
/// of a row are set apart with a middle dot, and the source's own `[12]` can no longer be taken for a citation of ours.
pub(crate) fn shown(stretch: &str) -> String {
    let chars: Vec<char> = stretch.chars().filter(|c| !is_invisible(*c)).collect();
    let mut out = String::with_capacity(stretch.len());
    let mut i = 0;
    while i < chars.len() {
        if !chars[i].is_whitespace() {
            out.push(chars[i]);
            i += 1;
            continue;
        }
        let start = i;
        while i < chars.len() && chars[i].is_whitespace() {
            i += 1;
        }
        let broke = chars[start..i].contains(&'\n');
        if needs_space(out.chars().last(), chars.get(i).copied(), broke) {
            out.push(' ');
        }
    }
    let cells = out.replace("\\|", "\u{0}").replace(" | ", " · ").replace('\u{0}', "|");
    without_foreign_marks(&cells).trim().to_owned()
}

fn needs_space(before: Option<char>, after: Option<char>, broke: bool) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return false };
    let wide = |c| is_cjk(c) || is_cjk_punctuation(c);
    if broke && (wide(before) || wide(after)) {
        return false;
    }
    // A word divided at the end of a line keeps its hyphen: whether it is part of the word cannot be seen.
    !(broke && before == '-' && after.is_lowercase())
}

/// Takes bracketed numbers of a source out of its shown text: `[3]`, `[1, 2]`, `【1】`. A year keeps its place in the
/// brackets that Chinese official documents use for it (国发〔2024〕5号).
pub(crate) fn without_foreign_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find(['[', '【', '［']) {
        let (head, tail) = rest.split_at(open);
        let width = tail.chars().next().map_or(1, char::len_utf8);
        let close = tail.find([']', '】', '］']);
        let inside = close.map_or("", |close| &tail[width..close]);
        let numeric = !inside.is_empty()
            && inside.chars().any(char::is_numeric)
            && inside.chars().all(|c| c.is_numeric() || c.is_whitespace() || ",，、-–~".contains(c));
        out.push_str(head);
        let Some(close) = close.filter(|_| numeric) else {
            out.push_str(&tail[..width]);
            rest = &tail[width..];
            continue;
        };
        let end = close + tail[close..].chars().next().map_or(1, char::len_utf8);
        let year = fold(inside);
        if year.len() == 4 && (year.starts_with("19") || year.starts_with("20")) {
            out.push('〔');
            out.push_str(&year);
            out.push('〕');
        }
        rest = &tail[end..];
    }
    out.push_str(rest);
    out
}

/// The characters `range` of `text`.
pub(crate) fn slice(text: &str, range: &std::ops::Range<usize>) -> String {
    zhiku_core::char_slice(text, range.clone()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined_as_each_language_writes_them() {
        assert_eq!(shown("防水采用\n蓝盾涂料"), "防水采用蓝盾涂料");
        assert_eq!(shown("the hotel\nlimit"), "the hotel limit");
        assert_eq!(shown("long-\nterm debt"), "long-term debt");
        assert_eq!(shown("防水 | 蓝盾 | 2 遍"), "防水 · 蓝盾 · 2 遍");
    }

    #[test]
    fn marks_of_the_source_are_not_ours() {
        assert_eq!(shown("as shown in [3] and [4, 5]."), "as shown in  and .");
        assert_eq!(shown("国发[2024]5号"), "国发〔2024〕5号");
        assert_eq!(shown("see [Annex A]"), "see [Annex A]");
    }

    #[test]
    fn a_question_sets_the_language() {
        assert_eq!(language_of("海棠 A 用了哪种 waterproofing？"), Language::Chinese);
        assert_eq!(language_of("What does 海棠 mean in the policy text?"), Language::English);
    }
}
