//! What the lanes share: who takes which job when, and what stands still. How a job ends and what is told of it is in
//! `job_end.rs`, the queue itself in the vault.

use std::sync::mpsc::Sender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use zhiku_vault::{Job, JobLane, Vault, VaultError};

use crate::governor::{GovernorSettings, HoldUp, Verdict, decide};
use crate::lanes::{LANES, Lane, LaneState};
use crate::passwords::Passwords;
use crate::pipeline::{ModelSources, PipelineConfig};
use crate::progress::ImportProgress;

/// How long a lane that is held up waits before it looks at the machine again.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// After a write that found no room: the reading of the machine may say otherwise, as where there is a quota.
const AFTER_FULL: Duration = Duration::from_secs(5);

pub(crate) struct Shared {
    pub(crate) vault: Vault,
    pub(crate) config: PipelineConfig,
    pub(crate) models: ModelSources,
    pub(crate) passwords: Passwords,
    /// Ends whatever runs now; set once, when the pipeline stops.
    pub(crate) stop: CancellationToken,
    state: Mutex<LaneState>,
    changed: Condvar,
    pub(crate) watchers: Mutex<Vec<Sender<ImportProgress>>>,
}

impl Shared {
    pub(crate) fn new(vault: Vault, config: PipelineConfig, models: ModelSources) -> Self {
        let paused = vault.imports_paused().unwrap_or_else(|error| {
            tracing::error!(%error, "could not read whether imports are paused");
            false
        });
        let mut state = LaneState::default();
        (state.paused, state.governor) = (paused, config.governor);
        state.sign(&LANES);
        Self {
            vault,
            config,
            models,
            passwords: Passwords::default(),
            stop: CancellationToken::new(),
            state: Mutex::new(state),
            changed: Condvar::new(),
            watchers: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, LaneState> {
        lock(&self.state)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, LaneState>) -> MutexGuard<'a, LaneState> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn wake(&self) {
        self.state().sign(&LANES);
        self.changed.notify_all();
    }

    pub(crate) fn set_paused(&self, paused: bool) {
        self.state().paused = paused;
        self.changed.notify_all();
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.state().paused
    }

    pub(crate) fn set_governor(&self, governor: GovernorSettings) {
        self.state().governor = governor;
        self.changed.notify_all();
    }

    pub(crate) fn stop(&self) {
        self.stop.cancel();
        // Under the lock, so that no lane is between its look and its wait.
        drop(self.state());
        self.changed.notify_all();
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.state().is_idle()
    }

    pub(crate) fn wait_until_idle(&self) {
        let mut state = self.state();
        while !state.is_idle() {
            state = self.wait(state);
        }
    }

    pub(crate) fn watch(&self, watcher: Sender<ImportProgress>) {
        lock(&self.watchers).push(watcher);
    }

    pub(crate) fn held_up(&self) -> Option<HoldUp> {
        self.state().held_up()
    }

    /// Whether there is too little room on the disk to take anything in.
    pub(crate) fn disk_is_full(&self) -> bool {
        let verdict = decide(&self.state().governor, &(self.config.machine)(), Duration::ZERO, 0);
        verdict == Verdict::Wait(HoldUp::DiskFull)
    }

    /// The next jobs of a lane, about `n_chunks` chunks of them; waits for them. `None` when the lane must end. Whenever it
    /// is about to wait, `idle` is called first, for work that was put off.
    pub(crate) fn next_jobs(&self, lane: JobLane, n_chunks: u32, mut idle: impl FnMut()) -> Option<Vec<Job>> {
        self.state().lane(lane).working = false;
        loop {
            let signs = self.state().queue_signs;
            if self.is_stopped() {
                return None;
            }
            let waiting = self.vault.has_waiting_jobs(lane).unwrap_or_else(|error| {
                tracing::error!(%error, "could not read the queue");
                false
            });
            if !waiting {
                idle();
                self.wait_for_sign(lane, signs);
                continue;
            }
            if self.must_wait(lane) {
                idle();
                self.wait_for_way(lane);
                continue;
            }
            match self.vault.claim_jobs(lane, n_chunks) {
                Ok(jobs) if jobs.is_empty() => {}
                Ok(jobs) => {
                    *self.state().lane(lane) = Lane { busy: true, working: true, held_up: None };
                    return Some(jobs);
                }
                Err(error) => self.claim_failed(&error),
            }
        }
    }

    fn wait_for_sign(&self, lane: JobLane, signs: u64) {
        let mut state = self.state();
        if state.queue_signs == signs {
            *state.lane(lane) = Lane::default();
            self.changed.notify_all();
        }
        while state.queue_signs == signs && !self.is_stopped() {
            state = self.wait(state);
        }
    }

    /// Whether a lane that has something to do may not do it now; notes why.
    fn must_wait(&self, lane: JobLane) -> bool {
        let machine = (self.config.machine)();
        let mut state = self.state();
        if state.paused || (lane == JobLane::Recognition && state.lane(JobLane::Text).busy) {
            state.lane(lane).held_up = None;
            return true;
        }
        let verdict = decide(&state.governor, &machine, Duration::ZERO, state.n_before(lane));
        let is_full = state.full_until.is_some_and(|until| Instant::now() < until);
        let hold = match verdict {
            _ if is_full => Some(HoldUp::DiskFull),
            Verdict::Wait(hold) => Some(hold),
            Verdict::Go | Verdict::Yield(_) => None,
        };
        state.lane(lane).held_up = hold;
        if hold.is_some() {
            return true;
        }
        let back = std::mem::take(&mut state.to_put_back);
        drop(state);
        for job in &back {
            self.put_back(job);
        }
        false
    }

    /// Until something changes, or it is time to look at the machine again.
    fn wait_for_way(&self, lane: JobLane) {
        let mut state = self.state();
        // Work waits, so nobody may take the lane for idle.
        state.lane(lane).busy = true;
        if !self.is_stopped() {
            drop(self.changed.wait_timeout(state, LOOK_AGAIN));
        }
    }

    fn claim_failed(&self, error: &VaultError) {
        tracing::error!(%error, "could not claim a job");
        if error.is_disk_full() {
            self.found_full();
        } else if !self.is_stopped() {
            drop(self.changed.wait_timeout(self.state(), AFTER_FULL));
        }
    }

    pub(crate) fn found_full(&self) {
        self.state().full_until = Some(Instant::now() + AFTER_FULL);
    }

    pub(crate) fn hand_over<'a>(&self, jobs: impl IntoIterator<Item = &'a Job>, lane: JobLane) {
        let jobs: Vec<&Job> = jobs.into_iter().collect();
        let ids: Vec<_> = jobs.iter().map(|job| job.job_id).collect();
        if let Err(error) = self.vault.pass_jobs(&ids, lane) {
            tracing::error!(%error, "could not pass jobs on");
            for job in jobs {
                self.put_back(job);
            }
            return;
        }
        if lane != JobLane::AwaitsModel {
            self.state().sign(&[lane]);
            self.changed.notify_all();
        }
    }

