//! Reasons that a person can see or that are stored: a code and its arguments, rendered in the reader's language by the
//! user interface. Persisted: changes need a migration.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `{code, args}`, for example `{"code": "pdf_encrypted", "args": {"name": "a.pdf"}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    pub code: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub args: BTreeMap<String, String>,
}

impl Reason {
    pub fn new(code: impl Into<String>) -> Self {
        Self { code: code.into(), args: BTreeMap::new() }
    }

    /// Adds one argument.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.args.insert(name.to_owned(), value.to_string());
        self
    }
}
