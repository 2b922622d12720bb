//! A vault with two people, documents of a few paragraphs, and an embedder that knows words only.

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use zhiku_core::model::{EmbedSide, Embedder, Embedding, EmbeddingSpace, ModelError, Priority, TokenMatrix};
use zhiku_core::{
    Chunk, ChunkId, ChunkKind, ChunkSpan, DocumentKind, DocumentVisibility, Locator, ParsedUnit, Process,
    Role, RunContext, Trust, UnitKind,
};
use zhiku_retrieval::{Language, LanguageMeans, MeanVectors, RetrievalConfig, Retriever};
use zhiku_vault::{Home, OpenOptions, Principal, Scope, Vault, VersionRef};

const DIM: usize = 64;

pub(crate) struct WordEmbedder;

impl Embedder for WordEmbedder {
    fn space(&self) -> EmbeddingSpace {
        space("words")
    }

    fn count_tokens(&self, text: &str, _: EmbedSide) -> usize {
        zhiku_vault::lexical::analyze(text).len()
    }

    fn max_tokens(&self) -> usize {
        512
    }

    fn embed(
        &self,
        texts: &[&str],
        _: EmbedSide,
        _: Priority,
        ctx: &RunContext,
    ) -> Result<Vec<Embedding>, ModelError> {
        ctx.check()?;
        Ok(texts.iter().map(|text| embedding(text)).collect())
    }
}

pub(crate) fn space(model: &str) -> EmbeddingSpace {
    EmbeddingSpace { model_id: model.to_owned(), dim: DIM as u32 }
}

fn embedding(text: &str) -> Embedding {
    let words = zhiku_vault::lexical::analyze(text);
    let values: Vec<f32> = words.iter().flat_map(|word| word_vector(word)).collect();
    let mut sum = vec![1e-3; DIM];
    for row in values.chunks_exact(DIM) {
        sum.iter_mut().zip(row).for_each(|(total, value)| *total += value);
    }
    Embedding { sentence: unit(sum), tokens: TokenMatrix { dim: DIM, values } }
}

/// The same word always gives the same direction, different words almost orthogonal ones.
fn word_vector(word: &str) -> Vec<f32> {
    let mut state = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1_u32 << 24) as f32 - 0.5
    };
    unit((0..DIM).map(|_| next()).collect())
}

fn unit(vector: Vec<f32>) -> Vec<f32> {
    let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    vector.into_iter().map(|value| value / norm).collect()
}

/// Means of nothing: the double has no language to take out.
pub(crate) fn no_language() -> LanguageMeans {
    let zero = || MeanVectors { sentence: vec![0.0; DIM], token: vec![0.0; DIM] };
    [Language::Chinese, Language::English]
        .into_iter()
        .flat_map(|language| [(language, EmbedSide::Query), (language, EmbedSide::Passage)])
        .fold(LanguageMeans::default(), |means, (language, side)| means.with(language, side, zero()))
}

pub(crate) struct World {
    dir: TempDir,
    pub(crate) vault: Vault,
    pub(crate) owner: Principal,
    pub(crate) reader: Principal,
}