    /// Puts a job back to where it was claimed; its finished steps stay.
    pub(crate) fn put_back(&self, job: &Job) {
        if let Err(error) = self.vault.requeue_job(job.job_id) {
            tracing::warn!(%error, "could not put a job back yet");
            self.state().to_put_back.push(job.clone());
            self.found_full();
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Whether the job may take its next step: nothing stands still, it was not cancelled, its document not removed.
    pub(crate) fn may_go_on(&self, job: &Job) -> bool {
        !self.stands_still() && self.is_running(job)
    }

    pub(crate) fn is_running(&self, job: &Job) -> bool {
        self.vault.job_is_running(job.job_id).unwrap_or(false)
    }

    /// Whether no step may be taken now: the program ends, somebody paused the work, or there is no room.
    pub(crate) fn stands_still(&self) -> bool {
        self.is_stopped() || self.is_paused() || self.disk_is_full()
    }

    /// Between two steps: leaves the processor to others when they need it.
    pub(crate) fn give_way(&self, last_step: Duration) {
        let state = self.state();
        let verdict = decide(&state.governor, &(self.config.machine)(), last_step, 0);
        if let (Verdict::Yield(pause), false) = (verdict, self.is_stopped()) {
            drop(self.changed.wait_timeout(state, pause));
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
