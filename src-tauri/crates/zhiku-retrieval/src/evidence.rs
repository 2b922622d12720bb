//! Evidence out of ranked chunks: one contiguous stretch of one unit each, numbered, without repetition.
//!
//! The intent decides how: a factoid takes few, an analysis more and longer ones, a procedure stays in the order of its
//! document, an overview spreads over documents.

use std::collections::{HashMap, HashSet};

use zhiku_core::sentences::{LineShape, char_slice, line_shape};
use zhiku_core::{Evidence, EvidenceId, Modality, UnitId, UnitKind};
use zhiku_vault::lexical::analyze;
use zhiku_vault::{Scope, UnitRow, Vault, VaultError};

use crate::plan::Intent;
use crate::search::Ranked;

/// Two texts that share this much of their words say the same.
const SAME_TEXT: f32 = 0.9;
/// Longest evidence after completion, in characters.
const MAX_CHARS: usize = 2400;
/// A candidate this far below the best is not evidence but filler; on the reranker's scale.
const SCORE_MARGIN: f32 = 0.6;

/// How an intent chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strategy {
    /// Candidates to rerank, as a multiple of the configured depth.
    pub(crate) depth_factor: usize,
    /// The most pieces for one part of the question.
    per_part: usize,
    /// The most pieces of one document for one part.
    per_document: usize,
    /// The best pieces are completed with what their chunk was cut from.
    completes: bool,
    in_document_order: bool,
}

impl Strategy {
    pub(crate) fn of(intent: Intent) -> Self {
        let plain = Self {
            depth_factor: 1,
            per_part: 4,
            per_document: 4,
            completes: false,
            in_document_order: false,
        };
        match intent {
            Intent::Factoid | Intent::Comparative => plain,
            Intent::Analytical => {
                Self { depth_factor: 2, per_part: 6, per_document: 6, completes: true, ..plain }
            }
            Intent::Procedural => {
                Self { per_part: 5, per_document: 5, completes: true, in_document_order: true, ..plain }
            }
            Intent::Exploratory => Self { depth_factor: 2, per_part: 8, per_document: 2, ..plain },
        }
    }
}

/// The candidates of one part that become evidence, best first.
pub(crate) fn choose(ranked: &[Ranked], strategy: Strategy) -> Vec<Ranked> {
    let best = ranked.iter().filter_map(|ranked| ranked.scores.rerank).fold(f32::MIN, f32::max);
    let mut chosen: Vec<Ranked> = Vec::new();
    let mut texts: Vec<HashSet<String>> = Vec::new();
    let mut of_document: HashMap<_, usize> = HashMap::new();
    for candidate in ranked {
        if chosen.len() >= strategy.per_part {
            break;
        }
        if candidate.scores.rerank.is_some_and(|score| score < best - SCORE_MARGIN) {
            continue;
        }
        let count = of_document.entry(candidate.row.chunk.document_id).or_default();
        let words: HashSet<String> = analyze(&candidate.row.chunk.text).into_iter().collect();
        if *count >= strategy.per_document || texts.iter().any(|known| overlap(known, &words) >= SAME_TEXT) {
            continue;
        }
        *count += 1;
        texts.push(words);
        chosen.push(candidate.clone());
    }
    if strategy.in_document_order {
        in_document_order(&mut chosen);
    }
    chosen
}

/// Pieces of one document in its order; documents in the order of their best piece.
fn in_document_order(chosen: &mut [Ranked]) {
    let mut place = HashMap::new();
    for (i, ranked) in chosen.iter().enumerate() {
        place.entry(ranked.row.chunk.document_id).or_insert(i);
    }
    chosen.sort_by_key(|ranked| (place[&ranked.row.chunk.document_id], ranked.row.chunk.ordinal));
}

/// Shared words as a part of all words (Jaccard).
fn overlap(a: &HashSet<String>, b: &HashSet<String>) -> f32 {
    let shared = a.intersection(b).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 1.0 } else { shared as f32 / all as f32 }
}

