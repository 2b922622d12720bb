use std::sync::OnceLock;

use zhiku_core::model::{EmbedSide, Embedder, Embedding, Priority};
use zhiku_core::{BudgetLimits, ErrorCode, RunContext};
use zhiku_models::Role;
use zhiku_onnx::{E5Embedder, EmbedderFiles, EmbedderOptions};

use crate::{fixture, model_file};

fn files() -> Option<EmbedderFiles> {
    Some(EmbedderFiles {
        runtime: model_file(Role::OnnxRuntime, None)?,
        model: model_file(Role::Embedding, None)?,
        tokenizer: model_file(Role::Embedding, Some("tokenizer.json"))?,
    })
}

/// Loaded once for all tests.
fn embedder() -> Option<&'static E5Embedder> {
    static EMBEDDER: OnceLock<Option<E5Embedder>> = OnceLock::new();
    EMBEDDER
        .get_or_init(|| Some(E5Embedder::open(&files()?, EmbedderOptions::new("e5")).expect("opens")))
        .as_ref()
}

fn embed(embedder: &E5Embedder, texts: &[&str], side: EmbedSide) -> Vec<Embedding> {
    embedder.embed(texts, side, Priority::Background, &RunContext::background()).expect("embeds")
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn vectors_equal_those_of_the_reference() {
    #[derive(serde::Deserialize)]
    struct Sample {
        side: String,
        text: String,
        n_tokens: usize,
        head: Vec<f32>,
    }
    let Some(embedder) = embedder() else { return };
    let samples = std::fs::read_to_string(fixture("reference_vectors.json")).expect("fixture");
    for sample in serde_json::from_str::<Vec<Sample>>(&samples).expect("fixture") {
        let side = if sample.side == "query" { EmbedSide::Query } else { EmbedSide::Passage };
        let got = &embed(embedder, &[&sample.text], side)[0];
        assert_eq!(embedder.count_tokens(&sample.text, side), sample.n_tokens);
        for (got, want) in got.sentence.iter().zip(&sample.head) {
            // Kernels differ a little between processors.
            assert!((got - want).abs() < 0.005, "{}: {got} is not {want}", sample.text);
        }
    }
}

#[test]
fn every_vector_has_norm_one_and_each_content_token_its_row() {
    let Some(embedder) = embedder() else { return };
    let got = embed(embedder, &["差旅报销标准", "", "The quick brown fox"], EmbedSide::Passage);
    assert_eq!(embedder.space().dim, 384);
    for embedding in &got {
        assert!((cosine(&embedding.sentence, &embedding.sentence) - 1.0).abs() < 1e-4);
        assert!(embedding.tokens.rows().all(|row| (cosine(row, row) - 1.0).abs() < 1e-4));
    }
    let n_tokens: Vec<usize> = got.iter().map(|embedding| embedding.tokens.n_tokens()).collect();
    let outside = embedder.count_tokens("", EmbedSide::Passage);
    let counted = |text: &str| embedder.count_tokens(text, EmbedSide::Passage);
    assert_eq!(n_tokens[1], 0);
    assert!(n_tokens[0] + 4 <= counted("差旅报销标准") && n_tokens[2] + 4 <= counted("The quick brown fox"));
    assert!(n_tokens[2] + outside >= counted("The quick brown fox"), "nothing of the text is left out");
}

#[test]
fn the_company_of_other_texts_changes_neither_vectors_nor_order() {
    let Some(embedder) = embedder() else { return };
    let long = "The contractor shall notify the supervisor before any work is covered up. ".repeat(12);
    let texts = ["短句", long.as_str(), "a medium sentence about tea and water", "另一个短句", "短句"];
    let together = embed(embedder, &texts, EmbedSide::Passage);
    for (text, got) in texts.iter().zip(&together) {
        let alone = &embed(embedder, &[text], EmbedSide::Passage)[0];
        assert!(cosine(&alone.sentence, &got.sentence) > 0.999, "{text}");
        assert_eq!(alone.tokens.n_tokens(), got.tokens.n_tokens());
        for (a, b) in alone.tokens.rows().zip(got.tokens.rows()) {
            assert!(cosine(a, b) > 0.99, "{text}");
        }
    }
}

#[test]
fn a_question_is_nearer_to_its_passage_than_to_another() {
    let Some(embedder) = embedder() else { return };
    let question = &embed(embedder, &["出差住宿费的报销标准是多少?"], EmbedSide::Query)[0];
    let passages = embed(
        embedder,
        &["员工出差住宿费按城市分级报销,一线城市每晚不超过六百元。", "蜜蜂通过跳舞告诉同伴花蜜的方向。"],
        EmbedSide::Passage,
    );
    let near = cosine(&question.sentence, &passages[0].sentence);
    assert!(near > cosine(&question.sentence, &passages[1].sentence) + 0.05);
}

#[test]
fn a_run_that_is_cancelled_or_out_of_time_stops_between_batches() {
    let Some(embedder) = embedder() else { return };
    let long = "Heavy rain flooded several roads yesterday afternoon. ".repeat(30);
    let texts = vec![long.as_str(); 8];
    let code = |ctx: &RunContext| {
        let result = embedder.embed(&texts, EmbedSide::Passage, Priority::Background, ctx);
        result.expect_err("stops").code
    };
    let cancelled = RunContext::background();
    cancelled.cancel.cancel();
    assert_eq!(code(&cancelled), ErrorCode::Cancelled);
    let late = RunContext::new(BudgetLimits::default());
    late.budget.expire_after_checks(2);
    assert_eq!(code(&late), ErrorCode::Timeout);
}

#[test]
fn absent_and_damaged_files_are_told_apart_and_say_what_to_do() {
    let Some(good) = files() else { return };
    let folder = std::env::temp_dir().join(format!("zhiku-onnx-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("folder");
    let garbage = folder.join("garbage");
    std::fs::write(&garbage, [7; 5000]).expect("write");
    let fail = |files: EmbedderFiles| {
        let error = E5Embedder::open(&files, EmbedderOptions::new("e5")).err().expect("fails");
        assert_eq!(error.hint.as_deref(), Some("run `zhiku models fetch`"));
        error.code
    };
    assert_eq!(fail(EmbedderFiles { model: folder.join("absent"), ..good.clone() }), ErrorCode::ModelMissing);
    assert_eq!(
        fail(EmbedderFiles { tokenizer: folder.join("absent"), ..good.clone() }),
        ErrorCode::ModelMissing
    );
    assert_eq!(fail(EmbedderFiles { model: garbage.clone(), ..good.clone() }), ErrorCode::ModelDamaged);
    assert_eq!(fail(EmbedderFiles { tokenizer: garbage.clone(), ..good.clone() }), ErrorCode::ModelDamaged);
    assert_eq!(fail(EmbedderFiles { model: fixture("add_one.onnx"), ..good }), ErrorCode::ModelDamaged);
    std::fs::remove_dir_all(&folder).expect("removes");
}
