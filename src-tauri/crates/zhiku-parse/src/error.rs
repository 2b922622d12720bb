//! Why a file could not be read, said so that a person knows what to do next.

use serde::{Deserialize, Serialize};
use zhiku_core::{ErrorCode, Fault, Reason};

/// Travels from the worker process to its parent, so every part of it is plain data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum ParseError {
    #[error("could not open {name}: it is protected by a password")]
    PasswordRequired { name: String },
    #[error("could not open {name}: the password is wrong")]
    WrongPassword { name: String },
    #[error("could not read {name}: the file is damaged ({detail})")]
    Damaged { name: String, detail: String },
    #[error("could not read {name}: the file is empty")]
    Empty { name: String },
    #[error("could not read {name}: {detail} files are not supported")]
    Unsupported { name: String, detail: String },
    #[error("could not read {name}: {bytes} bytes are more than the limit of {limit}")]
    TooLarge { name: String, bytes: u64, limit: u64 },
    /// `what` is `time`, `memory`, `restarts`, `units`, `nesting` or the like.
    #[error("could not read {name}: the limit of {what} was reached")]
    LimitExceeded { name: String, what: String },
    /// The worker process died and nothing of the file could be saved.
    #[error("could not read {name}: the parser stopped working ({detail})")]
    WorkerFailed { name: String, detail: String },
    /// A library or program that the format needs is not there or not usable.
    #[error("could not use {library}: {detail}")]
    LibraryMissing { library: Library, detail: String },
    #[error("could not {attempt}: {detail}")]
    Io { attempt: String, detail: String },
    #[error("could not find the place {place} in {name}")]
    NoSuchPlace { name: String, place: String },
    #[error("reading {name} was cancelled")]
    Cancelled { name: String },
}

/// What a format may need that is not part of this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Library {
    Pdfium,
    /// Converts the formats of old Office.
    LibreOffice,
}

impl std::fmt::Display for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Pdfium => "PDFium",
            Self::LibreOffice => "LibreOffice",
        })
    }
}

impl ParseError {
    pub fn damaged(name: &str, detail: impl ToString) -> Self {
        Self::Damaged { name: name.to_owned(), detail: detail.to_string() }
    }

    pub fn code(&self) -> ErrorCode {
        match self {
            Self::PasswordRequired { .. } | Self::WrongPassword { .. } => ErrorCode::PasswordRequired,
            Self::Damaged { .. } | Self::Empty { .. } | Self::WorkerFailed { .. } => ErrorCode::DamagedFile,
            Self::Unsupported { .. } => ErrorCode::UnsupportedFormat,
            Self::TooLarge { .. } => ErrorCode::InvalidInput,
            Self::LimitExceeded { .. } => ErrorCode::BudgetExhausted,
            Self::LibraryMissing { .. } => ErrorCode::ModelMissing,
            Self::NoSuchPlace { .. } => ErrorCode::NotFound,
            Self::Cancelled { .. } => ErrorCode::Cancelled,
            Self::Io { .. } => ErrorCode::Internal,
        }
    }

    pub fn fault(&self) -> Fault {
        match self {
            Self::LibraryMissing { .. } | Self::Io { .. } => Fault::Environment,
            Self::NoSuchPlace { .. } => Fault::Bug,
            _ => Fault::User,
        }
    }

    /// What is stored and shown in the reader's language.
    pub fn reason(&self) -> Reason {
        match self {
            Self::PasswordRequired { name } => Reason::new("password_required").with("name", name),
            Self::WrongPassword { name } => Reason::new("wrong_password").with("name", name),
            Self::Damaged { name, detail } => {
                Reason::new("file_damaged").with("name", name).with("detail", detail)
            }
            Self::Empty { name } => Reason::new("file_empty").with("name", name),
            Self::Unsupported { name, detail } => {
                Reason::new("format_unsupported").with("name", name).with("format", detail)
            }
            Self::TooLarge { name, bytes, limit } => {
                Reason::new("file_too_large").with("name", name).with("bytes", bytes).with("limit", limit)
            }
            Self::LimitExceeded { name, what } => {
                Reason::new("parse_limit_exceeded").with("name", name).with("what", what)
            }
            Self::WorkerFailed { name, detail } => {
                Reason::new("parser_crashed").with("name", name).with("detail", detail)
            }
            Self::LibraryMissing { library: Library::LibreOffice, detail } => {
                Reason::new("needs_libreoffice").with("detail", detail)
            }
            Self::LibraryMissing { library, detail } => {
                Reason::new("library_missing").with("library", library).with("detail", detail)
            }
            Self::Io { attempt, detail } => {
                Reason::new("io_failed").with("attempt", attempt).with("detail", detail)
            }
            Self::NoSuchPlace { name, place } => {
                Reason::new("no_such_place").with("name", name).with("place", place)
            }
            Self::Cancelled { name } => Reason::new("cancelled").with("name", name),
        }
    }

    /// What the user can do, in English; the window shows the translation that belongs to [`Self::reason`].
    pub fn hint(&self) -> &'static str {
        match self {
            Self::PasswordRequired { .. } => "give the file's password and try again",
            Self::WrongPassword { .. } => "check the password and try again",
            Self::Damaged { .. } => {
                "open the file in its own program, save it again, and import the new copy"
            }
            Self::Empty { .. } => "choose a file that has content",
            Self::Unsupported { .. } => {
                "save the file as PDF, Word, PowerPoint, Excel, HTML or text and import that"
            }
            Self::TooLarge { .. } => "split the file into smaller ones",
            Self::LimitExceeded { .. } => "split the file, or raise the parser's limits in the settings",
            Self::WorkerFailed { .. } => "print the file to a new PDF and import that",
            Self::LibraryMissing { library: Library::LibreOffice, .. } => {
                "install LibreOffice, or save the file as .docx or .pptx and import that"
            }
            Self::LibraryMissing { .. } => "run the set-up again to fetch what is missing",
            Self::Io { .. } => "check that the file still exists and can be read",
            Self::NoSuchPlace { .. } => "import the file again",
            Self::Cancelled { .. } => "start it again when you want it",
        }
    }

    /// Whether the same file may succeed later without being changed.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::PasswordRequired { .. }
                | Self::WrongPassword { .. }
                | Self::LimitExceeded { .. }
                | Self::LibraryMissing { .. }
                | Self::Io { .. }
                | Self::Cancelled { .. }
        )
    }
}
