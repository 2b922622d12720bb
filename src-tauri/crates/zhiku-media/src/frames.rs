//! Pictures out of a video: one per scene, with the time for which it is shown.
//!
//! First pass: thumbnails of all key frames, which costs little however long the video is, and of what follows the last one, where
//! encoders often show one more slide without a key frame. Second pass: for each scene the exact moment of the change, and its
//! picture.

use std::path::Path;
use std::time::Duration;

use zhiku_core::RunContext;
use zhiku_core::recognition::Picture;

use crate::error::MediaError;
use crate::probe::MediaInfo;
use crate::process::{Limits, Messages, Running};
use crate::scenes::{HEIGHT, Scene, SceneChooser, THUMBNAIL_BYTES, WIDTH, difference};
use crate::tools::MediaTools;

const WHAT: &str = "pictures of videos";
const SCAN: Limits = Limits { idle: Duration::from_mins(2), total: Duration::from_hours(2) };
const PICTURE: Limits = Limits { idle: Duration::from_secs(30), total: Duration::from_mins(1) };
/// Filters of ffmpeg that choose frames.
const EVERY_FRAME: &str = "null";
const ONE_PER_SECOND: &str = "select=isnan(prev_selected_t)+gte(t-prev_selected_t\\,1)";
/// Key frames closer than this need no closer look.
const EXACT_MS: u64 = 100;
/// Rarer key frames than this are not worth decoding everything between them.
const LONGEST_SEARCH_MS: u64 = 30_000;

/// What bounds the pictures of one video.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameLimits {
    /// Of more scenes, those with the greatest changes are kept.
    pub max_frames: usize,
    /// Pictures are made smaller to fit into a square of this, never larger.
    pub max_side: u32,
}

impl Default for FrameLimits {
    fn default() -> Self {
        Self { max_frames: 240, max_side: 1280 }
    }
}

/// What a scene looks like, and when it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFrame {
    pub start_ms: u64,
    pub end_ms: u64,
    pub picture: Picture,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FramesFound {
    pub scenes: usize,
    /// Scenes beyond [`FrameLimits::max_frames`].
    pub left_out: usize,
}

/// Hands the pictures to `on_frame` one after the other, in order of time, so that only one is in memory.
///
/// Needs ffmpeg ([`MediaError::NeedsFfmpeg`]). `info` is what [`crate::probe()`] said.
pub fn key_frames(
    path: &Path,
    info: &MediaInfo,
    limits: FrameLimits,
    tools: &MediaTools,
    ctx: &RunContext,
    on_frame: &mut dyn FnMut(KeyFrame) -> Result<(), MediaError>,
) -> Result<FramesFound, MediaError> {
    if !info.has_video {
        return Err(MediaError::NoPicture { path: path.to_owned() });
    }
    let (scenes, found) = scan(path, tools, ctx)?.strongest(limits.max_frames);
    let size = fitted(info.width, info.height, limits.max_side);
    let video = Video { path, tools, ctx };
    let starts = scenes.iter().map(|scene| video.exact_start(scene)).collect::<Result<Vec<u64>, _>>()?;
    for (i, scene) in scenes.iter().enumerate() {
        ctx.check()?;
        let end_ms = starts.get(i + 1).copied().unwrap_or(info.duration_ms.max(scene.frame_ms));
        if let Some(picture) = video.picture(scene.frame_ms, size)? {
            on_frame(KeyFrame { start_ms: starts[i], end_ms: end_ms.max(starts[i]), picture })?;
        }
    }
    Ok(FramesFound { scenes: found, left_out: found - scenes.len() })
}

fn scan(path: &Path, tools: &MediaTools, ctx: &RunContext) -> Result<SceneChooser, MediaError> {
    let command = tools.command(path, &["-loglevel", "info", "-skip_frame", "nokey"], WHAT)?;
    let key_frames = thumbnails(command, EVERY_FRAME, path, SCAN, ctx)?;
    let last_ms = key_frames.last().map_or(0, |(at_ms, _)| *at_ms);
    let command = tools.command(path, &["-loglevel", "info", "-ss", &seconds(last_ms)], WHAT)?;
    let rest = thumbnails(command, ONE_PER_SECOND, path, SCAN, ctx)?;
    let mut chooser = SceneChooser::default();
    for (at_ms, thumbnail) in key_frames {
        chooser.push(at_ms, &thumbnail);
    }
    for (after_ms, thumbnail) in rest {
        chooser.push(last_ms + after_ms, &thumbnail);
    }
    Ok(chooser)
}

