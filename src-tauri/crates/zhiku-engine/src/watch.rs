//! Watched folders: what is in them is taken in by itself, as it comes and changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use zhiku_core::DocumentId;
use zhiku_ingest::{FolderLook, FolderWatch, IgnoreRules, look_at_folder};
use zhiku_vault::WatchedFolder;

use crate::engine::lock;
use crate::error::{EngineError, Result};
use crate::session::Session;

impl Session {
    /// The folders that the principal watches.
    pub fn watched_folders(&self) -> Result<Vec<WatchedFolder>> {
        Ok(self.vault().watched_folders(&self.scope()?)?)
    }

    /// Watches a folder, or changes what is left out of it: patterns as in `.gitignore`.
    pub fn watch_folder(&self, folder: &Path, ignore: &[String]) -> Result<()> {
        let folder = std::fs::canonicalize(folder).map_err(|error| {
            EngineError::invalid(format!("could not watch {}: {error}", folder.display()))
                .with_hint("name a folder that is there and can be read")
        })?;
        if !folder.is_dir() {
            return Err(EngineError::invalid(format!(
                "could not watch {}: it is no folder",
                folder.display()
            )));
        }
        if folder.starts_with(self.vault().dir()) {
            return Err(EngineError::invalid("could not watch the vault's own folder"));
        }
        IgnoreRules::with_patterns(&folder, ignore).map_err(|error| {
            EngineError::invalid(error.to_string()).with_hint("write it as in .gitignore")
        })?;
        self.vault().watch_folder(&self.scope()?, &folder, ignore)?;
        self.folders_changed();
        Ok(())
    }

    /// Watches a folder no more; its documents stay.
    pub fn unwatch_folder(&self, folder: &Path) -> Result<()> {
        let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        self.vault().unwatch_folder(&self.scope()?, &folder)?;
        self.folders_changed();
        Ok(())
    }

    /// Watches from now on, until the vault is closed. Again changes nothing.
    pub fn start_watching(&self) -> Result<()> {
        let pipeline = self.pipeline()?;
        let mut watch = lock(&self.open.watch);
        if watch.is_none() {
            let (vault, principal) = (self.vault().clone(), self.principal().clone());
            let scope = {
                let vault = vault.clone();
                Arc::new(move || vault.scope(&principal))
            };
            let started = FolderWatch::start(vault, scope, pipeline.waker());
            *watch =
                Some(started.map_err(|error| {
                    EngineError::bug(format!("could not start watching folders: {error}"))
                })?);
        }
        Ok(())
    }

    /// Looks at each watched folder once.
    pub fn look_at_folders(&self) -> Result<Vec<(PathBuf, FolderLook)>> {
        let scope = self.scope()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64);
        let mut looks = Vec::new();
        for folder in self.watched_folders()? {
            looks.push((folder.path.clone(), look_at_folder(self.vault(), &scope, &folder, now)?));
        }
        self.pipeline()?.wake();
        Ok(looks)
    }

    /// Forgets one of several places of a document; the others keep it.
    pub fn remove_source(&self, document: DocumentId, path: &Path) -> Result<()> {
        Ok(self.vault().remove_source(&self.scope()?, document, path)?)
    }

    fn folders_changed(&self) {
        if let Some(watch) = lock(&self.open.watch).as_ref() {
            watch.folders_changed();
        }
    }
}
