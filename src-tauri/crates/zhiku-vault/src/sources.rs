//! Sources: what a document was taken in from, and which version its bytes are. A path that is known gets a new version or
//! nothing; what came inside another document ([`Vault::register_child`]) is known by its name in there and has its rights.

use std::path::Path;

use rusqlite::{OptionalExtension, Transaction, params};
use zhiku_core::{DocumentId, DocumentKind, DocumentState, DocumentVisibility, VersionNumber};

use crate::clock::now_ms;
use crate::error::{Result, VaultError};
use crate::failpoint::failpoint;
use crate::principal::{Function, Scope};
use crate::records::{ChildSource, RegisterOutcome, Registered, Sha256, StoredObject, VersionRef};
use crate::storage::row;
use crate::tables::{jobs, versions};
use crate::vault::Vault;
use crate::visibility::VISIBLE;

/// An archive in a mail in an archive: what is deeper is not taken in.
const DEEPEST: u32 = 4;

/// What a source is called and what it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewSource<'a> {
    path: &'a str,
    title: &'a str,
    kind: DocumentKind,
    object: &'a StoredObject,
}

impl Vault {
    /// Registers a source whose bytes [`Vault::put_object`] took in. A path that is known gets a new version, or nothing
    /// when its bytes are the same; an unknown path with the bytes of a visible document becomes one more place of that
    /// document. What the principal does not see does not count: nothing of it can be learnt here.
    pub fn register_source(
        &self,
        scope: &Scope,
        path: &Path,
        title: &str,
        kind: DocumentKind,
        object: &StoredObject,
    ) -> Result<Registered> {
        self.require(scope, Function::Import)?;
        let (scope, title, stored) = (scope.clone(), title.to_owned(), object.clone());
        let path = std::path::absolute(path).map_err(VaultError::io(path))?.to_string_lossy().into_owned();
        let registered = self.database().write(move |tx| {
            let source = NewSource { path: &path, title: &title, kind, object: &stored };
            register(tx, &scope, &source)
        });
        if object.referenced_path.is_none() {
            self.objects().release(&object.hash);
        }
        failpoint("registered");
        registered
    }

    /// Registers what came inside a version: an attachment, a member of an archive, a picture. The same name in there again
    /// is a new version, or nothing when its bytes are the same. Queues the work that is left.
    pub fn register_child(
        &self,
        parent: VersionRef,
        child: &ChildSource<'_>,
        object: &StoredObject,
    ) -> Result<Registered> {
        let (name, kind, embedded) = (child.name.to_owned(), child.kind, child.embedded);
        let (title, stored) = (child.title.to_owned(), object.clone());
        let registered = self.database().write(move |tx| {
            let parent = versions::find_open(tx, parent)?;
            let source = NewSource { path: &name, title: &title, kind, object: &stored };
            let registered = match child_named(tx, parent.document_key, &name)? {
                Some(key) => {
                    let newest = newest_version(tx, key)?;
                    if newest.hash == stored.hash {
                        newest.registered(RegisterOutcome::SameBytes)
                    } else {
                        add_version(tx, key, &newest, &source)?
                    }
                }
                None => add_child(tx, parent.document_key, &source, embedded)?,
            };
            if !matches!(registered.state, DocumentState::Published | DocumentState::Failed) {
                let version = versions::find_open(tx, registered.version)?;
                jobs::enqueue(tx, version.key, crate::records::JobKind::Import)?;
            }
            Ok(registered)
        });
        self.objects().release(&object.hash);
        failpoint("child_registered");
        registered
    }
}

