//! Removal and its proof. The authoritative row acts first: from then on nothing of the document can be found or opened.
//! Then each store of document content is cleaned, rows last, so that a crash in between can be resumed from them.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use zhiku_core::DocumentId;

use crate::clock::now_ms;
use crate::error::{Result, VaultError};
use crate::failpoint::failpoint;
use crate::lexical::LexicalChange;
use crate::meta;
use crate::principal::{Function, Scope};
use crate::records::{Receipt, Sha256, StoreReceipt, VersionRef};
use crate::storage::row;
use crate::tables::{documents, jobs, runs, versions};
use crate::vault::{AccessMode, Vault};
use crate::vectors;

/// A store of document content outside this crate (graph, memory, caches …). All of them are registered with
/// [`Vault::register_store`]: removal and its proof go through that list.
pub trait Erase: Send + Sync {
    /// For receipts, for example `graph`.
    fn name(&self) -> &'static str;

    /// How many things of the document are here.
    fn probe(&self, document: DocumentId) -> Result<u64>;

    /// Takes them out and returns how many. Again finds nothing and is no error.
    fn erase(&self, document: DocumentId) -> Result<u64>;
}

impl Vault {
    /// Adds a store to those that removal cleans, and takes out of it what was removed while it was not there.
    pub fn register_store(&self, store: Arc<dyn Erase>) -> Result<()> {
        if self.mode() == AccessMode::Owner {
            for document in self.database().read(removed_documents)? {
                if store.probe(document)? > 0 {
                    store.erase(document)?;
                }
            }
        }
        let mut stores = self.foreign_stores();
        stores.retain(|known| known.name() != store.name());
        stores.push(store);
        Ok(())
    }

