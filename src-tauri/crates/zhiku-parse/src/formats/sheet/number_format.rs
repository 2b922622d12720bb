//! Numbers as a spreadsheet shows them: the format codes of Excel (ECMA-376 part 1, 18.8.30).
//!
//! Formats that depend on the reader's country (the built-in dates 14 and 22) become ISO dates. Deliberately absent: colours,
//! padding, fractions (`# ?/?`, shown as decimal numbers), eras.

mod dates;

/// A format code, ready to be applied.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::formats) struct NumberFormat {
    /// At least one.
    sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq)]
struct Section {
    condition: Option<(Comparison, f64)>,
    tokens: Vec<Token>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Literal(String),
    /// `0`, `#` or `?`.
    Digit(char),
    Point,
    Comma,
    Percent,
    /// `E+` or `E-`.
    Exponent,
    Slash,
    General,
    /// `@`.
    Text,
    /// A run of one letter of `y m d h s e a b`.
    Date(char, usize),
    /// `[h]`, `[mm]`: time that runs on past a day or an hour.
    Elapsed(char, usize),
    /// `AM/PM`, `上午/下午`.
    HalfDay(String, String),
}

impl NumberFormat {
    pub(in crate::formats) fn parse(code: &str) -> Self {
        Self { sections: split_sections(code).iter().map(|section| parse_section(section)).collect() }
    }

    /// One of the formats that have a number only.
    pub(in crate::formats) fn built_in(id: u32) -> Self {
        Self::parse(match id {
            1 => "0",
            2 => "0.00",
            3 => "#,##0",
            4 => "#,##0.00",
            9 => "0%",
            10 => "0.00%",
            11 | 48 => "0.00E+00",
            14 | 30 => "yyyy-mm-dd",
            15 => "d-mmm-yy",
            16 => "d-mmm",
            17 => "mmm-yy",
            18 => "h:mm AM/PM",
            19 => "h:mm:ss AM/PM",
            20 => "h:mm",
            21 => "h:mm:ss",
            22 => "yyyy-mm-dd hh:mm",
            27 | 36 | 50 | 52 | 54 | 57 => "yyyy\"年\"m\"月\"",
            28 | 29 | 51 | 53 | 58 => "m\"月\"d\"日\"",
            31 => "yyyy\"年\"m\"月\"d\"日\"",
            32 => "h\"时\"mm\"分\"",
            33 => "h\"时\"mm\"分\"ss\"秒\"",
            34 | 55 => "上午/下午h\"时\"mm\"分\"",
            35 | 56 => "上午/下午h\"时\"mm\"分\"ss\"秒\"",
            37 | 38 => "#,##0;-#,##0",
            39 | 40 => "#,##0.00;-#,##0.00",
            45 => "mm:ss",
            46 => "[h]:mm:ss",
            47 => "mm:ss.0",
            49 => "@",
            _ => "General",
        })
    }

    /// A number as it is shown. `is_1904`: whether the file counts its days from 1904.
    pub(in crate::formats) fn show(&self, value: f64, epoch: Epoch) -> String {
        if !value.is_finite() {
            return value.to_string();
        }
        let (section, value) = self.choose(value);
        if section.is_date() {
            return dates::show(&section.tokens, value, epoch).unwrap_or_else(|| general(value));
        }
        show_number(&section.tokens, value)
    }

    /// The section for a value, and the value without the sign that the section itself shows.
    fn choose(&self, value: f64) -> (&Section, f64) {
        let numeric = &self.sections[..self.sections.len().min(3)];
        if let Some(section) =
            numeric.iter().find(|section| section.condition.is_some_and(|c| holds(c, value)))
        {
            return (section, if self.sections.len() > 1 { value.abs() } else { value });
        }
        if numeric.iter().any(|section| section.condition.is_some()) {
            let other = numeric.iter().find(|section| section.condition.is_none());
            return (other.unwrap_or(&numeric[0]), value);
        }
        match numeric {
            [_, negative, ..] if value < 0.0 => (negative, -value),
            [_, _, zero] if value == 0.0 => (zero, value),
            _ => (&self.sections[0], value),
        }
    }
}

/// The day that a file counts its dates from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::formats) enum Epoch {
    #[default]
    Year1900,
    Year1904,
}

impl Section {
    fn is_date(&self) -> bool {
        self.tokens
            .iter()
            .any(|token| matches!(token, Token::Date(..) | Token::Elapsed(..) | Token::HalfDay(..)))
    }
}

