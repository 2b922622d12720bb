//! The one analyser, for what is indexed and what is asked.
//!
//! Full-width forms and accents are folded (NFKD without marks, NFC), Traditional Chinese becomes Simplified. Chinese is cut
//! into words; Latin words are lower-cased and stemmed; numbers lose their thousands separators; codes stay whole beside
//! their parts. Character pairs of Chinese are a second, separate stream: a net for words that were cut differently.

use std::sync::OnceLock;

use ferrous_opencc::OpenCC;
use ferrous_opencc::config::BuiltinConfig;
use jieba_rs::Jieba;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

use super::codes::{self, Span};

/// Changes when the same text would be analysed otherwise; the index is then rebuilt.
pub(super) const ANALYZER_VERSION: u32 = 1;

/// A longer run of letters is no word (base64, rulers of dashes) and would only fill the dictionary.
const MAX_TERM_CHARS: usize = 64;

/// The terms of one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Analysis {
    /// Words, stems, numbers, codes whole and in parts.
    pub(super) words: Vec<String>,
    /// In reading order without gaps: character pairs of Chinese, and Latin words as in `words`. Neighbours in the text
    /// are neighbours here, so a phrase is a run of it.
    pub(super) grams: Vec<String>,
    /// Those of `grams` that are Chinese.
    pub(super) pairs: Vec<String>,
    /// Codes in the spellings under which they are looked up.
    pub(super) codes: Vec<String>,
}

/// The text's terms as the index knows them: words, stems, numbers, codes whole and in parts; in order, with repetition.
pub fn analyze(text: &str) -> Vec<String> {
    analysis(text).words
}

pub(super) fn analysis(text: &str) -> Analysis {
    let mut out = Analysis::default();
    let text = fold(text);
    let mut run = String::new();
    let mut spans = Spans::default();
    let mut kind = Kind::Other;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = Kind::of(c, kind, chars.peek().copied());
        if next != kind {
            out.take(kind, &run, &mut spans);
            run.clear();
            kind = next;
        }
        run.push(c);
    }
    out.take(kind, &run, &mut spans);

    out
}

/// Full-width, compatibility and accented forms to plain ones, dashes to one dash, Traditional to Simplified.
fn fold(text: &str) -> String {
    let plain: String = text
        .nfkd()
        .filter(|c| !matches!(c, '\u{300}'..='\u{36f}' | '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{feff}'))
        .map(codes::plain_dash)
        .nfc()
        .collect();
    if plain.chars().any(is_han) { to_simplified(plain) } else { plain }
}

fn to_simplified(text: String) -> String {
    static CONVERTER: OnceLock<Option<OpenCC>> = OnceLock::new();
    let converter = CONVERTER.get_or_init(|| match OpenCC::from_config(BuiltinConfig::T2s) {
        Ok(converter) => Some(converter),
        Err(error) => {
            tracing::error!(%error, "traditional Chinese is not folded: the embedded table could not be read");
            None
        }
    });
    match converter {
        Some(converter) => converter.convert(&text),
        None => text,
    }
}

fn jieba() -> &'static Jieba {
    static JIEBA: OnceLock<Jieba> = OnceLock::new();
    JIEBA.get_or_init(Jieba::new)
}

fn stemmer() -> &'static Stemmer {
    static STEMMER: OnceLock<Stemmer> = OnceLock::new();
    STEMMER.get_or_init(|| Stemmer::create(Algorithm::English))
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}' | '々' | '〇')
}

/// Scripts without spaces for which no dictionary is at hand.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ac00}'..='\u{d7af}' | '\u{e00}'..='\u{e7f}')
        && c != '・'
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Han,
    Unspaced,
    Letters,
    Space,
    Other,
}

impl Kind {
    /// `before` is the kind of the run so far; a connector between two letters or digits belongs to their run.
    fn of(c: char, before: Self, after: Option<char>) -> Self {
        let joins = |c| codes::is_connector(c) || matches!(c, ',' | '\'' | '’');
        let connects =
            before == Self::Letters && joins(c) && after.is_some_and(|c| c.is_ascii_alphanumeric());
        if is_han(c) {
            Self::Han
        } else if is_unspaced(c) {
            Self::Unspaced
        } else if c.is_alphanumeric() || connects {
            Self::Letters
        } else if c == ' ' && before != Self::Space {
            Self::Space
        } else {
            Self::Other
        }
    }
}

impl Analysis {
    fn take(&mut self, kind: Kind, run: &str, spans: &mut Spans) {
        match kind {
            _ if run.is_empty() => {}
            Kind::Letters => spans.take(run, self),
            Kind::Space => spans.space(),
            Kind::Han => {
                spans.forget();
                for token in jieba().cut_for_search(run, true) {
                    self.words.push(token.word.to_owned());
                }
                self.take_pairs(run);
            }
            Kind::Unspaced => {
                spans.forget();
                let from = self.pairs.len();
                self.take_pairs(run);
                self.words.extend_from_slice(&self.pairs[from..]);
            }
            Kind::Other => spans.forget(),
        }
    }