    /// The names of all stores that hold document content.
    pub fn store_names(&self) -> Vec<&'static str> {
        self.stores().iter().map(|store| store.name()).collect()
    }

    /// Removes a document, and what came inside it, from every store and says what was where.
    pub fn remove(&self, scope: &Scope, document: DocumentId) -> Result<Receipt> {
        self.require(scope, Function::Delete)?;
        let by = scope.clone();
        let inside = self.database().write(move |tx| {
            let key = documents::visible_key(tx, &by, document)?;
            let inside = inside(tx, key)?;
            for (key, _) in &inside {
                mark_deleted(tx, *key, now_ms())?;
            }
            mark_deleted(tx, key, now_ms())?;
            Ok(inside)
        })?;
        failpoint("marked_deleted");
        let mut receipt = Receipt { document, stores: Vec::new() };
        for (_, child) in inside {
            add(&mut receipt, self.erase(child)?);
        }
        add(&mut receipt, self.erase(document)?);
        Ok(receipt)
    }

    /// Removes what came inside a version's document and is not in it any more.
    pub fn remove_children_except(&self, parent: VersionRef, keep: &[DocumentId]) -> Result<()> {
        let keep = keep.to_vec();
        let gone = self.database().write(move |tx| {
            let parent = versions::find_open(tx, parent)?;
            let mut gone = Vec::new();
            for (key, child) in children(tx, parent.document_key)? {
                if !keep.contains(&child) {
                    gone.extend(inside(tx, key)?);
                    gone.push((key, child));
                }
            }
            for (key, _) in &gone {
                mark_deleted(tx, *key, now_ms())?;
            }
            Ok(gone)
        })?;
        for (_, document) in gone {
            self.erase(document)?;
        }
        Ok(())
    }

    /// Removes a picture of a page that turned out to be of no use; says whether it was one.
    pub fn discard_if_embedded(&self, version: VersionRef) -> Result<bool> {
        let is_embedded = self.database().write(move |tx| {
            let found = versions::find_open(tx, version)?;
            let sql = "SELECT embedded FROM documents WHERE key = ?1";
            let embedded = tx.query_row(sql, [found.document_key], |row| row.get::<_, bool>(0))?;
            if embedded {
                mark_deleted(tx, found.document_key, now_ms())?;
            }
            Ok(embedded)
        })?;
        if is_embedded {
            self.erase(version.document)?;
        }
        Ok(is_embedded)
    }

    /// Looks for anything of a removed document in every store; a clean receipt has `found` 0 everywhere. Who removed it or
    /// an owner may ask, about documents that are not there as well.
    pub fn verify_removed(&self, scope: &Scope, document: DocumentId) -> Result<Receipt> {
        self.require(scope, Function::Delete)?;
        let removed = self.read(scope, |db| {
            let sql = "SELECT deleted_ms IS NOT NULL FROM documents WHERE document_id = ?1";
            Ok(db.query_row(sql, [document.0.as_bytes()], |row| row.get::<_, bool>(0)).optional()?)
        })?;
        if removed == Some(false) {
            // Seen or not, it is not removed; who does not see it learns nothing else.
            self.read(scope, |db| documents::visible_key(db, scope, document))?;
            return Err(VaultError::InvalidInput("the document is not removed".to_owned()));
        }
        let mut receipt = Receipt { document, stores: Vec::new() };
        let inside = self.database().read(|db| match document_key(db, document)? {
            Some(key) => inside(db, key),
            None => Ok(Vec::new()),
        })?;
        for document in inside.into_iter().map(|(_, child)| child).chain([document]) {
            let mut probed = Receipt { document, stores: Vec::new() };
            for store in self.stores() {
                let found = store.probe(document)?;
                probed.stores.push(StoreReceipt { store: store.name().to_owned(), found, removed: 0 });
            }
            add(&mut receipt, probed);
        }
        Ok(receipt)
    }

    /// After a crash: removals whose clean-up did not reach its end.
    pub(crate) fn resume_erasures(&self) -> Result<()> {
        let open = self.database().read(|db| {
            let sql = "SELECT document_id FROM documents WHERE deleted_ms IS NOT NULL AND erased_ms IS NULL";
            let mut statement = db.prepare(sql)?;
            let rows = statement.query_map([], |row| Ok(DocumentId(row::get_uuid(row, 0)?)))?;
            Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?)
        })?;
        for document in open {
            self.erase(document)?;
        }
        Ok(())
    }

    fn erase(&self, document: DocumentId) -> Result<Receipt> {
        let mut receipt = Receipt { document, stores: Vec::new() };
        for store in self.stores() {
            let found = store.probe(document)?;
            let removed = store.erase(document)?;
            receipt.stores.push(StoreReceipt { store: store.name().to_owned(), found, removed });
            failpoint("erased_store");
        }
        self.database().write(move |tx| {
            tx.execute(
                "UPDATE documents SET erased_ms = ?2 WHERE document_id = ?1",
                params![document.0.as_bytes(), now_ms()],
            )?;
            Ok(())
        })?;
        self.database().checkpoint()?;
        failpoint("erased_rows");
        Ok(receipt)
    }

    /// Derived stores first, foreign ones, then the rows by which all others find what is theirs.
    fn stores(&self) -> Vec<Arc<dyn Erase>> {
        let own = |kind| Arc::new(OwnStore { vault: self.clone(), kind }) as Arc<dyn Erase>;
        let mut stores: Vec<Arc<dyn Erase>> =
            [Kind::Lexical, Kind::TokenVectors, Kind::Vectors, Kind::RunEvidence].map(own).to_vec();
        stores.extend(self.foreign_stores().iter().cloned());
        stores.extend([Kind::Rows, Kind::Objects].map(own));
        stores
    }
}

/// Adds the counts of another document's receipt.
fn add(sum: &mut Receipt, receipt: Receipt) {
    for store in receipt.stores {
        match sum.stores.iter_mut().find(|known| known.store == store.store) {
            Some(known) => {
                known.found += store.found;
                known.removed += store.removed;
            }
            None => sum.stores.push(store),
        }
    }
}

