use std::path::Path;
use std::time::{Duration, Instant};

use zhiku_core::RunContext;
use zhiku_media::{AudioWindow, MediaError, MediaTools, decode_audio, probe, subtitles};

use crate::{media, tools};

fn decode(path: &Path, from_ms: u64, tools: &MediaTools) -> Result<Vec<AudioWindow>, MediaError> {
    decode_audio(path, from_ms, Duration::from_millis(300), tools, &RunContext::background())?.collect()
}

fn joined(windows: &[AudioWindow]) -> Vec<f32> {
    windows.iter().flat_map(|window| window.samples.iter().copied()).collect()
}

/// Milliseconds at which the tone begins and ends.
fn tone(samples: &[f32]) -> (usize, usize) {
    let loud = |sample: &f32| sample.abs() > 0.2;
    let first = samples.iter().position(loud).expect("a tone");
    let last = samples.iter().rposition(loud).expect("a tone");
    (first / 16, last / 16)
}

/// Lossy formats smear and pad by some milliseconds.
fn check_tone(name: &str, tools: &MediaTools) {
    let windows = decode(&media(name), 0, tools).unwrap_or_else(|error| panic!("{name}: {error}"));
    for (i, window) in windows.iter().enumerate() {
        assert_eq!(window.start_ms, i as u64 * 300, "{name}");
        assert!(i + 1 == windows.len() || window.samples.len() == 4800, "{name}");
    }
    let samples = joined(&windows);
    assert!((31_000..34_000).contains(&samples.len()), "{name}: {} samples", samples.len());
    let (start, end) = tone(&samples);
    assert!(
        start.abs_diff(500) < 60 && end.abs_diff(1500) < 60,
        "{name}: the tone is at {start} to {end} ms"
    );
}

#[test]
fn usual_formats_are_decoded_without_ffmpeg() {
    for name in ["tone.wav", "tone.mp3", "tone.m4a", "tone.flac", "tone.ogg", "tone.mkv", "cover.mp3"] {
        check_tone(name, &MediaTools::none());
    }
}

#[test]
fn other_formats_are_decoded_by_ffmpeg() {
    let Some(tools) = tools() else { return };
    for name in ["tone.webm", "tone.wma"] {
        check_tone(name, &tools);
    }
}

#[test]
fn without_ffmpeg_other_formats_say_what_is_missing() {
    for name in ["tone.webm", "tone.wma"] {
        let error = decode(&media(name), 0, &MediaTools::none()).expect_err("needs ffmpeg");
        assert_eq!(error.reason_code(), "needs_ffmpeg", "{name}: {error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("install ffmpeg")));
    }
    let info =
        probe(&media("tone.webm"), &MediaTools::none(), &RunContext::background()).expect("a container");
    assert_eq!((info.audio.len(), info.has_video), (1, false));
}

fn check_resumed(name: &str, tools: &MediaTools) {
    let samples = joined(&decode(&media(name), 1200, tools).expect("decodes"));
    let (start, end) = tone(&samples);
    assert!(start < 60 && end.abs_diff(300) < 60, "{name}: after 1200 ms the tone is at {start} to {end} ms");
    assert!(decode(&media(name), 60_000, tools).expect("nothing").is_empty(), "{name}: beyond the end");
}

#[test]
fn decoding_goes_on_at_a_time() {
    for name in ["tone.wav", "tone.mp3", "tone.m4a", "tone.flac", "tone.ogg", "tone.mkv"] {
        check_resumed(name, &MediaTools::none());
    }
    let Some(tools) = tools() else { return };
    check_resumed("tone.webm", &tools);
}

#[test]
fn a_recording_that_was_cut_off_gives_what_is_there() {
    let samples = joined(&decode(&media("cut_off.mp3"), 0, &MediaTools::none()).expect("decodes"));
    let seconds = samples.len() as f32 / 16_000.0;
    assert!((0.8..1.2).contains(&seconds), "{seconds} s");
}

#[test]
fn foreign_bytes_are_an_error_and_never_a_panic() {
    let folder = tempfile::tempdir().expect("folder");
    let whole = std::fs::read(media("slides.mp4")).expect("fixture");
    let context = RunContext::background();
    for (seed, name) in
        ["tone.mp3", "tone.m4a", "tone.flac", "tone.ogg", "tone.mkv", "tone.wav"].iter().enumerate()
    {
        let mut bytes = std::fs::read(media(name)).expect("fixture");
        let mut state = seed as u32 + 1;
        for _ in 0..60 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = state as usize % bytes.len();
            bytes[at] = (state >> 13) as u8;
        }
        let path = folder.path().join(name);
        std::fs::write(&path, &bytes).expect("write");
        // Either is right; what counts is that it comes to an end.
        let _ = decode(&path, 0, &MediaTools::none());
        let _ = probe(&path, &MediaTools::none(), &context);
    }
    let half = folder.path().join("half.mp4");
    std::fs::write(&half, &whole[..whole.len() / 2]).expect("write");
    let error = decode(&half, 0, &MediaTools::none()).expect_err("its index is missing");
    assert!(["needs_ffmpeg", "media_damaged"].contains(&error.reason_code()), "{error}");
    let Some(tools) = tools() else { return };
    let error = probe(&half, &tools, &context).expect_err("its index is missing");
    assert_eq!(error.reason_code(), "media_damaged", "{error}");
}

