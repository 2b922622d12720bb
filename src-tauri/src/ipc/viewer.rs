//! Searching passages and opening sources at their place.

use tauri::{AppHandle, Manager};
use zhiku_core::{BudgetLimits, DocumentKind, RunContext, SearchMode, SearchQuery, VersionNumber};
use zhiku_engine::SearchFilter;

use super::dto::{Locator, SearchResult, Sheet, SheetCells, Source, SourceUnit};
use super::error::IpcError;
use super::{blocking, id};
use crate::app::App;
use crate::opened;

/// The most hits of one search.
const MOST_HITS: u32 = 50;

#[tauri::command]
#[specta::specta]
pub(super) async fn search(app: AppHandle, query: String, limit: u32) -> Result<SearchResult, IpcError> {
    blocking(&app, move |session| {
        let query = SearchQuery { text: query, k: limit.min(MOST_HITS) as usize, mode: SearchMode::Rerank };
        let ctx = RunContext::new(BudgetLimits::default());
        let found = session.search(&query, &SearchFilter::default(), &ctx)?;
        Ok(SearchResult {
            hits: found.hits.into_iter().map(Into::into).collect(),
            took_ms: found.took_ms,
            degraded: found.route_degraded.into_iter().map(Into::into).collect(),
        })
    })
    .await
}

#[tauri::command]
#[specta::specta]
pub(super) async fn source_open(app: AppHandle, document: String, version: u32) -> Result<Source, IpcError> {
    let handle = app.clone();
    blocking(&app, move |session| {
        let view = session.source(id(&document, "document")?, VersionNumber(version))?;
        let size = session.original(view.document, view.version)?.bytes;
        let app = handle.state::<App>();
        let reference = app.media_ref(view.document, view.version);
        let media_url = match view.kind {
            DocumentKind::Audio | DocumentKind::Video => Some(app.media_url(&handle, &reference)?),
            _ => None,
        };
        let drawn_here = matches!(view.kind, DocumentKind::Pdf | DocumentKind::Image);
        Ok(Source {
            document,
            version,
            latest_version: view.published.map_or(version, |published| published.0.max(version)),
            title: view.title,
            kind: view.kind.into(),
            size_bytes: size as f64,
            warnings: view.warnings.into_iter().map(Into::into).collect(),
            media_ref: drawn_here.then_some(reference),
            media_url,
        })
    })
    .await
}

#[tauri::command]
#[specta::specta]
pub(super) async fn source_units(
    app: AppHandle,
    document: String,
    version: u32,
) -> Result<Vec<SourceUnit>, IpcError> {
    blocking(&app, move |session| {
        let view = session.source(id(&document, "document")?, VersionNumber(version))?;
        Ok(view.units.into_iter().map(Into::into).collect())
    })
    .await
}

/// Where some characters of a unit stand: on a page or picture with the boxes that cover exactly them, in a recording with
/// the time at which they are said, in a sheet with their cells.
#[tauri::command]
#[specta::specta]
pub(super) async fn source_place(
    app: AppHandle,
    unit_id: String,
    char_start: u32,
    char_end: u32,
) -> Result<Locator, IpcError> {
    blocking(&app, move |session| {
        Ok(session.place(id(&unit_id, "source")?, char_start, char_end)?.locator.into())
    })
    .await
}

/// The sheets of a spreadsheet; none when it can only be shown as text.
#[tauri::command]
#[specta::specta]
pub(super) async fn source_sheets(
    app: AppHandle,
    document: String,
    version: u32,
) -> Result<Vec<Sheet>, IpcError> {
    blocking(&app, move |session| {
        let sheets = session.sheets(id(&document, "document")?, VersionNumber(version))?;
        Ok(sheets.into_iter().map(Into::into).collect())
    })
    .await
}

/// The cells of one stretch of a sheet.
#[tauri::command]
#[specta::specta]
pub(super) async fn source_cells(app: AppHandle, unit_id: String) -> Result<SheetCells, IpcError> {
    blocking(&app, move |session| Ok(session.sheet_cells(id(&unit_id, "source")?)?.into())).await
}

/// Opens the original in the program that the system has for it.
#[tauri::command]
#[specta::specta]
pub(super) async fn source_open_original(
    app: AppHandle,
    document: String,
    version: u32,
) -> Result<(), IpcError> {
    blocking(&app, move |session| opened::open(session, id(&document, "document")?, VersionNumber(version)))
        .await
}
