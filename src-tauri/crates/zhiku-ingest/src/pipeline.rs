//! The three lanes. Each is one thread; the queue itself is in the vault, what they share in `shared.rs`.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use zhiku_core::model::{Embedder, ModelError};
use zhiku_core::recognition::{SpeechRecognizer, TextRecognizer, VoiceDetector};
use zhiku_core::{DocumentId, Reason};
use zhiku_parse::chunker::ChunkOptions;
use zhiku_parse::worker::{ParseLimits, WorkerCommand};
use zhiku_vault::{JobLane, Vault, VaultError, VersionRef};

use crate::governor::{GovernorSettings, HoldUp, MachineReading};
use crate::progress::ImportProgress;
use crate::shared::Shared;
use crate::{recognition_lane, text_lane, vector_lane};

/// Gives a model, loading it when it is first needed.
pub type ModelSource<T> = Arc<dyn Fn() -> Result<Arc<T>, ModelError> + Send + Sync>;

/// Looks at the machine.
pub type MachineSource = Arc<dyn Fn() -> MachineReading + Send + Sync>;

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
#[derive(Clone)]
pub struct PipelineConfig {
    pub worker: WorkerCommand,
    pub limits: ParseLimits,
    pub chunks: ChunkOptions,
    pub governor: GovernorSettings,
    /// [`crate::Machine::source`], or a test's own.
    pub machine: MachineSource,
}

/// Works the queue of one vault until dropped.
pub struct Pipeline {
    shared: Arc<Shared>,
    lanes: Mutex<Vec<JoinHandle<()>>>,
}

/// Tells a pipeline that work was queued.
#[derive(Clone)]
pub struct Waker(Arc<Shared>);

impl Waker {
    /// From here on the pipeline is not idle until it has looked.
    pub fn wake(&self) {
        self.0.wake();
    }
}

impl Pipeline {
    /// Starts the lanes; what a crash or an exit left in the queue goes on at once, unless it was paused.
    pub fn start(vault: Vault, config: PipelineConfig, models: ModelSources) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::new(vault, config, models));
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

    /// Call after queueing work, see [`Waker::wake`].
    pub fn wake(&self) {
        self.shared.wake();
    }

    /// For who queues work on another thread.
    pub fn waker(&self) -> Waker {
        Waker(Arc::clone(&self.shared))
    }

    /// What opens a version's file. Call before its job is queued again; it is forgotten when the job ends.
    pub fn give_password(&self, version: VersionRef, password: String) {
        self.shared.passwords.keep(version, password);
    }

    /// Takes a password back, because the job was not queued.
    pub fn forget_password(&self, version: VersionRef) {
        self.shared.passwords.forget(version);
    }

    /// Call after imports were cancelled: of one document, or all.
    pub fn forget_cancelled(&self, document: Option<DocumentId>) {
        self.shared.passwords.forget_cancelled(document);
    }

    /// Call when a model may have become available: what waited for it goes on.
    pub fn models_changed(&self) -> Result<(), VaultError> {
        self.shared.vault.move_lane(JobLane::AwaitsModel, JobLane::Vectors)?;
        self.wake();
        Ok(())
    }

    /// Work stops after the step at hand, also in the middle of a file, and stays so over a restart.
    pub fn pause(&self) -> Result<(), VaultError> {
        self.shared.vault.set_imports_paused(true)?;
        self.shared.set_paused(true);
        Ok(())
    }

    pub fn resume(&self) -> Result<(), VaultError> {
        self.shared.vault.set_imports_paused(false)?;
        self.shared.set_paused(false);
        Ok(())
    }

    pub fn is_paused(&self) -> bool {
        self.shared.is_paused()
    }

    /// How much of the machine may be used from now on.
    pub fn set_governor(&self, settings: GovernorSettings) {
        self.shared.set_governor(settings);
    }

    /// Why work waits that nobody paused.
    pub fn held_up(&self) -> Option<Reason> {
        self.shared.held_up().map(HoldUp::reason)
    }

    /// Whether the disk is too full to take anything in.
    pub fn disk_is_full(&self) -> bool {
        self.shared.disk_is_full()
    }

    /// Everything from now on, until the receiver is dropped.
    pub fn watch(&self) -> Receiver<ImportProgress> {
        let (sender, receiver) = channel();
        self.shared.watch(sender);
        receiver
    }

    /// Whether nothing is queued or running, apart from what waits for a model.
    pub fn is_idle(&self) -> bool {
        self.shared.is_idle()
    }

    /// Blocks until [`Self::is_idle`]. While paused, that is when somebody resumes or cancels.
    pub fn wait_until_idle(&self) {
        self.shared.wait_until_idle();
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        self.shared.stop();
        for lane in self.lanes.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            if lane.join().is_err() {
                tracing::error!("a lane of the import pipeline panicked");
            }
        }
    }
}
