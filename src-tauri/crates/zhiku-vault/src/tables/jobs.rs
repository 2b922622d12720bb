//! The persistent job queue. Each job is in one lane; whoever works a lane claims from it, and passes the job on when its part
//! is done. A job that was running when the process ended waits again, in the lane where it was.

use rusqlite::{Connection, OptionalExtension, Row, Transaction, named_params, params};
use zhiku_core::{DocumentId, DocumentKind, Failure, JobId, JobStage, UtcMs, VersionNumber};

use super::queue::Urgency;
use super::versions;
use crate::clock::now_ms;
use crate::error::Result;
use crate::failpoint::failpoint;
use crate::principal::{Function, Scope};
use crate::records::{Job, JobKind, JobLane, JobState, Progress, VersionRef};
use crate::storage::row;
use crate::vault::Vault;
use crate::visibility::VISIBLE;

pub(super) const COLUMNS: &str =
    "SELECT j.job_id, d.document_id, v.number, j.kind, j.state, j.stage, j.done, j.total, j.attempts,
        j.failure, j.created_ms, j.priority, j.lane
    FROM jobs j JOIN versions v ON v.key = j.version_key JOIN documents d ON d.key = v.document_key";

impl Vault {
    /// Queues work on a version; one that is waiting or running already is returned as it is.
    pub fn enqueue_job(&self, scope: &Scope, version: VersionRef, kind: JobKind) -> Result<JobId> {
        self.enqueue_job_with(scope, version, kind, Urgency::InTurn)
    }

    /// [`Vault::enqueue_job`] for work that is not done in its turn.
    pub fn enqueue_job_with(
        &self,
        scope: &Scope,
        version: VersionRef,
        kind: JobKind,
        urgency: Urgency,
    ) -> Result<JobId> {
        self.require(scope, Function::Import)?;
        self.database().write(move |tx| {
            let found = versions::find_open(tx, version)?;
            enqueue_with(tx, found.key, kind, urgency)
        })
    }

    /// Takes the most urgent waiting jobs of a lane, of those the oldest: at least one, if there is one, and then more until
    /// they have `n_chunks` chunks together. A version that is not cut yet counts as one.
    pub fn claim_jobs(&self, lane: JobLane, n_chunks: u32) -> Result<Vec<Job>> {
        self.database().write(move |tx| {
            let mut waiting = tx.prepare_cached(
                "SELECT j.key, max(v.n_chunks, 1) FROM jobs j JOIN versions v ON v.key = j.version_key
                 WHERE j.state = 'queued' AND j.lane = ?1 ORDER BY j.priority, j.key LIMIT ?2",
            )?;
            let mut rows = waiting.query(params![row::to_name(lane)?, n_chunks.max(1)])?;
            let (mut keys, mut gathered) = (Vec::new(), 0_u32);
            while let Some(row) = rows.next()? {
                keys.push(row.get::<_, i64>(0)?);
                gathered = gathered.saturating_add(row.get(1)?);
                if gathered >= n_chunks {
                    break;
                }
            }
            keys.into_iter().map(|key| claim(tx, key)).collect()
        })
    }

    /// Whether jobs wait in a lane.
    pub fn has_waiting_jobs(&self, lane: JobLane) -> Result<bool> {
        self.database().read(|db| {
            let sql = "SELECT 1 FROM jobs WHERE state = 'queued' AND lane = ?1";
            Ok(db.prepare_cached(sql)?.exists([row::to_name(lane)?])?)
        })
    }

    /// Puts running jobs into the next lane, where they wait.
    pub fn pass_jobs(&self, jobs: &[JobId], lane: JobLane) -> Result<()> {
        let jobs = jobs.to_vec();
        let passed = self.database().write(move |tx| {
            let mut update = tx.prepare_cached(
                "UPDATE jobs SET state = 'queued', lane = ?2, updated_ms = ?3 WHERE job_id = ?1 AND state = 'running'",
            )?;
            for job in &jobs {
                update.execute(params![job.0.as_bytes(), row::to_name(lane)?, now_ms()])?;
            }
            Ok(())
        });
        failpoint("jobs_passed");
        passed
    }

