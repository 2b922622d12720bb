//! What a vault holds, as one hash: two vaults into which the same files were brought have the same, however the work went.

use rusqlite::Connection;
use sha2::{Digest, Sha256 as Hasher};

use crate::error::Result;
use crate::meta;
use crate::principal::{Function, Scope};
use crate::records::{Sha256, VaultDigest};
use crate::vault::Vault;

impl Vault {
    /// Reads everything once: seconds for ten thousand documents. Denied to all but owners, who see every document.
    pub fn digest(&self, scope: &Scope) -> Result<VaultDigest> {
        self.require(scope, Function::Members)?;
        let stored = self.token_store().keys()?;
        self.database().read(|db| {
            let one = |sql: &str| {
                Ok::<_, rusqlite::Error>(db.query_row(sql, [], |row| row.get::<_, i64>(0))? as u64)
            };
            Ok(VaultDigest {
                n_documents: one("SELECT count(*) FROM documents WHERE deleted_ms IS NULL")?,
                n_units: one("SELECT count(*) FROM units")?,
                n_chunks: one("SELECT count(*) FROM chunks")?,
                n_vectors: one("SELECT count(*) FROM chunks WHERE has_vector = 1")?,
                n_token_vectors: stored.len() as u64,
                n_embedded: one("SELECT coalesce(sum(n_embedded), 0) FROM chunks")?,
                max_embedded: one("SELECT coalesce(max(n_embedded), 0) FROM chunks")?,
                content: content(db)?,
                vectors: vectors(db)?,
            })
        })
    }
}

/// One hash per document, sorted, since the order in which documents came in may differ.
fn content(db: &Connection) -> Result<String> {
    let mut documents = db.prepare(
        "SELECT v.key, d.title, d.kind, v.number, v.state, coalesce(v.searchable, ''), hex(v.hash)
         FROM documents d JOIN versions v ON v.document_key = d.key WHERE d.deleted_ms IS NULL",
    )?;
    let mut rows = documents.query([])?;
    let mut hashes = Vec::new();
    while let Some(row) = rows.next()? {
        let mut hasher = Hasher::new();
        for column in 1..7 {
            match row.get_ref(column)? {
                rusqlite::types::ValueRef::Integer(number) => hasher.update(number.to_le_bytes()),
                other => hasher.update(other.as_bytes().map_err(rusqlite::Error::from)?),
            }
            hasher.update([0]);
        }
        let key: i64 = row.get(0)?;
        add_rows(
            db,
            &mut hasher,
            "SELECT kind, locator, text, heading_path FROM units WHERE version_key = ?1 ORDER BY ordinal",
            key,
        )?;
        add_rows(
            db,
            &mut hasher,
            "SELECT kind, header, text, locator, hex(indexed_hash), CAST(has_vector AS TEXT) FROM chunks
             WHERE version_key = ?1 ORDER BY ordinal",
            key,
        )?;
        hashes.push(hasher.finalize().into());
    }
    Ok(combined(hashes))
}

fn add_rows(db: &Connection, hasher: &mut Hasher, sql: &str, version_key: i64) -> Result<()> {
    let mut statement = db.prepare_cached(sql)?;
    let n_columns = statement.column_count();
    let mut rows = statement.query([version_key])?;
    while let Some(row) = rows.next()? {
        for column in 0..n_columns {
            hasher.update(row.get_ref(column)?.as_bytes().map_err(rusqlite::Error::from)?);
            hasher.update([0]);
        }
        hasher.update([1]);
    }
    Ok(())
}

fn vectors(db: &Connection) -> Result<String> {
    if meta::embedding_space(db)?.is_none() {
        return Ok(combined(Vec::new()));
    }
    let mut statement = db.prepare(
        "SELECT c.indexed_hash, vec.embedding FROM chunks c CROSS JOIN chunk_vectors vec ON vec.chunk_key = c.key
         WHERE c.has_vector = 1",
    )?;
    let hashes = statement.query_map([], |row| {
        let mut hasher = Hasher::new();
        hasher.update(row.get::<_, Sha256>(0)?);
        hasher.update(row.get_ref(1)?.as_blob()?);
        Ok(hasher.finalize().into())
    })?;
    Ok(combined(hashes.collect::<rusqlite::Result<_>>()?))
}

fn combined(mut hashes: Vec<Sha256>) -> String {
    use std::fmt::Write as _;
    hashes.sort_unstable();
    let mut hasher = Hasher::new();
    for hash in hashes {
        hasher.update(hash);
    }
    hasher.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
