//! The text lane: parse, chunk, publish by words. What awaits recognition goes over to that lane instead.

use std::time::Instant;

use tokio_util::sync::CancellationToken;
use zhiku_core::{DocumentId, DocumentKind, DocumentState, JobStage, ParseWarning, ParsedUnit};
use zhiku_parse::detect::HEAD_BYTES;
use zhiku_parse::worker::{ParseRequest, parse_file};
use zhiku_parse::{ChildFile, ParseError, UnitSink};
use zhiku_vault::{ChildSource, Job, JobLane, VaultError};

use crate::chunk_stage::chunks;
use crate::guard::guarded;
use crate::halt::{Halt, at};
use crate::import::{PARSE_VERSION, kind_of};
use crate::passwords::text;
use crate::ready::Ready;
use crate::shared::Shared;

/// Units per transaction.
const UNITS_PER_BATCH: usize = 32;

/// Where a job goes after its parse.
enum Next {
    Publish,
    Recognition,
}

pub(crate) fn run(shared: &Shared) {
    let mut ready = Ready::default();
    while let Some(jobs) = shared.next_jobs(JobLane::Text, 1, || ready.publish(shared)) {
        for job in jobs {
            let begun = Instant::now();
            let prepared = guarded(|| prepare(shared, &job)).unwrap_or_else(|reason| {
                Err(Halt::Failed { stage: JobStage::Parse, reason, retryable: true })
            });
            match prepared {
                Ok(Next::Publish) => ready.push(job),
                Ok(Next::Recognition) => shared.hand_over([&job], JobLane::Recognition),
                Err(halt) => halt.end(shared, &job),
            }
            shared.give_way(begun.elapsed());
        }
        if ready.is_due() {
            ready.publish(shared);
        }
    }
    ready.publish(shared);
}

fn prepare(shared: &Shared, job: &Job) -> Result<Next, Halt> {
    let vault = &shared.vault;
    let label = vault.source_label(job.version).map_err(at(JobStage::Detect))?;
    let is_media = matches!(label.kind, DocumentKind::Audio | DocumentKind::Video);
    if !is_media {
        parse(shared, job)?;
    }
    if is_media || vault.awaits_recognition(job.version).map_err(at(JobStage::Recognize))? {
        return Ok(Next::Recognition);
    }
    chunks(shared, job)?;
    Ok(Next::Publish)
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
    let password = shared.passwords.of(job.version);
    let request = ParseRequest { name: &name, password: text(password.as_ref()), start_unit: first };
    let cancel = sink.cancel.clone();
    let config = &shared.config;
    let parsed = parse_file(&config.worker, &path, &request, &config.limits, &cancel, &mut sink);
    let inside = match parsed {
        Ok(_) => sink.finish()?,
        Err(error) => return Err(sink.halt(&error)),
    };
    // A parse that went on in the middle has not seen all that is inside.
    if first == 0 {
        vault.remove_children_except(job.version, &inside).map_err(at(JobStage::Parse))?;
    }
    vault.finish_stage(job.version, JobStage::Parse, PARSE_VERSION).map_err(at(JobStage::Parse))
}

/// Stores units in batches as they come, so that a crash costs one batch at most.
struct StagingSink<'a> {
    shared: &'a Shared,
    job: &'a Job,
    next: u32,
    total: u32,
    batch: Vec<ParsedUnit>,
    warnings: Vec<ParseWarning>,
    /// What came inside the file.
    inside: Vec<DocumentId>,
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
            inside: Vec::new(),
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

    /// Takes in what came inside the file as a document of its own, where its format is known.
    fn take_in(&mut self, child: &ChildFile) -> Result<(), VaultError> {
        let vault = &self.shared.vault;
        let kind = match kind_of(&child.bytes[..child.bytes.len().min(HEAD_BYTES)], &child.name) {
            Ok(DocumentKind::Image) => DocumentKind::Image,
            Ok(kind) if !child.embedded => kind,
            _ if child.embedded => return Ok(()),
            Ok(_) | Err(_) => {
                let message = format!("{} inside the file is of no known format", child.name);
                self.warnings.push(ParseWarning {
                    locator: None,
                    message,
                    code: "attachment_unsupported".to_owned(),
                });
                return Ok(());
            }
        };
        let title = format!("{} › {}", vault.source_label(self.job.version)?.title, child.name);
        let source = ChildSource { name: &child.name, title: &title, kind, embedded: child.embedded };
        let object = vault.put_bytes(&child.bytes)?;
        match vault.register_child(self.job.version, &source, &object) {
            Ok(registered) => self.inside.push(registered.version.document),
            Err(VaultError::InvalidInput(message)) => self.warnings.push(ParseWarning {
                locator: None,
                message,
                code: "nested_too_deep".to_owned(),
            }),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// What came inside the file.
    fn finish(mut self) -> Result<Vec<DocumentId>, Halt> {
        if let Err(error) = self.flush() {
            return Err(self.halt(&error));
        }
        self.shared.vault.set_warnings(self.job.version, &self.warnings).map_err(at(JobStage::Parse))?;
        Ok(self.inside)
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

    fn child(&mut self, child: ChildFile) -> Result<(), ParseError> {
        self.take_in(&child).map_err(|error| {
            let failed =
                ParseError::Io { attempt: format!("store {}", child.name), detail: error.to_string() };
            self.failed = Some(error);
            failed
        })
    }

    fn warning(&mut self, warning: ParseWarning) -> Result<(), ParseError> {
        self.warnings.push(warning);
        Ok(())
    }
}
