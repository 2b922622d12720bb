//! Versions by difference: what did not change keeps its vectors.

use std::sync::Arc;

use zhiku_core::model::Embedder;
use zhiku_core::{
    DocumentKind, DocumentState, JobStage, Locator, ParsedUnit, Process, Trust, UnitKind, VersionNumber,
};
use zhiku_vault::{ChangeExtent, JobKind, VersionDetail, VersionRef};

use crate::support::{Counting, World};

const N_PAGES: usize = 300;

fn page(number: usize) -> String {
    let paragraph = |part: usize| {
        format!("Page {number}, clause {part}. {}", "The supplier delivers in time and in full. ".repeat(8))
    };
    (0..4).map(paragraph).collect::<Vec<_>>().join("\n\n")
}

/// Queues a version of these pages, parsed already.
fn queue(world: &World, pages: &[String]) -> VersionRef {
    let path = world.file("handbook.txt", &pages.join("\u{c}"));
    let object = world.vault.put_object(&path).expect("put");
    let registered = world
        .vault
        .register_source(&world.scope, &path, "Handbook", DocumentKind::Text, &object)
        .expect("registered");
    let version = registered.version;
    let units: Vec<ParsedUnit> = (0_u32..)
        .zip(pages)
        .map(|(index, text)| ParsedUnit {
            kind: UnitKind::Page,
            locator: Locator::Page {
                page_index: index,
                page_label: (index + 1).to_string(),
                boxes: Vec::new(),
            },
            text: text.clone(),
            process: Process::Text,
            trust: Trust::Normal,
            heading_path: Vec::new(),
            layout: None,
            confidence: None,
            timing: Vec::new(),
        })
        .collect();
    world.vault.stage_units(version, 0, &units).expect("staged");
    world.vault.finish_stage(version, JobStage::Parse, u32::MAX).expect("parsed");
    world.vault.enqueue_job(&world.scope, version, JobKind::Import).expect("queued");
    version
}

fn imported(world: &World, counting: &Arc<Counting>, pages: &[String]) -> VersionDetail {
    let version = queue(world, pages);
    let embedder = Arc::clone(counting);
    world.work(Arc::new(move || Ok(Arc::clone(&embedder) as Arc<dyn Embedder>)));
    world.vault.version(&world.scope, version.document, version.version).expect("version")
}

#[test]
fn one_edited_paragraph_of_a_long_document_is_embedded_and_no_more() {
    let world = World::new();
    let counting = Arc::new(Counting::default());
    let mut pages: Vec<String> = (0..N_PAGES).map(page).collect();
    let first = imported(&world, &counting, &pages);
    assert_eq!(first.change.map(|change| change.extent), Some(ChangeExtent::First));
    assert!(first.n_chunks >= N_PAGES as u32, "{}", first.n_chunks);
    assert_eq!((first.n_embedded, first.n_reused), (first.n_chunks, 0));
    let calls = counting.calls();

    pages[150] = pages[150].replacen("clause 2.", "clause 2, as amended.", 1);
    let second = imported(&world, &counting, &pages);
    assert_eq!((second.version, second.state), (VersionNumber(2), DocumentState::Published));
    let change = second.change.expect("compared");
    assert_eq!((change.extent, change.n_changed_units), (ChangeExtent::Minor, 1));
    assert!((1..=3).contains(&second.n_embedded), "{} chunks were embedded again", second.n_embedded);
    assert_eq!(counting.calls() - calls, second.n_embedded as usize);
    assert_eq!(second.n_embedded + second.n_reused, second.n_chunks);
}

#[test]
fn more_than_three_tenths_changed_is_a_major_change() {
    let world = World::new();
    let counting = Arc::new(Counting::default());
    let mut pages: Vec<String> = (0..10).map(page).collect();
    imported(&world, &counting, &pages);
    for changed in &mut pages[..4] {
        changed.push_str(" Revised.");
    }
    let change = imported(&world, &counting, &pages).change.expect("compared");
    assert_eq!((change.extent, change.n_changed_units), (ChangeExtent::Major, 4));
}
