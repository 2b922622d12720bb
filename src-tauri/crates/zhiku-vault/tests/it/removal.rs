//! Removal acts at once, cleans every store, and is proved.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zhiku_core::{DocumentId, ErrorCode};
use zhiku_vault::{Erase, Receipt, Result};

use crate::support::{World, found, found_dense};

const SECRET: &str = "Zweihundertvierzig 海棠花园 confidential clause";
const OTHER: &str = "the warranty of waterproofing lasts five years";

/// A store of another crate.
#[derive(Default)]
struct Graph(AtomicU64);

impl Erase for Graph {
    fn name(&self) -> &'static str {
        "graph"
    }

    fn probe(&self, _document: DocumentId) -> Result<u64> {
        Ok(self.0.load(Ordering::SeqCst))
    }

    fn erase(&self, _document: DocumentId) -> Result<u64> {
        Ok(self.0.swap(0, Ordering::SeqCst))
    }
}

fn in_store(receipt: &Receipt, name: &str) -> (u64, u64) {
    let store = receipt.stores.iter().find(|store| store.store == name).expect("store");
    (store.found, store.removed)
}

#[test]
fn a_removed_document_is_in_no_store() {
    let world = World::new();
    let (vault, scope) = (&world.vault, world.owner_scope());
    vault.register_store(Arc::new(Graph(AtomicU64::new(5)))).expect("register");
    let secret = world.import("secret.txt", &[SECRET]);
    let keys: Vec<_> = vault
        .chunks_of(&scope, secret.document, secret.version)
        .expect("chunks")
        .iter()
        .map(|row| row.key)
        .collect();
    world.import("other.txt", &[OTHER]);

    let receipt = vault.remove(&scope, secret.document).expect("remove");
    assert!(receipt.is_clean(), "{receipt:?}");
    for store in ["lexical", "vectors", "token_vectors", "objects"] {
        assert_eq!(in_store(&receipt, store), (1, 1), "{store}");
    }
    assert_eq!(in_store(&receipt, "graph"), (5, 5));
    assert!(in_store(&receipt, "rows").1 >= 4);

    let proof = vault.verify_removed(&scope, secret.document).expect("verify");
    assert_eq!(proof.stores.len(), vault.store_names().len());
    assert!(proof.stores.iter().all(|store| store.found == 0), "{proof:?}");
    assert!(found(vault, &scope, "confidential").is_empty());
    assert_eq!(found_dense(vault, &scope, SECRET), [OTHER]);
    assert!(vault.chunks(&scope, &keys).expect("chunks").is_empty());
    assert_eq!(vault.show(&scope, secret.document).expect_err("gone").code(), ErrorCode::NotFound);
    assert!(vault.remove(&scope, secret.document).is_err());
}

#[test]
fn nothing_of_a_removed_document_is_left_in_any_file() {
    let world = World::new();
    let (vault, scope) = (&world.vault, world.owner_scope());
    let secret = world.import("secret.txt", &[SECRET]);
    world.import("other.txt", &[OTHER]);
    let traces = ["Zweihundertvierzig", "zweihundertvierzig", "海棠花园"];
    assert!(traces.iter().any(|trace| files_with(vault.dir(), trace) > 0), "the search of files works");
    vault.remove(&scope, secret.document).expect("remove");
    let dir = vault.dir().to_owned();
    let World { dir: _temp, vault, .. } = world;
    drop(vault);
    for trace in traces {
        assert_eq!(files_with(&dir, trace), 0, "{trace}");
    }
}

fn files_with(dir: &Path, text: &str) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir(dir).expect("list") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            count += files_with(&path, text);
        } else {
            let bytes = std::fs::read(&path).expect("read");
            count += usize::from(bytes.windows(text.len()).any(|window| window == text.as_bytes()));
        }
    }
    count
}

#[test]
fn an_original_that_two_documents_share_stays_for_the_other() {
    let world = World::new();
    let (vault, scope) = (&world.vault, world.owner_scope());
    let first = world.import("a.txt", &[SECRET]);
    let second = world.import("b.txt", &[OTHER]);
    // The second document becomes what the first is.
    let third = world.register("b.txt", &[SECRET]).version;
    crate::support::import_staged(vault, third, "b", &[SECRET]);
    vault.remove(&scope, first.document).expect("remove");
    assert!(vault.open_object(&scope, second.document, third.version).is_ok());
    assert_eq!(found(vault, &scope, "confidential"), [SECRET]);
    let receipt = vault.remove(&scope, second.document).expect("remove");
    assert_eq!(in_store(&receipt, "objects"), (2, 2));
    assert!(
        vault
            .verify_removed(&scope, second.document)
            .expect("verify")
            .stores
            .iter()
            .all(|store| store.found == 0)
    );
}

#[test]
fn a_document_that_is_there_is_not_verified_as_removed() {
    let world = World::new();
    let document = world.import("a.txt", &[OTHER]).document;
    assert!(world.vault.verify_removed(&world.owner_scope(), document).is_err());
    let never = world.vault.verify_removed(&world.owner_scope(), DocumentId::new()).expect("nothing there");
    assert!(never.stores.iter().all(|store| store.found == 0));
}
