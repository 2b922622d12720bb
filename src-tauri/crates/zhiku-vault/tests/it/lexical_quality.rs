//! How well words alone find passages, on public question sets. They are not part of the repository: where they are not
//! beside it, the test says so and is done.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde_json::Value;
use zhiku_core::DocumentKind;
use zhiku_vault::{SearchFilter, Vault};

use crate::support::{World, stage};

const DEPTH: usize = 10;

struct Quality {
    recall_at_1: f64,
    ndcg_at_10: f64,
}

fn bench() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3)?;
    let bench = root.join("../shared/bench");
    bench.is_dir().then_some(bench)
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("read");
    text.lines().map(|line| serde_json::from_str(line).expect("json")).collect()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// Passages of one title are the chunks of one document. Returns the passage of each chunk.
fn import(world: &World, passages: &[Value]) -> HashMap<i64, String> {
    let vault: &Vault = &world.vault;
    let scope = world.owner_scope();
    let mut by_title: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for passage in passages {
        by_title.entry(text(passage, "title").replace('_', " ")).or_default().push(passage);
    }
    let mut versions = Vec::new();
    for (n, (title, passages)) in by_title.iter().enumerate() {
        let texts: Vec<&str> = passages.iter().map(|passage| text(passage, "text")).collect();
        let path = world.file(&format!("{n}.txt"), &texts.join("\n"));
        let object = vault.put_object(&path).expect("put");
        let registered =
            vault.register_source(&scope, &path, title, DocumentKind::Text, &object).expect("register");
        stage(vault, registered.version, title, &texts);
        versions.push((registered.version, passages));
    }
    let refs: Vec<_> = versions.iter().map(|(version, _)| *version).collect();
    vault.publish_lexical(&refs).expect("publish");
    let mut passage_of = HashMap::new();
    for (version, passages) in versions {
        let chunks = vault.chunks_of(&scope, version.document, version.version).expect("chunks");
        for (row, passage) in chunks.iter().zip(passages) {
            passage_of.insert(row.key, text(passage, "_id").to_owned());
        }
    }
    passage_of
}

fn measure(set: &Path, extra: &[Value]) -> Quality {
    let world = World::new();
    let mut passages = lines(&set.join("corpus.jsonl"));
    passages.extend(extra.iter().cloned());
    let passage_of = import(&world, &passages);
    let qrels = std::fs::read_to_string(set.join("qrels.tsv")).expect("qrels");
    let gold: HashMap<&str, &str> = qrels
        .lines()
        .filter_map(|line| {
            let mut columns = line.split('\t');
            Some((columns.next()?, columns.next()?))
        })
        .collect();
    let questions = lines(&set.join("queries.jsonl"));
    let (scope, everything) = (world.owner_scope(), SearchFilter::default());
    let (mut first, mut gain) = (0.0, 0.0);
    for question in &questions {
        let hits =
            world.vault.search_lexical(&scope, text(question, "text"), &everything, DEPTH).expect("search");
        let wanted = gold.get(text(question, "_id")).copied().unwrap_or_default();
        let score = hits.iter().find(|hit| passage_of[&hit.chunk_key] == wanted).map(|hit| hit.score);
        // Ties count against.
        let rank = score.map(|score| hits.iter().filter(|hit| hit.score >= score).count());
        if let Some(rank) = rank {
            first += f64::from(u8::from(rank == 1));
            gain += 1.0 / (rank as f64 + 1.0).log2();
        }
    }
    let n = questions.len() as f64;
    Quality { recall_at_1: first / n, ndcg_at_10: gain / n }
}

fn check(name: &str, extra: usize, recall: f64, ndcg: f64) {
    let Some(bench) = bench() else {
        eprintln!("skipped: the question sets are not at ../shared/bench");
        return;
    };
    let mut news = if extra > 0 { lines(&bench.join("news-zh/corpus.jsonl")) } else { Vec::new() };
    news.truncate(extra);
    let quality = measure(&bench.join(name), &news);
    eprintln!("{name} + {extra}: R@1 {:.3}, nDCG@10 {:.3}", quality.recall_at_1, quality.ndcg_at_10);
    assert!(
        quality.recall_at_1 >= recall && quality.ndcg_at_10 >= ndcg,
        "{name}: worse than {recall} and {ndcg}"
    );
}

#[test]
fn chinese_questions_find_their_passages() {
    check("xquad-zh", 0, 0.925, 0.962);
}

#[test]
fn english_questions_find_their_passages() {
    check("xquad-en", 0, 0.92, 0.96);
}

#[test]
fn chinese_questions_find_their_passages_among_news() {
    check("xquad-zh", 2000, 0.91, 0.95);
}
