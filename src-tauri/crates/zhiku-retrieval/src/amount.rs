//! Questions about money. A passage about the right product without a single amount is the most convincing wrong evidence
//! there is: every word of the question is near, only the price is not there.

const ZH_DIRECT: &[&str] = &["多少钱", "花了多少", "花费多少", "什么价钱", "多少元"];
const ZH_PRICE: &[&str] =
    &["单价", "价格", "价钱", "售价", "进价", "报价", "造价", "租金", "房租", "工资", "费用"];
const EN_PRICE: &[&str] =
    &["price", "prices", "cost", "costs", "pay", "fee", "fees", "rent", "salary", "spend"];
const EN_AMOUNT: &[&str] =
    &["price", "cost", "costs", "pay", "paid", "charge", "charged", "spend", "spent", "rent"];

/// Signs and words that make a number an amount of money.
const CURRENCIES: &[&str] = &[
    "元", "块钱", "万", "亿", "欧", "美金", "¥", "￥", "$", "€", "£", "eur", "usd", "cny", "rmb", "gbp",
    "sgd", "hkd", "jpy", "chf", "dollar", "euro", "yuan", "pound", "million", "billion", "thousand", "cent",
];

/// Whether the answer to a question must be an amount of money.
pub(crate) fn asks_for_amount(question: &str) -> bool {
    let text = question.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(ZH_DIRECT) || (has(ZH_PRICE) && has(&["多少", "几元", "是什么"])) {
        return true;
    }
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let names = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    (text.contains("how much") && names(EN_AMOUNT)) || (names(&["what"]) && names(EN_PRICE))
}

/// Whether a text states an amount of money: a number with a currency or a magnitude beside it, or a currency anywhere in a
/// table of numbers.
pub(crate) fn holds_amount(text: &str) -> bool {
    let text = text.to_lowercase();
    let has_number = text.chars().any(|c| c.is_ascii_digit() || "一二三四五六七八九十百千".contains(c));
    has_number && CURRENCIES.iter().any(|currency| near_number(&text, currency))
}

/// Within a few characters of a number, or as the unit of a whole table (`in millions`, `单位：元`).
fn near_number(text: &str, currency: &str) -> bool {
    const REACH: usize = 4;
    text.match_indices(currency).any(|(at, _)| {
        let before = &text[..at];
        let after = &text[at + currency.len()..];
        let is_number = |c: char| c.is_ascii_digit() || "一二三四五六七八九十百千".contains(c);
        // 单元 is a part of a building.
        if before.ends_with('单') {
            return false;
        }
        before.chars().rev().take(REACH).any(is_number)
            || after.chars().take(REACH).any(is_number)
            || before.trim_end().ends_with("in")
            || before.trim_end().ends_with(['：', ':', '（', '('])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_that_want_an_amount() {
        for question in [
            "FS-101 防水涂料的采购单价是多少？",
            "我们买这款防水涂料花了多少钱？",
            "What did we pay for it?",
            "How much does lunch cost?",
            "What is the price of the compressor M-208?",
        ] {
            assert!(asks_for_amount(question), "{question}");
        }
        for question in [
            "为什么价格上涨了？",
            "海棠 A 用了哪种防水材料？",
            "How many days do I have to file the claim?",
            "When is the claim paid?",
            "How much water does it need?",
        ] {
            assert!(!asks_for_amount(question), "{question}");
        }
    }

    #[test]
    fn texts_that_state_an_amount() {
        for text in [
            "单价 386.50 元/桶",
            "EUR 145",
            "月租金 28,000 元",
            "Revenue (in millions): 412",
            "二百元",
            "$1,975",
        ] {
            assert!(holds_amount(text), "{text}");
        }
        for text in [
            "FS-101 青禾建材有限公司 3天",
            "涂刷两遍，干膜厚度不小于 1.5 毫米",
            "M-208 is cleaned every 500 hours",
        ] {
            assert!(!holds_amount(text), "{text}");
        }
    }
}
