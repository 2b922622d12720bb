//! The bridge: thin commands over the engine's methods, one per user action. Every one runs off the main thread and asks the
//! session, which makes its scope anew, so a command never holds more rights than the person has now.
//!
//! Start at [`builder`]: it lists all commands and events and is what the bindings are generated from.

pub mod dto;
pub mod error;

mod ask;
mod library;
mod settings;
mod viewer;
mod work;

use std::str::FromStr;

use tauri::{AppHandle, Manager, Wry};
use tauri_specta::{Builder, ErrorHandlingMode, collect_commands, collect_events};
use zhiku_engine::Session;

pub(crate) use self::library::drop_files;
use crate::app::App;
use error::IpcError;

/// All commands and events of the window.
pub fn builder() -> Builder<Wry> {
    Builder::<Wry>::new()
        .error_handling(ErrorHandlingMode::Throw)
        // One type per DTO: nothing here is spelt differently on its way in and out.
        .disable_serde_phases()
        .typ::<IpcError>()
        .commands(collect_commands![
            settings::app_info,
            settings::settings_save,
            settings::models,
            settings::model_fetch,
            settings::model_fetch_cancel,
            settings::providers,
            settings::provider_presets,
            settings::provider_save,
            settings::provider_delete,
            settings::provider_test,
            settings::key_set,
            settings::key_delete,
            settings::storage,
            settings::storage_reveal,
            library::library_page,
            library::work_status,
            library::work_pause,
            library::work_cancel,
            library::work_retry_failed,
            library::import_chosen,
            library::document_retry,
            library::document_unlock,
            library::document_remove,
            work::import_settings,
            work::import_settings_save,
            work::watched_folders,
            work::watched_folder_add,
            work::watched_folder_ignore,
            work::watched_folder_remove,
            ask::conversations,
            ask::conversation_turns,
            ask::conversation_delete,
            ask::ask,
            ask::run_subscribe,
            ask::run_turn,
            ask::run_cancel,
            ask::link_open,
            viewer::search,
            viewer::source_open,
            viewer::source_units,
            viewer::source_place,
            viewer::source_sheets,
            viewer::source_cells,
            viewer::source_open_original,
        ])
        .events(collect_events![dto::Invalidated, dto::DropHover, dto::Imported])
}

/// Runs blocking work on a thread that may block, with the signed-in session.
pub(crate) async fn blocking<T: Send + 'static>(
    app: &AppHandle,
    work: impl FnOnce(&Session) -> Result<T, IpcError> + Send + 'static,
) -> Result<T, IpcError> {
    let app = app.clone();
    let done = tauri::async_runtime::spawn_blocking(move || {
        let session = app.state::<App>().session(&app)?;
        work(&session)
    });
    done.await.map_err(|error| IpcError::bug(format!("an action stopped unexpectedly: {error}")))?
}

/// Reads an id that came from the window; a malformed one is treated like one that does not exist.
pub(crate) fn id<T: FromStr>(text: &str, what: &str) -> Result<T, IpcError> {
    text.parse().map_err(|_| IpcError::not_found(what))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use specta_typescript::Typescript;

    /// The generated bindings are committed; this fails when they are stale. `ZHIKU_WRITE_BINDINGS=1` writes them anew.
    #[test]
    fn committed_bindings_match_the_commands() {
        let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/src/lib/ipc/bindings.ts");
        let dir = tempfile::tempdir().expect("a folder");
        let fresh = dir.path().join("bindings.ts");
        let target = if std::env::var_os("ZHIKU_WRITE_BINDINGS").is_some() { &committed } else { &fresh };
        super::builder().export(Typescript::default(), target).expect("the bindings can be generated");
        let read = |path: &Path| std::fs::read_to_string(path).expect("readable").replace("\r\n", "\n");
        assert!(read(target) == read(&committed), "stale: run `cargo xtask bindings`");
    }
}
