//! Publishing: the one step by which a version becomes what search finds.
//!
//! The lexical index prepares a commit that carries the next generation's number, SQLite's transaction decides, the index
//! commits. A crash before SQLite's commit leaves the old state; after it, the next opening replays what the index
//! lacks (`recover.rs`). Several versions go in one commit, since a commit costs the same for one chunk as for a thousand.

use rusqlite::{Connection, Transaction, params};
use zhiku_core::{DocumentState, Searchable};

use crate::clock::now_ms;
use crate::error::{Result, VaultError};
use crate::failpoint::failpoint;
use crate::lexical::{IndexedChunk, LexicalChange};
use crate::meta;
use crate::records::{PublishOutcome, VersionRef};
use crate::tables::versions::{self, VersionRow};
use crate::vault::Vault;
use crate::vectors;

/// What is to be done with one version.
#[derive(Clone, Debug)]
struct Step {
    row: Option<VersionRow>,
    outcome: PublishOutcome,
    /// The version's words are not in the index yet.
    adds_words: bool,
}

/// What a publication replaced.
#[derive(Clone, Copy, Debug)]
struct Superseded {
    version_key: i64,
}

impl Vault {
    /// Makes versions findable by words. One that replaces a version with vectors waits for its own
    /// ([`PublishOutcome::AwaitsVectors`]); where the vault has no vectors at all, words replace words.
    pub fn publish_lexical(&self, versions: &[VersionRef]) -> Result<Vec<PublishOutcome>> {
        self.publish(versions, Searchable::Lexical)
    }

    /// Makes versions findable by words and vectors. All their chunks must have vectors.
    pub fn publish_hybrid(&self, versions: &[VersionRef]) -> Result<Vec<PublishOutcome>> {
        self.publish(versions, Searchable::Hybrid)
    }

    fn publish(&self, wanted: &[VersionRef], level: Searchable) -> Result<Vec<PublishOutcome>> {
        let versions = wanted.to_vec();
        let without_words = self.database().write(move |tx| {
            let steps = plan(tx, &versions, level)?;
            if steps.iter().any(|step| step.adds_words) {
                return Ok(None);
            }
            let superseded = publish_rows(tx, &steps, level, None)?;
            Ok(Some((steps, superseded)))
        })?;
        let (steps, superseded) = match without_words {
            Some(done) => done,
            None => self.publish_words(wanted, level)?,
        };
        failpoint("published");
        self.drop_superseded(&superseded)?;
        failpoint("superseded_dropped");
        Ok(steps.into_iter().map(|step| step.outcome).collect())
    }

    /// With changes to the lexical index, planned under its lock.
    fn publish_words(
        &self,
        wanted: &[VersionRef],
        level: Searchable,
    ) -> Result<(Vec<Step>, Vec<Superseded>)> {
        let planned = std::cell::RefCell::new(Vec::new());
        let superseded = self.lexical().commit(
            || {
                self.database().read(|db| {
                    let fresh = plan(db, wanted, level)?;
                    let change = words_of(db, &fresh)?;
                    planned.replace(fresh);
                    Ok(change)
                })
            },
            || Ok(self.database().read(meta::generation)? + 1),
            |generation| {
                let fresh = planned.borrow().clone();
                self.database().write(move |tx| publish_rows(tx, &fresh, level, Some(generation)))
            },
        )?;
        Ok((planned.into_inner(), superseded))
    }

    /// What a replaced version leaves behind and nobody needs: its place in memory and its token vectors. Its units and
    /// chunks stay, for the answers that cite them.
    fn drop_superseded(&self, superseded: &[Superseded]) -> Result<()> {
        if superseded.is_empty() {
            return Ok(());
        }
        let keys: Vec<i64> = superseded.iter().map(|version| version.version_key).collect();
        self.scan().forget(&keys);
        let chunks = self.database().read(|db| {
            let mut chunks = Vec::new();
            let mut statement = db.prepare_cached("SELECT key FROM chunks WHERE version_key = ?1")?;
            for key in keys {
                let rows = statement.query_map([key], |row| row.get::<_, i64>(0))?;
                chunks.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
            }
            Ok(chunks)
        })?;
        self.token_store().delete_chunks(chunks)
    }
}

fn plan(db: &Connection, wanted: &[VersionRef], level: Searchable) -> Result<Vec<Step>> {
    wanted.iter().map(|version| plan_one(db, *version, level)).collect()
}

