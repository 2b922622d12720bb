//! Identifiers. Each is a newtype, so one can never stand where another is meant.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! uuid_ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A fresh UUIDv7: ids made later sort later.
            #[expect(clippy::new_without_default, reason = "a default id would be a new id each time")]
            pub fn new() -> Self {
                Self(Uuid::now_v7())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self)
            }
        }
    )+};
}

uuid_ids!(
    /// A local user of the application.
    ProfileId,
    /// One directory with documents, indexes and runs.
    VaultId,
    /// A managed source; its states are versions.
    DocumentId,
    /// The smallest locatable piece of one version.
    UnitId,
    /// Text cut from units for recall.
    ChunkId,
    /// A group of members that document rules can name.
    DepartmentId,
    /// One entry of the persistent job queue.
    JobId,
    /// A thread of questions and answers.
    ConversationId,
    /// One question's execution.
    RunId,
    /// The frozen list of evidence that one answer may cite.
    EvidenceSetId,
);

/// Counts the immutable states of one document, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct VersionNumber(pub u32);

impl fmt::Display for VersionNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Names evidence inside one run: `D1` for documents, `G1` for graph paths, `S1` for web results.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EvidenceId(pub String);

impl EvidenceId {
    /// The id of the `n`-th document evidence, from 1.
    pub fn document(n: usize) -> Self {
        Self(format!("D{n}"))
    }
}

impl fmt::Display for EvidenceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
