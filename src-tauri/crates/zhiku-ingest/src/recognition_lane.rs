//! The recognition lane: words in scans, pictures, sound and video, then chunks and a first publication. It works when the text
//! lane has nothing to do, so that text is searchable first, and goes on at the page after an interruption.

use std::time::Instant;

use zhiku_core::model::{ModelError, Priority};
use zhiku_core::recognition::TextRecognizer;
use zhiku_core::{DocumentKind, DocumentState, ErrorCode, JobStage, Process, Reason, RunContext};
use zhiku_parse::picture::SourcePicture;
use zhiku_vault::{Job, JobLane, Recognized, UnitRow};

use crate::chunk_stage::chunks;
use crate::guard::guarded;
use crate::halt::{Halt, at};
use crate::media_stage;
use crate::pictures::{PER_PROCESS, draw};
use crate::ready::Ready;
use crate::recognized_text::compose;
use crate::shared::Shared;

pub(crate) const STAGE: JobStage = JobStage::Recognize;

pub(crate) fn run(shared: &Shared) {
    while let Some(jobs) = shared.next_jobs(JobLane::Recognition, 1, || ()) {
        for job in jobs {
            work(shared, job);
        }
    }
}

fn work(shared: &Shared, job: Job) {
    let recognized = guarded(|| recognize(shared, &job).and_then(|()| chunks(shared, &job)));
    let recognized =
        recognized.unwrap_or_else(|reason| Err(Halt::Failed { stage: STAGE, reason, retryable: true }));
    match recognized {
        Ok(()) => {
            let mut ready = Ready::default();
            ready.push(job);
            ready.publish(shared);
        }
        Err(halt) if halt.has_no_words() && is_discarded(shared, &job) => {
            shared.settle(job.version, DocumentState::Deleted, STAGE, None);
        }
        Err(halt) => halt.end(shared, &job),
    }
}

/// A picture of a page in which nothing is written is of no use to anybody.
fn is_discarded(shared: &Shared, job: &Job) -> bool {
    shared.vault.discard_if_embedded(job.version).unwrap_or_else(|error| {
        tracing::warn!(%error, "a picture without words could not be discarded");
        false
    })
}

fn recognize(shared: &Shared, job: &Job) -> Result<(), Halt> {
    let label = shared.vault.source_label(job.version).map_err(at(STAGE))?;
    match label.kind {
        DocumentKind::Audio | DocumentKind::Video => media_stage::recognize(shared, job),
        _ => scans(shared, job),
    }
}

fn scans(shared: &Shared, job: &Job) -> Result<(), Halt> {
    let rows = shared.vault.staged_unit_rows(job.version).map_err(at(STAGE))?;
    let total = rows.iter().filter(|row| row.process == Process::Ocr).count() as u32;
    let awaiting: Vec<&UnitRow> = rows.iter().filter(|row| awaits(row)).collect();
    let reader = (shared.models.reader)().map_err(|error| unavailable(&error))?;
    let before = total.saturating_sub(awaiting.len() as u32);
    let mut done = before;
    for rows in awaiting.chunks(PER_PROCESS) {
        draw(shared, job, rows, &mut |row, picture| {
            shared.progress(job, DocumentState::Parsing, STAGE, done, total);
            if !shared.may_go_on(job) {
                return Err(Halt::TakenBack);
            }
            let begun = Instant::now();
            let read = read_unit(shared, picture, reader.as_ref())?;
            done += 1;
            shared.vault.store_recognized(job.version, row.unit_id, &read).map_err(at(STAGE))?;
            shared.give_way(begun.elapsed());
            Ok(())
        })?;
    }
    Ok(())
}

fn awaits(row: &UnitRow) -> bool {
    row.process == Process::Ocr && row.text.is_empty() && row.confidence.is_none()
}

pub(crate) fn unavailable(error: &ModelError) -> Halt {
    if error.code == ErrorCode::Cancelled {
        return Halt::TakenBack;
    }
    let reason = Reason::new("reader_unavailable").with("detail", error);
    Halt::Failed { stage: STAGE, reason, retryable: true }
}

fn read_unit(
    shared: &Shared,
    drawn: Option<SourcePicture>,
    reader: &dyn TextRecognizer,
) -> Result<Recognized, Halt> {
    let Some(drawn) = drawn else {
        return Ok(Recognized { text: String::new(), layout: None, confidence: 0.0 });
    };
    let ctx = RunContext { cancel: shared.stop.child_token(), ..RunContext::background() };
    let lines = reader.recognize(&drawn.picture, Priority::Background, &ctx);
    let lines = lines.map_err(|error| unavailable(&error))?;
    Ok(compose(&lines, drawn.frame.page_size, &|bbox| drawn.frame.to_source(bbox)))
}
