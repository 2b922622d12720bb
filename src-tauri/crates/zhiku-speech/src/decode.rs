//! One run of Whisper over one stretch of sound.

use std::sync::atomic::{AtomicBool, Ordering};

use whisper_rs::{
    FullParams, SamplingStrategy, WhisperContext, WhisperError, WhisperSegment, WhisperState, get_lang_id,
    get_lang_max_id, get_lang_str,
};
use zhiku_core::recognition::SpokenSegment;

use crate::plausible::{Candidate, MANDARIN_PROMPT, is_plausible};

/// One attempt is made at temperature 0, and if it fails one at each step of this up to 1.
const TEMPERATURE_STEP: f32 = 0.5;
/// The languages a recording is taken to be in, unless the model is surer than [`SURE_OF_OTHER`] that it is another.
const EXPECTED: [&str; 2] = ["zh", "en"];
const SURE_OF_OTHER: f32 = 0.9;
/// The encoder's positions, 20 ms each; fewer than the least make the model unsure, more than the most it does not have.
const POSITIONS: std::ops::RangeInclusive<usize> = 512..=1500;
const SAMPLES_PER_POSITION: usize = 320;
/// Positions after the sound, so that the model hears that it ends.
const SPARE_POSITIONS: usize = 64;
/// Sound is filled up to at least this: the model is unsure about very short pieces.
const MIN_SAMPLES: usize = 16_000 * 11 / 10;

/// The model, and the memory of one run.
pub(crate) struct Loaded {
    context: WhisperContext,
    state: WhisperState,
    mandarin_prompt: Vec<i32>,
    n_threads: i32,
}

impl Loaded {
    pub(crate) fn new(context: WhisperContext, n_threads: i32) -> Result<Self, WhisperError> {
        let state = context.create_state()?;
        let mandarin_prompt = context.tokenize(MANDARIN_PROMPT, 32)?;
        Ok(Self { context, state, mandarin_prompt, n_threads })
    }

    /// Plausible segments in order, with times from the start of `samples`. An aborted run fails.
    pub(crate) fn transcribe(
        &mut self,
        samples: &[f32],
        language: Option<&str>,
        abort: &AtomicBool,
    ) -> Result<Vec<SpokenSegment>, WhisperError> {
        let length_ms = samples.len() as u64 / 16;
        let mut samples = samples.to_vec();
        samples.resize(samples.len().max(MIN_SAMPLES), 0.0);
        let language = match language {
            Some(language) if get_lang_id(language).is_some() => language.to_owned(),
            _ => self.detect(&samples)?,
        };
        if abort.load(Ordering::SeqCst) {
            return Err(WhisperError::FailedToEncode);
        }
        let prompt = if language == "zh" { self.mandarin_prompt.as_slice() } else { &[] };
        let mut params = params(&language, prompt, self.n_threads);
        params.set_audio_ctx(positions(samples.len()));
        crate::abort::run(&mut self.state, params, &samples, abort)?;
        let end_of_text = self.context.token_eot();
        Ok(self
            .state
            .as_iter()
            .filter_map(|segment| spoken(&segment, end_of_text, &language, length_ms))
            .collect())
    }

    fn detect(&mut self, samples: &[f32]) -> Result<String, WhisperError> {
        let threads = self.n_threads as usize;
        self.state.pcm_to_mel(samples, threads)?;
        let (_, likely) = self.state.lang_detect(0, threads)?;
        Ok(choose_language(&likely).to_owned())
    }
}

/// The code of a language, from one probability per language in the model's order.
fn choose_language(likely: &[f32]) -> &'static str {
    let of = |id: i32| likely.get(id as usize).copied().unwrap_or(0.0);
    let most = (0..=get_lang_max_id()).max_by(|&a, &b| of(a).total_cmp(&of(b)));
    if let Some(most) = most
        && of(most) > SURE_OF_OTHER
        && let Some(name) = get_lang_str(most)
    {
        return name;
    }
    let expected = |code: &&str| get_lang_id(code).map_or(0.0, of);
    EXPECTED.into_iter().max_by(|a, b| expected(a).total_cmp(&expected(b))).unwrap_or("zh")
}

/// As many positions as the sound needs: what is not encoded costs nothing.
fn positions(n_samples: usize) -> i32 {
    let needed = n_samples.div_ceil(SAMPLES_PER_POSITION) + SPARE_POSITIONS;
    needed.clamp(*POSITIONS.start(), *POSITIONS.end()) as i32
}

fn params<'a, 'b>(language: &'a str, prompt: &'b [i32], n_threads: i32) -> FullParams<'a, 'b> {
    let mut params = FullParams::new(SamplingStrategy::Greedy { best_of: 1 });
    params.set_n_threads(n_threads);
    params.set_language(Some(language));
    params.set_tokens(prompt);
    // What was understood before must not carry a mistake on.
    params.set_no_context(true);
    params.set_suppress_nst(true);
    params.set_temperature(0.0);
    params.set_temperature_inc(TEMPERATURE_STEP);
    params.set_print_special(false);
    params.set_print_progress(false);
    params.set_print_realtime(false);
    params.set_print_timestamps(false);
    params
}

fn spoken(
    segment: &WhisperSegment<'_>,
    end_of_text: i32,
    language: &str,
    length_ms: u64,
) -> Option<SpokenSegment> {
    let text = segment.to_str_lossy().ok()?;
    let text = text.trim();
    let tokens = (0..segment.n_tokens()).filter_map(|i| segment.get_token(i));
    // Times and other marks are tokens as well; they come after the last one of text.
    let sure: Vec<f32> = tokens
        .filter(|token| token.token_id() < end_of_text)
        .map(|token| token.token_probability())
        .collect();
    let confidence = sure.iter().sum::<f32>() / sure.len().max(1) as f32;
    let candidate = Candidate { text, confidence, no_speech: segment.no_speech_probability() };
    if !is_plausible(&candidate) {
        tracing::debug!(confidence, no_speech = candidate.no_speech, "dropped a segment that nobody said");
        return None;
    }
    // The model counts in hundredths of a second, and sometimes beyond the end of what it was given.
    let start_ms = (segment.start_timestamp().max(0) as u64 * 10).min(length_ms);
    let end_ms = (segment.end_timestamp().max(0) as u64 * 10).clamp(start_ms, length_ms);
    Some(SpokenSegment { start_ms, end_ms, text: text.to_owned(), language: language.to_owned(), confidence })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(likely: &[(&str, f32)], expected: &str) {
        let mut probabilities = vec![0.0; get_lang_max_id() as usize + 1];
        for (code, probability) in likely {
            probabilities[get_lang_id(code).expect("known") as usize] = *probability;
        }
        assert_eq!(choose_language(&probabilities), expected);
    }

    #[test]
    fn mandarin_and_english_are_expected_and_others_need_certainty() {
        check(&[("zh", 0.6), ("en", 0.3)], "zh");
        check(&[("ja", 0.5), ("zh", 0.3), ("en", 0.1)], "zh");
        check(&[("de", 0.7), ("en", 0.2)], "en");
        check(&[("de", 0.95), ("en", 0.02)], "de");
    }
}
