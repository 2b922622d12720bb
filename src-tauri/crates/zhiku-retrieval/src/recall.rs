//! Recall: what a query finds by words, by vectors, and by vectors without their language. The scope is inside each of them.
//!
//! The third route exists for vaults in two languages. A plain scan brings passages of the question's own language first,
//! hundreds of them; the question less the mean of its language finds the others. Its cosines are good for an order
//! within one language only, so it feeds a list of its own and never the plain one.

use std::collections::HashMap;

use zhiku_core::model::{EmbedSide, Embedding, ModelError, Priority, TokenMatrix};
use zhiku_core::{ErrorCode, Reason, RunContext, Stopped};
use zhiku_vault::{ChunkKey, DenseHit, LexicalHit, Scope, SearchFilter};

use crate::fuse::fuse_ranks;
use crate::language::{Language, LanguageMeans, centred, language_of};
use crate::outcome::RetrievalError;
use crate::retriever::Retriever;
use crate::words::{WeightedTerms, content_terms};

/// One query, ready to be looked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) text: String,
    pub(crate) language: Option<Language>,
    pub(crate) terms: WeightedTerms,
    pub(crate) vectors: Option<QueryVectors>,
}

#[derive(Clone, Debug)]
pub(crate) struct QueryVectors {
    sentence: Vec<f32>,
    /// The sentence less the mean of its language.
    bridging: Option<Vec<f32>>,
    pub(crate) tokens: TokenMatrix,
}

/// Which routes a search takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Routes {
    pub(crate) words: bool,
    pub(crate) vectors: bool,
    pub(crate) bridge: bool,
    /// Hits of each.
    pub(crate) depth: usize,
}

impl Routes {
    pub(crate) fn all(depth: usize) -> Self {
        Self { words: true, vectors: true, bridge: true, depth }
    }

    fn need_vectors(self) -> bool {
        self.vectors || self.bridge
    }
}

/// Prepares queries: their language, their terms with weights, their vectors, all of them in one call of the embedder. Why
/// there are no vectors goes into `degraded`.
pub(crate) fn ask(
    retriever: &Retriever,
    texts: &[String],
    routes: Routes,
    ctx: &RunContext,
    degraded: &mut Vec<Reason>,
) -> Result<Vec<Asked>, RetrievalError> {
    let mut asked = Vec::with_capacity(texts.len());
    for text in texts {
        let terms = content_terms(text);
        let weights = retriever.vault.term_weights(&terms)?;
        asked.push(Asked {
            text: text.clone(),
            language: language_of(text),
            terms: WeightedTerms::new(terms, weights),
            vectors: None,
        });
    }
    if routes.need_vectors() {
        match embed(retriever, texts, ctx)? {
            Ok(embeddings) => {
                for (query, embedding) in asked.iter_mut().zip(embeddings) {
                    query.vectors = Some(QueryVectors::new(embedding, query.language, &retriever.means));
                }
            }
            Err(reason) => note(degraded, reason),
        }
    }
    Ok(asked)
}

impl QueryVectors {
    fn new(embedding: Embedding, language: Option<Language>, means: &LanguageMeans) -> Self {
        let mean = language.and_then(|language| means.get(language, EmbedSide::Query));
        let bridging = mean.map(|mean| centred(&embedding.sentence, &mean.sentence));
        Self { sentence: embedding.sentence, bridging, tokens: embedding.tokens }
    }
}

/// The inner error is the reason why vectors cannot be used.
fn embed(
    retriever: &Retriever,
    texts: &[String],
    ctx: &RunContext,
) -> Result<Result<Vec<Embedding>, Reason>, RetrievalError> {
    if texts.is_empty() {
        return Ok(Ok(Vec::new()));
    }
    let Some(embedder) = &retriever.embedder else {
        return Ok(Err(Reason::new("dense_unavailable").with("cause", "no_embedder")));
    };
    match retriever.vault.embedding_space()? {
        None => return Ok(Err(Reason::new("dense_unavailable").with("cause", "no_vectors"))),
        Some(space) if space != embedder.space() => {
            return Ok(Err(Reason::new("dense_unavailable")
                .with("cause", "other_model")
                .with("model", space.model_id)));
        }
        Some(_) => {}
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    match embedder.embed(&texts, EmbedSide::Query, Priority::Interactive, ctx) {
        Ok(embeddings) => Ok(Ok(embeddings)),
        Err(error) => stopped_or_reason(&error, ctx).map(Err),
    }
}

/// A stopped run stops; whatever else befell the embedder only costs its route.
fn stopped_or_reason(error: &ModelError, ctx: &RunContext) -> Result<Reason, RetrievalError> {
    match error.code {
        ErrorCode::Cancelled => Err(Stopped::Cancelled.into()),
        ErrorCode::Timeout => Err(Stopped::Deadline.into()),
        code => {
            ctx.check()?;
            tracing::warn!(%error, "searching by words alone: the embedder failed");
            Ok(Reason::new("dense_unavailable").with("cause", code.as_str()).with("message", &error.message))
        }
    }
}

/// Each reason once.
pub(crate) fn note(degraded: &mut Vec<Reason>, reason: Reason) {
    if !degraded.contains(&reason) {
        degraded.push(reason);
    }
}

/// Candidates of one sub-query, merged over rounds with their ranks kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    words: Vec<Vec<ChunkKey>>,
    vectors: Vec<Vec<ChunkKey>>,
    bridge: Vec<Vec<ChunkKey>>,
    lexical: HashMap<ChunkKey, f32>,
    dense: HashMap<ChunkKey, f32>,
}

