//! The import's side of a vault: staging the units and chunks of a version, all invisible until published.
//! Every step may be repeated after a crash and leaves the same rows.

use std::path::Path;

use rusqlite::{OptionalExtension, Transaction, params};
use sha2::{Digest, Sha256 as Hasher};
use zhiku_core::model::EmbeddingSpace;
use zhiku_core::{
    Chunk, DocumentId, DocumentState, Failure, JobStage, ParseWarning, ParsedUnit, Process, Trust, UnitId,
    VersionNumber,
};

use crate::clock::now_ms;
use crate::error::{Result, VaultError};
use crate::failpoint::failpoint;
use crate::meta;
use crate::records::{EffectiveDate, Recognized, Sha256, SourceLabel, UnitRow, VersionRef};
use crate::storage::row;
use crate::tables::{jobs, units, versions};
use crate::vault::Vault;

/// sha256 of what is embedded for a chunk and of what embeds it: equal hashes mean equal vectors.
pub(crate) fn indexed_hash(
    indexed_text: &str,
    space: Option<&EmbeddingSpace>,
    chunker_version: u32,
) -> Sha256 {
    let mut hasher = Hasher::new();
    hasher.update(indexed_text.as_bytes());
    let model = space.map_or("", |space| space.model_id.as_str());
    hasher.update(format!("\0{model}\0{}\0{chunker_version}", space.map_or(0, |space| space.dim)));
    hasher.finalize().into()
}

impl Vault {
    /// The version's state on its way to being published.
    pub fn set_state(&self, version: VersionRef, state: DocumentState) -> Result<()> {
        if !matches!(
            state,
            DocumentState::Queued | DocumentState::Parsing | DocumentState::Indexing | DocumentState::Ready
        ) {
            return Err(VaultError::InvalidInput(format!("a version cannot be set {}", state.as_str())));
        }
        self.database().write(move |tx| {
            let found = versions::find_open(tx, version)?;
            if found.state != DocumentState::Published {
                versions::set_state(tx, found.key, state)?;
            }
            Ok(())
        })
    }

    /// Whether a stage of this or a later stage version was finished for the version.
    pub fn stage_finished(&self, version: VersionRef, stage: JobStage, stage_version: u32) -> Result<bool> {
        self.database().read(|db| {
            let found = versions::find(db, version)?;
            let sql =
                "SELECT 1 FROM version_stages WHERE version_key = ?1 AND stage = ?2 AND stage_version >= ?3";
            Ok(db.prepare_cached(sql)?.exists(params![found.key, stage.as_str(), stage_version])?)
        })
    }

    pub fn finish_stage(&self, version: VersionRef, stage: JobStage, stage_version: u32) -> Result<()> {
        self.database().write(move |tx| {
            let found = versions::find_open(tx, version)?;
            tx.execute(
                "INSERT INTO version_stages (version_key, stage, stage_version, finished_ms) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (version_key, stage) DO UPDATE
                 SET stage_version = excluded.stage_version, finished_ms = excluded.finished_ms",
                params![found.key, stage.as_str(), stage_version, now_ms()],
            )?;
            Ok(())
        })
    }

    /// How many units are staged; an interrupted parse goes on from there.
    pub fn staged_units(&self, version: VersionRef) -> Result<u32> {
        self.database().read(|db| count_units(db, versions::find(db, version)?.key))
    }

    /// The staged units with their ids, for the chunker.
    pub fn staged_unit_rows(&self, version: VersionRef) -> Result<Vec<UnitRow>> {
        self.database().read(|db| units::of_version(db, versions::find(db, version)?.key))
    }

