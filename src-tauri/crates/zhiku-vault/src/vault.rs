//! A vault: one directory, open. Everything else in this crate is `impl Vault` by subject.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::params;
use zhiku_core::{Role, VaultId};

use crate::clock::now_ms;
use crate::erase::Erase;
use crate::error::{Result, VaultError};
use crate::lexical::LexicalIndex;
use crate::lock::OwnerLock;
use crate::meta;
use crate::objects::ObjectStore;
use crate::principal::{Function, Principal, Scope};
use crate::scan::VectorScan;
use crate::storage::{Database, Migration, StorageKey};
use crate::token_vectors::TokenVectorStore;
use crate::visibility;

pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration { name: "0001_first", sql: include_str!("../migrations/0001_first.sql") },
    Migration { name: "0002_recognition", sql: include_str!("../migrations/0002_recognition.sql") },
    Migration { name: "0003_queue", sql: include_str!("../migrations/0003_queue.sql") },
];

/// How to open a vault.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// The key of an encrypted vault; no value exists yet.
    pub key: Option<StorageKey>,
    /// Named to a second process that finds the vault locked.
    pub program: String,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { key: None, program: "Zhiku".to_owned() }
    }
}

/// Whether a process may change the vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessMode {
    /// This process owns the vault.
    Owner,
    /// Reads beside whoever owns it.
    ReadOnly,
}

/// An open vault. Cheap to clone; blocking calls.
#[derive(Clone)]
pub struct Vault {
    inner: Arc<Inner>,
}

// Fields drop in order: the lock goes last, when nothing of the vault is open any more.
struct Inner {
    id: VaultId,
    name: String,
    dir: PathBuf,
    mode: AccessMode,
    lexical: LexicalIndex,
    scan: VectorScan,
    token_vectors: TokenVectorStore,
    objects: ObjectStore,
    foreign_stores: Mutex<Vec<Arc<dyn Erase>>>,
    database: Database,
    _lock: Option<OwnerLock>,
}

impl Vault {
    /// Makes a new vault in an empty or missing directory, with `owner` as its only member.
    pub fn create(
        dir: impl AsRef<Path>,
        name: &str,
        owner: &Principal,
        options: &OpenOptions,
    ) -> Result<Self> {
        Self::create_with_id(VaultId::new(), dir.as_ref(), name, owner, options)
    }

    pub(crate) fn create_with_id(
        id: VaultId,
        dir: &Path,
        name: &str,
        owner: &Principal,
        options: &OpenOptions,
    ) -> Result<Self> {
        std::fs::create_dir_all(dir).map_err(VaultError::io(dir))?;
        if std::fs::read_dir(dir).map_err(VaultError::io(dir))?.next().is_some() {
            return Err(VaultError::InvalidInput(format!("{} is not empty", dir.display())));
        }
        let lock = OwnerLock::acquire(dir, &options.program, now_ms())?;
        let database = open_database(dir, options)?;
        let (owner, vault_name) = (owner.clone(), name.to_owned());
        database.write(move |tx| {
            meta::set(tx, meta::VAULT_ID, &id.to_string())?;
            meta::set(tx, meta::NAME, &vault_name)?;
            tx.execute(
                "INSERT INTO members (profile_id, name, role, added_ms) VALUES (?1, ?2, ?3, ?4)",
                params![owner.profile_id().0.as_bytes(), owner.name(), Role::Owner.as_str(), now_ms()],
            )?;
            Ok(())
        })?;
        Self::assemble(dir, database, Some(lock), options)
    }

    /// Opens a vault for reading and writing, finishing what a crash left half done. [`VaultError::Locked`] names the
    /// process that has it open.
    pub fn open(dir: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let dir = dir.as_ref();
        require_vault(dir)?;
        let lock = OwnerLock::acquire(dir, &options.program, now_ms())?;
        let database = open_database(dir, options)?;
        Self::assemble(dir, database, Some(lock), options)
    }