#[test]
fn a_play_list_cannot_make_ffmpeg_read_other_files() {
    let Some(tools) = tools() else { return };
    let folder = tempfile::tempdir().expect("folder");
    std::fs::copy(media("tone.wav"), folder.path().join("secret.wav")).expect("copy");
    let lists = [
        ("list.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nsecret.wav\n#EXT-X-ENDLIST\n"),
        ("list.mp4", "ffconcat version 1.0\nfile secret.wav\n"),
    ];
    for (name, text) in lists {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("write");
        let error = decode(&path, 0, &tools).expect_err("refused");
        assert_eq!(error.reason_code(), "media_damaged", "{name}: {error}");
        assert!(probe(&path, &tools, &RunContext::background()).is_err(), "{name}");
    }
}

#[test]
fn probing_tells_sound_pictures_and_subtitles() {
    let Some(tools) = tools() else { return };
    let context = RunContext::background();
    let info = probe(&media("slides.mp4"), &tools, &context).expect("probes");
    assert_eq!((info.duration_ms, info.has_video, info.width, info.height), (9000, true, 320, 180));
    assert_eq!(info.audio.len(), 1);
    let [text] = info.subtitles.as_slice() else { panic!("{:?}", info.subtitles) };
    assert_eq!((text.language.as_deref(), text.is_text, text.index), (Some("chi"), true, 0));
    let cover = probe(&media("cover.mp3"), &tools, &context).expect("probes");
    assert!(!cover.has_video && cover.audio.len() == 1, "{cover:?}");

    let alone = probe(&media("slides.mp4"), &MediaTools::none(), &context).expect("probes");
    assert_eq!((alone.has_video, alone.audio.len()), (true, 1));
    assert!(alone.duration_ms.abs_diff(9000) < 100, "{alone:?}");
    let missing = probe(Path::new("no/such/file.mp4"), &tools, &context).expect_err("missing");
    assert_eq!(missing.reason_code(), "media_unreadable");
}

#[test]
fn subtitles_come_out_as_srt() {
    let Some(tools) = tools() else { return };
    let context = RunContext::background();
    let text = subtitles(&media("slides.mp4"), 0, &tools, &context).expect("extracts");
    assert!(text.contains("00:00:01,000 --> 00:00:02,500\n卫生间用聚氨酯防水涂料"), "{text}");
    let error = subtitles(&media("slides.mp4"), 1, &tools, &context).expect_err("there is one only");
    assert_eq!(error.reason_code(), "subtitles_not_text");
}

#[test]
fn cancelling_ends_decoding_at_once() {
    let Some(tools) = tools() else { return };
    for name in ["tone.wav", "tone.wma"] {
        let ctx = RunContext::background();
        let mut windows =
            decode_audio(&media(name), 0, Duration::from_millis(100), &tools, &ctx).expect("opens");
        assert!(windows.next().is_some_and(|window| window.is_ok()));
        ctx.cancel.cancel();
        let started = Instant::now();
        let error = windows.find_map(Result::err).expect("cancelled");
        assert_eq!(error.reason_code(), "cancelled");
        assert!(windows.next().is_none());
        assert!(started.elapsed() < Duration::from_millis(200), "{:?}", started.elapsed());
    }
}
