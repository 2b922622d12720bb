//! The one place that crosses into C by hand: registers sqlite-vec with every connection opened after.

#![expect(unsafe_code, reason = "sqlite3_auto_extension takes a C function pointer")]

use std::os::raw::{c_char, c_int};
use std::sync::Once;

use rusqlite::ffi;

type EntryPoint =
    unsafe extern "C" fn(*mut ffi::sqlite3, *mut *mut c_char, *const ffi::sqlite3_api_routines) -> c_int;

static REGISTERED: Once = Once::new();

pub(super) fn register_vector_extension() {
    REGISTERED.call_once(|| {
        // SAFETY: sqlite3_vec_init is an SQLite extension entry point; the crate declares it without arguments, SQLite
        // calls it with those of `EntryPoint`, which is how it is defined in C. The bundled SQLite has no loader table, so
        // the third argument is not used.
        unsafe {
            let entry =
                std::mem::transmute::<*const (), EntryPoint>(sqlite_vec::sqlite3_vec_init as *const ());
            ffi::sqlite3_auto_extension(Some(entry));
        }
    });
}
