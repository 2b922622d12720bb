//! One ranked list of chunks, by one route, both, or both reranked. The state machine ranks by the same functions.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use zhiku_core::{Reason, RunContext, Scores, SearchHit, SearchMode, SearchQuery, SearchResponse};
use zhiku_vault::{ChunkKey, ChunkRow, Scope, SearchFilter};

use crate::language::language_of;
use crate::naming::Naming;
use crate::outcome::RetrievalError;
use crate::recall::{Asked, Pool, Routes, ask, note};
use crate::rerank::{Relevance, crosses, relevance};
use crate::retriever::Retriever;

/// A chunk with its scores, in its place of a ranking.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    pub(crate) row: ChunkRow,
    pub(crate) scores: Scores,
    pub(crate) relevance: Relevance,
}

pub(crate) fn search(
    retriever: &Retriever,
    scope: &Scope,
    query: &SearchQuery,
    filter: &SearchFilter,
    ctx: &RunContext,
) -> Result<SearchResponse, RetrievalError> {
    let started = Instant::now();
    ctx.check()?;
    let mut degraded = Vec::new();
    let texts = [query.text.clone()];
    let routes = routes_of(query.mode, retriever.config.recall_depth.max(query.k));
    let asked = ask(retriever, &texts, routes, ctx, &mut degraded)?.remove(0);
    let mut pool = Pool::default();
    pool.recall(retriever, scope, &asked, filter, routes)?;
    let mut hits = Vec::new();
    let mut reranked = HashSet::new();
    if query.mode == SearchMode::Rerank {
        ctx.check()?;
        let candidates = candidates(retriever, scope, &pool, &asked, retriever.config.rerank_depth)?;
        let ranked = rerank(retriever, scope, &pool, &asked, candidates, &mut degraded)?;
        reranked = ranked.iter().map(|ranked| ranked.row.key).collect();
        hits = ranked.into_iter().map(|ranked| hit(ranked.row, ranked.scores)).collect();
    }
    let rest: Vec<(ChunkKey, f32)> =
        pool.fused().into_iter().filter(|(key, _)| !reranked.contains(key)).collect();
    let missing = query.k.saturating_sub(hits.len());
    let keys: Vec<ChunkKey> = rest.iter().map(|(key, _)| *key).take(missing).collect();
    let fused: HashMap<ChunkKey, f32> = rest.into_iter().collect();
    for row in retriever.vault.chunks(scope, &keys)? {
        let scores = scores_of(&pool, row.key, fused.get(&row.key).copied().unwrap_or_default());
        hits.push(hit(row, scores));
    }
    hits.truncate(query.k);
    Ok(SearchResponse { hits, took_ms: started.elapsed().as_secs_f64() * 1e3, route_degraded: degraded })
}

fn routes_of(mode: SearchMode, depth: usize) -> Routes {
    let all = Routes::all(depth);
    match mode {
        SearchMode::Lexical => Routes { vectors: false, bridge: false, ..all },
        SearchMode::Dense => Routes { words: false, bridge: false, ..all },
        SearchMode::Hybrid => Routes { bridge: false, ..all },
        SearchMode::Rerank => all,
    }
}

fn hit(row: ChunkRow, scores: Scores) -> SearchHit {
    let chunk = row.chunk;
    SearchHit {
        document: chunk.document_id,
        version: chunk.version,
        title: row.title,
        // Every chunk is cut from a unit.
        unit_id: chunk.spans.first().map_or(zhiku_core::UnitId(chunk.chunk_id.0), |span| span.unit_id),
        chunk_id: chunk.chunk_id,
        locator: chunk.locator,
        text: chunk.text,
        scores,
    }
}

fn scores_of(pool: &Pool, key: ChunkKey, fused: f32) -> Scores {
    Scores { dense: pool.cosine(key), lexical: pool.lexical_score(key), fused, rerank: None }
}

