//! Documents as lists and detail views show them.

use std::collections::HashSet;
use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension, Row, named_params};
use zhiku_core::{DocumentId, ProfileId, UtcMs, VersionNumber};

use super::versions;
use crate::error::{Result, VaultError};
use crate::principal::Scope;
use crate::records::{DocumentDetail, DocumentFilter, DocumentSummary, Progress, VersionDetail};
use crate::storage::row;
use crate::vault::Vault;
use crate::visibility::VISIBLE;

/// Columns of [`summary`]; `n` is the newest version, `p` the published one, `j` the newest version's latest job.
pub(super) const SUMMARY: &str = "SELECT d.document_id, d.title, d.kind, d.owner, d.visibility, p.number, p.searchable,
        n.number, n.state, n.failure, n.bytes, n.n_units, n.n_chunks, json_array_length(n.warnings), d.created_ms,
        j.stage, j.done, j.total, (SELECT document_id FROM documents WHERE key = d.parent_key),
        d.parent_key IS NULL AND (SELECT min(missing_ms IS NOT NULL) FROM document_sources WHERE document_key = d.key)
    FROM visible JOIN documents d ON d.key = visible.document_key
    JOIN versions n ON n.key = (SELECT key FROM versions WHERE document_key = d.key ORDER BY number DESC LIMIT 1)
    LEFT JOIN versions p ON p.key = d.published_version_key
    LEFT JOIN jobs j ON j.key = (SELECT max(key) FROM jobs WHERE version_key = n.key)";

impl Vault {
    /// The visible documents, newest first, without the pictures of their pages.
    pub fn list_documents(&self, scope: &Scope, filter: &DocumentFilter) -> Result<Vec<DocumentSummary>> {
        let mut documents = self.read(scope, |db| {
            let mut statement =
                db.prepare_cached(&format!("{VISIBLE} {SUMMARY} WHERE d.embedded = 0 ORDER BY d.key DESC"))?;
            let rows = statement.query_map(named_params! {":profile": scope.profile()}, summary)?;
            Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?)
        })?;
        if let Some(part) = &filter.title_contains {
            let part = part.to_lowercase();
            documents.retain(|document| document.title.to_lowercase().contains(&part));
        }
        if let Some(state) = filter.state {
            documents.retain(|document| document.state == state);
        }
        Ok(documents)
    }

    /// One document with its sources and versions.
    pub fn show(&self, scope: &Scope, document: DocumentId) -> Result<DocumentDetail> {
        self.read(scope, |db| {
            let key = visible_key(db, scope, document)?;
            let mut statement = db.prepare_cached(&format!("{VISIBLE} {SUMMARY} WHERE d.key = :document"))?;
            let bound = named_params! {":profile": scope.profile(), ":document": key};
            let summary = statement.query_row(bound, summary)?;
            let mut paths = db.prepare_cached(
                "SELECT path FROM document_sources WHERE document_key = ?1 ORDER BY added_ms, path",
            )?;
            let paths = paths.query_map([key], |row| Ok(PathBuf::from(row.get::<_, String>(0)?)))?;
            Ok(DocumentDetail {
                summary,
                source_paths: paths.collect::<rusqlite::Result<_>>()?,
                versions: versions::details(db, key, document)?,
            })
        })
    }

    pub fn version(
        &self,
        scope: &Scope,
        document: DocumentId,
        version: VersionNumber,
    ) -> Result<VersionDetail> {
        let found = self.show(scope, document)?.versions.into_iter().find(|detail| detail.version == version);
        found.ok_or(VaultError::NotFound { what: "version" })
    }

    /// Those of `ids` that the principal sees now; for what runs longer than one query.
    pub fn documents_visible(&self, scope: &Scope, ids: &[DocumentId]) -> Result<HashSet<DocumentId>> {
        self.read(scope, |db| visible_among(db, scope, ids))
    }
}

pub(crate) fn visible_among(
    db: &Connection,
    scope: &Scope,
    ids: &[DocumentId],
) -> Result<HashSet<DocumentId>> {
    let mut statement = db.prepare_cached(&visible_one())?;
    let mut seen = HashSet::new();
    for id in ids {
        if statement.exists(named_params! {":profile": scope.profile(), ":document": id.0.as_bytes()})? {
            seen.insert(*id);
        }
    }
    Ok(seen)
}

/// The document's key, when the principal sees it.
pub(crate) fn visible_key(db: &Connection, scope: &Scope, document: DocumentId) -> Result<i64> {
    let mut statement = db.prepare_cached(&visible_one())?;
    let bound = named_params! {":profile": scope.profile(), ":document": document.0.as_bytes()};
    let key = statement.query_row(bound, |row| row.get(0)).optional()?;
    key.ok_or(VaultError::NotFound { what: "document" })
}

fn visible_one() -> String {
    format!(
        "{VISIBLE} SELECT d.key FROM documents d JOIN visible ON visible.document_key = d.key WHERE d.document_id = :document"
    )
}

pub(super) fn summary(row: &Row<'_>) -> rusqlite::Result<DocumentSummary> {
    let count = |index| Ok::<_, rusqlite::Error>(row.get::<_, Option<u32>>(index)?.unwrap_or(0));
    let progress = match row::get_opt_name(row, 15)? {
        Some(stage) => Some(Progress { stage, done: count(16)?, total: count(17)? }),
        None => None,
    };
    Ok(DocumentSummary {
        document: DocumentId(row::get_uuid(row, 0)?),
        title: row.get(1)?,
        kind: row::get_name(row, 2)?,
        owner: ProfileId(row::get_uuid(row, 3)?),
        visibility: row::get_name(row, 4)?,
        published: row.get::<_, Option<u32>>(5)?.map(VersionNumber),
        searchable: row::get_opt_name(row, 6)?,
        newest: VersionNumber(row.get(7)?),
        state: row::get_name(row, 8)?,
        failure: row::get_opt_json(row, 9)?,
        progress,
        bytes: row.get::<_, i64>(10)? as u64,
        n_units: count(11)?,
        n_chunks: count(12)?,
        n_warnings: count(13)?,
        created: UtcMs(row.get(14)?),
        parent: row::get_opt_uuid(row, 18)?.map(DocumentId),
        source_missing: row.get::<_, Option<bool>>(19)?.unwrap_or(false),
    })
}
