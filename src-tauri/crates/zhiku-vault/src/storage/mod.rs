//! SQLite: the one way in ([`open_connection`]), migrations, one writer thread and a pool of readers ([`Database`]).
//!
//! Deliberately absent: what is in the tables. See `tables/` for that.

mod database;
mod ffi;
mod migrate;
pub(crate) mod row;

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

pub(crate) use database::Database;
pub(crate) use migrate::Migration;

use crate::error::{Result, VaultError};

/// The key of an encrypted store. No build of today can use one, so the type has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageKey {}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Write,
    Read,
}

/// Above the vectors of a large vault: with SQLite's default of 2 MB a scan of vec0 rows is fifty times slower.
const CACHE_KIB: i64 = 128 * 1024;
const READER_CACHE_KIB: i64 = 32 * 1024;

/// Opens a database file. All storage comes through here, so that encryption can be added in one place.
pub(crate) fn open_connection(path: &Path, access: Access, key: Option<StorageKey>) -> Result<Connection> {
    if let Some(key) = key {
        match key {}
    }
    ffi::register_vector_extension();
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if access == Access::Write {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.set_prepared_statement_cache_capacity(128);
    match access {
        Access::Write => {
            let mode: String = connection.query_row("PRAGMA journal_mode = wal", [], |row| row.get(0))?;
            if mode != "wal" {
                return Err(VaultError::Damaged { what: "journal mode" });
            }
            connection.pragma_update(None, "synchronous", "normal")?;
            connection.pragma_update(None, "secure_delete", true)?;
            connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        }
        Access::Read => {
            connection.pragma_update(None, "query_only", true)?;
            connection.pragma_update(None, "cache_size", -READER_CACHE_KIB)?;
        }
    }
    Ok(connection)
}
