//! Folders whose files are taken in by themselves, and what is known of files outside: enough to see without reading them that
//! they are what they were, gone, or back.

use std::path::{Path, PathBuf};

use rusqlite::{OptionalExtension, Transaction, named_params, params};
use zhiku_core::{DocumentId, UtcMs};

use crate::clock::now_ms;
use crate::error::{Result, VaultError};
use crate::failpoint::failpoint;
use crate::principal::{Function, Scope};
use crate::records::{FileStamp, SourceFile, WatchedFolder};
use crate::storage::row;
use crate::tables::documents;
use crate::vault::Vault;
use crate::visibility::VISIBLE;

impl Vault {
    /// The folders that the principal watches, by path.
    pub fn watched_folders(&self, scope: &Scope) -> Result<Vec<WatchedFolder>> {
        self.role(scope)?;
        self.database().read(|db| {
            let mut statement = db.prepare_cached(
                "SELECT path, ignore, added_ms FROM watched_folders WHERE profile_id = ?1 ORDER BY path",
            )?;
            let rows = statement.query_map([scope.profile()], |row| {
                Ok(WatchedFolder {
                    path: PathBuf::from(row.get::<_, String>(0)?),
                    ignore: row::get_json(row, 1)?,
                    added: UtcMs(row.get(2)?),
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Watches a folder, or changes what is left out of it. `path` is absolute.
    pub fn watch_folder(&self, scope: &Scope, path: &Path, ignore: &[String]) -> Result<()> {
        self.require(scope, Function::Import)?;
        if !path.is_absolute() {
            return Err(VaultError::InvalidInput(format!("{} is not an absolute path", path.display())));
        }
        let (scope, path, ignore) = (scope.clone(), text(path), row::to_json(&ignore)?);
        self.database().write(move |tx| {
            let sql = "SELECT profile_id FROM watched_folders WHERE path = ?1";
            let by = tx.query_row(sql, [&path], |row| row.get::<_, [u8; 16]>(0)).optional()?;
            if by.is_some_and(|by| by != *scope.profile()) {
                return Err(VaultError::InvalidInput(format!("{path} is watched by another member already")));
            }
            tx.execute(
                "INSERT INTO watched_folders (path, profile_id, ignore, added_ms) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (path) DO UPDATE SET ignore = excluded.ignore",
                params![path, scope.profile(), ignore, now_ms()],
            )?;
            Ok(())
        })
    }

    /// Watches a folder no more; its documents stay.
    pub fn unwatch_folder(&self, scope: &Scope, path: &Path) -> Result<()> {
        let (scope, path) = (scope.clone(), text(path));
        self.database().write(move |tx| {
            let sql = "DELETE FROM watched_folders WHERE path = ?1 AND profile_id = ?2";
            if tx.execute(sql, params![path, scope.profile()])? == 0 {
                return Err(VaultError::NotFound { what: "the watched folder" });
            }
            Ok(())
        })
    }

    /// The places at or below `folder` from which visible documents came.
    pub fn sources_below(&self, scope: &Scope, folder: &Path) -> Result<Vec<SourceFile>> {
        self.read(scope, |db| {
            // Neighbours in the index: everything that begins with the folder's name, and then only what is inside it.
            let mut statement = db.prepare_cached(&format!(
                "{VISIBLE} SELECT d.document_id, s.path, s.bytes, s.modified_ms, s.missing_ms IS NOT NULL, s.identity
                 FROM document_sources s CROSS JOIN documents d ON d.key = s.document_key AND d.parent_key IS NULL
                 CROSS JOIN visible ON visible.document_key = d.key
                 WHERE s.path >= :from AND s.path < :to ORDER BY s.path"
            ))?;
            let from = text(folder);
            let to = format!("{from}\u{10ffff}");
            let bound = named_params! {":profile": scope.profile(), ":from": from, ":to": to};
            let rows = statement.query_map(bound, |row| {
                let (bytes, modified): (Option<i64>, Option<i64>) = (row.get(2)?, row.get(3)?);
                let identity = row.get(5)?;
                Ok(SourceFile {
                    document: DocumentId(row::get_uuid(row, 0)?),
                    path: PathBuf::from(row.get::<_, String>(1)?),
                    stamp: bytes.zip(modified).map(|(bytes, modified_ms)| FileStamp {
                        bytes: bytes as u64,
                        modified_ms,
                        identity,
                    }),
                    is_missing: row.get(4)?,
                })
            })?;
            let mut files = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            files.retain(|file| file.path.starts_with(folder));
            Ok(files)
        })
    }

    /// Notes what a file was when it was taken in.
    pub fn stamp_source(&self, scope: &Scope, path: &Path, stamp: &FileStamp) -> Result<()> {
        let (scope, path, stamp) = (scope.clone(), absolute(path)?, stamp.clone());
        let stamped = self.database().write(move |tx| {
            for key in visible_at(tx, &scope, &path)? {
                tx.prepare_cached(
                    "UPDATE document_sources SET bytes = ?3, modified_ms = ?4, identity = ?5, missing_ms = NULL
                     WHERE document_key = ?1 AND path = ?2",
                )?
                .execute(params![key, path, stamp.bytes as i64, stamp.modified_ms, stamp.identity])?;
            }
            Ok(())
        });
        failpoint("source_stamped");
        stamped
    }

    /// A file was moved: its document comes from the new place from now on.
    pub fn move_source(&self, scope: &Scope, from: &Path, to: &Path) -> Result<()> {
        let (scope, from, to) = (scope.clone(), text(from), text(to));
        let moved = self.database().write(move |tx| {
            for key in visible_at(tx, &scope, &from)? {
                // Where it was taken in at both places, one of them is left.
                tx.prepare_cached(
                    "UPDATE OR REPLACE document_sources SET path = ?3, missing_ms = NULL
                     WHERE document_key = ?1 AND path = ?2",
                )?
                .execute(params![key, from, to])?;
            }
            Ok(())
        });
        failpoint("source_moved");
        moved
    }

    /// A file is gone. Where its document has another place that is there, this one is forgotten: the file was moved or was
    /// one of several copies. Otherwise the document stays, marked as without its source.
    pub fn source_gone(&self, scope: &Scope, path: &Path) -> Result<()> {
        let (scope, path) = (scope.clone(), text(path));
        let noted = self.database().write(move |tx| {
            for key in visible_at(tx, &scope, &path)? {
                let sql = "SELECT 1 FROM document_sources WHERE document_key = ?1 AND path <> ?2 AND missing_ms IS NULL";
                let change = if tx.prepare_cached(sql)?.exists(params![key, path])? {
                    "DELETE FROM document_sources WHERE document_key = ?1 AND path = ?2"
                } else {
                    "UPDATE document_sources SET missing_ms = unixepoch('subsec') * 1000
                     WHERE document_key = ?1 AND path = ?2 AND missing_ms IS NULL"
                };
                tx.prepare_cached(change)?.execute(params![key, path])?;
            }
            Ok(())
        });
        failpoint("source_gone");
        noted
    }

    /// Forgets one of several places of a document. The last one goes only with the document itself.
    pub fn remove_source(&self, scope: &Scope, document: DocumentId, path: &Path) -> Result<()> {
        self.require(scope, Function::Delete)?;
        let (scope, path) = (scope.clone(), text(path));
        self.database().write(move |tx| {
            let key = documents::visible_key(tx, &scope, document)?;
            let sql = "SELECT count(*) FROM document_sources WHERE document_key = ?1";
            if tx.query_row(sql, [key], |row| row.get::<_, i64>(0))? < 2 {
                return Err(VaultError::InvalidInput(
                    "this is the document's only place: remove the document instead".to_owned(),
                ));
            }
            let sql = "DELETE FROM document_sources WHERE document_key = ?1 AND path = ?2";
            if tx.execute(sql, params![key, path])? == 0 {
                return Err(VaultError::NotFound { what: "the document's place" });
            }
            Ok(())
        })
    }
}

fn visible_at(tx: &Transaction<'_>, scope: &Scope, path: &str) -> Result<Vec<i64>> {
    let mut statement = tx.prepare_cached(&format!(
        "{VISIBLE} SELECT s.document_key FROM document_sources s
         CROSS JOIN documents d ON d.key = s.document_key AND d.parent_key IS NULL
         CROSS JOIN visible ON visible.document_key = d.key WHERE s.path = :path"
    ))?;
    let rows =
        statement.query_map(named_params! {":profile": scope.profile(), ":path": path}, |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn absolute(path: &Path) -> Result<String> {
    Ok(text(&std::path::absolute(path).map_err(VaultError::io(path))?))
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
