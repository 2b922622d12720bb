//! What travels with a run: its id, its cancellation, its budget. Always the last argument.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::ids::RunId;

/// Why work stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    #[error("cancelled")]
    Cancelled,
    #[error("deadline passed")]
    Deadline,
}

/// The limits of one run, shared by everything that works for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetLimits {
    pub model_calls: u64,
    pub tokens: u64,
    pub wall_time: Duration,
}

impl Default for BudgetLimits {
    fn default() -> Self {
        Self { model_calls: 16, tokens: 200_000, wall_time: Duration::from_mins(3) }
    }
}

/// A reservation would have gone over a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run's budget of {limit} {what} is used up")]
pub struct BudgetRefused {
    pub what: &'static str,
    pub limit: u64,
}

/// Counts what a run spends. Reserve before, settle after.
#[derive(Debug)]
pub struct Budget {
    limits: BudgetLimits,
    started: Instant,
    model_calls: AtomicU64,
    tokens: AtomicU64,
    checks_left: AtomicI64,
}

impl Budget {
    pub fn new(limits: BudgetLimits) -> Self {
        Self {
            limits,
            started: Instant::now(),
            model_calls: AtomicU64::new(0),
            tokens: AtomicU64::new(0),
            checks_left: AtomicI64::new(i64::MAX),
        }
    }

    /// For tests: the deadline passes at the `n`-th further check, whatever the clock says.
    pub fn expire_after_checks(&self, n: u32) {
        self.checks_left.store(i64::from(n), Ordering::SeqCst);
    }

    fn deadline_passed(&self) -> bool {
        let left = self.checks_left.fetch_sub(1, Ordering::SeqCst);
        left <= 0 || self.started.elapsed() > self.limits.wall_time
    }

    /// Time left before the deadline.
    pub fn time_left(&self) -> Duration {
        self.limits.wall_time.saturating_sub(self.started.elapsed())
    }

    pub fn reserve_model_call(&self) -> Result<(), BudgetRefused> {
        reserve(&self.model_calls, 1, self.limits.model_calls, "model calls")
    }

    /// Reserves the most tokens that a call may use; [`Self::settle_tokens`] gives back the rest.
    pub fn reserve_tokens(&self, n: u64) -> Result<(), BudgetRefused> {
        reserve(&self.tokens, n, self.limits.tokens, "tokens")
    }

    pub fn settle_tokens(&self, reserved: u64, used: u64) {
        if used < reserved {
            self.tokens.fetch_sub(reserved - used, Ordering::SeqCst);
        } else {
            self.tokens.fetch_add(used - reserved, Ordering::SeqCst);
        }
    }
}

fn reserve(counter: &AtomicU64, n: u64, limit: u64, what: &'static str) -> Result<(), BudgetRefused> {
    counter
        .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |used| {
            used.checked_add(n).filter(|sum| *sum <= limit)
        })
        .map(|_| ())
        .map_err(|_| BudgetRefused { what, limit })
}

/// Travels as the last argument wherever a run goes. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RunContext {
    pub run_id: RunId,
    pub cancel: CancellationToken,
    pub budget: Arc<Budget>,
}

impl RunContext {
    pub fn new(limits: BudgetLimits) -> Self {
        Self { run_id: RunId::new(), cancel: CancellationToken::new(), budget: Arc::new(Budget::new(limits)) }
    }

    /// For work outside a question (imports, evaluation): no deadline worth mentioning.
    pub fn background() -> Self {
        Self::new(BudgetLimits {
            model_calls: u64::MAX,
            tokens: u64::MAX,
            wall_time: Duration::from_secs(u64::MAX / 4),
        })
    }

    /// Call between steps of work that takes more than some milliseconds.
    pub fn check(&self) -> Result<(), Stopped> {
        if self.cancel.is_cancelled() {
            return Err(Stopped::Cancelled);
        }
        if self.budget.deadline_passed() {
            return Err(Stopped::Deadline);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_reservations_cannot_overspend() {
        let budget = Budget::new(BudgetLimits { tokens: 100, ..BudgetLimits::default() });
        let granted: usize = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| (0..50).filter(|_| budget.reserve_tokens(3).is_ok()).count()))
                .collect();
            workers.into_iter().map(|worker| worker.join().expect("worker")).sum()
        });
        assert_eq!(granted, 33);
    }

    #[test]
    fn an_expired_budget_stops_at_the_named_check() {
        let ctx = RunContext::new(BudgetLimits::default());
        ctx.budget.expire_after_checks(2);
        assert_eq!([ctx.check(), ctx.check(), ctx.check()], [Ok(()), Ok(()), Err(Stopped::Deadline)]);
    }

    #[test]
    fn unused_tokens_are_given_back() {
        let budget = Budget::new(BudgetLimits { tokens: 100, ..BudgetLimits::default() });
        budget.reserve_tokens(100).expect("fits");
        budget.settle_tokens(100, 10);
        assert!(budget.reserve_tokens(90).is_ok());
        assert!(budget.reserve_tokens(1).is_err());
    }
}
