//! The sound of a recording as a row of windows. Never holds more than one window, however long the recording is.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use zhiku_core::RunContext;
use zhiku_core::recognition::SPEECH_SAMPLE_RATE;

use crate::decoder::{Decoder, Refusal, samples_to_ms};
use crate::error::MediaError;
use crate::ffmpeg_audio::FfmpegAudio;
use crate::tools::MediaTools;

/// A stretch of sound: one channel at [`SPEECH_SAMPLE_RATE`].
#[derive(Clone, Debug, PartialEq)]
pub struct AudioWindow {
    /// From the start of the recording.
    pub start_ms: u64,
    pub samples: Vec<f32>,
}

impl AudioWindow {
    pub fn end_ms(&self) -> u64 {
        self.start_ms + samples_to_ms(self.samples.len() as u64)
    }
}

/// Windows without gaps between them; only the last one may be shorter. Ends after the first error.
pub struct AudioWindows {
    source: Option<Source>,
    path: PathBuf,
    pending: Vec<f32>,
    window_samples: usize,
    start_ms: u64,
    n_samples: u64,
    ctx: RunContext,
}

enum Source {
    Own(Box<Decoder>),
    Ffmpeg(Box<FfmpegAudio>),
}

/// Opens the sound of the recording's first track from `from_ms` on. A start beyond the end gives no windows.
///
/// What this program does not decode itself needs ffmpeg: without it the error is [`MediaError::NeedsFfmpeg`].
pub fn decode_audio(
    path: &Path,
    from_ms: u64,
    window: Duration,
    tools: &MediaTools,
    ctx: &RunContext,
) -> Result<AudioWindows, MediaError> {
    ctx.check()?;
    let source = match guarded(path, || Ok(Decoder::open(path, from_ms))) {
        Ok(Ok(decoder)) => Source::Own(Box::new(decoder)),
        Ok(Err(Refusal::Failed(error))) => return Err(error),
        Ok(Err(Refusal::Unsupported(detail))) => ffmpeg(path, from_ms, &detail, tools, ctx)?,
        Err(error) => ffmpeg(path, from_ms, &error.to_string(), tools, ctx)?,
    };
    let window_samples = (window.as_millis() * u128::from(SPEECH_SAMPLE_RATE) / 1000).max(1) as usize;
    Ok(AudioWindows {
        source: Some(source),
        path: path.to_owned(),
        pending: Vec::new(),
        window_samples,
        start_ms: from_ms,
        n_samples: 0,
        ctx: ctx.clone(),
    })
}

fn ffmpeg(
    path: &Path,
    from_ms: u64,
    detail: &str,
    tools: &MediaTools,
    ctx: &RunContext,
) -> Result<Source, MediaError> {
    tracing::debug!(detail, "sound is left to ffmpeg");
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("this kind of");
    let running = FfmpegAudio::start(path, from_ms, &format!("{extension} sound"), tools, ctx)?;
    Ok(Source::Ffmpeg(Box::new(running)))
}

impl AudioWindows {
    fn fill(&mut self) -> Result<Option<AudioWindow>, MediaError> {
        while self.pending.len() < self.window_samples
            && let Some(source) = &mut self.source
        {
            self.ctx.check()?;
            let samples = match source {
                Source::Own(decoder) => guarded(&self.path, || decoder.next_samples())?,
                Source::Ffmpeg(running) => running.next_samples()?,
            };
            match samples {
                Some(samples) => self.pending.extend(samples),
                None => self.source = None,
            }
        }
        if self.pending.is_empty() {
            return Ok(None);
        }
        let rest = self.pending.split_off(self.window_samples.min(self.pending.len()));
        let samples = std::mem::replace(&mut self.pending, rest);
        let start_ms = self.start_ms + samples_to_ms(self.n_samples);
        self.n_samples += samples.len() as u64;
        Ok(Some(AudioWindow { start_ms, samples }))
    }
}

impl Iterator for AudioWindows {
    type Item = Result<AudioWindow, MediaError>;

    fn next(&mut self) -> Option<Self::Item> {
        let window = self.fill();
        if window.is_err() {
            self.source = None;
            self.pending.clear();
        }
        window.transpose()
    }
}

/// Foreign bytes may make a decoder panic; that is the file's fault and ends nothing but its import.
pub(crate) fn guarded<R>(
    path: &Path,
    decode: impl FnOnce() -> Result<R, MediaError>,
) -> Result<R, MediaError> {
    catch_unwind(AssertUnwindSafe(decode))
        .unwrap_or_else(|_| Err(MediaError::damaged(path, "the decoder gave up on it")))
}
