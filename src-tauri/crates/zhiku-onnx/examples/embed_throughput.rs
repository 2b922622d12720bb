//! How much of a bare loop's throughput the embedder reaches: `cargo run --release -p zhiku-onnx --example embed_throughput`.
//!
//! The bare loop runs texts that are tokens already, one by one, and throws the outputs away; the embedder also splits texts,
//! queues, unpacks and normalises.
#![expect(clippy::print_stdout, reason = "printing is what this program is for")]

use std::time::{Duration, Instant};

use ort::session::Session;
use ort::value::Tensor;
use tokenizers::Tokenizer;
use zhiku_core::RunContext;
use zhiku_core::model::{EmbedSide, Embedder, Priority};
use zhiku_models::{ModelStore, Role};
use zhiku_onnx::{E5Embedder, EmbedderFiles, EmbedderOptions, load_runtime};

const PASSAGES: usize = 256;
const TOKENS_PER_PASSAGE: usize = 300;
const SENTENCES: [&str; 2] = [
    include_str!("../../../../models/language_means/en/passage.txt"),
    include_str!("../../../../models/language_means/zh/passage.txt"),
];

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let store = ModelStore::open_default()?;
    let (runtime, embedding) = (store.require(Role::OnnxRuntime)?, store.require(Role::Embedding)?);
    let files = EmbedderFiles {
        runtime: runtime.main(),
        model: embedding.main(),
        tokenizer: embedding.file("tokenizer.json"),
    };
    let options = EmbedderOptions::new("e5");
    let intra_threads = options.intra_threads;
    let before = resident_mb();
    let embedder = E5Embedder::open(&files, options)?;
    println!("loading adds {} MB", resident_mb() - before);
    let texts = passages(&embedder);
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    for texts in borrowed[..64].chunks(32) {
        embedder.embed(texts, EmbedSide::Passage, Priority::Background, &RunContext::background())?;
        println!("after {} passages {} MB", texts.len(), resident_mb() - before);
    }
    let tokenizer = Tokenizer::from_file(&files.tokenizer).map_err(|error| error.to_string())?;
    let mut ids = Vec::new();
    for text in &texts {
        let encoding =
            tokenizer.encode(format!("passage: {text}"), true).map_err(|error| error.to_string())?;
        ids.push(encoding.get_ids().iter().map(|&id| i64::from(id)).collect::<Vec<i64>>());
    }
    let n_tokens: usize = ids.iter().map(Vec::len).sum();
    let mut session = Session::builder(&load_runtime(&files.runtime)?)?
        .with_intra_threads(intra_threads.get())?
        .with_intra_op_spinning(std::env::var_os("SPIN").is_some())?
        .commit_from_file(&files.model)?;

    let rate = |took: Duration| n_tokens as f64 / took.as_secs_f64();
    println!("{PASSAGES} passages, {n_tokens} tokens, {intra_threads} threads");
    // Taken in turns, so that both see the same load of the machine.
    let (mut bare, mut ours) = (Duration::ZERO, Duration::ZERO);
    for (texts, ids) in borrowed.chunks(32).zip(ids.chunks(32)) {
        let started = Instant::now();
        bare_loop(&mut session, ids)?;
        bare += started.elapsed();
        let started = Instant::now();
        embedder.embed(texts, EmbedSide::Passage, Priority::Background, &RunContext::background())?;
        ours += started.elapsed();
    }
    println!("bare loop {:.0} tokens/s, embedder {:.0} tokens/s", rate(bare), rate(ours));
    println!("ratio {:.3}", bare.as_secs_f64() / ours.as_secs_f64());
    Ok(())
}

fn bare_loop(session: &mut Session, ids: &[Vec<i64>]) -> Result<(), Failure> {
    for ids in ids {
        let mask = vec![1_i64; ids.len()];
        session.run(ort::inputs![
            "input_ids" => Tensor::from_array(([1, ids.len()], ids.clone()))?,
            "attention_mask" => Tensor::from_array(([1, ids.len()], mask))?,
        ])?;
    }
    Ok(())
}

/// Memory of this process; 0 where the system does not say.
fn resident_mb() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<i64>().ok()).unwrap_or(0) / 1024
}

/// Passages of about the same length, as chunks of documents are.
fn passages(embedder: &E5Embedder) -> Vec<String> {
    let mut sentences = SENTENCES.iter().flat_map(|text| text.lines()).cycle();
    let passage = || {
        let mut text = String::new();
        while embedder.count_tokens(&text, EmbedSide::Passage) < TOKENS_PER_PASSAGE {
            text.push_str(sentences.next().unwrap_or_default());
            text.push(' ');
        }
        text
    };
    std::iter::repeat_with(passage).take(PASSAGES).collect()
}
