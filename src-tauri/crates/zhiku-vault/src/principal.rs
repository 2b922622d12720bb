//! Who asks, and what they may do. A [`Scope`] holds ids only: rights are looked up in every query, on the rows that say
//! so, which is why a revocation acts at the next call.

use std::fmt;

use zhiku_core::{ProfileId, Role, VaultId};

/// A signed-in profile. Made only by [`crate::Home::sign_in`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    profile_id: ProfileId,
    name: String,
}

impl Principal {
    pub(crate) fn new(profile_id: ProfileId, name: String) -> Self {
        Self { profile_id, name }
    }

    pub fn profile_id(&self) -> ProfileId {
        self.profile_id
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

/// What one principal may see in one vault, now. Made only by [`crate::Vault::scope`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    vault_id: VaultId,
    profile_id: ProfileId,
}

impl Scope {
    pub(crate) fn new(vault_id: VaultId, profile_id: ProfileId) -> Self {
        Self { vault_id, profile_id }
    }

    pub fn vault_id(&self) -> VaultId {
        self.vault_id
    }

    pub fn profile_id(&self) -> ProfileId {
        self.profile_id
    }

    /// As queries bind it.
    pub(crate) fn profile(&self) -> &[u8; 16] {
        self.profile_id.0.as_bytes()
    }
}

/// What a role can allow; which documents it is done to is a matter of the document's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    Import,
    Delete,
    Members,
    Export,
}

impl Function {
    pub fn allowed_to(self, role: Role) -> bool {
        match self {
            Self::Import | Self::Delete | Self::Export => matches!(role, Role::Owner | Role::Editor),
            Self::Members => role == Role::Owner,
        }
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Import => "import documents",
            Self::Delete => "remove documents",
            Self::Members => "manage members and rules",
            Self::Export => "export the vault",
        })
    }
}
