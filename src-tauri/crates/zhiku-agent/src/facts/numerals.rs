//! Chinese numerals as Arabic figures: 六百五十 → 650, 百分之五 → 5%, 二〇二四 → 2024, 1.2万 stays for the quantities.
//!
//! Words that only look like numbers (一些, 万一, 十分, 统一) stay words.

/// Rewrites the numerals of a text; everything else is kept.
pub(super) fn arabic(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut i = 0;
    while i < chars.len() {
        if chars[i..].starts_with(&['百', '分', '之']) {
            let end = run_end(&chars, i + 3);
            if let Some(value) = value_of(&chars[i + 3..end]) {
                out.push_str(&value);
                out.push('%');
                i = end;
                continue;
            }
        }
        let end = run_end(&chars, i);
        if end == i {
            out.push(chars[i]);
            i += 1;
            continue;
        }
        let before = i.checked_sub(1).map(|at| chars[at]);
        match value_of(&chars[i..end]).filter(|_| is_number(&chars[i..end], before, chars.get(end).copied()))
        {
            Some(value) => out.push_str(&value),
            None => out.extend(&chars[i..end]),
        }
        i = end;
    }
    out
}

fn digit(c: char) -> Option<u64> {
    Some(match c {
        '〇' | '零' => 0,
        '一' | '壹' => 1,
        '二' | '两' | '贰' => 2,
        '三' | '叁' => 3,
        '四' | '肆' => 4,
        '五' | '伍' => 5,
        '六' | '陆' => 6,
        '七' | '柒' => 7,
        '八' | '捌' => 8,
        '九' | '玖' => 9,
        _ => return None,
    })
}

fn multiplier(c: char) -> Option<u64> {
    Some(match c {
        '十' | '拾' => 10,
        '百' | '佰' => 100,
        '千' | '仟' => 1_000,
        '万' => 10_000,
        '亿' => 100_000_000,
        _ => return None,
    })
}

fn run_end(chars: &[char], start: usize) -> usize {
    let mut end = start;
    while end < chars.len() {
        let numeral = digit(chars[end]).is_some() || multiplier(chars[end]).is_some();
        let point = chars[end] == '点'
            && end > start
            && digit(chars[end - 1]).is_some()
            && chars.get(end + 1).is_some_and(|c| digit(*c).is_some());
        if !numeral && !point {
            break;
        }
        end += 1;
    }
    end
}

/// The value in Arabic figures, or `None` when the run is not a numeral.
fn value_of(run: &[char]) -> Option<String> {
    if let Some(point) = run.iter().position(|c| *c == '点') {
        let whole = value_of(&run[..point])?;
        let mut out = format!("{whole}.");
        for c in &run[point + 1..] {
            out.push(char::from_digit(u32::try_from(digit(*c)?).ok()?, 10)?);
        }
        return Some(out);
    }
    if run.is_empty() {
        return None;
    }
    if run.iter().all(|c| digit(*c).is_some()) {
        return run.iter().map(|c| digit(*c).and_then(|d| char::from_digit(d as u32, 10))).collect();
    }
    let (mut total, mut section, mut pending) = (0u64, 0u64, None::<u64>);
    for c in run {
        if let Some(d) = digit(*c) {
            pending = Some(d);
            continue;
        }
        let m = multiplier(*c)?;
        if m >= 10_000 {
            let block = section + pending.take().unwrap_or(0);
            // 亿 multiplies all before it, 万 only its own block: 两亿三千万.
            total = if m == 10_000 {
                total.checked_add(block.max(1).checked_mul(m)?)?
            } else {
                (total + block).max(1).checked_mul(m)?
            };
            section = 0;
        } else {
            section += pending.take().unwrap_or(1) * m;
        }
    }
    // 三百五 is 350, 三百零五 is 305.
    let last = run.len().checked_sub(2).and_then(|at| multiplier(run[at])).unwrap_or(1);
    let tail = pending.map_or(0, |d| if (100..10_000).contains(&last) { d * last / 10 } else { d });
    Some((total + section + tail).to_string())
}

const MEASURES: &str = "个天日月年次元块人名项条家米里%倍小分周岁层套台件期级号工成份张间户遍道种点章节页平吨克斤毫厘公季度折组批轮步位届类起笔支根片楼室厅卫时秒段点行列班只瓶桶袋箱方";

fn is_number(run: &[char], before: Option<char>, after: Option<char>) -> bool {
    if before.is_some_and(|c| "几数好第统唯同若单专万".contains(c) && c != '第') {
        return false;
    }
    match run {
        ['一'] => after.is_some_and(|c| MEASURES.contains(c) && !"个种些样点起方直边时道".contains(c)),
        ['十'] => after.is_some_and(|c| MEASURES.contains(c) && c != '分'),
        [c] if digit(*c).is_some() => after.is_some_and(|c| MEASURES.contains(c)),
        // A number never starts with these in running text: 万一, 千万, 百般. After figures they are scales: 1.2万.
        [c, ..] if "百千万亿".contains(*c) => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numerals_become_figures_and_words_stay() {
        for (text, expect) in [
            ("六百五十元", "650元"),
            ("百分之五", "5%"),
            ("百分之十二点五", "12.5%"),
            ("二〇二四年三月十五日", "2024年3月15日"),
            ("一万二千元", "12000元"),
            ("三百零五天", "305天"),
            ("三百五", "350"),
            ("十二个月", "12个月"),
            ("二十名", "20名"),
            ("两亿三千万元", "230000000元"),
            ("1.2万", "1.2万"),
            ("一些材料，万一损坏，十分重要，统一处理", "一些材料，万一损坏，十分重要，统一处理"),
            ("千万不要", "千万不要"),
        ] {
            assert_eq!(arabic(text), expect, "{text}");
        }
    }
}
