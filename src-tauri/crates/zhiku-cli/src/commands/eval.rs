//! `eval retrieval|pages|answers`.

use std::process::ExitCode;

use serde_json::{Value, json};
use zhiku_core::RunContext;
use zhiku_engine::{EngineError, PageSet, RetrievalSet};

use super::{Result, engine, writer};
use crate::args::{EvalCommand, Global};
use crate::output::Output;

pub(super) fn eval(global: &Global, command: EvalCommand, output: &Output) -> Result<ExitCode> {
    // An interrupt ends the process at once: what was embedded is stored and not made again.
    let ctx = RunContext::background();
    let value = match command {
        EvalCommand::Retrieval { beir, queries, extra, mode, limit } => {
            let engine = engine(global)?;
            let principal = engine.sign_in(global.as_profile.as_deref())?;
            let set = RetrievalSet { beir, queries, extra, mode: mode.into(), limit };
            json!(engine.evaluate_retrieval(&principal, &set, &ctx)?)
        }
        EvalCommand::Pages { pdf, questions, k } => {
            if k == 0 {
                return Err(EngineError::invalid("-k counts from 1"));
            }
            let engine = engine(global)?;
            let principal = engine.sign_in(global.as_profile.as_deref())?;
            let mut report = json!(engine.evaluate_pages(&principal, &PageSet { pdf, questions }, &ctx)?);
            drop_beyond(&mut report, k);
            report
        }
        EvalCommand::Answers { questions } => json!(writer(global)?.evaluate_answers(&questions)?),
    };
    output.result(&value, || serde_json::to_string_pretty(&value).unwrap_or_default());
    Ok(ExitCode::SUCCESS)
}

/// Leaves out the hit rates that were not asked for.
fn drop_beyond(report: &mut Value, k: usize) {
    if let Some(fields) = report.as_object_mut() {
        fields.retain(|name, _| {
            name.strip_prefix("hit@").and_then(|n| n.parse::<usize>().ok()).is_none_or(|n| n <= k)
        });
    }
}
