//! The text lane: parse, chunk, publish by words. Publications are gathered: a commit of the lexical index costs about the
//! same for one document as for a hundred.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use zhiku_core::{Chunk, ChunkId, DocumentState, JobStage, ParseWarning, ParsedUnit, Reason};
use zhiku_parse::chunker::{CHUNKER_VERSION, ChunkInput, chunk};
use zhiku_parse::worker::{ParseRequest, parse_file};
use zhiku_parse::{ParseError, UnitSink};
use zhiku_vault::{Job, PublishOutcome, UnitRow, VaultError, VersionRef};

use crate::guard::guarded;
use crate::import::PARSE_VERSION;
use crate::pipeline::{Shared, needs_text};
use crate::tokens;

/// Units per transaction.
const UNITS_PER_BATCH: usize = 32;
/// How long a parsed document may wait for company before it is published.
const GATHER: Duration = Duration::from_millis(800);
const GATHER_DOCUMENTS: usize = 64;

pub(crate) fn run(shared: &Shared) {
    let mut ready = Ready::default();
    while let Some(job) = shared.next_text_job(|| ready.publish(shared)) {
        if !needs_text(&job) {
            shared.hand_to_vector_lane([job]);
            continue;
        }
        let prepared = guarded(|| prepare(shared, &job))
            .unwrap_or_else(|reason| Err(Halt::Failed { stage: JobStage::Parse, reason, retryable: true }));
        match prepared {
            Ok(()) => ready.push(job),
            Err(Halt::Failed { stage, reason, retryable }) => shared.fail(&job, stage, reason, retryable),
            Err(Halt::Vault { stage, error }) => shared.fail_with(&job, stage, &error),
            Err(Halt::TakenBack) => taken_back(shared, &job),
        }
        if ready.is_due() {
            ready.publish(shared);
        }
    }
    ready.publish(shared);
}

/// Why a job ends before it is published.
enum Halt {
    Failed {
        stage: JobStage,
        reason: Reason,
        retryable: bool,
    },
    Vault {
        stage: JobStage,
        error: VaultError,
    },
    /// Cancelled, removed, or the program ends.
    TakenBack,
}

fn at(stage: JobStage) -> impl FnOnce(VaultError) -> Halt {
    move |error| Halt::Vault { stage, error }
}

fn taken_back(shared: &Shared, job: &Job) {
    if shared.is_stopped() {
        if let Err(error) = shared.vault.requeue_job(job.job_id) {
            tracing::warn!(%error, "could not put a job back");
        }
    } else {
        shared.settle(job.version, DocumentState::Failed, JobStage::Parse, Some(Reason::new("cancelled")));
    }
}

fn prepare(shared: &Shared, job: &Job) -> Result<(), Halt> {
    parse(shared, job)?;
    chunks(shared, job)
}

fn parse(shared: &Shared, job: &Job) -> Result<(), Halt> {
    let vault = &shared.vault;
    if vault.stage_finished(job.version, JobStage::Parse, PARSE_VERSION).map_err(at(JobStage::Parse))? {
        return Ok(());
    }
    vault.set_state(job.version, DocumentState::Parsing).map_err(at(JobStage::Parse))?;
    let path = vault.source_path(job.version).map_err(at(JobStage::Parse))?;
    let name = vault.source_label(job.version).map_err(at(JobStage::Parse))?.file_name;
    let first = vault.staged_units(job.version).map_err(at(JobStage::Parse))?;
    let warnings = vault.staged_warnings(job.version).map_err(at(JobStage::Parse))?;
    let mut sink = StagingSink::new(shared, job, first, warnings);
    let request = ParseRequest { name: &name, password: None, start_unit: first };
    let cancel = sink.cancel.clone();
    let config = &shared.config;
    let parsed = parse_file(&config.worker, &path, &request, &config.limits, &cancel, &mut sink);
    let finished = match parsed {
        Ok(_) => sink.finish(),
        Err(error) => Err(sink.halt(&error)),
    };
    finished?;
    vault.finish_stage(job.version, JobStage::Parse, PARSE_VERSION).map_err(at(JobStage::Parse))
}

fn chunks(shared: &Shared, job: &Job) -> Result<(), Halt> {
    let vault = &shared.vault;
    let stage = at;
    if vault.stage_finished(job.version, JobStage::Chunk, CHUNKER_VERSION).map_err(stage(JobStage::Chunk))? {
        return Ok(());
    }
    vault.set_state(job.version, DocumentState::Indexing).map_err(stage(JobStage::Chunk))?;
    let rows = vault.staged_unit_rows(job.version).map_err(stage(JobStage::Chunk))?;
    if rows.iter().all(|row| row.text.trim().is_empty()) {
        return Err(Halt::Failed {
            stage: JobStage::Chunk,
            reason: Reason::new("no_text"),
            retryable: false,
        });
    }
    let title = vault.source_label(job.version).map_err(stage(JobStage::Chunk))?.title;
    shared.progress(job, DocumentState::Indexing, JobStage::Chunk, 0, rows.len() as u32);
    vault.set_chunker_version(CHUNKER_VERSION).map_err(stage(JobStage::Chunk))?;
    let embedder = (shared.embedder)().ok();
    if let Some(embedder) = &embedder {
        vault.set_embedding_space(&embedder.space()).map_err(stage(JobStage::Chunk))?;
    }
    let count = |text: &str| match &embedder {
        Some(embedder) => tokens::count_with(embedder.as_ref(), text),
        None => tokens::count_from_above(text),
    };
    let chunks = cut(&rows, job.version, &title, &count, shared);
    vault.stage_chunks(job.version, &chunks).map_err(stage(JobStage::Chunk))?;
    vault.finish_stage(job.version, JobStage::Chunk, CHUNKER_VERSION).map_err(stage(JobStage::Chunk))
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
    }
}

