//! From a dropped file to a published version.
//!
//! [`import_path`] takes the bytes in and queues a job; [`Pipeline`] works the queue in three lanes. The text lane parses,
//! chunks and publishes a first version by its words; the recognition lane reads scans and pictures and hears sound, when
//! the text lane has nothing to do; the vector lane embeds and makes versions hybrid, or switches a replacing one. The queue
//! and every stage's result are in the vault: after a crash the lanes go on where the last batch was stored. How much of the
//! machine they take is decided in [`governor`]; [`FolderWatch`] takes in what changes in watched folders. Deliberately absent: formats (`zhiku-parse`), decoding sound (`zhiku-media`), rows and indexes (`zhiku-vault`), models (traits of core).

mod chunk_stage;
mod folder_look;
mod folder_watch;
pub mod governor;
mod guard;
mod halt;
mod import;
mod job_end;
mod lanes;
mod media_kind;
mod media_stage;
mod passwords;
mod pictures;
mod pipeline;
mod progress;
mod ready;
mod recognition_lane;
mod recognized_text;
mod shared;
mod spoken;
mod text_lane;
mod tokens;
mod vector_lane;
mod walk;

pub use folder_look::{FolderLook, look_at_folder};
pub use folder_watch::{FolderWatch, ScopeSource};
pub use import::{Imported, Passage, import_passage, import_path};
pub use pipeline::{Hearing, MachineSource, ModelSource, ModelSources, Pipeline, PipelineConfig, Waker};
pub use progress::ImportProgress;
pub use recognized_text::compose;
pub use walk::{IgnoreError, IgnoreRules, files_below};
