//! The wall clock, in the one unit in which times are stored.

use std::time::{SystemTime, UNIX_EPOCH};

/// UTC milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
