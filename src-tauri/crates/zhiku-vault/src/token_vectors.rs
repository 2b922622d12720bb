//! Token vectors for late interaction, in a file of their own beside the database. It can be lost: then it is made anew,
//! empty, and a re-embedding fills it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::{OptionalExtension, params};
use zhiku_core::VaultId;
use zhiku_core::model::TokenMatrix;
use zhiku_core::token_codec;

use crate::error::{Result, VaultError};
use crate::records::{ChunkKey, Sha256};
use crate::storage::{Database, Migration, StorageKey};
use crate::vault::AccessMode;

const MIGRATIONS: &[Migration] =
    &[Migration { name: "0001_first", sql: include_str!("../token_migrations/0001_first.sql") }];
const FILE: &str = "token_vectors.sqlite";
/// Left beside the file when reading it failed; the next owner makes the file anew.
const DAMAGED_MARK: &str = "token_vectors.damaged";

/// Vectors of one chunk on their way in.
pub(crate) struct TokenRow {
    pub(crate) chunk_key: ChunkKey,
    pub(crate) document_key: i64,
    pub(crate) indexed_hash: Sha256,
    pub(crate) tokens: TokenMatrix,
}

pub(crate) struct TokenVectorStore {
    dir: PathBuf,
    /// `None` for a reader beside an owner that has no such file.
    database: Option<Database>,
    recreated: AtomicBool,
}

impl TokenVectorStore {
    pub(crate) fn open(
        dir: &Path,
        vault_id: VaultId,
        mode: AccessMode,
        key: Option<StorageKey>,
    ) -> Result<Self> {
        let (path, mark) = (dir.join(FILE), dir.join(DAMAGED_MARK));
        if mode == AccessMode::ReadOnly {
            let database = Database::open_read_only(&path, key, MIGRATIONS).ok();
            return Ok(Self { dir: dir.to_owned(), database, recreated: AtomicBool::new(false) });
        }
        let existed = path.exists();
        let opened = if mark.exists() { None } else { open_for(&path, dir, vault_id, key).ok() };
        let recreated = existed && opened.is_none();
        let database = if let Some(database) = opened {
            database
        } else {
            if existed {
                tracing::warn!("token vectors could not be read and are made anew");
            }
            remove_files(dir)?;
            open_for(&path, dir, vault_id, key)?
        };
        Ok(Self { dir: dir.to_owned(), database: Some(database), recreated: AtomicBool::new(recreated) })
    }

    /// Whether the file was found damaged at opening and is empty now.
    pub(crate) fn was_recreated(&self) -> bool {
        self.recreated.load(Ordering::SeqCst)
    }

    fn owned(&self) -> Result<&Database> {
        self.database.as_ref().ok_or(VaultError::ReadOnly)
    }

    pub(crate) fn put(&self, rows: Vec<TokenRow>) -> Result<()> {
        self.owned()?.write(move |tx| {
            let mut insert = tx.prepare_cached(
                "INSERT INTO token_vectors (chunk_key, document_key, indexed_hash, data) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (chunk_key) DO UPDATE SET indexed_hash = excluded.indexed_hash, data = excluded.data",
            )?;
            for row in rows {
                let data = token_codec::encode(&row.tokens);
                insert.execute(params![row.chunk_key, row.document_key, row.indexed_hash, data])?;
            }
            Ok(())
        })
    }

    /// Those of the wanted chunks that are here and of the wanted text.
    pub(crate) fn get(&self, wanted: &[(ChunkKey, Sha256)]) -> Result<HashMap<ChunkKey, TokenMatrix>> {
        let Some(database) = &self.database else { return Ok(HashMap::new()) };
        let found = database.read(|db| {
            let mut select = db.prepare_cached(
                "SELECT data FROM token_vectors WHERE chunk_key = ?1 AND indexed_hash = ?2",
            )?;
            let mut found = HashMap::with_capacity(wanted.len());
            for (key, hash) in wanted {
                let data = select.query_row(params![key, hash], |row| {
                    Ok(row.get_ref(0)?.as_blob().ok().and_then(token_codec::decode))
                });
                if let Some(tokens) = data.optional()?.flatten() {
                    found.insert(*key, tokens);
                }
            }
            Ok(found)
        });
        self.absent_when_damaged(found, HashMap::new())
    }

