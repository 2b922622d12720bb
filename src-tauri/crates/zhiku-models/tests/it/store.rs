use std::fs;

use tokio_util::sync::CancellationToken;
use zhiku_core::ErrorCode;
use zhiku_models::{Fetched, Role, State};

use crate::server::{Reply, Server};
use crate::{Fixture, content};

fn verify(fixture: &Fixture) -> State {
    fixture.store.verify(fixture.entry(), &CancellationToken::new()).expect("verifies")
}

#[test]
fn a_missing_model_says_how_to_get_it() {
    let fixture = Fixture::new(&content());
    assert_eq!(fixture.store.state(fixture.entry()), State::Missing);
    let error = fixture.store.require(Role::Embedding).expect_err("missing");
    assert_eq!(error.code, ErrorCode::ModelMissing);
    assert_eq!(error.message, "model m is not there: model.bin is missing");
    assert_eq!(error.hint.as_deref(), Some("run `zhiku models fetch`"));
}

#[test]
fn a_file_placed_by_hand_is_verified_when_it_is_needed() {
    let content = content();
    let fixture = Fixture::new(&content);
    fixture.put("model.bin", &content);
    assert_eq!(fixture.store.state(fixture.entry()), State::Present);
    let files = fixture.store.require(Role::Embedding).expect("whole");
    assert_eq!(files.main(), fixture.file("model.bin"));
    assert_eq!(fixture.store.state(fixture.entry()), State::Verified);
}

#[test]
fn fetch_accepts_a_file_placed_by_hand_without_a_request() {
    let content = content();
    let fixture = Fixture::new(&content);
    fixture.put("model.bin", &content);
    let server = Server::start(|_, _| Reply::status(500));
    assert_eq!(fixture.fetch(&server).expect("is there"), Fetched::AlreadyThere);
    assert!(server.requests().is_empty());
}

#[test]
fn damage_of_the_same_size_is_noticed_by_the_changed_time() {
    let content = content();
    let fixture = Fixture::new(&content);
    fixture.put("model.bin", &content);
    assert_eq!(verify(&fixture), State::Verified);

    let mut damaged = content.clone();
    damaged[150_000] ^= 1;
    fixture.put("model.bin", &damaged);
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    let file = fs::File::options().write(true).open(fixture.file("model.bin")).expect("open");
    file.set_modified(later).expect("time");

    let error = fixture.store.require(Role::Embedding).expect_err("damaged");
    assert_eq!(error.code, ErrorCode::ModelDamaged);
    assert_eq!(error.hint.as_deref(), Some("run `zhiku models fetch`"));
    assert_eq!(verify(&fixture), State::Damaged);
}

#[test]
fn verify_finds_damage_that_keeps_size_and_time() {
    let content = content();
    let fixture = Fixture::new(&content);
    fixture.put("model.bin", &content);
    assert_eq!(verify(&fixture), State::Verified);

    let path = fixture.file("model.bin");
    let time = fs::metadata(&path).and_then(|metadata| metadata.modified()).expect("time");
    fixture.put("model.bin", &vec![7; content.len()]);
    fs::File::options().write(true).open(&path).and_then(|file| file.set_modified(time)).expect("time");

    assert_eq!(fixture.store.state(fixture.entry()), State::Verified, "the stamp cannot know");
    assert_eq!(verify(&fixture), State::Damaged);
    assert_eq!(fixture.store.require(Role::Embedding).expect_err("damaged").code, ErrorCode::ModelDamaged);
}

#[test]
fn a_file_of_another_size_is_damaged_at_first_sight() {
    let fixture = Fixture::new(&content());
    fixture.put("model.bin", b"short");
    assert_eq!(fixture.store.state(fixture.entry()), State::Damaged);
    let error = fixture.store.require(Role::Embedding).expect_err("damaged");
    assert_eq!(error.code, ErrorCode::ModelDamaged);
}
