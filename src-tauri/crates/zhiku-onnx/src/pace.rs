//! How much work fits into one batch.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

/// Interactive work waits for at most one running batch, and the machine stays responsive.
const BATCH_TIME: Duration = Duration::from_millis(150);
/// Before anything was measured: what two slow cores do in [`BATCH_TIME`].
const FIRST_GUESS: f64 = 384.0;
/// Fewer tokens waste time on the way into and out of a run; more do not raise the throughput.
const BOUNDS: (f64, f64) = (256.0, 2048.0);
/// Weight of the newest measurement.
const SMOOTHING: f64 = 0.25;

/// Learns from finished batches how many padded tokens take [`BATCH_TIME`].
#[derive(Debug)]
pub(crate) struct Pace {
    tokens_per_batch: Mutex<f64>,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self { tokens_per_batch: Mutex::new(FIRST_GUESS) }
    }

    /// The most padded tokens of the next batch.
    pub(crate) fn batch_tokens(&self) -> usize {
        let current = *self.tokens_per_batch.lock().unwrap_or_else(PoisonError::into_inner);
        current.clamp(BOUNDS.0, BOUNDS.1) as usize
    }

    /// A batch of `n_tokens` padded tokens took `took`.
    pub(crate) fn learn(&self, n_tokens: usize, took: Duration) {
        // Small batches say more about the fixed cost of a run than about its speed.
        if (n_tokens as f64) < BOUNDS.0 / 2.0 || took.is_zero() {
            return;
        }
        let measured = n_tokens as f64 * BATCH_TIME.as_secs_f64() / took.as_secs_f64();
        let mut current = self.tokens_per_batch.lock().unwrap_or_else(PoisonError::into_inner);
        *current += SMOOTHING * (measured - *current);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_approach_what_the_machine_does_in_their_time() {
        let pace = Pace::new();
        for _ in 0..40 {
            pace.learn(1000, Duration::from_millis(300));
        }
        assert!((495..=500).contains(&pace.batch_tokens()), "{}", pace.batch_tokens());
    }

    #[test]
    fn a_slow_or_fast_machine_stays_within_bounds() {
        let (slow, fast) = (Pace::new(), Pace::new());
        for _ in 0..40 {
            slow.learn(400, Duration::from_secs(9));
            fast.learn(400, Duration::from_millis(1));
        }
        assert_eq!((slow.batch_tokens(), fast.batch_tokens()), (256, 2048));
    }

    #[test]
    fn tiny_batches_teach_nothing() {
        let pace = Pace::new();
        pace.learn(10, Duration::from_secs(1));
        assert_eq!(pace.batch_tokens(), FIRST_GUESS as usize);
    }
}
