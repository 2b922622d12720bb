//! The ways a model fails, as `ModelError`.

use std::path::Path;

use zhiku_core::model::ModelError;
use zhiku_core::{ErrorCode, Fault};

const FETCH_HINT: &str = "run `zhiku models fetch`";

pub(crate) fn missing(what: &str, path: &Path) -> ModelError {
    ModelError {
        code: ErrorCode::ModelMissing,
        fault: Fault::Environment,
        message: format!("could not find {what} at {}", path.display()),
        hint: Some(FETCH_HINT.to_owned()),
        retryable: false,
    }
}

pub(crate) fn damaged(what: &str, path: &Path, cause: impl std::fmt::Display) -> ModelError {
    ModelError {
        code: ErrorCode::ModelDamaged,
        fault: Fault::Environment,
        message: format!("could not load {what} from {}: {cause}", path.display()),
        hint: Some(FETCH_HINT.to_owned()),
        retryable: false,
    }
}

/// The model is loaded anew for the next piece of work, so trying again makes sense.
pub(crate) fn crashed(model: &str, cause: impl std::fmt::Display) -> ModelError {
    ModelError {
        code: ErrorCode::ModelCrashed,
        fault: Fault::Bug,
        message: format!("model {model} stopped while working: {cause}"),
        hint: None,
        retryable: true,
    }
}

pub(crate) fn internal(message: String) -> ModelError {
    ModelError { code: ErrorCode::Internal, fault: Fault::Bug, message, hint: None, retryable: false }
}

/// [`missing`] when no such file is there.
pub(crate) fn require_file(what: &str, path: &Path) -> Result<(), ModelError> {
    if path.is_file() { Ok(()) } else { Err(missing(what, path)) }
}
