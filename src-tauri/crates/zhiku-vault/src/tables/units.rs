//! Units of published versions, for reading; older versions stay readable for the answers that cite them.

use rusqlite::{Connection, OptionalExtension, Row, named_params};
use serde::de::DeserializeOwned;
use zhiku_core::{DocumentId, TimedText, UnitId, UnitLayout, VersionNumber};

use crate::error::Result;
use crate::principal::Scope;
use crate::records::UnitRow;
use crate::storage::row;
use crate::vault::Vault;
use crate::visibility::VISIBLE;

const SELECT: &str =
    "SELECT u.unit_id, d.document_id, v.number, u.ordinal, u.kind, u.locator, u.text, u.process, u.trust,
        u.heading_path, u.layout, u.confidence,
        u.timing
    FROM visible JOIN documents d ON d.key = visible.document_key
    JOIN versions v ON v.document_key = d.key AND v.published_ms IS NOT NULL
    JOIN units u ON u.version_key = v.key";

impl Vault {
    /// `None` when it is not there or not visible.
    pub fn unit(&self, scope: &Scope, unit: UnitId) -> Result<Option<UnitRow>> {
        self.read(scope, |db| {
            let mut statement = db.prepare_cached(&format!("{VISIBLE} {SELECT} WHERE u.unit_id = :unit"))?;
            let bound = named_params! {":profile": scope.profile(), ":unit": unit.0.as_bytes()};
            Ok(statement.query_row(bound, unit_row).optional()?)
        })
    }

    /// All units of a version in their order; none when it is not there or not visible.
    pub fn units(&self, scope: &Scope, document: DocumentId, version: VersionNumber) -> Result<Vec<UnitRow>> {
        self.read(scope, |db| {
            let mut statement = db.prepare_cached(&format!(
                "{VISIBLE} {SELECT} WHERE d.document_id = :document AND v.number = :number ORDER BY u.ordinal"
            ))?;
            let bound = named_params! {
                ":profile": scope.profile(), ":document": document.0.as_bytes(), ":number": version.0,
            };
            Ok(statement.query_map(bound, unit_row)?.collect::<rusqlite::Result<_>>()?)
        })
    }
}

/// Units of a version on their way in, published or not; for the import, which has no reader.
pub(crate) fn of_version(db: &Connection, version_key: i64) -> Result<Vec<UnitRow>> {
    let mut statement = db.prepare_cached(
        "SELECT u.unit_id, d.document_id, v.number, u.ordinal, u.kind, u.locator, u.text, u.process, u.trust,
                u.heading_path, u.layout, u.confidence, u.timing
         FROM units u JOIN versions v ON v.key = u.version_key JOIN documents d ON d.key = v.document_key
         WHERE u.version_key = ?1 ORDER BY u.ordinal",
    )?;
    Ok(statement.query_map([version_key], unit_row)?.collect::<rusqlite::Result<_>>()?)
}

fn unit_row(row: &Row<'_>) -> rusqlite::Result<UnitRow> {
    let layout = get_packed::<UnitLayout>(row, 10)?;
    Ok(UnitRow {
        unit_id: UnitId(row::get_uuid(row, 0)?),
        document_id: DocumentId(row::get_uuid(row, 1)?),
        version: VersionNumber(row.get(2)?),
        ordinal: row.get(3)?,
        kind: row::get_name(row, 4)?,
        locator: row::get_json(row, 5)?,
        text: row.get(6)?,
        process: row::get_name(row, 7)?,
        trust: row::get_name(row, 8)?,
        heading_path: row::get_json(row, 9)?,
        layout,
        confidence: row.get(11)?,
        timing: get_packed::<Vec<TimedText>>(row, 12)?.unwrap_or_default(),
    })
}

fn get_packed<T: DeserializeOwned>(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<T>> {
    let Some(bytes) = row.get::<_, Option<Vec<u8>>>(index)? else { return Ok(None) };
    let unpacked = postcard::from_bytes(&bytes).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(index, rusqlite::types::Type::Blob, Box::new(error))
    })?;
    Ok(Some(unpacked))
}