/// Thumbnails of the frames that `command` decodes and the filter `chosen` lets through, with their times.
fn thumbnails(
    mut command: std::process::Command,
    chosen: &str,
    path: &Path,
    limits: Limits,
    ctx: &RunContext,
) -> Result<Vec<(u64, Vec<u8>)>, MediaError> {
    let filter = format!("{chosen},scale={WIDTH}:{HEIGHT}:flags=area,format=gray,showinfo");
    command.args(["-map", "0:v:0", "-an", "-sn", "-dn", "-vf", &filter, "-fps_mode", "passthrough"]);
    command.args(["-f", "rawvideo", "pipe:1"]);
    let running = Running::start(command, "look through", path, limits, ctx)?;
    // About one key frame per second, for a day.
    let (pixels, messages) = running.read_all(86_400 * THUMBNAIL_BYTES)?;
    Ok(times(&messages).into_iter().zip(pixels.chunks_exact(THUMBNAIL_BYTES).map(<[u8]>::to_vec)).collect())
}

/// The times that ffmpeg's `showinfo` noted, one per frame.
fn times(messages: &Messages) -> Vec<u64> {
    let time = |note: &String| {
        let (_, after) = note.split_once("pts_time:")?;
        let seconds: f64 = after.split_whitespace().next()?.parse().ok()?;
        Some((seconds.max(0.0) * 1000.0).round() as u64)
    };
    messages.notes.iter().filter_map(time).collect()
}

struct Video<'a> {
    path: &'a Path,
    tools: &'a MediaTools,
    ctx: &'a RunContext,
}

impl Video<'_> {
    /// The moment of the change: the first frame after the key frame before that looks more like the new scene than like the
    /// old one.
    fn exact_start(&self, scene: &Scene) -> Result<u64, MediaError> {
        let span = scene.frame_ms.saturating_sub(scene.before_ms);
        if !(EXACT_MS..=LONGEST_SEARCH_MS).contains(&span) {
            return Ok(scene.frame_ms);
        }
        let (from, length) = (seconds(scene.before_ms), seconds(span + EXACT_MS));
        let options = ["-loglevel", "info", "-ss", &from, "-t", &length];
        let command = self.tools.command(self.path, &options, WHAT)?;
        let frames = thumbnails(command, EVERY_FRAME, self.path, PICTURE, self.ctx)?;
        let new = frames.iter().rfind(|(at, _)| scene.before_ms + at <= scene.frame_ms + EXACT_MS / 2);
        let (Some((_, old)), Some((_, new))) = (frames.first(), new) else { return Ok(scene.frame_ms) };
        let changed = frames.iter().find(|(_, frame)| difference(frame, new) < difference(frame, old));
        Ok(changed.map_or(scene.frame_ms, |(at, _)| (scene.before_ms + at).min(scene.frame_ms)))
    }

    /// The frame at a time; `None` when the video ends before it.
    fn picture(&self, at_ms: u64, (width, height): (u32, u32)) -> Result<Option<Picture>, MediaError> {
        let options = ["-loglevel", "error", "-ss", &seconds(at_ms)];
        let mut command = self.tools.command(self.path, &options, WHAT)?;
        let filter = format!("scale={width}:{height}:flags=area,format=rgb24");
        command.args(["-map", "0:v:0", "-an", "-sn", "-dn", "-frames:v", "1", "-vf", &filter]);
        command.args(["-f", "rawvideo", "pipe:1"]);
        let n_bytes = width as usize * height as usize * 3;
        // One more, so that the process ends by itself and not because enough was read.
        let (rgb, _) = Running::start(command, "take a picture of", self.path, PICTURE, self.ctx)?
            .read_all(n_bytes + 1)?;
        Ok((rgb.len() == n_bytes).then_some(Picture { width, height, rgb }))
    }
}

fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1000, ms % 1000)
}

/// The size scaled down to fit, each side even and at least 2.
fn fitted(width: u32, height: u32, max_side: u32) -> (u32, u32) {
    let scale = f64::from(max_side) / f64::from(width.max(height).max(1));
    let side = |side: u32| (((f64::from(side) * scale.min(1.0)) as u32) & !1).max(2);
    (side(width), side(height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_shrink_to_fit_and_never_grow() {
        assert_eq!(fitted(1920, 1080, 1280), (1280, 720));
        assert_eq!(fitted(1080, 1920, 1280), (720, 1280));
        assert_eq!(fitted(321, 241, 1280), (320, 240));
        assert_eq!(fitted(10_000, 1, 1280), (1280, 2));
    }
}
