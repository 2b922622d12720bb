//! Errors as they cross the bridge: a code the window has words for, the technical message, whose fault it was.

use serde::Serialize;
use specta::Type;
use zhiku_engine::EngineError;

use super::dto::mirrored;

mirrored!(
    /// Codes on which the window branches.
    ErrorCode = zhiku_core::ErrorCode {
        NotFound, Denied, InvalidInput, VaultLocked, VaultTooNew, ModelMissing, ModelDamaged, ModelCrashed,
        PasswordRequired, UnsupportedFormat, DamagedFile, KeyMissing, KeyRejected, RateLimited, Timeout, Network,
        Cancelled, BudgetExhausted, KeychainUnavailable, Internal,
    }
);
mirrored!(
    /// Whose fault an error is.
    Fault = zhiku_core::Fault { User, Environment, Bug }
);

/// What a command answers when it cannot do what was asked.
#[derive(Clone, Debug, Serialize, Type)]
pub struct IpcError {
    pub code: ErrorCode,
    pub message: String,
    pub hint: Option<String>,
    pub fault: Fault,
    pub retryable: bool,
}

impl IpcError {
    /// Something of ours did not do what it must.
    pub fn bug(message: impl Into<String>) -> Self {
        EngineError::bug(message).into()
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        EngineError::invalid(message).into()
    }

    pub fn not_found(what: &str) -> Self {
        EngineError::not_found(what).into()
    }

    /// The system stood in the way. The message names what was attempted, never a path.
    pub fn environment(attempted: &str, error: &std::io::Error) -> Self {
        Self {
            code: ErrorCode::Internal,
            message: format!("could not {attempted}: {}", error.kind()),
            hint: None,
            fault: Fault::Environment,
            retryable: true,
        }
    }
}

impl From<EngineError> for IpcError {
    fn from(error: EngineError) -> Self {
        // The one place where the window's errors are logged.
        if error.fault == zhiku_core::Fault::Bug {
            tracing::error!(code = error.code.as_str(), message = error.message, "an action failed");
        }
        Self {
            code: error.code.into(),
            message: error.message,
            hint: error.hint,
            fault: error.fault.into(),
            retryable: error.retryable,
        }
    }
}
