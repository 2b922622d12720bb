//! Facts about the whole vault, by name.

use rusqlite::{Connection, OptionalExtension, params};
use zhiku_core::model::EmbeddingSpace;

use crate::error::{Result, VaultError};

pub(crate) const VAULT_ID: &str = "vault_id";
pub(crate) const NAME: &str = "name";
/// Counts publications; the lexical index carries the same number.
pub(crate) const GENERATION: &str = "published_generation";
const EMBEDDING_SPACE: &str = "embedding_space";
const CHUNKER_VERSION: &str = "chunker_version";

pub(crate) fn get(db: &Connection, name: &str) -> Result<Option<String>> {
    let mut statement = db.prepare_cached("SELECT value FROM vault_meta WHERE name = ?1")?;
    Ok(statement.query_row([name], |row| row.get(0)).optional()?)
}

pub(crate) fn set(db: &Connection, name: &str, value: &str) -> Result<()> {
    db.execute(
        "INSERT INTO vault_meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        params![name, value],
    )?;
    Ok(())
}

pub(crate) fn generation(db: &Connection) -> Result<u64> {
    match get(db, GENERATION)? {
        Some(text) => text.parse().map_err(|_| VaultError::Damaged { what: "published generation" }),
        None => Ok(0),
    }
}

pub(crate) fn embedding_space(db: &Connection) -> Result<Option<EmbeddingSpace>> {
    match get(db, EMBEDDING_SPACE)? {
        Some(text) => {
            serde_json::from_str(&text).map(Some).map_err(|_| VaultError::Damaged { what: "embedding space" })
        }
        None => Ok(None),
    }
}

pub(crate) fn set_embedding_space(db: &Connection, space: &EmbeddingSpace) -> Result<()> {
    set(db, EMBEDDING_SPACE, &crate::storage::row::to_json(space)?)
}

pub(crate) fn chunker_version(db: &Connection) -> Result<u32> {
    Ok(get(db, CHUNKER_VERSION)?.and_then(|text| text.parse().ok()).unwrap_or(0))
}

pub(crate) fn set_chunker_version(db: &Connection, version: u32) -> Result<()> {
    set(db, CHUNKER_VERSION, &version.to_string())
}
