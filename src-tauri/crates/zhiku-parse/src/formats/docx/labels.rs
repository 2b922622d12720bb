//! Numbers as list labels write them: 一, IV, c, ③.

/// `n` in one of WordprocessingML's number formats; unknown formats count in digits.
pub(super) fn number_label(n: i64, format: &str) -> String {
    if n < 0 {
        return n.to_string();
    }
    match format {
        "none" | "bullet" => String::new(),
        "decimalZero" => format!("{n:02}"),
        "upperRoman" => roman(n),
        "lowerRoman" => roman(n).to_lowercase(),
        "upperLetter" => letters(n, b'A'),
        "lowerLetter" => letters(n, b'a'),
        "chineseCounting"
        | "chineseCountingThousand"
        | "japaneseCounting"
        | "taiwaneseCounting"
        | "taiwaneseCountingThousand" => {
            counting(n, &["〇", "一", "二", "三", "四", "五", "六", "七", "八", "九"], ["", "十", "百", "千"])
        }
        "chineseLegalSimplified" => {
            counting(n, &["零", "壹", "贰", "叁", "肆", "伍", "陆", "柒", "捌", "玖"], ["", "拾", "佰", "仟"])
        }
        "ideographLegalTraditional" | "japaneseLegal" => {
            counting(n, &["零", "壹", "貳", "參", "肆", "伍", "陸", "柒", "捌", "玖"], ["", "拾", "佰", "仟"])
        }
        "ideographDigital" | "japaneseDigitalTenThousand" | "taiwaneseDigital" => n
            .to_string()
            .bytes()
            .map(|digit| nth("〇一二三四五六七八九", usize::from(digit - b'0')))
            .collect(),
        "ideographTraditional" => cycle(n, "甲乙丙丁戊己庚辛壬癸"),
        "ideographZodiac" => cycle(n, "子丑寅卯辰巳午未申酉戌亥"),
        "decimalEnclosedCircle" | "decimalEnclosedCircleChinese" => enclosed(n, '①', 20),
        "decimalEnclosedParen" => enclosed(n, '⑴', 20),
        "decimalEnclosedFullstop" => enclosed(n, '⒈', 20),
        "decimalFullWidth" | "decimalFullWidth2" => {
            n.to_string().bytes().map(|b| nth("０１２３４５６７８９", usize::from(b - b'0'))).collect()
        }
        "ordinal" => format!("{n}{}", ordinal_suffix(n)),
        _ => n.to_string(),
    }
}

fn nth(digits: &str, n: usize) -> char {
    digits.chars().nth(n).unwrap_or('〇')
}

fn cycle(n: i64, names: &str) -> String {
    let length = names.chars().count() as i64;
    if (1..=length).contains(&n) { nth(names, n as usize - 1).to_string() } else { n.to_string() }
}

fn enclosed(n: i64, first: char, count: i64) -> String {
    let c = (1..=count).contains(&n).then(|| char::from_u32(first as u32 + n as u32 - 1)).flatten();
    c.map_or_else(|| format!("({n})"), |c| c.to_string())
}

fn ordinal_suffix(n: i64) -> &'static str {
    match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

/// A to Z, then AA, BB …, as Word does.
fn letters(n: i64, first: u8) -> String {
    if !(1..=26 * 8).contains(&n) {
        return n.to_string();
    }
    let letter = char::from(first + ((n - 1) % 26) as u8);
    std::iter::repeat_n(letter, 1 + ((n - 1) / 26) as usize).collect()
}

fn roman(n: i64) -> String {
    const VALUES: [(i64, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if !(1..4000).contains(&n) {
        return n.to_string();
    }
    let mut rest = n;
    let mut text = String::new();
    for (value, letters) in VALUES {
        while rest >= value {
            text.push_str(letters);
            rest -= value;
        }
    }
    text
}

/// Chinese counting up to 9,999: 十二, 一百零三.
fn counting(n: i64, digits: &[&str; 10], places: [&str; 4]) -> String {
    if !(1..10_000).contains(&n) {
        return if n == 0 { digits[0].to_owned() } else { n.to_string() };
    }
    let mut text = String::new();
    let mut owes_zero = false;
    for place in (0..4).rev() {
        let digit = (n / 10_i64.pow(place as u32)) % 10;
        if digit == 0 {
            owes_zero = !text.is_empty();
            continue;
        }
        if owes_zero {
            text.push('零');
            owes_zero = false;
        }
        // Ten is 十, not 一十.
        if !(digit == 1 && place == 1 && text.is_empty() && places[1] == "十") {
            text.push_str(digits[digit as usize]);
        }
        text.push_str(places[place]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_written_as_word_writes_them() {
        let label = |n, format| number_label(n, format);
        assert_eq!(
            [1, 10, 12, 20, 103, 110, 1002].map(|n| label(n, "chineseCounting")).join(" "),
            "一 十 十二 二十 一百零三 一百一十 一千零二"
        );
        assert_eq!([4, 9, 14, 1999].map(|n| label(n, "upperRoman")).join(" "), "IV IX XIV MCMXCIX");
        assert_eq!([1, 26, 27].map(|n| label(n, "lowerLetter")).join(" "), "a z aa");
        assert_eq!(
            [label(3, "decimalEnclosedCircle"), label(21, "decimalEnclosedCircle")].join(" "),
            "③ (21)"
        );
        assert_eq!(
            [label(2, "chineseLegalSimplified"), label(7, "decimalZero"), label(2, "ideographTraditional")]
                .join(" "),
            "贰 07 乙"
        );
    }
}
