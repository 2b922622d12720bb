//! The shell: one window, the bridge to the engine, the `vault://` scheme and the loopback server for sound and video. Deliberately absent: anything that decides
//! about documents, questions or rights; that is the engine's. Start at [`run`], then [`ipc`].

mod app;
mod arguments;
pub mod ipc;
mod media;
mod meter;
mod opened;
mod protocol;
mod sample;
mod storage;

use tauri::{AppHandle, DragDropEvent, Manager, WebviewUrl, WebviewWindowBuilder, WindowEvent};
use tauri_specta::Event;

use app::App;
use arguments::Arguments;
use ipc::dto::DropHover;

/// Opens the window and runs until it is closed.
pub fn run() -> anyhow::Result<()> {
    log_to_stderr();
    let bridge = ipc::builder();
    tauri::Builder::default()
        .plugin(tauri_plugin_dialog::init())
        .manage(App::new(Arguments::read(std::env::args().skip(1))))
        .register_asynchronous_uri_scheme_protocol("vault", protocol::respond)
        .invoke_handler(bridge.invoke_handler())
        .on_window_event(|window, event| {
            if let WindowEvent::DragDrop(drop) = event {
                dragged(window.app_handle(), drop);
            }
        })
        .setup(move |app| {
            bridge.mount_events(app);
            WebviewWindowBuilder::new(app, "main", WebviewUrl::default())
                .title("知库 Zhiku")
                .inner_size(1280.0, 820.0)
                .min_inner_size(720.0, 480.0)
                // The page never leaves the application; addresses open in the browser, after a question.
                .on_navigation(|address| {
                    matches!(address.scheme(), "tauri")
                        || address.host_str() == Some("tauri.localhost")
                        || cfg!(dev)
                })
                .build()?;
            Ok(())
        })
        .run(tauri::generate_context!())?;
    Ok(())
}

/// Files over the window: the page only learns that something hovers; the paths stay here.
fn dragged(app: &AppHandle, event: &DragDropEvent) {
    let active = match event {
        DragDropEvent::Enter { paths, .. } => !paths.is_empty(),
        DragDropEvent::Over { .. } => return,
        DragDropEvent::Drop { paths, .. } => {
            tauri::async_runtime::spawn(ipc::drop_files(app.clone(), paths.clone()));
            false
        }
        _ => false,
    };
    if let Err(error) = (DropHover { active }).emit(app) {
        tracing::warn!(%error, "the window could not be told of a drag");
    }
}

/// Warnings and errors, or what `ZHIKU_LOG` says. Messages carry no content of documents and no secrets.
fn log_to_stderr() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("ZHIKU_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).try_init();
}