/// What came directly inside a document and is not removed.
fn children(db: &Connection, parent_key: i64) -> Result<Vec<(i64, DocumentId)>> {
    let sql = "SELECT key, document_id FROM documents WHERE parent_key = ?1 AND deleted_ms IS NULL";
    let mut statement = db.prepare_cached(sql)?;
    let rows =
        statement.query_map([parent_key], |row| Ok((row.get(0)?, DocumentId(row::get_uuid(row, 1)?))))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Everything inside a document at any depth, removed or not, the innermost first.
fn inside(db: &Connection, key: i64) -> Result<Vec<(i64, DocumentId)>> {
    let sql = "WITH RECURSIVE inside (key, document_id, depth) AS (
                   SELECT key, document_id, 1 FROM documents WHERE parent_key = ?1
                   UNION ALL
                   SELECT d.key, d.document_id, depth + 1 FROM documents d JOIN inside ON d.parent_key = inside.key)
               SELECT key, document_id FROM inside ORDER BY depth DESC";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([key], |row| Ok((row.get(0)?, DocumentId(row::get_uuid(row, 1)?))))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Takes effect with the next statement that anybody runs.
fn mark_deleted(tx: &Transaction<'_>, document_key: i64, now: i64) -> Result<()> {
    let mut statement = tx.prepare("SELECT key FROM versions WHERE document_key = ?1")?;
    let versions = statement
        .query_map([document_key], |row| row.get::<_, i64>(0))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    for version in versions {
        jobs::cancel_for_version(tx, version)?;
    }
    tx.execute(
        "UPDATE documents SET deleted_ms = ?2, published_version_key = NULL WHERE key = ?1",
        params![document_key, now],
    )?;
    tx.execute(
        "UPDATE versions SET state = 'deleted', searchable = NULL WHERE document_key = ?1",
        [document_key],
    )?;
    Ok(())
}

#[derive(Clone, Copy)]
enum Kind {
    Lexical,
    TokenVectors,
    Vectors,
    RunEvidence,
    Rows,
    Objects,
}

/// A store of this crate.
struct OwnStore {
    vault: Vault,
    kind: Kind,
}

impl Erase for OwnStore {
    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Lexical => "lexical",
            Kind::TokenVectors => "token_vectors",
            Kind::Vectors => "vectors",
            Kind::RunEvidence => "run_evidence",
            Kind::Rows => "rows",
            Kind::Objects => "objects",
        }
    }

    fn probe(&self, document: DocumentId) -> Result<u64> {
        let vault = &self.vault;
        let Some(key) = vault.database().read(|db| document_key(db, document))? else { return Ok(0) };
        match self.kind {
            Kind::Lexical => vault.lexical().count_document(key),
            Kind::TokenVectors => vault.token_store().count_document(key),
            Kind::Vectors => vault.database().read(|db| count_vectors(db, key)),
            Kind::RunEvidence => vault.database().read(|db| runs::count_quotes(db, document)),
            Kind::Rows => vault.database().read(|db| count_rows(db, key)),
            Kind::Objects => vault.database().read(|db| Ok(objects_of(vault, db, key)?.len() as u64)),
        }
    }

    fn erase(&self, document: DocumentId) -> Result<u64> {
        let vault = &self.vault;
        let Some(key) = vault.database().read(|db| document_key(db, document))? else { return Ok(0) };
        match self.kind {
            Kind::Lexical => {
                let found = vault.lexical().count_document(key)?;
                vault.erase_words(key)?;
                Ok(found)
            }
            Kind::TokenVectors => vault.token_store().delete_document(key),
            Kind::Vectors => {
                let versions = vault.database().read(|db| version_keys(db, key))?;
                vault.scan().forget(&versions);
                vault.database().write(move |tx| {
                    versions.iter().map(|version| vectors::delete_of_version(tx, *version)).sum()
                })
            }
            Kind::RunEvidence => vault.database().write(move |tx| runs::erase_quotes(tx, document)),
            Kind::Rows => vault.database().write(move |tx| erase_rows(tx, key)),
            Kind::Objects => {
                let mut removed = 0;
                for path in vault.database().read(|db| objects_of(vault, db, key))? {
                    removed += u64::from(vault.objects().remove(&path)?);
                }
                Ok(removed)
            }
        }
    }
}

