//! A fault of ours in one document must not end a lane: the queue behind it would stand still, and whoever waits for it
//! would wait for ever.

use std::panic::{AssertUnwindSafe, catch_unwind};

use zhiku_core::Reason;

/// Runs `work`; a panic becomes the reason for which its jobs fail. What `work` shares with the lane is the vault and locks
/// that outlive poisoning, both of which are whole after any interruption.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Reason> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let detail = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "unknown".to_owned());
        tracing::error!(detail, "a step of the import panicked");
        Reason::new("internal_fault").with("detail", detail)
    })
}
