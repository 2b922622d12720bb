use zhiku_core::recognition::{VoiceDetector, VoiceSpan};
use zhiku_core::{ErrorCode, RunContext};
use zhiku_models::{ModelStore, Role};
use zhiku_onnx::{SileroDetector, VoiceActivityFiles, VoiceRules};

use crate::model_file;

fn detector() -> Option<SileroDetector> {
    let files = VoiceActivityFiles {
        runtime: model_file(Role::OnnxRuntime, None)?,
        model: model_file(Role::VoiceActivity, None)?,
    };
    Some(SileroDetector::open(&files, VoiceRules::default()).expect("opens"))
}

/// Two thirds of the samples of a 24 kHz recording, which is enough to tell speech.
fn recording(name: &str) -> Option<Vec<f32>> {
    let path = ModelStore::default_root().expect("a cache folder").with_file_name("recordings").join(name);
    let Ok(bytes) = std::fs::read(&path) else {
        eprintln!("skipped: {} is not there; run fixtures/make_recordings.py", path.display());
        return None;
    };
    let samples: Vec<f32> = bytes[44..]
        .chunks_exact(2)
        .map(|bytes| f32::from(i16::from_le_bytes([bytes[0], bytes[1]])) / 32_768.0)
        .collect();
    let at = |i: usize| f32::midpoint(samples[i * 3 / 2], samples[(i * 3).div_ceil(2)]);
    Some((0..samples.len() * 2 / 3 - 1).map(at).collect())
}

#[test]
fn silence_noise_and_tones_are_no_speech() {
    let Some(detector) = detector() else { return };
    let ctx = RunContext::background();
    let tone: Vec<f32> = (0..16_000 * 4).map(|i| (i as f32 * 0.17).sin() * 0.3).collect();
    let mut state = 1_u32;
    let noise: Vec<f32> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0 * 0.2 - 0.1
    })
    .take(16_000 * 4)
    .collect();
    for samples in [vec![0.0; 16_000 * 4], tone, noise, Vec::new()] {
        assert_eq!(detector.spans(&samples, &ctx).expect("runs"), []);
    }
}

#[test]
fn sentences_are_found_where_they_were_said() {
    #[derive(serde::Deserialize)]
    struct Sentence {
        start_ms: u64,
        end_ms: u64,
    }
    #[derive(serde::Deserialize)]
    struct Truth {
        sentences: Vec<Sentence>,
    }
    let (Some(detector), Some(samples)) = (detector(), recording("talk.wav")) else { return };
    let truth = ModelStore::default_root().expect("folder").with_file_name("recordings").join("talk.json");
    let truth: Truth = serde_json::from_str(&std::fs::read_to_string(truth).expect("truth")).expect("truth");
    let spans = detector.spans(&samples, &RunContext::background()).expect("runs");
    let near = |at_ms: u64, bound: fn(&VoiceSpan) -> u64| {
        spans.iter().map(|span| bound(span).abs_diff(at_ms)).min().unwrap_or(u64::MAX)
    };
    let starts = truth.sentences.iter().map(|sentence| near(sentence.start_ms, |span| span.start_ms)).max();
    let ends = truth.sentences.iter().map(|sentence| near(sentence.end_ms, |span| span.end_ms)).max();
    eprintln!("{} spans; worst start {starts:?} ms, worst end {ends:?} ms", spans.len());
    assert!(starts.max(ends) <= Some(400));
    let spoken: u64 = truth.sentences.iter().map(|sentence| sentence.end_ms - sentence.start_ms).sum();
    let found: u64 = spans.iter().map(|span| span.end_ms - span.start_ms).sum();
    assert!(found < spoken * 12 / 10, "{found} ms of speech found, {spoken} ms spoken");
}

#[test]
fn a_cancelled_search_ends() {
    let Some(detector) = detector() else { return };
    let ctx = RunContext::background();
    ctx.cancel.cancel();
    let error = detector.spans(&vec![0.0; 16_000], &ctx).expect_err("cancelled");
    assert_eq!(error.code, ErrorCode::Cancelled);
}
