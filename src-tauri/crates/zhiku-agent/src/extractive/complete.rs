//! What a chosen sentence points to: the row of the table that names the asked item, the clause it refers to.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;
use zhiku_core::EvidenceSet;

use super::candidates::Candidate;
use super::score::Scored;

/// Share of the question's words, context included, that a row must hold.
const MIN_ROW_WORDS: f32 = 0.3;

/// Adds at most one row and one clause to what was chosen for a part; `wanted` are the part's own terms.
pub(super) fn complete(
    mut chosen: Vec<usize>,
    wanted: &HashSet<String>,
    scored: &[Scored],
    candidates: &[Candidate],
    used: &[usize],
    set: &EvidenceSet,
) -> Vec<usize> {
    let Some(&lead) = chosen.first() else { return chosen };
    let is_new = |at: usize, chosen: &[usize]| !chosen.contains(&at) && !used.contains(&at);
    if let Some(row) = named_row(lead, wanted, scored, candidates).filter(|row| is_new(*row, &chosen)) {
        chosen.insert(1, row);
    }
    if let Some(clause) = referred_clause(lead, candidates, set).filter(|clause| is_new(*clause, &chosen)) {
        chosen.insert(1, clause);
    }
    chosen
}

/// The best row with its figure whose own words name something asked that the lead does not.
fn named_row(
    lead: usize,
    wanted: &HashSet<String>,
    scored: &[Scored],
    candidates: &[Candidate],
) -> Option<usize> {
    let open: HashSet<&String> = wanted.difference(&candidates[lead].terms).collect();
    let names_it = |one: &&Scored| {
        let candidate = &candidates[one.candidate];
        candidate.whole_row
            && one.words >= MIN_ROW_WORDS
            && candidate.terms.iter().any(|term| open.contains(term))
    };
    scored.iter().find(names_it).map(|one| one.candidate)
}

static REFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"第[〇零一二三四五六七八九十百\d]{1,6}[条章节]|(?:Section|Article|Clause) \d+(?:\.\d+)*").ok()
});

/// The clause of the same document that the lead refers to by its number.
fn referred_clause(lead: usize, candidates: &[Candidate], set: &EvidenceSet) -> Option<usize> {
    let document = |candidate: &Candidate| set.items[candidate.evidence].document_id;
    let source = &candidates[lead];
    let mut references = REFERENCE.as_ref()?.find_iter(&source.shown).filter(|found| found.start() > 0);
    let reference = references.next()?.as_str();
    candidates.iter().position(|candidate| {
        document(candidate) == document(source)
            && candidate
                .shown
                .strip_prefix(reference)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
    })
}
