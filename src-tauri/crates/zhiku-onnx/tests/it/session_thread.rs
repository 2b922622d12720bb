use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use ort::session::{RunOptions, Session};
use ort::value::Tensor;
use zhiku_core::model::{ModelError, Priority};
use zhiku_core::{ErrorCode, Fault, RunContext};
use zhiku_models::Role;
use zhiku_onnx::{SessionThread, load_runtime};

use crate::{fixture, model_file};

/// A model that adds one, and how often it was loaded.
fn thread() -> Option<(SessionThread, Arc<Mutex<u32>>)> {
    let environment = load_runtime(&model_file(Role::OnnxRuntime, None)?).expect("loads");
    let loads = Arc::new(Mutex::new(0));
    let counter = Arc::clone(&loads);
    let thread = SessionThread::spawn("add_one", move || {
        *counter.lock().expect("loads") += 1;
        let failed = |error: ort::Error| ModelError {
            code: ErrorCode::ModelDamaged,
            fault: Fault::Bug,
            message: error.to_string(),
            hint: None,
            retryable: false,
        };
        let mut builder = Session::builder(&environment).map_err(failed)?;
        builder.commit_from_file(fixture("add_one.onnx")).map_err(failed)
    });
    Some((thread.expect("starts"), loads))
}

fn add_one(session: &mut Session, options: &RunOptions, x: i32) -> Result<i32, ort::Error> {
    let outputs =
        session.run_with_options(ort::inputs![Tensor::from_array(([1], vec![x as f32]))?], options)?;
    Ok(outputs["y"].try_extract_tensor::<f32>()?.1[0] as i32)
}

/// Work that holds the thread until the returned sender is used or dropped.
fn hold(thread: &SessionThread, ctx: &RunContext) -> Sender<()> {
    let (release, released) = channel::<()>();
    let (started, running) = channel();
    let pending = thread.submit(Priority::Interactive, ctx, move |_, _| {
        let _ = started.send(());
        let _ = released.recv();
        Ok(())
    });
    // Dropped while running: it ends nothing, for this work makes no runs.
    drop(pending.map(|pending| running.recv().map(|()| pending)).expect("queued"));
    release
}

#[test]
fn a_panic_is_a_crash_and_the_next_work_finds_the_model_loaded_again() {
    let Some((thread, loads)) = thread() else { return };
    let ctx = RunContext::background();
    let run = |x: i32| {
        thread.run(Priority::Interactive, &ctx, move |session, options| add_one(session, options, x))
    };
    assert_eq!(run(1).expect("runs"), 2);
    let crash =
        thread.run(Priority::Interactive, &ctx, |_, _| -> Result<(), ort::Error> { panic!("as tested") });
    let crash = crash.expect_err("crashed");
    assert_eq!((crash.code, crash.retryable), (ErrorCode::ModelCrashed, true));
    assert_eq!(run(2).expect("runs"), 3);
    assert_eq!(*loads.lock().expect("loads"), 2);
}

#[test]
fn interactive_work_overtakes_waiting_background_work() {
    let Some((thread, _)) = thread() else { return };
    let ctx = RunContext::background();
    let order = Arc::new(Mutex::new(Vec::new()));
    let release = hold(&thread, &ctx);
    let note = |priority, name: &'static str| {
        let order = Arc::clone(&order);
        thread.submit(priority, &ctx, move |_, _| {
            order.lock().expect("order").push(name);
            Ok(())
        })
    };
    let waiting = [
        note(Priority::Background, "first background"),
        note(Priority::Background, "second background"),
        note(Priority::Interactive, "interactive"),
    ];
    release.send(()).expect("held");
    for pending in waiting {
        pending.expect("queued").wait(&ctx).expect("runs");
    }
    assert_eq!(*order.lock().expect("order"), ["interactive", "first background", "second background"]);
}

#[test]
fn cancelling_ends_the_run_that_is_under_way() {
    let Some((thread, loads)) = thread() else { return };
    let ctx = RunContext::background();
    let (started, running) = channel();
    let (ended, end) = channel();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            thread.run(Priority::Background, &ctx, move |session, options| {
                // Ends only when a run is terminated.
                loop {
                    if let Err(error) = add_one(session, options, 1) {
                        let _ = ended.send(());
                        return Err::<(), _>(error);
                    }
                    let _ = started.send(());
                }
            })
        });
        running.recv().expect("runs");
        ctx.cancel.cancel();
        assert_eq!(waiting.join().expect("thread").expect_err("cancelled").code, ErrorCode::Cancelled);
    });
    end.recv().expect("the run was ended");
    let fresh = RunContext::background();
    let next = thread.run(Priority::Background, &fresh, |session, options| add_one(session, options, 4));
    assert_eq!(next.expect("runs"), 5);
    assert_eq!(*loads.lock().expect("loads"), 1, "a terminated run costs no session");
}

#[test]
fn a_full_queue_makes_the_submitter_wait_and_cancelling_frees_it() {
    let Some((thread, _)) = thread() else { return };
    let ctx = RunContext::background();
    let release = hold(&thread, &ctx);
    let mut waiting = Vec::new();
    let full = RunContext::background();
    full.cancel.cancel();
    let refused = loop {
        match thread.submit(Priority::Background, &full, |_, _| Ok(())) {
            Ok(pending) => waiting.push(pending),
            Err(error) => break error,
        }
    };
    assert_eq!((refused.code, waiting.len()), (ErrorCode::Cancelled, 32));
    drop(release);
}

#[test]
fn dropping_the_thread_tells_whoever_waits() {
    let Some((thread, _)) = thread() else { return };
    let ctx = RunContext::background();
    let release = hold(&thread, &ctx);
    let waiting = thread.submit(Priority::Background, &ctx, |_, _| Ok(())).expect("queued");
    std::thread::scope(|scope| {
        let dropping = scope.spawn(move || drop(thread));
        assert_eq!(waiting.wait(&ctx).expect_err("gone").code, ErrorCode::ModelCrashed);
        drop(release);
        dropping.join().expect("drops");
    });
}
