//! Cuts a question into its parts: at the ends of sentences, and at conjunctions behind which a new question starts.

/// Words that make a clause a question. Longer ones first where one holds another.
const ASKING_ZH: &[&str] = &[
    "什么时候",
    "什么样",
    "什么",
    "为什么",
    "为何",
    "哪一年",
    "哪种",
    "哪个",
    "哪些",
    "哪里",
    "哪儿",
    "哪位",
    "哪家",
    "哪",
    "谁",
    "多少钱",
    "多少",
    "多久",
    "多长",
    "多大",
    "几天",
    "几年",
    "几个",
    "几",
    "怎么样",
    "怎么",
    "怎样",
    "如何",
    "何时",
    "何处",
    "是否",
    "能否",
    "吗",
];
const ASKING_EN: &[&str] = &["what", "who", "whom", "whose", "when", "where", "which", "how", "why"];
/// Clauses that begin so have no subject of their own.
const SUBJECTLESS_ZH: &[&str] = &[
    "由谁",
    "由哪",
    "是谁",
    "是由",
    "谁",
    "它",
    "其",
    "什么时候",
    "为什么",
    "为何",
    "何时",
    "多少",
    "多久",
    "怎么",
    "怎样",
    "如何",
    "是否",
    "在哪",
    "哪",
];
const POINTING_EN: &[&str] =
    &["it", "its", "they", "them", "their", "he", "she", "his", "her", "this", "that", "these", "those"];
const JOINING_ZH: &[&str] = &["以及", "还有", "并且", "而且", "另外", "同时", "并", "和", "且", "又"];

/// The parts of a question, each of them readable on its own.
pub(super) fn parts(question: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut before = String::new();
    for sentence in question_sentences(question) {
        let clauses = clauses(&sentence);
        if clauses.is_empty() {
            before.push_str(&sentence);
            continue;
        }
        for clause in clauses {
            found.push(format!("{before}{clause}"));
            before.clear();
        }
    }
    if found.is_empty() {
        return vec![question.to_owned()];
    }
    if !before.trim().is_empty() {
        let last = found.len() - 1;
        found[last].push_str(&before);
    }
    found.iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// Sentences with the marks that end them; a full stop in a number or an abbreviation ends nothing.
fn question_sentences(text: &str) -> Vec<String> {
    zhiku_core::sentences::sentences(text)
        .into_iter()
        .map(|range| {
            let spaced = text.chars().nth(range.end).is_some_and(char::is_whitespace);
            let sentence = zhiku_core::sentences::char_slice(text, range);
            if spaced { format!("{sentence} ") } else { sentence.to_owned() }
        })
        .collect()
}

/// The asking clauses of one sentence; none when it asks nothing.
fn clauses(sentence: &str) -> Vec<String> {
    if !asks(sentence) && !sentence.trim_end().ends_with(['?', '？']) {
        return Vec::new();
    }
    let pieces = if has_han(sentence) { split_zh(sentence) } else { split_en(sentence) };
    if pieces.len() < 2 { vec![sentence.to_owned()] } else { pieces }
}

fn asks(text: &str) -> bool {
    if has_han(text) {
        ASKING_ZH.iter().any(|word| text.contains(word))
    } else {
        words(text).any(|word| is_asking_en(&word))
    }
}

fn has_han(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '\u{4e00}'..='\u{9fff}'))
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

fn is_asking_en(word: &str) -> bool {
    ASKING_EN.contains(&word)
}

/// Splits at commas; what asks nothing goes with the clause after it, or at the end with the one before.
fn split_zh(sentence: &str) -> Vec<String> {
    let mut clauses: Vec<String> = Vec::new();
    let mut open = String::new();
    for piece in sentence.split_inclusive(['，', ',', '；', ';']) {
        open.push_str(piece);
        if ASKING_ZH.iter().any(|word| piece.contains(word)) {
            clauses.push(std::mem::take(&mut open));
        }
    }
    if let Some(last) = clauses.last_mut() {
        last.push_str(&open);
    }
    let n = clauses.len();
    if n < 2 {
        return clauses;
    }
    let mut clauses: Vec<String> = clauses
        .iter()
        .enumerate()
        .map(
            |(i, clause)| {
                if i + 1 < n {
                    clause.trim_end_matches(['，', ',', '；', ';']).trim()
                } else {
                    clause.trim()
                }
            },
        )
        .map(|clause| {
            JOINING_ZH.iter().find_map(|word| clause.strip_prefix(word)).unwrap_or(clause).trim().to_owned()
        })
        .collect();
    let subject = subject_zh(&clauses[0]);
    for clause in &mut clauses[1..] {
        if !subject.is_empty() && SUBJECTLESS_ZH.iter().any(|word| clause.starts_with(word)) {
            *clause = format!("{}（{subject}）", clause.trim_end_matches(['？', '?', '。']));
        }
    }
    clauses
}

