//! What is said in a recording: voice activity cuts it into stretches, the recogniser writes down what it hears in each.

use zhiku_core::RunContext;
use zhiku_core::recognition::{
    SPEECH_SAMPLE_RATE, SpeechRecognizer, SpokenSegment, VoiceDetector, VoiceSpan,
};

use crate::audio::AudioWindow;
use crate::decoder::samples_to_ms;
use crate::error::MediaError;
use crate::stretch::{short_enough, stretches};

/// The recogniser gets a little less than it takes, so that nothing is cut off at its end.
const MARGIN_MS: u64 = 2_000;
/// Speech this near to the end of a window may go on in the next.
const MAY_GO_ON_MS: u64 = 400;

/// What was heard in one stretch.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// In order, with times from the start of the recording. Empty where nobody speaks.
    pub segments: Vec<SpokenSegment>,
    /// All before this has been heard: [`crate::decode_audio`] from here goes on where this stopped.
    pub until_ms: u64,
}

/// Hands what is said to `on_heard`, stretch by stretch. Silence and music give no words. Stops with what the windows, the
/// models, `on_heard` or `ctx` fail with; what was handed over before stays true.
///
/// `language` is ISO 639-1; without it each stretch finds out for itself. Text is as the recogniser wrote it.
pub fn transcribe(
    windows: impl IntoIterator<Item = Result<AudioWindow, MediaError>>,
    detector: &dyn VoiceDetector,
    recognizer: &dyn SpeechRecognizer,
    language: Option<&str>,
    ctx: &RunContext,
    on_heard: &mut dyn FnMut(Heard) -> Result<(), MediaError>,
) -> Result<(), MediaError> {
    let mut listener =
        Listener { detector, recognizer, language, ctx, on_heard, kept: Vec::new(), kept_ms: None };
    for window in windows {
        listener.take(window?)?;
    }
    listener.hear(true)
}

struct Listener<'a> {
    detector: &'a dyn VoiceDetector,
    recognizer: &'a dyn SpeechRecognizer,
    language: Option<&'a str>,
    ctx: &'a RunContext,
    on_heard: &'a mut dyn FnMut(Heard) -> Result<(), MediaError>,
    /// Sound that has not been heard yet.
    kept: Vec<f32>,
    /// Where it begins in the recording.
    kept_ms: Option<u64>,
}

impl Listener<'_> {
    fn take(&mut self, window: AudioWindow) -> Result<(), MediaError> {
        self.kept_ms.get_or_insert(window.start_ms);
        self.kept.extend(window.samples);
        self.hear(false)
    }

    /// Hears all that is kept, but for speech that may go on after it.
    fn hear(&mut self, is_end: bool) -> Result<(), MediaError> {
        let Some(base_ms) = self.kept_ms else { return Ok(()) };
        let length_ms = samples_to_ms(self.kept.len() as u64);
        let max_ms = samples_to_ms(self.recognizer.max_samples() as u64).saturating_sub(MARGIN_MS).max(1);
        self.ctx.check()?;
        let spans = self.detector.spans(&self.kept, self.ctx)?;
        let until_ms = if is_end { length_ms } else { settled_ms(&spans, &self.kept, max_ms) };
        let settled: Vec<VoiceSpan> = spans
            .into_iter()
            .filter(|span| span.start_ms < until_ms)
            .map(|span| VoiceSpan { end_ms: span.end_ms.min(until_ms), ..span })
            .collect();
        let n_heard = (until_ms * u64::from(SPEECH_SAMPLE_RATE) / 1000) as usize;
        let heard = &self.kept[..n_heard.min(self.kept.len())];
        for stretch in stretches(&settled, heard, max_ms) {
            self.ctx.check()?;
            let (sound, places) = stretch.cut_out(heard);
            let mut segments = self.recognizer.transcribe(&sound, self.language, self.ctx)?;
            for segment in &mut segments {
                stretch.place(&places, segment);
                segment.start_ms += base_ms;
                segment.end_ms += base_ms;
            }
            (self.on_heard)(Heard { segments, until_ms: base_ms + stretch.end_ms() })?;
        }
        (self.on_heard)(Heard { segments: Vec::new(), until_ms: base_ms + until_ms })?;
        self.kept.drain(..n_heard.min(self.kept.len()));
        self.kept_ms = Some(base_ms + until_ms);
        Ok(())
    }
}

/// Up to where nothing that comes later can change what is speech. Speech that touches the end waits for the next window, but for
/// the parts of it that are longer than a stretch.
fn settled_ms(spans: &[VoiceSpan], samples: &[f32], max_ms: u64) -> u64 {
    let length_ms = samples_to_ms(samples.len() as u64);
    let Some((last, before)) = spans.split_last() else { return length_ms.saturating_sub(MAY_GO_ON_MS) };
    if last.end_ms + MAY_GO_ON_MS < length_ms {
        return length_ms - MAY_GO_ON_MS / 2;
    }
    if last.end_ms - last.start_ms > max_ms {
        let parts = short_enough(*last, samples, max_ms);
        return parts.last().map_or(length_ms, |part| part.start_ms);
    }
    // The detector hears better when it hears what was before.
    let earliest_ms = before.last().map_or(0, |span| span.end_ms);
    last.start_ms.saturating_sub(MAY_GO_ON_MS).max(earliest_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(spans: &[(u64, u64)], expected: u64) {
        let spans: Vec<VoiceSpan> =
            spans.iter().map(|&(start_ms, end_ms)| VoiceSpan { start_ms, end_ms }).collect();
        let mut samples = vec![0.5; 16 * 60_000];
        samples[16 * 40_000..16 * 40_200].fill(0.0);
        assert_eq!(settled_ms(&spans, &samples, 28_000), expected, "{spans:?}");
    }

    #[test]
    fn speech_at_the_end_waits_for_more() {
        check(&[], 59_600);
        check(&[(1000, 50_000)], 59_800);
        check(&[(1000, 50_000), (55_000, 60_000)], 54_600);
        check(&[(1000, 54_900), (55_000, 60_000)], 54_900);
    }

    #[test]
    fn unbroken_speech_waits_only_with_its_last_part() {
        check(&[(20_000, 60_000)], 40_050);
    }
}