impl Pool {
    /// Looks for one query, by words and by vectors at the same time.
    pub(crate) fn recall(
        &mut self,
        retriever: &Retriever,
        scope: &Scope,
        asked: &Asked,
        filter: &SearchFilter,
        routes: Routes,
    ) -> Result<(), RetrievalError> {
        let (vault, depth) = (&retriever.vault, routes.depth);
        let by_words = || {
            if routes.words {
                vault.search_lexical(scope, &asked.text, filter, depth)
            } else {
                Ok(Vec::new())
            }
        };
        let scan = |vector: Option<&Vec<f32>>, wanted: bool| match vector {
            Some(vector) if wanted => vault.search_dense(scope, vector, filter, depth),
            _ => Ok(Vec::new()),
        };
        let (lexical, dense, bridged) = std::thread::scope(|threads| {
            let words = threads.spawn(by_words);
            let vectors = asked.vectors.as_ref();
            let dense = scan(vectors.map(|vectors| &vectors.sentence), routes.vectors);
            let bridged = scan(vectors.and_then(|vectors| vectors.bridging.as_ref()), routes.bridge);
            (words.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), dense, bridged)
        });
        self.add(lexical?, dense?, bridged?);
        Ok(())
    }

    fn add(&mut self, lexical: Vec<LexicalHit>, dense: Vec<DenseHit>, bridged: Vec<DenseHit>) {
        let best = |scores: &mut HashMap<ChunkKey, f32>, key: ChunkKey, score: f32| {
            scores.entry(key).and_modify(|known| *known = known.max(score)).or_insert(score);
        };
        // A hit without a common word is no hit: it would get a rank for nothing.
        let lexical: Vec<LexicalHit> = lexical.into_iter().filter(|hit| hit.score > 0.0).collect();
        for hit in &lexical {
            best(&mut self.lexical, hit.chunk_key, hit.score);
        }
        for hit in &dense {
            best(&mut self.dense, hit.chunk_key, hit.cosine);
        }
        self.words.push(lexical.iter().map(|hit| hit.chunk_key).collect());
        self.vectors.push(dense.iter().map(|hit| hit.chunk_key).collect());
        self.bridge.push(bridged.iter().map(|hit| hit.chunk_key).collect());
    }

    /// Words and vectors, best first.
    pub(crate) fn fused(&self) -> Vec<(ChunkKey, f32)> {
        fuse_ranks(&[self.words.as_slice(), &self.vectors].concat())
    }

    /// Words and vectors without their language, best first; empty when nothing was bridged.
    pub(crate) fn bridged(&self) -> Vec<(ChunkKey, f32)> {
        if self.bridge.iter().all(Vec::is_empty) {
            return Vec::new();
        }
        fuse_ranks(&[self.words.as_slice(), &self.bridge].concat())
    }

    pub(crate) fn n_candidates(&self) -> usize {
        let lists = self.words.iter().chain(&self.vectors).chain(&self.bridge);
        lists.flatten().collect::<std::collections::HashSet<_>>().len()
    }

    pub(crate) fn lexical_score(&self, key: ChunkKey) -> Option<f32> {
        self.lexical.get(&key).copied()
    }

    pub(crate) fn cosine(&self, key: ChunkKey) -> Option<f32> {
        self.dense.get(&key).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lexical(keys: &[(ChunkKey, f32)]) -> Vec<LexicalHit> {
        keys.iter().map(|(key, score)| LexicalHit { chunk_key: *key, score: *score }).collect()
    }

    #[test]
    fn a_hit_without_a_common_word_never_enters_the_fusion() {
        let mut pool = Pool::default();
        pool.add(lexical(&[(1, 2.0), (2, 0.0)]), Vec::new(), Vec::new());
        assert_eq!(pool.fused().into_iter().map(|(key, _)| key).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn ranks_of_earlier_rounds_are_kept() {
        let mut pool = Pool::default();
        pool.add(lexical(&[(1, 2.0), (2, 1.0)]), Vec::new(), Vec::new());
        pool.add(lexical(&[(2, 5.0)]), Vec::new(), Vec::new());
        let fused = pool.fused();
        assert_eq!(fused[0].0, 2);
        assert!((fused[0].1 - (1.0 / 62.0 + 1.0 / 61.0)).abs() < 1e-7);
        assert_eq!((pool.lexical_score(2), pool.n_candidates()), (Some(5.0), 2));
    }
}
