//! From the engine's types to those of the bridge. What a reader may no longer see is withheld here as well, so that an old
//! answer shows a notice in place of a deleted source's words.

use std::collections::HashSet;

use zhiku_core::DocumentId;

use super::{
    Answer, AnswerEvent, Citation, Claim, DocumentRow, EvidenceItem, Failure, Gap, SearchHit, SourceUnit,
    SourceWarning, Usage,
};

/// Documents that were removed or withdrawn since an answer was written.
pub type Withdrawn = HashSet<DocumentId>;

pub fn answer_event(event: zhiku_core::AnswerEvent, withdrawn: &Withdrawn) -> AnswerEvent {
    let seq = u32::try_from(event.seq()).unwrap_or(u32::MAX);
    match event {
        zhiku_core::AnswerEvent::RunStarted { run_id, .. } => {
            AnswerEvent::RunStarted { seq, run_id: run_id.to_string() }
        }
        zhiku_core::AnswerEvent::Status { stage, .. } => AnswerEvent::Status { seq, stage: stage.into() },
        zhiku_core::AnswerEvent::EvidenceReady { items, .. } => {
            let visible = items.into_iter().filter(|item| !withdrawn.contains(&item.document_id));
            AnswerEvent::EvidenceReady { seq, items: visible.map(evidence).collect() }
        }
        zhiku_core::AnswerEvent::TextDelta { revision, text, .. } => {
            AnswerEvent::TextDelta { seq, revision, text }
        }
        zhiku_core::AnswerEvent::Citation { n, evidence_id, .. } => {
            AnswerEvent::Citation { seq, n, evidence_id: evidence_id.to_string() }
        }
        zhiku_core::AnswerEvent::Final { revision, replace, answer: whole, .. } => {
            AnswerEvent::Final { seq, revision, replace, answer: answer(*whole, withdrawn) }
        }
        zhiku_core::AnswerEvent::Error { code, message, hint, retryable, .. } => {
            AnswerEvent::Error { seq, code, message, hint, retryable }
        }
        zhiku_core::AnswerEvent::Cancelled { .. } => AnswerEvent::Cancelled { seq },
    }
}

fn evidence(item: zhiku_core::Evidence) -> EvidenceItem {
    EvidenceItem {
        evidence_id: item.evidence_id.to_string(),
        document: item.document_id.to_string(),
        version: item.version.0,
        title: item.title,
        unit_id: item.unit_id.to_string(),
        text: item.text,
        char_start: item.char_start,
        char_end: item.char_end,
        locator: item.locator.into(),
        process: item.process.into(),
        trust: item.trust.into(),
    }
}

fn answer(answer: zhiku_core::Answer, withdrawn: &Withdrawn) -> Answer {
    Answer {
        status: answer.status.into(),
        text: answer.text,
        citations: answer.citations.into_iter().map(|each| citation(each, withdrawn)).collect(),
        claims: answer.claims.into_iter().map(claim).collect(),
        gaps: answer
            .gaps
            .into_iter()
            .map(|gap| Gap { sub_query: gap.sub_query, reason: gap.reason.into() })
            .collect(),
        confidence: answer.confidence.into(),
        usage: Usage {
            model_calls: answer.usage.model_calls,
            input_tokens: answer.usage.input_tokens as f64,
            output_tokens: answer.usage.output_tokens as f64,
        },
        reason: answer.reason.into(),
    }
}

fn claim(claim: zhiku_core::Claim) -> Claim {
    Claim {
        text: claim.text,
        citations: claim.citations,
        support: claim.support.into(),
        reason: claim.reason.into(),
    }
}

fn citation(citation: zhiku_core::Citation, withdrawn: &Withdrawn) -> Citation {
    let source_gone = withdrawn.contains(&citation.document);
    Citation {
        n: citation.n,
        evidence_id: citation.evidence_id.to_string(),
        document: citation.document.to_string(),
        version: citation.version.0,
        title: citation.title,
        locator: citation.locator.into(),
        quote: if source_gone { String::new() } else { citation.quote },
        char_start: citation.char_start,
        char_end: citation.char_end,
        unit_id: citation.unit_id.to_string(),
        source_gone,
    }
}

impl From<zhiku_engine::DocumentSummary> for DocumentRow {
    fn from(summary: zhiku_engine::DocumentSummary) -> Self {
        let progress = summary.progress;
        Self {
            document: summary.document.to_string(),
            title: summary.title,
            kind: summary.kind.into(),
            // What opens is what search finds; a newer version that is still being made has its own state.
            version: summary.published.unwrap_or(summary.newest).0,
            state: summary.state.into(),
            searchable: summary.searchable.map(Into::into),
            stage: progress.map(|progress| progress.stage.into()),
            done: progress.map_or(0, |progress| progress.done),
            total: progress.map_or(0, |progress| progress.total),
            failure: summary
                .failure
                .map(|failure| Failure { reason: failure.reason.into(), retryable: failure.retryable }),
            warnings: summary.n_warnings,
            size_bytes: summary.bytes as f64,
            updated_ms: summary.created.0 as f64,
            source_missing: summary.source_missing,
        }
    }
}

impl From<zhiku_core::SearchHit> for SearchHit {
    fn from(hit: zhiku_core::SearchHit) -> Self {
        Self {
            document: hit.document.to_string(),
            version: hit.version.0,
            title: hit.title,
            unit_id: hit.unit_id.to_string(),
            locator: hit.locator.into(),
            text: hit.text,
        }
    }
}

impl From<zhiku_engine::SourceUnit> for SourceUnit {
    fn from(unit: zhiku_engine::SourceUnit) -> Self {
        Self {
            unit_id: unit.unit_id.to_string(),
            locator: unit.locator.into(),
            text: unit.text,
            heading_path: unit.heading_path,
            trust: unit.trust.into(),
            process: unit.process.into(),
            timing: unit.timing.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<zhiku_core::ParseWarning> for SourceWarning {
    fn from(warning: zhiku_core::ParseWarning) -> Self {
        Self {
            reason: zhiku_core::Reason::new(warning.code).with("detail", warning.message).into(),
            locator: warning.locator.map(Into::into),
        }
    }
}