/// A number without a format: at most 15 significant digits, as many as the file holds.
pub(in crate::formats) fn general(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let size = value.abs();
    if !(1e-9..1e18).contains(&size) {
        return format!("{value:E}");
    }
    let n_decimals = (14 - size.log10().floor() as i32).clamp(0, 15) as usize;
    let text = format!("{value:.n_decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn holds((comparison, limit): (Comparison, f64), value: f64) -> bool {
    match comparison {
        Comparison::Less => value < limit,
        Comparison::LessOrEqual => value <= limit,
        Comparison::Greater => value > limit,
        Comparison::GreaterOrEqual => value >= limit,
        Comparison::Equal => (value - limit).abs() < f64::EPSILON,
        Comparison::NotEqual => (value - limit).abs() >= f64::EPSILON,
    }
}

fn split_sections(code: &str) -> Vec<String> {
    let mut sections = vec![String::new()];
    let mut chars = code.chars();
    let mut quoted = false;
    while let Some(c) = chars.next() {
        let last = sections.len() - 1;
        match c {
            '"' => quoted = !quoted,
            '\\' if !quoted => {
                sections[last].push(c);
                sections[last].extend(chars.next());
                continue;
            }
            ';' if !quoted => {
                sections.push(String::new());
                continue;
            }
            _ => {}
        }
        sections[last].push(c);
    }
    sections
}

fn parse_section(code: &str) -> Section {
    let chars: Vec<char> = code.chars().collect();
    let mut section = Section { condition: None, tokens: Vec::new() };
    let mut at = 0;
    while at < chars.len() {
        at = parse_token(&chars, at, &mut section);
    }
    section
}

/// Reads one token and says where the next one begins.
fn parse_token(chars: &[char], at: usize, section: &mut Section) -> usize {
    let rest = &chars[at..];
    let starts = |word: &str| {
        let word: Vec<char> = word.chars().collect();
        rest.len() >= word.len() && rest.iter().zip(&word).all(|(a, b)| a.eq_ignore_ascii_case(b))
    };
    let tokens = &mut section.tokens;
    match chars[at] {
        '"' => {
            let end = rest[1..].iter().position(|c| *c == '"').map_or(chars.len(), |n| at + 1 + n);
            push_literal(tokens, &chars[at + 1..end].iter().collect::<String>());
            return end + 1;
        }
        '\\' | '!' => {
            push_literal(tokens, &rest.iter().skip(1).take(1).collect::<String>());
            return at + 2;
        }
        // A space as wide as the next character.
        '_' => {
            push_literal(tokens, " ");
            return at + 2;
        }
        // The next character fills the cell.
        '*' => return at + 2,
        '[' => {
            let end = rest.iter().position(|c| *c == ']').map_or(chars.len(), |n| at + n);
            bracket(&chars[at + 1..end.min(chars.len())].iter().collect::<String>(), section);
            return end + 1;
        }
        _ => {}
    }
    for (morning, evening) in [("AM", "PM"), ("A", "P"), ("上午", "下午")] {
        let both = format!("{morning}/{evening}");
        if starts(&both) {
            tokens.push(Token::HalfDay(morning.to_owned(), evening.to_owned()));
            return at + both.chars().count();
        }
    }
    if starts("General") {
        tokens.push(Token::General);
        return at + "General".len();
    }
    if starts("E+") || starts("E-") {
        tokens.push(Token::Exponent);
        return at + 2;
    }
    match chars[at] {
        digit @ ('0' | '#' | '?') => tokens.push(Token::Digit(digit)),
        '.' => tokens.push(Token::Point),
        ',' => tokens.push(Token::Comma),
        '%' => tokens.push(Token::Percent),
        '/' => tokens.push(Token::Slash),
        '@' => tokens.push(Token::Text),
        letter if "ymdhseab".contains(letter.to_ascii_lowercase()) => {
            let same = |c: &&char| c.eq_ignore_ascii_case(&letter);
            let n = rest.iter().take_while(same).count();
            tokens.push(Token::Date(letter.to_ascii_lowercase(), n));
            return at + n;
        }
        other => push_literal(tokens, &other.to_string()),
    }
    at + 1
}

fn push_literal(tokens: &mut Vec<Token>, text: &str) {
    match tokens.last_mut() {
        Some(Token::Literal(last)) => last.push_str(text),
        _ => tokens.push(Token::Literal(text.to_owned())),
    }
}

/// `[Red]`, `[>=100]`, `[$¥-804]`, `[h]`.
fn bracket(text: &str, section: &mut Section) {
    if let Some(money) = text.strip_prefix('$') {
        push_literal(&mut section.tokens, money.split('-').next().unwrap_or_default());
        return;
    }
    let comparisons = [
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("<>", Comparison::NotEqual),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
        ("=", Comparison::Equal),
    ];
    for (sign, comparison) in comparisons {
        if let Some(limit) = text.strip_prefix(sign).and_then(|limit| limit.trim().parse().ok()) {
            section.condition = Some((comparison, limit));
            return;
        }
    }
    let lower = text.to_lowercase();
    if let Some(letter) = lower.chars().next().filter(|c| "hms".contains(*c))
        && lower.chars().all(|c| c == letter)
    {
        section.tokens.push(Token::Elapsed(letter, lower.len()));
    }
}

fn show_number(tokens: &[Token], value: f64) -> String {
    let has = |wanted: &Token| tokens.contains(wanted);
    let has_digits = tokens.iter().any(|token| matches!(token, Token::Digit(_)));
    if has(&Token::Slash) && has_digits {
        return general(value);
    }
    let mut out = String::new();
    if !has_digits {
        let is_shown = has(&Token::General) || has(&Token::Text);
        if value < 0.0 && !is_shown && !tokens.is_empty() {
            out.push('-');
        }
        for token in tokens {
            match token {
                Token::Literal(text) => out.push_str(text),
                Token::General | Token::Text => out.push_str(&general(value)),
                Token::Percent => out.push('%'),
                Token::Point => out.push('.'),
                Token::Comma => out.push(','),
                Token::Slash => out.push('/'),
                _ => {}
            }
        }
        return out.trim().to_owned();
    }
    let first = tokens.iter().position(|token| matches!(token, Token::Digit(_) | Token::Point)).unwrap_or(0);
    let last = tokens.iter().rposition(|token| matches!(token, Token::Digit(_) | Token::Point)).unwrap_or(0);
    let n_scale = tokens[last + 1..].iter().take_while(|token| **token == Token::Comma).count();
    let n_percent = tokens.iter().filter(|token| **token == Token::Percent).count();
    let scaled = value * 100_f64.powi(n_percent as i32) / 1000_f64.powi(n_scale as i32);
    let body = if tokens[first..=last].contains(&Token::Exponent) {
        scientific(&tokens[first..=last], scaled.abs())
    } else {
        decimal(&tokens[first..=last], scaled.abs())
    };
    let is_zero = body.chars().all(|c| !c.is_ascii_digit() || c == '0');
    if value < 0.0 && !is_zero {
        out.push('-');
    }
    let around = |tokens: &[Token], out: &mut String| {
        for token in tokens {
            match token {
                Token::Literal(text) => out.push_str(text),
                Token::Percent => out.push('%'),
                _ => {}
            }
        }
    };
    around(&tokens[..first], &mut out);
    out.push_str(&body);
    around(&tokens[last + 1..], &mut out);
    out.trim().to_owned()
}

fn decimal(tokens: &[Token], value: f64) -> String {
    let point = tokens.iter().position(|token| *token == Token::Point);
    let (whole, fraction) = match point {
        Some(point) => (&tokens[..point], &tokens[point + 1..]),
        None => (tokens, &tokens[tokens.len()..]),
    };
    let n_most = fraction.iter().filter(|token| matches!(token, Token::Digit(_))).count().min(30);
    // What stands in the file is a decimal number; its binary form may lie a hair below a half.
    let value = general_digits(value);
    let text = format!("{value:.n_most$}");
    let (digits, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let mut out = whole_part(whole, digits);
    let n_least = fraction
        .iter()
        .rposition(|token| *token == Token::Digit('0'))
        .map_or(0, |at| fraction[..=at].iter().filter(|token| matches!(token, Token::Digit(_))).count());
    let mut shown = decimals.trim_end_matches('0').len().max(n_least).min(decimals.len());
    if point.is_some() && (shown > 0 || n_most == 0) {
        out.push('.');
    }
    let mut decimals = decimals.chars();
    for token in fraction {
        match token {
            Token::Digit(_) if shown > 0 => {
                out.extend(decimals.next());
                shown -= 1;
            }
            Token::Literal(text) => out.push_str(text),
            _ => {}
        }
    }
    out
}

fn general_digits(value: f64) -> f64 {
    general(value).parse::<f64>().map_or(value, |plain| plain + plain * f64::EPSILON)
}

/// The digits before the point, from right to left into their places; the leftmost place takes what is left.
fn whole_part(tokens: &[Token], digits: &str) -> String {
    let is_grouped = tokens.iter().enumerate().any(|(n, token)| {
        *token == Token::Comma && tokens[n + 1..].iter().any(|token| matches!(token, Token::Digit(_)))
    });
    let mut digits: Vec<char> = if digits == "0" { Vec::new() } else { digits.chars().collect() };
    let first_place = tokens.iter().position(|token| matches!(token, Token::Digit(_)));
    let mut reversed: Vec<char> = Vec::new();
    let mut n_digits = 0;
    let mut put = |digit: char, reversed: &mut Vec<char>| {
        if is_grouped && n_digits > 0 && n_digits % 3 == 0 {
            reversed.push(',');
        }
        reversed.push(digit);
        n_digits += 1;
    };
    for (n, token) in tokens.iter().enumerate().rev() {
        match token {
            Token::Digit(kind) => {
                match digits.pop() {
                    Some(digit) => put(digit, &mut reversed),
                    None if *kind == '0' => put('0', &mut reversed),
                    None => {}
                }
                while Some(n) == first_place
                    && let Some(digit) = digits.pop()
                {
                    put(digit, &mut reversed);
                }
            }
            Token::Literal(text) => reversed.extend(text.chars().rev()),
            _ => {}
        }
    }
    // A format such as `.00` has no place before the point.
    while let Some(digit) = digits.pop() {
        put(digit, &mut reversed);
    }
    reversed.into_iter().rev().collect()
}

fn scientific(tokens: &[Token], value: f64) -> String {
    let n_decimals = tokens
        .iter()
        .skip_while(|token| **token != Token::Point)
        .take_while(|token| **token != Token::Exponent)
        .filter(|token| matches!(token, Token::Digit(_)))
        .count();
    let text = format!("{value:.n_decimals$E}");
    let (mantissa, exponent) = text.split_once('E').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}E{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests;
