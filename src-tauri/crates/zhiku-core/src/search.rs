//! The two seams over which evaluation runs the product's own code.

use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::evidence::Scores;
use crate::ids::{ChunkId, DocumentId, UnitId, VersionNumber};
use crate::locator::Locator;
use crate::run::RunContext;

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchMode {
    Lexical,
    Dense,
    Hybrid,
    Rerank,
}

impl SearchMode {
    pub fn from_text(text: &str) -> Option<Self> {
        match text {
            "lexical" => Some(Self::Lexical),
            "dense" => Some(Self::Dense),
            "hybrid" => Some(Self::Hybrid),
            "rerank" => Some(Self::Rerank),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct SearchQuery {
    pub text: String,
    pub k: usize,
    pub mode: SearchMode,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchHit {
    pub document: DocumentId,
    pub version: VersionNumber,
    pub title: String,
    pub unit_id: UnitId,
    pub chunk_id: ChunkId,
    pub locator: Locator,
    pub text: String,
    pub scores: Scores,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchResponse {
    pub hits: Vec<SearchHit>,
    pub took_ms: f64,
    /// Why a route could not be used, as reason codes (`dense_unavailable` …).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub route_degraded: Vec<crate::Reason>,
}

/// Finds passages. The scope is closed over by the implementation.
pub trait Searcher: Send + Sync {
    fn search(
        &self,
        query: &SearchQuery,
        ctx: &RunContext,
    ) -> Result<SearchResponse, crate::model::ModelError>;
}

/// Answers a question.
pub trait Answerer: Send + Sync {
    fn answer(&self, question: &str, ctx: &RunContext) -> Result<Answer, crate::model::ModelError>;
}