fn register(tx: &Transaction<'_>, scope: &Scope, source: &NewSource<'_>) -> Result<Registered> {
    if let Some(key) = document_at(tx, scope, source.path)? {
        let newest = newest_version(tx, key)?;
        if newest.hash == source.object.hash {
            return Ok(newest.registered(RegisterOutcome::SameBytes));
        }
        if n_sources(tx, key)? <= 1 {
            return add_version(tx, key, &newest, source);
        }
        // One of several copies changed: it is a source of its own from now on, the others stay what they are.
        tx.execute(
            "DELETE FROM document_sources WHERE document_key = ?1 AND path = ?2",
            params![key, source.path],
        )?;
    }
    if let Some(key) = document_with(tx, scope, &source.object.hash)? {
        add_source(tx, key, source.path)?;
        return Ok(newest_version(tx, key)?.registered(RegisterOutcome::SameBytes));
    }
    add_document(tx, scope, source)
}

struct Newest {
    document: DocumentId,
    key: i64,
    number: u32,
    hash: Sha256,
    state: DocumentState,
}

impl Newest {
    fn registered(&self, outcome: RegisterOutcome) -> Registered {
        let version = VersionRef { document: self.document, version: VersionNumber(self.number) };
        Registered { version, outcome, state: self.state }
    }
}

fn document_at(tx: &Transaction<'_>, scope: &Scope, path: &str) -> Result<Option<i64>> {
    let mut statement = tx.prepare_cached(&format!(
        "{VISIBLE} SELECT s.document_key FROM document_sources s
         CROSS JOIN documents d ON d.key = s.document_key AND d.parent_key IS NULL
         CROSS JOIN visible ON visible.document_key = d.key
         WHERE s.path = :path ORDER BY s.document_key LIMIT 1"
    ))?;
    let bound = rusqlite::named_params! {":profile": scope.profile(), ":path": path};
    Ok(statement.query_row(bound, |row| row.get(0)).optional()?)
}

/// A visible document whose newest version has these bytes.
fn document_with(tx: &Transaction<'_>, scope: &Scope, hash: &Sha256) -> Result<Option<i64>> {
    let mut statement = tx.prepare_cached(&format!(
        "{VISIBLE} SELECT v.document_key FROM versions v
         CROSS JOIN documents d ON d.key = v.document_key AND d.parent_key IS NULL
         CROSS JOIN visible ON visible.document_key = d.key
         WHERE v.hash = :hash
         AND v.number = (SELECT max(number) FROM versions WHERE document_key = v.document_key)
         ORDER BY v.document_key LIMIT 1"
    ))?;
    let bound = rusqlite::named_params! {":profile": scope.profile(), ":hash": hash};
    Ok(statement.query_row(bound, |row| row.get(0)).optional()?)
}

fn newest_version(tx: &Transaction<'_>, document_key: i64) -> Result<Newest> {
    let sql = "SELECT d.document_id, v.key, v.number, v.hash, v.state
               FROM versions v JOIN documents d ON d.key = v.document_key
               WHERE v.document_key = ?1 ORDER BY v.number DESC LIMIT 1";
    Ok(tx.query_row(sql, [document_key], |row| {
        Ok(Newest {
            document: DocumentId(row::get_uuid(row, 0)?),
            key: row.get(1)?,
            number: row.get(2)?,
            hash: row.get(3)?,
            state: row::get_name(row, 4)?,
        })
    })?)
}

fn n_sources(tx: &Transaction<'_>, document_key: i64) -> Result<i64> {
    // A place whose file is gone is no copy that must stay what it is.
    let sql = "SELECT count(*) FROM document_sources WHERE document_key = ?1 AND missing_ms IS NULL";
    Ok(tx.query_row(sql, [document_key], |row| row.get(0))?)
}

fn add_source(tx: &Transaction<'_>, document_key: i64, path: &str) -> Result<()> {
    tx.execute(
        "INSERT OR IGNORE INTO document_sources (document_key, path, added_ms) VALUES (?1, ?2, ?3)",
        params![document_key, path, now_ms()],
    )?;
    Ok(())
}

