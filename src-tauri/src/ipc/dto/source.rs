//! Sources as the viewer shows them, and passages as the search finds them.

use serde::{Deserialize, Serialize};
use specta::Type;
use specta_typescript::Number;

use super::{DocumentKind, Locator, Reason, mirrored};

mirrored!(
    /// How the words came about.
    Process = zhiku_core::Process { Text, Ocr, Asr, Caption, Graph, Web }
);
mirrored!(
    /// Whether a text may be used without a word of warning.
    Trust = zhiku_core::Trust { Normal, HiddenText, InstructionsFound }
);

/// An opened version of a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct Source {
    pub document: String,
    pub version: u32,
    pub latest_version: u32,
    pub title: String,
    pub kind: DocumentKind,
    #[specta(type = Number)]
    pub size_bytes: f64,
    /// Parts that could not be read, each with its place where it is known.
    pub warnings: Vec<SourceWarning>,
    /// Names the original's bytes under `vault://`; only for kinds the window draws itself.
    pub media_ref: Option<String>,
    /// Where the player finds a recording; only for sound and video.
    pub media_url: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct SourceWarning {
    pub reason: Reason,
    pub locator: Option<Locator>,
}

/// One unit of an opened version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct SourceUnit {
    pub unit_id: String,
    pub locator: Locator,
    pub text: String,
    pub heading_path: Vec<String>,
    pub trust: Trust,
    pub process: Process,
    /// When each stretch of the text is said; empty for what has no time.
    pub timing: Vec<TimedText>,
}

/// A stretch of a unit's text and when it is said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct TimedText {
    pub char_start: u32,
    pub char_end: u32,
    #[specta(type = Number)]
    pub start_ms: f64,
    #[specta(type = Number)]
    pub end_ms: f64,
}

impl From<zhiku_core::TimedText> for TimedText {
    fn from(timed: zhiku_core::TimedText) -> Self {
        Self {
            char_start: timed.char_start,
            char_end: timed.char_end,
            start_ms: timed.start_ms as f64,
            end_ms: timed.end_ms as f64,
        }
    }
}

/// A passage found by search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct SearchHit {
    pub document: String,
    pub version: u32,
    pub title: String,
    pub unit_id: String,
    pub locator: Locator,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct SearchResult {
    pub hits: Vec<SearchHit>,
    #[specta(type = Number)]
    pub took_ms: f64,
    pub degraded: Vec<Reason>,
}
