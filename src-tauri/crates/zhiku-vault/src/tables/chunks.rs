//! Chunks of published versions, for reading.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Row, named_params};
use zhiku_core::{Chunk, ChunkId, DocumentId, VaultId, VersionNumber};

use crate::error::Result;
use crate::principal::Scope;
use crate::records::{ChunkKey, ChunkRow};
use crate::storage::row;
use crate::vault::Vault;
use crate::visibility::VISIBLE;

const SELECT: &str =
    "SELECT c.key, c.chunk_id, d.document_id, v.number, c.ordinal, c.kind, c.header, c.text, c.spans,
        c.locator, c.n_tokens, d.title, c.process, c.trust
    FROM chunks c JOIN versions v ON v.key = c.version_key AND v.published_ms IS NOT NULL
    JOIN documents d ON d.key = v.document_key JOIN visible ON visible.document_key = d.key";

impl Vault {
    /// In the order asked; what is not visible or gone is left out.
    pub fn chunks(&self, scope: &Scope, keys: &[ChunkKey]) -> Result<Vec<ChunkRow>> {
        let vault_id = self.id();
        self.read(scope, |db| {
            let mut statement = db.prepare_cached(&format!("{VISIBLE} {SELECT} WHERE c.key = :key"))?;
            let mut found = Vec::with_capacity(keys.len());
            for key in keys {
                let bound = named_params! {":profile": scope.profile(), ":key": key};
                found.extend(statement.query_row(bound, |row| chunk_row(row, vault_id)).optional()?);
            }
            Ok(found)
        })
    }

    /// A chunk by the id that evidence carries.
    pub fn chunk_by_id(&self, scope: &Scope, chunk: ChunkId) -> Result<Option<ChunkRow>> {
        let vault_id = self.id();
        self.read(scope, |db| {
            let mut statement =
                db.prepare_cached(&format!("{VISIBLE} {SELECT} WHERE c.chunk_id = :chunk"))?;
            let bound = named_params! {":profile": scope.profile(), ":chunk": chunk.0.as_bytes()};
            Ok(statement.query_row(bound, |row| chunk_row(row, vault_id)).optional()?)
        })
    }

    /// The chunk with up to `before` and `after` others of its version around it, by position.
    pub fn neighbours(&self, scope: &Scope, key: ChunkKey, before: u32, after: u32) -> Result<Vec<ChunkRow>> {
        let vault_id = self.id();
        self.read(scope, |db| {
            let mut statement = db.prepare_cached(&format!(
                "{VISIBLE}, here (version_key, ordinal) AS (SELECT version_key, ordinal FROM chunks WHERE key = :key)
                 {SELECT} JOIN here ON here.version_key = c.version_key
                 WHERE c.ordinal BETWEEN here.ordinal - :before AND here.ordinal + :after ORDER BY c.ordinal"
            ))?;
            let bound = named_params! {
                ":profile": scope.profile(), ":key": key, ":before": before, ":after": after,
            };
            let rows = statement.query_map(bound, |row| chunk_row(row, vault_id))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// All chunks of a version in their order.
    pub fn chunks_of(
        &self,
        scope: &Scope,
        document: DocumentId,
        version: VersionNumber,
    ) -> Result<Vec<ChunkRow>> {
        let vault_id = self.id();
        self.read(scope, |db| {
            let mut statement = db.prepare_cached(&format!(
                "{VISIBLE} {SELECT} WHERE d.document_id = :document AND v.number = :number ORDER BY c.ordinal"
            ))?;
            let bound = named_params! {
                ":profile": scope.profile(), ":document": document.0.as_bytes(), ":number": version.0,
            };
            let rows = statement.query_map(bound, |row| chunk_row(row, vault_id))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The keys of chunks by their ids; what is not visible is left out.
    pub fn chunk_keys(&self, scope: &Scope, chunks: &[ChunkId]) -> Result<HashMap<ChunkId, ChunkKey>> {
        self.read(scope, |db| {
            let mut statement = db.prepare_cached(&format!(
                "{VISIBLE} SELECT c.key FROM chunks c
                 JOIN versions v ON v.key = c.version_key AND v.published_ms IS NOT NULL
                 JOIN visible ON visible.document_key = v.document_key WHERE c.chunk_id = :chunk"
            ))?;
            let mut found = HashMap::with_capacity(chunks.len());
            for chunk in chunks {
                let bound = named_params! {":profile": scope.profile(), ":chunk": chunk.0.as_bytes()};
                if let Some(key) = statement.query_row(bound, |row| row.get(0)).optional()? {
                    found.insert(*chunk, key);
                }
            }
            Ok(found)
        })
    }
}

fn chunk_row(row: &Row<'_>, vault_id: VaultId) -> rusqlite::Result<ChunkRow> {
    Ok(ChunkRow {
        key: row.get(0)?,
        chunk: Chunk {
            chunk_id: ChunkId(row::get_uuid(row, 1)?),
            document_id: DocumentId(row::get_uuid(row, 2)?),
            version: VersionNumber(row.get(3)?),
            ordinal: row.get(4)?,
            kind: row::get_name(row, 5)?,
            header: row.get(6)?,
            text: row.get(7)?,
            spans: row::get_json(row, 8)?,
            locator: row::get_json(row, 9)?,
            n_tokens: row.get(10)?,
        },
        title: row.get(11)?,
        process: row::get_name(row, 12)?,
        trust: row::get_name(row, 13)?,
        vault_id,
    })
}
