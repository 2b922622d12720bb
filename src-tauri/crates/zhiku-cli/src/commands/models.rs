//! `models list|fetch|verify`.

use std::process::ExitCode;

use serde_json::{Value, json};
use zhiku_engine::{ModelEntry, ModelState};

use super::{Result, cancel_on_interrupt, engine};
use crate::args::{Global, ModelsCommand};
use crate::output::{Output, bar, remark};

pub(super) fn models(global: &Global, command: ModelsCommand, output: &Output) -> Result<ExitCode> {
    let engine = engine(global)?;
    let models = engine.models();
    let cancel = cancel_on_interrupt();
    let entries = match command {
        ModelsCommand::List => models.list(),
        ModelsCommand::Verify => models.verify(&cancel)?,
        ModelsCommand::Fetch { ids } => {
            let wanted = models
                .list()
                .into_iter()
                .filter(|entry| ids.is_empty() || ids.contains(&entry.id))
                .collect::<Vec<_>>();
            for entry in wanted.iter().filter(|entry| !entry.bundled) {
                let bar = bar();
                bar.set_message(entry.id.clone());
                let mut on_bytes = |done: u64, total: u64| {
                    bar.set_length(total);
                    bar.set_position(done);
                };
                models.fetch(&entry.id, &mut on_bytes, &cancel)?;
                bar.finish_and_clear();
                remark(&format!("{}: ready", entry.id));
            }
            models.list()
        }
    };
    let value = json!({ "dir": models.dir().to_string_lossy(), "models": entries.iter().map(row).collect::<Vec<_>>() });
    output.result(&value, || {
        let line = |entry: &ModelEntry| {
            format!(
                "{:<34} {:<10} {:>7.1} MB  {:<26} {}",
                entry.id,
                state(entry),
                entry.bytes as f64 / 1e6,
                entry.licence,
                entry.title
            )
        };
        entries.iter().map(line).collect::<Vec<_>>().join("\n")
    });
    let whole = entries.iter().all(|entry| matches!(entry.state, ModelState::Present | ModelState::Verified));
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn row(entry: &ModelEntry) -> Value {
    json!({
        "id": entry.id,
        "role": entry.role,
        "title": entry.title,
        "licence": entry.licence,
        "size": entry.bytes,
        "state": entry.state,
    })
}

fn state(entry: &ModelEntry) -> String {
    json!(entry.state).as_str().unwrap_or_default().to_owned()
}
