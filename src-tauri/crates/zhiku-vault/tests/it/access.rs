//! Two people with different rights: nothing of what one may not see comes through any read.

use std::collections::HashSet;
use std::path::Path;

use zhiku_core::{AclEffect, DocumentVisibility, ErrorCode, Role, UnitId};
use zhiku_vault::{DocumentFilter, RuleSubject, Scope, SearchFilter, Vault, VersionRef};

use crate::support::{World, found, vector};

const SECRET: &str = "采购价格 purchase price of membrane M-208 is 41 yuan";
const OPEN: &str = "防水 waterproofing uses membrane M-208";

/// What every public read gives of one document: a name and how many things came.
fn reads(world: &World, scope: &Scope, owner: &Scope, secret: VersionRef) -> Vec<(&'static str, usize)> {
    let vault: &Vault = &world.vault;
    let everything = SearchFilter::default();
    let only = SearchFilter { documents: Some(vec![secret.document]) };
    let units = vault.units(owner, secret.document, secret.version).expect("units");
    let chunks = vault.chunks_of(owner, secret.document, secret.version).expect("chunks");
    let keys: Vec<_> = chunks.iter().map(|row| row.key).collect();
    let ids: Vec<_> = chunks.iter().map(|row| row.chunk.chunk_id).collect();
    let secret_keys: HashSet<i64> = keys.iter().copied().collect();
    let lexical = |filter| {
        let hits = vault.search_lexical(scope, "purchase price M-208", filter, 50).expect("lexical");
        hits.iter().filter(|hit| secret_keys.contains(&hit.chunk_key)).count()
    };
    let dense = |filter| {
        let hits = vault.search_dense(scope, &vector(SECRET), filter, 50).expect("dense");
        hits.iter().filter(|hit| secret_keys.contains(&hit.chunk_key)).count()
    };
    let listed = vault.list_documents(scope, &DocumentFilter::default()).expect("list");
    vec![
        ("search_lexical", lexical(&everything)),
        ("search_lexical filtered", lexical(&only)),
        ("search_dense", dense(&everything)),
        ("search_dense filtered", dense(&only)),
        ("chunks", vault.chunks(scope, &keys).expect("chunks").len()),
        ("chunk_by_id", vault.chunk_by_id(scope, ids[0]).expect("chunk").iter().count()),
        ("chunk_keys", vault.chunk_keys(scope, &ids).expect("keys").len()),
        ("chunks_of", vault.chunks_of(scope, secret.document, secret.version).expect("chunks").len()),
        ("neighbours", vault.neighbours(scope, keys[0], 5, 5).expect("neighbours").len()),
        ("token_vectors", vault.token_vectors(scope, &keys).expect("tokens").len()),
        ("unit", vault.unit(scope, units[0].unit_id).expect("unit").iter().count()),
        ("units", vault.units(scope, secret.document, secret.version).expect("units").len()),
        ("documents_visible", vault.documents_visible(scope, &[secret.document]).expect("visible").len()),
        ("list_documents", listed.iter().filter(|document| document.document == secret.document).count()),
        (
            "document_page",
            vault
                .document_page(scope, "", 0, 100)
                .expect("page")
                .documents
                .iter()
                .filter(|document| document.document == secret.document)
                .count(),
        ),
        (
            "sources_below",
            vault
                .sources_below(scope, Path::new("/"))
                .expect("sources")
                .iter()
                .filter(|source| source.document == secret.document)
                .count(),
        ),
        ("show", vault.show(scope, secret.document).iter().count()),
        ("version", vault.version(scope, secret.document, secret.version).iter().count()),
        ("open_object", vault.open_object(scope, secret.document, secret.version).iter().count()),
        ("object_state", vault.object_state(scope, secret.document, secret.version).iter().count()),
        (
            "jobs",
            vault
                .jobs(scope)
                .expect("jobs")
                .iter()
                .filter(|job| job.version.document == secret.document)
                .count(),
        ),
        ("access", vault.access(scope, secret.document).iter().count()),
    ]
}

