//! What a watcher of the queue hears.

use zhiku_core::{DocumentState, JobStage, Reason};
use zhiku_vault::VersionRef;

/// One step of one version's way. `done` and `total` count units while parsing, chunks while embedding.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportProgress {
    pub version: VersionRef,
    pub state: DocumentState,
    pub stage: JobStage,
    pub done: u32,
    pub total: u32,
    /// Why it failed, or why it stays without vectors for now.
    pub reason: Option<Reason>,
    /// Nothing more will come for this version, for now.
    pub settled: bool,
}
