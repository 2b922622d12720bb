//! The recogniser.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use whisper_rs::{WhisperContext, WhisperContextParameters};
use zhiku_core::RunContext;
use zhiku_core::model::ModelError;
use zhiku_core::recognition::{SPEECH_SAMPLE_RATE, SpeechRecognizer, SpokenSegment};

use crate::decode::Loaded;
use crate::failure;
use crate::worker::Worker;

/// Whisper hears half a minute at a time.
const MAX_SECONDS: usize = 30;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhisperOptions {
    /// A model in whisper.cpp's format.
    pub model: PathBuf,
    pub n_threads: NonZeroUsize,
}

impl WhisperOptions {
    /// One thread fewer than the machine has cores, up to 4. whisper.cpp's threads spin while they wait for each other: two of
    /// them on two cores that others use as well spent 93 % of their time doing so.
    pub fn new(model: impl Into<PathBuf>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let n_threads = NonZeroUsize::new(cores.saturating_sub(1).min(4)).unwrap_or(NonZeroUsize::MIN);
        Self { model: model.into(), n_threads }
    }
}

/// A Whisper model for several languages. What is not known to be Mandarin or English is taken for whichever of the two is
/// likelier, unless the model is very sure of a third language.
pub struct WhisperRecognizer {
    worker: Worker<Loaded>,
}

impl WhisperRecognizer {
    /// Loads the model; blocks for about a second. Fails with `ModelMissing` or `ModelDamaged`.
    pub fn open(options: &WhisperOptions) -> Result<Self, ModelError> {
        if !processor_fits() {
            return Err(failure::processor_too_old());
        }
        // Without this the library writes to the standard error of the program.
        whisper_rs::install_logging_hooks();
        let worker = Worker::spawn("whisper", {
            let model = options.model.clone();
            let n_threads = i32::try_from(options.n_threads.get()).unwrap_or(1);
            move || load(&model, n_threads)
        })?;
        worker.run(&RunContext::background(), |_, _| Ok(()))?;
        Ok(Self { worker })
    }
}

impl SpeechRecognizer for WhisperRecognizer {
    fn max_samples(&self) -> usize {
        MAX_SECONDS * SPEECH_SAMPLE_RATE as usize
    }

    fn transcribe(
        &self,
        samples: &[f32],
        language: Option<&str>,
        ctx: &RunContext,
    ) -> Result<Vec<SpokenSegment>, ModelError> {
        if samples.len() > self.max_samples() {
            return Err(failure::too_long(samples.len(), self.max_samples()));
        }
        if samples.is_empty() {
            return Ok(Vec::new());
        }
        ctx.check()?;
        let (samples, language) = (samples.to_vec(), language.map(str::to_owned));
        self.worker.run(ctx, move |model, abort| {
            model.transcribe(&samples, language.as_deref(), abort).map_err(failure::crashed)
        })
    }
}

fn load(path: &Path, n_threads: i32) -> Result<Loaded, ModelError> {
    if !path.is_file() {
        return Err(failure::missing(path));
    }
    let mut parameters = WhisperContextParameters::new();
    parameters.use_gpu(false);
    WhisperContext::new_with_params(path, parameters)
        .and_then(|context| Loaded::new(context, n_threads))
        .map_err(|error| failure::damaged(path, error))
}

/// whisper.cpp is compiled for processors with these (see `.cargo/config.toml`) and does not look for itself.
#[cfg(target_arch = "x86_64")]
fn processor_fits() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("bmi2")
}

#[cfg(not(target_arch = "x86_64"))]
fn processor_fits() -> bool {
    true
}
