//! Documents and the work on them.

use serde::{Deserialize, Serialize};
use specta::Type;
use specta_typescript::Number;

use super::{Reason, mirrored};

mirrored!(
    /// What kind of source a document is.
    DocumentKind = zhiku_core::DocumentKind {
        Pdf, Docx, Markdown, Html, Text, Csv, Pptx, Xlsx, Xls, Odt, Ods, Odp, Doc, Ppt, Rtf, Epub, Email, Archive, Json,
        Code, Subtitles, Image, Audio, Video,
    }
);
mirrored!(
    /// The life cycle of a version.
    DocumentState = zhiku_core::DocumentState {
        Queued, Parsing, Indexing, Ready, Published, Failed, Superseded, Deleted,
    }
);
mirrored!(
    /// How a published version can be found.
    Searchable = zhiku_core::Searchable { Lexical, Hybrid }
);
mirrored!(
    /// The stages of an import.
    JobStage = zhiku_core::JobStage { Detect, Parse, Recognize, Chunk, PublishLexical, Embed, Publish, Done }
);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct Failure {
    pub reason: Reason,
    pub retryable: bool,
}

/// One document of the library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct DocumentRow {
    pub document: String,
    pub title: String,
    pub kind: DocumentKind,
    pub version: u32,
    pub state: DocumentState,
    pub searchable: Option<Searchable>,
    /// The step of the import that is under way, with `done` of `total`.
    pub stage: Option<JobStage>,
    pub done: u32,
    pub total: u32,
    pub failure: Option<Failure>,
    /// Parts that could not be read; the source view names them.
    pub warnings: u32,
    #[specta(type = Number)]
    pub size_bytes: f64,
    #[specta(type = Number)]
    pub updated_ms: f64,
    /// The file that it was imported from is not there any more; the library has its own copy.
    pub source_missing: bool,
}

/// A stretch of the library, for lists that show only what is on screen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct LibraryPage {
    pub total: u32,
    /// Documents of the whole library that failed and may be tried again.
    pub retryable: u32,
    pub offset: u32,
    pub rows: Vec<DocumentRow>,
}

/// What the import queue does now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct WorkStatus {
    pub files_left: u32,
    pub current_title: Option<String>,
    pub stage: Option<JobStage>,
    pub done: u32,
    pub total: u32,
    /// Steps of the current stage per second.
    #[specta(type = Option<Number>)]
    pub per_second: Option<f64>,
    #[specta(type = Option<Number>)]
    pub seconds_left: Option<f64>,
    pub paused: bool,
    /// Why it waits that nobody paused: `disk_full`, `memory_full`.
    pub waits: Option<Reason>,
}

/// What an import took in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct ImportReceipt {
    pub accepted: u32,
    pub n_rejected: u32,
    /// The first of them.
    pub rejected: Vec<RejectedFile>,
}

/// A file that was not taken in. `name` is the file's name, not its path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct RejectedFile {
    pub name: String,
    pub reason: Reason,
}

/// Where documents come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ImportChoice {
    Files,
    Folder,
    Sample,
}

/// How much of the machine imports may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ImportSettings {
    /// Threads of one inference; nothing leaves it to the machine.
    pub threads: Option<u32>,
    /// Processors of this machine.
    pub processors: u32,
    /// Fewer threads, and way for other programs.
    pub keep_usable: bool,
}

/// A folder whose files are taken in by themselves. Its path stays on this side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct WatchedFolder {
    pub id: String,
    pub name: String,
    /// Whether it is there now.
    pub present: bool,
    /// Patterns as in `.gitignore` of what is left out.
    pub ignore: Vec<String>,
}
