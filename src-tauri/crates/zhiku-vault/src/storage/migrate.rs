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

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: &[Migration] = &[
        Migration { name: "0001_a", sql: "CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1);" },
        Migration { name: "0002_b", sql: "ALTER TABLE a ADD COLUMN y INTEGER NOT NULL DEFAULT 2;" },
        Migration { name: "0003_c", sql: "CREATE INDEX a_y ON a (y);" },
    ];

    fn schema(connection: &Connection) -> Vec<String> {
        let mut statement =
            connection.prepare("SELECT sql FROM sqlite_master ORDER BY name").expect("prepare");
        statement.query_map([], |row| row.get(0)).expect("query").collect::<Result<_, _>>().expect("rows")
    }

    fn migrated(dir: &Path, name: &str, stops: &[usize]) -> Connection {
        let path = dir.join(name);
        let mut connection = Connection::open(&path).expect("open");
        for stop in stops {
            migrate(&mut connection, &STEPS[..*stop], &path, &dir.join("backups")).expect("migrate");
        }
        connection
    }

    #[test]
    fn every_way_to_the_newest_schema_ends_in_the_same_one() {
        let dir = tempfile::tempdir().expect("temp dir");
        let straight = schema(&migrated(dir.path(), "straight.sqlite", &[3]));
        for (n, stops) in [[1, 3, 3].as_slice(), &[2, 3], &[1, 2, 3]].into_iter().enumerate() {
            let name = format!("{n}.sqlite");
            assert_eq!(schema(&migrated(dir.path(), &name, stops)), straight, "{stops:?}");
        }
    }

    #[test]
    fn a_copy_is_made_before_each_step_and_not_of_a_new_file() {
        let dir = tempfile::tempdir().expect("temp dir");
        migrated(dir.path(), "new.sqlite", &[1]);
        assert!(!dir.path().join("backups").exists());
        migrated(dir.path(), "old.sqlite", &[1, 3]);
        for from in [1, 2] {
            let copy =
                Connection::open(dir.path().join(format!("backups/old-schema-{from}.sqlite"))).expect("open");
            assert_eq!(schema_version(&copy).expect("version"), from);
        }
    }

    #[test]
    fn a_failing_step_leaves_the_schema_before_it() {
        let dir = tempfile::tempdir().expect("temp dir");
        let mut connection = migrated(dir.path(), "v.sqlite", &[1]);
        let broken = [STEPS[0], Migration { name: "0002_x", sql: "CREATE TABLE b (x); CREATE TABLE a (x);" }];
        let path = dir.path().join("v.sqlite");
        assert!(migrate(&mut connection, &broken, &path, &dir.path().join("backups")).is_err());
        assert_eq!((schema_version(&connection).expect("version"), schema(&connection).len()), (1, 1));
    }
}
