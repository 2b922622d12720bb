use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use zhiku_core::RunContext;
use zhiku_core::recognition::SpokenSegment;
use zhiku_media::{FrameLimits, Heard, MediaError, MediaTools, decode_audio, key_frames, probe, transcribe};
use zhiku_models::{ModelStore, Role};
use zhiku_onnx::{SileroDetector, VoiceActivityFiles, VoiceRules};
use zhiku_speech::{WhisperOptions, WhisperRecognizer};

use crate::score::{Truth, score};

const WINDOW: Duration = Duration::from_mins(1);

/// A recording that fixtures/make_recordings.py wrote into the folder `ZHIKU_RECORDINGS`, or a note that the test is skipped:
/// hearing ten minutes takes minutes, so it is asked for.
fn recording(name: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("ZHIKU_RECORDINGS") else {
        eprintln!("skipped: {name} (run fixtures/make_recordings.py and set ZHIKU_RECORDINGS to its folder)");
        return None;
    };
    let path = PathBuf::from(folder).join(name);
    assert!(path.is_file(), "{} is not there", path.display());
    Some(path)
}

struct Models {
    detector: SileroDetector,
    recognizer: WhisperRecognizer,
}

/// Loaded once, and used by one test at a time: each wants the whole processor.
fn models() -> Option<&'static Mutex<Models>> {
    static MODELS: OnceLock<Option<Mutex<Models>>> = OnceLock::new();
    MODELS
        .get_or_init(|| {
            let store = ModelStore::open_default().expect("store");
            let file = |role| match store.require(role) {
                Ok(files) => Some(files.main()),
                Err(error) => {
                    eprintln!("skipped: {error}; run `zhiku models fetch`");
                    None
                }
            };
            let files =
                VoiceActivityFiles { runtime: file(Role::OnnxRuntime)?, model: file(Role::VoiceActivity)? };
            let detector = SileroDetector::open(&files, VoiceRules::default()).expect("opens");
            let options = WhisperOptions::new(file(Role::SpeechRecognition)?);
            let recognizer = WhisperRecognizer::open(&options).expect("opens");
            Some(Mutex::new(Models { detector, recognizer }))
        })
        .as_ref()
}

fn listen(
    path: &std::path::Path,
    from_ms: u64,
    ctx: &RunContext,
    on_heard: &mut dyn FnMut(Heard) -> Result<(), MediaError>,
) -> Option<Result<(), MediaError>> {
    let models = models()?.lock().unwrap_or_else(PoisonError::into_inner);
    let windows = decode_audio(path, from_ms, WINDOW, &MediaTools::find(), ctx).expect("opens");
    Some(transcribe(windows, &models.detector, &models.recognizer, None, ctx, on_heard))
}

fn heard(path: &std::path::Path, from_ms: u64) -> Option<Vec<SpokenSegment>> {
    let mut segments = Vec::new();
    let mut until_ms = from_ms;
    let end = listen(path, from_ms, &RunContext::background(), &mut |heard| {
        assert!(heard.until_ms >= until_ms, "what is heard goes on in time");
        until_ms = heard.until_ms;
        segments.extend(heard.segments);
        Ok(())
    })?;
    end.expect("transcribes");
    Some(segments)
}

fn truth(recording: &std::path::Path) -> Truth {
    let text = std::fs::read_to_string(recording.with_extension("json")).expect("truth");
    serde_json::from_str(&text).expect("truth")
}

#[test]
fn ten_minutes_are_understood_with_their_times() {
    let Some(path) = recording("talk.wav") else { return };
    let started = Instant::now();
    let Some(segments) = heard(&path, 0) else { return };
    let took = started.elapsed();
    let truth = truth(&path);
    for segment in &segments {
        eprintln!("{:>7} {:>7} {:.2} {}", segment.start_ms, segment.end_ms, segment.confidence, segment.text);
    }
    eprintln!("real-time factor {:.2}", took.as_secs_f64() / 600.0);
    for (language, most) in [("zh", 0.12), ("en", 0.12)] {
        let score = score(&truth, &segments, language);
        eprintln!(
            "{language}: {} of {} wrong ({:.1} %), worst time {} ms: {}",
            score.n_errors,
            score.n_truth,
            score.rate() * 100.0,
            score.worst_time_ms,
            score.worst_text
        );
        assert!(score.rate() <= most, "{language}: {:.3}", score.rate());
        assert!(
            score.worst_time_ms <= 500,
            "{language}: {} ms off: {}",
            score.worst_time_ms,
            score.worst_text
        );
    }
}

#[test]
fn silence_and_music_give_no_words() {
    for name in ["silence.wav", "music.wav"] {
        let Some(path) = recording(name) else { return };
        let Some(segments) = heard(&path, 0) else { return };
        assert!(segments.is_empty(), "{name}: {segments:?}");
    }
}

#[test]
fn the_training_video_says_what_it_shows() {
    let Some(path) = recording("training.mp4") else { return };
    let Some(segments) = heard(&path, 0) else { return };
    let truth = truth(&path);
    let score = score(&truth, &segments, "zh");
    eprintln!("training video: {:.1} % wrong, worst time {} ms", score.rate() * 100.0, score.worst_time_ms);
    for segment in &segments {
        eprintln!("{:>7} {:>7} {:.2} {}", segment.start_ms, segment.end_ms, segment.confidence, segment.text);
    }
    // Names and terms of the trade, in half a minute: more of it is misheard than of the talk.
    assert!(score.rate() < 0.25 && score.worst_time_ms <= 500, "{}", score.worst_text);

    let Some(tools) = crate::tools() else { return };
    let ctx = RunContext::background();
    let info = probe(&path, &tools, &ctx).expect("probes");
    let mut starts = Vec::new();
    key_frames(&path, &info, FrameLimits::default(), &tools, &ctx, &mut |frame| {
        starts.push(frame.start_ms);
        Ok(())
    })
    .expect("frames");
    let text = std::fs::read_to_string(path.with_extension("json")).expect("truth");
    let slides: serde_json::Value = serde_json::from_str(&text).expect("truth");
    let expected: Vec<u64> = slides["slides"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|slide| slide["start_ms"].as_u64())
        .collect();
    assert_eq!(starts.len(), expected.len(), "{starts:?}");
    for (start, expected) in starts.iter().zip(&expected) {
        assert!(start.abs_diff(*expected) <= 100, "{starts:?} is not {expected:?}");
    }
}

#[test]
fn listening_goes_on_where_it_stopped() {
    let Some(path) = recording("training.mp4") else { return };
    let ctx = RunContext::background();
    let mut first = None;
    let stopped = listen(&path, 0, &ctx, &mut |heard| {
        if !heard.segments.is_empty() {
            first = Some(heard);
            ctx.cancel.cancel();
        }
        Ok(())
    });
    let Some(stopped) = stopped else { return };
    let first = first.expect("something is said");
    assert!(stopped.is_ok() || stopped.is_err_and(|error| error.reason_code() == "cancelled"));
    let after = heard(&path, first.until_ms).expect("models");
    let before_ms = first.segments.last().map_or(0, |segment| segment.end_ms);
    assert!(after.iter().all(|segment| segment.start_ms + 200 >= before_ms), "{after:?}");
}
