//! The one ONNX Runtime of the process.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use ort::environment::Environment;
use zhiku_core::model::ModelError;

use crate::failure;

/// ONNX Runtime allows one environment per process, and `ort` itself holds it only weakly.
static ENVIRONMENT: Mutex<Option<Environment>> = Mutex::new(None);

/// Loads ONNX Runtime from its library on the first call. Later calls return the environment that is there already,
/// whatever their path. Safe to call from several threads, and again after a failure.
pub fn load_runtime(library: &Path) -> Result<Environment, ModelError> {
    let mut current = ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = current.as_ref() {
        return Ok(environment.clone());
    }
    failure::require_file("ONNX Runtime", library)?;
    let damaged = |cause: String| failure::damaged("ONNX Runtime", library, cause);
    let environment = ort::init_from(library)
        .map_err(|error| damaged(error.to_string()))?
        .with_name("zhiku")
        .with_telemetry(false)
        .build()
        .map_err(|error| damaged(error.to_string()))?;
    Ok(current.insert(environment).clone())
}
