//! When a second try is safe, and how long to wait before it.
//!
//! A request is sent again only if no byte of an answer has come: the connection failed, or the server said 429, 502, 503
//! or 529. Everything else may already have been worked on and paid for. The decision is a pure function; the waiting is
//! done by whoever holds [`crate::Surroundings`].

use std::time::{Duration, SystemTime};

/// Bounds on trying again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The first one counts.
    pub max_attempts: u32,
    /// Before the second attempt; doubles with each further one.
    pub first_wait: Duration,
    /// The longest wait, also when the server names one: what takes longer is for the person to decide.
    pub longest_wait: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 3,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(20),
        }
    }
}

/// What a failed attempt says about another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    Never,
    BackOff,
    /// The server named the wait (`Retry-After`).
    After(Duration),
}

impl RetryPolicy {
    /// How long to wait before the attempt after `attempt` (counted from 1), or `None` to give up. `jitter` is in [0, 1):
    /// it spreads clients over the second half of the wait.
    pub fn wait_after(
        &self,
        attempt: u32,
        retry: Retry,
        time_left: Duration,
        jitter: f64,
    ) -> Option<Duration> {
        if attempt >= self.max_attempts {
            return None;
        }
        let wait = match retry {
            Retry::Never => return None,
            Retry::After(named) if named > self.longest_wait => return None,
            Retry::After(named) => named,
            Retry::BackOff => {
                let doublings = (attempt - 1).min(16);
                let full = self.first_wait.saturating_mul(1 << doublings).min(self.longest_wait);
                full.mul_f64(0.5 + jitter.clamp(0.0, 1.0) / 2.0)
            }
        };
        (wait < time_left).then_some(wait)
    }
}

/// Reads `Retry-After`: seconds or an HTTP date (RFC 9110, section 10.2.3).
pub fn parse_retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_mins(10);

    #[test]
    fn back_off_doubles_stays_under_the_cap_and_ends() {
        let policy = RetryPolicy {
            max_attempts: 6,
            first_wait: Duration::from_secs(2),
            longest_wait: Duration::from_secs(10),
        };
        let waits =
            |jitter| (1..=6).map(|n| policy.wait_after(n, Retry::BackOff, LONG, jitter)).collect::<Vec<_>>();
        let seconds = |list: [u64; 5]| {
            list.map(|n| Some(Duration::from_secs(n))).into_iter().chain([None]).collect::<Vec<_>>()
        };
        assert_eq!(waits(0.0), seconds([1, 2, 4, 5, 5]));
        assert_eq!(waits(1.0), seconds([2, 4, 8, 10, 10]));
    }

    #[test]
    fn the_servers_wait_is_kept_unless_it_is_too_long() {
        let policy = RetryPolicy::default();
        let wait =
            |seconds, left| policy.wait_after(1, Retry::After(Duration::from_secs(seconds)), left, 0.5);
        assert_eq!(wait(7, LONG), Some(Duration::from_secs(7)));
        assert_eq!(wait(21, LONG), None);
        assert_eq!(wait(7, Duration::from_secs(7)), None, "no time would be left for the answer");
        assert_eq!(policy.wait_after(1, Retry::Never, LONG, 0.5), None);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let parse = |value| parse_retry_after(value, now);
        assert_eq!(parse("120"), Some(Duration::from_mins(2)));
        assert_eq!(parse(" 0.5 "), Some(Duration::from_millis(500)));
        assert_eq!(parse("Sun, 06 Nov 1994 08:49:47 GMT"), Some(Duration::from_secs(10)));
        assert_eq!(parse("Sun, 06 Nov 1994 08:49:30 GMT"), Some(Duration::ZERO));
        assert_eq!([parse("soon"), parse("-1"), parse("inf")], [None; 3]);
    }
}
