//! Dates in the ways people write them.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::{Fact, Stated, blank};

const MONTHS: &str = "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|\
                      oct(?:ober)?|nov(?:ember)?|dec(?:ember)?";

/// Patterns in order of precedence; the group names say which part is which.
static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"(?P<y>\d{4}) ?年 ?(?P<m>\d{1,2}) ?月(?: ?(?P<d>\d{1,2}) ?[日号])?".to_owned(),
        r"\b(?P<y>(?:19|20)\d\d) ?[-/.] ?(?P<m>0?[1-9]|1[0-2])(?: ?[-/.] ?(?P<d>0?[1-9]|[12]\d|3[01]))?\b"
            .to_owned(),
        r"(?P<m>\d{1,2}) ?月 ?(?P<d>\d{1,2}) ?[日号]".to_owned(),
        format!(r"(?i)\b(?P<n>{MONTHS})\.? (?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?:, ?| )(?P<y>(?:19|20)\d\d)\b"),
        format!(
            r"(?i)\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<n>{MONTHS})\.?,? (?P<y>(?:19|20)\d\d)\b"
        ),
        format!(r"(?i)\b(?P<n>{MONTHS})\.?,? (?P<y>(?:19|20)\d\d)\b"),
        format!(r"(?i)\b(?P<n>{MONTHS})\.? (?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b"),
        format!(r"(?i)\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<n>{MONTHS})\b"),
        r"(?P<y>(?:19|20)\d\d) ?年".to_owned(),
        r"\b(?:FY ?)?(?P<y>(?:19|20)\d\d)\b".to_owned(),
    ]
    .iter()
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

/// Takes the dates out of `text`.
pub(super) fn read(text: &str, found: &mut Vec<Stated>) -> String {
    let mut rest = text.to_owned();
    let mut stated = Vec::new();
    for pattern in PATTERNS.iter() {
        let taken: Vec<_> = pattern
            .captures_iter(&rest)
            .filter_map(|captures| {
                let whole = captures.get(0)?;
                date_of(&captures).map(|fact| (whole.range(), fact))
            })
            .collect();
        for (range, fact) in taken {
            stated.push((range.start, Stated { fact, words: text[range.clone()].trim().to_owned() }));
            blank(&mut rest, range);
        }
    }
    stated.sort_by_key(|(start, _)| *start);
    found.extend(stated.into_iter().map(|(_, stated)| stated));
    rest
}

fn date_of(captures: &Captures<'_>) -> Option<Fact> {
    let number = |name: &str| captures.name(name).and_then(|part| part.as_str().parse::<u32>().ok());
    let month = number("m").or_else(|| captures.name("n").and_then(|part| month_of(part.as_str())));
    let day = number("d");
    if month.is_some_and(|m| !(1..=12).contains(&m)) || day.is_some_and(|d| !(1..=31).contains(&d)) {
        return None;
    }
    Some(Fact::Date { year: number("y"), month, day })
}

fn month_of(name: &str) -> Option<u32> {
    let start = name.get(..3)?.to_lowercase();
    let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    names.iter().position(|month| *month == start).map(|at| at as u32 + 1)
}
