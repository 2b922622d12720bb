//! The three lanes and what they share. Each lane is one thread; the queue itself is in the vault.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use tokio_util::sync::CancellationToken;
use zhiku_core::model::{Embedder, ModelError};
use zhiku_core::recognition::{SpeechRecognizer, TextRecognizer, VoiceDetector};
use zhiku_core::{DocumentState, Failure, JobStage, Reason};
use zhiku_parse::chunker::ChunkOptions;
use zhiku_parse::worker::{ParseLimits, WorkerCommand};
use zhiku_vault::{Job, JobKind, Progress, Vault, VaultError, VersionRef};

use crate::passwords::Passwords;
use crate::progress::ImportProgress;
use crate::{recognition_lane, text_lane, vector_lane};

/// Gives a model, loading it when it is first needed.
pub type ModelSource<T> = Arc<dyn Fn() -> Result<Arc<T>, ModelError> + Send + Sync>;

/// What hears: where somebody speaks, and what they say.
pub struct Hearing {
    pub voices: Arc<dyn VoiceDetector>,
    pub speech: Arc<dyn SpeechRecognizer>,
}

/// The models that an import uses.
#[derive(Clone)]
pub struct ModelSources {
    pub embedder: ModelSource<dyn Embedder>,
    pub reader: ModelSource<dyn TextRecognizer>,
    pub hearing: ModelSource<Hearing>,
}

/// How the lanes work.
#[derive(Clone, Debug)]
pub struct PipelineConfig {
    pub worker: WorkerCommand,
    pub limits: ParseLimits,
    pub chunks: ChunkOptions,
}

/// Works the queue of one vault until dropped.
pub struct Pipeline {
    shared: Arc<Shared>,
    lanes: Mutex<Vec<JoinHandle<()>>>,
}

pub(crate) struct Shared {
    pub(crate) vault: Vault,
    pub(crate) config: PipelineConfig,
    pub(crate) models: ModelSources,
    pub(crate) passwords: Passwords,
    /// Ends whatever runs now; set once, when the pipeline stops.
    pub(crate) stop: CancellationToken,
    state: Mutex<State>,
    changed: Condvar,
    watchers: Mutex<Vec<Sender<ImportProgress>>>,
}

#[derive(Default)]
struct State {
    paused: bool,
    /// Goes up with every sign that the vault's queue may have something new.
    queue_signs: u64,
    for_recognition: VecDeque<Job>,
    for_vectors: VecDeque<Job>,
    /// Jobs that wait for a model that is not there.
    without_model: Vec<Job>,
    text_lane_busy: bool,
    recognition_lane_busy: bool,
    vector_lane_busy: bool,
}

