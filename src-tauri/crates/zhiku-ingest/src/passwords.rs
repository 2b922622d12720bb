//! Passwords that people gave for protected documents. They are in memory only, for as long as the import needs them, and are
//! wiped then; after a restart the document asks again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zeroize::Zeroizing;
use zhiku_vault::VersionRef;

#[derive(Default)]
pub(crate) struct Passwords(Mutex<HashMap<VersionRef, Arc<Zeroizing<String>>>>);

impl Passwords {
    pub(crate) fn keep(&self, version: VersionRef, password: String) {
        self.held().insert(version, Arc::new(Zeroizing::new(password)));
    }

    pub(crate) fn of(&self, version: VersionRef) -> Option<Arc<Zeroizing<String>>> {
        self.held().get(&version).map(Arc::clone)
    }

    pub(crate) fn forget(&self, version: VersionRef) {
        self.held().remove(&version);
    }

    fn held(&self) -> MutexGuard<'_, HashMap<VersionRef, Arc<Zeroizing<String>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A password as the parser takes it.
pub(crate) fn text(password: Option<&Arc<Zeroizing<String>>>) -> Option<&str> {
    password.map(|password| password.as_str())
}
