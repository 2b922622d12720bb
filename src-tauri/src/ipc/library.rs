//! Documents: taking them in, listing, retrying, removing, and the work on them. What goes to the window is a page or a sum,
//! however many documents there are.

use std::path::{Path, PathBuf};

use tauri::{AppHandle, Manager};
use tauri_plugin_dialog::DialogExt;
use tauri_specta::Event;
use zhiku_engine::Session;

use super::dto::{
    DocumentRow, ImportChoice, ImportReceipt, Imported, LibraryPage, RejectedFile, Tag, WorkStatus,
};
use super::error::IpcError;
use super::{blocking, id};
use crate::app::{App, invalidate};
use crate::{opened, sample};

/// However many a window asks for.
const MOST_ROWS: u32 = 500;
/// Refused files that are named; the rest is counted.
const MOST_REJECTED: usize = 20;

/// A stretch of the library, newest first; `filter` is part of a title.
#[tauri::command]
#[specta::specta]
pub(super) async fn library_page(
    app: AppHandle,
    offset: u32,
    limit: u32,
    filter: String,
) -> Result<LibraryPage, IpcError> {
    blocking(&app, move |session| {
        let page = session.page(&filter, offset, limit.min(MOST_ROWS))?;
        let rows = page.documents.into_iter().map(DocumentRow::from).collect();
        Ok(LibraryPage { total: page.total, retryable: page.n_retryable, offset, rows })
    })
    .await
}

/// What the import queue does; nothing when it does nothing.
#[tauri::command]
#[specta::specta]
pub(super) async fn work_status(app: AppHandle) -> Result<Option<WorkStatus>, IpcError> {
    let handle = app.clone();
    blocking(&app, move |session| {
        let work = session.work()?;
        if work.n_open == 0 {
            return Ok(None);
        }
        let speed = handle.state::<App>().meter().speed();
        let (title, progress) = work.current.map(|current| (current.title, current.progress)).unzip();
        let (done, total) = progress.map_or((0, 0), |progress| (progress.done, progress.total));
        let left = f64::from(total.saturating_sub(done));
        Ok(Some(WorkStatus {
            files_left: work.n_open,
            current_title: title,
            stage: progress.map(|progress| progress.stage.into()),
            done,
            total,
            per_second: speed,
            // Of several files only the current one's length is known.
            seconds_left: speed
                .filter(|speed| work.n_open == 1 && *speed > 0.0 && left > 0.0)
                .map(|speed| left / speed),
            paused: session.imports_paused(),
            waits: session.imports_held_up().map(Into::into),
        }))
    })
    .await
}

#[tauri::command]
#[specta::specta]
pub(super) async fn work_pause(app: AppHandle, paused: bool) -> Result<(), IpcError> {
    blocking(&app, move |session| {
        if paused {
            session.pause_imports()?;
        } else {
            session.resume_imports()?;
        }
        Ok(())
    })
    .await
}

/// Takes one document's import back, or all that is under way.
#[tauri::command]
#[specta::specta]
pub(super) async fn work_cancel(app: AppHandle, document: Option<String>) -> Result<(), IpcError> {
    blocking(&app, move |session| {
        let document = document.map(|document| id(&document, "document")).transpose()?;
        session.cancel_imports(document)?;
        Ok(())
    })
    .await?;
    invalidate(&app, &[Tag::Library, Tag::Work]);
    Ok(())
}

/// Tries everything again that failed and may be tried again.
#[tauri::command]
#[specta::specta]
pub(super) async fn work_retry_failed(app: AppHandle) -> Result<(), IpcError> {
    blocking(&app, |session| {
        session.retry_failed()?;
        Ok(())
    })
    .await?;
    invalidate(&app, &[Tag::Library, Tag::Work]);
    Ok(())
}

/// Lets the person choose in the system's dialog, or takes the sample; nothing when nothing was chosen.
#[tauri::command]
#[specta::specta]
pub(super) async fn import_chosen(
    app: AppHandle,
    choice: ImportChoice,
) -> Result<Option<ImportReceipt>, IpcError> {
    let handle = app.clone();
    let receipt = blocking(&app, move |session| {
        let paths = match choice {
            ImportChoice::Files => handle.dialog().file().blocking_pick_files(),
            ImportChoice::Folder => handle.dialog().file().blocking_pick_folder().map(|folder| vec![folder]),
            ImportChoice::Sample => return import_paths(session, &sample::write(session)?).map(Some),
        };
        let Some(chosen) = paths else { return Ok(None) };
        let paths = chosen
            .into_iter()
            .map(|path| path.into_path().map_err(|error| IpcError::invalid(error.to_string())))
            .collect::<Result<Vec<_>, _>>()?;
        import_paths(session, &paths).map(Some)
    })
    .await?;
    invalidate(&app, &[Tag::Library, Tag::Work]);
    Ok(receipt)
}

