//! Settings, models, providers, storage. Keys go in; what comes out is whether one is stored.

use tauri::{AppHandle, Manager};
use zhiku_engine::{ModelState as StoredState, PRESETS, ProviderConfig, Secret};

use super::blocking;
use super::dto::{
    AppInfo, ModelRow, ModelState, ProviderDraft, ProviderPreset, ProviderRow, ProviderTest, Reason,
    StorageRow, Tag, WindowSettings,
};
use super::error::IpcError;
use crate::app::{App, invalidate};
use crate::storage;

#[tauri::command]
#[specta::specta]
pub(super) async fn app_info(app: AppHandle) -> Result<AppInfo, IpcError> {
    blocking(&app, |session| {
        let settings = match session.engine().ui_setting()? {
            None => WindowSettings::default(),
            Some(stored) => WindowSettings::from_stored(stored),
        };
        let missing = session.engine().models().list().into_iter().filter(|model| !usable(model.state));
        let degraded = missing.map(|model| {
            zhiku_core::Reason::new("model_unavailable")
                .with("role", model.role)
                .with("name", model.title)
                .into()
        });
        Ok(AppInfo {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            vault_name: session.vault_name().to_owned(),
            profile_name: session.principal().name().to_owned(),
            settings,
            degraded: degraded.collect::<Vec<Reason>>(),
        })
    })
    .await
}

fn usable(state: StoredState) -> bool {
    matches!(state, StoredState::Present | StoredState::Verified)
}

#[tauri::command]
#[specta::specta]
pub(super) async fn settings_save(app: AppHandle, settings: WindowSettings) -> Result<(), IpcError> {
    blocking(&app, move |session| {
        let value = serde_json::to_value(settings).map_err(|error| IpcError::bug(error.to_string()))?;
        Ok(session.engine().set_ui_setting(value)?)
    })
    .await
}

#[tauri::command]
#[specta::specta]
pub(super) async fn models(app: AppHandle) -> Result<Vec<ModelRow>, IpcError> {
    let handle = app.clone();
    blocking(&app, move |session| {
        let fetching = handle.state::<App>().fetching();
        let entries = session.engine().models().list().into_iter().filter(|entry| !entry.bundled);
        let rows = entries.map(|entry| {
            let under_way = fetching.get(&entry.id).copied();
            ModelRow {
                role: entry.role.to_owned(),
                name: entry.title,
                size_bytes: entry.bytes as f64,
                licence: entry.licence,
                state: match (under_way, entry.state) {
                    (Some(_), _) => ModelState::Fetching,
                    (None, StoredState::Missing) => ModelState::Missing,
                    (None, StoredState::Damaged) => ModelState::Damaged,
                    (None, StoredState::Present | StoredState::Verified) => ModelState::Installed,
                },
                done_bytes: under_way.unwrap_or(0) as f64,
                id: entry.id,
            }
        });
        Ok(rows.collect())
    })
    .await
}

/// Fetches a model; progress shows in `models`. Answers when it is there and whole.
#[tauri::command]
#[specta::specta]
pub(super) async fn model_fetch(app: AppHandle, model: String) -> Result<(), IpcError> {
    let handle = app.clone();
    blocking(&app, move |session| {
        let state = handle.state::<App>();
        let Some(fetch) = state.begin_fetch(&model) else { return Ok(()) };
        invalidate(&handle, &[Tag::Models]);
        let mut told = 0;
        let result = session.engine().models().fetch(
            &model,
            &mut |done, total| {
                fetch.progress(done);
                // A hundred steps are enough for a bar.
                if done >= total || done.saturating_sub(told) > total / 100 {
                    told = done;
                    invalidate(&handle, &[Tag::Models]);
                }
            },
            fetch.cancel(),
        );
        drop(fetch);
        session.models_changed();
        invalidate(&handle, &[Tag::Models, Tag::Settings, Tag::Library, Tag::Work]);
        Ok(result?)
    })
    .await
}

/// Stops a fetch; `model_fetch` then fails with `cancelled`.
#[tauri::command]
#[specta::specta]
pub(super) async fn model_fetch_cancel(app: AppHandle, model: String) -> Result<(), IpcError> {
    app.state::<App>().cancel_fetch(&model);
    Ok(())
}

