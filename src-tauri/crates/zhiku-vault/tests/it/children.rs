//! What came inside another document: its rights are those of its container, and it goes with it.

use zhiku_core::{AclEffect, DocumentKind, DocumentVisibility, Process};
use zhiku_vault::{
    ChildSource, DocumentFilter, Recognized, RegisterOutcome, Registered, RuleSubject, VersionRef,
};

use crate::support::{World, awaiting, found, found_dense, import_staged};

const INNER: &str = "the attached price list names 41 yuan for membrane M-208";

fn child(world: &World, parent: VersionRef, name: &str, bytes: &[u8], embedded: bool) -> Registered {
    let object = world.vault.put_bytes(bytes).expect("put");
    let source = ChildSource { name, title: name, kind: DocumentKind::Text, embedded };
    world.vault.register_child(parent, &source, &object).expect("child")
}

fn mail_with_attachment(world: &World) -> (VersionRef, VersionRef) {
    let mail = world.import("mail.txt", &["please find the attachment"]);
    let inner = child(world, mail, "prices.txt", b"prices", false).version;
    import_staged(&world.vault, inner, "prices", &[INNER]);
    (mail, inner)
}

#[test]
fn who_may_not_see_the_container_sees_nothing_of_what_is_inside() {
    let world = World::new();
    let (mail, inner) = mail_with_attachment(&world);
    let (owner, reader) = (world.owner_scope(), world.reader_scope());
    assert_eq!(found(&world.vault, &reader, "M-208"), [INNER]);
    world.vault.set_visibility(&owner, mail.document, DocumentVisibility::OwnerOnly, &[]).expect("narrow");
    assert!(found(&world.vault, &reader, "M-208").is_empty());
    assert!(found_dense(&world.vault, &reader, INNER).is_empty());
    assert!(world.vault.show(&reader, inner.document).is_err());
    assert!(world.vault.list_documents(&reader, &DocumentFilter::default()).expect("list").is_empty());
    assert!(world.vault.open_object(&reader, inner.document, inner.version).is_err());
    assert_eq!(found(&world.vault, &owner, "M-208"), [INNER]);
}

#[test]
fn a_rule_for_what_is_inside_is_a_rule_for_the_container() {
    let world = World::new();
    let (mail, inner) = mail_with_attachment(&world);
    let (owner, reader) = (world.owner_scope(), world.reader_scope());
    let who = RuleSubject::Profile(world.reader.profile_id());
    world.vault.set_rule(&owner, inner.document, who, AclEffect::Deny).expect("deny");
    assert!(world.vault.show(&reader, mail.document).is_err());
    assert!(world.vault.show(&reader, inner.document).is_err());
}

#[test]
fn removing_the_container_removes_what_is_inside_and_proves_it() {
    let world = World::new();
    let (mail, inner) = mail_with_attachment(&world);
    let picture = child(&world, inner, "image1.png", b"pixels", true).version;
    let scope = world.owner_scope();
    let receipt = world.vault.remove(&scope, mail.document).expect("remove");
    assert!(receipt.is_clean(), "{receipt:?}");
    let lexical = receipt.stores.iter().find(|store| store.store == "lexical").expect("store");
    assert_eq!(lexical.removed, 2, "the mail's and the attachment's words");
    for document in [mail, inner, picture] {
        assert!(world.vault.show(&scope, document.document).is_err());
        let proof = world.vault.verify_removed(&scope, document.document).expect("verify");
        assert!(proof.stores.iter().all(|store| store.found == 0), "{proof:?}");
    }
    assert!(found(&world.vault, &scope, "M-208").is_empty());
}

#[test]
fn a_new_version_keeps_what_is_still_inside_and_drops_the_rest() {
    let world = World::new();
    let scope = world.owner_scope();
    let zip = world.register("box.txt", &["one"]).version;
    let kept = child(&world, zip, "kept.txt", b"same", false);
    let gone = child(&world, zip, "gone.txt", b"old", false);
    assert_eq!(kept.outcome, RegisterOutcome::New);
    let again = child(&world, zip, "kept.txt", b"same", false);
    assert_eq!((again.outcome, again.version), (RegisterOutcome::SameBytes, kept.version));
    let changed = child(&world, zip, "kept.txt", b"changed", false);
    assert_eq!(changed.outcome, RegisterOutcome::NewVersion);
    world.vault.remove_children_except(zip, &[kept.version.document]).expect("drop");
    assert!(world.vault.show(&scope, kept.version.document).is_ok());
    assert!(world.vault.show(&scope, gone.version.document).is_err());
}

#[test]
fn pictures_of_a_page_are_found_but_not_listed() {
    let world = World::new();
    let report = world.import("report.txt", &["text"]);
    let picture = child(&world, report, "image1.png", b"pixels", true).version;
    import_staged(&world.vault, picture, "image1.png", &["a diagram of the drain"]);
    let scope = world.owner_scope();
    let listed = world.vault.list_documents(&scope, &DocumentFilter::default()).expect("list");
    assert_eq!(listed.iter().map(|d| d.title.as_str()).collect::<Vec<_>>(), ["report"]);
    assert_eq!(found(&world.vault, &scope, "diagram drain"), ["a diagram of the drain"]);
}

#[test]
fn recognition_fills_a_unit_in_its_place() {
    let world = World::new();
    let version = world.register("scan.txt", &["pixels"]).version;
    let ids = world.vault.stage_units(version, 0, &[awaiting(), awaiting()]).expect("units");
    let read = Recognized { text: "盖章：同意".to_owned(), layout: None, confidence: 0.87 };
    world.vault.store_recognized(version, ids[1], &read).expect("store");
    let rows = world.vault.staged_unit_rows(version).expect("rows");
    assert_eq!(rows.iter().map(|row| row.unit_id).collect::<Vec<_>>(), ids);
    assert_eq!((rows[1].text.as_str(), rows[1].confidence), ("盖章：同意", Some(0.87)));
    assert_eq!((rows[0].text.as_str(), rows[0].confidence, rows[0].process), ("", None, Process::Ocr));
}
