//! A key in memory: wiped when dropped, printed by nothing.

use std::fmt;

use zeroize::Zeroizing;

/// A provider's key. It has no `Display`, no serialisation, and its `Debug` shows none of it.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Surrounding white space is cut: keys are pasted, often with a line end.
    pub fn new(text: impl Into<String>) -> Self {
        let text = Zeroizing::new(text.into());
        Self(Zeroizing::new(text.trim().to_owned()))
    }

    /// The key itself. Goes into a request header or the keychain, nowhere else.
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing_and_pasted_white_space_is_cut() {
        let secret = Secret::new("  sk-live-1234567890\n");
        assert_eq!(secret.expose(), "sk-live-1234567890");
        assert_eq!(
            format!("{secret:?} {:#?}", Some(&secret)),
            "Secret(hidden) Some(\n    Secret(hidden),\n)"
        );
    }
}
