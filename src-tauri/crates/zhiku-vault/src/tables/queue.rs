//! What a person does with the queue: pausing it, taking one document out of it, trying failed ones again, putting some first.

use rusqlite::{Transaction, params};
use zhiku_core::{DocumentId, DocumentState, Failure, JobStage, Reason};

use super::jobs::{self, COLUMNS};
use super::{documents, versions};
use crate::error::{Result, VaultError};
use crate::meta;
use crate::principal::{Function, Scope};
use crate::records::{Job, VersionRef};
use crate::storage::row;
use crate::vault::Vault;
use crate::vectors;
use crate::visibility::VISIBLE;

const PAUSED: &str = "imports_paused";
/// How far an urgent job stands before one that came in its turn, and a background job behind it.
const STEP: i32 = 10;

/// When a document's work is done, compared with other documents of its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Urgency {
    /// Somebody waits for just this: a few files that were dropped, a document that a question is about.
    First,
    #[default]
    InTurn,
    /// Nobody asked for it now: a folder that is watched.
    Behind,
}

impl Urgency {
    pub(super) fn offset(self) -> i32 {
        match self {
            Self::First => -STEP,
            Self::InTurn => 0,
            Self::Behind => STEP,
        }
    }
}

/// What became of an import that was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelOutcome {
    /// There was no earlier version: the document is gone.
    Removed,
    /// The earlier version stays; the new one is failed as `cancelled`, and nothing of it is left.
    VersionCancelled,
}

impl Vault {
    /// Whether the queue is to stand still; outlives the program.
    pub fn imports_paused(&self) -> Result<bool> {
        Ok(self.database().read(|db| meta::get(db, PAUSED))?.as_deref() == Some("1"))
    }

    pub fn set_imports_paused(&self, paused: bool) -> Result<()> {
        self.database().write(move |tx| meta::set(tx, PAUSED, if paused { "1" } else { "0" }))
    }

    /// Takes a document's import back. A document without an earlier version is removed with all that was made of it;
    /// otherwise the version that was under way leaves nothing behind and may be tried again.
    pub fn cancel_import(&self, scope: &Scope, document: DocumentId) -> Result<CancelOutcome> {
        self.require(scope, Function::Import)?;
        let by = scope.clone();
        let cancelled = self.database().write(move |tx| cancel_newest(tx, &by, document))?;
        let Some(chunks) = cancelled else {
            self.remove(scope, document)?;
            return Ok(CancelOutcome::Removed);
        };
        self.token_store().delete_chunks(chunks)?;
        Ok(CancelOutcome::VersionCancelled)
    }

    /// Queues every failed import of visible documents that may be tried again; returns how many.
    pub fn retry_failed(&self, scope: &Scope) -> Result<usize> {
        self.require(scope, Function::Import)?;
        let failed = self.read(scope, |db| {
            let mut statement = db.prepare_cached(&format!(
                "{VISIBLE} SELECT d.document_id, v.number FROM visible
                 JOIN documents d ON d.key = visible.document_key
                 JOIN versions v ON v.key = (SELECT key FROM versions WHERE document_key = d.key ORDER BY number DESC LIMIT 1)
                 WHERE v.state = 'failed' AND json_extract(v.failure, '$.retryable') = 1 ORDER BY v.key"
            ))?;
            let bound = rusqlite::named_params! {":profile": scope.profile()};
            let rows = statement.query_map(bound, |row| {
                let document = DocumentId(row::get_uuid(row, 0)?);
                Ok(VersionRef { document, version: zhiku_core::VersionNumber(row.get(1)?) })
            })?;
            Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?)
        })?;
        for version in &failed {
            self.retry_version(scope, *version)?;
        }
        Ok(failed.len())
    }

    /// Puts the waiting jobs of visible documents where `urgency` says.
    pub fn prioritize(&self, scope: &Scope, documents: &[DocumentId], urgency: Urgency) -> Result<()> {
        let (scope, ids) = (scope.clone(), documents.to_vec());
        self.database().write(move |tx| {
            for document in documents::visible_among(tx, &scope, &ids)? {
                move_jobs(tx, document, urgency)?;
            }
            Ok(())
        })
    }

    /// The waiting and running jobs of visible documents, in the order in which they are done.
    pub fn open_jobs(&self, scope: &Scope) -> Result<Vec<Job>> {
        self.read(scope, |db| {
            let mut statement = db.prepare_cached(&format!(
                "{VISIBLE} {COLUMNS} CROSS JOIN visible ON visible.document_key = d.key
                 WHERE j.state IN ('queued', 'running') ORDER BY j.state = 'running' DESC, j.priority, j.key"
            ))?;
            let rows =
                statement.query_map(rusqlite::named_params! {":profile": scope.profile()}, jobs::job)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }
}

/// The chunks whose token vectors are to go; `None` when the document is to be removed as a whole.
fn cancel_newest(tx: &Transaction<'_>, scope: &Scope, document: DocumentId) -> Result<Option<Vec<i64>>> {
    let key = documents::visible_key(tx, scope, document)?;
    let newest = newest(tx, document, key)?;
    if matches!(newest.state, DocumentState::Published) || !is_open(tx, newest.key)? {
        return Err(VaultError::NotFound { what: "an import of this document" });
    }
    jobs::cancel_for_version(tx, newest.key)?;
    if newest.published_key.is_none() {
        return Ok(None);
    }
    let mut statement = tx.prepare_cached("SELECT key FROM chunks WHERE version_key = ?1")?;
    let chunks = statement
        .query_map([newest.key], |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<i64>>>()?;
    vectors::delete_of_version(tx, newest.key)?;
    for table in ["chunks", "units", "version_stages"] {
        tx.execute(&format!("DELETE FROM {table} WHERE version_key = ?1"), [newest.key])?;
    }
    tx.execute(
        "UPDATE versions SET n_units = 0, n_chunks = 0, warnings = '[]', change_extent = NULL WHERE key = ?1",
        [newest.key],
    )?;
    let failure = Failure { stage: JobStage::Parse, reason: Reason::new("cancelled"), retryable: true };
    jobs::fail_version(tx, newest.key, &failure)?;
    Ok(Some(chunks))
}

fn newest(tx: &Transaction<'_>, document: DocumentId, key: i64) -> Result<versions::VersionRow> {
    let sql = "SELECT max(number) FROM versions WHERE document_key = ?1";
    let number = tx.query_row(sql, [key], |row| row.get(0))?;
    versions::find(tx, VersionRef { document, version: zhiku_core::VersionNumber(number) })
}

fn is_open(tx: &Transaction<'_>, version_key: i64) -> Result<bool> {
    let sql = "SELECT 1 FROM jobs WHERE version_key = ?1 AND state IN ('queued', 'running', 'failed')";
    Ok(tx.prepare_cached(sql)?.exists([version_key])?)
}

fn move_jobs(tx: &Transaction<'_>, document: DocumentId, urgency: Urgency) -> Result<()> {
    let mut statement = tx.prepare_cached(
        "SELECT j.key, j.version_key FROM jobs j JOIN versions v ON v.key = j.version_key
         JOIN documents d ON d.key = v.document_key
         WHERE d.document_id = ?1 AND j.state IN ('queued', 'running')",
    )?;
    let found = statement
        .query_map([document.0.as_bytes()], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    for (job, version) in found {
        let priority = jobs::priority_of(tx, version)? + urgency.offset();
        tx.execute("UPDATE jobs SET priority = ?2 WHERE key = ?1", params![job, priority])?;
    }
    Ok(())
}
