//! The thread that owns the model. Work comes through a bounded queue; whoever stops waiting ends the run; a panic costs the
//! model, which is loaded again for the next piece of work.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use zhiku_core::model::ModelError;
use zhiku_core::{RunContext, Stopped};

use crate::failure;

/// Pieces of work that may wait; more make the submitter wait.
const QUEUE_LENGTH: usize = 8;
/// How long a cancelled run can go unnoticed by whoever waits for it.
const CANCEL_POLL: Duration = Duration::from_millis(10);

type Load<M> = Box<dyn FnMut() -> Result<M, ModelError> + Send>;
type Work<M> = Box<dyn FnOnce(Result<&mut M, ModelError>) + Send>;

/// Owns a model of type `M`, which need not be `Send`. Dropping it waits for an abandoned run to end, and joins.
pub(crate) struct Worker<M> {
    queue: Option<SyncSender<Work<M>>>,
    thread: Option<JoinHandle<()>>,
}

impl<M: 'static> Worker<M> {
    /// `load` runs on the thread, before the first piece of work and again after a crash.
    pub(crate) fn spawn(
        name: &str,
        load: impl FnMut() -> Result<M, ModelError> + Send + 'static,
    ) -> Result<Self, ModelError> {
        let (queue, work) = sync_channel(QUEUE_LENGTH);
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || serve(&work, Box::new(load)))
            .map_err(|error| failure::crashed(format!("no thread: {error}")))?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    /// Runs `work` on the thread and waits, until `ctx` is cancelled or out of time; then the flag that `work` was given is
    /// set, and `work` must end.
    pub(crate) fn run<R: Send + 'static>(
        &self,
        ctx: &RunContext,
        work: impl FnOnce(&mut M, &AtomicBool) -> Result<R, ModelError> + Send + 'static,
    ) -> Result<R, ModelError> {
        let abort = Arc::new(AtomicBool::new(false));
        let (sender, reply) = sync_channel(1);
        let flag = Arc::clone(&abort);
        self.submit(
            ctx,
            Box::new(move |model| {
                if !flag.load(Ordering::SeqCst) {
                    // Nobody receives when the submitter stopped waiting.
                    let _ = sender.send(model.and_then(|model| work(model, &flag)));
                }
            }),
        )?;
        let result = wait(&reply, ctx);
        abort.store(true, Ordering::SeqCst);
        result
    }

    fn submit(&self, ctx: &RunContext, mut work: Work<M>) -> Result<(), ModelError> {
        let Some(queue) = &self.queue else { return Err(failure::crashed("it was closed")) };
        loop {
            match queue.try_send(work) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Disconnected(_)) => return Err(failure::crashed("its thread ended")),
                Err(TrySendError::Full(back)) => work = back,
            }
            stop_if_asked(ctx)?;
            std::thread::sleep(CANCEL_POLL);
        }
    }
}

impl<M> Drop for Worker<M> {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // It ends by itself, and every panic inside was answered already.
            let _ = thread.join();
        }
    }
}

fn wait<R>(reply: &Receiver<Result<R, ModelError>>, ctx: &RunContext) -> Result<R, ModelError> {
    loop {
        match reply.recv_timeout(CANCEL_POLL) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => return Err(failure::crashed("no answer came")),
            Err(RecvTimeoutError::Timeout) => stop_if_asked(ctx)?,
        }
    }
}

/// The budget's checks are not counted here: how often this looks depends on the clock.
fn stop_if_asked(ctx: &RunContext) -> Result<(), Stopped> {
    if ctx.cancel.is_cancelled() {
        return Err(Stopped::Cancelled);
    }
    if ctx.budget.time_left().is_zero() {
        return Err(Stopped::Deadline);
    }
    Ok(())
}

/// The loop of the thread. A panic inside `work` drops its sender, which the submitter sees as a crash.
fn serve<M>(queue: &Receiver<Work<M>>, mut load: Load<M>) {
    let mut model: Option<M> = None;
    while let Ok(work) = queue.recv() {
        let done = catch_unwind(AssertUnwindSafe(|| {
            if model.is_none() {
                match load() {
                    Ok(loaded) => model = Some(loaded),
                    Err(error) => return work(Err(error)),
                }
            }
            if let Some(model) = model.as_mut() {
                work(Ok(model));
            }
        }));
        if done.is_err() {
            model = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use zhiku_core::ErrorCode;

    use super::*;

    #[test]
    fn a_panic_is_answered_and_the_model_loaded_again() {
        let loads = Arc::new(AtomicU32::new(0));
        let worker = Worker::spawn("test", {
            let loads = Arc::clone(&loads);
            move || Ok(loads.fetch_add(1, Ordering::SeqCst))
        })
        .expect("starts");
        let ctx = RunContext::background();
        let crash = worker.run(&ctx, |_, _| -> Result<(), ModelError> { panic!("on purpose") });
        assert_eq!(crash.expect_err("crashed").code, ErrorCode::ModelCrashed);
        assert_eq!(worker.run(&ctx, |model, _| Ok(*model)).expect("loaded again"), 1);
    }

    #[test]
    fn cancelling_sets_the_flag_that_the_work_looks_at() {
        let worker = Worker::spawn("test", || Ok(())).expect("starts");
        let ctx = RunContext::background();
        let cancel = ctx.cancel.clone();
        let (ended, end) = sync_channel(1);
        let result = worker.run(&ctx, move |(), abort| {
            cancel.cancel();
            while !abort.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            ended.send(()).expect("test waits");
            Ok(())
        });
        assert_eq!(result.expect_err("cancelled").code, ErrorCode::Cancelled);
        end.recv().expect("the work ended");
    }

    #[test]
    fn a_failed_load_is_the_answer_and_tried_again() {
        let mut first = true;
        let worker = Worker::spawn("test", move || {
            if std::mem::take(&mut first) { Err(failure::crashed("once")) } else { Ok(7) }
        })
        .expect("starts");
        let ctx = RunContext::background();
        assert!(worker.run(&ctx, |model, _| Ok(*model)).is_err());
        assert_eq!(worker.run(&ctx, |model, _| Ok(*model)).expect("second"), 7);
    }
}
