//! Places at which a crash test can end the process. Without the feature `fault-injection` they are nothing.

/// Every place, in the order of an import that replaces a version and is then removed.
pub const KILL_POINTS: &[&str] = &[
    "object_written",
    "object_renamed",
    "registered",
    "source_stamped",
    "source_moved",
    "source_gone",
    "child_registered",
    "units_staged",
    "recognized",
    "chunks_staged",
    "change_recorded",
    "jobs_passed",
    "cancelled",
    "publish_staged_lexical",
    "publish_prepared_lexical",
    "publish_committed_rows",
    "publish_committed_lexical",
    "token_vectors_stored",
    "vectors_stored",
    "published",
    "superseded_dropped",
    "marked_deleted",
    "erased_store",
    "erased_rows",
];

#[cfg(feature = "fault-injection")]
pub(crate) fn failpoint(name: &str) {
    use std::sync::Mutex;

    static PASSED: Mutex<usize> = Mutex::new(0);
    debug_assert!(KILL_POINTS.contains(&name), "unknown kill-point {name}");
    let Ok(wanted) = std::env::var("ZHIKU_KILL_AT") else { return };
    let (at, nth) = match wanted.split_once(':') {
        Some((at, nth)) => (at, nth.parse().unwrap_or(1)),
        None => (wanted.as_str(), 1),
    };
    if at == name {
        let mut passed = PASSED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *passed += 1;
        if *passed == nth {
            std::process::abort();
        }
    }
}

#[cfg(not(feature = "fault-injection"))]
#[inline]
pub(crate) fn failpoint(_name: &str) {}
