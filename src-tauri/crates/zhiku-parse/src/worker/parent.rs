//! The parent's side: start a child, watch it, start the next one behind the page that was lost.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;
use zhiku_core::recognition::Picture;
use zhiku_core::{DocumentKind, Locator};

use super::WORKER_ARGUMENT;
use super::convert::to_new_office;
use super::protocol::{Frame, Request, Task, is_sound, read_reply, write_frame};
use crate::error::{Library, ParseError};
use crate::formats::{PDFIUM_VARIABLE, page_failed, safe_name};
use crate::parser::{ChildFile, ParsedSummary, UnitSink};
use crate::picture::SourcePicture;

/// How long the parent waits at most before it looks at cancellation and deadlines.
const TICK: Duration = Duration::from_millis(40);

/// Files within one file, in number and bytes.
const MAX_CHILDREN: u32 = 20_000;
const MAX_CHILD_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// The program that becomes a worker.
#[derive(Clone, Debug)]
pub struct WorkerCommand {
    program: PathBuf,
    pdfium: Option<PathBuf>,
    #[cfg(feature = "fault-injection")]
    fault: Option<String>,
}

impl WorkerCommand {
    /// A program that calls [`super::run_if_asked`].
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            pdfium: std::env::var_os(PDFIUM_VARIABLE).map(PathBuf::from),
            #[cfg(feature = "fault-injection")]
            fault: None,
        }
    }

    /// This program.
    pub fn current_exe() -> Result<Self, ParseError> {
        std::env::current_exe().map(Self::new).map_err(|err| ParseError::Io {
            attempt: "find this program".to_owned(),
            detail: err.to_string(),
        })
    }

    /// Where PDFium is, unless the environment says it.
    #[must_use]
    pub fn with_pdfium(mut self, path: impl Into<PathBuf>) -> Self {
        self.pdfium = Some(path.into());
        self
    }

    /// Makes the worker fail as told: `abort:3`, `spin:3`, `eat:3`.
    #[cfg(feature = "fault-injection")]
    #[must_use]
    pub fn with_fault(mut self, plan: &str) -> Self {
        self.fault = Some(plan.to_owned());
        self
    }

    fn to_command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(WORKER_ARGUMENT).env_clear().current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(feature = "fault-injection")]
        if let Some(fault) = &self.fault {
            command.env("ZHIKU_PARSE_FAULT", fault);
        }
        command
    }
}

/// What one file may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseLimits {
    pub file_bytes: u64,
    /// Address space of the worker, its program included.
    pub memory_bytes: u64,
    /// The longest silence: about the time one page may take.
    pub unit_time: Duration,
    pub total_time: Duration,
    /// How many pages may take the worker down before the file is given up.
    pub restarts: u32,
    pub units: u32,
}

impl Default for ParseLimits {
    fn default() -> Self {
        Self {
            file_bytes: 200 * 1024 * 1024,
            memory_bytes: 1536 * 1024 * 1024,
            unit_time: Duration::from_mins(1),
            total_time: Duration::from_hours(1),
            restarts: 20,
            units: 200_000,
        }
    }
}

/// What to read.
#[derive(Clone, Copy)]
pub struct ParseRequest<'a> {
    /// The file's name, for messages and for formats that only an extension tells apart.
    pub name: &'a str,
    pub password: Option<&'a str>,
    /// Units before this one (from 0) are left out: an interrupted import goes on where it was.
    pub start_unit: u32,
}

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

/// Reads the text of one unit again, in a worker process.
pub fn read_unit(
    command: &WorkerCommand,
    path: &Path,
    request: &ParseRequest<'_>,
    locator: &Locator,
    limits: &ParseLimits,
    cancel: &CancellationToken,
) -> Result<String, ParseError> {
    let answer = ask(command, path, request, limits, cancel, &Task::ReadAt { locator: locator.clone() })?;
    match answer {
        Frame::Text(text) => Ok(text),
        _ => Err(worker_failed(request.name, "it answered something else")),
    }
}

