//! The index on disk: schema, opening, changes in step with SQLite, snapshots.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use serde::{Deserialize, Serialize};
use tantivy::collector::{FilterCollector, TopDocs};
use tantivy::indexer::NoMergePolicy;
use tantivy::merge_policy::{LogMergePolicy, MergePolicy};
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{PreTokenizedString, Token};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, Term};
use zhiku_core::VaultId;

use super::analyzer::{ANALYZER_VERSION, Analysis, analysis};
use super::query;
use crate::error::{Result, VaultError};
use crate::failpoint::failpoint;
use crate::records::LexicalHit;
use crate::vault::AccessMode;

const WRITER_BYTES: usize = 48_000_000;

/// Neither a phrase nor a pair reaches from the title over into the text.
const FIELD_GAP: usize = 10;

#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    pub(super) chunk_key: Field,
    pub(super) version_key: Field,
    pub(super) document_key: Field,
    pub(super) title: Field,
    pub(super) heading: Field,
    pub(super) body: Field,
    pub(super) grams: Field,
    pub(super) codes: Field,
}

/// A chunk as the index takes it in.
#[derive(Clone, Debug)]
pub(crate) struct IndexedChunk {
    pub(crate) chunk_key: i64,
    pub(crate) version_key: i64,
    pub(crate) document_key: i64,
    pub(crate) title: String,
    /// Context that was not cut from here; the title's own line may be part of it.
    pub(crate) header: String,
    pub(crate) text: String,
}

/// What a publication or removal does to the index.
#[derive(Default)]
pub(crate) struct LexicalChange {
    /// Everything of these versions goes, then `add` comes.
    pub(crate) retire_versions: Vec<i64>,
    pub(crate) retire_documents: Vec<i64>,
    pub(crate) add: Vec<IndexedChunk>,
}

/// Travels with each commit and says which state of which vault the index shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Payload {
    vault_id: VaultId,
    analyzer: u32,
    generation: u64,
}

pub(crate) struct LexicalIndex {
    vault_id: VaultId,
    fields: Fields,
    reader: IndexReader,
    index: Index,
    writer: Option<Mutex<IndexWriter>>,
    /// Held for writing while SQLite and the index go to the next generation, for reading while a snapshot is taken.
    gate: RwLock<()>,
}

impl LexicalIndex {
    /// Opens the index; for the owner one that is missing, damaged or made by another analyser becomes an empty one.
    pub(crate) fn open(dir: &Path, vault_id: VaultId, mode: AccessMode) -> Result<Self> {
        let (schema, fields) = schema();
        let index = match mode {
            AccessMode::ReadOnly => Index::open_in_dir(dir)?,
            AccessMode::Owner => match usable(dir, vault_id, &schema) {
                Some(index) => index,
                None => recreate(dir, schema)?,
            },
        };
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let writer = match mode {
            AccessMode::Owner => {
                let writer = index.writer_with_num_threads(1, WRITER_BYTES)?;
                // Merges happen after commits, on the committing thread: a merge in the background would stand in the way
                // of a removal that has to rewrite the same segment.
                writer.set_merge_policy(Box::new(NoMergePolicy));
                Some(Mutex::new(writer))
            }
            AccessMode::ReadOnly => None,
        };
        Ok(Self { vault_id, fields, reader, index, writer, gate: RwLock::new(()) })
    }

    /// The generation that the index shows; `None` when it was never committed.
    pub(crate) fn generation(&self) -> Result<Option<u64>> {
        Ok(payload(&self.index)?.map(|payload| payload.generation))
    }

