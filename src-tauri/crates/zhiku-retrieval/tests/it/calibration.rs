//! The curve of assessment, measured with the real model on the sentences it was fitted on; skipped without the model.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use zhiku_core::model::{EmbedSide, Embedder, Priority};
use zhiku_core::{DocumentId, RunContext};
use zhiku_models::{ModelStore, Role};
use zhiku_onnx::{E5Embedder, EmbedderFiles, EmbedderOptions};
use zhiku_retrieval::{Language, LanguageMeans, MeanVectors, Question, RetrievalConfig, Retriever};

use crate::support::World;

fn real_embedder() -> Option<Arc<dyn Embedder>> {
    let store = ModelStore::open_default().expect("store");
    let (model, runtime) = match (store.require(Role::Embedding), store.require(Role::OnnxRuntime)) {
        (Ok(model), Ok(runtime)) => (model, runtime),
        (Err(error), _) | (_, Err(error)) => {
            eprintln!("skipped: {error}; run `zhiku models fetch`");
            return None;
        }
    };
    let files = EmbedderFiles {
        runtime: runtime.main(),
        model: model.main(),
        tokenizer: model.file("tokenizer.json"),
    };
    Some(Arc::new(E5Embedder::open(&files, EmbedderOptions::new(&model.id)).expect("embedder")))
}

fn real_means() -> LanguageMeans {
    let built_in = zhiku_models::LanguageMeans::built_in().expect("means");
    let languages = [
        (Language::Chinese, zhiku_models::Language::Chinese),
        (Language::English, zhiku_models::Language::English),
    ];
    let mut means = LanguageMeans::default();
    for (language, stored) in languages {
        for side in [EmbedSide::Query, EmbedSide::Passage] {
            let sentence = built_in.sentence(stored, side).to_vec();
            let token = built_in.tokens(stored, side).to_vec();
            means = means.with(language, side, MeanVectors { sentence, token });
        }
    }
    means
}

fn lines(name: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("calibration").join(name);
    let text = std::fs::read_to_string(path).expect("calibration data");
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[derive(Default)]
struct Count {
    accepted: usize,
    first_right: usize,
    all: usize,
}

impl Count {
    fn share(&self) -> f64 {
        self.accepted as f64 / self.all as f64
    }
}

#[test]
fn the_threshold_tells_answers_from_what_only_sounds_like_them() {
    let Some(embedder) = real_embedder() else { return };
    let world = World::with_space(&embedder.space());
    let mut named: HashMap<String, DocumentId> = HashMap::new();
    for fields in lines("passages.tsv") {
        let [name, header, text] = &fields[..] else { panic!("three fields in {fields:?}") };
        let version = world.add_embedded(name, header, text, |indexed| {
            let ctx = RunContext::background();
            let made = embedder.embed(&[indexed], EmbedSide::Passage, Priority::Background, &ctx);
            made.expect("embeds").remove(0)
        });
        named.insert(name.clone(), version.document);
    }
    let config = RetrievalConfig::default();
    let retriever = Retriever::new(world.vault.clone(), Some(embedder), Arc::new(real_means()), config);
    let (mut answered, mut refusable) = (Count::default(), Count::default());
    for fields in lines("questions.tsv") {
        let question = Question { text: fields[1].clone(), ..Question::default() };
        let ctx = RunContext::background();
        let result = retriever.retrieve(&world.owner_scope(), &question, &ctx, &mut |_| {});
        let accepted = result.sub_queries.iter().any(|part| part.sufficient);
        let gold = named.get(&fields[0]);
        let first = result.evidence_set.items.first().map(|item| item.document_id);
        let count = if gold.is_some() { &mut answered } else { &mut refusable };
        count.all += 1;
        count.accepted += usize::from(accepted);
        count.first_right += usize::from(accepted && first.as_ref() == gold);
        if accepted != gold.is_some() {
            eprintln!("{} {}", if accepted { "accepted:" } else { "refused:" }, fields[1]);
        }
    }
    eprintln!(
        "answered {}/{}, of these right first {}; wrongly accepted {}/{}",
        answered.accepted, answered.all, answered.first_right, refusable.accepted, refusable.all
    );
    assert!(answered.share() >= 0.8 && refusable.share() <= 0.2);
    assert!(answered.first_right * 10 >= answered.accepted * 9);
}
