//! Codes such as `M-208`, `GB/T 50326-2017` or `v2.1.3`: found in a text, kept whole and cut into parts.

/// A stretch of ASCII letters and digits with single connectors between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// As written.
    pub(super) text: String,
    /// Only one space stands between the span before and this one.
    pub(super) follows_space: bool,
}

pub(super) fn is_connector(c: char) -> bool {
    matches!(c, '-' | '.' | '/' | '_' | '#')
}

/// A dash of any kind as the plain one.
pub(super) fn plain_dash(c: char) -> char {
    if matches!(c, '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}') { '-' } else { c }
}

/// Whether the span is more than words, a number or a decimal: it has a digit and something else to it.
pub(super) fn is_code(span: &str) -> bool {
    let has_digit = span.chars().any(|c| c.is_ascii_digit());
    let has_letter = span.chars().any(|c| c.is_ascii_alphabetic());
    let connectors: Vec<char> = span.chars().filter(|c| is_connector(*c)).collect();
    has_digit && (has_letter || connectors.len() > 1 || (connectors.len() == 1 && connectors[0] != '.'))
}

/// The number of a standard is written after a space: `GB/T 50326-2017`, `ISO 9001`. `Some` when `first` names an issuing
/// body and `second` starts with a digit; both come out in one piece.
pub(super) fn joined(first: &str, second: &Span) -> Option<String> {
    let starts_with_digit = second.text.starts_with(|c: char| c.is_ascii_digit());
    let letters = || first.chars().filter(|c| *c != '/');
    let is_body = (2..=7).contains(&first.chars().count())
        && letters().all(|c| c.is_ascii_alphabetic())
        && (first.contains('/') || letters().all(|c| c.is_ascii_uppercase()));
    (second.follows_space && starts_with_digit && is_body)
        .then(|| format!("{first}{}", second.text).to_lowercase())
}

/// Spellings under which a code is looked up: as written, and without the signs that people leave out.
pub(super) fn spellings(code: &str) -> Vec<String> {
    let whole = code.to_lowercase();
    let bare: String = whole.chars().filter(|c| !matches!(c, '-' | '/' | '_' | '#')).collect();
    if bare == whole { vec![whole] } else { vec![whole, bare] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_code() {
        for code in ["M-208", "v2.1.3", "10-K", "2024-03-15", "M208", "50326-2017"] {
            assert!(is_code(code), "{code}");
        }
        for word in ["and/or", "e.g", "3.5", "2016", "state-of-the-art"] {
            assert!(!is_code(word), "{word}");
        }
    }

    #[test]
    fn a_standard_keeps_its_number() {
        let number = |text: &str| Span { text: text.to_owned(), follows_space: true };
        assert_eq!(joined("GB/T", &number("50326-2017")), Some("gb/t50326-2017".to_owned()));
        assert_eq!(joined("ISO", &number("9001")), Some("iso9001".to_owned()));
        assert_eq!(joined("in", &number("2016")), None);
        assert_eq!(spellings("GB/T50326-2017"), ["gb/t50326-2017", "gbt503262017"]);
    }
}