/// Draws the page or picture at a place, in a worker process: what recognition looks at.
pub fn read_picture(
    command: &WorkerCommand,
    path: &Path,
    request: &ParseRequest<'_>,
    place: &Locator,
    limits: &ParseLimits,
    cancel: &CancellationToken,
) -> Result<SourcePicture, ParseError> {
    let answer = ask(command, path, request, limits, cancel, &Task::Picture { locator: place.clone() })?;
    let Frame::Picture { frame, bytes, .. } = answer else {
        return Err(worker_failed(request.name, "it answered something else"));
    };
    let [width, height] = frame.picture_size;
    if bytes.len() as u64 != u64::from(width) * u64::from(height) * 3 || bytes.is_empty() {
        return Err(worker_failed(request.name, "it sent a picture that cannot be"));
    }
    Ok(SourcePicture { picture: Picture { width, height, rgb: bytes }, frame })
}

/// Has a worker answer one question; a file of old Office is converted first.
fn ask(
    command: &WorkerCommand,
    path: &Path,
    request: &ParseRequest<'_>,
    limits: &ParseLimits,
    cancel: &CancellationToken,
    task: &Task,
) -> Result<Frame, ParseError> {
    let mut kind = None;
    let mut ask_as_it_is = |path: &Path| {
        let work = Work { command, path, request, limits, cancel, started: Instant::now() };
        let mut answer = None;
        let end = work.run_once(task.clone(), &mut |frame| match frame {
            Frame::Text(_) | Frame::Picture { .. } => {
                answer = Some(frame);
                Ok(Step::Stop(None))
            }
            Frame::Detected { kind: found } => {
                kind.get_or_insert(found);
                Ok(Step::GoOn)
            }
            Frame::Failed(err) => Err(err),
            _ => Ok(Step::GoOn),
        })?;
        match (answer, end) {
            (Some(answer), _) => Ok(answer),
            (None, End::Lost(cause, detail)) => Err(cause.to_error(request.name, &detail)),
            (None, End::Done(_)) => Err(worker_failed(request.name, "no answer")),
        }
    };
    match ask_as_it_is(path) {
        Err(ParseError::LibraryMissing { library: Library::LibreOffice, .. }) => {
            let converted = to_new_office(path, request.name, None, limits, cancel)?;
            ask_as_it_is(&converted.path)
        }
        other => other,
    }
}

/// Why a child was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Crashed,
    OutOfMemory,
    Silent,
}

impl Cause {
    fn to_error(self, name: &str, detail: &str) -> ParseError {
        let limit = |what: &str| ParseError::LimitExceeded { name: name.to_owned(), what: what.to_owned() };
        match self {
            Self::Crashed => worker_failed(name, detail),
            Self::OutOfMemory => limit("memory"),
            Self::Silent => limit("time"),
        }
    }
}

fn worker_failed(name: &str, detail: &str) -> ParseError {
    ParseError::WorkerFailed { name: name.to_owned(), detail: detail.to_owned() }
}

enum End {
    Done(ParsedSummary),
    Lost(Cause, String),
}

enum Step {
    GoOn,
    Stop(Option<ParsedSummary>),
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
            Frame::PageCount(_) | Frame::UnitStarted(_) | Frame::Text(_) | Frame::Picture { .. } => {}
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

/// One file and all that its workers have in common.
struct Work<'a> {
    command: &'a WorkerCommand,
    path: &'a Path,
    request: &'a ParseRequest<'a>,
    limits: &'a ParseLimits,
    cancel: &'a CancellationToken,
    started: Instant,
}

