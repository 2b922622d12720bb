//! What can go wrong with model files: what was attempted, whose fault it is, what to do.

use std::io;
use std::path::{Path, PathBuf};

use zhiku_core::model::ModelError;
use zhiku_core::{ErrorCode, Fault};

#[derive(Debug, thiserror::Error)]
pub enum ModelsError {
    #[error("could not read the manifest of models: {detail}")]
    Manifest { detail: String },
    #[error("there is no model with the role or id {name} for {platform}")]
    Unknown { name: String, platform: String },
    #[error("could not find a folder for models: this user has no cache folder")]
    NoFolder,
    #[error("model {id} is not there: {file} is missing")]
    Missing { id: String, file: String },
    #[error("{what} is damaged: its sha256 is {found}, not {expected}")]
    WrongSum { what: String, expected: String, found: String },
    #[error("could not {action} {path}: {source}")]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error("could not download {url}: {detail}")]
    Network { url: String, detail: String },
    #[error("could not download {url}: the server answered {status}")]
    Refused { url: String, status: u16 },
    #[error("could not use the certificates in {path}: {detail}")]
    Certificates { path: PathBuf, detail: String },
    #[error("could not run {command}: {detail}")]
    Tool { command: String, detail: String },
    #[error("could not fetch {id} from any source: {detail}")]
    NoSource { id: String, detail: String },
    #[error("fetching {id} was cancelled")]
    Cancelled { id: String },
}

impl ModelsError {
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), source }
    }

    pub fn fault(&self) -> Fault {
        match self {
            Self::Manifest { .. }
            | Self::Unknown { .. }
            | Self::Certificates { .. }
            | Self::Cancelled { .. } => Fault::User,
            _ => Fault::Environment,
        }
    }

    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Manifest { .. } | Self::Certificates { .. } => ErrorCode::InvalidInput,
            Self::Unknown { .. } => ErrorCode::NotFound,
            Self::Missing { .. } | Self::NoSource { .. } | Self::NoFolder => ErrorCode::ModelMissing,
            Self::WrongSum { .. } => ErrorCode::ModelDamaged,
            Self::Network { .. } | Self::Refused { .. } => ErrorCode::Network,
            Self::Io { .. } | Self::Tool { .. } => ErrorCode::Internal,
            Self::Cancelled { .. } => ErrorCode::Cancelled,
        }
    }

    /// What the reader can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Missing { .. } | Self::WrongSum { .. } => "run `zhiku models fetch`",
            Self::Unknown { .. } => "`zhiku models list` shows what there is",
            Self::NoFolder => "set ZHIKU_MODELS to a folder for models",
            Self::Io { .. } => "check that the folder can be written and that the disk is not full",
            Self::Network { .. } => {
                "check the connection; HTTPS_PROXY and ZHIKU_CA_FILE are honoured, and a download resumes where it stopped"
            }
            Self::Refused { .. } => "check the address of the hub in ZHIKU_HUB",
            Self::Certificates { .. } => "ZHIKU_CA_FILE must name a file of PEM certificates",
            Self::Tool { .. } => {
                "install Python 3.11 or newer with pip and venv, and npm, and check that they reach their registries"
            }
            Self::NoSource { .. } => {
                "set ZHIKU_HUB to a model hub, or put the files listed in models/manifest.toml into the store by hand"
            }
            Self::Manifest { .. } | Self::Cancelled { .. } => return None,
        })
    }
}

impl From<ModelsError> for ModelError {
    fn from(error: ModelsError) -> Self {
        Self {
            code: error.code(),
            fault: error.fault(),
            message: error.to_string(),
            hint: error.hint().map(str::to_owned),
            retryable: matches!(error, ModelsError::Network { .. } | ModelsError::Cancelled { .. }),
        }
    }
}
