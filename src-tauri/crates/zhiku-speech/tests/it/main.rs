//! Against the real model; without it each test says that it was skipped.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use zhiku_core::recognition::SpeechRecognizer;
use zhiku_core::{ErrorCode, RunContext};
use zhiku_models::{ModelStore, Role};
use zhiku_speech::{WhisperOptions, WhisperRecognizer};

fn model() -> Option<PathBuf> {
    match ModelStore::open_default().expect("store").require(Role::SpeechRecognition) {
        Ok(files) => Some(files.main()),
        Err(error) => {
            eprintln!("skipped: {error}; run `zhiku models fetch`");
            None
        }
    }
}

/// Loaded once for all tests.
fn recognizer() -> Option<&'static WhisperRecognizer> {
    static RECOGNIZER: OnceLock<Option<WhisperRecognizer>> = OnceLock::new();
    RECOGNIZER
        .get_or_init(|| Some(WhisperRecognizer::open(&WhisperOptions::new(model()?)).expect("opens")))
        .as_ref()
}

#[test]
fn silence_has_no_words() {
    let Some(recognizer) = recognizer() else { return };
    let ctx = RunContext::background();
    for language in [Some("zh"), Some("en"), None] {
        let heard = recognizer.transcribe(&vec![0.0; 16_000 * 3], language, &ctx).expect("runs");
        assert_eq!(heard, [], "{language:?}");
    }
    assert_eq!(recognizer.transcribe(&[], None, &ctx).expect("nothing to do"), []);
}

#[test]
fn more_than_it_takes_is_refused() {
    let Some(recognizer) = recognizer() else { return };
    let long = vec![0.0; recognizer.max_samples() + 1];
    let error = recognizer.transcribe(&long, None, &RunContext::background()).expect_err("too long");
    assert_eq!(error.code, ErrorCode::InvalidInput);
}

#[test]
fn cancelling_is_noticed_at_once_and_the_next_run_works() {
    let Some(recognizer) = recognizer() else { return };
    let noise: Vec<f32> = (0..16_000 * 20).map(|i| ((i as f32) * (i as f32) * 0.01).sin() * 0.3).collect();
    let ctx = RunContext::background();
    let (ended, took) = std::thread::scope(|scope| {
        let running = scope.spawn(|| recognizer.transcribe(&noise, Some("zh"), &ctx));
        // Any moment within the run will do.
        let started = Instant::now();
        while started.elapsed() < Duration::from_millis(300) && !running.is_finished() {
            std::thread::yield_now();
        }
        let cancelled = Instant::now();
        ctx.cancel.cancel();
        (running.join().expect("no panic"), cancelled.elapsed())
    });
    assert_eq!(ended.expect_err("cancelled").code, ErrorCode::Cancelled);
    eprintln!("the caller had its answer {took:?} after the cancel");
    let started = Instant::now();
    recognizer.transcribe(&vec![0.0; 16_000], Some("zh"), &RunContext::background()).expect("runs again");
    eprintln!("the next run waited for the aborted one and ended after {:?}", started.elapsed());
}

#[test]
fn a_file_that_is_no_model_is_damaged_and_none_is_missing() {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let open =
        |path: PathBuf| WhisperRecognizer::open(&WhisperOptions::new(path)).err().map(|error| error.code);
    assert_eq!(open(here.join("Cargo.toml")), Some(ErrorCode::ModelDamaged));
    assert_eq!(open(here.join("no-such-file.bin")), Some(ErrorCode::ModelMissing));
}
