//! Evidence from a few words. Ids are fixed, so whole outputs can be compared.

use std::fmt::Debug;
use std::str::FromStr;

use zhiku_core::{
    Evidence, EvidenceId, EvidenceSet, Locator, Modality, Process, Scores, Trust, VersionNumber,
};

/// The `n`-th evidence (from 1), from a document of the same number: a section of running text.
pub fn evidence(n: usize, title: &str, text: &str) -> Evidence {
    let n_chars = text.chars().count() as u32;
    Evidence {
        evidence_id: EvidenceId::document(n),
        citation_id: format!("c{n}"),
        vault_id: fixed(0),
        document_id: fixed(n),
        version: VersionNumber(1),
        title: title.to_owned(),
        unit_id: fixed(1000 + n),
        chunk_id: None,
        header: String::new(),
        text: text.to_owned(),
        char_start: 0,
        char_end: n_chars,
        modality: Modality::Document,
        media_ref: None,
        locator: Locator::Section { heading_path: Vec::new(), char_start: 0, char_end: n_chars },
        process: Process::Text,
        confidence: None,
        trust: Trust::Normal,
        scores: Scores { fused: 1.0 / (60.0 + n as f32), ..Scores::default() },
    }
}

/// The same from a page (index from 0).
pub fn page_evidence(n: usize, title: &str, page_index: u32, text: &str) -> Evidence {
    let locator = Locator::Page { page_index, page_label: (page_index + 1).to_string(), boxes: Vec::new() };
    Evidence { locator, ..evidence(n, title, text) }
}

pub fn evidence_set(items: Vec<Evidence>) -> EvidenceSet {
    EvidenceSet { evidence_set_id: fixed(9999), items }
}

fn fixed<T: FromStr>(n: usize) -> T
where
    T::Err: Debug,
{
    format!("00000000-0000-7000-8000-{n:012}").parse().expect("a fixed id is well formed")
}
