//! Spans of speech become stretches that a recogniser can take at once, and its times become times of the recording.

use zhiku_core::recognition::{SPEECH_SAMPLE_RATE, SpokenSegment, VoiceSpan};

/// A longer pause is shortened to this: the recogniser invents words in silence, and a stretch holds more.
const LONGEST_PAUSE_MS: u64 = 600;
/// Two sides of a pause belong to one stretch only if it is shorter than this: so a stretch is about a sentence, and its times
/// are those of the voice. Given more, Whisper writes half a minute of Mandarin as one segment.
const SAME_STRETCH_MS: u64 = 450;
/// A recogniser's time this near to the beginning or end of speech means it.
const SNAP_MS: u64 = 700;
/// A span that is too long is cut at the quietest moment in its last part.
const CUT_WITHIN: f32 = 0.5;
const QUIET_MS: u64 = 100;

/// So much of what surrounds a stretch goes with it: the recogniser misses words that begin at once.
const MARGIN_MS: u64 = 300;

/// Spans that are transcribed together, with times from the start of the sound they were found in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) spans: Vec<VoiceSpan>,
    /// Sound before and after them that nobody speaks in.
    margins_ms: [u64; 2],
}

impl Stretch {
    fn start_ms(&self) -> u64 {
        self.spans.first().map_or(0, |span| span.start_ms)
    }

    pub(crate) fn end_ms(&self) -> u64 {
        self.spans.last().map_or(0, |span| span.end_ms)
    }

    /// The speech with its margins and its pauses shortened, and where each span went: start in the result, length is the span's.
    pub(crate) fn cut_out(&self, samples: &[f32]) -> (Vec<f32>, Vec<u64>) {
        let mut sound = Vec::new();
        let mut places = Vec::with_capacity(self.spans.len());
        let [before_ms, after_ms] = self.margins_ms;
        let (start_ms, end_ms) = (self.start_ms(), self.end_ms());
        sound.extend_from_slice(slice(samples, start_ms - before_ms, start_ms));
        for (i, span) in self.spans.iter().enumerate() {
            if let Some(before) = i.checked_sub(1).map(|before| self.spans[before]) {
                let kept = pause(before, *span) / 2;
                sound.extend_from_slice(slice(samples, before.end_ms, before.end_ms + kept));
                sound.extend_from_slice(slice(samples, span.start_ms - kept, span.start_ms));
            }
            places.push(sound.len() as u64 * 1000 / u64::from(SPEECH_SAMPLE_RATE));
            sound.extend_from_slice(slice(samples, span.start_ms, span.end_ms));
        }
        sound.extend_from_slice(slice(samples, end_ms, end_ms + after_ms));
        (sound, places)
    }

    /// Moves a segment from times of the cut-out sound to times of the sound it was cut out of.
    pub(crate) fn place(&self, places: &[u64], segment: &mut SpokenSegment) {
        let start = self.nearest(places, segment.start_ms, true);
        let end = self.nearest(places, segment.end_ms, false);
        segment.start_ms = start;
        segment.end_ms = end.max(start);
    }

    /// The time in the recording for a time in the cut-out sound. A time within a pause or near the end of one belongs to the
    /// speech after it if something starts there, and to the speech before it otherwise.
    fn nearest(&self, places: &[u64], at_ms: u64, is_start: bool) -> u64 {
        let bounds = self.spans.iter().zip(places).map(|(span, &place)| {
            if is_start { (place, span.start_ms) } else { (place + span.end_ms - span.start_ms, span.end_ms) }
        });
        let near = bounds.min_by_key(|(place, _)| place.abs_diff(at_ms));
        if let Some((place, time)) = near
            && place.abs_diff(at_ms) <= SNAP_MS
        {
            return time;
        }
        let inside = self.spans.iter().zip(places).rfind(|(_, place)| **place <= at_ms);
        inside.map_or(0, |(span, place)| (span.start_ms + at_ms - place).min(span.end_ms))
    }
}

/// Length of the pause between two spans after shortening.
fn pause(before: VoiceSpan, after: VoiceSpan) -> u64 {
    (after.start_ms - before.end_ms).min(LONGEST_PAUSE_MS)
}

fn slice(samples: &[f32], from_ms: u64, to_ms: u64) -> &[f32] {
    let at = |ms: u64| ((ms * u64::from(SPEECH_SAMPLE_RATE) / 1000) as usize).min(samples.len());
    &samples[at(from_ms)..at(to_ms.max(from_ms))]
}

/// Stretches of at most `max_ms` after shortening, in order. Spans that are longer themselves are cut where it is quiet.
pub(crate) fn stretches(spans: &[VoiceSpan], samples: &[f32], max_ms: u64) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut length_ms = 0;
    for span in spans.iter().flat_map(|span| short_enough(*span, samples, max_ms)) {
        let own_ms = span.end_ms - span.start_ms;
        if let Some(stretch) = stretches.last_mut()
            && let Some(before) = stretch.spans.last().copied()
            && span.start_ms - before.end_ms <= SAME_STRETCH_MS
            && length_ms + pause(before, span) + own_ms <= max_ms
        {
            length_ms += pause(before, span) + own_ms;
            stretch.spans.push(span);
            continue;
        }
        length_ms = own_ms;
        stretches.push(Stretch { spans: vec![span], margins_ms: [0; 2] });
    }
    let length_ms = samples.len() as u64 * 1000 / u64::from(SPEECH_SAMPLE_RATE);
    for i in 0..stretches.len() {
        let before = i.checked_sub(1).map_or(0, |before| stretches[before].end_ms());
        let after = stretches.get(i + 1).map_or(length_ms, Stretch::start_ms);
        let stretch = &mut stretches[i];
        // Half of a pause at most: no word is heard twice.
        let room = [stretch.start_ms().saturating_sub(before), after.saturating_sub(stretch.end_ms())];
        stretch.margins_ms = room.map(|room_ms| (room_ms / 2).min(MARGIN_MS));
    }
    stretches
}

