//! What can go wrong with a recording: whose fault it is, and what the user can do.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use zhiku_core::model::ModelError;
use zhiku_core::{ErrorCode, Fault, Stopped};

#[derive(Debug, thiserror::Error)]
pub enum MediaError {
    #[error("could not read {path}: {source}")]
    Read { path: PathBuf, source: io::Error },
    #[error("could not read {path}: ffmpeg is needed for {what} and was not found")]
    NeedsFfmpeg { path: PathBuf, what: String },
    #[error("could not read {path}: {detail}")]
    Damaged { path: PathBuf, detail: String },
    #[error("{path} has no sound")]
    NoSound { path: PathBuf },
    #[error("{path} has no picture")]
    NoPicture { path: PathBuf },
    #[error("could not extract subtitles {index} of {path}: they are pictures or not there")]
    NoSubtitles { path: PathBuf, index: usize },
    #[error("could not {what} {path} within {limit:?}")]
    TooSlow { what: &'static str, path: PathBuf, limit: Duration },
    #[error("could not run {tool}: {detail}")]
    Tool { tool: PathBuf, detail: String },
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl MediaError {
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.to_owned(), source }
    }

    pub(crate) fn damaged(path: &Path, detail: impl ToString) -> Self {
        Self::Damaged { path: path.to_owned(), detail: detail.to_string() }
    }

    /// What is told to the user and stored with the job.
    pub fn reason_code(&self) -> &'static str {
        match self {
            Self::Read { .. } => "media_unreadable",
            Self::NeedsFfmpeg { .. } => "needs_ffmpeg",
            Self::Damaged { .. } => "media_damaged",
            Self::NoSound { .. } => "media_without_sound",
            Self::NoPicture { .. } => "media_without_picture",
            Self::NoSubtitles { .. } => "subtitles_not_text",
            Self::TooSlow { .. } => "media_too_slow",
            Self::Tool { .. } => "ffmpeg_failed",
            Self::Model(error) => error.code.as_str(),
            Self::Stopped(Stopped::Cancelled) => "cancelled",
            Self::Stopped(Stopped::Deadline) => "timeout",
        }
    }

    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => ErrorCode::NotFound,
            Self::Read { .. } | Self::Tool { .. } => ErrorCode::Internal,
            Self::NeedsFfmpeg { .. } | Self::NoSubtitles { .. } => ErrorCode::UnsupportedFormat,
            Self::Damaged { .. } => ErrorCode::DamagedFile,
            Self::NoSound { .. } | Self::NoPicture { .. } => ErrorCode::InvalidInput,
            Self::TooSlow { .. } | Self::Stopped(Stopped::Deadline) => ErrorCode::Timeout,
            Self::Model(error) => error.code,
            Self::Stopped(Stopped::Cancelled) => ErrorCode::Cancelled,
        }
    }

    pub fn fault(&self) -> Fault {
        match self {
            Self::Read { .. } | Self::NeedsFfmpeg { .. } | Self::Tool { .. } | Self::TooSlow { .. } => {
                Fault::Environment
            }
            Self::Model(error) => error.fault,
            _ => Fault::User,
        }
    }

    /// What the reader can do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::NeedsFfmpeg { .. } => Some(
                "install ffmpeg (Debian and Ubuntu: `apt install ffmpeg`, macOS: `brew install ffmpeg`, Windows: \
                      `winget install ffmpeg`) or name it in ZHIKU_FFMPEG, then import the file again",
            ),
            Self::Damaged { .. } => {
                Some("check whether the recording plays elsewhere, or convert it to mp4 or mp3")
            }
            Self::Tool { .. } => Some("check that ffmpeg runs in a terminal"),
            Self::Model(error) => error.hint.as_deref(),
            _ => None,
        }
    }
}
