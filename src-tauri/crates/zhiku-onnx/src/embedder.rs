//! multilingual-e5: text to one vector per text and one per token.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use ort::environment::Environment;
use ort::session::{RunOptions, Session};
use ort::value::Tensor;
use zhiku_core::RunContext;
use zhiku_core::model::{EmbedSide, Embedder, Embedding, EmbeddingSpace, ModelError, Priority, TokenMatrix};

use crate::batches::{Batch, BatchPlan};
use crate::failure;
use crate::pace::Pace;
use crate::runtime::load_runtime;
use crate::session_thread::{Pending, SessionThread};
use crate::tokenizer::{E5Tokenizer, EncodedText, MAX_TOKENS, PADDING_ID};

/// Batches in the queue per call: one runs while the results of the one before are unpacked.
const BATCHES_AHEAD: usize = 2;
const SENTENCE_OUTPUT: &str = "sentence_embedding";
const TOKENS_OUTPUT: &str = "last_hidden_state";

/// What an embedder is loaded from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbedderFiles {
    /// The library of ONNX Runtime.
    pub runtime: PathBuf,
    pub model: PathBuf,
    pub tokenizer: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbedderOptions {
    /// Names the vector space; vectors of different ids are never compared.
    pub model_id: String,
    /// Threads within one run.
    pub intra_threads: NonZeroUsize,
}

impl EmbedderOptions {
    /// As many threads as the machine has cores, up to 4: more gain little at this model's size.
    pub fn new(model_id: impl Into<String>) -> Self {
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let most = NonZeroUsize::MIN.saturating_add(3);
        Self { model_id: model_id.into(), intra_threads: cores.min(most) }
    }
}

/// An e5 model with the inputs `input_ids` and `attention_mask` and the outputs `last_hidden_state` and
/// `sentence_embedding`. Texts get the prefix of their side; what is longer than 512 tokens is cut.
pub struct E5Embedder {
    space: EmbeddingSpace,
    tokenizer: E5Tokenizer,
    pace: Arc<Pace>,
    thread: SessionThread,
}

impl E5Embedder {
    /// Loads runtime, tokenizer and model, and runs the model once. Blocks for about a second.
    ///
    /// Fails with `ModelMissing` or `ModelDamaged` when a file is not there or cannot be loaded.
    pub fn open(files: &EmbedderFiles, options: EmbedderOptions) -> Result<Self, ModelError> {
        failure::require_file("the embedding model", &files.model)?;
        let tokenizer = E5Tokenizer::open(&files.tokenizer)?;
        let environment = load_runtime(&files.runtime)?;
        let thread = SessionThread::spawn(&options.model_id, {
            let model = files.model.clone();
            let intra_threads = options.intra_threads;
            move || load_session(&environment, &model, intra_threads)
        })?;
        let pace = Arc::new(Pace::new());
        let mut embedder =
            Self { space: EmbeddingSpace { model_id: options.model_id, dim: 0 }, tokenizer, pace, thread };
        let probe =
            embedder.embed(&["probe"], EmbedSide::Query, Priority::Interactive, &RunContext::background())?;
        embedder.space.dim = probe.first().map_or(0, |embedding| embedding.sentence.len() as u32);
        Ok(embedder)
    }

    fn start(
        &self,
        texts: &[EncodedText],
        batch: Batch,
        priority: Priority,
        ctx: &RunContext,
    ) -> Result<Running, ModelError> {
        let input = BatchInput::new(texts, &batch);
        let pace = Arc::clone(&self.pace);
        let pending = self.thread.submit(priority, ctx, move |session, options| {
            let n_tokens = input.ids.len();
            let started = Instant::now();
            let output = run(session, options, input)?;
            pace.learn(n_tokens, started.elapsed());
            Ok(output)
        })?;
        Ok(Running { batch, pending })
    }
}

impl Embedder for E5Embedder {
    fn space(&self) -> EmbeddingSpace {
        self.space.clone()
    }

    fn count_tokens(&self, text: &str, side: EmbedSide) -> usize {
        // Text that cannot be split counts as its bytes: more than any tokenizer makes of it, so it will be cut.
        self.tokenizer.count(text, side).unwrap_or(text.len() + MAX_TOKENS)
    }

    fn max_tokens(&self) -> usize {
        MAX_TOKENS
    }

