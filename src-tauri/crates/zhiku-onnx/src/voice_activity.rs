//! Silero VAD: where in a recording somebody speaks.
//!
//! The network looks at 32 ms at a time and says how likely they hold speech ([`SileroDetector::probabilities`]); what counts
//! as a stretch of speech is decided afterwards, in [`spans_of`], without the network.

use std::path::{Path, PathBuf};

use ort::session::{RunOptions, Session};
use ort::value::Tensor;
use zhiku_core::RunContext;
use zhiku_core::model::{ModelError, Priority};
use zhiku_core::recognition::{SPEECH_SAMPLE_RATE, VoiceDetector, VoiceSpan};

use crate::failure;
use crate::runtime::load_runtime;
use crate::session_thread::SessionThread;

const WHAT: &str = "the model of voice activity";
/// Samples the network judges at a time.
const WINDOW: usize = 512;
/// Samples before them that it looks at as well.
const CONTEXT: usize = 64;
const STATE_SHAPE: [usize; 3] = [2, 1, 128];
const STATE_VALUES: usize = 2 * 128;
/// Windows per piece of work: about 100 ms, so that something more urgent need not wait long.
const WINDOWS_PER_RUN: usize = 256;
const OUTPUT: &str = "output";
const NEXT_STATE: &str = "stateN";

/// What a detector is loaded from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoiceActivityFiles {
    /// The library of ONNX Runtime.
    pub runtime: PathBuf,
    pub model: PathBuf,
}

/// What counts as a stretch of speech.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VoiceRules {
    /// A stretch begins with a window at least this likely to be speech …
    pub onset: f32,
    /// … or before it, with the first of those that lead up to it without a break and are at least this likely: words begin
    /// quietly …
    pub lead: f32,
    /// … and ends with the first of several that are less likely than this.
    pub offset: f32,
    /// Shorter ones are clicks and coughs.
    pub min_speech_ms: u64,
    /// Shorter pauses belong to the stretch.
    pub min_pause_ms: u64,
    /// Added on both sides: quiet consonants are part of the words.
    pub padding_ms: u64,
}

impl Default for VoiceRules {
    fn default() -> Self {
        Self { onset: 0.5, lead: 0.1, offset: 0.35, min_speech_ms: 250, min_pause_ms: 200, padding_ms: 60 }
    }
}

/// A detector with the Silero model, versions 5 and 6: inputs `input`, `state` and `sr`, outputs `output` and `stateN`.
pub struct SileroDetector {
    rules: VoiceRules,
    thread: SessionThread,
}

impl SileroDetector {
    /// Loads runtime and model and runs it once. Fails with `ModelMissing` or `ModelDamaged`.
    pub fn open(files: &VoiceActivityFiles, rules: VoiceRules) -> Result<Self, ModelError> {
        failure::require_file(WHAT, &files.model)?;
        let environment = load_runtime(&files.runtime)?;
        let thread = SessionThread::spawn("voice activity", {
            let model = files.model.clone();
            move || {
                failure::require_file(WHAT, &model)?;
                let load = |path: &Path| -> Result<Session, ort::Error> {
                    // One thread: the network is too small to share out.
                    Session::builder(&environment)?.with_intra_threads(1)?.commit_from_file(path)
                };
                load(&model).map_err(|error| failure::damaged(WHAT, &model, error))
            }
        })?;
        let detector = Self { rules, thread };
        detector.probabilities(&[0.0; WINDOW], &RunContext::background())?;
        Ok(detector)
    }

    /// One probability per window of 512 samples; the last one is filled up with silence.
    fn probabilities(&self, samples: &[f32], ctx: &RunContext) -> Result<Vec<f32>, ModelError> {
        let mut likely = Vec::with_capacity(samples.len().div_ceil(WINDOW));
        let mut memory = Memory::default();
        for part in samples.chunks(WINDOW * WINDOWS_PER_RUN) {
            ctx.check()?;
            let part = part.to_vec();
            let (found, after) = self.thread.run(Priority::Background, ctx, move |session, options| {
                let mut found = Vec::with_capacity(part.len().div_ceil(WINDOW));
                for window in part.chunks(WINDOW) {
                    found.push(memory.judge(session, options, window)?);
                }
                Ok((found, memory))
            })?;
            likely.extend(found);
            memory = after;
        }
        Ok(likely)
    }
}

impl VoiceDetector for SileroDetector {
    fn spans(&self, samples: &[f32], ctx: &RunContext) -> Result<Vec<VoiceSpan>, ModelError> {
        let likely = self.probabilities(samples, ctx)?;
        let length_ms = samples.len() as u64 * 1000 / u64::from(SPEECH_SAMPLE_RATE);
        Ok(spans_of(&likely, length_ms, self.rules))
    }
}

/// What the network carries from one window to the next.
struct Memory {
    state: Vec<f32>,
    context: [f32; CONTEXT],
}

impl Default for Memory {
    fn default() -> Self {
        Self { state: vec![0.0; STATE_VALUES], context: [0.0; CONTEXT] }
    }
}

