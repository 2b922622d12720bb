//! One life of a worker: it is given a task, heard until it ends or falls silent, and asked what it died of.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::command::{ParseLimits, ParseRequest, WorkerCommand};
use super::protocol::{Frame, Request, Task, read_reply, write_frame};
use crate::error::ParseError;
use crate::parser::ParsedSummary;

/// How long the parent waits at most before it looks at cancellation and deadlines.
const TICK: Duration = Duration::from_millis(40);

/// Why a child was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Crashed,
    OutOfMemory,
    Silent,
}

impl Cause {
    pub(super) fn to_error(self, name: &str, detail: &str) -> ParseError {
        let limit = |what: &str| ParseError::LimitExceeded { name: name.to_owned(), what: what.to_owned() };
        match self {
            Self::Crashed => worker_failed(name, detail),
            Self::OutOfMemory => limit("memory"),
            Self::Silent => limit("time"),
        }
    }
}

pub(super) fn worker_failed(name: &str, detail: &str) -> ParseError {
    ParseError::WorkerFailed { name: name.to_owned(), detail: detail.to_owned() }
}

pub(super) enum End {
    Done(ParsedSummary),
    Lost(Cause, String),
}

pub(super) enum Step {
    GoOn,
    Stop(Option<ParsedSummary>),
}

/// One file and all that its workers have in common.
pub(super) struct Work<'a> {
    pub(super) command: &'a WorkerCommand,
    pub(super) path: &'a Path,
    pub(super) request: &'a ParseRequest<'a>,
    pub(super) limits: &'a ParseLimits,
    pub(super) cancel: &'a CancellationToken,
    pub(super) started: Instant,
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
    pub(super) fn run_once(
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
        // A page as a picture is larger than all else together.
        let n_waiting = if matches!(request.task, Task::Pictures { .. }) { 1 } else { 8 };
        let (sender, frames) = sync_channel(n_waiting);
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
