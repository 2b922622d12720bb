//! What a person does with the queue: pausing it, cancelling, trying failed ones again, putting some first.

use rusqlite::{Connection, Transaction, named_params, params};
use zhiku_core::{DocumentId, DocumentState, Failure, JobId, JobStage, Reason, VersionNumber};

use super::jobs::{self, COLUMNS};
use super::{documents, versions};
use crate::clock::now_ms;
use crate::error::{Result, VaultError};
use crate::failpoint::failpoint;
use crate::meta;
use crate::principal::{Function, Scope};
use crate::records::{Job, JobKind, VersionRef};
use crate::storage::row;
use crate::vault::Vault;
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

impl Vault {
    /// Whether the queue is to stand still; outlives the program.
    pub fn imports_paused(&self) -> Result<bool> {
        Ok(self.database().read(|db| meta::get(db, PAUSED))?.as_deref() == Some("1"))
    }

    pub fn set_imports_paused(&self, paused: bool) -> Result<()> {
        self.database().write(move |tx| meta::set(tx, PAUSED, if paused { "1" } else { "0" }))
    }

    /// Ends the waiting and running jobs of one visible document and of what came inside it, or of all; returns how many.
    /// A version that was never published fails as `cancelled`; trying it again goes on where it stopped.
    pub fn cancel_imports(&self, scope: &Scope, document: Option<DocumentId>) -> Result<usize> {
        self.require(scope, Function::Import)?;
        let scope = scope.clone();
        let cancelled = self.database().write(move |tx| {
            let open = match document {
                Some(document) => open_of(tx, &scope, documents::visible_key(tx, &scope, document)?)?,
                None => open_of(tx, &scope, 0)?,
            };
            if open.is_empty() && document.is_some() {
                return Err(VaultError::NotFound { what: "an import of this document" });
            }
            for (job, version, stage) in &open {
                cancel(tx, *job, *version, *stage)?;
            }
            Ok(open.len())
        });
        failpoint("cancelled");
        cancelled
    }

    /// Tries a failed or cancelled version again.
    pub fn retry_version(&self, scope: &Scope, version: VersionRef) -> Result<JobId> {
        self.require(scope, Function::Import)?;
        let scope = scope.clone();
        self.database().write(move |tx| {
            documents::visible_key(tx, &scope, version.document)?;
            retry(tx, version)
        })
    }

    /// Queues every failed import of visible documents that may be tried again; returns how many.
    pub fn retry_failed(&self, scope: &Scope) -> Result<usize> {
        self.require(scope, Function::Import)?;
        let scope = scope.clone();
        self.database().write(move |tx| {
            let failed = retryable(tx, &scope)?;
            for version in &failed {
                retry(tx, *version)?;
            }
            Ok(failed.len())
        })
    }

    /// Puts the waiting jobs of visible documents where `urgency` says.
    pub fn prioritize(&self, scope: &Scope, documents: &[DocumentId], urgency: Urgency) -> Result<()> {
        self.require(scope, Function::Import)?;
        let (scope, ids) = (scope.clone(), documents.to_vec());
        self.database().write(move |tx| {
            for document in documents::visible_among(tx, &scope, &ids)? {
                move_jobs(tx, document, urgency)?;
            }
            Ok(())
        })
    }

    /// The waiting and running jobs of visible documents, in the order in which they are done, at most `limit`.
    pub fn open_jobs(&self, scope: &Scope, limit: u32) -> Result<Vec<Job>> {
        self.read(scope, |db| {
            let mut statement = db.prepare_cached(&format!(
                "{VISIBLE} {COLUMNS} CROSS JOIN visible ON visible.document_key = d.key
                 WHERE j.state IN ('queued', 'running')
                 ORDER BY j.state = 'running' DESC, j.priority, j.key LIMIT :limit"
            ))?;
            let bound = named_params! {":profile": scope.profile(), ":limit": limit};
            Ok(statement.query_map(bound, jobs::job)?.collect::<rusqlite::Result<_>>()?)
        })
    }
}

/// The open jobs of a document and of what is inside it; of all visible documents for key 0.
fn open_of(tx: &Transaction<'_>, scope: &Scope, document_key: i64) -> Result<Vec<(i64, i64, JobStage)>> {
    let mut statement = tx.prepare_cached(&format!(
        "{VISIBLE} SELECT j.key, j.version_key, j.stage FROM jobs j JOIN versions v ON v.key = j.version_key
         JOIN documents d ON d.key = v.document_key CROSS JOIN visible ON visible.document_key = d.key
         WHERE j.state IN ('queued', 'running') AND (:key = 0 OR d.key = :key OR d.root_key = :key)"
    ))?;
    let bound = named_params! {":profile": scope.profile(), ":key": document_key};
    let rows = statement.query_map(bound, |row| Ok((row.get(0)?, row.get(1)?, row::get_name(row, 2)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn cancel(tx: &Transaction<'_>, job: i64, version_key: i64, stage: JobStage) -> Result<()> {
    let failure = Failure { stage, reason: Reason::new("cancelled"), retryable: true };
    tx.prepare_cached("UPDATE jobs SET state = 'cancelled', failure = ?2, updated_ms = ?3 WHERE key = ?1")?
        .execute(params![job, row::to_json(&failure)?, now_ms()])?;
    jobs::fail_version(tx, version_key, &failure)
}

fn retry(tx: &Transaction<'_>, version: VersionRef) -> Result<JobId> {
    let found = versions::find_open(tx, version)?;
    if found.state == DocumentState::Failed {
        versions::set_state(tx, found.key, DocumentState::Queued)?;
    }
    let kind = if found.published_key == Some(found.key) { JobKind::Embed } else { JobKind::Import };
    jobs::enqueue(tx, found.key, kind)
}

const RETRYABLE: &str = "FROM visible JOIN documents d ON d.key = visible.document_key
    JOIN versions v ON v.key = (SELECT key FROM versions WHERE document_key = d.key ORDER BY number DESC LIMIT 1)
    WHERE v.state IN ('failed', 'published') AND v.failure IS NOT NULL AND json_extract(v.failure, '$.retryable') = 1
    AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.version_key = v.key AND j.state IN ('queued', 'running'))";

fn retryable(tx: &Transaction<'_>, scope: &Scope) -> Result<Vec<VersionRef>> {
    let mut statement =
        tx.prepare_cached(&format!("{VISIBLE} SELECT d.document_id, v.number {RETRYABLE} ORDER BY v.key"))?;
    let rows = statement.query_map(named_params! {":profile": scope.profile()}, |row| {
        let document = DocumentId(row::get_uuid(row, 0)?);
        Ok(VersionRef { document, version: VersionNumber(row.get(1)?) })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn count_retryable(db: &Connection, scope: &Scope) -> Result<u32> {
    let mut statement = db.prepare_cached(&format!("{VISIBLE} SELECT count(*) {RETRYABLE}"))?;
    Ok(statement.query_row(named_params! {":profile": scope.profile()}, |row| row.get(0))?)
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