impl Memory {
    fn judge(
        &mut self,
        session: &mut Session,
        options: &RunOptions,
        window: &[f32],
    ) -> Result<f32, ort::Error> {
        let mut input = self.context.to_vec();
        input.extend_from_slice(window);
        input.resize(CONTEXT + WINDOW, 0.0);
        self.context.copy_from_slice(&input[WINDOW..]);
        let inputs = ort::inputs![
            "input" => Tensor::from_array(([1, CONTEXT + WINDOW], input))?,
            "state" => Tensor::from_array((STATE_SHAPE, std::mem::take(&mut self.state)))?,
            "sr" => Tensor::from_array(([0_usize; 0], vec![i64::from(SPEECH_SAMPLE_RATE)]))?,
        ];
        let outputs = session.run_with_options(inputs, options)?;
        let (_, state) = outputs[NEXT_STATE].try_extract_tensor::<f32>()?;
        self.state = state.to_vec();
        let (_, likely) = outputs[OUTPUT].try_extract_tensor::<f32>()?;
        Ok(likely.first().copied().unwrap_or(0.0))
    }
}

/// The stretches of speech in windows of these probabilities, apart from each other, within `length_ms`.
fn spans_of(likely: &[f32], length_ms: u64, rules: VoiceRules) -> Vec<VoiceSpan> {
    let window_ms = WINDOW as u64 * 1000 / u64::from(SPEECH_SAMPLE_RATE);
    let mut spans: Vec<VoiceSpan> = Vec::new();
    for span in raw_spans(likely, window_ms, rules) {
        if span.end_ms - span.start_ms < rules.min_speech_ms {
            continue;
        }
        let start_ms = span.start_ms.saturating_sub(rules.padding_ms);
        let end_ms = (span.end_ms + rules.padding_ms).min(length_ms);
        match spans.last_mut() {
            Some(before) if start_ms <= before.end_ms => before.end_ms = end_ms,
            _ => spans.push(VoiceSpan { start_ms, end_ms }),
        }
    }
    spans
}

/// Before short ones are dropped and padding is added.
fn raw_spans(likely: &[f32], window_ms: u64, rules: VoiceRules) -> Vec<VoiceSpan> {
    let mut spans = Vec::new();
    let mut start_ms = None;
    // Where the pause began that may end the current stretch.
    let mut pause_ms = None;
    // Where what may lead up to a stretch began.
    let mut lead_ms = None;
    for (at_ms, &likely) in (0..).step_by(window_ms as usize).zip(likely) {
        let Some(begun_ms) = start_ms else {
            lead_ms = if likely >= rules.lead { lead_ms.or(Some(at_ms)) } else { None };
            start_ms = lead_ms.filter(|_| likely >= rules.onset);
            continue;
        };
        if likely >= rules.offset {
            pause_ms = None;
            continue;
        }
        let paused_ms = *pause_ms.get_or_insert(at_ms);
        if at_ms + window_ms - paused_ms >= rules.min_pause_ms {
            spans.push(VoiceSpan { start_ms: begun_ms, end_ms: paused_ms });
            (start_ms, pause_ms, lead_ms) = (None, None, None);
        }
    }
    if let Some(start_ms) = start_ms {
        let end_ms = pause_ms.unwrap_or(likely.len() as u64 * window_ms);
        spans.push(VoiceSpan { start_ms, end_ms });
    }
    spans
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `#` is a window of speech, `~` one between the thresholds, `-` one that may lead up to speech, `.` one of silence; 32 ms
    /// each.
    fn check(windows: &str, expected: &[(u64, u64)]) {
        let likely: Vec<f32> = windows.chars().map(likelihood).collect();
        let spans = spans_of(&likely, likely.len() as u64 * 32, VoiceRules::default());
        let found: Vec<(u64, u64)> = spans.iter().map(|span| (span.start_ms, span.end_ms)).collect();
        assert_eq!(found, expected, "{windows}");
    }

    fn likelihood(window: char) -> f32 {
        match window {
            '#' => 0.9,
            '~' => 0.4,
            '-' => 0.2,
            _ => 0.05,
        }
    }

    #[test]
    fn silence_has_no_spans() {
        check("", &[]);
        check("............", &[]);
    }

    #[test]
    fn a_span_is_padded_within_the_recording() {
        check("....##########..........", &[(68, 508)]);
        check("##########", &[(0, 320)]);
    }

    #[test]
    fn clicks_are_no_speech() {
        check("...#######....................", &[]);
        check("...########...................", &[(36, 412)]);
    }

    #[test]
    fn a_short_pause_does_not_end_a_span() {
        check("....########......########..........", &[(68, 892)]);
        check("....########.......########.........", &[(68, 444), (548, 924)]);
    }

    #[test]
    fn doubtful_windows_go_on_but_do_not_begin() {
        check("~~~~~~~~~~~~~~~~~~~~", &[]);
        check("....########~~~~~~~~~~~~..........", &[(68, 828)]);
    }

    #[test]
    fn quiet_beginnings_belong_to_the_span() {
        check("......--########..........", &[(132, 572)]);
        check("....--..########..........", &[(196, 572)]);
        check("....----------------------", &[]);
    }

    proptest! {
        #[test]
        fn spans_are_in_order_apart_and_inside(likely in prop::collection::vec(0.0_f32..1.0, 0..400)) {
            let length_ms = likely.len() as u64 * 32;
            let spans = spans_of(&likely, length_ms, VoiceRules::default());
            for span in &spans {
                prop_assert!(span.start_ms < span.end_ms && span.end_ms <= length_ms);
            }
            for pair in spans.windows(2) {
                prop_assert!(pair[0].end_ms < pair[1].start_ms);
            }
        }
    }
}