    fn embed(
        &self,
        texts: &[&str],
        side: EmbedSide,
        priority: Priority,
        ctx: &RunContext,
    ) -> Result<Vec<Embedding>, ModelError> {
        let mut encoded = Vec::with_capacity(texts.len());
        for text in texts {
            encoded.push(self.tokenizer.encode(text, side)?);
        }
        let lengths: Vec<usize> = encoded.iter().map(|text| text.ids.len()).collect();
        let mut plan = BatchPlan::new(&lengths);
        let mut running: VecDeque<Running> = VecDeque::with_capacity(BATCHES_AHEAD);
        let mut results: Vec<Option<Embedding>> = vec![None; texts.len()];
        loop {
            while running.len() < BATCHES_AHEAD
                && let Some(batch) = plan.next_batch(self.pace.batch_tokens())
            {
                ctx.check()?;
                running.push_back(self.start(&encoded, batch, priority, ctx)?);
            }
            let Some(Running { batch, pending }) = running.pop_front() else { break };
            let output = pending.wait(ctx)?;
            for (row, &member) in batch.members.iter().enumerate() {
                results[member] = output.embedding(row, batch.length, &encoded[member]);
            }
        }
        let complete: Option<Vec<Embedding>> = results.into_iter().collect();
        complete.ok_or_else(|| failure::internal("the model's outputs have unexpected shapes".to_owned()))
    }
}

struct Running {
    batch: Batch,
    pending: Pending<BatchOutput>,
}

/// Row-major `[rows, length]`.
struct BatchInput {
    shape: [usize; 2],
    ids: Vec<i64>,
    mask: Vec<i64>,
}

impl BatchInput {
    fn new(texts: &[EncodedText], batch: &Batch) -> Self {
        let mut ids = Vec::with_capacity(batch.padded_tokens());
        let mut mask = Vec::with_capacity(batch.padded_tokens());
        for &member in &batch.members {
            let text = &texts[member].ids;
            let padding = batch.length - text.len();
            ids.extend_from_slice(text);
            ids.extend(std::iter::repeat_n(PADDING_ID, padding));
            mask.extend(std::iter::repeat_n(1, text.len()));
            mask.extend(std::iter::repeat_n(0, padding));
        }
        Self { shape: [batch.members.len(), batch.length], ids, mask }
    }
}

/// The two outputs as they come: `[rows, dim]` and `[rows, length, dim]`.
struct BatchOutput {
    dim: usize,
    sentences: Vec<f32>,
    tokens: Vec<f32>,
}

impl BatchOutput {
    /// `None` when the outputs are smaller than their shape says.
    fn embedding(&self, row: usize, length: usize, text: &EncodedText) -> Option<Embedding> {
        let dim = self.dim;
        let mut sentence = self.sentences.get(row * dim..(row + 1) * dim)?.to_vec();
        normalise(&mut sentence);
        let first = row * length;
        let content = (first + text.content.start) * dim..(first + text.content.end) * dim;
        let mut values = self.tokens.get(content)?.to_vec();
        values.chunks_exact_mut(dim.max(1)).for_each(normalise);
        Some(Embedding { sentence, tokens: TokenMatrix { dim, values } })
    }
}

fn normalise(vector: &mut [f32]) {
    let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if norm > 0.0 {
        for value in vector.iter_mut() {
            *value /= norm;
        }
    }
}

fn run(session: &mut Session, options: &RunOptions, input: BatchInput) -> Result<BatchOutput, ort::Error> {
    let inputs = ort::inputs![
        "input_ids" => Tensor::from_array((input.shape, input.ids))?,
        "attention_mask" => Tensor::from_array((input.shape, input.mask))?,
    ];
    let outputs = session.run_with_options(inputs, options)?;
    let (shape, sentences) = outputs[SENTENCE_OUTPUT].try_extract_tensor::<f32>()?;
    let dim = shape.last().and_then(|&dim| usize::try_from(dim).ok()).unwrap_or(0);
    let (_, tokens) = outputs[TOKENS_OUTPUT].try_extract_tensor::<f32>()?;
    Ok(BatchOutput { dim, sentences: sentences.to_vec(), tokens: tokens.to_vec() })
}

fn load_session(
    environment: &Environment,
    model: &Path,
    intra_threads: NonZeroUsize,
) -> Result<Session, ModelError> {
    const WHAT: &str = "the embedding model";
    failure::require_file(WHAT, model)?;
    let session =
        commit(environment, model, intra_threads).map_err(|error| failure::damaged(WHAT, model, error))?;
    for name in [SENTENCE_OUTPUT, TOKENS_OUTPUT] {
        if !session.outputs().iter().any(|output| output.name() == name) {
            return Err(failure::damaged(WHAT, model, format!("it has no output {name}")));
        }
    }
    Ok(session)
}

fn commit(
    environment: &Environment,
    model: &Path,
    intra_threads: NonZeroUsize,
) -> Result<Session, ort::Error> {
    let mut builder = Session::builder(environment)?
        .with_intra_threads(intra_threads.get())?
        // Waiting threads sleep: spinning gains little here and takes the processor from everything else.
        .with_intra_op_spinning(false)?
        // Lengths differ from run to run, so a remembered memory plan would not fit.
        .with_memory_pattern(false)?;
    builder.commit_from_file(model)
}