/// The candidates worth reranking with their fused scores: the best in the question's own language, and the best in the
/// other one, which fusion would bury below everything that shares a word with the question.
pub(crate) fn candidates(
    retriever: &Retriever,
    scope: &Scope,
    pool: &Pool,
    asked: &Asked,
    depth: usize,
) -> Result<Vec<(ChunkRow, f32)>, RetrievalError> {
    /// Lists are looked through this much deeper than what is taken: the other language stands between.
    const LOOK_AHEAD: usize = 3;
    let (fused, bridged) = (pool.fused(), pool.bridged());
    let head = |list: &[(ChunkKey, f32)]| list.iter().take(depth * LOOK_AHEAD).copied().collect::<Vec<_>>();
    let (fused, bridged) = (head(&fused), head(&bridged));
    let mut keys: Vec<ChunkKey> = Vec::new();
    let mut wanted = HashSet::new();
    for (key, _) in fused.iter().chain(&bridged) {
        if wanted.insert(*key) {
            keys.push(*key);
        }
    }
    let rows: HashMap<ChunkKey, ChunkRow> =
        retriever.vault.chunks(scope, &keys)?.into_iter().map(|row| (row.key, row)).collect();
    let is_other: HashSet<ChunkKey> = rows
        .values()
        .filter(|row| !bridged.is_empty() && crosses(asked.language, language_of(&row.chunk.indexed_text())))
        .map(|row| row.key)
        .collect();
    let pick = |list: &[(ChunkKey, f32)], other: bool, n: usize| {
        let fits = |key: &ChunkKey| rows.contains_key(key) && is_other.contains(key) == other;
        list.iter().filter(|(key, _)| fits(key)).take(n).copied().collect::<Vec<_>>()
    };
    let mut picked = pick(&fused, false, depth);
    let n_other = retriever.config.cross_depth.max(depth.saturating_sub(picked.len()));
    picked.extend(pick(&bridged, true, n_other));
    picked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    Ok(picked.into_iter().filter_map(|(key, score)| rows.get(&key).map(|row| (row.clone(), score))).collect())
}

/// Orders candidates by late interaction. What has no token vectors yet keeps its place among them.
pub(crate) fn rerank(
    retriever: &Retriever,
    scope: &Scope,
    pool: &Pool,
    asked: &Asked,
    candidates: Vec<(ChunkRow, f32)>,
    degraded: &mut Vec<Reason>,
) -> Result<Vec<Ranked>, RetrievalError> {
    let keys: Vec<ChunkKey> = candidates.iter().map(|(row, _)| row.key).collect();
    let tokens: HashMap<ChunkKey, _> = match asked.vectors {
        Some(_) => retriever.vault.token_vectors(scope, &keys)?.into_iter().collect(),
        None => HashMap::new(),
    };
    let mut naming = Naming::new(&retriever.vault, &asked.text);
    let titled: Vec<(ChunkRow, f32, f32)> = candidates
        .into_iter()
        .map(|(row, fused)| {
            let named = naming.of(&row.title)?;
            Ok((row, fused, named))
        })
        .collect::<Result<_, RetrievalError>>()?;
    let ranked: Vec<Ranked> = titled
        .into_par_iter()
        .map(|(row, fused, named)| {
            let tokens = tokens.get(&row.key);
            let relevance = relevance(asked, &row.chunk.indexed_text(), tokens, &retriever.means, named);
            let scores = Scores { rerank: relevance.score(), ..scores_of(pool, row.key, fused) };
            Ranked { row, scores, relevance }
        })
        .collect();
    let n_pending = ranked.iter().filter(|ranked| ranked.scores.rerank.is_none()).count();
    if asked.vectors.is_some() && n_pending > 0 {
        note(degraded, Reason::new("vectors_pending").with("n", n_pending));
    }
    Ok(by_score(ranked))
}

/// Best first; entries without a score stay where they are.
fn by_score(ranked: Vec<Ranked>) -> Vec<Ranked> {
    let fixed: Vec<bool> = ranked.iter().map(|ranked| ranked.scores.rerank.is_none()).collect();
    let (unscored, mut scored): (Vec<Ranked>, Vec<Ranked>) =
        ranked.into_iter().partition(|ranked| ranked.scores.rerank.is_none());
    scored
        .sort_by(|a, b| b.scores.rerank.unwrap_or_default().total_cmp(&a.scores.rerank.unwrap_or_default()));
    let (mut unscored, mut scored) = (unscored.into_iter(), scored.into_iter());
    fixed.iter().filter_map(|fixed| if *fixed { unscored.next() } else { scored.next() }).collect()
}
