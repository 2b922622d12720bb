//! Where documents come from: several places, moved and missing files, watched folders.

use std::path::{Path, PathBuf};

use zhiku_core::DocumentId;
use zhiku_vault::{FileStamp, VaultError};

use crate::support::World;

fn places(world: &World, document: DocumentId) -> (Vec<String>, bool) {
    let detail = world.vault.show(&world.owner_scope(), document).expect("show");
    let mut names: Vec<_> = detail
        .source_paths
        .iter()
        .map(|path| path.file_name().expect("name").to_string_lossy().into_owned())
        .collect();
    names.sort();
    (names, detail.summary.source_missing)
}

fn at(world: &World, name: &str) -> PathBuf {
    world.dir.path().join(name)
}

#[test]
fn one_of_two_places_goes_and_the_document_stays() {
    let world = World::new();
    let (vault, scope) = (&world.vault, world.owner_scope());
    let document = world.import("a.txt", &["the same words"]).document;
    assert_eq!(world.register("b.txt", &["the same words"]).version.document, document);
    vault.remove_source(&scope, document, &at(&world, "a.txt")).expect("remove");
    assert_eq!(places(&world, document), (vec!["b.txt".to_owned()], false));
    let last = vault.remove_source(&scope, document, &at(&world, "b.txt"));
    assert!(matches!(last, Err(VaultError::InvalidInput(_))), "{last:?}");
    let denied = vault.remove_source(&world.reader_scope(), document, &at(&world, "b.txt"));
    assert!(matches!(denied, Err(VaultError::Denied { .. })), "{denied:?}");
}

#[test]
fn a_moved_file_keeps_its_document_and_its_next_version_goes_there() {
    let world = World::new();
    let first = world.import("a.txt", &["old words"]);
    std::fs::rename(at(&world, "a.txt"), at(&world, "b.txt")).expect("rename");
    world.vault.move_source(&world.owner_scope(), &at(&world, "a.txt"), &at(&world, "b.txt")).expect("move");
    let next = world.register("b.txt", &["new words"]).version;
    assert_eq!((next.document, next.version.0), (first.document, 2));
    assert_eq!(places(&world, first.document).0, ["b.txt"]);
}

#[test]
fn a_document_whose_file_is_gone_says_so_until_it_is_back() {
    let world = World::new();
    let (vault, scope) = (&world.vault, world.owner_scope());
    let document = world.import("a.txt", &["words"]).document;
    vault.source_gone(&scope, &at(&world, "a.txt")).expect("gone");
    assert_eq!(places(&world, document), (vec!["a.txt".to_owned()], true));
    let stamp = FileStamp { bytes: 5, modified_ms: 7, identity: Some("1:2:3".to_owned()) };
    vault.stamp_source(&scope, &at(&world, "a.txt"), &stamp).expect("stamp");
    assert_eq!(places(&world, document), (vec!["a.txt".to_owned()], false));
    let known = vault.sources_below(&scope, world.dir.path()).expect("sources");
    assert_eq!(known.iter().map(|source| source.stamp.clone()).collect::<Vec<_>>(), [Some(stamp)]);
}

#[test]
fn a_copy_that_is_gone_is_forgotten() {
    let world = World::new();
    let document = world.import("a.txt", &["the same words"]).document;
    world.register("b.txt", &["the same words"]);
    world.vault.source_gone(&world.owner_scope(), &at(&world, "a.txt")).expect("gone");
    assert_eq!(places(&world, document), (vec!["b.txt".to_owned()], false));
}

#[test]
fn only_what_is_in_the_folder_is_below_it() {
    let world = World::new();
    for dir in ["in", "in/deep", "in2"] {
        std::fs::create_dir_all(at(&world, dir)).expect("create");
    }
    for name in ["in/a.txt", "in/deep/b.txt", "in2/c.txt"] {
        world.register(name, &[name]);
    }
    let known = world.vault.sources_below(&world.owner_scope(), &at(&world, "in")).expect("sources");
    let names: Vec<_> = known.iter().map(|source| source.path.clone()).collect();
    assert_eq!(names, [at(&world, "in/a.txt"), at(&world, "in/deep/b.txt")]);
}

#[test]
fn members_watch_folders_of_their_own() {
    let world = World::new();
    let (vault, owner) = (&world.vault, world.owner_scope());
    vault.watch_folder(&owner, Path::new("/papers"), &["*.log".to_owned()]).expect("watch");
    vault.watch_folder(&owner, Path::new("/papers"), &["*.bak".to_owned()]).expect("watch");
    let folders = vault.watched_folders(&owner).expect("folders");
    assert_eq!(folders.iter().map(|folder| folder.ignore.clone()).collect::<Vec<_>>(), [["*.bak"]]);
    let reader = world.reader_scope();
    assert!(vault.watched_folders(&reader).expect("folders").is_empty());
    assert!(vault.watch_folder(&reader, Path::new("/other"), &[]).is_err(), "a reader imports nothing");
    assert!(vault.watch_folder(&owner, Path::new("relative"), &[]).is_err());
    assert!(vault.unwatch_folder(&reader, Path::new("/papers")).is_err());
    vault.unwatch_folder(&owner, Path::new("/papers")).expect("unwatch");
    assert!(vault.watched_folders(&owner).expect("folders").is_empty());
}
