//! The application's own folder: profiles, known vaults, settings. Not a vault, and no document content.

use std::path::{Path, PathBuf};

use rusqlite::{OptionalExtension, params};
use serde_json::Value;
use uuid::Uuid;
use zhiku_core::{ProfileId, UtcMs, VaultId};

use crate::clock::now_ms;
use crate::error::{Result, VaultError};
use crate::principal::Principal;
use crate::storage::{Database, Migration, row};
use crate::vault::{OpenOptions, Vault};

const MIGRATIONS: &[Migration] =
    &[Migration { name: "0001_first", sql: include_str!("../home_migrations/0001_first.sql") }];

/// A local user of the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    pub profile_id: ProfileId,
    pub name: String,
    pub created: UtcMs,
}

/// A vault that this home knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultEntry {
    pub vault_id: VaultId,
    pub name: String,
    pub path: PathBuf,
    pub created: UtcMs,
}

/// A setting and the version of its shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    pub value: Value,
    pub version: u32,
}

/// The application's folder, open. Several processes may have it open at once.
pub struct Home {
    dir: PathBuf,
    database: Database,
}

impl Home {
    /// Opens the folder, creating it when it is not there.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self> {
        let dir = dir.as_ref().to_owned();
        std::fs::create_dir_all(&dir).map_err(VaultError::io(&dir))?;
        let database = Database::open(&dir.join("home.sqlite"), None, MIGRATIONS, &dir.join("backups"))?;
        Ok(Self { dir, database })
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn add_profile(&self, name: &str) -> Result<Profile> {
        let name = checked_name(name)?;
        let profile = Profile { profile_id: ProfileId::new(), name, created: UtcMs(now_ms()) };
        let stored = profile.clone();
        self.database.write(move |tx| {
            let taken = tx
                .query_row("SELECT 1 FROM profiles WHERE name = ?1", [&stored.name], |_| Ok(()))
                .optional()?;
            if taken.is_some() {
                return Err(VaultError::InvalidInput(format!(
                    "a profile named {} already exists",
                    stored.name
                )));
            }
            tx.execute(
                "INSERT INTO profiles (profile_id, name, created_ms) VALUES (?1, ?2, ?3)",
                params![stored.profile_id.0.as_bytes(), stored.name, stored.created.0],
            )?;
            Ok(())
        })?;
        Ok(profile)
    }

    /// By name.
    pub fn profiles(&self) -> Result<Vec<Profile>> {
        self.database.read(|db| {
            let mut statement =
                db.prepare_cached("SELECT profile_id, name, created_ms FROM profiles ORDER BY name")?;
            let rows = statement.query_map([], |row| {
                Ok(Profile {
                    profile_id: ProfileId(row::get_uuid(row, 0)?),
                    name: row.get(1)?,
                    created: UtcMs(row.get(2)?),
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    pub fn profile(&self, name: &str) -> Result<Profile> {
        let found = self.profiles()?.into_iter().find(|profile| profile.name == name);
        found.ok_or(VaultError::NotFound { what: "profile" })
    }

    /// The only source of principals.
    pub fn sign_in(&self, name: &str) -> Result<Principal> {
        let profile = self.profile(name)?;
        Ok(Principal::new(profile.profile_id, profile.name))
    }

    /// Creates a vault owned by `owner`; without `dir` it lives below the home.
    pub fn create_vault(
        &self,
        owner: &Principal,
        name: &str,
        dir: Option<&Path>,
        options: &OpenOptions,
    ) -> Result<Vault> {
        let name = checked_name(name)?;
        if self.vaults()?.iter().any(|entry| entry.name == name) {
            return Err(VaultError::InvalidInput(format!("a vault named {name} already exists")));
        }
        let vault_id = VaultId::new();
        let dir = match dir {
            Some(dir) => std::path::absolute(dir).map_err(VaultError::io(dir))?,
            None => self.dir.join("vaults").join(vault_id.to_string()),
        };
        let vault = Vault::create_with_id(vault_id, &dir, &name, owner, options)?;
        self.register(vault_id, &name, &dir)?;
        Ok(vault)
    }

    /// Adds a vault that exists already, for example one that was restored or moved here.
    pub fn register_vault(&self, vault: &Vault) -> Result<()> {
        self.register(vault.id(), vault.name(), vault.dir())
    }

    fn register(&self, vault_id: VaultId, name: &str, dir: &Path) -> Result<()> {
        let (name, path) = (name.to_owned(), dir.to_string_lossy().into_owned());
        self.database.write(move |tx| {
            tx.execute(
                "INSERT INTO vaults (vault_id, name, path, created_ms) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (vault_id) DO UPDATE SET name = excluded.name, path = excluded.path",
                params![vault_id.0.as_bytes(), name, path, now_ms()],
            )?;
            Ok(())
        })
    }

    /// By age.
    pub fn vaults(&self) -> Result<Vec<VaultEntry>> {
        self.database.read(|db| {
            let mut statement =
                db.prepare_cached("SELECT vault_id, name, path, created_ms FROM vaults ORDER BY vault_id")?;
            let rows = statement.query_map([], |row| {
                Ok(VaultEntry {
                    vault_id: VaultId(row::get_uuid(row, 0)?),
                    name: row.get(1)?,
                    path: PathBuf::from(row.get::<_, String>(2)?),
                    created: UtcMs(row.get(3)?),
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Finds a vault by name, id or directory.
    pub fn resolve(&self, name_or_dir: &str) -> Result<VaultEntry> {
        let id = Uuid::parse_str(name_or_dir).ok().map(VaultId);
        let dir = std::fs::canonicalize(name_or_dir).ok();
        let is_it = |entry: &VaultEntry| {
            entry.name == name_or_dir
                || Some(entry.vault_id) == id
                || (dir.is_some() && std::fs::canonicalize(&entry.path).ok() == dir)
        };
        self.vaults()?.into_iter().find(is_it).ok_or(VaultError::NotFound { what: "vault" })
    }

    pub fn setting(&self, name: &str) -> Result<Option<Setting>> {
        let name = name.to_owned();
        self.database.read(|db| {
            let found = db.query_row("SELECT value, version FROM settings WHERE name = ?1", [name], |row| {
                Ok(Setting { value: row::get_json(row, 0)?, version: row.get(1)? })
            });
            Ok(found.optional()?)
        })
    }

    /// Stores a setting. Never a secret: those belong into the system's keychain.
    pub fn set_setting(&self, name: &str, setting: &Setting) -> Result<()> {
        let (name, value, version) = (name.to_owned(), row::to_json(&setting.value)?, setting.version);
        self.database.write(move |tx| {
            tx.execute(
                "INSERT INTO settings (name, value, version) VALUES (?1, ?2, ?3)
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value, version = excluded.version",
                params![name, value, version],
            )?;
            Ok(())
        })
    }
}

fn checked_name(name: &str) -> Result<String> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > 100 || name.chars().any(char::is_control) {
        return Err(VaultError::InvalidInput("a name has 1 to 100 characters on one line".to_owned()));
    }
    Ok(name.to_owned())
}