    /// Puts what waits in one lane into another.
    pub fn move_lane(&self, from: JobLane, to: JobLane) -> Result<usize> {
        self.database().write(move |tx| move_lane(tx, from, to))
    }

    pub fn job_progress(&self, job: JobId, progress: Progress) -> Result<()> {
        self.database().write(move |tx| {
            tx.prepare_cached(
                "UPDATE jobs SET stage = ?2, done = ?3, total = ?4, updated_ms = ?5
                 WHERE job_id = ?1 AND state = 'running'",
            )?
            .execute(params![
                job.0.as_bytes(),
                progress.stage.as_str(),
                progress.done,
                progress.total,
                now_ms()
            ])?;
            Ok(())
        })
    }

    pub fn finish_job(&self, job: JobId) -> Result<()> {
        self.database().write(move |tx| {
            tx.execute(
                "UPDATE jobs SET state = 'done', stage = 'done', failure = NULL, updated_ms = ?2
                 WHERE job_id = ?1 AND state IN ('queued', 'running')",
                params![job.0.as_bytes(), now_ms()],
            )?;
            Ok(())
        })
    }

    /// Ends a job without success. A version that was not published yet fails with it; a published one stays.
    pub fn fail_job(&self, job: JobId, failure: &Failure) -> Result<()> {
        let failure = failure.clone();
        self.database().write(move |tx| {
            let changed = tx.execute(
                "UPDATE jobs SET state = 'failed', failure = ?2, updated_ms = ?3
                 WHERE job_id = ?1 AND state IN ('queued', 'running')",
                params![job.0.as_bytes(), row::to_json(&failure)?, now_ms()],
            )?;
            if changed == 0 {
                return Ok(());
            }
            let sql = "SELECT version_key FROM jobs WHERE job_id = ?1";
            let version_key: i64 = tx.query_row(sql, [job.0.as_bytes()], |row| row.get(0))?;
            fail_version(tx, version_key, &failure)
        })
    }

    /// Puts a running job back, for example because a model it needs is not there yet.
    pub fn requeue_job(&self, job: JobId) -> Result<()> {
        self.database().write(move |tx| {
            tx.execute(
                "UPDATE jobs SET state = 'queued', updated_ms = ?2 WHERE job_id = ?1 AND state = 'running'",
                params![job.0.as_bytes(), now_ms()],
            )?;
            Ok(())
        })
    }

    /// Whether a job was taken back while it ran: cancelled, or its document removed. Ask between steps.
    pub fn job_is_running(&self, job: JobId) -> Result<bool> {
        self.database().read(|db| {
            let sql = "SELECT 1 FROM jobs WHERE job_id = ?1 AND state = 'running'";
            Ok(db.prepare_cached(sql)?.exists([job.0.as_bytes()])?)
        })
    }