fn plan_one(db: &Connection, version: VersionRef, level: Searchable) -> Result<Step> {
    let row = match versions::find(db, version) {
        Ok(row) => row,
        // Removed altogether while it was being processed.
        Err(VaultError::NotFound { .. }) => {
            return Ok(Step { row: None, outcome: PublishOutcome::Overtaken, adds_words: false });
        }
        Err(error) => return Err(error),
    };
    let is_published = row.published_key == Some(row.key);
    let outcome = if row.deleted
        || row.published_number.is_some_and(|published| published > row.number)
        || matches!(row.state, DocumentState::Superseded | DocumentState::Deleted)
    {
        PublishOutcome::Overtaken
    } else if level == Searchable::Lexical
        && !is_published
        && row.published_searchable == Some(Searchable::Hybrid)
    {
        PublishOutcome::AwaitsVectors
    } else {
        PublishOutcome::Published
    };
    if outcome == PublishOutcome::Published && level == Searchable::Hybrid {
        require_vectors(db, row.key)?;
    }
    let adds_words = outcome == PublishOutcome::Published && !is_published;
    Ok(Step { row: Some(row), outcome, adds_words })
}

fn require_vectors(db: &Connection, version_key: i64) -> Result<()> {
    let mut statement =
        db.prepare_cached("SELECT count(*) FROM chunks WHERE version_key = ?1 AND has_vector = 0")?;
    match statement.query_row([version_key], |row| row.get::<_, i64>(0))? {
        0 => Ok(()),
        missing => Err(VaultError::InvalidInput(format!("{missing} chunks have no vectors yet"))),
    }
}

/// The words that come in, and those of the versions that they replace.
fn words_of(db: &Connection, steps: &[Step]) -> Result<LexicalChange> {
    let mut change = LexicalChange::default();
    for row in steps.iter().filter(|step| step.adds_words).filter_map(|step| step.row.as_ref()) {
        change.retire_versions.push(row.key);
        change.retire_versions.extend(row.published_key);
        change.add.extend(chunks_to_index(db, row.key)?);
    }
    Ok(change)
}

pub(crate) fn chunks_to_index(db: &Connection, version_key: i64) -> Result<Vec<IndexedChunk>> {
    let mut statement = db.prepare_cached(
        "SELECT c.key, v.key, d.key, d.title, c.header, c.text
         FROM chunks c JOIN versions v ON v.key = c.version_key JOIN documents d ON d.key = v.document_key
         WHERE v.key = ?1 ORDER BY c.ordinal",
    )?;
    let rows = statement.query_map([version_key], |row| {
        Ok(IndexedChunk {
            chunk_key: row.get(0)?,
            version_key: row.get(1)?,
            document_key: row.get(2)?,
            title: row.get(3)?,
            header: row.get(4)?,
            text: row.get(5)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn publish_rows(
    tx: &Transaction<'_>,
    steps: &[Step],
    level: Searchable,
    generation: Option<u64>,
) -> Result<Vec<Superseded>> {
    let mut superseded = Vec::new();
    for step in steps {
        let Some(row) = &step.row else { continue };
        match step.outcome {
            PublishOutcome::Published => superseded.extend(publish_row(tx, row, level, generation)?),
            PublishOutcome::AwaitsVectors => {}
            PublishOutcome::Overtaken => {
                tx.execute(
                    "UPDATE versions SET state = 'superseded' WHERE key = ?1 AND state <> 'deleted'",
                    [row.key],
                )?;
            }
        }
    }
    if let Some(generation) = generation {
        meta::set(tx, meta::GENERATION, &generation.to_string())?;
    }
    Ok(superseded)
}

fn publish_row(
    tx: &Transaction<'_>,
    row: &VersionRow,
    level: Searchable,
    generation: Option<u64>,
) -> Result<Option<Superseded>> {
    let generation = generation.map(|generation| generation as i64);
    let published = tx.execute(
        "UPDATE documents SET published_version_key = ?2 WHERE key = ?1 AND deleted_ms IS NULL",
        params![row.document_key, row.key],
    )?;
    if published == 0 {
        // Removed since it was planned; the removal takes the words out again.
        return Ok(None);
    }
    // A version that is hybrid already does not go back to words only.
    tx.execute(
        "UPDATE versions SET state = 'published', failure = NULL, published_ms = coalesce(published_ms, ?2),
            searchable = CASE WHEN searchable = 'hybrid' THEN 'hybrid' ELSE ?3 END,
            generation = coalesce(?4, generation)
         WHERE key = ?1",
        params![row.key, now_ms(), level.as_str(), generation.filter(|_| row.published_key != Some(row.key))],
    )?;
    let Some(old) = row.published_key.filter(|old| *old != row.key) else { return Ok(None) };
    tx.execute(
        "UPDATE versions SET state = 'superseded', searchable = NULL, retired_generation = ?2 WHERE key = ?1",
        params![old, generation],
    )?;
    vectors::delete_of_version(tx, old)?;
    Ok(Some(Superseded { version_key: old }))
}
