//! The vocabulary that every other crate shares: ids, documents, units, locators, chunks, evidence, answers, the run's
//! budget and cancellation, and the traits behind which models live.
//!
//! Deliberately absent: I/O of any kind, an async runtime, anything that knows a file format, a database or a provider.
//! Start reading at [`locator`] and [`evidence`]: they say what "cited to the exact place" means.

pub mod answer;
pub mod cells;
pub mod chunk;
pub mod document;
pub mod error;
pub mod evidence;
pub mod ids;
pub mod locator;
pub mod model;
pub mod reason;
pub mod recognition;
pub mod run;
pub mod search;
pub mod sentences;
pub mod token_codec;
pub mod unit;

pub use answer::{
    Answer, AnswerEvent, AnswerStatus, Citation, Claim, Confidence, ExitReason, Gap, NodeRecord, Route,
    Stage, Support, Usage,
};
pub use cells::{CellPlace, CellRange};
pub use chunk::{Chunk, ChunkKind, ChunkSpan};
pub use document::{
    AclEffect, DocumentKind, DocumentState, DocumentVisibility, Failure, JobStage, Role, Searchable, UtcMs,
};
pub use error::{ErrorCode, Fault};
pub use evidence::{Evidence, EvidenceSet, Modality, Process, Scores, Trust};
pub use ids::{
    ChunkId, ConversationId, DepartmentId, DocumentId, EvidenceId, EvidenceSetId, JobId, ProfileId, RunId,
    UnitId, VaultId, VersionNumber,
};
pub use locator::{BBox, Locator, SlidePart};
pub use reason::Reason;
pub use run::{Budget, BudgetLimits, BudgetRefused, RunContext, Stopped};
pub use search::{Answerer, SearchHit, SearchMode, SearchQuery, SearchResponse, Searcher};
pub use sentences::{LineShape, char_slice, is_cjk, line_shape, sentences};
pub use unit::{LayoutLine, ParseWarning, ParsedUnit, TimedText, UnitKind, UnitLayout, time_of};
