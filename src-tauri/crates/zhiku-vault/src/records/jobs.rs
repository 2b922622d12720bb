//! The import queue.

use serde::{Deserialize, Serialize};
use zhiku_core::{DocumentId, Failure, JobId, JobStage, UtcMs};

use super::VersionRef;

/// What is left in the queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkSummary {
    pub n_open: u32,
    /// The one that is under way, or that is next.
    pub current: Option<CurrentWork>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentWork {
    pub document: DocumentId,
    pub title: String,
    pub progress: Progress,
}

/// How far the newest version's job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    pub stage: JobStage,
    pub done: u32,
    pub total: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// From source bytes to a published version.
    Import,
    /// Vectors of a published version again, because the model or the chunker changed or a store was lost.
    Embed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    Queued,
    Running,
    Done,
    Failed,
    Cancelled,
}

/// Who works on a job next. Persisted: changes need a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobLane {
    /// From bytes to text, chunks and a publication by words.
    Text,
    /// Words in scans, pictures, sound and video.
    Recognition,
    Vectors,
    /// Nobody, until a model is there.
    AwaitsModel,
}

/// One entry of the persistent queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    pub job_id: JobId,
    pub version: VersionRef,
    pub kind: JobKind,
    pub state: JobState,
    pub progress: Progress,
    /// How often it was started.
    pub attempts: u32,
    pub failure: Option<Failure>,
    pub created: UtcMs,
    /// Lower goes first.
    pub priority: i32,
    pub lane: JobLane,
}