    /// Which of the chunks have vectors of the given text here.
    pub(crate) fn contains(&self, wanted: &[(ChunkKey, Sha256)]) -> Result<Vec<bool>> {
        let Some(database) = &self.database else { return Ok(vec![false; wanted.len()]) };
        let found = database.read(|db| {
            let mut select =
                db.prepare_cached("SELECT 1 FROM token_vectors WHERE chunk_key = ?1 AND indexed_hash = ?2")?;
            wanted.iter().map(|(key, hash)| Ok(select.exists(params![key, hash])?)).collect()
        });
        self.absent_when_damaged(found, vec![false; wanted.len()])
    }

    pub(crate) fn delete_chunks(&self, keys: Vec<ChunkKey>) -> Result<()> {
        self.owned()?.write(move |tx| {
            let mut delete = tx.prepare_cached("DELETE FROM token_vectors WHERE chunk_key = ?1")?;
            for key in keys {
                delete.execute([key])?;
            }
            Ok(())
        })
    }

    pub(crate) fn delete_document(&self, document_key: i64) -> Result<u64> {
        let database = self.owned()?;
        let removed = database.write(move |tx| {
            Ok(tx.execute("DELETE FROM token_vectors WHERE document_key = ?1", [document_key])?)
        })?;
        database.checkpoint()?;
        Ok(removed as u64)
    }

    pub(crate) fn count_document(&self, document_key: i64) -> Result<u64> {
        let Some(database) = &self.database else { return Ok(0) };
        database.read(|db| {
            let count: i64 = db.query_row(
                "SELECT count(*) FROM token_vectors WHERE document_key = ?1",
                [document_key],
                |row| row.get(0),
            )?;
            Ok(count as u64)
        })
    }

    pub(crate) fn clear(&self) -> Result<()> {
        let database = self.owned()?;
        database.write(|tx| Ok(tx.execute("DELETE FROM token_vectors", []).map(|_| ())?))?;
        database.checkpoint()
    }

    /// All chunk keys here, to find those whose chunk is gone.
    pub(crate) fn keys(&self) -> Result<Vec<ChunkKey>> {
        self.owned()?.read(|db| {
            let mut select = db.prepare("SELECT chunk_key FROM token_vectors")?;
            let keys = select.query_map([], |row| row.get(0))?;
            Ok(keys.collect::<rusqlite::Result<_>>()?)
        })
    }

    fn absent_when_damaged<T>(&self, found: Result<T>, absent: T) -> Result<T> {
        match found {
            Err(VaultError::Database(error)) if is_damage(&error) => {
                tracing::error!(%error, "token vectors are damaged; they are made anew when the vault is next opened");
                if let Err(error) = std::fs::write(self.dir.join(DAMAGED_MARK), b"") {
                    tracing::error!(%error, "could not mark the token vectors as damaged");
                }
                Ok(absent)
            }
            other => other,
        }
    }
}

fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase)
    )
}

/// Opens the file if it belongs to this vault; a fresh one is made to.
fn open_for(path: &Path, dir: &Path, vault_id: VaultId, key: Option<StorageKey>) -> Result<Database> {
    let database = Database::open(path, key, MIGRATIONS, &dir.join("backups"))?;
    let id = vault_id.to_string();
    let owner = database.write(move |tx| {
        tx.execute("INSERT INTO facts (name, value) VALUES ('vault_id', ?1) ON CONFLICT DO NOTHING", [&id])?;
        let owner: String =
            tx.query_row("SELECT value FROM facts WHERE name = 'vault_id'", [], |row| row.get(0))?;
        // Touches the tree's root, so that a file cut short is found out here.
        tx.query_row("SELECT max(chunk_key) FROM token_vectors", [], |_| Ok(()))?;
        Ok(owner == id)
    })?;
    if owner { Ok(database) } else { Err(VaultError::Damaged { what: "token vectors" }) }
}

fn remove_files(dir: &Path) -> Result<()> {
    for name in [FILE.to_owned(), format!("{FILE}-wal"), format!("{FILE}-shm"), DAMAGED_MARK.to_owned()] {
        let path = dir.join(name);
        match std::fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => return Err(VaultError::Io { path, source }),
        }
    }
    Ok(())
}
