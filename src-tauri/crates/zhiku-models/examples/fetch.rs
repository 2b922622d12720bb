//! Fetches or finds every entry for this platform: `cargo run -p zhiku-models --example fetch [FOLDER]`.
#![expect(clippy::print_stdout, reason = "printing is what this program is for")]

use tokio_util::sync::CancellationToken;
use zhiku_models::{FetchOptions, ModelStore, ModelsError};

fn main() -> Result<(), ModelsError> {
    let root =
        std::env::args_os().nth(1).map_or_else(ModelStore::default_root, |folder| Ok(folder.into()))?;
    let store = ModelStore::open(root)?;
    let cancel = CancellationToken::new();
    for entry in store.manifest().usable() {
        let mut last = None;
        let mut report = |progress: zhiku_models::Progress<'_>| {
            if last.replace(progress.step) != Some(progress.step) {
                println!("  {:?} {}", progress.step, progress.name);
            }
        };
        let fetched = store.fetch(entry, &FetchOptions::from_env(), &mut report, &cancel)?;
        println!("{}: {fetched:?}, {:?}", entry.id, store.state(entry));
    }
    Ok(())
}
