//! Recall: words, vectors, and the token vectors of what was found. The scope is part of each query.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, named_params};
use zhiku_core::model::TokenMatrix;

use crate::error::{Result, VaultError};
use crate::principal::Scope;
use crate::records::{ChunkKey, DenseHit, LexicalHit, SearchFilter, Sha256};
use crate::scan::{Block, nearest};
use crate::vault::Vault;
use crate::vectors;
use crate::visibility::VISIBLE;

impl Vault {
    /// The `k` best chunks by words, best first, among the published versions that the principal sees.
    pub fn search_lexical(
        &self,
        scope: &Scope,
        text: &str,
        filter: &SearchFilter,
        k: usize,
    ) -> Result<Vec<LexicalHit>> {
        let (searcher, versions) =
            self.lexical().snapshot(|| self.read(scope, |db| searchable(db, scope, filter, Route::Words)))?;
        let keys: HashSet<u64> = versions.into_iter().map(|(key, _)| key as u64).collect();
        self.lexical().search(&searcher, text, keys, k)
    }

    /// The `k` nearest chunks by cosine, best first: exact, among the published versions with vectors that the principal
    /// sees. `vector` has norm 1, as the stored ones do.
    pub fn search_dense(
        &self,
        scope: &Scope,
        vector: &[f32],
        filter: &SearchFilter,
        k: usize,
    ) -> Result<Vec<DenseHit>> {
        let blocks = self.read(scope, |db| {
            let Some(space) = crate::meta::embedding_space(db)? else { return Ok(Vec::new()) };
            if vector.len() != space.dim as usize {
                return Err(VaultError::InvalidInput(format!("a vector here has {} values", space.dim)));
            }
            let versions = searchable(db, scope, filter, Route::Vectors)?;
            self.scan().blocks(&versions, |version_key, stamp| {
                let (keys, values) = vectors::load_version(db, version_key)?;
                Ok(Block { stamp, keys, values })
            })
        })?;
        if k == 0 || vector.is_empty() {
            return Ok(Vec::new());
        }
        Ok(nearest(&blocks, vector, k))
    }

    /// Token vectors of chunks, in the order asked; what is not visible, or has none, is left out.
    pub fn token_vectors(&self, scope: &Scope, keys: &[ChunkKey]) -> Result<Vec<(ChunkKey, TokenMatrix)>> {
        let wanted: Vec<(ChunkKey, Sha256)> = self.read(scope, |db| {
            let mut statement = db.prepare_cached(&format!(
                "{VISIBLE} SELECT c.key, c.indexed_hash FROM chunks c
                 JOIN versions v ON v.key = c.version_key AND v.published_ms IS NOT NULL
                 JOIN visible ON visible.document_key = v.document_key WHERE c.key = :key"
            ))?;
            let mut wanted = Vec::with_capacity(keys.len());
            for key in keys {
                let bound = named_params! {":profile": scope.profile(), ":key": key};
                wanted.extend(statement.query_row(bound, |row| Ok((row.get(0)?, row.get(1)?))).optional()?);
            }
            Ok(wanted)
        })?;
        let mut found = self.token_store().get(&wanted)?;
        Ok(wanted.iter().filter_map(|(key, _)| found.remove(key).map(|tokens| (*key, tokens))).collect())
    }

    /// How rare each term of [`crate::lexical::analyze`] is in this vault: BM25's inverse document frequency.
    pub fn term_weights(&self, terms: &[String]) -> Result<Vec<f32>> {
        let (searcher, ()) = self.lexical().snapshot(|| Ok(()))?;
        self.lexical().term_weights(&searcher, terms)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Route {
    Words,
    Vectors,
}

/// Key and vector stamp of every published version in scope.
fn searchable(
    db: &Connection,
    scope: &Scope,
    filter: &SearchFilter,
    route: Route,
) -> Result<Vec<(i64, i64)>> {
    let mut statement = db.prepare_cached(&format!(
        "{VISIBLE} SELECT v.key, v.vector_stamp, d.document_id FROM visible JOIN documents d ON d.key = visible.document_key
         JOIN versions v ON v.key = d.published_version_key
         WHERE :any_route OR v.searchable = 'hybrid' ORDER BY v.key"
    ))?;
    let wanted: Option<HashSet<[u8; 16]>> =
        filter.documents.as_ref().map(|documents| documents.iter().map(|id| id.0.into_bytes()).collect());
    let bound = named_params! {":profile": scope.profile(), ":any_route": route == Route::Words};
    let mut rows = statement.query(bound)?;
    let mut versions = Vec::new();
    while let Some(row) = rows.next()? {
        let document: [u8; 16] = row.get(2)?;
        if wanted.as_ref().is_none_or(|wanted| wanted.contains(&document)) {
            versions.push((row.get(0)?, row.get(1)?));
        }
    }
    Ok(versions)
}
