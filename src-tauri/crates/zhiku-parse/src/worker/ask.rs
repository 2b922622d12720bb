//! Single questions about a file: the text of a unit again, the pictures of pages.

use std::path::Path;
use std::time::Instant;

use tokio_util::sync::CancellationToken;
use zhiku_core::Locator;
use zhiku_core::recognition::Picture;

use super::command::{ParseLimits, ParseRequest, WorkerCommand};
use super::convert::to_new_office;
use super::life::{End, Step, Work, worker_failed};
use super::protocol::{Frame, Task};
use crate::error::{Library, ParseError};
use crate::picture::{PictureFrame, SourcePicture};

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
    let mut drawn = Err(worker_failed(request.name, "no answer"));
    let places = std::slice::from_ref(place);
    read_pictures(command, path, request, places, limits, cancel, &mut |_, picture| {
        drawn = picture;
        Ok(())
    })?;
    drawn
}

/// Draws several places in one worker process, so that the file is handed over and opened once. `take` gets each by its number in
/// order, or why it cannot be drawn; a place that takes the worker down costs that place. An error from `take` ends it.
pub fn read_pictures(
    command: &WorkerCommand,
    path: &Path,
    request: &ParseRequest<'_>,
    places: &[Locator],
    limits: &ParseLimits,
    cancel: &CancellationToken,
    take: &mut dyn FnMut(usize, Result<SourcePicture, ParseError>) -> Result<(), ParseError>,
) -> Result<(), ParseError> {
    let work = Work { command, path, request, limits, cancel, started: Instant::now() };
    let mut next = 0;
    while next < places.len() {
        let end = work.run_once(Task::Pictures { places: places[next..].to_vec() }, &mut |frame| {
            let picture = match frame {
                Frame::Picture { frame, bytes, .. } => picture(request.name, frame, bytes),
                Frame::NoPicture(err) => Err(err),
                Frame::Failed(err) => return Err(err),
                Frame::Done(summary) => return Ok(Step::Stop(Some(summary))),
                _ => return Ok(Step::GoOn),
            };
            if next < places.len() {
                take(next, picture)?;
            }
            next += 1;
            Ok(Step::GoOn)
        })?;
        match end {
            End::Done(_) if next < places.len() => {
                return Err(worker_failed(request.name, "it left pages out"));
            }
            End::Done(_) => {}
            End::Lost(cause, detail) => {
                if next < places.len() {
                    take(next, Err(cause.to_error(request.name, &detail)))?;
                }
                next += 1;
            }
        }
    }
    Ok(())
}

fn picture(name: &str, frame: PictureFrame, bytes: Vec<u8>) -> Result<SourcePicture, ParseError> {
    let [width, height] = frame.picture_size;
    if bytes.len() as u64 != u64::from(width) * u64::from(height) * 3 || bytes.is_empty() {
        return Err(worker_failed(name, "it sent a picture that cannot be"));
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
            Frame::Text(_) => {
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