/// The span in parts of at most `max_ms`, cut where it is quiet.
pub(crate) fn short_enough(mut span: VoiceSpan, samples: &[f32], max_ms: u64) -> Vec<VoiceSpan> {
    let mut parts = Vec::new();
    while span.end_ms - span.start_ms > max_ms {
        let from_ms = span.start_ms + (max_ms as f32 * CUT_WITHIN) as u64;
        let cut_ms = quietest(samples, from_ms, span.start_ms + max_ms);
        parts.push(VoiceSpan { start_ms: span.start_ms, end_ms: cut_ms });
        span.start_ms = cut_ms;
    }
    parts.push(span);
    parts
}

/// The middle of the quietest tenth of a second.
fn quietest(samples: &[f32], from_ms: u64, to_ms: u64) -> u64 {
    let loudness = |at_ms: &u64| -> f32 {
        slice(samples, *at_ms, at_ms + QUIET_MS).iter().map(|sample| sample * sample).sum()
    };
    let times = (from_ms..=to_ms.saturating_sub(QUIET_MS).max(from_ms)).step_by(QUIET_MS as usize / 2);
    times.min_by(|a, b| loudness(a).total_cmp(&loudness(b))).unwrap_or(from_ms) + QUIET_MS / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(times: &[(u64, u64)]) -> Vec<VoiceSpan> {
        times.iter().map(|&(start_ms, end_ms)| VoiceSpan { start_ms, end_ms }).collect()
    }

    fn check(times: &[(u64, u64)], max_ms: u64, expected: &[&[(u64, u64)]]) {
        let loud = vec![0.5; 16 * 60_000];
        let found = stretches(&spans(times), &loud, max_ms);
        let found: Vec<Vec<VoiceSpan>> = found.into_iter().map(|stretch| stretch.spans).collect();
        let expected: Vec<Vec<VoiceSpan>> = expected.iter().map(|times| spans(times)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn spans_are_taken_together_until_a_stretch_is_full() {
        check(&[], 10_000, &[]);
        check(
            &[(0, 4000), (4400, 8000), (8400, 12_000)],
            10_000,
            &[&[(0, 4000), (4400, 8000)], &[(8400, 12_000)]],
        );
    }

    #[test]
    fn a_longer_pause_ends_a_stretch() {
        check(&[(0, 4000), (4500, 8000)], 20_000, &[&[(0, 4000)], &[(4500, 8000)]]);
    }

    #[test]
    fn a_long_span_is_cut_at_its_quietest_moment() {
        let mut samples = vec![0.5; 16 * 20_000];
        samples[16 * 7000..16 * 7200].fill(0.0);
        let found = stretches(&spans(&[(0, 18_000)]), &samples, 10_000);
        assert_eq!(found[0].spans, spans(&[(0, 7050)]));
        assert!(found.iter().all(|stretch| stretch.end_ms() - stretch.spans[0].start_ms <= 10_000));
        assert_eq!(found.last().map(Stretch::end_ms), Some(18_000));
    }

    #[test]
    fn what_surrounds_a_stretch_goes_with_it_but_no_word_does_so_twice() {
        let loud = vec![0.5; 16 * 10_000];
        let found = stretches(&spans(&[(100, 4000), (4500, 9900)]), &loud, 5000);
        let margins: Vec<[u64; 2]> = found.iter().map(|stretch| stretch.margins_ms).collect();
        assert_eq!(margins[0], [50, 250]);
        assert_eq!((margins[1][0], margins.last().map(|margins| margins[1])), (250, Some(50)));
        assert_eq!(margins[1][1], 0, "a span that was cut has no pause");
        let (sound, places) = found[0].cut_out(&loud);
        assert_eq!((sound.len() / 16, places.as_slice()), (50 + 3900 + 250, [50].as_slice()));
    }

    fn check_place(segment: (u64, u64), expected: (u64, u64)) {
        let samples = vec![0.5; 16 * 60_000];
        let stretch = Stretch { spans: spans(&[(1000, 5000), (8000, 10_000)]), margins_ms: [0; 2] };
        let (sound, places) = stretch.cut_out(&samples);
        assert_eq!((sound.len() / 16, places.as_slice()), (6600, [0, 4600].as_slice()));
        let mut placed = SpokenSegment {
            start_ms: segment.0,
            end_ms: segment.1,
            text: String::new(),
            language: String::new(),
            confidence: 1.0,
        };
        stretch.place(&places, &mut placed);
        assert_eq!((placed.start_ms, placed.end_ms), expected, "{segment:?}");
    }

    #[test]
    fn times_go_back_to_where_the_speech_was() {
        check_place((0, 4000), (1000, 5000));
        check_place((4300, 6600), (8000, 10_000));
        check_place((2000, 3000), (3000, 4000));
        check_place((0, 6600), (1000, 10_000));
    }

    #[test]
    fn times_near_the_edge_of_speech_mean_the_edge() {
        check_place((300, 4500), (1000, 5000));
        check_place((4000, 6100), (8000, 10_000));
    }
}
