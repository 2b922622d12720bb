//! Against the real runtime and model; without them each test says that it was skipped.

mod embedder;
mod ocr;
mod session_thread;
mod voice_activity;

use std::path::PathBuf;

use zhiku_models::{ModelStore, Role};

/// The main file of a role, or a note that the test is skipped.
pub(crate) fn model_file(role: Role, name: Option<&str>) -> Option<PathBuf> {
    let store = ModelStore::open_default().expect("store");
    match store.require(role) {
        Ok(files) => Some(name.map_or_else(|| files.main(), |name| files.file(name))),
        Err(error) => {
            eprintln!("skipped: {error}; run `zhiku models fetch`");
            None
        }
    }
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}
