//! The folder of models: what is there, and whether it is whole.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tokio_util::sync::CancellationToken;
use zhiku_core::model::ModelError;

use crate::error::ModelsError;
use crate::manifest::{Entry, FileSpec, Manifest, Role};
use crate::stamp;

/// How far an entry or file can be trusted, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Missing,
    /// There, but not what the manifest says.
    Damaged,
    /// There with the right size; nobody has compared its sum since it last changed.
    Present,
    Verified,
}

#[derive(Clone, Copy, Debug)]
pub struct EntryStatus<'a> {
    pub entry: &'a Entry,
    pub state: State,
}

/// The verified files of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFiles {
    pub id: String,
    folder: PathBuf,
    names: Vec<String>,
}

impl ModelFiles {
    /// The entry's first file: the model or the library itself.
    pub fn main(&self) -> PathBuf {
        self.names.first().map_or_else(|| self.folder.clone(), |name| self.folder.join(name))
    }

    /// A file by the name it has in the manifest.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// A folder with one folder per entry. Reading needs no lock; fetching takes one per entry.
#[derive(Clone, Debug)]
pub struct ModelStore {
    root: PathBuf,
    manifest: Manifest,
}

impl ModelStore {
    /// The store at `root`, which need not exist yet, with the built-in manifest.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, ModelsError> {
        Ok(Self::with_manifest(root, Manifest::built_in()?))
    }

    pub fn with_manifest(root: impl Into<PathBuf>, manifest: Manifest) -> Self {
        Self { root: root.into(), manifest }
    }

    /// The store at [`Self::default_root`].
    pub fn open_default() -> Result<Self, ModelsError> {
        Self::open(Self::default_root()?)
    }

    /// `$ZHIKU_MODELS`, or `zhiku/models` in the user's cache folder.
    pub fn default_root() -> Result<PathBuf, ModelsError> {
        let chosen = std::env::var_os("ZHIKU_MODELS").filter(|value| !value.is_empty());
        chosen
            .map(PathBuf::from)
            .or_else(|| dirs::cache_dir().map(|cache| cache.join("zhiku").join("models")))
            .ok_or(ModelsError::NoFolder)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    pub(crate) fn folder(&self, entry: &Entry) -> PathBuf {
        self.root.join(&entry.id)
    }

    /// Where a file is, or would be.
    pub fn path(&self, entry: &Entry, file: &FileSpec) -> PathBuf {
        self.folder(entry).join(&file.name)
    }

    /// Every entry this platform can use, with its state. Reads sizes and stamps only.
    pub fn list(&self) -> Vec<EntryStatus<'_>> {
        self.manifest.usable().map(|entry| EntryStatus { entry, state: self.state(entry) }).collect()
    }

    /// The worst state of the entry's files, from sizes and stamps.
    pub fn state(&self, entry: &Entry) -> State {
        if entry.is_bundled() {
            return State::Verified;
        }
        entry.files.iter().map(|file| self.file_state(entry, file)).min().unwrap_or(State::Missing)
    }

    pub(crate) fn file_state(&self, entry: &Entry, file: &FileSpec) -> State {
        let path = self.path(entry, file);
        match std::fs::metadata(&path) {
            Err(_) => State::Missing,
            Ok(metadata) if !metadata.is_file() || metadata.len() != file.bytes => State::Damaged,
            Ok(_) if stamp::holds(&path, &file.sha256) => State::Verified,
            Ok(_) => State::Present,
        }
    }

    /// Hashes every file of the entry, whatever the stamps say.
    pub fn verify(&self, entry: &Entry, cancel: &CancellationToken) -> Result<State, ModelsError> {
        if entry.is_bundled() {
            return Ok(State::Verified);
        }
        let mut worst = State::Verified;
        for file in &entry.files {
            worst = worst.min(self.verify_file(entry, file, cancel)?);
        }
        Ok(worst)
    }

    pub(crate) fn verify_file(
        &self,
        entry: &Entry,
        file: &FileSpec,
        cancel: &CancellationToken,
    ) -> Result<State, ModelsError> {
        let quick = self.file_state(entry, file);
        if quick <= State::Damaged {
            return Ok(quick);
        }
        let path = self.path(entry, file);
        match stamp::sha256(&path, cancel) {
            Ok(sum) if sum == file.sha256 => {
                stamp::write(&path, &sum);
                Ok(State::Verified)
            }
            Ok(_) => {
                stamp::remove(&path);
                Ok(State::Damaged)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                Err(ModelsError::Cancelled { id: entry.id.clone() })
            }
            Err(error) => Err(ModelsError::io("read", &path, error)),
        }
    }

    /// The files of the preferred entry for a role, to be loaded now. Verified files are taken by their stamp, others are
    /// hashed first. Fails with `ModelMissing` or `ModelDamaged`.
    pub fn require(&self, role: Role) -> Result<ModelFiles, ModelError> {
        let entry = self.manifest.by_role(role)?;
        Ok(self.require_entry(entry)?)
    }

    /// [`Self::require`] for one entry. Bundled entries have no files.
    pub fn require_entry(&self, entry: &Entry) -> Result<ModelFiles, ModelsError> {
        let never = CancellationToken::new();
        for file in &entry.files {
            let mut state = self.file_state(entry, file);
            if state == State::Present {
                state = self.verify_file(entry, file, &never)?;
            }
            match state {
                State::Verified | State::Present => {}
                State::Missing => {
                    return Err(ModelsError::Missing { id: entry.id.clone(), file: file.name.clone() });
                }
                State::Damaged => return Err(self.damage(entry, file)),
            }
        }
        let names = entry.files.iter().map(|file| file.name.clone()).collect();
        Ok(ModelFiles { id: entry.id.clone(), folder: self.folder(entry), names })
    }

    fn damage(&self, entry: &Entry, file: &FileSpec) -> ModelsError {
        let path = self.path(entry, file);
        let found = stamp::sha256(&path, &CancellationToken::new()).unwrap_or_else(|error| error.to_string());
        ModelsError::WrongSum { what: path.display().to_string(), expected: file.sha256.clone(), found }
    }
}
