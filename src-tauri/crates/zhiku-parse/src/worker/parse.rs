//! A whole file, across the lives of its workers: the next one starts behind the page that was lost.

use std::collections::HashSet;
use std::path::Path;
use std::time::Instant;

use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;
use zhiku_core::DocumentKind;

use super::command::{ParseLimits, ParseRequest, WorkerCommand};
use super::convert::to_new_office;
use super::life::{Cause, End, Step, Work, worker_failed};
use super::protocol::{Frame, Task, is_sound};
use crate::error::{Library, ParseError};
use crate::formats::{page_failed, safe_name};
use crate::parser::{ChildFile, ParsedSummary, UnitSink};

/// Files within one file, in number and bytes.
const MAX_CHILDREN: u32 = 20_000;
const MAX_CHILD_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// Parses a file in a worker process and hands on its units as they come.
///
/// Blocks until the end; `cancel` ends it within 100 ms. A page that takes the worker down becomes an empty unit and the
/// warning `page_failed`, so that page `n` is always unit `n`. A file of old Office is converted by LibreOffice first.
pub fn parse_file(
    command: &WorkerCommand,
    path: &Path,
    request: &ParseRequest<'_>,
    limits: &ParseLimits,
    cancel: &CancellationToken,
    sink: &mut dyn UnitSink,
) -> Result<ParsedSummary, ParseError> {
    let mut kind = None;
    match parse_as_it_is(command, path, request, limits, cancel, sink, &mut kind) {
        Err(ParseError::LibraryMissing { library: Library::LibreOffice, .. }) => {
            let converted = to_new_office(path, request.name, kind, limits, cancel)?;
            let old_kind = kind.take();
            let parsed = parse_as_it_is(command, &converted.path, request, limits, cancel, sink, &mut kind)?;
            Ok(ParsedSummary { kind: old_kind.unwrap_or(parsed.kind), ..parsed })
        }
        other => other,
    }
}

/// `kind` is what the worker said, also when it went no further.
fn parse_as_it_is(
    command: &WorkerCommand,
    path: &Path,
    request: &ParseRequest<'_>,
    limits: &ParseLimits,
    cancel: &CancellationToken,
    sink: &mut dyn UnitSink,
    kind: &mut Option<DocumentKind>,
) -> Result<ParsedSummary, ParseError> {
    let mut parse = Parse {
        name: request.name,
        sink,
        kind: None,
        page_count: None,
        start_unit: request.start_unit,
        next_unit: request.start_unit,
        reading: None,
        n_units: 0,
        max_units: limits.units,
        pictures: HashSet::new(),
        n_children: 0,
        n_child_bytes: 0,
    };
    let work = Work { command, path, request, limits, cancel, started: Instant::now() };
    let mut n_restarts = 0;
    loop {
        let task = Task::Parse { start_unit: parse.next_unit };
        let end = work.run_once(task, &mut |frame| parse.take(frame));
        *kind = parse.kind;
        let (cause, detail) = match end? {
            End::Done(summary) => return Ok(summary),
            End::Lost(cause, detail) => (cause, detail),
        };
        parse.lose_unit(cause, &detail)?;
        if let Some(summary) = parse.complete() {
            return Ok(summary);
        }
        n_restarts += 1;
        if n_restarts > limits.restarts {
            return Err(ParseError::LimitExceeded {
                name: request.name.to_owned(),
                what: "restarts".to_owned(),
            });
        }
    }
}

/// What is known about the file across the lives of its workers.
struct Parse<'a> {
    name: &'a str,
    sink: &'a mut dyn UnitSink,
    kind: Option<DocumentKind>,
    page_count: Option<u32>,
    start_unit: u32,
    next_unit: u32,
    /// The unit that is being read now.
    reading: Option<u32>,
    n_units: u32,
    max_units: u32,
    /// Digests of the embedded pictures that were handed on: each comes once, also after a restart.
    pictures: HashSet<[u8; 32]>,
    n_children: u32,
    n_child_bytes: u64,
}

impl Parse<'_> {
    fn take(&mut self, frame: Frame) -> Result<Step, ParseError> {
        match frame {
            Frame::Detected { kind } => self.kind = Some(kind),
            Frame::PageCount(n) if self.page_count.is_none() => {
                self.page_count = Some(n);
                self.sink.page_count(n)?;
            }
            Frame::UnitStarted(n) if n >= self.next_unit => {
                self.next_unit = n;
                self.reading = Some(n);
                self.sink.unit_started(n)?;
            }
            Frame::Unit(unit) => {
                if !is_sound(&unit, self.reading) {
                    return Err(worker_failed(self.name, "it sent a unit that cannot be"));
                }
                self.n_units += 1;
                if self.n_units > self.max_units {
                    return Err(ParseError::LimitExceeded {
                        name: self.name.to_owned(),
                        what: "units".to_owned(),
                    });
                }
                match self.reading.take() {
                    Some(done) => {
                        self.next_unit = done + 1;
                        self.sink.unit(*unit)?;
                    }
                    // The format cannot start in the middle.
                    None if self.n_units <= self.start_unit => {}
                    None => self.sink.unit(*unit)?,
                }
            }
            Frame::Warning(warning) => self.sink.warning(warning)?,
            Frame::Done(summary) => return Ok(Step::Stop(Some(summary))),
            Frame::Failed(err) => return Err(err),
            Frame::Child { name, bytes, embedded, .. } => self.child(ChildFile { name, bytes, embedded })?,
            Frame::PageCount(_)
            | Frame::UnitStarted(_)
            | Frame::Text(_)
            | Frame::Picture { .. }
            | Frame::NoPicture(_) => {}
        }
        Ok(Step::GoOn)
    }

    fn child(&mut self, child: ChildFile) -> Result<(), ParseError> {
        self.n_children += 1;
        self.n_child_bytes += child.bytes.len() as u64;
        if self.n_children > MAX_CHILDREN || self.n_child_bytes > MAX_CHILD_BYTES {
            let what = "files within the file".to_owned();
            return Err(ParseError::LimitExceeded { name: self.name.to_owned(), what });
        }
        // The name comes from a hostile file by way of a process that read it.
        let name = safe_name(&child.name);
        let is_new = !child.embedded || self.pictures.insert(Sha256::digest(&child.bytes).into());
        if is_new { self.sink.child(ChildFile { name, ..child }) } else { Ok(()) }
    }

    /// Books the unit that was being read as lost. Without one there is nothing to go on behind.
    fn lose_unit(&mut self, cause: Cause, detail: &str) -> Result<(), ParseError> {
        if self.page_count.is_none() || self.kind.is_none() {
            return Err(cause.to_error(self.name, detail));
        }
        if let Some(lost) = self.reading.take() {
            let what = match cause {
                Cause::Crashed => detail,
                Cause::OutOfMemory => "it needs more memory than allowed",
                Cause::Silent => "it takes more time than allowed",
            };
            let (unit, warning) = page_failed(lost, what);
            self.sink.warning(warning)?;
            self.sink.unit(unit)?;
            self.next_unit = lost + 1;
        }
        Ok(())
    }

    fn complete(&self) -> Option<ParsedSummary> {
        let n_pages = self.page_count?;
        let kind = self.kind?;
        (self.next_unit >= n_pages).then_some(ParsedSummary { kind, page_count: Some(n_pages) })
    }
}