    fn take_pairs(&mut self, run: &str) {
        let chars: Vec<char> = run.chars().collect();
        let pairs: Vec<String> = match chars.len() {
            1 => vec![run.to_owned()],
            _ => chars.windows(2).map(|pair| pair.iter().collect()).collect(),
        };
        self.grams.extend_from_slice(&pairs);
        self.pairs.extend(pairs);
    }

    fn take_word(&mut self, word: &str) {
        if word.is_empty() || word.chars().count() > MAX_TERM_CHARS {
            return;
        }
        let lower = word.to_lowercase();
        let term = if lower.bytes().all(|byte| byte.is_ascii_lowercase()) {
            stemmer().stem(&lower).into_owned()
        } else {
            lower
        };
        self.grams.push(term.clone());
        self.words.push(term);
    }

    fn take_code(&mut self, code: &str) {
        if code.chars().count() <= MAX_TERM_CHARS {
            self.codes.extend(codes::spellings(code));
        }
    }

    /// A run of letters, digits and connectors.
    fn take_span(&mut self, span: &str) {
        if codes::is_code(span) {
            self.take_code(span);
            let parts: Vec<&str> = span.split(codes::is_connector).collect();
            if parts.len() > 1 && span.chars().count() <= MAX_TERM_CHARS {
                self.words.push(span.to_lowercase());
            }
            for part in parts {
                self.take_word(part);
            }
        } else if span.starts_with(|c: char| c.is_ascii_digit()) {
            self.take_word(span);
        } else {
            for part in span.split(codes::is_connector) {
                self.take_word(part);
            }
        }
    }
}

/// Letters runs come one by one; a standard's number is joined with the body before it.
#[derive(Default)]
struct Spans {
    before: Option<String>,
    after_space: bool,
}

impl Spans {
    fn take(&mut self, run: &str, out: &mut Analysis) {
        for (index, piece) in pieces(run).into_iter().enumerate() {
            let span = Span { text: piece, follows_space: index == 0 && self.after_space };
            if let Some(code) = self.before.as_deref().and_then(|before| codes::joined(before, &span)) {
                out.words.push(code.clone());
                out.take_code(&code);
            }
            out.take_span(&span.text);
            self.before = Some(span.text);
            self.after_space = false;
        }
    }

    fn space(&mut self) {
        self.after_space = true;
    }

    fn forget(&mut self) {
        *self = Self::default();
    }
}

/// Cuts a run at apostrophes and at commas that do not group thousands; grouping commas vanish. What follows an apostrophe
/// (`'s`, `'t`) is dropped when it is one or two letters.
fn pieces(run: &str) -> Vec<String> {
    let chars: Vec<char> = run.chars().collect();
    let mut pieces = vec![String::new()];
    let mut index = 0;
    while let Some(&c) = chars.get(index) {
        match c {
            ',' if groups_thousands(&chars, index) => {}
            ',' => pieces.push(String::new()),
            '\'' | '’' => {
                let tail = chars[index + 1..].iter().take_while(|c| c.is_alphabetic()).count();
                if (1..=2).contains(&tail) {
                    index += tail;
                } else {
                    pieces.push(String::new());
                }
            }
            _ => {
                if let Some(last) = pieces.last_mut() {
                    last.push(c);
                }
            }
        }
        index += 1;
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn groups_thousands(chars: &[char], comma: usize) -> bool {
    let digits_after = chars[comma + 1..].iter().take_while(|c| c.is_ascii_digit()).count();
    digits_after == 3 && comma > 0 && chars[comma - 1].is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, words: &[&str]) {
        assert_eq!(analyze(text), words, "{text}");
    }

    #[test]
    fn words_of_both_languages() {
        check("The hotels' limits", &["the", "hotel", "limit"]);
        check("海棠花园的防水材料", &["海棠", "花园", "的", "防水", "材料", "防水材料"]);
        check("Ｈｏｔｅｌ　Ｃａｆé", &["hotel", "cafe"]);
        check("it's the company's 1,234,567 units", &["it", "the", "compani", "1234567", "unit"]);
    }

    #[test]
    fn traditional_and_simplified_are_one() {
        assert_eq!(analyze("發票與報銷規則"), analyze("发票与报销规则"));
    }

    #[test]
    fn codes_are_kept_whole_and_in_parts() {
        check("M-208", &["m-208", "m", "208"]);
        check("v2.1.3", &["v2.1.3", "v2", "1", "3"]);
        check("GB/T 50326-2017", &["gb", "t", "gb/t50326-2017", "50326-2017", "50326", "2017"]);
        check("3.5%", &["3.5"]);
        assert_eq!(analysis("M-208").codes, ["m-208", "m208"]);
        assert!(analysis("按GB/T50326-2017执行").codes.contains(&"gb/t50326-2017".to_owned()));
    }

    #[test]
    fn pairs_are_a_stream_of_their_own() {
        let found = analysis("用M-208胶水");
        assert_eq!(found.grams, ["用", "m", "208", "胶水"]);
        assert_eq!(found.pairs, ["用", "胶水"]);
    }
}
