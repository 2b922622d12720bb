//! What every crate's errors have in common: whose fault it was, and the few codes on which a consumer branches.

use serde::{Deserialize, Serialize};

/// Whose fault an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The request cannot be carried out as given.
    User,
    /// The machine, the network or a foreign service stands in the way.
    Environment,
    /// Zhiku is wrong.
    Bug,
}

/// A code exists only if a consumer branches on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// Not there, or not visible to this principal: the two look the same.
    NotFound,
    /// The role does not allow this function.
    Denied,
    InvalidInput,
    /// Another process owns the vault.
    VaultLocked,
    /// The vault was written by a newer version.
    VaultTooNew,
    ModelMissing,
    ModelDamaged,
    ModelCrashed,
    PasswordRequired,
    UnsupportedFormat,
    DamagedFile,
    /// No key is stored for the chosen provider.
    KeyMissing,
    /// The provider refused the key.
    KeyRejected,
    RateLimited,
    Timeout,
    Network,
    Cancelled,
    BudgetExhausted,
    KeychainUnavailable,
    Internal,
}

impl ErrorCode {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Denied => "denied",
            Self::InvalidInput => "invalid_input",
            Self::VaultLocked => "vault_locked",
            Self::VaultTooNew => "vault_too_new",
            Self::ModelMissing => "model_missing",
            Self::ModelDamaged => "model_damaged",
            Self::ModelCrashed => "model_crashed",
            Self::PasswordRequired => "password_required",
            Self::UnsupportedFormat => "unsupported_format",
            Self::DamagedFile => "damaged_file",
            Self::KeyMissing => "key_missing",
            Self::KeyRejected => "key_rejected",
            Self::RateLimited => "rate_limited",
            Self::Timeout => "timeout",
            Self::Network => "network",
            Self::Cancelled => "cancelled",
            Self::BudgetExhausted => "budget_exhausted",
            Self::KeychainUnavailable => "keychain_unavailable",
            Self::Internal => "internal",
        }
    }
}
