//! Numbers with their scale, percent sign and unit.

use std::sync::LazyLock;

use regex::Regex;

use super::{Decimal, Fact, Stated, blank};

/// Units that must not be confused. Others are words like any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Unit {
    Percent,
    Yuan,
    Dollar,
    Euro,
    Pound,
    Franc,
    WorkingDay,
    Day,
    Week,
    Month,
    Year,
    Hour,
    Minute,
    SquareMetre,
    Metre,
    Kilometre,
    Millimetre,
    Kilogram,
    Tonne,
}

/// Spellings after the number, longest first within a meaning.
const UNITS: &[(Unit, &str)] = &[
    (Unit::Percent, r"%|percent\b|per cent\b|个百分点"),
    (Unit::WorkingDay, r"个?工作日|(?:working|business) days?\b"),
    (Unit::Yuan, r"元|块|人民币|RMB\b|CNY\b|yuan\b"),
    (Unit::Dollar, r"美元|(?:US )?dollars?\b|USD\b"),
    (Unit::Euro, r"欧元|euros?\b|EUR\b|€"),
    (Unit::Pound, r"英镑|pounds? sterling\b|GBP\b"),
    (Unit::Franc, r"瑞士法郎|法郎|(?:Swiss )?francs?\b|CHF\b"),
    (Unit::SquareMetre, r"平方米|平米|㎡|m2\b|m²|square met(?:er|re)s?\b|sqm\b"),
    (Unit::Kilometre, r"公里|千米|km\b|kilomet(?:er|re)s?\b"),
    (Unit::Millimetre, r"毫米|mm\b|millimet(?:er|re)s?\b"),
    (Unit::Metre, r"米|m\b|met(?:er|re)s?\b"),
    (Unit::Kilogram, r"公斤|千克|kg\b|kilograms?\b"),
    (Unit::Tonne, r"吨|tonnes?\b"),
    (Unit::Month, r"个?月|months?\b"),
    (Unit::Week, r"周|个?星期|weeks?\b"),
    (Unit::Year, r"周年|年|years?\b"),
    (Unit::Hour, r"个?小时|hours?\b|hrs?\b"),
    (Unit::Minute, r"分钟|minutes?\b|mins?\b"),
    (Unit::Day, r"(?:自然|个自然)?[天日]|(?:calendar )?days?\b"),
];

/// Powers of ten by word.
const SCALES: &[(&str, i32)] = &[
    ("trillion", 12),
    ("billion", 9),
    ("million", 6),
    ("thousand", 3),
    ("bn", 9),
    ("万亿", 12),
    ("千万", 7),
    ("百万", 6),
    ("亿", 8),
    ("万", 4),
    ("千", 3),
];

static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?P<cur>US\$|[$€£¥]|RMB ?|CHF ?|EUR ?|USD ?|GBP ?|CNY ?)? ?(?P<n>\d{1,3}(?:[,']\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?) ?-?(?P<s>trillion\b|billion\b|million\b|thousand\b|bn\b|万亿|千万|百万|亿|万|千)?",
    )
    .ok()
});

static UNIT: LazyLock<Vec<(Unit, Regex)>> = LazyLock::new(|| {
    UNITS
        .iter()
        .filter_map(|(unit, spelling)| Some((*unit, Regex::new(&format!(r"(?i)^[ -]?(?:{spelling})")).ok()?)))
        .collect()
});

/// Takes the numbers out of `text`.
pub(super) fn read(text: &str, found: &mut Vec<Stated>) -> String {
    let mut rest = text.to_owned();
    let Some(pattern) = NUMBER.as_ref() else { return rest };
    for captures in pattern.captures_iter(text) {
        let (Some(whole), Some(figures)) = (captures.get(0), captures.name("n")) else { continue };
        let scale = captures.name("s").map_or("", |part| part.as_str());
        // 千克 and 千米 are units of their own.
        let is_unit = scale == "千" && text[whole.end()..].starts_with(['克', '米', '瓦']);
        let (scale, end) = if is_unit { ("", whole.end() - scale.len()) } else { (scale, whole.end()) };
        let scale = SCALES.iter().find(|(word, _)| *word == scale).map_or(0, |(_, power)| *power);
        let value = Decimal::parse(&figures.as_str().replace([',', '\''], ""), scale);
        let after = &text[end..];
        let suffix =
            UNIT.iter().find_map(|(unit, pattern)| pattern.find(after).map(|hit| (*unit, hit.end())));
        let prefix = captures.name("cur").and_then(|part| currency(part.as_str().trim()));
        let unit =
            suffix.map(|(unit, _)| unit).filter(|unit| prefix.is_none() || *unit == Unit::Percent).or(prefix);
        let end = end + suffix.map_or(0, |(_, length)| length);
        let words = text[whole.start()..end].trim().to_owned();
        found.push(Stated { fact: Fact::Number { value, unit }, words });
        blank(&mut rest, whole.start()..end);
    }
    rest
}

fn currency(sign: &str) -> Option<Unit> {
    match sign {
        "$" | "US$" | "USD" => Some(Unit::Dollar),
        "€" | "EUR" => Some(Unit::Euro),
        "£" | "GBP" => Some(Unit::Pound),
        "¥" | "RMB" | "CNY" => Some(Unit::Yuan),
        "CHF" => Some(Unit::Franc),
        _ => None,
    }
}
