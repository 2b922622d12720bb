//! The ways recognition fails, as `ModelError`.

use std::path::Path;

use zhiku_core::model::ModelError;
use zhiku_core::{ErrorCode, Fault};

const FETCH_HINT: &str = "run `zhiku models fetch`";

pub(crate) fn missing(path: &Path) -> ModelError {
    ModelError {
        code: ErrorCode::ModelMissing,
        fault: Fault::Environment,
        message: format!("could not find the model of speech recognition at {}", path.display()),
        hint: Some(FETCH_HINT.to_owned()),
        retryable: false,
    }
}

pub(crate) fn damaged(path: &Path, cause: impl std::fmt::Display) -> ModelError {
    ModelError {
        code: ErrorCode::ModelDamaged,
        fault: Fault::Environment,
        message: format!("could not load the model of speech recognition from {}: {cause}", path.display()),
        hint: Some(FETCH_HINT.to_owned()),
        retryable: false,
    }
}

/// The library would end the program with an illegal instruction.
pub(crate) fn processor_too_old() -> ModelError {
    ModelError {
        code: ErrorCode::ModelMissing,
        fault: Fault::Environment,
        message: "could not start speech recognition: this processor has no AVX2".to_owned(),
        hint: Some("recordings need a processor made after 2013 to be transcribed".to_owned()),
        retryable: false,
    }
}

pub(crate) fn crashed(cause: impl std::fmt::Display) -> ModelError {
    ModelError {
        code: ErrorCode::ModelCrashed,
        fault: Fault::Bug,
        message: format!("speech recognition stopped while working: {cause}"),
        hint: None,
        retryable: true,
    }
}

pub(crate) fn too_long(n_samples: usize, most: usize) -> ModelError {
    ModelError {
        code: ErrorCode::InvalidInput,
        fault: Fault::Bug,
        message: format!("could not transcribe {n_samples} samples at once: {most} are the most"),
        hint: None,
        retryable: false,
    }
}
