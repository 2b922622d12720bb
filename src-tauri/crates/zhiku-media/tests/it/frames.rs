use zhiku_core::RunContext;
use zhiku_media::{FrameLimits, KeyFrame, MediaError, MediaTools, key_frames, probe};

use crate::{media, tools};

fn frames(limits: FrameLimits, tools: &MediaTools) -> Result<(Vec<KeyFrame>, usize), MediaError> {
    let (path, ctx) = (media("slides.mp4"), RunContext::background());
    let info = probe(&path, tools, &ctx)?;
    let mut frames = Vec::new();
    let found = key_frames(&path, &info, limits, tools, &ctx, &mut |frame| {
        frames.push(frame);
        Ok(())
    })?;
    Ok((frames, found.left_out))
}

#[test]
fn each_slide_is_one_picture_with_its_exact_time() {
    let Some(tools) = tools() else { return };
    let (frames, left_out) = frames(FrameLimits::default(), &tools).expect("frames");
    let times: Vec<(u64, u64)> = frames.iter().map(|frame| (frame.start_ms, frame.end_ms)).collect();
    assert_eq!((times, left_out), (vec![(0, 3200), (3200, 6400), (6400, 9000)], 0));
    for (i, frame) in frames.iter().enumerate() {
        let picture = &frame.picture;
        assert_eq!((picture.width, picture.height, picture.rgb.len()), (320, 180, 320 * 180 * 3));
        // The first bar of each slide is further right than that of the slide before, and dark.
        let dark = |x: usize| picture.rgb[(40 * 320 + x) * 3] < 120;
        let left = 20 + 60 * i;
        assert!(dark(left + 10) && dark(left + 110) && !dark(left - 10), "slide {i}");
    }
}

#[test]
fn pictures_are_bounded_in_number_and_size() {
    let Some(tools) = tools() else { return };
    let (frames, left_out) = frames(FrameLimits { max_frames: 2, max_side: 100 }, &tools).expect("frames");
    assert_eq!((frames.len(), left_out), (2, 1));
    assert!(frames.iter().all(|frame| (frame.picture.width, frame.picture.height) == (100, 56)));
}

#[test]
fn without_ffmpeg_or_video_there_are_reasons() {
    let ctx = RunContext::background();
    let mut ignore = |_| Ok(());
    let none = MediaTools::none();
    let info = probe(&media("slides.mp4"), &none, &ctx).expect("probes");
    let limits = FrameLimits::default();
    let error =
        key_frames(&media("slides.mp4"), &info, limits, &none, &ctx, &mut ignore).expect_err("needs ffmpeg");
    assert_eq!(error.reason_code(), "needs_ffmpeg");
    let info = probe(&media("tone.mp3"), &none, &ctx).expect("probes");
    let error =
        key_frames(&media("tone.mp3"), &info, limits, &none, &ctx, &mut ignore).expect_err("no video");
    assert_eq!(error.reason_code(), "media_without_picture");
}
