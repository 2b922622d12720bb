//! Vaults that older versions of the program left: they open for ever. To add the present schema's, run this test with
//! `ZHIKU_WRITE_FIXTURE=fixtures/vaults/vN`.

use std::path::{Path, PathBuf};

use zhiku_core::DocumentVisibility;
use zhiku_vault::{Home, OpenOptions, RunState, Vault};

use crate::support::{World, found, found_dense};

const RULE: &[&str] =
    &["售后 claims are filed within 14 days", "防水 waterproofing carries a warranty of five years"];
const PRICES: &[&str] = &["the purchase price of membrane M-208 is 41 yuan"];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).expect("root").join("fixtures/vaults")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("create");
    for entry in std::fs::read_dir(from).expect("list") {
        let path = entry.expect("entry").path();
        let target = to.join(path.file_name().expect("name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("copy");
        }
    }
}

#[test]
fn written_when_asked_for() {
    let Ok(target) = std::env::var("ZHIKU_WRITE_FIXTURE") else { return };
    let target = fixtures().ancestors().nth(2).expect("root").join(target);
    let world = World::new();
    let scope = world.owner_scope();
    world.import("rule.txt", &["售后 claims are filed within 7 days"]);
    world.import("rule.txt", RULE);
    let prices = world.import("prices.txt", PRICES);
    world
        .vault
        .set_visibility(&scope, prices.document, DocumentVisibility::OwnerOnly, &[])
        .expect("visibility");
    let run = zhiku_core::RunId::new();
    world.vault.create_run(&scope, run, None, "how long?").expect("run");
    world.vault.append_event(run, &zhiku_core::AnswerEvent::Cancelled { seq: 1 }).expect("event");
    let (home_dir, vault_dir) = (world.home.dir().to_owned(), world.vault.dir().to_owned());
    let World { dir: _temp, home, vault, .. } = world;
    drop((home, vault));
    copy(&vault_dir, &target.join("vault"));
    std::fs::copy(home_dir.join("home.sqlite"), target.join("home.sqlite")).expect("copy");
    for leftover in ["owner.lock", "owner.json", "lexical/.tantivy-writer.lock", "lexical/.tantivy-meta.lock"]
    {
        let _ = std::fs::remove_file(target.join("vault").join(leftover));
    }
}

#[test]
fn every_released_schema_opens() {
    let mut opened = 0;
    for entry in std::fs::read_dir(fixtures()).expect("fixtures/vaults") {
        let dir = entry.expect("entry").path();
        let temporary = tempfile::tempdir().expect("temp dir");
        copy(&dir, temporary.path());
        let home = Home::open(temporary.path()).expect("home");
        let vault = Vault::open(temporary.path().join("vault"), &OpenOptions::default()).expect("vault");
        let owner = vault.scope(&home.sign_in("owner").expect("owner")).expect("scope");
        let reader = vault.scope(&home.sign_in("reader").expect("reader")).expect("scope");
        assert_eq!(found(&vault, &owner, "claims"), [RULE[0]], "{}", dir.display());
        assert_eq!(found_dense(&vault, &owner, PRICES[0])[0], PRICES[0]);
        assert!(found(&vault, &reader, "purchase price").is_empty());
        assert_eq!(vault.runs(&owner, None).expect("runs")[0].state, RunState::Ended);
        assert!(vault.chunks_without_token_vectors().expect("token vectors").is_empty());
        opened += 1;
    }
    assert!(opened > 0);
}