impl Work<'_> {
    fn name(&self) -> String {
        self.request.name.to_owned()
    }

    fn check(&self) -> Result<(), ParseError> {
        if self.cancel.is_cancelled() {
            return Err(ParseError::Cancelled { name: self.name() });
        }
        if self.started.elapsed() > self.limits.total_time {
            return Err(ParseError::LimitExceeded { name: self.name(), what: "time".to_owned() });
        }
        Ok(())
    }

    /// One life of a worker.
    fn run_once(
        &self,
        task: Task,
        take: &mut dyn FnMut(Frame) -> Result<Step, ParseError>,
    ) -> Result<End, ParseError> {
        self.check()?;
        let (header, file) = self.open(task)?;
        let mut running = Running::start(self.command, header, file)?;
        let mut heard = Instant::now();
        loop {
            self.check()?;
            match running.frames.recv_timeout(TICK) {
                Ok(Ok(frame)) => {
                    if let Step::Stop(summary) = take(frame)? {
                        return Ok(
                            summary.map_or_else(|| End::Lost(Cause::Crashed, String::new()), End::Done)
                        );
                    }
                    // The sink may have been slow; that is not the worker's silence.
                    heard = Instant::now();
                }
                Ok(Err(err)) => {
                    return Ok(End::Lost(Cause::Crashed, format!("it sent what cannot be read: {err}")));
                }
                Err(RecvTimeoutError::Timeout) if heard.elapsed() > self.limits.unit_time => {
                    return Ok(End::Lost(Cause::Silent, "no sign of life".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(running.post_mortem()),
            }
        }
    }

    fn open(&self, task: Task) -> Result<(Request, File), ParseError> {
        let io_error = |err: io::Error| ParseError::Io {
            attempt: format!("read {}", self.request.name),
            detail: err.to_string(),
        };
        let file = File::open(self.path).map_err(io_error)?;
        let n_bytes = file.metadata().map_err(io_error)?.len();
        let limit = self.limits.file_bytes;
        if n_bytes == 0 {
            return Err(ParseError::Empty { name: self.name() });
        }
        if n_bytes > limit {
            return Err(ParseError::TooLarge { name: self.name(), bytes: n_bytes, limit });
        }
        let request = Request {
            name: self.name(),
            password: self.request.password.map(str::to_owned),
            n_bytes,
            task,
            pdfium: self.command.pdfium.clone(),
            memory_bytes: self.limits.memory_bytes,
            cpu_seconds: self.limits.total_time.as_secs().max(1),
        };
        Ok((request, file))
    }
}

/// A live child and the threads on its pipes. Dropping it kills the child.
struct Running {
    child: Child,
    frames: Receiver<io::Result<Frame>>,
    stderr: Option<JoinHandle<String>>,
}

impl Running {
    fn start(command: &WorkerCommand, request: Request, file: File) -> Result<Self, ParseError> {
        let io_error = |err: io::Error| ParseError::Io {
            attempt: "start the parser".to_owned(),
            detail: err.to_string(),
        };
        let mut child = command.to_command().spawn().map_err(io_error)?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (sender, frames) = sync_channel(8);
        // From here on the child is killed by the drop of this value, whatever happens.
        let mut running = Self { child, frames, stderr: None };
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err(io_error(io::ErrorKind::BrokenPipe.into()));
        };
        let spawn = |name: &str| std::thread::Builder::new().name(name.to_owned());
        spawn("parse-send").spawn(move || send(stdin, &request, file)).map_err(io_error)?;
        spawn("parse-receive")
            .spawn(move || {
                let mut stdout = BufReader::with_capacity(256 * 1024, stdout);
                while let Some(frame) = read_reply(&mut stdout).transpose() {
                    let broken = frame.is_err();
                    if sender.send(frame).is_err() || broken {
                        break;
                    }
                }
            })
            .map_err(io_error)?;
        running.stderr = Some(spawn("parse-messages").spawn(move || tail(stderr)).map_err(io_error)?);
        Ok(running)
    }

    /// How a child ended that said nothing about it.
    fn post_mortem(&mut self) -> End {
        let status = self.child.wait();
        let said = self.stderr.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        if said.contains("memory allocation of") || said.contains("out of memory") {
            return End::Lost(Cause::OutOfMemory, "out of memory".to_owned());
        }
        let detail = status.map_or_else(|err| err.to_string(), |status| format!("it ended with {status}"));
        End::Lost(Cause::Crashed, detail)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only if the child is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A child that ends early breaks the pipe; how it ended is told elsewhere.
fn send(mut stdin: ChildStdin, request: &Request, file: File) {
    if write_frame(&mut stdin, request).is_ok() {
        let _ = io::copy(&mut file.take(request.n_bytes), &mut stdin);
    }
}

/// The last of what the child printed.
fn tail(mut stderr: impl Read) -> String {
    const KEPT: usize = 8 * 1024;
    let mut kept = Vec::new();
    let mut buffer = [0u8; 4096];
    while let Ok(n) = stderr.read(&mut buffer) {
        if n == 0 {
            break;
        }
        kept.extend_from_slice(&buffer[..n]);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(&kept).into_owned()
}
