//! How imports work: what they may use of the machine, and the folders that are watched. The window learns a folder's name and
//! an opaque id, not where it is.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use tauri::AppHandle;
use tauri_plugin_dialog::DialogExt;
use zhiku_engine::{GovernorSettings, Session};

use super::blocking;
use super::dto::{ImportSettings, Tag, WatchedFolder};
use super::error::IpcError;
use crate::app::invalidate;

#[tauri::command]
#[specta::specta]
pub(super) async fn import_settings(app: AppHandle) -> Result<ImportSettings, IpcError> {
    blocking(&app, |session| {
        let settings = session.engine().governor()?;
        let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Ok(ImportSettings {
            threads: settings.threads.map(|threads| threads.get() as u32),
            processors: processors as u32,
            keep_usable: settings.keep_usable,
        })
    })
    .await
}

/// What the window does not show (ceiling of memory, reserve of disk) stays as it was.
#[tauri::command]
#[specta::specta]
pub(super) async fn import_settings_save(
    app: AppHandle,
    threads: Option<u32>,
    keep_usable: bool,
) -> Result<(), IpcError> {
    blocking(&app, move |session| {
        let threads = threads.and_then(|threads| NonZeroUsize::new(threads as usize));
        let settings = GovernorSettings { threads, keep_usable, ..session.engine().governor()? };
        Ok(session.engine().set_governor(settings)?)
    })
    .await
}

#[tauri::command]
#[specta::specta]
pub(super) async fn watched_folders(app: AppHandle) -> Result<Vec<WatchedFolder>, IpcError> {
    blocking(&app, |session| {
        let folders = session.watched_folders()?.into_iter().map(|folder| WatchedFolder {
            id: id_of(&folder.path),
            name: name_of(&folder.path),
            present: folder.path.is_dir(),
            ignore: folder.ignore,
        });
        Ok(folders.collect())
    })
    .await
}

/// Lets the person choose a folder in the system's dialog; says whether one was chosen.
#[tauri::command]
#[specta::specta]
pub(super) async fn watched_folder_add(app: AppHandle) -> Result<bool, IpcError> {
    let handle = app.clone();
    let added = blocking(&app, move |session| {
        let Some(chosen) = handle.dialog().file().blocking_pick_folder() else { return Ok(false) };
        let folder = chosen.into_path().map_err(|error| IpcError::invalid(error.to_string()))?;
        session.watch_folder(&folder, &[])?;
        Ok(true)
    })
    .await?;
    invalidate(&app, &[Tag::Folders]);
    Ok(added)
}

#[tauri::command]
#[specta::specta]
pub(super) async fn watched_folder_ignore(
    app: AppHandle,
    folder: String,
    ignore: Vec<String>,
) -> Result<(), IpcError> {
    blocking(&app, move |session| Ok(session.watch_folder(&path_of(session, &folder)?, &ignore)?)).await?;
    invalidate(&app, &[Tag::Folders]);
    Ok(())
}

#[tauri::command]
#[specta::specta]
pub(super) async fn watched_folder_remove(app: AppHandle, folder: String) -> Result<(), IpcError> {
    blocking(&app, move |session| Ok(session.unwatch_folder(&path_of(session, &folder)?)?)).await?;
    invalidate(&app, &[Tag::Folders]);
    Ok(())
}

fn path_of(session: &Session, id: &str) -> Result<PathBuf, IpcError> {
    let folders = session.watched_folders()?.into_iter().map(|folder| folder.path);
    folders
        .into_iter()
        .find(|path| id_of(path) == id)
        .ok_or_else(|| IpcError::not_found("the watched folder"))
}

/// The same folder has the same id while the program runs; where it is cannot be told from it.
fn id_of(path: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy()).into_owned()
}

#[cfg(test)]
mod tests {
    use zhiku_engine::{AccessMode, Engine, EngineConfig};

    use super::*;

    #[test]
    fn the_window_names_a_watched_folder_without_knowing_where_it_is() {
        let dir = tempfile::tempdir().expect("a folder");
        let engine = Engine::open(EngineConfig::new(dir.path().join("home"), "test").expect("config"))
            .expect("engine");
        let principal = engine.sign_in(None).expect("a profile");
        let session = engine.open_vault(&principal, None, AccessMode::Owner).expect("a vault");
        let folder = dir.path().join("合同");
        std::fs::create_dir(&folder).expect("a folder");
        session.watch_folder(&folder, &["*.log".to_owned()]).expect("watched");

        let watched = session.watched_folders().expect("folders");
        let id = id_of(&watched[0].path);
        assert_eq!(name_of(&watched[0].path), "合同");
        assert!(!id.contains('/') && path_of(&session, &id).expect("known") == watched[0].path);
        assert!(path_of(&session, "other").is_err());
        session.unwatch_folder(&watched[0].path).expect("unwatched");
        assert!(path_of(&session, &id).is_err());
    }
}