/// How far a document gets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    Words,
    Vectors,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_space(&space("words"))
    }

    pub(crate) fn with_space(space: &EmbeddingSpace) -> Self {
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
        vault.set_embedding_space(space).expect("space");
        Self { dir, vault, owner, reader }
    }

    /// The English travel policy and its neighbours.
    pub(crate) fn travel() -> Self {
        let world = Self::new();
        world.add(
            "policy",
            &[
                "Employees are reimbursed for hotel rooms up to a limit of 140 EUR per night in Munich.",
                "Expense claims must be filed in the portal within 30 days after the trip.",
                "The train is preferred to the plane for journeys of less than four hours.",
            ],
        );
        world.add(
            "handbook",
            &[
                "The probation period is six months, with two weeks notice.",
                "Passwords have at least fourteen characters and are changed once a year.",
            ],
        );
        world
    }

    pub(crate) fn add(&self, name: &str, paragraphs: &[&str]) -> VersionRef {
        self.add_until(name, paragraphs, Until::Vectors)
    }

    pub(crate) fn add_until(&self, name: &str, paragraphs: &[&str], until: Until) -> VersionRef {
        let version = self.register(name, &paragraphs.join("\n\n"));
        self.stage(version, name, paragraphs);
        self.vault.publish_lexical(&[version]).expect("publish words");
        if until == Until::Vectors {
            self.embed(version, embedding);
        }
        version
    }

    /// A document of one passage under a header, with vectors from elsewhere.
    pub(crate) fn add_embedded(
        &self,
        name: &str,
        header: &str,
        text: &str,
        embed: impl Fn(&str) -> Embedding,
    ) -> VersionRef {
        let version = self.register(name, text);
        self.stage(version, header, &[text]);
        self.vault.publish_lexical(&[version]).expect("publish words");
        self.embed(version, embed);
        version
    }

    fn register(&self, name: &str, text: &str) -> VersionRef {
        let path: PathBuf = self.dir.path().join(format!("{name}.txt"));
        std::fs::write(&path, text).expect("write");
        let scope = self.owner_scope();
        let object = self.vault.put_object(&path).expect("put");
        self.vault
            .register_source(&scope, &path, name, DocumentKind::Text, &object)
            .expect("register")
            .version
    }

    fn embed(&self, version: VersionRef, embed: impl Fn(&str) -> Embedding) {
        let pending = self.vault.pending_chunks(version).expect("pending");
        let vectors: Vec<_> = pending
            .into_iter()
            .map(|chunk| {
                let embedding = embed(&chunk.indexed_text);
                (chunk.chunk_id, embedding.sentence, embedding.tokens)
            })
            .collect();
        self.vault.store_vectors(version, &vectors).expect("vectors");
        self.vault.publish_hybrid(&[version]).expect("publish vectors");
    }

    /// One unit with all paragraphs, one chunk per paragraph.
    fn stage(&self, version: VersionRef, title: &str, paragraphs: &[&str]) {
        let text = paragraphs.join("\n\n");
        let n_chars = text.chars().count() as u32;
        let unit = ParsedUnit {
            kind: UnitKind::Section,
            locator: Locator::Chars { char_start: 0, char_end: n_chars },
            text,
            process: Process::Text,
            trust: Trust::Normal,
            heading_path: Vec::new(),
            layout: None,
            confidence: None,
            timing: Vec::new(),
        };
        let unit_id = self.vault.stage_units(version, 0, &[unit]).expect("units")[0];
        let mut start = 0;
        let mut chunks = Vec::new();
        for (ordinal, paragraph) in paragraphs.iter().enumerate() {
            let end = start + paragraph.chars().count() as u32;
            chunks.push(Chunk {
                chunk_id: ChunkId::new(),
                document_id: version.document,
                version: version.version,
                ordinal: ordinal as u32,
                kind: ChunkKind::Text,
                header: title.to_owned(),
                text: (*paragraph).to_owned(),
                spans: vec![ChunkSpan { unit_id, char_start: start, char_end: end }],
                locator: Locator::Chars { char_start: start, char_end: end },
                n_tokens: 8,
            });
            start = end + 2;
        }
        self.vault.stage_chunks(version, &chunks).expect("chunks");
    }

    pub(crate) fn restrict_to_owner(&self, version: VersionRef) {
        self.vault
            .set_visibility(&self.owner_scope(), version.document, DocumentVisibility::OwnerOnly, &[])
            .expect("visibility");
    }

    pub(crate) fn owner_scope(&self) -> Scope {
        self.vault.scope(&self.owner).expect("scope")
    }

    pub(crate) fn reader_scope(&self) -> Scope {
        self.vault.scope(&self.reader).expect("scope")
    }

    pub(crate) fn retriever(&self) -> Retriever {
        Retriever::new(
            self.vault.clone(),
            Some(Arc::new(WordEmbedder)),
            Arc::new(no_language()),
            RetrievalConfig::default(),
        )
    }

    pub(crate) fn retriever_without_embedder(&self) -> Retriever {
        Retriever::new(self.vault.clone(), None, Arc::default(), RetrievalConfig::default())
    }
}