#[tauri::command]
#[specta::specta]
pub(super) async fn providers(app: AppHandle) -> Result<Vec<ProviderRow>, IpcError> {
    blocking(&app, |session| {
        let rows = session.engine().providers()?.into_iter().map(|status| ProviderRow {
            name: provider_name(&status.config.id),
            id: status.config.id,
            kind: status.config.kind.into(),
            base_url: status.config.base_url,
            model: status.config.model,
            key: status.key.into(),
        });
        Ok(rows.collect())
    })
    .await
}

fn provider_name(id: &str) -> String {
    PRESETS.iter().find(|preset| preset.id == id).map_or(id, |preset| preset.label).to_owned()
}

#[tauri::command]
#[specta::specta]
pub(super) async fn provider_presets() -> Result<Vec<ProviderPreset>, IpcError> {
    let presets = PRESETS.iter().map(|preset| ProviderPreset {
        id: preset.id.to_owned(),
        name: preset.label.to_owned(),
        kind: preset.kind.into(),
        base_url: preset.base_url.to_owned(),
        model: preset.model.to_owned(),
    });
    Ok(presets.collect())
}

/// Stores an endpoint without touching its key; what the window does not show (certificates, time limits) stays as it was.
#[tauri::command]
#[specta::specta]
pub(super) async fn provider_save(app: AppHandle, draft: ProviderDraft) -> Result<(), IpcError> {
    blocking(&app, move |session| {
        let known = session.engine().providers()?.into_iter().find(|status| status.config.id == draft.id);
        let config = ProviderConfig::new(draft.id, draft.kind.into(), draft.base_url, draft.model);
        let config = match known {
            None => config,
            Some(status) => ProviderConfig {
                ca_file: status.config.ca_file,
                transport: status.config.transport,
                timeouts: status.config.timeouts,
                ..config
            },
        };
        Ok(session.engine().set_provider(config, None)?)
    })
    .await?;
    invalidate(&app, &[Tag::Providers]);
    Ok(())
}

#[tauri::command]
#[specta::specta]
pub(super) async fn provider_delete(app: AppHandle, provider: String) -> Result<(), IpcError> {
    blocking(&app, move |session| Ok(session.engine().remove_provider(&provider)?)).await?;
    invalidate(&app, &[Tag::Providers]);
    Ok(())
}

#[tauri::command]
#[specta::specta]
pub(super) async fn provider_test(app: AppHandle, provider: String) -> Result<ProviderTest, IpcError> {
    blocking(&app, move |session| {
        let report = session.engine().test_provider(&provider)?;
        Ok(ProviderTest { took_ms: report.elapsed_ms as f64, model: report.model })
    })
    .await
}

/// Puts a key into the system's keychain. There is no command that reads one.
#[tauri::command]
#[specta::specta]
pub(super) async fn key_set(app: AppHandle, provider: String, key: String) -> Result<(), IpcError> {
    let key = Secret::new(key);
    blocking(&app, move |session| {
        let known = session.engine().providers()?.into_iter().find(|status| status.config.id == provider);
        let status = known.ok_or_else(|| IpcError::not_found("provider"))?;
        Ok(session.engine().set_provider(status.config, Some(key))?)
    })
    .await?;
    invalidate(&app, &[Tag::Providers]);
    Ok(())
}

#[tauri::command]
#[specta::specta]
pub(super) async fn key_delete(app: AppHandle, provider: String) -> Result<(), IpcError> {
    blocking(&app, move |session| Ok(session.engine().delete_key(&provider)?)).await?;
    invalidate(&app, &[Tag::Providers]);
    Ok(())
}

#[tauri::command]
#[specta::specta]
pub(super) async fn storage(app: AppHandle) -> Result<Vec<StorageRow>, IpcError> {
    blocking(&app, |session| Ok(storage::sizes(session.engine()))).await
}

/// Shows the application's folder in the system's file manager; the window never learns its path.
#[tauri::command]
#[specta::specta]
pub(super) async fn storage_reveal(app: AppHandle) -> Result<(), IpcError> {
    blocking(&app, |session| {
        open::that_detached(session.engine().home_dir())
            .map_err(|error| IpcError::environment("show the folder", &error))
    })
    .await
}
