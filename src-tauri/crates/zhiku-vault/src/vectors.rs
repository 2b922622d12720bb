//! Sentence vectors in SQLite (sqlite-vec, the store of record) and token vectors beside it: storing, reusing, and what
//! happens when the embedding model changes.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use zhiku_core::model::TokenMatrix;
use zhiku_core::{ChunkId, DocumentId, VersionNumber};

use crate::error::{Result, VaultError};
use crate::failpoint::failpoint;
use crate::meta;
use crate::records::{ChunkKey, PendingChunk, Sha256, VersionRef};
use crate::storage::row;
use crate::tables::versions;
use crate::token_vectors::TokenRow;
use crate::vault::Vault;

impl Vault {
    /// Chunks of a version that still need vectors, in order.
    pub fn pending_chunks(&self, version: VersionRef) -> Result<Vec<PendingChunk>> {
        self.database().read(|db| {
            let found = versions::find(db, version)?;
            let mut statement = db.prepare_cached(
                "SELECT key, chunk_id, indexed_hash, header, text, n_tokens FROM chunks
                 WHERE version_key = ?1 AND has_vector = 0 ORDER BY ordinal",
            )?;
            Ok(statement.query_map([found.key], pending)?.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Published chunks whose token vectors are not there, for example because their file was lost.
    pub fn chunks_without_token_vectors(&self) -> Result<Vec<(VersionRef, PendingChunk)>> {
        let embedded = self.database().read(|db| {
            let mut statement = db.prepare(
                "SELECT c.key, c.chunk_id, c.indexed_hash, c.header, c.text, c.n_tokens, d.document_id, v.number
                 FROM chunks c JOIN versions v ON v.key = c.version_key JOIN documents d ON d.key = v.document_key
                 WHERE c.has_vector = 1 AND d.deleted_ms IS NULL ORDER BY c.key",
            )?;
            let rows = statement.query_map([], |row| {
                let document = DocumentId(row::get_uuid(row, 6)?);
                Ok((VersionRef { document, version: VersionNumber(row.get(7)?) }, pending(row)?))
            })?;
            Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?)
        })?;
        let wanted: Vec<_> = embedded.iter().map(|(_, chunk)| (chunk.key, chunk.indexed_hash)).collect();
        let here = self.token_store().contains(&wanted)?;
        Ok(embedded.into_iter().zip(here).filter(|(_, here)| !here).map(|(chunk, _)| chunk).collect())
    }

    /// Whether the token vectors' file was found damaged and made anew when the vault was opened.
    pub fn token_vectors_recreated(&self) -> bool {
        self.token_store().was_recreated()
    }

    /// Vectors that were made for the same text by the same model.
    pub fn vectors_by_hash(&self, hashes: &[Sha256]) -> Result<HashMap<Sha256, (Vec<f32>, TokenMatrix)>> {
        let sentences = self.database().read(|db| {
            if meta::embedding_space(db)?.is_none() {
                return Ok(Vec::new());
            }
            let mut statement = db.prepare_cached(
                "SELECT c.key, vec.embedding FROM chunks c JOIN chunk_vectors vec ON vec.chunk_key = c.key
                 WHERE c.indexed_hash = ?1 AND c.has_vector = 1 LIMIT 1",
            )?;
            let mut found = Vec::new();
            for hash in hashes {
                let hit = statement.query_row([hash], |row| Ok((row.get::<_, i64>(0)?, get_vector(row, 1)?)));
                found.extend(hit.optional()?.map(|(key, vector)| (key, *hash, vector)));
            }
            Ok(found)
        })?;
        let wanted: Vec<_> = sentences.iter().map(|(key, hash, _)| (*key, *hash)).collect();
        let mut tokens = self.token_store().get(&wanted)?;
        let pair = |(key, hash, vector)| tokens.remove(&key).map(|tokens| (hash, (vector, tokens)));
        Ok(sentences.into_iter().filter_map(pair).collect())
    }

    /// Gives a version's chunks the vectors that equal chunks have already; returns how many.
    pub fn reuse_vectors(&self, version: VersionRef) -> Result<usize> {
        let pending = self.pending_chunks(version)?;
        let hashes: Vec<Sha256> = pending.iter().map(|chunk| chunk.indexed_hash).collect();
        let known = self.vectors_by_hash(&hashes)?;
        let reused: Vec<(ChunkId, Vec<f32>, TokenMatrix)> = pending
            .iter()
            .filter_map(|chunk| {
                let (vector, tokens) = known.get(&chunk.indexed_hash)?;
                Some((chunk.chunk_id, vector.clone(), tokens.clone()))
            })
            .collect();
        self.store(version, &reused, Origin::Reused)?;
        Ok(reused.len())
    }

    /// Stores the vectors of some chunks; again changes nothing. [`Vault::publish_hybrid`] makes them count.
    pub fn store_vectors(
        &self,
        version: VersionRef,
        vectors: &[(ChunkId, Vec<f32>, TokenMatrix)],
    ) -> Result<()> {
        self.store(version, vectors, Origin::Embedded)
    }

    fn store(
        &self,
        version: VersionRef,
        vectors: &[(ChunkId, Vec<f32>, TokenMatrix)],
        origin: Origin,
    ) -> Result<()> {
        if vectors.is_empty() {
            return Ok(());
        }
        let rows = self.database().read(|db| {
            let space = meta::embedding_space(db)?
                .ok_or_else(|| VaultError::InvalidInput("the vault has no embedding space yet".to_owned()))?;
            let found = versions::find_open(db, version)?;
            let mut statement = db.prepare_cached(
                "SELECT key, indexed_hash FROM chunks WHERE chunk_id = ?1 AND version_key = ?2",
            )?;
            let mut rows = Vec::with_capacity(vectors.len());
            for (chunk, vector, _) in vectors {
                check_vector(vector, space.dim as usize)?;
                let row = statement.query_row(params![chunk.0.as_bytes(), found.key], |row| {
                    Ok((row.get::<_, i64>(0)?, row.get::<_, Sha256>(1)?))
                });
                let (key, hash) = row.optional()?.ok_or(VaultError::NotFound { what: "chunk" })?;
                rows.push((key, found.document_key, hash));
            }
            Ok(rows)
        })?;
        let token_rows =
            rows.iter().zip(vectors).map(|((chunk_key, document_key, hash), (_, _, tokens))| TokenRow {
                chunk_key: *chunk_key,
                document_key: *document_key,
                indexed_hash: *hash,
                tokens: tokens.clone(),
            });
        self.token_store().put(token_rows.collect())?;
        failpoint("token_vectors_stored");
        let sentences: Vec<_> = rows
            .iter()
            .zip(vectors)
            .map(|((key, _, hash), (_, vector, _))| (*key, *hash, vector.clone()))
            .collect();
        let stored = self.database().write(move |tx| {
            let found = versions::find_open(tx, version)?;
            let n_stored = sentences.len() as i64;
            for (key, hash, vector) in sentences {
                put_vector(tx, key, &hash, &vector, origin)?;
            }
            if origin == Origin::Reused {
                tx.prepare_cached("UPDATE versions SET n_reused = n_reused + ?2 WHERE key = ?1")?
                    .execute(params![found.key, n_stored])?;
            }
            tx.execute("UPDATE versions SET vector_stamp = vector_stamp + 1 WHERE key = ?1", [found.key])?;
            Ok(())
        });
        failpoint("vectors_stored");
        stored
    }
}

/// Where a chunk's vectors come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The model made them.
    Embedded,
    /// Equal text had them.
    Reused,
}

/// The vectors of a version, in the order of its chunks.
pub(crate) fn load_version(db: &Connection, version_key: i64) -> Result<(Vec<ChunkKey>, Vec<f32>)> {
    let mut statement = db.prepare_cached(
        "SELECT c.key, vec.embedding FROM chunks c CROSS JOIN chunk_vectors vec ON vec.chunk_key = c.key
         WHERE c.version_key = ?1 AND c.has_vector = 1 ORDER BY c.ordinal",
    )?;
    let mut rows = statement.query([version_key])?;
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    while let Some(row) = rows.next()? {
        keys.push(row.get(0)?);
        values.extend(get_vector(row, 1)?);
    }
    Ok((keys, values))
}

/// Takes the vectors of a version out, overwriting them first: sqlite-vec only marks a deleted slot as free.
pub(crate) fn delete_of_version(tx: &Transaction<'_>, version_key: i64) -> Result<u64> {
    let Some(space) = meta::embedding_space(tx)? else { return Ok(0) };
    let mut statement =
        tx.prepare_cached("SELECT key FROM chunks WHERE version_key = ?1 AND has_vector = 1")?;
    let keys = statement
        .query_map([version_key], |row| row.get::<_, i64>(0))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let zeros = to_bytes(&vec![0.0; space.dim as usize]);
    for key in &keys {
        tx.prepare_cached("UPDATE chunk_vectors SET embedding = ?2 WHERE chunk_key = ?1")?
            .execute(params![key, zeros])?;
        tx.prepare_cached("DELETE FROM chunk_vectors WHERE chunk_key = ?1")?.execute([key])?;
    }
    tx.execute("UPDATE chunks SET has_vector = 0 WHERE version_key = ?1", [version_key])?;
    tx.execute("UPDATE versions SET vector_stamp = vector_stamp + 1 WHERE key = ?1", [version_key])?;
    Ok(keys.len() as u64)
}

/// Vectors whose chunk is gone.
pub(crate) fn count_orphans(db: &Connection) -> Result<u64> {
    if meta::embedding_space(db)?.is_none() {
        return Ok(0);
    }
    let sql = "SELECT count(*) FROM chunk_vectors_rowids WHERE rowid NOT IN (SELECT key FROM chunks)";
    Ok(db.query_row(sql, [], |row| row.get::<_, i64>(0))? as u64)
}

fn put_vector(
    tx: &Transaction<'_>,
    key: ChunkKey,
    hash: &Sha256,
    vector: &[f32],
    origin: Origin,
) -> Result<()> {
    let sql =
        "UPDATE chunks SET has_vector = 1, n_embedded = n_embedded + ?3 WHERE key = ?1 AND indexed_hash = ?2";
    if tx.prepare_cached(sql)?.execute(params![key, hash, origin == Origin::Embedded])? == 0 {
        return Err(VaultError::NotFound { what: "chunk" });
    }
    tx.prepare_cached("DELETE FROM chunk_vectors WHERE chunk_key = ?1")?.execute([key])?;
    tx.prepare_cached("INSERT INTO chunk_vectors (chunk_key, embedding) VALUES (?1, ?2)")?
        .execute(params![key, to_bytes(vector)])?;
    Ok(())
}

fn check_vector(vector: &[f32], dim: usize) -> Result<()> {
    if vector.len() == dim && vector.iter().all(|value| value.is_finite()) {
        Ok(())
    } else {
        Err(VaultError::InvalidInput(format!("a vector here has {dim} finite values")))
    }
}

pub(crate) fn pending(row: &rusqlite::Row<'_>) -> rusqlite::Result<PendingChunk> {
    let (header, text): (String, String) = (row.get(3)?, row.get(4)?);
    Ok(PendingChunk {
        key: row.get(0)?,
        chunk_id: ChunkId(row::get_uuid(row, 1)?),
        indexed_hash: row.get(2)?,
        // As `Chunk::indexed_text` joins them.
        indexed_text: if header.is_empty() { text } else { format!("{header}\n{text}") },
        n_tokens: row.get(5)?,
    })
}

fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn get_vector(row: &rusqlite::Row<'_>, index: usize) -> rusqlite::Result<Vec<f32>> {
    let bytes = row.get_ref(index)?.as_blob().map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(index, rusqlite::types::Type::Blob, Box::new(error))
    })?;
    let (values, _) = bytes.as_chunks::<4>();
    Ok(values.iter().map(|value| f32::from_le_bytes(*value)).collect())
}
