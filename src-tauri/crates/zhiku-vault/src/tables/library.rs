//! The library as a window shows it: a stretch of the list, and what is left to do. Both cost what is on screen, not what is
//! in the vault.

use rusqlite::{Connection, OptionalExtension, named_params};
use zhiku_core::DocumentId;

use super::documents::{SUMMARY, summary};
use super::queue::count_retryable;
use crate::error::Result;
use crate::principal::Scope;
use crate::records::{CurrentWork, DocumentPage, Progress, WorkSummary};
use crate::storage::row;
use crate::vault::Vault;
use crate::visibility::VISIBLE;

impl Vault {
    /// The documents at `offset` and after it, at most `limit`, newest first, of those whose title has `title_part` in it
    /// without regard to case.
    pub fn document_page(
        &self,
        scope: &Scope,
        title_part: &str,
        offset: u32,
        limit: u32,
    ) -> Result<DocumentPage> {
        let wanted = title_part.trim().to_lowercase();
        self.read(scope, |db| {
            let keys = if wanted.is_empty() { Vec::new() } else { keys_titled(db, scope, &wanted)? };
            let (total, keys) = if wanted.is_empty() {
                (count(db, scope)?, keys_at(db, scope, offset, limit)?)
            } else {
                let page = keys.iter().copied().skip(offset as usize).take(limit as usize).collect();
                (u32::try_from(keys.len()).unwrap_or(u32::MAX), page)
            };
            let mut statement =
                db.prepare_cached(&format!("WITH visible (document_key) AS (VALUES (:key)) {SUMMARY}"))?;
            let documents = keys
                .iter()
                .map(|key| statement.query_row(named_params! {":key": key}, summary))
                .collect::<rusqlite::Result<_>>()?;
            Ok(DocumentPage { total, n_retryable: count_retryable(db, scope)?, documents })
        })
    }

    /// What the queue has left of visible documents: waiting jobs and running ones, without those that no model is there for.
    pub fn work_summary(&self, scope: &Scope) -> Result<WorkSummary> {
        self.read(scope, |db| {
            let bound = named_params! {":profile": scope.profile()};
            let sql = format!("{VISIBLE} SELECT count(*) {OPEN} AND j.state IN ('queued', 'running')");
            let n_open = db.prepare_cached(&sql)?.query_row(bound, |row| row.get(0))?;
            let running = format!("{OPEN} AND j.state = 'running' ORDER BY j.updated_ms DESC LIMIT 1");
            let next = format!("{OPEN} AND j.state = 'queued' ORDER BY j.priority, j.key LIMIT 1");
            let found = current(db, scope, &running)?;
            let current = if found.is_some() { found } else { current(db, scope, &next)? };
            Ok(WorkSummary { n_open, current })
        })
    }
}

const OPEN: &str =
    "FROM jobs j JOIN versions v ON v.key = j.version_key JOIN documents d ON d.key = v.document_key
    CROSS JOIN visible ON visible.document_key = d.key WHERE j.lane <> 'awaits_model'";

fn current(db: &Connection, scope: &Scope, from: &str) -> Result<Option<CurrentWork>> {
    let sql = format!("{VISIBLE} SELECT d.document_id, d.title, j.stage, j.done, j.total {from}");
    let bound = named_params! {":profile": scope.profile()};
    let found = db.prepare_cached(&sql)?.query_row(bound, |row| {
        Ok(CurrentWork {
            document: DocumentId(row::get_uuid(row, 0)?),
            title: row.get(1)?,
            progress: Progress { stage: row::get_name(row, 2)?, done: row.get(3)?, total: row.get(4)? },
        })
    });
    Ok(found.optional()?)
}

const LISTED: &str = "FROM visible JOIN documents d ON d.key = visible.document_key WHERE d.embedded = 0";

fn count(db: &Connection, scope: &Scope) -> Result<u32> {
    let sql = format!("{VISIBLE} SELECT count(*) {LISTED}");
    Ok(db.prepare_cached(&sql)?.query_row(named_params! {":profile": scope.profile()}, |row| row.get(0))?)
}

fn keys_at(db: &Connection, scope: &Scope, offset: u32, limit: u32) -> Result<Vec<i64>> {
    let sql = format!("{VISIBLE} SELECT d.key {LISTED} ORDER BY d.key DESC LIMIT :limit OFFSET :offset");
    let bound = named_params! {":profile": scope.profile(), ":limit": limit, ":offset": offset};
    let mut statement = db.prepare_cached(&sql)?;
    let keys = statement.query_map(bound, |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok(keys)
}

/// Titles are compared here: SQLite folds the case of ASCII only.
fn keys_titled(db: &Connection, scope: &Scope, wanted: &str) -> Result<Vec<i64>> {
    let sql = format!("{VISIBLE} SELECT d.key, d.title {LISTED} ORDER BY d.key DESC");
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query(named_params! {":profile": scope.profile()})?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next()? {
        let title = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        if title.to_lowercase().contains(wanted) {
            keys.push(row.get(0)?);
        }
    }
    Ok(keys)
}
