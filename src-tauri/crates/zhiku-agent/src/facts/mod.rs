//! The facts of a text that can be compared letter by letter: numbers with units, percentages, dates, codes, names.
//!
//! Everything is normalised, so 六百五十元 is 650 元, 百分之五 is 5 %, 2024年3月 is 2024-03 and 1.2万 is 12,000.

mod dates;
mod names;
mod numerals;
mod quantities;

use crate::text::plain;

pub(crate) use quantities::Unit;

/// A comparable fact of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    /// `value` is a normalised decimal.
    Number {
        value: Decimal,
        unit: Option<Unit>,
    },
    Date {
        year: Option<u32>,
        month: Option<u32>,
        day: Option<u32>,
    },
    /// Folded: lower case, no white space.
    Code(String),
    Name(String),
}

/// A fact and the words that state it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stated {
    pub(crate) fact: Fact,
    pub(crate) words: String,
}

/// A number without trailing zeros: `digits` × 10^`exponent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub(crate) digits: String,
    pub(crate) exponent: i32,
}

impl Decimal {
    /// From figures with an optional point, times 10^`scale`.
    pub(crate) fn parse(figures: &str, scale: i32) -> Self {
        let (whole, fraction) = figures.split_once('.').unwrap_or((figures, ""));
        let digits: String = whole.chars().chain(fraction.chars()).filter(char::is_ascii_digit).collect();
        let mut exponent = scale - fraction.chars().filter(char::is_ascii_digit).count() as i32;
        let kept = digits.trim_end_matches('0');
        exponent += (digits.len() - kept.len()) as i32;
        let kept = kept.trim_start_matches('0');
        if kept.is_empty() {
            return Self { digits: "0".to_owned(), exponent: 0 };
        }
        Self { digits: kept.to_owned(), exponent }
    }
}

/// The facts of a text, in order.
pub(crate) fn facts(text: &str) -> Vec<Stated> {
    let text = numerals::arabic(&plain(text));
    let mut found = Vec::new();
    // Each reader blanks what it took, so that a date is not also three numbers.
    let rest = dates::read(&text, &mut found);
    let rest = names::read_codes(&rest, &mut found);
    let rest = quantities::read(&rest, &mut found);
    names::read_names(&rest, &mut found);
    found
}

/// Replaces a stretch by as many blanks, so that positions stay.
fn blank(text: &mut String, range: std::ops::Range<usize>) {
    let blanks = " ".repeat(range.len());
    text.replace_range(range, &blanks);
}

/// Figures of a text after normalisation, for "holds every number".
pub(crate) fn numbers(text: &str) -> Vec<Decimal> {
    let text = numerals::arabic(&plain(text));
    let mut found = Vec::new();
    quantities::read(&text, &mut found);
    found
        .into_iter()
        .filter_map(|stated| match stated.fact {
            Fact::Number { value, .. } => Some(value),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(a: &str, b: &str) {
        let only = |text: &str| facts(text).into_iter().map(|stated| stated.fact).collect::<Vec<_>>();
        assert_eq!(only(a), only(b), "{a} | {b}");
        assert!(!only(a).is_empty(), "{a}");
    }

    #[test]
    fn spellings_of_one_fact_are_equal() {
        check("六百五十元", "650 元");
        check("百分之五", "5 %");
        check("５％", "5%");
        check("2024年3月", "2024-03");
        check("二〇二四年三月十五日", "2024/3/15");
        check("March 15, 2024", "2024-03-15");
        check("15 March 2024", "2024年3月15日");
        check("1.2万元", "12,000元");
        check("12 million dollars", "$12,000,000");
        check("三十天", "30 days");
        check("5 千克", "5 公斤");
        check("3千米", "3 km");
        check("Ｍ－２０８", "M-208");
    }

    #[test]
    fn different_facts_stay_different() {
        let only = |text: &str| facts(text).into_iter().map(|stated| stated.fact).collect::<Vec<_>>();
        assert_ne!(only("650 元"), only("650 米"));
        assert_ne!(only("M-208"), only("M-209"));
        assert_ne!(only("5%"), only("5"));
        assert_ne!(only("2024-03"), only("2024-04"));
    }
}
