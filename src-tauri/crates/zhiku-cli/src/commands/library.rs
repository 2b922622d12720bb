//! `list`, `show`, `versions`, `remove`, `verify-removed`.

use std::process::ExitCode;

use serde_json::{Value, json};
use zhiku_engine::{DocumentSummary, Receipt, VersionDetail};

use super::{Result, find_document, owner, reader};
use crate::args::Global;
use crate::output::Output;

pub(super) fn list(global: &Global, output: &Output) -> Result<ExitCode> {
    let documents = reader(global)?.list()?;
    let value = json!({ "documents": documents.iter().map(summary).collect::<Vec<_>>() });
    output.result(&value, || {
        if documents.is_empty() {
            return "no documents yet; bring some in with `zhiku import PATH`".to_owned();
        }
        let line = |d: &DocumentSummary| {
            let found_by = d.searchable.map_or("", |searchable| searchable.as_str());
            format!(
                "{}  v{}  {:<10} {:<7} {:>5} chunks  {}",
                d.document,
                d.newest,
                d.state.as_str(),
                found_by,
                d.n_chunks,
                d.title
            )
        };
        documents.iter().map(line).collect::<Vec<_>>().join("\n")
    });
    Ok(ExitCode::SUCCESS)
}

pub(super) fn show(global: &Global, document: &str, output: &Output) -> Result<ExitCode> {
    let session = reader(global)?;
    let detail = session.show(find_document(&session, document)?)?;
    let mut value = summary(&detail.summary);
    value["versions"] = detail.versions.iter().map(version).collect();
    value["paths"] = detail.source_paths.iter().map(|path| json!(path.to_string_lossy())).collect();
    output.result(&value, || pretty(&value));
    Ok(ExitCode::SUCCESS)
}

pub(super) fn versions(global: &Global, document: &str, output: &Output) -> Result<ExitCode> {
    let session = reader(global)?;
    let detail = session.show(find_document(&session, document)?)?;
    let value = json!({ "document": detail.summary.document, "versions": detail.versions.iter().map(version).collect::<Vec<_>>() });
    output.result(&value, || pretty(&value));
    Ok(ExitCode::SUCCESS)
}

pub(super) fn remove(global: &Global, document: &str, output: &Output) -> Result<ExitCode> {
    let session = owner(global)?;
    let receipt = session.remove(find_document(&session, document)?)?;
    print_receipt(&receipt, output);
    Ok(ExitCode::SUCCESS)
}

pub(super) fn verify_removed(global: &Global, document: &str, output: &Output) -> Result<ExitCode> {
    let session = owner(global)?;
    let id = document
        .parse()
        .map_err(|_| zhiku_engine::EngineError::invalid("verify-removed takes the document's id"))?;
    let receipt = session.verify_removed(id)?;
    print_receipt(&receipt, output);
    let clean = receipt.stores.iter().all(|store| store.found == 0);
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print_receipt(receipt: &Receipt, output: &Output) {
    output.result(&json!(receipt), || {
        let line = |store: &zhiku_engine::StoreReceipt| {
            format!("{:<16} found {:>6}  removed {:>6}", store.store, store.found, store.removed)
        };
        receipt.stores.iter().map(line).collect::<Vec<_>>().join("\n")
    });
}

fn summary(document: &DocumentSummary) -> Value {
    json!({
        "document": document.document,
        "title": document.title,
        "kind": document.kind,
        "version": document.newest,
        "published": document.published,
        "state": document.state,
        "searchable": document.searchable,
        "failure": document.failure,
        "progress": document.progress,
        "visibility": document.visibility,
        "units": document.n_units,
        "chunks": document.n_chunks,
        "warnings": document.n_warnings,
        "size": document.bytes,
        "source_missing": document.source_missing,
    })
}

fn version(version: &VersionDetail) -> Value {
    json!({
        "version": version.version,
        "sha256": hex(&version.hash),
        "state": version.state,
        "searchable": version.searchable,
        "failure": version.failure,
        "warnings": version.warnings,
        "units": version.n_units,
        "chunks": version.n_chunks,
        "vectors": version.n_vectors,
        "size": version.bytes,
        "change": version.change.map(|change| change.extent),
        "changed_units": version.change.map(|change| change.n_changed_units),
        "embedded": version.n_embedded,
        "reused": version.n_reused,
        "created_ms": version.created,
        "published_ms": version.published,
    })
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