    /// Changes the index and, between its two phases, SQLite: `commit_rows` is the SQLite transaction and decides. When it
    /// fails the index stays as it was. Publications wait for each other here.
    pub(crate) fn commit<T>(
        &self,
        change: impl FnOnce() -> Result<LexicalChange>,
        generation: impl FnOnce() -> Result<u64>,
        commit_rows: impl FnOnce(u64) -> Result<T>,
    ) -> Result<T> {
        let writer = self.writer.as_ref().ok_or(VaultError::ReadOnly)?;
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        let change = change()?;
        let generation = generation()?;
        if let Err(error) = self.stage(&writer, &change) {
            writer.rollback()?;
            return Err(error);
        }
        failpoint("publish_staged_lexical");
        let mut prepared = writer.prepare_commit()?;
        let payload = Payload { vault_id: self.vault_id, analyzer: ANALYZER_VERSION, generation };
        prepared.set_payload(&crate::storage::row::to_json(&payload)?);
        failpoint("publish_prepared_lexical");
        let gate = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        let result = match commit_rows(generation) {
            Ok(result) => result,
            Err(error) => {
                prepared.abort()?;
                return Err(error);
            }
        };
        failpoint("publish_committed_rows");
        prepared.commit()?;
        failpoint("publish_committed_lexical");
        self.reader.reload()?;
        drop(gate);
        if let Err(error) = self.merge_small_segments(&mut writer) {
            // The publication stands; the next one tries again.
            tracing::warn!(%error, "could not merge segments of the lexical index");
        }
        Ok(result)
    }

    fn merge_small_segments(&self, writer: &mut IndexWriter) -> Result<()> {
        let segments = self.index.searchable_segment_metas()?;
        let candidates = LogMergePolicy::default().compute_merge_candidates(&segments);
        for candidate in &candidates {
            writer.merge(&candidate.0).wait()?;
        }
        if !candidates.is_empty() {
            self.reader.reload()?;
        }
        Ok(())
    }

    fn stage(&self, writer: &IndexWriter, change: &LexicalChange) -> Result<()> {
        for key in &change.retire_versions {
            writer.delete_term(Term::from_field_u64(self.fields.version_key, *key as u64));
        }
        for key in &change.retire_documents {
            writer.delete_term(Term::from_field_u64(self.fields.document_key, *key as u64));
        }
        for chunk in &change.add {
            writer.add_document(self.document(chunk))?;
        }
        Ok(())
    }

    fn document(&self, chunk: &IndexedChunk) -> TantivyDocument {
        let fields = &self.fields;
        let heading = chunk.header.strip_prefix(chunk.title.as_str()).unwrap_or(&chunk.header);
        let (title, heading, body) = (analysis(&chunk.title), analysis(heading), analysis(&chunk.text));
        let mut document = TantivyDocument::new();
        document.add_u64(fields.chunk_key, chunk.chunk_key as u64);
        document.add_u64(fields.version_key, chunk.version_key as u64);
        document.add_u64(fields.document_key, chunk.document_key as u64);
        document.add_pre_tokenized_text(fields.title, tokens([title.words.as_slice()]));
        document.add_pre_tokenized_text(fields.heading, tokens([heading.words.as_slice()]));
        document.add_pre_tokenized_text(fields.body, tokens([body.words.as_slice()]));
        let all = [&title, &heading, &body];
        document
            .add_pre_tokenized_text(fields.grams, tokens(all.map(|part: &Analysis| part.grams.as_slice())));
        document
            .add_pre_tokenized_text(fields.codes, tokens(all.map(|part: &Analysis| part.codes.as_slice())));
        document
    }

    /// The index and what `read` finds in SQLite, both of the same generation.
    pub(crate) fn snapshot<T>(&self, read: impl FnOnce() -> Result<T>) -> Result<(Searcher, T)> {
        let _gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        if self.writer.is_none() {
            // Another process publishes; what it committed is seen from the next search on.
            self.reader.reload()?;
        }
        Ok((self.reader.searcher(), read()?))
    }

    /// The `k` best chunks among those of `versions`, best first.
    pub(crate) fn search(
        &self,
        searcher: &Searcher,
        text: &str,
        versions: HashSet<u64>,
        k: usize,
    ) -> Result<Vec<LexicalHit>> {
        let Some(query) = query::build(text, &self.fields) else { return Ok(Vec::new()) };
        if k == 0 || versions.is_empty() {
            return Ok(Vec::new());
        }
        let versions = Arc::new(versions);
        let visible = move |version: u64| versions.contains(&version);
        let top = TopDocs::with_limit(k).order_by_score();
        let hits = searcher.search(&query, &FilterCollector::new("version_key".to_owned(), visible, top))?;
        let mut found = Vec::with_capacity(hits.len());
        for (score, address) in hits {
            let columns = searcher.segment_reader(address.segment_ord).fast_fields();
            if let Some(key) = columns.u64("chunk_key")?.first(address.doc_id)
                && score > 0.0
            {
                found.push(LexicalHit { chunk_key: key as i64, score });
            }
        }
        Ok(found)
    }