    /// Jobs on visible documents, newest first.
    pub fn jobs(&self, scope: &Scope) -> Result<Vec<Job>> {
        self.read(scope, |db| {
            let mut statement = db.prepare_cached(&format!(
                "{VISIBLE} {COLUMNS} JOIN visible ON visible.document_key = d.key ORDER BY j.key DESC"
            ))?;
            let rows = statement.query_map(named_params! {":profile": scope.profile()}, job)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }
}

pub(crate) fn enqueue(tx: &Transaction<'_>, version_key: i64, kind: JobKind) -> Result<JobId> {
    enqueue_with(tx, version_key, kind, Urgency::InTurn)
}

pub(crate) fn enqueue_with(
    tx: &Transaction<'_>,
    version_key: i64,
    kind: JobKind,
    urgency: Urgency,
) -> Result<JobId> {
    let sql = "SELECT job_id FROM jobs WHERE version_key = ?1 AND state IN ('queued', 'running')";
    let waiting = tx.query_row(sql, [version_key], |row| Ok(JobId(row::get_uuid(row, 0)?))).optional()?;
    if let Some(job) = waiting {
        return Ok(job);
    }
    let job = JobId::new();
    let (stage, lane) = match kind {
        JobKind::Import => (JobStage::Detect, JobLane::Text),
        JobKind::Embed => (JobStage::Embed, JobLane::Vectors),
    };
    tx.execute(
        "INSERT INTO jobs (job_id, version_key, kind, state, stage, created_ms, updated_ms, priority, lane)
         VALUES (?1, ?2, ?3, 'queued', ?4, ?5, ?5, ?6, ?7)",
        params![
            job.0.as_bytes(),
            version_key,
            row::to_name(kind)?,
            stage.as_str(),
            now_ms(),
            priority_of(tx, version_key)? + urgency.offset(),
            row::to_name(lane)?
        ],
    )?;
    Ok(job)
}

fn claim(tx: &Transaction<'_>, key: i64) -> Result<Job> {
    tx.prepare_cached(
        "UPDATE jobs SET state = 'running', attempts = attempts + 1, updated_ms = ?2 WHERE key = ?1",
    )?
    .execute(params![key, now_ms()])?;
    Ok(tx.prepare_cached(&format!("{COLUMNS} WHERE j.key = ?1"))?.query_row([key], job)?)
}

fn move_lane(tx: &Transaction<'_>, from: JobLane, to: JobLane) -> Result<usize> {
    let sql = "UPDATE jobs SET lane = ?2 WHERE lane = ?1 AND state = 'queued'";
    Ok(tx.execute(sql, params![row::to_name(from)?, row::to_name(to)?])?)
}

/// Text is useful at once and cheap; scans, sound and video follow in the order of what they cost. Lower goes first.
pub(super) fn priority_of(tx: &Transaction<'_>, version_key: i64) -> Result<i32> {
    let sql = "SELECT d.kind FROM versions v JOIN documents d ON d.key = v.document_key WHERE v.key = ?1";
    Ok(match tx.query_row(sql, [version_key], |row| row::get_name(row, 0))? {
        DocumentKind::Image => 1,
        DocumentKind::Audio => 2,
        DocumentKind::Video => 3,
        _ => 0,
    })
}

/// Ends the unfinished jobs of a version that nobody needs any more.
pub(crate) fn cancel_for_version(db: &Connection, version_key: i64) -> Result<()> {
    db.execute(
        "UPDATE jobs SET state = 'cancelled', updated_ms = ?2
         WHERE version_key = ?1 AND state IN ('queued', 'running')",
        params![version_key, now_ms()],
    )?;
    Ok(())
}

/// At an opening: what was running waits again, and what waited for a model finds out whether it is there now.
pub(crate) fn requeue_running(tx: &Transaction<'_>) -> Result<usize> {
    move_lane(tx, JobLane::AwaitsModel, JobLane::Vectors)?;
    Ok(tx.execute("UPDATE jobs SET state = 'queued', updated_ms = ?1 WHERE state = 'running'", [now_ms()])?)
}

pub(crate) fn fail_version(tx: &Transaction<'_>, version_key: i64, failure: &Failure) -> Result<()> {
    tx.execute(
        "UPDATE versions SET failure = ?2,
            state = CASE WHEN state IN ('published', 'superseded', 'deleted') THEN state ELSE 'failed' END
         WHERE key = ?1",
        params![version_key, row::to_json(failure)?],
    )?;
    Ok(())
}

pub(super) fn job(row: &Row<'_>) -> rusqlite::Result<Job> {
    Ok(Job {
        job_id: JobId(row::get_uuid(row, 0)?),
        version: VersionRef {
            document: DocumentId(row::get_uuid(row, 1)?),
            version: VersionNumber(row.get(2)?),
        },
        kind: row::get_name(row, 3)?,
        state: row::get_name::<JobState>(row, 4)?,
        progress: Progress { stage: row::get_name(row, 5)?, done: row.get(6)?, total: row.get(7)? },
        attempts: row.get(8)?,
        failure: row::get_opt_json(row, 9)?,
        created: UtcMs(row.get(10)?),
        priority: row.get(11)?,
        lane: row::get_name(row, 12)?,
    })
}
