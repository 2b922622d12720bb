//! Versions: the immutable states of a document.

use rusqlite::{Connection, OptionalExtension, Row, params};
use zhiku_core::{DocumentId, DocumentState, Searchable, UtcMs, VersionNumber};

use crate::error::{Result, VaultError};
use crate::records::{EffectiveDate, VersionChange, VersionDetail, VersionRef};
use crate::storage::row;

/// A version's row as the import sees it.
#[derive(Clone, Debug)]
pub(crate) struct VersionRow {
    pub(crate) key: i64,
    pub(crate) document_key: i64,
    pub(crate) number: u32,
    pub(crate) state: DocumentState,
    /// The version of the document that search finds.
    pub(crate) published_key: Option<i64>,
    pub(crate) published_number: Option<u32>,
    pub(crate) published_searchable: Option<Searchable>,
    pub(crate) deleted: bool,
}

pub(crate) fn find(db: &Connection, version: VersionRef) -> Result<VersionRow> {
    let mut statement = db.prepare_cached(
        "SELECT v.key, d.key, v.number, v.state, p.key, p.number, p.searchable, d.deleted_ms IS NOT NULL
         FROM documents d JOIN versions v ON v.document_key = d.key
         LEFT JOIN versions p ON p.key = d.published_version_key
         WHERE d.document_id = ?1 AND v.number = ?2",
    )?;
    let found = statement.query_row(params![version.document.0.as_bytes(), version.version.0], |row| {
        Ok(VersionRow {
            key: row.get(0)?,
            document_key: row.get(1)?,
            number: row.get(2)?,
            state: row::get_name(row, 3)?,
            published_key: row.get(4)?,
            published_number: row.get(5)?,
            published_searchable: row::get_opt_name(row, 6)?,
            deleted: row.get(7)?,
        })
    });
    found.optional()?.ok_or(VaultError::NotFound { what: "version" })
}

/// A version that the import may still write to: its document is there and nothing newer took its place.
pub(crate) fn find_open(db: &Connection, version: VersionRef) -> Result<VersionRow> {
    let found = find(db, version)?;
    if found.deleted || matches!(found.state, DocumentState::Superseded | DocumentState::Deleted) {
        return Err(VaultError::NotFound { what: "version" });
    }
    Ok(found)
}

pub(crate) fn set_state(db: &Connection, version_key: i64, state: DocumentState) -> Result<()> {
    db.prepare_cached("UPDATE versions SET state = ?2, failure = NULL WHERE key = ?1")?
        .execute(params![version_key, state.as_str()])?;
    Ok(())
}

pub(crate) fn details(
    db: &Connection,
    document_key: i64,
    document: DocumentId,
) -> Result<Vec<VersionDetail>> {
    let mut statement = db.prepare_cached(
        "SELECT number, hash, bytes, state, searchable, failure, warnings, n_units, n_chunks,
                (SELECT count(*) FROM chunks c WHERE c.version_key = versions.key AND c.has_vector = 1),
                created_ms, published_ms, effective_date, effective_precision, change_extent, n_changed_units,
                (SELECT count(*) FROM chunks c WHERE c.version_key = versions.key AND c.n_embedded > 0), n_reused
         FROM versions WHERE document_key = ?1 ORDER BY number DESC",
    )?;
    let rows = statement.query_map([document_key], |row| detail(row, document))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn detail(row: &Row<'_>, document: DocumentId) -> rusqlite::Result<VersionDetail> {
    let effective_date = match (row.get(12)?, row::get_opt_name(row, 13)?) {
        (Some(date), Some(precision)) => Some(EffectiveDate { date, precision }),
        _ => None,
    };
    let change = match (row::get_opt_name(row, 14)?, row.get(15)?) {
        (Some(extent), Some(n_changed_units)) => Some(VersionChange { extent, n_changed_units }),
        _ => None,
    };
    Ok(VersionDetail {
        document,
        version: VersionNumber(row.get(0)?),
        hash: row.get(1)?,
        bytes: row.get::<_, i64>(2)? as u64,
        state: row::get_name(row, 3)?,
        searchable: row::get_opt_name(row, 4)?,
        failure: row::get_opt_json(row, 5)?,
        warnings: row::get_json(row, 6)?,
        n_units: row.get(7)?,
        n_chunks: row.get(8)?,
        n_vectors: row.get(9)?,
        created: UtcMs(row.get(10)?),
        published: row.get::<_, Option<i64>>(11)?.map(UtcMs),
        effective_date,
        change,
        n_embedded: row.get(16)?,
        n_reused: row.get(17)?,
    })
}
