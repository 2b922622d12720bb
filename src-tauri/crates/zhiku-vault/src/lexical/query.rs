//! From a question to a query over the fields.

use tantivy::Term;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, PhraseQuery, Query, RegexQuery, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};

use super::analyzer::{Analysis, analysis};
use super::index::Fields;

/// Measured on Chinese and English Wikipedia questions, alone and among thousands of news articles.
const BODY_BOOST: f32 = 1.0;
const TITLE_BOOST: f32 = 0.5;
const HEADING_BOOST: f32 = 0.5;
const PAIR_BOOST: f32 = 0.4;
const CODE_BOOST: f32 = 2.0;
const PHRASE_BOOST: f32 = 2.0;

/// More terms than this are no question; the rest of a pasted page adds time and nothing else.
const MAX_TERMS: usize = 200;

/// `None` when the text has no terms.
pub(super) fn build(text: &str, fields: &Fields) -> Option<BooleanQuery> {
    let asked = analysis(text);
    let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    for word in distinct(&asked.words) {
        clauses.push(term(fields.body, word, BODY_BOOST));
        clauses.push(term(fields.title, word, TITLE_BOOST));
        clauses.push(term(fields.heading, word, HEADING_BOOST));
    }
    for pair in distinct(asked_pairs(&asked)) {
        clauses.push(term(fields.grams, pair, PAIR_BOOST));
    }
    if let Some(pairs) = pairs_with_only_character(&asked, fields.grams) {
        clauses.push(boosted(Box::new(pairs), PAIR_BOOST));
    }
    for code in distinct(&asked.codes) {
        clauses.push(term(fields.codes, code, CODE_BOOST));
    }
    for phrase in quoted(text) {
        let terms: Vec<Term> =
            analysis(phrase).grams.iter().map(|gram| Term::from_field_text(fields.grams, gram)).collect();
        if terms.len() > 1 {
            clauses.push(boosted(Box::new(PhraseQuery::new(terms)), PHRASE_BOOST));
        }
    }
    (!clauses.is_empty()).then(|| BooleanQuery::new(clauses))
}

/// Single characters are left out: a lone `的` between two Latin words says nothing.
fn asked_pairs(asked: &Analysis) -> impl Iterator<Item = &String> {
    asked.pairs.iter().filter(|pair| pair.chars().count() > 1)
}

/// A question of one character finds it inside words as well, as either half of a pair.
fn pairs_with_only_character(asked: &Analysis, grams: Field) -> Option<RegexQuery> {
    match (asked.words.as_slice(), asked.pairs.as_slice()) {
        ([word], [pair]) if word == pair && pair.chars().count() == 1 => {
            RegexQuery::from_pattern(&format!(".?{pair}.?"), grams).ok()
        }
        _ => None,
    }
}

fn distinct<'a>(terms: impl IntoIterator<Item = &'a String>) -> Vec<&'a str> {
    let mut seen: Vec<&str> = Vec::new();
    for term in terms {
        if seen.len() < MAX_TERMS && !seen.contains(&term.as_str()) {
            seen.push(term);
        }
    }
    seen
}

fn term(field: Field, text: &str, boost: f32) -> (Occur, Box<dyn Query>) {
    let query = TermQuery::new(Term::from_field_text(field, text), IndexRecordOption::WithFreqs);
    boosted(Box::new(query), boost)
}

fn boosted(query: Box<dyn Query>, boost: f32) -> (Occur, Box<dyn Query>) {
    (Occur::Should, Box::new(BoostQuery::new(query, boost)))
}

/// What stands between quotation marks of either language.
fn quoted(text: &str) -> Vec<&str> {
    const MARKS: [(char, char); 6] =
        [('"', '"'), ('“', '”'), ('「', '」'), ('『', '』'), ('《', '》'), ('＂', '＂')];
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((start, open)) = rest.char_indices().find(|(_, c)| MARKS.iter().any(|(mark, _)| mark == c))
    {
        let inner = &rest[start + open.len_utf8()..];
        let close = MARKS.iter().find(|(mark, _)| *mark == open).map_or(open, |(_, close)| *close);
        let Some(end) = inner.find(close) else { break };
        found.push(&inner[..end]);
        rest = &inner[end + close.len_utf8()..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn quotation_marks_of_both_languages() {
        assert_eq!(quoted("what is \"net sales\" in “海棠 A” and \"open"), ["net sales", "海棠 A"]);
    }
}