    /// How rare each term is among the indexed texts: BM25's inverse document frequency.
    pub(crate) fn term_weights(&self, searcher: &Searcher, terms: &[String]) -> Result<Vec<f32>> {
        let n_chunks = searcher.num_docs() as f32;
        let weight = |term: &String| {
            let n_with = searcher.doc_freq(&Term::from_field_text(self.fields.body, term))? as f32;
            Ok((1.0 + (n_chunks - n_with + 0.5).max(0.0) / (n_with + 0.5)).ln())
        };
        terms.iter().map(weight).collect()
    }

    /// Entries of a document, those included that are marked as deleted but still in a segment.
    pub(crate) fn count_document(&self, document_key: i64) -> Result<u64> {
        Ok(self
            .reader
            .searcher()
            .doc_freq(&Term::from_field_u64(self.fields.document_key, document_key as u64))?)
    }

    /// Rewrites the segments that still hold deleted entries, so that nothing of them is left on disk.
    pub(crate) fn purge(&self) -> Result<()> {
        let writer = self.writer.as_ref().ok_or(VaultError::ReadOnly)?;
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        for segment in self.index.searchable_segment_metas()? {
            if segment.num_deleted_docs() > 0 {
                writer.merge(&[segment.id()]).wait()?;
            }
        }
        self.reader.reload()?;
        writer.garbage_collect_files().wait()?;
        Ok(())
    }
}

fn schema() -> (Schema, Fields) {
    let text = |record| {
        let indexing = TextFieldIndexing::default().set_index_option(record).set_tokenizer("raw");
        TextOptions::default().set_indexing_options(indexing)
    };
    let words = || text(IndexRecordOption::WithFreqs);
    let mut schema = Schema::builder();
    let fields = Fields {
        chunk_key: schema.add_u64_field("chunk_key", FAST),
        version_key: schema.add_u64_field("version_key", FAST | INDEXED),
        document_key: schema.add_u64_field("document_key", FAST | INDEXED),
        title: schema.add_text_field("title", words()),
        heading: schema.add_text_field("heading", words()),
        body: schema.add_text_field("body", words()),
        grams: schema.add_text_field("grams", text(IndexRecordOption::WithFreqsAndPositions)),
        codes: schema.add_text_field("codes", words()),
    };
    (schema.build(), fields)
}

/// Terms that were analysed already, as one field's value.
fn tokens<'a>(parts: impl IntoIterator<Item = &'a [String]>) -> PreTokenizedString {
    let mut tokens = Vec::new();
    let mut position = 0;
    for part in parts {
        for term in part {
            tokens.push(Token { position, text: term.clone(), position_length: 1, ..Token::default() });
            position += 1;
        }
        position += FIELD_GAP;
    }
    PreTokenizedString { text: String::new(), tokens }
}

fn payload(index: &Index) -> Result<Option<Payload>> {
    let stored = index.load_metas()?.payload;
    Ok(stored.and_then(|text| serde_json::from_str(&text).ok()))
}

/// The index in `dir`, if it can be read and shows this vault as this analyser sees it.
fn usable(dir: &Path, vault_id: VaultId, schema: &Schema) -> Option<Index> {
    let index = Index::open_in_dir(dir).ok()?;
    let payload = payload(&index).ok()??;
    let fits =
        payload.vault_id == vault_id && payload.analyzer == ANALYZER_VERSION && index.schema() == *schema;
    let readable = fits && index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().is_ok();
    readable.then_some(index)
}

fn recreate(dir: &Path, schema: Schema) -> Result<Index> {
    if dir.exists() {
        std::fs::remove_dir_all(dir).map_err(VaultError::io(dir))?;
    }
    std::fs::create_dir_all(dir).map_err(VaultError::io(dir))?;
    Ok(Index::create_in_dir(dir, schema)?)
}