/// Builds numbered evidence of several parts: the best of each part first, then the second of each …
pub(crate) struct Collector<'a> {
    vault: &'a Vault,
    scope: &'a Scope,
    units: HashMap<UnitId, Option<UnitRow>>,
    items: Vec<Evidence>,
    limit: usize,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(vault: &'a Vault, scope: &'a Scope, limit: usize) -> Self {
        Self { vault, scope, units: HashMap::new(), items: Vec::new(), limit }
    }

    /// The evidence, and for each part the ids that belong to it.
    pub(crate) fn collect(
        mut self,
        parts: &[Vec<Ranked>],
        strategy: Strategy,
    ) -> Result<(Vec<Evidence>, Vec<Vec<EvidenceId>>), VaultError> {
        let mut ids: Vec<Vec<EvidenceId>> = vec![Vec::new(); parts.len()];
        let longest = parts.iter().map(Vec::len).max().unwrap_or(0);
        for place in 0..longest {
            for (part, chosen) in parts.iter().enumerate() {
                let Some(ranked) = chosen.get(place) else { continue };
                for id in self.take(ranked, strategy)? {
                    if !ids[part].contains(&id) {
                        ids[part].push(id);
                    }
                }
            }
        }
        Ok((self.items, ids))
    }

    /// One piece per span of the chunk; those that are there already keep their number.
    fn take(&mut self, ranked: &Ranked, strategy: Strategy) -> Result<Vec<EvidenceId>, VaultError> {
        let mut ids = Vec::new();
        for span in &ranked.row.chunk.spans {
            let Some(unit) = self.unit(span.unit_id)? else { continue };
            let n_chars = unit.text.chars().count();
            let (start, end) = (span.char_start as usize, (span.char_end as usize).min(n_chars));
            let range = if strategy.completes { completed(&unit.text, start, end) } else { (start, end) };
            let known = self.items.iter().find(|item| {
                item.unit_id == unit.unit_id
                    && item.char_start as usize <= start
                    && item.char_end as usize >= end
            });
            if let Some(known) = known {
                ids.push(known.evidence_id.clone());
            } else if self.items.len() < self.limit && start < end {
                let item = evidence(self.items.len() + 1, ranked, &unit, range);
                ids.push(item.evidence_id.clone());
                self.items.push(item);
            }
        }
        Ok(ids)
    }

    /// `None` when it was revoked meanwhile.
    fn unit(&mut self, id: UnitId) -> Result<Option<UnitRow>, VaultError> {
        if let Some(unit) = self.units.get(&id) {
            return Ok(unit.clone());
        }
        let unit = self.vault.unit(self.scope, id)?;
        self.units.insert(id, unit.clone());
        Ok(unit)
    }
}

fn evidence(n: usize, ranked: &Ranked, unit: &UnitRow, (start, end): (usize, usize)) -> Evidence {
    let (row, chunk) = (&ranked.row, &ranked.row.chunk);
    let evidence_id = EvidenceId::document(n);
    Evidence {
        citation_id: evidence_id.0.clone(),
        evidence_id,
        vault_id: row.vault_id,
        document_id: chunk.document_id,
        version: chunk.version,
        title: row.title.clone(),
        unit_id: unit.unit_id,
        chunk_id: Some(chunk.chunk_id),
        header: chunk.header.clone(),
        text: char_slice(&unit.text, start..end).to_owned(),
        char_start: start as u32,
        char_end: end as u32,
        modality: modality(unit.kind),
        media_ref: None,
        locator: unit.place_of(start as u32, end as u32),
        process: unit.process,
        confidence: unit.confidence,
        trust: unit.trust,
        scores: ranked.scores,
    }
}

fn modality(kind: UnitKind) -> Modality {
    match kind {
        UnitKind::Image => Modality::Image,
        UnitKind::AudioSpan => Modality::Audio,
        UnitKind::VideoSpan => Modality::Video,
        UnitKind::Page | UnitKind::Section | UnitKind::Slide | UnitKind::SheetRange => Modality::Document,
    }
}

/// A stretch that begins or ends inside a paragraph, list or table grows to the blank lines around it, if that does not make
/// it too long.
fn completed(text: &str, start: usize, end: usize) -> (usize, usize) {
    let chars: Vec<char> = text.chars().collect();
    let blank_before = |at: usize| at == 0 || (chars[at - 1] == '\n' && (at < 2 || chars[at - 2] == '\n'));
    let blank_after =
        |at: usize| at >= chars.len() || (chars[at] == '\n' && chars.get(at + 1).is_none_or(|c| *c == '\n'));
    let starts_block = {
        let line: String = chars[start..].iter().take_while(|c| **c != '\n').collect();
        matches!(line_shape(&line), LineShape::Heading(_))
    };
    let mut from = start;
    while !starts_block && !blank_before(from) {
        from -= 1;
    }
    let mut to = end;
    while !blank_after(to) {
        to += 1;
    }
    if to - from <= MAX_CHARS.max(end - start) { (from, to) } else { (start, end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_list_is_completed_up_to_the_blank_lines() {
        let text = "Intro.\n\n1. one\n2. two\n3. three\n\nOutro.";
        let start = text.find("2. two").expect("there");
        let (from, to) = completed(text, start, start + 6);
        assert_eq!(&text[from..to], "1. one\n2. two\n3. three");
    }

    #[test]
    fn completion_never_grows_past_its_limit() {
        let text = format!("{} middle {}", "a ".repeat(1500), "b ".repeat(1500));
        assert_eq!(completed(&text, 3000, 3010), (3000, 3010));
    }

    #[test]
    fn overlap_of_equal_and_of_empty_texts() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<HashSet<_>>();
        assert!((overlap(&words("a b c"), &words("c b a")) - 1.0).abs() < 1e-6);
        assert!((overlap(&words("a b"), &words("b c")) - 1.0 / 3.0).abs() < 1e-6);
    }
}
