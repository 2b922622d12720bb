//! The application's folder, profiles, vaults, models: what is there before a vault is open.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use zhiku_vault::{AccessMode, Home, OpenOptions, Principal, Profile, Vault, VaultEntry};

use crate::error::{EngineError, Result};
use crate::models::Models;
use crate::queue;
use crate::session::Session;

/// The name of the vault that a first start creates.
const FIRST_VAULT: &str = "Zhiku";

/// Where things are and how much of the machine may be used.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Application data; [`EngineConfig::default_home`] where the user says nothing.
    pub home: PathBuf,
    /// The models' folder; the model store's default where the user says nothing.
    pub models: Option<PathBuf>,
    /// Threads that one inference may use; what is set in [`Engine::set_governor`] where this says nothing.
    pub inference_threads: Option<NonZeroUsize>,
    /// Named to a second process that finds the vault locked.
    pub program: String,
    /// How parsers are started apart from this process.
    pub worker: zhiku_parse::worker::WorkerCommand,
}

impl EngineConfig {
    /// Parsers run in the current executable, which must call [`crate::run_worker_if_asked`] first thing in `main`.
    pub fn new(home: PathBuf, program: &str) -> Result<Self> {
        let worker = zhiku_parse::worker::WorkerCommand::current_exe()
            .map_err(|error| EngineError::bug(format!("could not find this program's own file: {error}")))?;
        Ok(Self { home, models: None, inference_threads: None, program: program.to_owned(), worker })
    }

    /// `ZHIKU_HOME`, or the platform's folder for application data.
    pub fn default_home() -> Result<PathBuf> {
        if let Some(home) = std::env::var_os("ZHIKU_HOME").filter(|home| !home.is_empty()) {
            return Ok(PathBuf::from(home));
        }
        dirs::data_dir().map(|dir| dir.join("app.zhiku.desktop")).ok_or_else(|| {
            EngineError::invalid("could not find a folder for application data").with_hint("set ZHIKU_HOME")
        })
    }
}

/// One per process. Opening is quick: models are loaded when they are first needed.
pub struct Engine {
    pub(crate) config: EngineConfig,
    pub(crate) home: Home,
    pub(crate) models: Arc<Models>,
    pub(crate) runtime: tokio::runtime::Runtime,
    pub(crate) open_vaults: Mutex<Vec<(PathBuf, Weak<crate::session::OpenVault>)>>,
}

impl Engine {
    pub fn open(config: EngineConfig) -> Result<Arc<Self>> {
        let home = Home::open(&config.home)?;
        let models = Arc::new(Models::open(config.models.as_deref(), queue::processors())?);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("zhiku-async")
            .enable_all()
            .build()
            .map_err(|error| EngineError::bug(format!("could not start the async runtime: {error}")))?;
        let engine = Self { config, home, models, runtime, open_vaults: Mutex::default() };
        let threads = match engine.config.inference_threads {
            Some(threads) => threads,
            None => engine.governor()?.threads(queue::processors()),
        };
        engine.models.set_threads(threads);
        Ok(Arc::new(engine))
    }

    pub fn home_dir(&self) -> &Path {
        self.home.dir()
    }

    pub fn models(&self) -> &Models {
        &self.models
    }

    /// How parsers are started, with PDFium where it is.
    pub(crate) fn worker(&self) -> zhiku_parse::worker::WorkerCommand {
        let worker = self.config.worker.clone();
        match self.models.pdfium() {
            Some(library) => worker.with_pdfium(library),
            None => worker,
        }
    }

    pub fn profiles(&self) -> Result<Vec<Profile>> {
        Ok(self.home.profiles()?)
    }

    pub fn add_profile(&self, name: &str) -> Result<Profile> {
        Ok(self.home.add_profile(name)?)
    }

    /// Signs in by name; without one, as the first profile, which a first start creates.
    pub fn sign_in(&self, name: Option<&str>) -> Result<Principal> {
        if let Some(name) = name {
            return Ok(self.home.sign_in(name)?);
        }
        let mut profiles = self.home.profiles()?;
        profiles.sort_by_key(|profile| profile.profile_id);
        let first = match profiles.into_iter().next() {
            Some(profile) => profile.name,
            None => self.home.add_profile(&user_name())?.name,
        };
        Ok(self.home.sign_in(&first)?)
    }

    pub fn vaults(&self) -> Result<Vec<VaultEntry>> {
        Ok(self.home.vaults()?)
    }

    pub fn create_vault(
        self: &Arc<Self>,
        owner: &Principal,
        name: &str,
        dir: Option<&Path>,
    ) -> Result<VaultEntry> {
        let vault = self.home.create_vault(owner, name, dir, &self.options())?;
        let entry = self.home.resolve(&vault.id().to_string())?;
        Ok(entry)
    }

    /// Opens a vault for a principal. Without a name: the first one, which a first start creates.
    pub fn open_vault(
        self: &Arc<Self>,
        principal: &Principal,
        name_or_dir: Option<&str>,
        mode: AccessMode,
    ) -> Result<Session> {
        let entry = match name_or_dir {
            Some(name) => self.home.resolve(name)?,
            None => match self.home.vaults()?.into_iter().next() {
                Some(entry) => entry,
                None => self.create_vault(principal, FIRST_VAULT, None)?,
            },
        };
        let shared = self.shared_vault(&entry.path, mode)?;
        Session::new(Arc::clone(self), shared, principal.clone())
    }

    /// Sessions of one process share an open vault and its import pipeline.
    fn shared_vault(&self, dir: &Path, mode: AccessMode) -> Result<Arc<crate::session::OpenVault>> {
        let mut open = lock(&self.open_vaults);
        open.retain(|(_, vault)| vault.strong_count() > 0);
        let known = open.iter().find(|(path, _)| path == dir).and_then(|(_, vault)| vault.upgrade());
        if let Some(vault) = known {
            return Ok(vault);
        }
        let vault = match mode {
            AccessMode::Owner => Vault::open(dir, &self.options())?,
            AccessMode::ReadOnly => Vault::open_read_only(dir, &self.options())?,
        };
        let shared = Arc::new(crate::session::OpenVault::new(vault, self)?);
        open.push((dir.to_owned(), Arc::downgrade(&shared)));
        Ok(shared)
    }

    fn options(&self) -> OpenOptions {
        OpenOptions { key: None, program: self.config.program.clone() }
    }
}

fn user_name() -> String {
    ["USER", "USERNAME", "LOGNAME"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|name| !name.trim().is_empty())
        .unwrap_or_else(|| "me".to_owned())
}

/// A poisoned lock still guards whole values here: each update is one assignment.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
