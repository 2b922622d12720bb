//! Which of the scored candidates make the answer, and in which order.

use std::collections::HashSet;

use zhiku_core::EvidenceSet;

use super::candidates::Candidate;
use super::score::Scored;
use crate::text::segments::SegmentKind;

/// Below this share of the question's words nothing is an answer, unless the embedder bridges languages.
const MIN_WORDS: f32 = 0.22;
/// A row of a page must clearly hold the asked item.
const MIN_ROW_WORDS: f32 = 0.4;
/// And be better by this much than the best sentence.
const ROW_LEAD: f32 = 0.15;
/// Late-interaction similarity from which a sentence without common words is an answer. Measured with e5-small on Chinese
/// XQuAD: the sentence with the answer is above 0.806 in 95 of 100 cases, the best one of a foreign passage above 0.778 in 5.
const MIN_SIMILARITY: f32 = 0.80;
/// A further sentence must reach this part of the best one's score.
const SUPPORT_RATIO: f32 = 0.78;
/// The share of common words from which two sentences say the same.
const SAME_WORDS: f32 = 0.8;
/// The share of common words (figures left out) from which two sentences speak of one matter.
const SAME_MATTER: f32 = 0.55;

/// The most sentences for each of `n_parts` parts.
pub(super) fn per_part(n_parts: usize) -> usize {
    match n_parts {
        1 | 2 => 3,
        3 => 2,
        _ => 1,
    }
}

/// Candidates for one part: conclusion first, then support in the order of the source.
pub(super) fn select(scored: &[Scored], candidates: &[Candidate], used: &[usize], room: usize) -> Vec<usize> {
    let Some(best) = best(scored, candidates) else { return Vec::new() };
    if used.contains(&best.candidate) {
        return Vec::new();
    }
    let mut chosen = vec![best.candidate];
    let lead = &candidates[best.candidate];
    if lead.shown.ends_with([':', '：']) {
        chosen.extend(items_after(best.candidate, candidates).take(super::MAX_SENTENCES - 1));
        return chosen;
    }
    if starts_with_pronoun(&lead.shown)
        && let Some(before) = sentence_before(best.candidate, candidates).filter(|at| !used.contains(at))
    {
        chosen.insert(0, before);
    }
    for one in scored.iter().filter(|one| is_answer(one) && one.total >= best.total * SUPPORT_RATIO) {
        if chosen.len() >= room {
            break;
        }
        let candidate = &candidates[one.candidate];
        if candidate.is_page_row() != lead.is_page_row() {
            continue;
        }
        let known = chosen.iter().chain(used).any(|at| same(&candidates[*at], candidate));
        if !known && !candidate.fragment && !candidate.is_short() && !starts_with_pronoun(&candidate.shown) {
            chosen.push(one.candidate);
        }
    }
    in_reading_order(chosen, candidates)
}

/// The part's best sentence already stands in the answer of another part.
pub(super) fn already_answered(scored: &[Scored], candidates: &[Candidate], used: &[usize]) -> bool {
    best(scored, candidates).is_some_and(|best| used.contains(&best.candidate))
}

/// Running text before rows of a page, which only point to the place.
fn best<'a>(scored: &'a [Scored], candidates: &[Candidate]) -> Option<&'a Scored> {
    let is_row = |one: &&Scored| candidates[one.candidate].is_page_row();
    let text = scored.iter().filter(|one| !is_row(one)).find(|one| is_answer(one));
    let row = scored.iter().filter(is_row).find(|one| one.words >= MIN_ROW_WORDS);
    match (text, row) {
        (Some(text), Some(row)) if row.total > text.total + ROW_LEAD => Some(row),
        (Some(text), _) => Some(text),
        (None, row) => row,
    }
}

fn is_answer(one: &Scored) -> bool {
    one.words >= MIN_WORDS || one.similarity.is_some_and(|similarity| similarity >= MIN_SIMILARITY)
}

/// The best stays first; if all are items of one list or rows of one table, they keep their order there.
fn in_reading_order(mut chosen: Vec<usize>, candidates: &[Candidate]) -> Vec<usize> {
    let first = &candidates[chosen[0]];
    let one_list = chosen.iter().all(|at| {
        let other = &candidates[*at];
        other.kind != SegmentKind::Sentence && other.kind == first.kind && other.evidence == first.evidence
    });
    if one_list {
        chosen.sort_unstable();
    } else if let Some(rest) = chosen.get_mut(1..) {
        rest.sort_unstable();
    }
    chosen
}

fn same(a: &Candidate, b: &Candidate) -> bool {
    if a.evidence == b.evidence && a.range == b.range {
        return true;
    }
    (jaccard(&a.terms, &b.terms) >= SAME_WORDS && a.figures == b.figures)
        || (!b.shown.is_empty() && (a.shown.contains(&b.shown) || b.shown.contains(&a.shown)))
}

/// A candidate of another document that speaks of the same matter as the conclusion and states other figures.
pub(super) fn conflicting(
    chosen: &[usize],
    scored: &[Scored],
    candidates: &[Candidate],
    set: &EvidenceSet,
) -> Option<usize> {
    let lead = &candidates[*chosen.first()?];
    if lead.figures.is_empty() || lead.kind == SegmentKind::Row {
        return None;
    }
    let document = |candidate: &Candidate| set.items[candidate.evidence].document_id;
    let words = |candidate: &Candidate| -> HashSet<String> {
        candidate.terms.iter().filter(|term| !term.chars().any(|c| c.is_ascii_digit())).cloned().collect()
    };
    scored.iter().map(|one| one.candidate).find(|at| {
        let other = &candidates[*at];
        document(other) != document(lead)
            && other.kind != SegmentKind::Row
            && !other.figures.is_empty()
            && lead.figures.iter().all(|figure| !other.figures.contains(figure))
            && jaccard(&words(lead), &words(other)) >= SAME_MATTER
    })
}

fn jaccard(a: &HashSet<String>, b: &HashSet<String>) -> f32 {
    let both = a.intersection(b).count() as f32;
    let either = a.union(b).count() as f32;
    if either == 0.0 { 0.0 } else { both / either }
}

/// Items or rows that follow a sentence such as `The steps are:`.
fn items_after(lead: usize, candidates: &[Candidate]) -> impl Iterator<Item = usize> + '_ {
    let evidence = candidates[lead].evidence;
    (lead + 1..candidates.len()).take_while(move |at| {
        let candidate = &candidates[*at];
        candidate.evidence == evidence
            && matches!(candidate.kind, SegmentKind::ListItem | SegmentKind::Row)
            && !candidate.is_page_row()
    })
}

fn sentence_before(at: usize, candidates: &[Candidate]) -> Option<usize> {
    let before = at.checked_sub(1)?;
    let (a, b) = (&candidates[before], &candidates[at]);
    (a.evidence == b.evidence && a.block == b.block && a.kind == SegmentKind::Sentence && !a.fragment)
        .then_some(before)
}

fn starts_with_pronoun(text: &str) -> bool {
    let first = text.split(|c: char| !c.is_alphabetic()).next().unwrap_or("").to_lowercase();
    let english = ["it", "they", "this", "these", "those", "he", "she", "such", "its", "their"];
    let chinese = ["它", "其", "该", "此", "他", "她", "这", "上述", "前述", "以上"];
    english.contains(&first.as_str())
        || chinese.iter().any(|word| text.starts_with(word) && !text.starts_with("其他"))
}