fn names_with(reads: &[(&'static str, usize)], wanted: bool) -> Vec<&'static str> {
    reads.iter().filter(|(_, count)| (*count > 0) == wanted).map(|(name, _)| *name).collect()
}

#[test]
fn no_read_leaks_a_document_that_is_not_visible() {
    let world = World::new();
    let (owner, reader) = (world.owner_scope(), world.reader_scope());
    let secret = world.import("prices.txt", &[SECRET, "supplier and discount 折扣"]);
    world.import("case.txt", &[OPEN]);
    world.vault.enqueue_job(&owner, secret, zhiku_vault::JobKind::Embed).expect("job");
    world
        .vault
        .set_visibility(&owner, secret.document, DocumentVisibility::OwnerOnly, &[])
        .expect("visibility");

    let seen = reads(&world, &owner, &owner, secret);
    assert_eq!(names_with(&seen, false), Vec::<&str>::new(), "the owner sees it through every read");
    let leaks = reads(&world, &reader, &owner, secret);
    assert_eq!(names_with(&leaks, true), Vec::<&str>::new(), "the reader sees it through no read");
    assert_eq!(found(&world.vault, &reader, "M-208 price"), [OPEN]);
}

#[test]
fn not_visible_and_not_there_look_the_same() {
    let world = World::new();
    let (owner, reader) = (world.owner_scope(), world.reader_scope());
    let secret = world.import("prices.txt", &[SECRET]);
    world
        .vault
        .set_visibility(&owner, secret.document, DocumentVisibility::OwnerOnly, &[])
        .expect("visibility");
    let hidden = world.vault.show(&reader, secret.document).expect_err("hidden").to_string();
    let absent = world.vault.show(&reader, zhiku_core::DocumentId::new()).expect_err("absent").to_string();
    assert_eq!(hidden, absent);
    assert_eq!(world.vault.unit(&reader, UnitId::new()).expect("unit"), None);
}

#[test]
fn rules_deny_before_they_allow_before_visibility() {
    let world = World::new();
    let (owner, reader) = (world.owner_scope(), world.reader_scope());
    let vault = &world.vault;
    let document = world.import("a.txt", &[OPEN]).document;
    let purchasing = vault.add_department(&owner, "采购").expect("department").department_id;
    let me = RuleSubject::Profile(reader.profile_id());
    let mine = RuleSubject::Department(purchasing);
    let sees = || !vault.documents_visible(&reader, &[document]).expect("visible").is_empty();

    assert!(sees(), "all members");
    vault.set_visibility(&owner, document, DocumentVisibility::Departments, &[purchasing]).expect("set");
    assert!(!sees(), "not in the department");
    vault.set_departments(&owner, reader.profile_id(), &[purchasing]).expect("set");
    assert!(sees(), "in the department");
    vault.set_rule(&owner, document, me, AclEffect::Deny).expect("rule");
    assert!(!sees(), "a denial beats the department");
    vault.set_rule(&owner, document, mine, AclEffect::Allow).expect("rule");
    assert!(!sees(), "a denial beats another allowance");
    vault.clear_rule(&owner, document, me).expect("rule");
    vault.set_visibility(&owner, document, DocumentVisibility::OwnerOnly, &[]).expect("set");
    assert!(sees(), "an allowance beats the visibility");
    vault.set_rule(&owner, document, mine, AclEffect::Deny).expect("rule");
    assert!(!sees(), "the later rule for a subject replaces the earlier");
}

#[test]
fn a_revocation_acts_at_the_next_call() {
    let world = World::new();
    let (owner, reader) = (world.owner_scope(), world.reader_scope());
    let document = world.import("a.txt", &[OPEN]).document;
    assert_eq!(found(&world.vault, &reader, "waterproofing"), [OPEN]);
    let me = RuleSubject::Profile(reader.profile_id());
    world.vault.set_rule(&owner, document, me, AclEffect::Deny).expect("rule");
    assert!(found(&world.vault, &reader, "waterproofing").is_empty());
    assert!(crate::support::found_dense(&world.vault, &reader, OPEN).is_empty());
}

#[test]
fn a_removed_member_has_no_scope_and_their_old_one_is_void() {
    let world = World::new();
    let (owner, reader) = (world.owner_scope(), world.reader_scope());
    world.import("a.txt", &[OPEN]);
    world.vault.remove_member(&owner, reader.profile_id()).expect("remove");
    assert_eq!(world.vault.scope(&world.reader).expect_err("no scope").code(), ErrorCode::NotFound);
    assert!(found(&world.vault, &reader, "waterproofing").is_empty());
    assert!(world.vault.members(&reader).is_err());
}

#[test]
fn functions_follow_the_role() {
    let world = World::new();
    let reader = world.reader_scope();
    let path = world.file("b.txt", "text");
    let object = world.vault.put_object(&path).expect("put");
    let refused = world.vault.register_source(&reader, &path, "b", zhiku_core::DocumentKind::Text, &object);
    assert_eq!(refused.expect_err("a reader imports nothing").code(), ErrorCode::Denied);
    let document = world.import("a.txt", &[OPEN]).document;
    assert_eq!(world.vault.remove(&reader, document).expect_err("nor removes").code(), ErrorCode::Denied);
    let promote = world.vault.set_role(&reader, reader.profile_id(), Role::Owner);
    assert_eq!(promote.expect_err("nor promotes").code(), ErrorCode::Denied);
    let last = world.vault.set_role(&world.owner_scope(), world.owner.profile_id(), Role::Reader);
    assert_eq!(last.expect_err("the last owner stays").code(), ErrorCode::InvalidInput);
}

#[test]
fn an_import_learns_nothing_of_what_the_importer_does_not_see() {
    let world = World::new();
    let (owner, reader) = (world.owner_scope(), world.reader_scope());
    world.vault.set_role(&owner, reader.profile_id(), Role::Editor).expect("role");
    let secret = world.import("prices.txt", &[SECRET]);
    world
        .vault
        .set_visibility(&owner, secret.document, DocumentVisibility::OwnerOnly, &[])
        .expect("visibility");
    let again = crate::support::register(&world.vault, &reader, &world.file("prices.txt", SECRET));
    assert_eq!(again.outcome, zhiku_vault::RegisterOutcome::New);
    assert_ne!(again.version.document, secret.document);
}
