//! The store against a server on this machine and against files that somebody damaged.

mod hub;
mod manifest;
mod package;
mod server;
mod store;

use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use zhiku_models::{Entry, FetchOptions, Fetched, Manifest, ModelStore, ModelsError, SourceChoice};

use crate::server::Server;

/// 300 KB that are nowhere the same.
pub(crate) fn content() -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..300_000).map(|_| next()).collect()
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write;

    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A manifest of one entry `m` with the file `model.bin` and a hub source.
pub(crate) fn hub_manifest(content: &[u8]) -> Manifest {
    let text = format!(
        r#"
        schema = 1
        [[entry]]
        role = "embedding"
        id = "m"
        title = "m"
        licence = "MIT"
        [[entry.file]]
        name = "model.bin"
        bytes = {}
        sha256 = "{}"
        [[entry.source]]
        kind = "hub"
        repository = "org/m"
        revision = "v1"
        "#,
        content.len(),
        sha256(content)
    );
    Manifest::parse(&text).expect("manifest")
}

pub(crate) fn options(hub: &str) -> FetchOptions {
    FetchOptions {
        sources: SourceChoice::Any,
        hub: Some(hub.to_owned()),
        ca_file: None,
        python: "python3".into(),
        npm: "npm".into(),
        retry_delay: Duration::ZERO,
    }
}

/// A store in a folder of its own.
pub(crate) struct Fixture {
    pub(crate) store: ModelStore,
    pub(crate) folder: TempDir,
}

impl Fixture {
    pub(crate) fn new(content: &[u8]) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        Self { store: ModelStore::with_manifest(folder.path(), hub_manifest(content)), folder }
    }

    pub(crate) fn entry(&self) -> &Entry {
        &self.store.manifest().entries[0]
    }

    pub(crate) fn file(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join("m").join(name)
    }

    pub(crate) fn fetch(&self, server: &Server) -> Result<Fetched, ModelsError> {
        self.store.fetch(self.entry(), &options(&server.address()), &mut |_| {}, &CancellationToken::new())
    }

    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::create_dir_all(self.folder.path().join("m")).expect("folder");
        std::fs::write(self.file(name), bytes).expect("write");
    }
}

pub(crate) fn fixture_path(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}
