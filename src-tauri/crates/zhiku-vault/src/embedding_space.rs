//! Which model's vectors the vault holds: never those of two, and what a change of the model costs.

use rusqlite::{Transaction, params};
use zhiku_core::Searchable;
use zhiku_core::model::EmbeddingSpace;

use crate::error::{Result, VaultError};
use crate::ingest::indexed_hash;
use crate::meta;
use crate::records::JobKind;
use crate::tables::jobs;
use crate::vault::Vault;
use crate::vectors::pending;

/// What setting the embedding model did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceChange {
    Unchanged,
    /// The vault had none.
    First,
    /// All vectors were dropped; this many versions are queued to be embedded again.
    Changed {
        queued: usize,
    },
}

impl Vault {
    pub fn embedding_space(&self) -> Result<Option<EmbeddingSpace>> {
        self.database().read(meta::embedding_space)
    }

    pub fn chunker_version(&self) -> Result<u32> {
        self.database().read(meta::chunker_version)
    }

    /// Applies to what is chunked from now on; published versions keep their chunks.
    pub fn set_chunker_version(&self, version: u32) -> Result<()> {
        self.database().write(move |tx| meta::set_chunker_version(tx, version))
    }

    /// Sets the space of all vectors here. Another space than before drops them: published versions are lexical until
    /// their embedding jobs are done, and vectors of two models never mix.
    pub fn set_embedding_space(&self, space: &EmbeddingSpace) -> Result<SpaceChange> {
        let space = space.clone();
        if space.dim == 0 || space.dim > 4096 {
            return Err(VaultError::InvalidInput(format!(
                "vectors of {} dimensions are not supported",
                space.dim
            )));
        }
        let change = self.database().write(move |tx| set_space(tx, &space))?;
        if let SpaceChange::Changed { .. } = change {
            self.token_store().clear()?;
        }
        Ok(change)
    }
}

fn set_space(tx: &Transaction<'_>, space: &EmbeddingSpace) -> Result<SpaceChange> {
    let before = meta::embedding_space(tx)?;
    if before.as_ref() == Some(space) {
        return Ok(SpaceChange::Unchanged);
    }
    tx.execute_batch("DROP TABLE IF EXISTS chunk_vectors")?;
    tx.execute_batch(&format!(
        "CREATE VIRTUAL TABLE chunk_vectors USING vec0(chunk_key INTEGER PRIMARY KEY, embedding float[{}])",
        space.dim
    ))?;
    meta::set_embedding_space(tx, space)?;
    // Counted anew: what another model made is no work done twice.
    tx.execute("UPDATE chunks SET has_vector = 0, n_embedded = 0", [])?;
    tx.execute("UPDATE versions SET vector_stamp = vector_stamp + 1", [])?;
    rehash(tx, space)?;
    if before.is_none() {
        return Ok(SpaceChange::First);
    }
    tx.execute(
        "UPDATE versions SET searchable = ?1 WHERE searchable IS NOT NULL",
        [Searchable::Lexical.as_str()],
    )?;
    let sql = "SELECT published_version_key FROM documents
               WHERE published_version_key IS NOT NULL AND deleted_ms IS NULL ORDER BY key";
    let published =
        tx.prepare(sql)?.query_map([], |row| row.get::<_, i64>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
    for key in &published {
        jobs::enqueue(tx, *key, JobKind::Embed)?;
    }
    Ok(SpaceChange::Changed { queued: published.len() })
}

fn rehash(tx: &Transaction<'_>, space: &EmbeddingSpace) -> Result<()> {
    let chunker = meta::chunker_version(tx)?;
    let mut select = tx.prepare("SELECT key, chunk_id, indexed_hash, header, text, n_tokens FROM chunks")?;
    let mut update = tx.prepare("UPDATE chunks SET indexed_hash = ?2 WHERE key = ?1")?;
    for chunk in select.query_map([], pending)? {
        let chunk = chunk?;
        update.execute(params![chunk.key, indexed_hash(&chunk.indexed_text, Some(space), chunker)])?;
    }
    Ok(())
}