/// The next state of a known document. An older one that never got published will not be any more.
fn add_version(
    tx: &Transaction<'_>,
    document_key: i64,
    newest: &Newest,
    source: &NewSource<'_>,
) -> Result<Registered> {
    if !matches!(newest.state, DocumentState::Published | DocumentState::Failed) {
        jobs::cancel_for_version(tx, newest.key)?;
        versions::set_state(tx, newest.key, DocumentState::Superseded)?;
        // Nobody ever saw it, so nothing cites it.
        crate::vectors::delete_of_version(tx, newest.key)?;
        tx.execute("DELETE FROM chunks WHERE version_key = ?1", [newest.key])?;
        tx.execute("DELETE FROM units WHERE version_key = ?1", [newest.key])?;
    }
    let number = newest.number + 1;
    insert_version(tx, document_key, number, source.object)?;
    let version = VersionRef { document: newest.document, version: VersionNumber(number) };
    Ok(Registered { version, outcome: RegisterOutcome::NewVersion, state: DocumentState::Queued })
}

/// What is brought in is for all members until somebody narrows it.
fn add_document(tx: &Transaction<'_>, scope: &Scope, source: &NewSource<'_>) -> Result<Registered> {
    let document = DocumentId::new();
    tx.execute(
        "INSERT INTO documents (document_id, title, kind, owner, visibility, created_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            document.0.as_bytes(),
            source.title,
            source.kind.as_str(),
            scope.profile(),
            DocumentVisibility::AllMembers.as_str(),
            now_ms()
        ],
    )?;
    let key = tx.last_insert_rowid();
    add_source(tx, key, source.path)?;
    insert_version(tx, key, 1, source.object)?;
    let version = VersionRef { document, version: VersionNumber(1) };
    Ok(Registered { version, outcome: RegisterOutcome::New, state: DocumentState::Queued })
}

fn insert_version(tx: &Transaction<'_>, document_key: i64, number: u32, object: &StoredObject) -> Result<()> {
    tx.execute(
        "INSERT INTO versions (document_key, number, hash, bytes, referenced_path, state, created_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, 'queued', ?6)",
        params![
            document_key,
            number,
            object.hash,
            object.bytes as i64,
            object.referenced_path.as_ref().map(|path| path.to_string_lossy().into_owned()),
            now_ms()
        ],
    )?;
    Ok(())
}

fn child_named(tx: &Transaction<'_>, parent_key: i64, name: &str) -> Result<Option<i64>> {
    let sql = "SELECT d.key FROM documents d JOIN document_sources s ON s.document_key = d.key
               WHERE d.parent_key = ?1 AND s.path = ?2 AND d.deleted_ms IS NULL";
    Ok(tx.query_row(sql, params![parent_key, name], |row| row.get(0)).optional()?)
}

/// Owned by who owns the container; who sees it is asked of the outermost container.
fn add_child(
    tx: &Transaction<'_>,
    parent_key: i64,
    source: &NewSource<'_>,
    embedded: bool,
) -> Result<Registered> {
    let depth = "WITH RECURSIVE up (key, depth) AS (
                     SELECT parent_key, 1 FROM documents WHERE key = ?1
                     UNION ALL SELECT d.parent_key, depth + 1 FROM documents d JOIN up ON d.key = up.key)
                 SELECT max(depth) FROM up";
    if tx.query_row(depth, [parent_key], |row| row.get::<_, u32>(0))? > DEEPEST {
        return Err(VaultError::InvalidInput(format!("{} is nested too deep", source.path)));
    }
    let document = DocumentId::new();
    tx.execute(
        "INSERT INTO documents (document_id, title, kind, owner, visibility, created_ms, parent_key, root_key, embedded)
         SELECT ?1, ?2, ?3, owner, visibility, ?4, key, coalesce(root_key, key), ?5 FROM documents WHERE key = ?6",
        params![
            document.0.as_bytes(),
            source.title,
            source.kind.as_str(),
            now_ms(),
            embedded,
            parent_key
        ],
    )?;
    let key = tx.last_insert_rowid();
    add_source(tx, key, source.path)?;
    insert_version(tx, key, 1, source.object)?;
    let version = VersionRef { document, version: VersionNumber(1) };
    Ok(Registered { version, outcome: RegisterOutcome::New, state: DocumentState::Queued })
}
