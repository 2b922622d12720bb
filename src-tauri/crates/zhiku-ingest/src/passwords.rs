//! Passwords that people gave for protected documents. They are in memory only, for as long as the import needs them, and are
//! wiped then; after a restart the document asks again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zeroize::Zeroizing;
use zhiku_core::DocumentId;
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

    /// Those of a document whose import was cancelled, or of all.
    pub(crate) fn forget_cancelled(&self, document: Option<DocumentId>) {
        self.held().retain(|version, _| document.is_some_and(|cancelled| cancelled != version.document));
    }

    fn held(&self) -> MutexGuard<'_, HashMap<VersionRef, Arc<Zeroizing<String>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A password as the parser takes it.
pub(crate) fn text(password: Option<&Arc<Zeroizing<String>>>) -> Option<&str> {
    password.map(|password| password.as_str())
}

#[cfg(test)]
mod tests {
    use zhiku_core::VersionNumber;

    use super::*;

    #[test]
    fn a_cancelled_import_needs_its_password_no_longer() {
        let held = Passwords::default();
        let version = || VersionRef { document: DocumentId::new(), version: VersionNumber(1) };
        let (cancelled, other) = (version(), version());
        held.keep(cancelled, "sesame".to_owned());
        held.keep(other, "sesame".to_owned());
        held.forget_cancelled(Some(cancelled.document));
        assert_eq!(
            (text(held.of(cancelled).as_ref()), text(held.of(other).as_ref())),
            (None, Some("sesame"))
        );
        held.forget_cancelled(None);
        assert!(held.of(other).is_none());
    }
}