    /// Opens a vault for reading, also while another process owns it.
    pub fn open_read_only(dir: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let dir = dir.as_ref();
        require_vault(dir)?;
        let database = Database::open_read_only(&dir.join(DATABASE_FILE), options.key, MIGRATIONS)?;
        Self::assemble(dir, database, None, options)
    }

    fn assemble(
        dir: &Path,
        database: Database,
        lock: Option<OwnerLock>,
        options: &OpenOptions,
    ) -> Result<Self> {
        let identity = database.read(|db| {
            let id = meta::get(db, meta::VAULT_ID)?.and_then(|text| text.parse().ok());
            Ok((id, meta::get(db, meta::NAME)?))
        })?;
        let (Some(id), Some(name)) = identity else {
            return Err(VaultError::Damaged { what: "vault identity" });
        };
        let mode = if lock.is_some() { AccessMode::Owner } else { AccessMode::ReadOnly };
        let vault = Self {
            inner: Arc::new(Inner {
                id,
                name,
                dir: dir.to_owned(),
                mode,
                lexical: LexicalIndex::open(&dir.join("lexical"), id, mode)?,
                scan: VectorScan::default(),
                token_vectors: TokenVectorStore::open(dir, id, mode, options.key)?,
                objects: ObjectStore::open(&dir.join("objects"), mode)?,
                foreign_stores: Mutex::default(),
                database,
                _lock: lock,
            }),
        };
        if mode == AccessMode::Owner {
            vault.recover()?;
        }
        Ok(vault)
    }

    pub fn id(&self) -> VaultId {
        self.inner.id
    }

    pub fn name(&self) -> &str {
        &self.inner.name
    }

    pub fn dir(&self) -> &Path {
        &self.inner.dir
    }

    pub fn mode(&self) -> AccessMode {
        self.inner.mode
    }

    /// What `principal` may see here. The one constructor of [`Scope`]; [`VaultError::NotFound`] for who is not a member.
    pub fn scope(&self, principal: &Principal) -> Result<Scope> {
        let scope = Scope::new(self.inner.id, principal.profile_id());
        self.role(&scope)?;
        Ok(scope)
    }

    /// The member's role now.
    pub fn role(&self, scope: &Scope) -> Result<Role> {
        self.read(scope, |db| visibility::role(db, scope))
    }

    /// Whether the member's role allows `function` now.
    pub fn can(&self, scope: &Scope, function: Function) -> Result<bool> {
        Ok(function.allowed_to(self.role(scope)?))
    }

    pub(crate) fn require(&self, scope: &Scope, function: Function) -> Result<()> {
        if self.can(scope, function)? { Ok(()) } else { Err(VaultError::Denied { function }) }
    }

    /// Reads on behalf of a principal; a scope of another vault sees nothing.
    pub(crate) fn read<T>(
        &self,
        scope: &Scope,
        work: impl FnOnce(&rusqlite::Connection) -> Result<T>,
    ) -> Result<T> {
        if scope.vault_id() != self.inner.id {
            return Err(VaultError::NotFound { what: "vault" });
        }
        self.inner.database.read(work)
    }

    pub(crate) fn database(&self) -> &Database {
        &self.inner.database
    }

    pub(crate) fn lexical(&self) -> &LexicalIndex {
        &self.inner.lexical
    }

    pub(crate) fn scan(&self) -> &VectorScan {
        &self.inner.scan
    }

    pub(crate) fn token_store(&self) -> &TokenVectorStore {
        &self.inner.token_vectors
    }

    pub(crate) fn foreign_stores(&self) -> MutexGuard<'_, Vec<Arc<dyn Erase>>> {
        self.inner.foreign_stores.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn objects(&self) -> &ObjectStore {
        &self.inner.objects
    }
}

const DATABASE_FILE: &str = "vault.sqlite";

fn open_database(dir: &Path, options: &OpenOptions) -> Result<Database> {
    Database::open(&dir.join(DATABASE_FILE), options.key, MIGRATIONS, &dir.join("backups"))
}

fn require_vault(dir: &Path) -> Result<()> {
    if dir.join(DATABASE_FILE).is_file() { Ok(()) } else { Err(VaultError::NotFound { what: "vault" }) }
}