/// Takes in files and folders; what could not be taken in is told by its name alone.
pub(crate) fn import_paths(session: &Session, paths: &[PathBuf]) -> Result<ImportReceipt, IpcError> {
    let files = session.import(paths, &mut |_| {})?;
    let mut receipt = ImportReceipt { accepted: 0, n_rejected: 0, rejected: Vec::new() };
    for file in files {
        let Some(reason) = file.refusal else {
            receipt.accepted += 1;
            continue;
        };
        receipt.n_rejected += 1;
        if receipt.rejected.len() < MOST_REJECTED {
            receipt.rejected.push(RejectedFile { name: name(&file.path), reason: reason.into() });
        }
    }
    Ok(receipt)
}

/// What the window does with dropped files. The paths stay on this side of the bridge.
pub(crate) async fn drop_files(app: AppHandle, paths: Vec<PathBuf>) {
    match blocking(&app, move |session| import_paths(session, &paths)).await {
        Ok(receipt) => {
            if let Err(error) = (Imported { receipt }).emit(&app) {
                tracing::warn!(%error, "the window could not be told of an import");
            }
        }
        Err(error) => tracing::error!(message = error.message, "dropped files could not be taken in"),
    }
    invalidate(&app, &[Tag::Library, Tag::Work]);
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[tauri::command]
#[specta::specta]
pub(super) async fn document_retry(app: AppHandle, document: String) -> Result<(), IpcError> {
    blocking(&app, move |session| Ok(session.retry(id(&document, "document")?)?)).await?;
    invalidate(&app, &[Tag::Library, Tag::Work]);
    Ok(())
}

/// Opens a document that waits for its password; whether it was right shows in the document's state.
#[tauri::command]
#[specta::specta]
pub(super) async fn document_unlock(
    app: AppHandle,
    document: String,
    password: String,
) -> Result<(), IpcError> {
    blocking(&app, move |session| Ok(session.unlock(id(&document, "document")?, password)?)).await?;
    invalidate(&app, &[Tag::Library, Tag::Work]);
    Ok(())
}

#[tauri::command]
#[specta::specta]
pub(super) async fn document_remove(app: AppHandle, document: String) -> Result<(), IpcError> {
    blocking(&app, move |session| {
        session.remove(id(&document, "document")?)?;
        opened::clear(session);
        Ok(())
    })
    .await?;
    invalidate(&app, &[Tag::Library, Tag::Work]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use zhiku_engine::{AccessMode, Engine, EngineConfig};

    use super::*;

    /// Dropped folders are walked, what cannot be taken in is told by name, and no path crosses the bridge.
    #[test]
    fn a_drop_takes_in_what_it_can_and_names_the_rest() {
        let dir = tempfile::tempdir().expect("a folder");
        let engine = Engine::open(EngineConfig::new(dir.path().join("home"), "test").expect("config"))
            .expect("engine");
        let principal = engine.sign_in(None).expect("a profile");
        let session = engine.open_vault(&principal, None, AccessMode::Owner).expect("a vault");
        session.pause_imports().expect("paused");
        let folder = dir.path().join("文件夹");
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(folder.join("notes.txt"), "防水材料用聚氨酯。").expect("written");
        std::fs::write(folder.join("empty.txt"), "").expect("written");

        let receipt = import_paths(&session, &[folder, dir.path().join("gone.pdf")]).expect("imported");

        let told = serde_json::to_string(&receipt).expect("json");
        assert!(
            receipt.accepted >= 1 && receipt.rejected.iter().any(|file| file.name == "gone.pdf"),
            "{told}"
        );
        assert!(!told.contains(&*dir.path().to_string_lossy()), "{told}");
        assert!(session.list().expect("a list").iter().any(|document| document.title.starts_with("notes")));
    }

    /// A folder full of what cannot be taken in does not fill the message to the window.
    #[test]
    fn many_refused_files_are_counted_and_some_named() {
        let dir = tempfile::tempdir().expect("a folder");
        let engine = Engine::open(EngineConfig::new(dir.path().join("home"), "test").expect("config"))
            .expect("engine");
        let principal = engine.sign_in(None).expect("a profile");
        let session = engine.open_vault(&principal, None, AccessMode::Owner).expect("a vault");
        session.pause_imports().expect("paused");
        let gone: Vec<PathBuf> = (0..300).map(|n| dir.path().join(format!("gone-{n}.pdf"))).collect();
        let receipt = import_paths(&session, &gone).expect("imported");
        assert_eq!((receipt.n_rejected, receipt.rejected.len()), (300, MOST_REJECTED));
    }
}
