//! From a dropped file to a published version.
//!
//! [`import_path`] takes the bytes in and queues a job; [`Pipeline`] works the queue in two lanes. The text lane parses,
//! chunks and publishes a first version by its words; the vector lane embeds and makes it hybrid, or switches a replacing
//! version. The queue and every stage's result are in the vault: after a crash the lanes go on where the last batch was
//! stored. Deliberately absent: formats (`zhiku-parse`), rows and indexes (`zhiku-vault`), models (a trait of core).

mod guard;
mod import;
mod pipeline;
mod progress;
mod text_lane;
mod tokens;
mod vector_lane;
mod walk;

pub use import::{Imported, Passage, import_passage, import_path};
pub use pipeline::{EmbedderSource, Pipeline, PipelineConfig};
pub use progress::ImportProgress;
pub use walk::files_below;
