//! What is said becomes units: stretches of up to [`UNIT_MS`], a line for each segment, with its time.

use zhiku_core::recognition::SpokenSegment;
use zhiku_core::{Locator, ParsedUnit, Process, TimedText, Trust, UnitKind};

/// A unit covers about this time.
const UNIT_MS: u64 = 45_000;
const UNIT_CHARS: usize = 800;

/// Segments on their way to one unit: a line each.
pub(crate) struct Spoken {
    kind: UnitKind,
    text: String,
    n_chars: usize,
    timing: Vec<TimedText>,
    /// Confidence weighted by characters.
    sure: f32,
}

impl Spoken {
    pub(crate) fn new(kind: UnitKind) -> Self {
        Self { kind, text: String::new(), n_chars: 0, timing: Vec::new(), sure: 0.0 }
    }

    pub(crate) fn is_full(&self, next: &SpokenSegment) -> bool {
        let Some(first) = self.timing.first() else { return false };
        next.end_ms.saturating_sub(first.start_ms) > UNIT_MS || self.n_chars > UNIT_CHARS
    }

    pub(crate) fn push(&mut self, segment: &SpokenSegment) {
        let words = segment.text.trim();
        if words.is_empty() {
            return;
        }
        if self.n_chars > 0 {
            self.text.push('\n');
            self.n_chars += 1;
        }
        let n = words.chars().count();
        self.timing.push(TimedText {
            char_start: self.n_chars as u32,
            char_end: (self.n_chars + n) as u32,
            start_ms: segment.start_ms,
            end_ms: segment.end_ms,
        });
        self.text.push_str(words);
        self.n_chars += n;
        self.sure += segment.confidence * n as f32;
    }

    pub(crate) fn take(&mut self) -> Option<ParsedUnit> {
        let done = std::mem::replace(self, Self::new(self.kind));
        let (first, last) = (done.timing.first()?, done.timing.last()?);
        let n_spoken: u32 = done.timing.iter().map(|timed| timed.char_end - timed.char_start).sum();
        Some(ParsedUnit {
            kind: done.kind,
            locator: Locator::Time { start_ms: first.start_ms, end_ms: last.end_ms },
            process: Process::Asr,
            trust: Trust::Normal,
            heading_path: Vec::new(),
            layout: None,
            confidence: Some(done.sure / n_spoken.max(1) as f32),
            text: done.text,
            timing: done.timing,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, start_ms: u64) -> SpokenSegment {
        SpokenSegment {
            start_ms,
            end_ms: start_ms + 2_000,
            text: text.to_owned(),
            language: "zh".to_owned(),
            confidence: 0.5,
        }
    }

    #[test]
    fn segments_become_lines_of_a_unit_with_their_times() {
        let mut spoken = Spoken::new(UnitKind::AudioSpan);
        spoken.push(&said(" 海棠A用什么防水？", 1_000));
        spoken.push(&said("用 M-208。", 4_000));
        assert!(!spoken.is_full(&said("x", 40_000)));
        assert!(spoken.is_full(&said("x", 60_000)));
        let unit = spoken.take().expect("unit");
        assert_eq!(unit.text, "海棠A用什么防水？\n用 M-208。");
        assert_eq!(unit.locator, Locator::Time { start_ms: 1_000, end_ms: 6_000 });
        assert_eq!(zhiku_core::time_of(&unit.timing, 11, 14), Some((4_000, 6_000)));
        assert_eq!(unit.confidence, Some(0.5));
        assert!(spoken.take().is_none());
    }
}
