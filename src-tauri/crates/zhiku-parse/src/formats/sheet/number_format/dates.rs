//! Dates and times: days since 1900 (with that year's invented leap day) or since 1904.

use super::{Epoch, Token};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const CHINESE_DAYS: [&str; 7] = ["日", "一", "二", "三", "四", "五", "六"];

/// The last day that Excel knows: 9999-12-31.
const MAX_DAY: f64 = 2_958_466.0;

struct Moment {
    year: i64,
    month: u32,
    day: u32,
    weekday: usize,
    hour: u32,
    minute: u32,
    second: u32,
    millisecond: u32,
}

/// `None` for numbers that are no dates.
pub(super) fn show(tokens: &[Token], value: f64, epoch: Epoch) -> Option<String> {
    let is_elapsed = tokens.iter().any(|token| matches!(token, Token::Elapsed(..)));
    if !(0.0..MAX_DAY).contains(&value) && !is_elapsed {
        return None;
    }
    let n_places = second_places(tokens);
    let moment = moment(value.abs(), epoch, n_places)?;
    let has_half_day = tokens.iter().any(|token| matches!(token, Token::HalfDay(..)));
    let mut out = String::new();
    if value < 0.0 {
        out.push('-');
    }
    let mut skip = 0;
    for (n, token) in tokens.iter().enumerate() {
        if skip > 0 {
            skip -= 1;
            continue;
        }
        match token {
            Token::Literal(text) => out.push_str(text),
            Token::Date(letter, n_letters) => {
                let letter = if *letter == 'm' && is_minute(tokens, n) { 'n' } else { *letter };
                part(&moment, letter, *n_letters, has_half_day, &mut out);
            }
            Token::Elapsed(letter, n_letters) => {
                let seconds = (value.abs() * 86_400.0 + 0.000_5).floor();
                let amount = match letter {
                    'h' => seconds / 3_600.0,
                    'm' => seconds / 60.0,
                    _ => seconds,
                };
                let digits = format!("{:0width$}", amount.floor() as u64, width = *n_letters);
                out.push_str(&digits);
            }
            Token::HalfDay(morning, evening) => {
                out.push_str(if moment.hour < 12 { morning } else { evening });
            }
            Token::Point if n_places > 0 => {
                skip = n_places;
                let fraction = format!("{:03}", moment.millisecond);
                out.push('.');
                out.push_str(&fraction[..n_places.min(3)]);
            }
            Token::Point => out.push('.'),
            Token::Comma => out.push(','),
            Token::Slash => out.push('/'),
            Token::Digit(digit) => out.push(*digit),
            Token::Percent => out.push('%'),
            Token::Exponent | Token::General | Token::Text => {}
        }
    }
    Some(out.trim().to_owned())
}

/// How many digits of a second are shown: `ss.00`.
fn second_places(tokens: &[Token]) -> usize {
    let point = tokens.iter().position(|token| *token == Token::Point);
    point.map_or(0, |point| {
        tokens[point + 1..].iter().take_while(|token| matches!(token, Token::Digit('0'))).count().min(3)
    })
}

/// An `m` means minutes behind hours and before seconds.
fn is_minute(tokens: &[Token], at: usize) -> bool {
    let letter = |token: &Token| match token {
        Token::Date(letter, _) | Token::Elapsed(letter, _) => Some(*letter),
        _ => None,
    };
    let Token::Date(_, n_letters) = &tokens[at] else { return false };
    let before = tokens[..at].iter().rev().find_map(letter);
    let after = tokens[at + 1..].iter().find_map(letter);
    *n_letters <= 2 && (before == Some('h') || after == Some('s'))
}

fn part(moment: &Moment, letter: char, n_letters: usize, has_half_day: bool, out: &mut String) {
    let two = |number: u32| if n_letters >= 2 { format!("{number:02}") } else { number.to_string() };
    let month = MONTHS[(moment.month as usize - 1).min(11)];
    let text = match (letter, n_letters) {
        ('y', 0..=2) => format!("{:02}", moment.year % 100),
        ('y' | 'e', _) => format!("{:04}", moment.year),
        ('b', _) => format!("{:04}", moment.year + 543),
        ('m', 3) => month[..3].to_owned(),
        ('m', 5) => month[..1].to_owned(),
        ('m', 4..) => month.to_owned(),
        ('m', _) => two(moment.month),
        ('d', 3) => DAYS[moment.weekday][..3].to_owned(),
        ('d', 4..) => DAYS[moment.weekday].to_owned(),
        ('d', _) => two(moment.day),
        ('a', 4..) => format!("星期{}", CHINESE_DAYS[moment.weekday]),
        ('a', _) => CHINESE_DAYS[moment.weekday].to_owned(),
        ('h', _) => {
            let hour = if has_half_day { (moment.hour + 11) % 12 + 1 } else { moment.hour };
            two(hour)
        }
        ('n', _) => two(moment.minute),
        ('s', _) => two(moment.second),
        _ => String::new(),
    };
    out.push_str(&text);
}

fn moment(value: f64, epoch: Epoch, n_places: usize) -> Option<Moment> {
    // Rounded to what is shown, so that 12:59:59.9999 is 13:00.
    let step = 1000_i64 / 10_i64.pow(n_places.min(3) as u32);
    let milliseconds = ((value * 86_400_000.0 / step as f64).round() as i64).checked_mul(step)?;
    let (day, time) = (milliseconds.div_euclid(86_400_000), milliseconds.rem_euclid(86_400_000));
    let since_1970 = match epoch {
        Epoch::Year1904 => day - 24_107,
        // 29 February 1900 never was; before it the count is one day behind.
        Epoch::Year1900 if day < 60 => day - 25_568,
        Epoch::Year1900 => day - 25_569,
    };
    let (year, month, day) = civil(since_1970);
    Some(Moment {
        year,
        month,
        day,
        weekday: (since_1970 + 4).rem_euclid(7) as usize,
        hour: (time / 3_600_000) as u32,
        minute: (time / 60_000 % 60) as u32,
        second: (time / 1_000 % 60) as u32,
        millisecond: (time % 1_000) as u32,
    })
}

/// Year, month and day of the Gregorian calendar, by counting in years that begin in March.
fn civil(days_since_1970: i64) -> (i64, u32, u32) {
    let days = days_since_1970 + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u32;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 } as u32;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}
