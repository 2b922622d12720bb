//! Evaluation: fixed question sets run through the product's own search.
//!
//! [`beir`] and [`pages`] read data sets, [`metrics`] are pure functions over ranks, [`run`] brings them together over
//! [`zhiku_core::Searcher`]. Deliberately absent: importing a corpus (the engine does that), judging answers by a model.

pub mod beir;
mod lines;
pub mod metrics;
pub mod pages;
pub mod run;

use std::path::PathBuf;

use zhiku_core::model::ModelError;

/// A data set could not be read or run.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    #[error("could not read {path}: {source}", path = path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("could not read line {line} of {path}: {message}", path = path.display())]
    Line { path: PathBuf, line: usize, message: String },
    #[error("could not evaluate: no question of the set has a passage in the corpus")]
    NoQuestions,
    #[error("could not evaluate: none of the documents {expected} was found, only {found}")]
    OtherDocuments { expected: String, found: String },
    #[error(transparent)]
    Search(#[from] ModelError),
}