/// Stores units in batches as they come, so that a crash costs one batch at most.
struct StagingSink<'a> {
    shared: &'a Shared,
    job: &'a Job,
    next: u32,
    total: u32,
    batch: Vec<ParsedUnit>,
    warnings: Vec<ParseWarning>,
    failed: Option<VaultError>,
    cancel: CancellationToken,
}

impl<'a> StagingSink<'a> {
    /// `first` is the number of the first unit that is not stored yet.
    fn new(shared: &'a Shared, job: &'a Job, first: u32, warnings: Vec<ParseWarning>) -> Self {
        Self {
            shared,
            job,
            next: first,
            total: 0,
            batch: Vec::new(),
            warnings,
            failed: None,
            cancel: shared.stop.child_token(),
        }
    }

    fn flush(&mut self) -> Result<(), ParseError> {
        if !self.shared.may_go_on(self.job) {
            self.cancel.cancel();
            return Err(ParseError::Cancelled { name: String::new() });
        }
        if self.batch.is_empty() {
            return Ok(());
        }
        let stored = self
            .shared
            .vault
            .stage_units(self.job.version, self.next, &self.batch)
            .and_then(|_| self.shared.vault.set_warnings(self.job.version, &self.warnings));
        if let Err(error) = stored {
            let failed = ParseError::Io { attempt: "store units".to_owned(), detail: error.to_string() };
            self.failed = Some(error);
            return Err(failed);
        }
        self.next += self.batch.len() as u32;
        self.batch.clear();
        self.shared.progress(
            self.job,
            DocumentState::Parsing,
            JobStage::Parse,
            self.next,
            self.total.max(self.next),
        );
        Ok(())
    }

    fn finish(mut self) -> Result<(), Halt> {
        if let Err(error) = self.flush() {
            return Err(self.halt(&error));
        }
        self.shared.vault.set_warnings(self.job.version, &self.warnings).map_err(at(JobStage::Parse))
    }

    fn halt(&mut self, error: &ParseError) -> Halt {
        if let Some(error) = self.failed.take() {
            return Halt::Vault { stage: JobStage::Parse, error };
        }
        match error {
            ParseError::Cancelled { .. } => Halt::TakenBack,
            error => Halt::Failed {
                stage: JobStage::Parse,
                reason: error.reason(),
                retryable: error.is_retryable(),
            },
        }
    }
}

impl UnitSink for StagingSink<'_> {
    fn page_count(&mut self, n_pages: u32) -> Result<(), ParseError> {
        self.total = n_pages;
        self.shared.progress(self.job, DocumentState::Parsing, JobStage::Parse, self.next, n_pages);
        Ok(())
    }

    fn unit(&mut self, unit: ParsedUnit) -> Result<(), ParseError> {
        self.batch.push(unit);
        if self.batch.len() >= UNITS_PER_BATCH { self.flush() } else { Ok(()) }
    }

    fn warning(&mut self, warning: ParseWarning) -> Result<(), ParseError> {
        self.warnings.push(warning);
        Ok(())
    }
}

/// Prepared versions that wait to be published together.
#[derive(Default)]
struct Ready {
    jobs: Vec<Job>,
    since: Option<Instant>,
}

impl Ready {
    fn push(&mut self, job: Job) {
        self.since.get_or_insert_with(Instant::now);
        self.jobs.push(job);
    }

    fn is_due(&self) -> bool {
        self.jobs.len() >= GATHER_DOCUMENTS || self.since.is_some_and(|since| since.elapsed() > GATHER)
    }

    fn publish(&mut self, shared: &Shared) {
        self.since = None;
        let jobs = std::mem::take(&mut self.jobs);
        if jobs.is_empty() {
            return;
        }
        let versions: Vec<VersionRef> = jobs.iter().map(|job| job.version).collect();
        match guarded(|| shared.vault.publish_lexical(&versions)) {
            Ok(Ok(outcomes)) => {
                for (job, outcome) in jobs.iter().zip(&outcomes) {
                    let state = match outcome {
                        PublishOutcome::Published => DocumentState::Published,
                        PublishOutcome::AwaitsVectors => DocumentState::Ready,
                        PublishOutcome::Overtaken => DocumentState::Superseded,
                    };
                    shared.progress(job, state, JobStage::PublishLexical, 1, 1);
                }
                shared.hand_to_vector_lane(jobs);
            }
            Ok(Err(error)) => {
                jobs.iter().for_each(|job| shared.fail_with(job, JobStage::PublishLexical, &error));
            }
            Err(reason) => {
                let stage = JobStage::PublishLexical;
                jobs.iter().for_each(|job| shared.fail(job, stage, reason.clone(), true));
            }
        }
    }
}
