//! The child's side: take the request, take the file, give up everything else, parse.

use std::io::{self, BufWriter, Read, StdoutLock};
use std::panic::{AssertUnwindSafe, catch_unwind};

use zhiku_core::{DocumentKind, Locator, ParseWarning, ParsedUnit};

use super::protocol::{Frame, MAX_PAYLOAD_BYTES, Request, Task, read_frame, write_reply};
use super::sandbox;
use crate::detect::detect;
use crate::error::ParseError;
use crate::formats::{load_library, unlock};
use crate::parser::{ChildFile, DocumentParser, ParsedSummary, Source, UnitSink};

/// Exit codes: 0 when the parent was told how it ended, 1 when it could not be told.
pub(super) fn run() -> i32 {
    sandbox::die_with_parent();
    let mut sink = FrameSink { out: BufWriter::with_capacity(64 * 1024, io::stdout().lock()) };
    let last = match serve(&mut sink) {
        Ok(last) => last,
        Err(err) => Frame::Failed(err),
    };
    i32::from(write_reply(&mut sink.out, &last).is_err())
}

fn serve(sink: &mut FrameSink<'_>) -> Result<Frame, ParseError> {
    let mut stdin = io::stdin().lock();
    let request: Request = read_frame(&mut stdin).ok().flatten().ok_or_else(|| ParseError::Io {
        attempt: "read the request".to_owned(),
        detail: "broken pipe".to_owned(),
    })?;
    let io_error = |attempt: &str, detail: String| ParseError::Io {
        attempt: format!("{attempt} {}", request.name),
        detail,
    };
    sandbox::limit(request.memory_bytes, request.cpu_seconds)
        .map_err(|err| io_error("limit the parser of", err))?;
    let bytes = read_file(&mut stdin, &request).map_err(|err| io_error("receive", err.to_string()))?;
    let bytes = unlock(bytes, &request.name, request.password.as_deref())?;
    let parser = detect(&bytes, &request.name)?;
    let kind = parser.kind();
    load_library(kind, request.pdfium.as_deref())?;
    sandbox::give_up_files_and_network();
    sink.frame(&Frame::Detected { kind })?;
    let start_unit = if let Task::Parse { start_unit } = request.task { start_unit } else { 0 };
    let source =
        Source { bytes: &bytes, name: &request.name, password: request.password.as_deref(), start_unit };
    let outcome = catch_unwind(AssertUnwindSafe(|| match &request.task {
        Task::Parse { .. } => parser.parse(&source, sink).map(Frame::Done),
        Task::ReadAt { locator } => parser.read_at(&source, locator).map(Frame::Text),
        Task::Pictures { places } => {
            for place in places {
                sink.frame(&picture(parser, &source, place))?;
            }
            Ok(Frame::Done(ParsedSummary { kind, page_count: None }))
        }
    }));
    outcome
        .unwrap_or_else(|panic| Err(ParseError::damaged(&request.name, panic_message(kind, panic.as_ref()))))
}

fn picture(parser: &dyn DocumentParser, source: &Source<'_>, place: &Locator) -> Frame {
    match parser.picture(source, place) {
        Ok(found) => Frame::Picture {
            frame: found.frame,
            n_bytes: found.picture.rgb.len() as u64,
            bytes: found.picture.rgb,
        },
        Err(err) => Frame::NoPicture(err),
    }
}

fn read_file(stdin: &mut dyn Read, request: &Request) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let n_bytes = usize::try_from(request.n_bytes).map_err(io::Error::other)?;
    bytes.try_reserve_exact(n_bytes).map_err(io::Error::other)?;
    stdin.take(request.n_bytes).read_to_end(&mut bytes)?;
    if bytes.len() == n_bytes { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn panic_message(kind: DocumentKind, panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    format!("the {} parser gave up: {text}", kind.as_str())
}

struct FrameSink<'a> {
    out: BufWriter<StdoutLock<'a>>,
}

impl FrameSink<'_> {
    fn frame(&mut self, frame: &Frame) -> Result<(), ParseError> {
        write_reply(&mut self.out, frame).map_err(|err| ParseError::Io {
            attempt: "report what was parsed".to_owned(),
            detail: err.to_string(),
        })
    }
}

impl UnitSink for FrameSink<'_> {
    fn page_count(&mut self, n_pages: u32) -> Result<(), ParseError> {
        self.frame(&Frame::PageCount(n_pages))
    }

    fn unit_started(&mut self, index: u32) -> Result<(), ParseError> {
        self.frame(&Frame::UnitStarted(index))?;
        #[cfg(feature = "fault-injection")]
        fault::strike(index);
        Ok(())
    }

    fn unit(&mut self, unit: ParsedUnit) -> Result<(), ParseError> {
        self.frame(&Frame::Unit(Box::new(unit)))
    }

    fn warning(&mut self, warning: ParseWarning) -> Result<(), ParseError> {
        self.frame(&Frame::Warning(warning))
    }

    fn child(&mut self, child: ChildFile) -> Result<(), ParseError> {
        let n_bytes = child.bytes.len() as u64;
        if n_bytes > MAX_PAYLOAD_BYTES {
            let message = format!("{} has {n_bytes} bytes, more than are taken out of a file", child.name);
            let code = "child_too_large".to_owned();
            return self.warning(ParseWarning { locator: None, message, code });
        }
        let ChildFile { name, bytes, embedded } = child;
        self.frame(&Frame::Child { name, embedded, n_bytes, bytes })
    }
}

/// Makes the worker fail at a chosen unit, so that tests see what a malicious page does.
#[cfg(feature = "fault-injection")]
mod fault {
    /// `abort:3`, `spin:3`, `eat:3`; several with commas.
    const VARIABLE: &str = "ZHIKU_PARSE_FAULT";

    pub(super) fn strike(index: u32) {
        let Ok(plan) = std::env::var(VARIABLE) else { return };
        let due = |fault: &&str| fault.split_once(':').is_some_and(|(_, at)| at.parse() == Ok(index));
        match plan.split(',').find(due).and_then(|fault| fault.split_once(':')) {
            Some(("abort", _)) => std::process::abort(),
            Some(("spin", _)) => loop {
                std::hint::spin_loop();
            },
            Some(("eat", _)) => {
                let mut eaten: Vec<Vec<u8>> = Vec::new();
                loop {
                    eaten.push(std::hint::black_box(vec![1; 16 * 1024 * 1024]));
                }
            }
            _ => {}
        }
    }
}
