//! Located text to chunks.

use zhiku_core::{Chunk, ChunkId, DocumentKind, DocumentState, JobStage, ParsedUnit, Reason};
use zhiku_parse::chunker::{CHUNKER_VERSION, ChunkInput, chunk};
use zhiku_vault::{Job, UnitRow, VersionRef};

use crate::halt::{Halt, at};
use crate::shared::Shared;
use crate::tokens;

/// Cuts all units of a version, unless that is done already.
pub(crate) fn chunks(shared: &Shared, job: &Job) -> Result<(), Halt> {
    let vault = &shared.vault;
    if vault.stage_finished(job.version, JobStage::Chunk, CHUNKER_VERSION).map_err(at(JobStage::Chunk))? {
        return Ok(());
    }
    vault.set_state(job.version, DocumentState::Indexing).map_err(at(JobStage::Chunk))?;
    let rows = vault.staged_unit_rows(job.version).map_err(at(JobStage::Chunk))?;
    let label = vault.source_label(job.version).map_err(at(JobStage::Chunk))?;
    let has_children = vault.has_children(job.version).map_err(at(JobStage::Chunk))?;
    if rows.iter().all(|row| row.text.trim().is_empty()) && !has_children {
        return Err(Halt::Failed {
            stage: JobStage::Chunk,
            reason: Reason::new(match label.kind {
                DocumentKind::Audio | DocumentKind::Video => "nothing_said",
                _ => "no_text",
            }),
            retryable: false,
        });
    }
    let title = label.title;
    shared.progress(job, DocumentState::Indexing, JobStage::Chunk, 0, rows.len() as u32);
    vault.set_chunker_version(CHUNKER_VERSION).map_err(at(JobStage::Chunk))?;
    let embedder = (shared.models.embedder)().ok();
    if let Some(embedder) = &embedder {
        vault.set_embedding_space(&embedder.space()).map_err(at(JobStage::Chunk))?;
    }
    let count = |text: &str| match &embedder {
        Some(embedder) => tokens::count_with(embedder.as_ref(), text),
        None => tokens::count_from_above(text),
    };
    let chunks = cut(&rows, job.version, &title, &count, shared);
    vault.stage_chunks(job.version, &chunks).map_err(at(JobStage::Chunk))?;
    vault.record_change(job.version).map_err(at(JobStage::Chunk))?;
    vault.finish_stage(job.version, JobStage::Chunk, CHUNKER_VERSION).map_err(at(JobStage::Chunk))
}

fn cut(
    rows: &[UnitRow],
    version: VersionRef,
    title: &str,
    count: &dyn Fn(&str) -> usize,
    shared: &Shared,
) -> Vec<Chunk> {
    let units: Vec<(zhiku_core::UnitId, ParsedUnit)> =
        rows.iter().map(|row| (row.unit_id, parsed(row))).collect();
    let inputs: Vec<ChunkInput<'_>> =
        units.iter().map(|(unit_id, unit)| ChunkInput { unit_id: *unit_id, unit }).collect();
    chunk(&inputs, title, count, &shared.config.chunks)
        .into_iter()
        .enumerate()
        .map(|(ordinal, draft)| Chunk {
            chunk_id: ChunkId::new(),
            document_id: version.document,
            version: version.version,
            ordinal: ordinal as u32,
            kind: draft.kind,
            header: draft.header,
            text: draft.text,
            spans: draft.spans,
            locator: draft.locator,
            n_tokens: draft.n_tokens,
        })
        .collect()
}

fn parsed(row: &UnitRow) -> ParsedUnit {
    ParsedUnit {
        kind: row.kind,
        locator: row.locator.clone(),
        text: row.text.clone(),
        process: row.process,
        trust: row.trust,
        heading_path: row.heading_path.clone(),
        layout: row.layout.clone(),
        confidence: row.confidence,
        timing: row.timing.clone(),
    }
}
