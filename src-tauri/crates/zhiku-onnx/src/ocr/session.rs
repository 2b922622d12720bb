//! The three sessions and what they need beside a file.

use std::num::NonZeroUsize;
use std::path::Path;

use ort::environment::Environment;
use ort::session::Session;
use zhiku_core::RunContext;
use zhiku_core::model::{ModelError, Priority};

use super::recognize::{CHARACTERS_KEY, Characters};
use crate::failure;
use crate::session_thread::SessionThread;

pub(crate) const DETECTION: &str = "the model that finds text";
pub(crate) const DIRECTION: &str = "the model that tells which way up text is";
pub(crate) const RECOGNITION: &str = "the model that reads text";

/// A thread with the model loaded.
pub(crate) fn start(
    environment: &Environment,
    what: &'static str,
    model: &Path,
    intra_threads: NonZeroUsize,
) -> Result<SessionThread, ModelError> {
    let name = model.file_stem().map_or_else(|| "ocr".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let thread = SessionThread::spawn(&name, {
        let (environment, model) = (environment.clone(), model.to_owned());
        move || load(&environment, what, &model, intra_threads)
    })?;
    // Loads it now, so that a damaged file is found here.
    thread.run(Priority::Interactive, &RunContext::background(), |_, _| Ok(()))?;
    Ok(thread)
}

/// The characters that a recognition model carries with it.
pub(crate) fn characters(recognition: &SessionThread, model: &Path) -> Result<Characters, ModelError> {
    let listed = recognition.run(Priority::Interactive, &RunContext::background(), |session, _| {
        Ok(session.metadata()?.custom(CHARACTERS_KEY))
    })?;
    let listed = listed
        .ok_or_else(|| failure::damaged(RECOGNITION, model, "it does not say which characters it knows"))?;
    Ok(Characters::parse(&listed))
}

fn load(
    environment: &Environment,
    what: &str,
    model: &Path,
    intra_threads: NonZeroUsize,
) -> Result<Session, ModelError> {
    failure::require_file(what, model)?;
    let commit = || -> Result<Session, ort::Error> {
        let mut builder = Session::builder(environment)?
            .with_intra_threads(intra_threads.get())?
            // Waiting threads sleep: spinning takes the processor from everything else.
            .with_intra_op_spinning(false)?
            // Sizes differ from run to run, so a remembered memory plan would not fit.
            .with_memory_pattern(false)?;
        builder.commit_from_file(model)
    };
    let session = commit().map_err(|error| failure::damaged(what, model, error))?;
    if session.inputs().len() != 1 || session.outputs().len() != 1 {
        return Err(failure::damaged(what, model, "it has not one input and one output"));
    }
    Ok(session)
}
