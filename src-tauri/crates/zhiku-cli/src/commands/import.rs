//! `parse`, `transcribe` and `import`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use serde_json::{Value, json};
use zhiku_core::{DocumentState, JobStage, Reason, Searchable};
use zhiku_engine::{ImportProgress, ImportedFile, RegisterOutcome, Session, VersionRef, awaits_password};

use super::password::Opener;
use super::{Result, cancel_on_interrupt, engine, owner};
use crate::args::Global;
use crate::output::{Output, bar, remark};

/// How long nothing may be heard of the queue before it is asked why.
const LOOK_FOR_HOLD_UP: Duration = Duration::from_secs(2);
/// Some files failed.
const DONE_IN_PART: u8 = 3;

pub(super) fn parse(
    global: &Global,
    file: &Path,
    password: Option<&str>,
    output: &Output,
) -> Result<ExitCode> {
    let report = engine(global)?.parse(file, password, &cancel_on_interrupt())?;
    let texts = || report.units.iter().map(|unit| unit.text.as_str()).collect::<Vec<_>>().join("\n\n");
    output.result(&json!(report), texts);
    Ok(ExitCode::SUCCESS)
}

pub(super) fn transcribe(global: &Global, file: &Path, output: &Output) -> Result<ExitCode> {
    let transcript = engine(global)?.transcribe(file, &cancel_on_interrupt())?;
    let lines = || {
        let line = |segment: &zhiku_engine::TranscriptSegment| {
            let seconds = segment.start_ms / 1000;
            format!("{:02}:{:02}:{:02}  {}", seconds / 3600, seconds / 60 % 60, seconds % 60, segment.text)
        };
        transcript.segments.iter().map(line).collect::<Vec<_>>().join("\n")
    };
    output.result(&json!(transcript), lines);
    Ok(ExitCode::SUCCESS)
}

pub(super) fn import(
    global: &Global,
    paths: &[PathBuf],
    lexical_only: bool,
    mut opener: Opener,
    output: &Output,
) -> Result<ExitCode> {
    let session = owner(global)?;
    let progress = session.watch_imports()?;
    let mut watched: HashMap<VersionRef, PathBuf> = HashMap::new();
    let mut failed = 0;
    let files = session.import(paths, &mut |file| {
        if let (true, Some(version)) = (file.queued, file.version) {
            watched.insert(version, file.path.clone());
        }
    })?;
    for file in &files {
        if file.refusal.is_some() {
            failed += 1;
        }
        output.line(&taken_in(file), || said_of(file));
    }
    if session.imports_paused() {
        remark("imports are paused; go on with `zhiku jobs resume`");
        return Ok(ended(failed));
    }
    let bar = bar();
    let mut open = watched.len();
    let mut told = None;
    while open > 0 {
        let step = match progress.recv_timeout(LOOK_FOR_HOLD_UP) {
            Ok(step) => step,
            Err(RecvTimeoutError::Timeout) => {
                tell_hold_up(&session, &mut told);
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let Some(path) = watched.get(&step.version) else { continue };
        if opener.open(&session, &step)? {
            continue;
        }
        output.line(&line(path, &step), || settled_text(path, &step));
        show(&bar, path, &step);
        let searchable = step.stage == JobStage::PublishLexical;
        if step.settled || (lexical_only && searchable) {
            open -= 1;
            failed += u32::from(step.state == DocumentState::Failed);
            watched.remove(&step.version);
        }
    }
    if !lexical_only {
        // What an earlier import left in the queue is finished as well: ending now would stop it.
        session.wait_for_imports();
    }
    bar.finish_and_clear();
    if !output.is_json() {
        let documents = session.list()?;
        let lexical =
            documents.iter().filter(|document| document.searchable == Some(Searchable::Lexical)).count();
        remark(&format!("{} documents in {}", documents.len(), session.vault_name()));
        if lexical > 0 {
            remark(&format!("{lexical} of them are found by words only, until their vectors are made"));
        }
    }
    Ok(ended(failed))
}

fn ended(n_failed: u32) -> ExitCode {
    if n_failed > 0 { ExitCode::from(DONE_IN_PART) } else { ExitCode::SUCCESS }
}

/// Says once why nothing goes on.
fn tell_hold_up(session: &Session, told: &mut Option<Reason>) {
    let reason = session.imports_held_up();
    if reason != *told {
        if let Some(reason) = &reason {
            remark(&format!("waiting: {}", reason_text(reason)));
        }
        *told = reason;
    }
}

fn taken_in(file: &ImportedFile) -> Value {
    let state = match (&file.refusal, file.queued) {
        (Some(_), _) => "failed",
        (None, true) => "queued",
        (None, false) => "published",
    };
    json!({
        "path": file.path.to_string_lossy(),
        "document": file.version.map(|version| version.document),
        "version": file.version.map(|version| version.version),
        "state": state,
        "stage": if file.queued { "parse" } else if file.refusal.is_some() { "detect" } else { "done" },
        "done": 0,
        "total": 0,
        "reason": file.refusal,
    })
}

fn said_of(file: &ImportedFile) -> Option<String> {
    let name = file.path.display();
    if let Some(reason) = &file.refusal {
        return Some(format!("refused    {name}: {}", reason_text(reason)));
    }
    match file.outcome {
        Some(RegisterOutcome::SameBytes) if !file.queued => Some(format!("unchanged  {name}")),
        _ => None,
    }
}

fn line(path: &Path, step: &ImportProgress) -> Value {
    json!({
        "path": path.to_string_lossy(),
        "document": step.version.document,
        "version": step.version.version,
        "state": step.state,
        "stage": step.stage,
        "done": step.done,
        "total": step.total,
        "reason": step.reason,
    })
}

fn settled_text(path: &Path, step: &ImportProgress) -> Option<String> {
    if !step.settled {
        return None;
    }
    let mut reason =
        step.reason.as_ref().map(|reason| format!(": {}", reason_text(reason))).unwrap_or_default();
    if step.reason.as_ref().is_some_and(awaits_password) {
        reason.push_str("; import it again with --password-stdin");
    }
    Some(format!("{:<10} {}{reason}", step.state.as_str(), path.display()))
}

fn reason_text(reason: &zhiku_core::Reason) -> String {
    let args =
        reason.args.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ");
    if args.is_empty() { reason.code.clone() } else { format!("{} ({args})", reason.code) }
}

fn show(bar: &indicatif::ProgressBar, path: &Path, step: &ImportProgress) {
    bar.set_length(u64::from(step.total));
    bar.set_position(u64::from(step.done));
    bar.set_message(format!(
        "{} {}",
        step.stage.as_str(),
        path.file_name().unwrap_or_default().to_string_lossy()
    ));
}
