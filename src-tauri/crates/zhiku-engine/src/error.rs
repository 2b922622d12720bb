//! One error for every action: what failed, whose fault it was, what to do.

use serde::Serialize;
use zhiku_core::model::ModelError;
use zhiku_core::{ErrorCode, Fault};
use zhiku_parse::ParseError;
use zhiku_vault::VaultError;

/// What a consumer gets; also the `error` object of the command line.
#[derive(Clone, Debug, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct EngineError {
    pub code: ErrorCode,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    pub fault: Fault,
    pub retryable: bool,
}

/// Shorthand of this crate.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

impl EngineError {
    pub fn invalid(message: impl Into<String>) -> Self {
        Self {
            code: ErrorCode::InvalidInput,
            message: message.into(),
            hint: None,
            fault: Fault::User,
            retryable: false,
        }
    }

    pub fn not_found(what: &str) -> Self {
        Self {
            code: ErrorCode::NotFound,
            message: format!("could not find {what}"),
            hint: None,
            fault: Fault::User,
            retryable: false,
        }
    }

    /// A stream of an answer that ended without its last event.
    pub fn incomplete_answer() -> Self {
        Self {
            code: ErrorCode::Internal,
            message: "the answer ended before it was complete".to_owned(),
            hint: Some("ask again; nothing is lost".to_owned()),
            fault: Fault::Environment,
            retryable: true,
        }
    }

    /// Something of ours did not do what it must.
    pub fn bug(message: impl Into<String>) -> Self {
        Self {
            code: ErrorCode::Internal,
            message: message.into(),
            hint: None,
            fault: Fault::Bug,
            retryable: false,
        }
    }

    pub(crate) fn io(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self {
            code: ErrorCode::InvalidInput,
            message: format!("could not access {}: {source}", path.display()),
            hint: None,
            fault: Fault::Environment,
            retryable: true,
        }
    }

    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<VaultError> for EngineError {
    fn from(error: VaultError) -> Self {
        Self {
            code: error.code(),
            message: error.to_string(),
            hint: error.hint(),
            fault: error.fault(),
            retryable: error.retryable(),
        }
    }
}

impl From<ParseError> for EngineError {
    fn from(error: ParseError) -> Self {
        Self {
            code: error.code(),
            message: error.to_string(),
            hint: Some(error.hint().to_owned()),
            fault: error.fault(),
            retryable: error.is_retryable(),
        }
    }
}

impl From<ModelError> for EngineError {
    fn from(error: ModelError) -> Self {
        Self {
            code: error.code,
            message: error.message,
            hint: error.hint,
            fault: error.fault,
            retryable: error.retryable,
        }
    }
}
