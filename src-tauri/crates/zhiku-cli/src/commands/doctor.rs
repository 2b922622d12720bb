//! `doctor`: 1 when something needed is missing.

use std::process::ExitCode;

use serde_json::json;
use zhiku_engine::CheckState;

use super::{Result, engine};
use crate::args::Global;
use crate::output::Output;

pub(super) fn doctor(global: &Global, output: &Output) -> Result<ExitCode> {
    let diagnosis = engine(global)?.diagnose();
    output.result(&json!(diagnosis), || {
        let lines = diagnosis.checks.iter().map(|check| {
            let mark = match check.state {
                CheckState::Ok => "ok      ",
                CheckState::Degraded => "degraded",
                CheckState::Missing => "missing ",
            };
            let hint = check.hint.as_deref().map(|hint| format!("\n           → {hint}")).unwrap_or_default();
            format!("{mark}  {:<22} {}{hint}", check.name, check.detail)
        });
        std::iter::once(format!("zhiku {}", diagnosis.version)).chain(lines).collect::<Vec<_>>().join("\n")
    });
    Ok(if diagnosis.is_complete() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
