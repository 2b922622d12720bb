//! How fast the work goes: steps per second of the current stage, over the last seconds.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use zhiku_core::{DocumentId, JobStage};

/// Older steps say nothing about the speed now.
const WINDOW: Duration = Duration::from_secs(10);
/// A shorter stretch is too short to tell a speed from.
const LEAST: Duration = Duration::from_millis(800);

#[derive(Debug, Default)]
pub(crate) struct Meter {
    current: Option<(DocumentId, JobStage)>,
    steps: VecDeque<(Instant, u32)>,
}

impl Meter {
    /// `done` steps of a document's stage are done now. Another document or stage starts the measuring anew.
    pub(crate) fn record(&mut self, work: (DocumentId, JobStage), done: u32, now: Instant) {
        if self.current != Some(work) {
            self.current = Some(work);
            self.steps.clear();
        }
        self.steps.push_back((now, done));
        while self.steps.front().is_some_and(|(then, _)| now.duration_since(*then) > WINDOW) {
            self.steps.pop_front();
        }
    }

    /// Steps per second, if enough was seen to say.
    pub(crate) fn speed(&self) -> Option<f64> {
        let (first, last) = (self.steps.front()?, self.steps.back()?);
        let took = last.0.duration_since(first.0);
        let steps = last.1.checked_sub(first.1)?;
        (took >= LEAST && steps > 0).then(|| f64::from(steps) / took.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_is_that_of_the_last_seconds_of_one_stage() {
        let (start, document) = (Instant::now(), DocumentId::new());
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut meter = Meter::default();
        assert_eq!(meter.speed(), None);
        for second in 0..=30 {
            meter.record(
                (document, JobStage::Embed),
                u32::try_from(second * second).expect("small"),
                at(second),
            );
        }
        assert_eq!(meter.speed(), Some(50.0));
        meter.record((document, JobStage::Publish), 1, at(31));
        assert_eq!(meter.speed(), None);
    }
}