/// What a clause is about: itself without the words that ask and the verbs around them.
fn subject_zh(clause: &str) -> String {
    let mut text = clause.to_owned();
    for word in
        ["请问", "用了", "采用了", "使用了", "采用", "使用", "选用了", "分别", "是"].iter().chain(ASKING_ZH)
    {
        text = text.replace(word, " ");
    }
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .trim_end_matches(['？', '?', '的', '了'])
        .trim()
        .to_owned()
}

/// Splits before an asking word that follows `and`, or a comma when it cannot be a relative clause.
fn split_en(sentence: &str) -> Vec<String> {
    let tokens: Vec<(usize, &str)> = token_starts(sentence);
    let lower = |i: usize| {
        tokens.get(i).map(|(_, word)| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
    };
    let mut cuts: Vec<(usize, usize)> = Vec::new();
    for i in 1..tokens.len() {
        let Some(word) = lower(i) else { continue };
        if !is_asking_en(&word) {
            continue;
        }
        let joined = lower(i - 1).is_some_and(|before| matches!(before.as_str(), "and" | "also"));
        let after_comma = tokens[i - 1].1.ends_with([',', ';'])
            && !matches!(word.as_str(), "who" | "which" | "whom" | "whose");
        let mut first = i;
        if joined {
            while first > 0
                && lower(first - 1).is_some_and(|before| matches!(before.as_str(), "and" | "also"))
            {
                first -= 1;
            }
        }
        if (joined && first > 0) || after_comma {
            cuts.push((tokens[first].0, tokens[i].0));
        }
    }
    let mut pieces = Vec::new();
    let mut start = 0;
    for (end, next) in cuts {
        pieces.push(sentence[start..end].trim().trim_end_matches([',', ';']).to_owned());
        start = next;
    }
    pieces.push(sentence[start..].trim().to_owned());
    // Each piece but the first begins with an asking word; the first must ask too, or it is a condition of what follows.
    let first_asks = pieces.first().is_some_and(|first| opens_a_question(first));
    if pieces.len() < 2 || !first_asks {
        return vec![sentence.to_owned()];
    }
    let subject = subject_en(&pieces[0]);
    for piece in &mut pieces[1..] {
        let n_words = words(piece).count();
        if !subject.is_empty()
            && (n_words <= 2 || words(piece).any(|word| POINTING_EN.contains(&word.as_str())))
        {
            *piece = format!("{piece} ({subject})");
        }
    }
    pieces
}

fn token_starts(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        match (c.is_whitespace(), start) {
            (false, None) => start = Some(at),
            (true, Some(from)) => {
                found.push((from, &text[from..at]));
                start = None;
            }
            _ => {}
        }
    }
    if let Some(from) = start {
        found.push((from, &text[from..]));
    }
    found
}

fn opens_a_question(piece: &str) -> bool {
    const AUXILIARY: &[&str] = &[
        "is", "are", "was", "were", "do", "does", "did", "can", "could", "will", "would", "should", "must",
        "may", "has", "have",
    ];
    const REQUEST: &[&str] =
        &["tell", "show", "explain", "describe", "give", "list", "find", "state", "name", "please"];
    let first: Vec<String> = words(piece).take(2).collect();
    words(piece).any(|word| is_asking_en(&word))
        || first
            .first()
            .is_some_and(|word| AUXILIARY.contains(&word.as_str()) || REQUEST.contains(&word.as_str()))
}

/// The words of a clause without those that ask, join or point.
fn subject_en(clause: &str) -> String {
    const PLAIN: &[&str] = &[
        "the", "a", "an", "of", "in", "on", "at", "to", "for", "from", "by", "with", "is", "are", "was",
        "were", "be", "been", "do", "does", "did", "has", "have", "had", "can", "could", "will", "would",
        "should", "must", "may", "and", "or", "used", "i", "we", "you", "they", "it", "much", "many", "long",
        "tell", "me", "please",
    ];
    let kept: Vec<&str> = clause
        .split(|c: char| c.is_whitespace() || matches!(c, '?' | ',' | ';' | '"' | '(' | ')'))
        .filter(|word| !word.is_empty())
        .filter(|word| {
            let lower = word.to_lowercase();
            !is_asking_en(&lower)
                && (word.chars().any(char::is_uppercase) && *word != "I" || !PLAIN.contains(&lower.as_str()))
        })
        .collect();
    kept.join(" ")
}