    /// Content hashes of a version's units in order, to find what changed between two versions.
    pub fn unit_hashes(&self, version: VersionRef) -> Result<Vec<Sha256>> {
        self.database().read(|db| {
            let found = versions::find(db, version)?;
            let mut statement =
                db.prepare_cached("SELECT content_hash FROM units WHERE version_key = ?1 ORDER BY ordinal")?;
            Ok(statement.query_map([found.key], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The version that search finds now, if there is one.
    pub fn published_version(&self, document: DocumentId) -> Result<Option<VersionRef>> {
        self.database().read(|db| {
            let sql = "SELECT v.number FROM documents d JOIN versions v ON v.key = d.published_version_key
                       WHERE d.document_id = ?1 AND d.deleted_ms IS NULL";
            let number = db.query_row(sql, [document.0.as_bytes()], |row| row.get(0)).optional()?;
            Ok(number.map(|number| VersionRef { document, version: VersionNumber(number) }))
        })
    }

    /// Stages units from position `first` on and returns their ids. A unit that is there with the same content keeps its
    /// id; with other content, it and all after it are replaced.
    pub fn stage_units(&self, version: VersionRef, first: u32, units: &[ParsedUnit]) -> Result<Vec<UnitId>> {
        let units = units.to_vec();
        let ids = self.database().write(move |tx| {
            let found = versions::find_open(tx, version)?;
            require_unpublished(&found)?;
            if first > count_units(tx, found.key)? {
                return Err(VaultError::InvalidInput(format!("units up to {first} are not staged")));
            }
            let mut ids = Vec::with_capacity(units.len());
            for (ordinal, unit) in (first..).zip(&units) {
                ids.push(stage_unit(tx, found.key, ordinal, unit)?);
            }
            tx.execute(
                "UPDATE versions SET n_units = (SELECT count(*) FROM units WHERE version_key = ?1) WHERE key = ?1",
                [found.key],
            )?;
            Ok(ids)
        });
        failpoint("units_staged");
        ids
    }

    /// What recognition made of one staged unit; its id and place stay. Again changes nothing.
    pub fn store_recognized(&self, version: VersionRef, unit: UnitId, read: &Recognized) -> Result<()> {
        let read = read.clone();
        let stored = self.database().write(move |tx| {
            let found = versions::find_open(tx, version)?;
            require_unpublished(&found)?;
            let layout = read.layout.as_ref().map(packed).transpose()?;
            let hash: Sha256 = Hasher::digest(read.text.as_bytes()).into();
            tx.prepare_cached(
                "UPDATE units SET text = ?3, layout = ?4, confidence = ?5, content_hash = ?6
                 WHERE version_key = ?1 AND unit_id = ?2",
            )?
            .execute(params![
                found.key,
                unit.0.as_bytes(),
                read.text,
                layout,
                read.confidence,
                hash
            ])?;
            Ok(())
        });
        failpoint("recognized");
        stored
    }

    /// Replaces all chunks of a version that is not published. The same chunks again change nothing.
    pub fn stage_chunks(&self, version: VersionRef, chunks: &[Chunk]) -> Result<()> {
        let chunks = chunks.to_vec();
        let staged = self.database().write(move |tx| {
            let found = versions::find_open(tx, version)?;
            require_unpublished(&found)?;
            let (space, chunker) = (meta::embedding_space(tx)?, meta::chunker_version(tx)?);
            let hashes: Vec<Sha256> = chunks
                .iter()
                .map(|chunk| indexed_hash(&chunk.indexed_text(), space.as_ref(), chunker))
                .collect();
            if staged_hashes(tx, found.key)? != hashes {
                crate::vectors::delete_of_version(tx, found.key)?;
                tx.execute("DELETE FROM chunks WHERE version_key = ?1", [found.key])?;
                for (chunk, hash) in chunks.iter().zip(&hashes) {
                    insert_chunk(tx, found.key, chunk, hash)?;
                }
            }
            tx.execute(
                "UPDATE versions SET n_chunks = ?2, state = 'indexing' WHERE key = ?1",
                params![found.key, chunks.len() as i64],
            )?;
            Ok(())
        });
        failpoint("chunks_staged");
        staged
    }

    /// What an import calls a version's source. The file name is that of the place it came from last.
    pub fn source_label(&self, version: VersionRef) -> Result<SourceLabel> {
        self.database().read(|db| {
            let found = versions::find(db, version)?;
            let sql = "SELECT d.title, d.kind, s.path FROM documents d
                       LEFT JOIN document_sources s ON s.document_key = d.key
                       WHERE d.key = ?1 ORDER BY s.added_ms DESC LIMIT 1";
            Ok(db.query_row(sql, [found.document_key], |row| {
                let (title, path): (String, Option<String>) = (row.get(0)?, row.get(2)?);
                let name = path.as_deref().and_then(|path| Path::new(path).file_name());
                let name = name.map(|name| name.to_string_lossy().into_owned());
                Ok(SourceLabel {
                    file_name: name.unwrap_or_else(|| title.clone()),
                    title,
                    kind: row::get_name(row, 1)?,
                })
            })?)
        })
    }

    /// Whether words of a version are still to be recognised.
    pub fn awaits_recognition(&self, version: VersionRef) -> Result<bool> {
        self.database().read(|db| {
            let found = versions::find(db, version)?;
            let sql = "SELECT 1 FROM units WHERE version_key = ?1 AND process = 'ocr' AND text = '' AND confidence IS NULL";
            Ok(db.prepare_cached(sql)?.exists([found.key])?)
        })
    }

    /// Whether something came inside the version's document.
    pub fn has_children(&self, version: VersionRef) -> Result<bool> {
        self.database().read(|db| {
            let found = versions::find(db, version)?;
            let sql = "SELECT 1 FROM documents WHERE parent_key = ?1 AND deleted_ms IS NULL";
            Ok(db.prepare_cached(sql)?.exists([found.document_key])?)
        })
    }

    /// The warnings stored so far, for a parse that goes on after an interruption.
    pub fn staged_warnings(&self, version: VersionRef) -> Result<Vec<ParseWarning>> {
        self.database().read(|db| {
            let found = versions::find(db, version)?;
            Ok(db.query_row("SELECT warnings FROM versions WHERE key = ?1", [found.key], |row| {
                row::get_json(row, 0)
            })?)
        })
    }

    pub fn set_warnings(&self, version: VersionRef, warnings: &[ParseWarning]) -> Result<()> {
        let warnings = row::to_json(&warnings)?;
        self.database().write(move |tx| {
            let found = versions::find_open(tx, version)?;
            tx.execute("UPDATE versions SET warnings = ?2 WHERE key = ?1", params![found.key, warnings])?;
            Ok(())
        })
    }

    pub fn set_effective_date(&self, version: VersionRef, date: &EffectiveDate) -> Result<()> {
        let date = date.clone();
        self.database().write(move |tx| {
            let found = versions::find_open(tx, version)?;
            tx.execute(
                "UPDATE versions SET effective_date = ?2, effective_precision = ?3 WHERE key = ?1",
                params![found.key, date.date, row::to_name(date.precision)?],
            )?;
            Ok(())
        })
    }

    /// The document's title as its source states it, better than the file's name.
    pub fn set_title(&self, version: VersionRef, title: &str) -> Result<()> {
        let title = title.to_owned();
        self.database().write(move |tx| {
            let found = versions::find_open(tx, version)?;
            tx.execute("UPDATE documents SET title = ?2 WHERE key = ?1", params![found.document_key, title])?;
            Ok(())
        })
    }

    /// Notes why a version could not be processed. What was published before stays published.
    pub fn fail_version(&self, version: VersionRef, failure: &Failure) -> Result<()> {
        let failure = failure.clone();
        self.database().write(move |tx| {
            let found = versions::find(tx, version)?;
            jobs::fail_version(tx, found.key, &failure)
        })
    }
}

fn require_unpublished(found: &versions::VersionRow) -> Result<()> {
    if found.state == DocumentState::Published {
        Err(VaultError::InvalidInput("a published version does not change".to_owned()))
    } else {
        Ok(())
    }
}

fn count_units(db: &rusqlite::Connection, version_key: i64) -> Result<u32> {
    let sql = "SELECT count(*) FROM units WHERE version_key = ?1";
    Ok(db.query_row(sql, [version_key], |row| row.get(0))?)
}

fn stage_unit(tx: &Transaction<'_>, version_key: i64, ordinal: u32, unit: &ParsedUnit) -> Result<UnitId> {
    let content = row::to_json(unit)?;
    let hash: Sha256 = Hasher::digest(content.as_bytes()).into();
    let sql = "SELECT unit_id, content_hash FROM units WHERE version_key = ?1 AND ordinal = ?2";
    let there = tx
        .prepare_cached(sql)?
        .query_row(params![version_key, ordinal], |row| {
            Ok((UnitId(row::get_uuid(row, 0)?), row.get::<_, Sha256>(1)?))
        })
        .optional()?;
    match there {
        Some((id, stored)) if stored == hash => return Ok(id),
        Some(_) => {
            tx.execute(
                "DELETE FROM units WHERE version_key = ?1 AND ordinal >= ?2",
                params![version_key, ordinal],
            )?;
        }
        None => {}
    }
    let layout = unit.layout.as_ref().map(packed).transpose()?;
    let timing = (!unit.timing.is_empty()).then(|| packed(&unit.timing)).transpose()?;
    let id = UnitId::new();
    tx.prepare_cached(
        "INSERT INTO units (unit_id, version_key, ordinal, kind, locator, text, process, trust, heading_path, layout,
            content_hash, confidence, timing) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?
    .execute(params![
        id.0.as_bytes(),
        version_key,
        ordinal,
        unit.kind.as_str(),
        row::to_json(&unit.locator)?,
        unit.text,
        row::to_name(unit.process)?,
        row::to_name(unit.trust)?,
        row::to_json(&unit.heading_path)?,
        layout,
        hash,
        unit.confidence,
        timing
    ])?;
    Ok(id)
}

fn packed<T: serde::Serialize>(value: &T) -> Result<Vec<u8>> {
    postcard::to_stdvec(value).map_err(|_| VaultError::Damaged { what: "page layout" })
}

fn staged_hashes(tx: &Transaction<'_>, version_key: i64) -> Result<Vec<Sha256>> {
    let mut statement =
        tx.prepare_cached("SELECT indexed_hash FROM chunks WHERE version_key = ?1 ORDER BY ordinal")?;
    Ok(statement.query_map([version_key], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
}

fn insert_chunk(tx: &Transaction<'_>, version_key: i64, chunk: &Chunk, hash: &Sha256) -> Result<()> {
    let (process, trust) = origin(tx, version_key, chunk)?;
    tx.prepare_cached(
        "INSERT INTO chunks (chunk_id, version_key, ordinal, kind, header, text, spans, locator, process, trust, n_tokens,
            indexed_hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?
    .execute(params![
        chunk.chunk_id.0.as_bytes(),
        version_key,
        chunk.ordinal,
        chunk.kind.as_str(),
        chunk.header,
        chunk.text,
        row::to_json(&chunk.spans)?,
        row::to_json(&chunk.locator)?,
        row::to_name(process)?,
        row::to_name(trust)?,
        chunk.n_tokens,
        hash
    ])?;
    Ok(())
}

/// How the chunk's words came about, from its first unit, and the least trust of any of its units.
fn origin(tx: &Transaction<'_>, version_key: i64, chunk: &Chunk) -> Result<(Process, Trust)> {
    let mut statement =
        tx.prepare_cached("SELECT process, trust FROM units WHERE unit_id = ?1 AND version_key = ?2")?;
    let mut origin: Option<(Process, Trust)> = None;
    for span in &chunk.spans {
        let (process, trust) = statement
            .query_row(params![span.unit_id.0.as_bytes(), version_key], |row| {
                Ok((row::get_name::<Process>(row, 0)?, row::get_name::<Trust>(row, 1)?))
            })
            .optional()?
            .ok_or(VaultError::NotFound { what: "the unit of a chunk" })?;
        origin = Some(match origin {
            None => (process, trust),
            Some((first, before)) => (first, less_trusted(before, trust)),
        });
    }
    origin.ok_or_else(|| VaultError::InvalidInput("a chunk needs at least one span".to_owned()))
}

fn less_trusted(a: Trust, b: Trust) -> Trust {
    match (a, b) {
        (Trust::InstructionsFound, _) | (_, Trust::InstructionsFound) => Trust::InstructionsFound,
        (Trust::HiddenText, _) | (_, Trust::HiddenText) => Trust::HiddenText,
        (Trust::Normal, Trust::Normal) => Trust::Normal,
    }
}
