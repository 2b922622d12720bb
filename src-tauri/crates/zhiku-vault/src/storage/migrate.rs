//! Schema migrations by `user_version`: one SQL file, one transaction each, and a copy of the file before the first.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, TransactionBehavior};

use crate::error::{Result, VaultError};

/// One step; its number is its position in the list, from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Migration {
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
}

pub(crate) fn schema_version(connection: &Connection) -> Result<u32> {
    Ok(connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

/// Brings the schema up to date. An older database is copied into `backups` first; a newer one is refused.
pub(super) fn migrate(
    connection: &mut Connection,
    migrations: &[Migration],
    path: &Path,
    backups: &Path,
) -> Result<()> {
    let found = schema_version(connection)?;
    let supported = migrations.len() as u32;
    if found > supported {
        return Err(VaultError::TooNew { found, supported });
    }
    for (index, migration) in migrations.iter().enumerate().skip(found as usize) {
        let from = index as u32;
        if from > 0 {
            copy_before(connection, path, backups, from)?;
        }
        tracing::info!(migration = migration.name, "migrating");
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if schema_version(&transaction)? > from {
            // Another process was faster.
            continue;
        }
        transaction.execute_batch(migration.sql)?;
        transaction.pragma_update(None, "user_version", from + 1)?;
        transaction.commit()?;
    }
    Ok(())
}

/// `VACUUM INTO` makes a consistent copy without the write-ahead log.
fn copy_before(connection: &Connection, path: &Path, backups: &Path, from: u32) -> Result<()> {
    std::fs::create_dir_all(backups).map_err(VaultError::io(backups))?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let target: PathBuf = backups.join(format!("{name}-schema-{from}.sqlite"));
    if target.exists() {
        std::fs::remove_file(&target).map_err(VaultError::io(&target))?;
    }
    connection.execute("VACUUM INTO ?1", [target.to_string_lossy()])?;
    Ok(())
}
