//! Files with one record per line.

use std::path::Path;

use serde::de::DeserializeOwned;

use crate::EvalError;

/// The lines that are not empty, numbered from 1.
pub(crate) fn read_lines(path: &Path) -> Result<Vec<(usize, String)>, EvalError> {
    let text =
        std::fs::read_to_string(path).map_err(|source| EvalError::Io { path: path.to_owned(), source })?;
    let numbered = text.lines().enumerate().map(|(i, line)| (i + 1, line.to_owned()));
    Ok(numbered.filter(|(_, line)| !line.trim().is_empty()).collect())
}

/// JSON lines.
pub(crate) fn read_records<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, EvalError> {
    read_lines(path)?
        .into_iter()
        .map(|(line, text)| {
            serde_json::from_str(&text).map_err(|error| bad_line(path, line, &error.to_string()))
        })
        .collect()
}

pub(crate) fn bad_line(path: &Path, line: usize, message: &str) -> EvalError {
    EvalError::Line { path: path.to_owned(), line, message: message.to_owned() }
}
