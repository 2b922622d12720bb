//! Counts a call's tokens against the run's budget: reserved before, settled when the reply ends or is dropped.

use std::sync::Arc;

use zhiku_core::model::ChatRequest;
use zhiku_core::{Budget, BudgetRefused};

/// Tokens of both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TokenCounts {
    pub(crate) input: u64,
    pub(crate) output: u64,
}

/// Roughly, and rather too many: one token per three bytes is one per Chinese character.
pub(crate) fn estimate_tokens(text: &str) -> u64 {
    (text.len() as u64).div_ceil(3)
}

/// Roles and separators of one message.
const TOKENS_PER_MESSAGE: u64 = 8;

pub(crate) fn estimate_input(request: &ChatRequest) -> u64 {
    request.messages.iter().map(|message| estimate_tokens(&message.content) + TOKENS_PER_MESSAGE).sum()
}

/// One attempt's tokens. Dropping it gives back what was not spent.
#[derive(Debug)]
pub(crate) struct Meter {
    budget: Arc<Budget>,
    reserved: u64,
    spent: TokenCounts,
    output_bytes: u64,
}

impl Meter {
    /// Reserves one model call and the most tokens it may use.
    pub(crate) fn reserve(budget: &Arc<Budget>, request: &ChatRequest) -> Result<Self, BudgetRefused> {
        let reserved = estimate_input(request) + u64::from(request.max_output_tokens);
        budget.reserve_tokens(reserved)?;
        let meter =
            Self { budget: Arc::clone(budget), reserved, spent: TokenCounts::default(), output_bytes: 0 };
        budget.reserve_model_call()?;
        Ok(meter)
    }

    /// The server took the request: its input is spent even if the reply is dropped.
    pub(crate) fn accepted(&mut self, request: &ChatRequest) {
        self.spent.input = estimate_input(request);
    }

    pub(crate) fn count_output(&mut self, text: &str) {
        self.output_bytes += text.len() as u64;
        self.spent.output = self.output_bytes.div_ceil(3);
    }

    /// What the provider reported replaces the estimate. Returns what counts.
    pub(crate) fn settle(&mut self, reported: Option<TokenCounts>) -> TokenCounts {
        if let Some(reported) = reported {
            self.spent = reported;
        }
        self.spent
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.budget.settle_tokens(self.reserved, self.spent.input + self.spent.output);
    }
}

#[cfg(test)]
mod tests {
    use zhiku_core::BudgetLimits;
    use zhiku_core::model::{ChatMessage, ChatRole};

    use super::*;

    fn request() -> ChatRequest {
        let content = "知库是什么？".to_owned();
        ChatRequest {
            messages: vec![ChatMessage { role: ChatRole::User, content }],
            max_output_tokens: 86,
            temperature: None,
        }
    }

    /// Tokens still free of a budget of 100, of which the request reserves all.
    fn free_after(steps: impl FnOnce(&mut Meter)) -> u64 {
        let budget = Arc::new(Budget::new(BudgetLimits { tokens: 100, ..BudgetLimits::default() }));
        let mut meter = Meter::reserve(&budget, &request()).expect("fits");
        assert!(budget.reserve_tokens(1).is_err());
        steps(&mut meter);
        drop(meter);
        (0..=200).rev().find(|n| budget.reserve_tokens(*n).is_ok()).unwrap_or(0)
    }

    #[test]
    fn a_failed_attempt_gives_everything_back() {
        assert_eq!(free_after(|_| {}), 100);
    }

    #[test]
    fn a_dropped_reply_costs_its_input_and_what_was_written() {
        let free = free_after(|meter| {
            meter.accepted(&request());
            meter.count_output("123456");
        });
        assert_eq!(free, 100 - 14 - 2);
    }

    #[test]
    fn reported_usage_replaces_the_estimate() {
        let free = free_after(|meter| {
            meter.accepted(&request());
            meter.count_output("123456");
            assert_eq!(
                meter.settle(Some(TokenCounts { input: 5, output: 3 })),
                TokenCounts { input: 5, output: 3 }
            );
        });
        assert_eq!(free, 92);
    }

    #[test]
    fn each_attempt_is_a_model_call() {
        let budget = Arc::new(Budget::new(BudgetLimits { model_calls: 2, ..BudgetLimits::default() }));
        assert!(Meter::reserve(&budget, &request()).is_ok());
        assert!(Meter::reserve(&budget, &request()).is_ok());
        assert_eq!(Meter::reserve(&budget, &request()).expect_err("used up").what, "model calls");
    }
}
