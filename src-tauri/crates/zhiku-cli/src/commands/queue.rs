//! `jobs`, `governor` and `watch`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use zhiku_engine::{FolderLook, GovernorSettings, Job, Session};

use super::{Result, cancel_on_interrupt, engine, find_document, owner, reader};
use crate::args::{Global, GovernorArgs, JobsCommand, Switch, WatchCommand};
use crate::output::{Output, remark};

/// More would be unreadable; the summary counts all.
const MOST_JOBS: u32 = 200;
const MIB: u64 = 1024 * 1024;
/// How often `watch run` asks whether it was interrupted.
const TICK: Duration = Duration::from_millis(200);

pub(super) fn jobs(global: &Global, command: JobsCommand, output: &Output) -> Result<ExitCode> {
    let value = match command {
        JobsCommand::List => return list(&reader(global)?, output),
        JobsCommand::Pause => {
            owner(global)?.pause_imports()?;
            json!({ "paused": true })
        }
        JobsCommand::Resume => {
            let session = owner(global)?;
            session.resume_imports()?;
            session.wait_for_imports();
            json!({ "paused": false })
        }
        JobsCommand::Cancel { document } => {
            let session = owner(global)?;
            let document = document.map(|document| find_document(&session, &document)).transpose()?;
            json!({ "cancelled": session.cancel_imports(document)? })
        }
        JobsCommand::Retry { document } => {
            let session = owner(global)?;
            let queued = match document {
                Some(document) => session.retry(find_document(&session, &document)?).map(|()| 1)?,
                None => session.retry_failed()?,
            };
            if !session.imports_paused() {
                session.wait_for_imports();
            }
            json!({ "queued": queued })
        }
        JobsCommand::First { document } => {
            let session = owner(global)?;
            let document = find_document(&session, &document)?;
            session.do_first(&[document])?;
            json!({ "first": document })
        }
    };
    output.result(&value, || value.to_string());
    Ok(ExitCode::SUCCESS)
}

fn list(session: &Session, output: &Output) -> Result<ExitCode> {
    let (work, jobs) = (session.work()?, session.open_jobs(MOST_JOBS)?);
    let value = json!({
        "open": work.n_open,
        "paused": session.imports_paused(),
        "waits": session.imports_held_up(),
        "current": work.current.map(|current| json!({
            "document": current.document,
            "title": current.title,
            "progress": current.progress,
        })),
        "jobs": jobs.iter().map(job).collect::<Vec<_>>(),
    });
    output.result(&value, || {
        let line = |job: &Job| {
            let step = &job.progress;
            format!(
                "{}  v{}  {} {} / {}",
                job.version.document,
                job.version.version,
                step.stage.as_str(),
                step.done,
                step.total
            )
        };
        let lines = jobs.iter().map(line).collect::<Vec<_>>().join("\n");
        format!("{} open{}\n{lines}", work.n_open, if session.imports_paused() { ", paused" } else { "" })
    });
    Ok(ExitCode::SUCCESS)
}

fn job(job: &Job) -> Value {
    json!({
        "job": job.job_id,
        "document": job.version.document,
        "version": job.version.version,
        "kind": job.kind,
        "lane": job.lane,
        "state": job.state,
        "stage": job.progress.stage,
        "done": job.progress.done,
        "total": job.progress.total,
        "attempts": job.attempts,
        "priority": job.priority,
    })
}

pub(super) fn governor(global: &Global, wanted: &GovernorArgs, output: &Output) -> Result<ExitCode> {
    let engine = engine(global)?;
    let before = engine.governor()?;
    let settings = applied(before, wanted);
    if settings != before {
        engine.set_governor(settings)?;
    }
    let value = json!({
        "threads": settings.threads,
        "keep_usable": settings.keep_usable,
        "memory_ceiling_mb": settings.memory_ceiling.map(|bytes| bytes / MIB),
        "disk_reserve_mb": settings.disk_reserve / MIB,
    });
    output.result(&value, || value.to_string());
    Ok(ExitCode::SUCCESS)
}

fn applied(settings: GovernorSettings, wanted: &GovernorArgs) -> GovernorSettings {
    GovernorSettings {
        threads: wanted.threads.map_or(settings.threads, NonZeroUsize::new),
        keep_usable: wanted.keep_usable.map_or(settings.keep_usable, |switch| matches!(switch, Switch::On)),
        memory_ceiling: match wanted.memory_ceiling_mb {
            None => settings.memory_ceiling,
            Some(0) => None,
            Some(megabytes) => Some(megabytes.saturating_mul(MIB)),
        },
        disk_reserve: wanted
            .disk_reserve_mb
            .map_or(settings.disk_reserve, |megabytes| megabytes.saturating_mul(MIB)),
    }
}

pub(super) fn watch(global: &Global, command: WatchCommand, output: &Output) -> Result<ExitCode> {
    match command {
        WatchCommand::List => {
            let folders = reader(global)?.watched_folders()?;
            let value = json!({ "folders": folders.iter().map(|folder| json!({
                "path": folder.path.to_string_lossy(), "ignore": folder.ignore, "added_ms": folder.added,
            })).collect::<Vec<_>>() });
            output.result(&value, || {
                folders.iter().map(|folder| folder.path.display().to_string()).collect::<Vec<_>>().join("\n")
            });
        }
        WatchCommand::Add { folder, ignore } => {
            let session = owner(global)?;
            session.watch_folder(&folder, &ignore)?;
            look(&session, output)?;
        }
        WatchCommand::Remove { folder } => {
            owner(global)?.unwatch_folder(&folder)?;
            output.result(&json!({ "removed": folder.to_string_lossy() }), || folder.display().to_string());
        }
        WatchCommand::Check => look(&owner(global)?, output)?,
        WatchCommand::Run => run(&owner(global)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Looks at each folder, and waits until what came in is processed.
fn look(session: &Session, output: &Output) -> Result<()> {
    let looks = session.look_at_folders()?;
    if !session.imports_paused() {
        session.wait_for_imports();
    }
    let value = json!({ "folders": looks.iter().map(said_of).collect::<Vec<_>>() });
    output.result(&value, || value.to_string());
    Ok(())
}

fn said_of((path, look): &(PathBuf, FolderLook)) -> Value {
    json!({
        "path": path.to_string_lossy(),
        "missing": look.is_missing,
        "queued": look.n_queued,
        "moved": look.n_moved,
        "gone": look.n_gone,
        "refused": look.n_refused,
        "being_written": look.n_unsettled,
    })
}

fn run(session: &Session) -> Result<()> {
    let cancel = cancel_on_interrupt();
    session.start_watching()?;
    remark("watching; end with Ctrl-C");
    while !cancel.is_cancelled() {
        std::thread::sleep(TICK);
    }
    Ok(())
}

pub(super) fn remove_place(
    session: &Session,
    document: &str,
    place: &Path,
    output: &Output,
) -> Result<ExitCode> {
    session.remove_source(find_document(session, document)?, place)?;
    let value = json!({ "removed": place.to_string_lossy() });
    output.result(&value, || place.display().to_string());
    Ok(ExitCode::SUCCESS)
}
