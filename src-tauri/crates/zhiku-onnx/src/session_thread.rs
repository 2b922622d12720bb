//! One model, one thread. Work comes through a bounded queue; interactive work overtakes background work; whoever stops
//! waiting ends the run; a panic costs the session, which is loaded again for the next piece of work.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use ort::session::{RunOptions, Session};
use zhiku_core::model::{ModelError, Priority};
use zhiku_core::{RunContext, Stopped};

use crate::failure;

/// Pieces of work that may wait per priority; more make the submitter wait.
const QUEUE_LENGTH: usize = 32;
/// How long a cancelled run can go unnoticed by whoever waits for it.
const CANCEL_POLL: Duration = Duration::from_millis(10);

type Load = Box<dyn FnMut() -> Result<Session, ModelError> + Send>;
type Work = Box<dyn FnOnce(Result<&mut Session, ModelError>) + Send>;

/// The thread that owns a session. Dropping it finishes the running piece of work, drops the waiting ones and joins.
pub struct SessionThread {
    model: Arc<str>,
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

impl SessionThread {
    /// Starts the thread; `load` runs on it, before the first piece of work and again after a crash. ONNX Runtime must be
    /// loaded already.
    pub fn spawn(
        model: &str,
        load: impl FnMut() -> Result<Session, ModelError> + Send + 'static,
    ) -> Result<Self, ModelError> {
        let queue = Arc::new(Queue::default());
        let thread = std::thread::Builder::new()
            .name(format!("onnx {model}"))
            .spawn({
                let queue = Arc::clone(&queue);
                move || serve(&queue, Box::new(load))
            })
            .map_err(|error| failure::internal(format!("could not start a thread for {model}: {error}")))?;
        Ok(Self { model: Arc::from(model), queue, thread: Some(thread) })
    }

    /// Queues `work`. Waits while the queue is full, until `ctx` is cancelled. `work` must hand the given options to every
    /// run, or it cannot be ended early.
    pub fn submit<R: Send + 'static>(
        &self,
        priority: Priority,
        ctx: &RunContext,
        work: impl FnOnce(&mut Session, &RunOptions) -> Result<R, ort::Error> + Send + 'static,
    ) -> Result<Pending<R>, ModelError> {
        let options = RunOptions::new().map_err(|error| failure::crashed(&self.model, error))?;
        let options = Arc::new(options);
        let abandoned = Arc::new(AtomicBool::new(false));
        let (sender, reply) = sync_channel(1);
        let pending = Pending {
            model: Arc::clone(&self.model),
            reply,
            options: Arc::clone(&options),
            abandoned: Arc::clone(&abandoned),
        };
        let model = Arc::clone(&self.model);
        let work: Work = Box::new(move |session| {
            if !abandoned.load(Ordering::SeqCst) {
                answer(&sender, session, |session| {
                    work(session, &options).map_err(|error| failure::crashed(&model, error))
                });
            }
        });
        self.queue.push(priority, work, ctx)?;
        Ok(pending)
    }

    /// [`Self::submit`] and [`Pending::wait`].
    pub fn run<R: Send + 'static>(
        &self,
        priority: Priority,
        ctx: &RunContext,
        work: impl FnOnce(&mut Session, &RunOptions) -> Result<R, ort::Error> + Send + 'static,
    ) -> Result<R, ModelError> {
        self.submit(priority, ctx, work)?.wait(ctx)
    }
}

impl Drop for SessionThread {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            // It ends by itself, and every panic inside was answered already.
            let _ = thread.join();
        }
    }
}

/// Work that was queued. Dropping it unfinished ends the run.
pub struct Pending<R> {
    model: Arc<str>,
    reply: Receiver<Result<R, ModelError>>,
    options: Arc<RunOptions>,
    abandoned: Arc<AtomicBool>,
}

impl<R> Pending<R> {
    /// Waits for the result, or until `ctx` is cancelled or out of time; then the run is ended.
    ///
    /// Checks of the budget are not counted here: how often this looks depends on the clock.
    pub fn wait(self, ctx: &RunContext) -> Result<R, ModelError> {
        loop {
            match self.reply.recv_timeout(CANCEL_POLL) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(failure::crashed(&self.model, "no answer came"));
                }
                Err(RecvTimeoutError::Timeout) => stop_if_asked(ctx)?,
            }
        }
    }
}

impl<R> Drop for Pending<R> {
    fn drop(&mut self) {
        self.abandoned.store(true, Ordering::SeqCst);
        // Without effect on a finished run; a failure leaves the run to end by itself.
        let _ = self.options.terminate();
    }
}

fn stop_if_asked(ctx: &RunContext) -> Result<(), Stopped> {
    if ctx.cancel.is_cancelled() {
        return Err(Stopped::Cancelled);
    }
    if ctx.budget.time_left().is_zero() {
        return Err(Stopped::Deadline);
    }
    Ok(())
}

fn answer<R>(
    sender: &SyncSender<Result<R, ModelError>>,
    session: Result<&mut Session, ModelError>,
    work: impl FnOnce(&mut Session) -> Result<R, ModelError>,
) {
    // Nobody receives when the submitter stopped waiting.
    let _ = sender.send(session.and_then(work));
}

/// The loop of the thread. A panic inside `work` drops its sender, which the submitter sees as a crash.
fn serve(queue: &Queue, mut load: Load) {
    let mut session: Option<Session> = None;
    while let Some(work) = queue.pop() {
        let done = catch_unwind(AssertUnwindSafe(|| {
            if session.is_none() {
                match load() {
                    Ok(loaded) => session = Some(loaded),
                    Err(error) => return work(Err(error)),
                }
            }
            if let Some(session) = session.as_mut() {
                work(Ok(session));
            }
        }));
        if done.is_err() {
            session = None;
        }
    }
}

#[derive(Default)]
struct Queue {
    lanes: Mutex<Lanes>,
    changed: Condvar,
}

#[derive(Default)]
struct Lanes {
    interactive: VecDeque<Work>,
    background: VecDeque<Work>,
    closed: bool,
}

impl Lanes {
    fn lane(&mut self, priority: Priority) -> &mut VecDeque<Work> {
        match priority {
            Priority::Interactive => &mut self.interactive,
            Priority::Background => &mut self.background,
        }
    }
}

impl Queue {
    fn lanes(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, priority: Priority, work: Work, ctx: &RunContext) -> Result<(), ModelError> {
        let mut lanes = self.lanes();
        while lanes.lane(priority).len() >= QUEUE_LENGTH {
            stop_if_asked(ctx)?;
            (lanes, _) =
                self.changed.wait_timeout(lanes, CANCEL_POLL).unwrap_or_else(PoisonError::into_inner);
        }
        lanes.lane(priority).push_back(work);
        self.changed.notify_all();
        Ok(())
    }

    /// The most urgent piece of work; waits for one. `None` when the queue was closed.
    fn pop(&self) -> Option<Work> {
        let mut lanes = self.lanes();
        loop {
            if lanes.closed {
                return None;
            }
            if let Some(work) = lanes.interactive.pop_front().or_else(|| lanes.background.pop_front()) {
                self.changed.notify_all();
                return Some(work);
            }
            lanes = self.changed.wait(lanes).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn close(&self) {
        let mut lanes = self.lanes();
        lanes.closed = true;
        // Dropping the work drops its senders: whoever waits for it is told.
        let left = (std::mem::take(&mut lanes.interactive), std::mem::take(&mut lanes.background));
        self.changed.notify_all();
        drop(lanes);
        drop(left);
    }
}
