//! The façade: one method per user action, for the window and the command line alike.
//!
//! [`Engine`] is one process's application folder; [`Session`] is one principal in one vault. This is the only place that
//! names concrete models and wires them to the traits of core. Deliberately absent: windows, argument parsing, and any
//! rule about content: those live in the crates below.

mod ask;
mod doctor;
mod engine;
mod error;
mod evaluate;
mod library;
mod models;
mod people;
mod providers;
mod queue;
mod recognize;
mod runs;
mod session;
mod sheets;
mod viewer;
mod watch;

pub use ask::{AskRequest, EventReceiver, RunHandle, WriterChoice, recv_event};
pub use doctor::{Check, CheckState, Diagnosis};
pub use engine::{Engine, EngineConfig};
pub use error::{EngineError, Result};
pub use evaluate::{AnswersReport, PageSet, RetrievalSet};
pub use library::{ImportedFile, awaits_password};
pub use models::{ModelEntry, ModelState, Models};
pub use people::RuleChange;
pub use providers::{KeyState, ProviderStatus};
pub use recognize::{Transcript, TranscriptSegment};
pub use runs::ConversationTurn;
pub use session::Session;
pub use sheets::{Sheet, SheetCell, SheetCells, SheetStretch};
pub use tokio_util::sync::CancellationToken;
pub use viewer::{CitedPlace, SourceUnit, SourceView};
pub use zhiku_ingest::governor::GovernorSettings;
pub use zhiku_ingest::{FolderLook, ImportProgress};
pub use zhiku_llm::{PRESETS, Preset, ProviderConfig, ProviderKind, Secret};
pub use zhiku_parse::report::ParseReport;
pub use zhiku_vault::{
    AccessMode, ChangeExtent, Conversation, Department, DocumentAccess, DocumentDetail, DocumentPage,
    DocumentSummary, Job, JobState, KILL_POINTS, Member, ObjectFile, Principal, Profile, Progress, Receipt,
    RegisterOutcome, RunState, RunSummary, SearchFilter, StoreReceipt, VaultDigest, VaultEntry,
    VersionDetail, VersionRef, WatchedFolder, WorkSummary,
};

/// Call first thing in `main`: when this process was started to run a parser, it does that and exits.
pub fn run_worker_if_asked() {
    zhiku_parse::worker::run_if_asked();
}
