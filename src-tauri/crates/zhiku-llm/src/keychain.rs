//! Keys of providers in the system's keychain: Secret Service on Linux, Keychain on macOS, Credential Manager on Windows.
//!
//! There is no other place for a key: without a keychain a key cannot be stored, and the error says what to do. All calls
//! block, on Linux also for as long as the system asks for the keychain's password: call them off the async threads.

use std::sync::Arc;

use keyring_core::{CredentialStore, Entry, Error as StoreError};
use serde::Serialize;
use zhiku_core::{ErrorCode, Fault};

use crate::redact::redact_shapes;
use crate::secret::Secret;

/// The name under which keys are stored; part of what is installed at people's machines, so it never changes.
pub const SERVICE: &str = "app.zhiku.desktop";

#[derive(Debug, thiserror::Error)]
pub enum KeychainError {
    #[error("could not reach the system keychain: {0}")]
    Unavailable(String),
    #[error("could not {action} the key of {provider} in the system keychain: {detail}")]
    Failed { action: &'static str, provider: String, detail: String },
    #[error("the keychain's entry for {0} is not a key")]
    NotText(String),
    #[error("`{0}` cannot be the id of a provider")]
    InvalidProvider(String),
    #[error("an empty key cannot be stored for {0}")]
    EmptyKey(String),
}

impl KeychainError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unavailable(_) | Self::Failed { .. } => ErrorCode::KeychainUnavailable,
            Self::NotText(_) => ErrorCode::KeyMissing,
            Self::InvalidProvider(_) | Self::EmptyKey(_) => ErrorCode::InvalidInput,
        }
    }

    pub fn fault(&self) -> Fault {
        match self {
            Self::Unavailable(_) | Self::Failed { .. } => Fault::Environment,
            Self::NotText(_) | Self::InvalidProvider(_) | Self::EmptyKey(_) => Fault::User,
        }
    }

    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unavailable(_) if cfg!(target_os = "linux") => Some(
                "Keys are stored only in a secret service: install and unlock gnome-keyring or KWallet, in a session with D-Bus. \
                 Answers from your documents work without a key.",
            ),
            Self::Unavailable(_) => {
                Some("Unlock the keychain. Answers from your documents work without a key.")
            }
            Self::Failed { .. } => Some("Unlock the keychain and allow Zhiku to use it, then try again."),
            Self::NotText(_) | Self::EmptyKey(_) => Some("Enter the key again."),
            Self::InvalidProvider(_) => {
                Some("Use 1 to 64 lower-case letters, digits, dots, dashes or underscores.")
            }
        }
    }
}

/// Whether a key is stored; says nothing about the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyStatus {
    Stored,
    Missing,
}

/// The opened keychain. Opening again after a failure tries again.
#[derive(Clone)]
pub struct Keychain {
    store: Arc<CredentialStore>,
}

impl Keychain {
    pub fn open() -> Result<Self, KeychainError> {
        match platform_store() {
            Ok(store) => Ok(Self { store }),
            Err(error) => Err(KeychainError::Unavailable(detail(&error))),
        }
    }

    /// Stores a key, in place of an earlier one.
    pub fn set(&self, provider: &str, secret: &Secret) -> Result<(), KeychainError> {
        if secret.is_empty() {
            return Err(KeychainError::EmptyKey(provider.to_owned()));
        }
        self.entry(provider)?.set_password(secret.expose()).map_err(|error| failed("store", provider, &error))
    }

    /// `None` if no key is stored.
    pub fn get(&self, provider: &str) -> Result<Option<Secret>, KeychainError> {
        match self.entry(provider)?.get_password() {
            Ok(password) => Ok(Some(Secret::new(password))),
            Err(StoreError::NoEntry) => Ok(None),
            Err(StoreError::BadEncoding(_) | StoreError::BadDataFormat(..)) => {
                Err(KeychainError::NotText(provider.to_owned()))
            }
            Err(error) => Err(failed("read", provider, &error)),
        }
    }

    /// Says whether there was a key.
    pub fn delete(&self, provider: &str) -> Result<KeyStatus, KeychainError> {
        match self.entry(provider)?.delete_credential() {
            Ok(()) => Ok(KeyStatus::Stored),
            Err(StoreError::NoEntry) => Ok(KeyStatus::Missing),
            Err(error) => Err(failed("delete", provider, &error)),
        }
    }

    /// Looks for the entry without reading its key.
    pub fn status(&self, provider: &str) -> Result<KeyStatus, KeychainError> {
        match self.entry(provider)?.get_credential() {
            Ok(_) => Ok(KeyStatus::Stored),
            Err(StoreError::NoEntry) => Ok(KeyStatus::Missing),
            Err(error) => Err(failed("look for", provider, &error)),
        }
    }

    fn entry(&self, provider: &str) -> Result<Entry, KeychainError> {
        if !is_provider_id(provider) {
            return Err(KeychainError::InvalidProvider(provider.to_owned()));
        }
        self.store.build(SERVICE, provider, None).map_err(|error| failed("name", provider, &error))
    }
}

/// Ids of providers name entries of the keychain, so their letters are limited.
pub fn is_provider_id(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-' | '_');
    (1..=64).contains(&text.len()) && text.chars().all(allowed)
}

fn platform_store() -> Result<Arc<CredentialStore>, StoreError> {
    #[cfg(target_os = "macos")]
    return Ok(apple_native_keyring_store::keychain::Store::new()?);
    #[cfg(target_os = "windows")]
    return Ok(windows_native_keyring_store::Store::new()?);
    #[cfg(all(unix, not(target_os = "macos")))]
    return Ok(zbus_secret_service_keyring_store::Store::new()?);
}

fn failed(action: &'static str, provider: &str, error: &StoreError) -> KeychainError {
    match error {
        StoreError::PlatformFailure(_) | StoreError::NoDefaultStore => {
            KeychainError::Unavailable(detail(error))
        }
        _ => KeychainError::Failed { action, provider: provider.to_owned(), detail: detail(error) },
    }
}

/// The store's errors may hold what was stored, which their `Display` leaves out; shapes of keys are masked all the same.
fn detail(error: &StoreError) -> String {
    let text = match error {
        StoreError::PlatformFailure(cause) | StoreError::NoStorageAccess(cause) => cause.to_string(),
        other => other.to_string(),
    };
    redact_shapes(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provider_ids_are_plain() {
        for id in ["openai", "llama-cpp", "my.server_2"] {
            assert!(is_provider_id(id), "{id}");
        }
        for id in ["", "OpenAI", "a b", "a/b", "知库", &"x".repeat(65)] {
            assert!(!is_provider_id(id), "{id}");
        }
    }
}
