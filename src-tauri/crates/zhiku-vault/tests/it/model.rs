//! Any sequence of imports, failures, removals and reopenings leaves exactly what a simple model says.

use std::collections::BTreeMap;

use proptest::prelude::*;
use zhiku_core::{Failure, JobStage, Reason};
use zhiku_vault::{DocumentFilter, PublishOutcome, VersionRef};

use crate::support::{World, embed, found, found_dense, stage};

const NAMES: [&str; 3] = ["a.txt", "b.txt", "c.txt"];

#[derive(Clone, Debug)]
enum Step {
    /// To the end.
    Import {
        name: usize,
        text: u8,
    },
    /// As far as words.
    Words {
        name: usize,
        text: u8,
    },
    /// Registered and staged, then given up.
    Fail {
        name: usize,
        text: u8,
    },
    Remove {
        name: usize,
    },
    Reopen,
    LoseIndex,
}

fn step() -> impl Strategy<Value = Step> {
    let (name, text) = (|| 0..NAMES.len(), || 0..4_u8);
    prop_oneof![
        4 => (name(), text()).prop_map(|(name, text)| Step::Import { name, text }),
        2 => (name(), text()).prop_map(|(name, text)| Step::Words { name, text }),
        1 => (name(), text()).prop_map(|(name, text)| Step::Fail { name, text }),
        2 => name().prop_map(|name| Step::Remove { name }),
        1 => Just(Step::Reopen),
        1 => Just(Step::LoseIndex),
    ]
}

/// What is searchable of a document.
#[derive(Clone, Debug, PartialEq)]
struct Shown {
    text: String,
    by_vectors: bool,
}

fn content(name: usize, text: u8) -> String {
    format!("claims of file{name} state{text}")
}

fn stage_one(world: &World, name: usize, text: u8) -> VersionRef {
    let content = content(name, text);
    let version = world.register(NAMES[name], &[&content]).version;
    // Staging is refused for what is published already: the same bytes again.
    if world.vault.published_version(version.document).expect("published") != Some(version) {
        stage(&world.vault, version, "t", &[&content]);
    }
    version
}

fn take(world: World, shown: &mut BTreeMap<usize, Shown>, step: &Step) -> World {
    match *step {
        Step::Import { name, text } => {
            let version = stage_one(&world, name, text);
            embed(&world.vault, version);
            world.vault.publish_hybrid(&[version]).expect("publish");
            shown.insert(name, Shown { text: content(name, text), by_vectors: true });
        }
        Step::Words { name, text } => {
            let version = stage_one(&world, name, text);
            let outcome = world.vault.publish_lexical(&[version]).expect("publish");
            let text = content(name, text);
            match shown.get(&name) {
                Some(old) if old.text == text || old.by_vectors => {}
                _ => {
                    assert_eq!(outcome, [PublishOutcome::Published]);
                    shown.insert(name, Shown { text, by_vectors: false });
                }
            }
        }
        Step::Fail { name, text } => {
            if shown.get(&name).is_some_and(|old| old.text == content(name, text)) {
                return world;
            }
            let version = stage_one(&world, name, text);
            let failure =
                Failure { stage: JobStage::Embed, reason: Reason::new("model_crashed"), retryable: true };
            world.vault.fail_version(version, &failure).expect("fail");
        }
        Step::Remove { name } => {
            let scope = world.owner_scope();
            let documents = world.vault.list_documents(&scope, &DocumentFilter::default()).expect("list");
            let title = NAMES[name].trim_end_matches(".txt");
            for document in documents.iter().filter(|document| document.title == title) {
                world.vault.remove(&scope, document.document).expect("remove");
                let proof = world.vault.verify_removed(&scope, document.document).expect("verify");
                assert!(proof.stores.iter().all(|store| store.found == 0), "{proof:?}");
            }
            shown.remove(&name);
        }
        Step::Reopen => return world.reopen(),
        Step::LoseIndex => {
            std::fs::remove_dir_all(world.vault.dir().join("lexical")).expect("remove");
            return world.reopen();
        }
    }
    world
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_found_follows_the_model(steps in prop::collection::vec(step(), 1..10)) {
        let mut world = World::new();
        let mut shown = BTreeMap::new();
        for step in &steps {
            world = take(world, &mut shown, step);
            let scope = world.owner_scope();
            let words: Vec<_> = shown.values().map(|shown| shown.text.clone()).collect();
            prop_assert_eq!(sorted(found(&world.vault, &scope, "claims")), sorted(words), "words after {:?}", step);
            let dense = shown.values().filter(|shown| shown.by_vectors).map(|shown| shown.text.clone()).collect();
            prop_assert_eq!(sorted(found_dense(&world.vault, &scope, "claims")), sorted(dense), "vectors after {:?}", step);
        }
    }
}
