//! The retriever: a vault, an embedder if there is one, and what was fixed about ranking.

use std::sync::Arc;

use zhiku_core::model::Embedder;
use zhiku_core::{RunContext, SearchQuery, SearchResponse, Stage};
use zhiku_vault::{Scope, SearchFilter, Vault};

use crate::assess::Thresholds;
use crate::language::LanguageMeans;
use crate::machine::Limits;
use crate::outcome::{EvidenceResult, RetrievalError};
use crate::run::Run;
use crate::search;

/// Depths and limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetrievalConfig {
    /// Candidates of each route.
    pub recall_depth: usize,
    /// How many of the fused candidates in the question's language are reranked.
    pub rerank_depth: usize,
    /// And at least this many in the other language, when there are such.
    pub cross_depth: usize,
    /// The most pieces of evidence of one run.
    pub max_evidence: usize,
    pub limits: Limits,
    pub thresholds: Thresholds,
}

impl Default for RetrievalConfig {
    fn default() -> Self {
        Self {
            recall_depth: 100,
            rerank_depth: 20,
            cross_depth: 10,
            max_evidence: 8,
            limits: Limits::default(),
            thresholds: Thresholds::default(),
        }
    }
}

/// A question, and which documents it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    pub text: String,
    pub filter: SearchFilter,
}

/// Finds. Calls block; keep them off the async threads.
#[derive(Clone)]
pub struct Retriever {
    pub(crate) vault: Vault,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    pub(crate) means: Arc<LanguageMeans>,
    pub(crate) config: RetrievalConfig,
}

impl Retriever {
    /// Without an embedder words decide alone, and every result says so.
    pub fn new(
        vault: Vault,
        embedder: Option<Arc<dyn Embedder>>,
        means: Arc<LanguageMeans>,
        config: RetrievalConfig,
    ) -> Self {
        Self { vault, embedder, means, config }
    }

    pub fn config(&self) -> &RetrievalConfig {
        &self.config
    }

    /// One ranked list of `query.k` chunks.
    pub fn search(
        &self,
        scope: &Scope,
        query: &SearchQuery,
        filter: &SearchFilter,
        ctx: &RunContext,
    ) -> Result<SearchResponse, RetrievalError> {
        search::search(self, scope, query, filter, ctx)
    }

    /// The evidence for a question. Never fails: what went wrong is part of the result. `observer` learns what is being done.
    pub fn retrieve(
        &self,
        scope: &Scope,
        question: &Question,
        ctx: &RunContext,
        observer: &mut dyn FnMut(Stage),
    ) -> EvidenceResult {
        Run::new(self, scope, question, ctx).drive(observer)
    }
}
