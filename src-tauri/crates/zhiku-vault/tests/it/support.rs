//! A vault with people and documents. Vectors are made from the words of a text, so that equal words are near.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use zhiku_core::model::{EmbeddingSpace, TokenMatrix};
use zhiku_core::{
    Chunk, ChunkId, ChunkKind, ChunkSpan, DocumentKind, Locator, ParsedUnit, Process, Role, Trust, UnitId,
    UnitKind,
};
use zhiku_vault::{
    Home, Job, JobLane, OpenOptions, Principal, PublishOutcome, Registered, Scope, Vault, VersionRef,
};

pub(crate) const DIM: usize = 16;

pub(crate) struct World {
    pub(crate) dir: TempDir,
    pub(crate) home: Home,
    pub(crate) vault: Vault,
    pub(crate) owner: Principal,
    pub(crate) reader: Principal,
}

impl World {
    /// A vault with an owner and a reader.
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("temp dir");
        let home = Home::open(dir.path().join("home")).expect("home");
        for name in ["owner", "reader"] {
            home.add_profile(name).expect("profile");
        }
        let owner = home.sign_in("owner").expect("sign in");
        let reader = home.sign_in("reader").expect("sign in");
        let vault = home.create_vault(&owner, "v", None, &OpenOptions::default()).expect("vault");
        let scope = vault.scope(&owner).expect("scope");
        vault.add_member(&scope, &home.profile("reader").expect("profile"), Role::Reader).expect("member");
        vault.set_embedding_space(&space("test")).expect("space");
        Self { dir, home, vault, owner, reader }
    }

    pub(crate) fn owner_scope(&self) -> Scope {
        self.vault.scope(&self.owner).expect("scope")
    }

    pub(crate) fn reader_scope(&self) -> Scope {
        self.vault.scope(&self.reader).expect("scope")
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, text).expect("write");
        path
    }

    /// Imports a file of these paragraphs and publishes it with vectors.
    pub(crate) fn import(&self, name: &str, paragraphs: &[&str]) -> VersionRef {
        let version = self.register(name, paragraphs).version;
        import_staged(&self.vault, version, name.trim_end_matches(".txt"), paragraphs);
        version
    }

    pub(crate) fn register(&self, name: &str, paragraphs: &[&str]) -> Registered {
        let path = self.file(name, &paragraphs.join("\n"));
        register(&self.vault, &self.owner_scope(), &path)
    }

    /// Closes the vault and opens it again.
    pub(crate) fn reopen(self) -> Self {
        let dir = self.vault.dir().to_owned();
        let Self { dir: temp, home, vault, owner, reader } = self;
        drop(vault);
        let vault = Vault::open(dir, &OpenOptions::default()).expect("open");
        Self { dir: temp, home, vault, owner, reader }
    }
}

pub(crate) fn space(model: &str) -> EmbeddingSpace {
    EmbeddingSpace { model_id: model.to_owned(), dim: DIM as u32 }
}

pub(crate) fn register(vault: &Vault, scope: &Scope, path: &Path) -> Registered {
    let object = vault.put_object(path).expect("put");
    let title = path.file_stem().expect("name").to_string_lossy();
    vault.register_source(scope, path, &title, DocumentKind::Text, &object).expect("register")
}

/// The next job of a lane.
pub(crate) fn claim(vault: &Vault, lane: JobLane) -> Option<Job> {
    vault.claim_jobs(lane, 1).expect("claim").into_iter().next()
}

/// All stages after registration.
pub(crate) fn import_staged(vault: &Vault, version: VersionRef, title: &str, paragraphs: &[&str]) {
    stage(vault, version, title, paragraphs);
    vault.publish_lexical(&[version]).expect("publish words");
    embed(vault, version);
    let published = vault.publish_hybrid(&[version]).expect("publish vectors");
    assert_eq!(published, [PublishOutcome::Published]);
}

/// One unit and one chunk per paragraph.
pub(crate) fn stage(vault: &Vault, version: VersionRef, title: &str, paragraphs: &[&str]) {
    let units: Vec<ParsedUnit> = paragraphs.iter().map(|text| unit(text)).collect();
    let ids = vault.stage_units(version, 0, &units).expect("units");
    let texts: Vec<_> = ids.into_iter().zip(paragraphs.iter().copied()).collect();
    stage_chunks(vault, version, title, &texts);
}

/// One chunk per unit.
pub(crate) fn stage_chunks(vault: &Vault, version: VersionRef, title: &str, texts: &[(UnitId, &str)]) {
    let chunks: Vec<Chunk> = texts
        .iter()
        .enumerate()
        .map(|(ordinal, (unit_id, text))| {
            let char_end = text.chars().count() as u32;
            Chunk {
                chunk_id: ChunkId::new(),
                document_id: version.document,
                version: version.version,
                ordinal: ordinal as u32,
                kind: ChunkKind::Text,
                header: title.to_owned(),
                text: (*text).to_owned(),
                spans: vec![ChunkSpan { unit_id: *unit_id, char_start: 0, char_end }],
                locator: Locator::Chars { char_start: 0, char_end },
                n_tokens: 8,
            }
        })
        .collect();
    vault.stage_chunks(version, &chunks).expect("chunks");
}

/// A unit whose words are still to be recognised.
pub(crate) fn awaiting() -> ParsedUnit {
    ParsedUnit { process: Process::Ocr, ..unit("") }
}

fn unit(text: &str) -> ParsedUnit {
    ParsedUnit {
        kind: UnitKind::Section,
        locator: Locator::Chars { char_start: 0, char_end: text.chars().count() as u32 },
        text: text.to_owned(),
        process: Process::Text,
        trust: Trust::Normal,
        heading_path: vec!["第一章".to_owned()],
        layout: None,
        confidence: None,
        timing: Vec::new(),
    }
}

pub(crate) fn embed(vault: &Vault, version: VersionRef) {
    let pending = vault.pending_chunks(version).expect("pending");
    let vectors: Vec<_> = pending
        .iter()
        .map(|chunk| {
            let sentence = vector(&chunk.indexed_text);
            let tokens = TokenMatrix { dim: DIM, values: sentence.repeat(3) };
            (chunk.chunk_id, sentence, tokens)
        })
        .collect();
    vault.store_vectors(version, &vectors).expect("vectors");
}

/// Each word raises one dimension; norm 1.
pub(crate) fn vector(text: &str) -> Vec<f32> {
    let mut values = [0.01; DIM];
    for word in zhiku_vault::lexical::analyze(text) {
        let slot =
            word.bytes().fold(7_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte as usize)) % DIM;
        values[slot] += 1.0;
    }
    let norm = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    values.iter().map(|value| value / norm).collect()
}

/// The texts that a search by words brings, best first.
pub(crate) fn found(vault: &Vault, scope: &Scope, question: &str) -> Vec<String> {
    let hits =
        vault.search_lexical(scope, question, &zhiku_vault::SearchFilter::default(), 10).expect("search");
    let keys: Vec<_> = hits.iter().map(|hit| hit.chunk_key).collect();
    vault.chunks(scope, &keys).expect("chunks").into_iter().map(|row| row.chunk.text).collect()
}

/// The same by vectors.
pub(crate) fn found_dense(vault: &Vault, scope: &Scope, question: &str) -> Vec<String> {
    let hits = vault
        .search_dense(scope, &vector(question), &zhiku_vault::SearchFilter::default(), 10)
        .expect("search");
    let keys: Vec<_> = hits.iter().map(|hit| hit.chunk_key).collect();
    vault.chunks(scope, &keys).expect("chunks").into_iter().map(|row| row.chunk.text).collect()
}