impl Vault {
    fn erase_words(&self, document_key: i64) -> Result<()> {
        self.lexical().commit(
            || Ok(LexicalChange { retire_documents: vec![document_key], ..LexicalChange::default() }),
            || Ok(self.database().read(meta::generation)? + 1),
            |generation| {
                self.database().write(move |tx| {
                    let sql = "UPDATE versions SET retired_generation = ?2 WHERE document_key = ?1";
                    tx.execute(sql, params![document_key, generation as i64])?;
                    meta::set(tx, meta::GENERATION, &generation.to_string())
                })
            },
        )?;
        self.lexical().purge()
    }
}

fn removed_documents(db: &Connection) -> Result<Vec<DocumentId>> {
    let mut statement = db.prepare("SELECT document_id FROM documents WHERE deleted_ms IS NOT NULL")?;
    let rows = statement.query_map([], |row| Ok(DocumentId(row::get_uuid(row, 0)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn document_key(db: &Connection, document: DocumentId) -> Result<Option<i64>> {
    let sql = "SELECT key FROM documents WHERE document_id = ?1";
    Ok(db.query_row(sql, [document.0.as_bytes()], |row| row.get(0)).optional()?)
}

fn version_keys(db: &Connection, document_key: i64) -> Result<Vec<i64>> {
    let mut statement = db.prepare("SELECT key FROM versions WHERE document_key = ?1")?;
    Ok(statement.query_map([document_key], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
}

fn count_vectors(db: &Connection, document_key: i64) -> Result<u64> {
    let sql = "SELECT count(*) FROM chunks c JOIN versions v ON v.key = c.version_key
               WHERE v.document_key = ?1 AND c.has_vector = 1";
    let named: i64 = db.query_row(sql, [document_key], |row| row.get(0))?;
    Ok(named as u64 + vectors::count_orphans(db)?)
}

/// Everything that is of the document but its tombstone.
const ROWS: &[&str] = &[
    "units WHERE version_key IN (SELECT key FROM versions WHERE document_key = ?1)",
    "chunks WHERE version_key IN (SELECT key FROM versions WHERE document_key = ?1)",
    "jobs WHERE version_key IN (SELECT key FROM versions WHERE document_key = ?1)",
    "version_stages WHERE version_key IN (SELECT key FROM versions WHERE document_key = ?1)",
    "document_sources WHERE document_key = ?1",
    "document_departments WHERE document_key = ?1",
    "document_rules WHERE document_key = ?1",
    "versions WHERE document_key = ?1",
];

fn count_rows(db: &Connection, document_key: i64) -> Result<u64> {
    let mut found = 0;
    for part in ROWS {
        let count: i64 =
            db.query_row(&format!("SELECT count(*) FROM {part}"), [document_key], |row| row.get(0))?;
        found += count as u64;
    }
    let title = "SELECT count(*) FROM documents WHERE key = ?1 AND title <> ''";
    found += db.query_row(title, [document_key], |row| row.get::<_, i64>(0))? as u64;
    Ok(found)
}

fn erase_rows(tx: &Transaction<'_>, document_key: i64) -> Result<u64> {
    let mut removed = 0;
    // The objects are found by the versions' hashes, which go here: what they name is an orphan from then on.
    for part in ROWS {
        removed += tx.execute(&format!("DELETE FROM {part}"), [document_key])? as u64;
    }
    removed +=
        tx.execute("UPDATE documents SET title = '' WHERE key = ?1 AND title <> ''", [document_key])? as u64;
    Ok(removed)
}

/// Objects that only this document has, and objects that no version has.
fn objects_of(vault: &Vault, db: &Connection, document_key: i64) -> Result<Vec<std::path::PathBuf>> {
    let mut statement = db.prepare(
        "SELECT DISTINCT hash FROM versions v WHERE document_key = ?1 AND referenced_path IS NULL
         AND NOT EXISTS (SELECT 1 FROM versions o WHERE o.hash = v.hash AND o.document_key <> v.document_key)",
    )?;
    let own = statement.query_map([document_key], |row| row.get::<_, Sha256>(0))?;
    let mut paths: Vec<_> =
        own.map(|hash| hash.map(|hash| vault.objects().path_of(&hash))).collect::<Result<_, _>>()?;
    paths.retain(|path| path.exists());
    paths.extend(vault.objects().orphans(db)?);
    Ok(paths)
}