impl Pipeline {
    /// Starts the lanes; what a crash or an exit left in the queue goes on at once.
    pub fn start(vault: Vault, config: PipelineConfig, models: ModelSources) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            vault,
            config,
            models,
            passwords: Passwords::default(),
            stop: CancellationToken::new(),
            state: Mutex::new(State { queue_signs: 1, text_lane_busy: true, ..State::default() }),
            changed: Condvar::new(),
            watchers: Mutex::default(),
        });
        let lane = |name: &str, work: fn(&Shared)| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name(name.to_owned()).spawn(move || work(&shared))
        };
        let lanes = vec![
            lane("zhiku-text-lane", text_lane::run)?,
            lane("zhiku-recognition-lane", recognition_lane::run)?,
            lane("zhiku-vector-lane", vector_lane::run)?,
        ];
        Ok(Self { shared, lanes: Mutex::new(lanes) })
    }

    /// Call after queueing work. From here on the pipeline is not idle until it has looked.
    pub fn wake(&self) {
        let mut state = self.shared.state();
        state.queue_signs += 1;
        state.text_lane_busy = true;
        drop(state);
        self.shared.changed.notify_all();
    }

    /// What opens a version's file. Call before its job is queued again; it is forgotten when the job ends.
    pub fn give_password(&self, version: VersionRef, password: String) {
        self.shared.passwords.keep(version, password);
    }

    /// Takes a password back, because the job was not queued.
    pub fn forget_password(&self, version: VersionRef) {
        self.shared.passwords.forget(version);
    }

    /// Call when a model may have become available: what waited for it goes on.
    pub fn models_changed(&self) {
        let mut state = self.shared.state();
        let waiting = std::mem::take(&mut state.without_model);
        state.for_vectors.extend(waiting);
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Finishes the step at hand, then waits.
    pub fn pause(&self) {
        self.shared.state().paused = true;
    }

    pub fn resume(&self) {
        self.shared.state().paused = false;
        self.shared.changed.notify_all();
    }

    pub fn is_paused(&self) -> bool {
        self.shared.state().paused
    }

    /// Everything from now on, until the receiver is dropped.
    pub fn watch(&self) -> Receiver<ImportProgress> {
        let (sender, receiver) = channel();
        lock(&self.shared.watchers).push(sender);
        receiver
    }

    /// Whether nothing is queued or running, apart from what waits for a model.
    pub fn is_idle(&self) -> bool {
        self.shared.state().is_idle()
    }

    /// Blocks until [`Self::is_idle`].
    pub fn wait_until_idle(&self) {
        let mut state = self.shared.state();
        while !state.is_idle() {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        self.shared.stop.cancel();
        self.shared.changed.notify_all();
        for lane in lock(&self.lanes).drain(..) {
            if lane.join().is_err() {
                tracing::error!("a lane of the import pipeline panicked");
            }
        }
        // What was claimed and not finished waits for the next start; opening the vault would do the same.
        let state = self.shared.state();
        for job in state.for_recognition.iter().chain(&state.for_vectors).chain(&state.without_model) {
            if let Err(error) = self.shared.vault.requeue_job(job.job_id) {
                tracing::warn!(%error, "could not put a job back");
            }
        }
    }
}

impl State {
    fn is_idle(&self) -> bool {
        let busy = self.text_lane_busy || self.recognition_lane_busy || self.vector_lane_busy;
        !busy && self.for_recognition.is_empty() && self.for_vectors.is_empty()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// For the text lane: the next job of the vault's queue. `None` when the lane must end. Before it waits, `idle` is
    /// called once, for work that was put off.
    pub(crate) fn next_text_job(&self, mut idle: impl FnMut()) -> Option<Job> {
        loop {
            let signs = self.wait_while_paused()?;
            match self.vault.claim_next_job() {
                Ok(Some(job)) => {
                    self.state().text_lane_busy = true;
                    return Some(job);
                }
                Ok(None) => {}
                Err(error) => tracing::error!(%error, "could not read the queue"),
            }
            idle();
            let mut state = self.state();
            if state.queue_signs == signs {
                state.text_lane_busy = false;
                self.changed.notify_all();
            }
            while state.queue_signs == signs && !self.is_stopped() {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.text_lane_busy = true;
        }
    }

    /// For the recognition lane: the next job, once the text lane has nothing to do. `None` when the lane must end.
    pub(crate) fn next_recognition_job(&self) -> Option<Job> {
        let mut state = self.state();
        state.recognition_lane_busy = false;
        self.changed.notify_all();
        while (state.for_recognition.is_empty() || state.text_lane_busy || state.paused) && !self.is_stopped()
        {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if self.is_stopped() {
            return None;
        }
        state.recognition_lane_busy = true;
        state.for_recognition.pop_front()
    }

    /// For the vector lane: the next jobs, `enough` saying when the group is large enough. `None` when the lane must end.
    pub(crate) fn next_vector_jobs(&self, mut enough: impl FnMut(&Job) -> bool) -> Option<Vec<Job>> {
        let mut state = self.state();
        state.vector_lane_busy = false;
        self.changed.notify_all();
        while (state.for_vectors.is_empty() || state.paused) && !self.is_stopped() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if self.is_stopped() {
            return None;
        }
        state.vector_lane_busy = true;
        let mut jobs = Vec::new();
        while let Some(job) = state.for_vectors.pop_front() {
            let full = enough(&job);
            jobs.push(job);
            if full {
                break;
            }
        }
        Some(jobs)
    }

    /// Blocks while paused. `None` when stopped; else the queue's signs so far.
    fn wait_while_paused(&self) -> Option<u64> {
        let mut state = self.state();
        while state.paused && !self.is_stopped() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if self.is_stopped() { None } else { Some(state.queue_signs) }
    }

    pub(crate) fn hand_to_recognition_lane(&self, job: Job) {
        self.state().for_recognition.push_back(job);
        self.changed.notify_all();
    }

    pub(crate) fn hand_to_vector_lane(&self, jobs: impl IntoIterator<Item = Job>) {
        self.state().for_vectors.extend(jobs);
        self.changed.notify_all();
    }

    pub(crate) fn park_without_model(&self, jobs: Vec<Job>) {
        self.state().without_model.extend(jobs);
    }

    /// Stores and tells how far a job is.
    pub(crate) fn progress(&self, job: &Job, state: DocumentState, stage: JobStage, done: u32, total: u32) {
        if let Err(error) = self.vault.job_progress(job.job_id, Progress { stage, done, total }) {
            tracing::warn!(%error, "could not store a job's progress");
        }
        self.tell(ImportProgress {
            version: job.version,
            state,
            stage,
            done,
            total,
            reason: None,
            settled: false,
        });
    }

    /// Ends a job without success and tells so.
    pub(crate) fn fail(&self, job: &Job, stage: JobStage, reason: Reason, retryable: bool) {
        let failure = Failure { stage, reason: reason.clone(), retryable };
        if let Err(error) = self.vault.fail_job(job.job_id, &failure) {
            tracing::error!(%error, "could not store a failure");
        }
        self.settle(job.version, DocumentState::Failed, stage, Some(reason));
    }

    /// A vault error ends a job as ours or the disk's, unless the job was taken back meanwhile.
    pub(crate) fn fail_with(&self, job: &Job, stage: JobStage, error: &VaultError) {
        if matches!(error, VaultError::NotFound { .. }) {
            self.settle(job.version, DocumentState::Deleted, stage, None);
            return;
        }
        tracing::error!(%error, stage = stage.as_str(), "a stage failed");
        self.fail(job, stage, Reason::new("storage_failed").with("detail", error), true);
    }

    pub(crate) fn settle(
        &self,
        version: VersionRef,
        state: DocumentState,
        stage: JobStage,
        reason: Option<Reason>,
    ) {
        self.passwords.forget(version);
        self.tell(ImportProgress { version, state, stage, done: 0, total: 0, reason, settled: true });
    }

    pub(crate) fn tell(&self, progress: ImportProgress) {
        lock(&self.watchers).retain(|watcher| watcher.send(progress.clone()).is_ok());
    }

    /// Whether the job may go on: not stopped, not cancelled, its document not removed.
    pub(crate) fn may_go_on(&self, job: &Job) -> bool {
        !self.is_stopped() && self.vault.job_is_running(job.job_id).unwrap_or(false)
    }
}

pub(crate) fn needs_text(job: &Job) -> bool {
    job.kind == JobKind::Import
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
