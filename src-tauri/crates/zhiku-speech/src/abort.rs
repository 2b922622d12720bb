//! Ends a running inference of whisper.cpp from another thread.
//!
//! The safe setter of whisper-rs 0.16 hands its callback a pointer to a boxed closure and reads it as the closure itself, so
//! the raw one is used here.
#![expect(unsafe_code, reason = "the callback is called from C")]

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use whisper_rs::{FullParams, WhisperError, WhisperState};

unsafe extern "C" fn is_set(flag: *mut c_void) -> bool {
    // SAFETY: `run` passes a flag that outlives the inference, and nobody writes to it but through the atomic.
    unsafe { &*flag.cast_const().cast::<AtomicBool>() }.load(Ordering::Relaxed)
}

/// Runs the model over `samples` until the end or until `abort` is set; an aborted run fails.
pub(crate) fn run(
    state: &mut WhisperState,
    mut params: FullParams<'_, '_>,
    samples: &[f32],
    abort: &AtomicBool,
) -> Result<(), WhisperError> {
    let flag = std::ptr::from_ref(abort).cast_mut().cast::<c_void>();
    // SAFETY: `params` and with it the pointer are gone when this function returns, and `abort` is borrowed until then.
    unsafe {
        params.set_abort_callback_user_data(flag);
        params.set_abort_callback(Some(is_set));
    }
    state.full(params, samples)
}
