//! What the owner does first: bring the derived stores to where SQLite is, and finish what a crash left half done.

use rusqlite::Connection;

use crate::error::Result;
use crate::lexical::LexicalChange;
use crate::meta;
use crate::publish::chunks_to_index;
use crate::tables::{jobs, runs};
use crate::vault::Vault;

/// Chunks per commit while the index is built again, to bound memory.
const REBUILD_BATCH: usize = 5_000;

impl Vault {
    pub(crate) fn recover(&self) -> Result<()> {
        self.replay_lexical()?;
        let (n_jobs, n_runs) =
            self.database().write(|tx| Ok((jobs::requeue_running(tx)?, runs::interrupt_running(tx)?)))?;
        if n_jobs + n_runs > 0 {
            tracing::info!(n_jobs, n_runs, "the last session ended early; its jobs are queued again");
        }
        self.resume_erasures()?;
        self.remove_orphans()
    }

    /// The index carries the generation that it shows. Behind SQLite: what was published or retired since is done again.
    /// Without one, or ahead (the database came from a copy): everything is.
    fn replay_lexical(&self) -> Result<()> {
        let published = self.database().read(meta::generation)?;
        let shown = self.lexical().generation()?;
        if shown == Some(published) {
            return Ok(());
        }
        let from = shown.filter(|shown| *shown < published);
        tracing::info!(?shown, published, "bringing the lexical index up to date");
        let retired = self.database().read(|db| match from {
            Some(from) => retired_since(db, from),
            None => all_versions(db),
        })?;
        let published_since = self.database().read(|db| published_since(db, from.unwrap_or(0)))?;
        let mut batch = LexicalChange { retire_versions: retired, ..LexicalChange::default() };
        for version_key in published_since {
            batch.retire_versions.push(version_key);
            batch.add.extend(self.database().read(|db| chunks_to_index(db, version_key))?);
            if batch.add.len() >= REBUILD_BATCH {
                // Generation 0 until all is there: a crash in between starts over.
                self.commit_words(std::mem::take(&mut batch), from.unwrap_or(0))?;
            }
        }
        self.commit_words(batch, published)
    }

    fn commit_words(&self, change: LexicalChange, generation: u64) -> Result<()> {
        self.lexical().commit(|| Ok(change), || Ok(generation), |_| Ok(()))
    }

    fn remove_orphans(&self) -> Result<()> {
        self.objects().remove_incoming()?;
        for path in self.database().read(|db| self.objects().orphans(db))? {
            self.objects().remove(&path)?;
        }
        let stored = self.token_store().keys()?;
        let orphans = self.database().read(|db| {
            let mut alive = db.prepare(
                "SELECT 1 FROM chunks c JOIN versions v ON v.key = c.version_key
                 WHERE c.key = ?1 AND v.state NOT IN ('superseded', 'deleted')",
            )?;
            let mut orphans = Vec::new();
            for key in stored {
                if !alive.exists([key])? {
                    orphans.push(key);
                }
            }
            Ok(orphans)
        })?;
        if orphans.is_empty() { Ok(()) } else { self.token_store().delete_chunks(orphans) }
    }
}

fn published_since(db: &Connection, generation: u64) -> Result<Vec<i64>> {
    let mut statement = db.prepare(
        "SELECT v.key FROM documents d JOIN versions v ON v.key = d.published_version_key
         WHERE d.deleted_ms IS NULL AND (v.generation > ?1 OR ?1 = 0) ORDER BY v.key",
    )?;
    Ok(statement.query_map([generation as i64], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
}

fn retired_since(db: &Connection, generation: u64) -> Result<Vec<i64>> {
    let mut statement = db.prepare("SELECT key FROM versions WHERE retired_generation > ?1")?;
    Ok(statement.query_map([generation as i64], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
}

fn all_versions(db: &Connection) -> Result<Vec<i64>> {
    let mut statement = db.prepare("SELECT key FROM versions")?;
    Ok(statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
}
