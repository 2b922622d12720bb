//! What is in a recording.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;
use symphonia::core::codecs::CodecParameters;
use symphonia::core::formats::{FormatReader, Track};
use zhiku_core::RunContext;

use crate::audio::guarded;
use crate::decoder::{Refusal, duration_ms, open_container};
use crate::error::MediaError;
use crate::process::{Limits, Running};
use crate::tools::{MediaTools, add_input};

const LIMITS: Limits = Limits { idle: Duration::from_secs(30), total: Duration::from_secs(30) };
const MAX_ANSWER: usize = 1 << 20;
/// Subtitles that hold text; the others are pictures.
const TEXT_SUBTITLES: [&str; 8] = ["subrip", "srt", "mov_text", "ass", "ssa", "webvtt", "text", "ttml"];
const ENTRIES: &str = "format=duration:stream=codec_type,codec_name,width,height,duration:stream_tags=language,title:\
                       stream_disposition=attached_pic:stream_side_data=rotation";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MediaInfo {
    /// 0 when the file does not say.
    pub duration_ms: u64,
    /// Moving pictures; the cover of an album is none.
    pub has_video: bool,
    /// As it is shown, after turning. 0 without video.
    pub width: u32,
    pub height: u32,
    pub audio: Vec<AudioStream>,
    pub subtitles: Vec<SubtitleStream>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AudioStream {
    /// As ffmpeg names it; `None` when only ffmpeg knows it and is missing.
    pub codec: Option<String>,
    pub language: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubtitleStream {
    /// Among the subtitles, from 0: what [`crate::subtitles()`] takes.
    pub index: usize,
    pub codec: String,
    pub language: Option<String>,
    pub title: Option<String>,
    /// Text and not pictures of text.
    pub is_text: bool,
}

/// Reads the head of a recording: by ffprobe where it is, otherwise by this program, which knows no subtitles and fewer formats.
pub fn probe(path: &Path, tools: &MediaTools, ctx: &RunContext) -> Result<MediaInfo, MediaError> {
    ctx.check()?;
    std::fs::File::open(path).map_err(|error| MediaError::read(path, error))?;
    match tools.ffprobe() {
        Some(ffprobe) => by_ffprobe(&ffprobe, path, ctx),
        None => guarded(path, || match open_container(path) {
            Ok(container) => Ok(by_container(container.as_ref())),
            Err(Refusal::Failed(error)) => Err(error),
            Err(Refusal::Unsupported(_)) => {
                let what = path.extension().map_or("this kind of file".into(), |ext| ext.to_string_lossy());
                Err(MediaError::NeedsFfmpeg { path: path.to_owned(), what: what.into_owned() })
            }
        }),
    }
}

fn by_ffprobe(ffprobe: &Path, path: &Path, ctx: &RunContext) -> Result<MediaInfo, MediaError> {
    let mut command = Command::new(ffprobe);
    command.args(["-loglevel", "error", "-of", "json", "-show_entries", ENTRIES]);
    add_input(&mut command, path);
    let (answer, _) = Running::start(command, "read", path, LIMITS, ctx)?.read_all(MAX_ANSWER)?;
    let answer: Answer = serde_json::from_slice(&answer).map_err(|error| MediaError::damaged(path, error))?;
    Ok(answer.into_info())
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    streams: Vec<Stream>,
    #[serde(default)]
    format: Timed,
}

#[derive(Default, Deserialize)]
struct Timed {
    duration: Option<String>,
}

#[derive(Deserialize)]
struct Stream {
    codec_type: Option<String>,
    codec_name: Option<String>,
    width: Option<u32>,
    height: Option<u32>,
    duration: Option<String>,
    #[serde(default)]
    tags: Tags,
    #[serde(default)]
    disposition: Disposition,
    #[serde(default)]
    side_data_list: Vec<SideData>,
}

#[derive(Default, Deserialize)]
struct Tags {
    language: Option<String>,
    title: Option<String>,
}

#[derive(Default, Deserialize)]
struct Disposition {
    #[serde(default)]
    attached_pic: u8,
}

#[derive(Deserialize)]
struct SideData {
    rotation: Option<i32>,
}

impl Answer {
    fn into_info(self) -> MediaInfo {
        let mut info = MediaInfo::default();
        let mut longest = milliseconds(self.format.duration.as_deref());
        for stream in self.streams {
            longest = longest.max(milliseconds(stream.duration.as_deref()));
            match stream.codec_type.as_deref() {
                Some("video") if stream.disposition.attached_pic == 0 && !info.has_video => {
                    (info.width, info.height) = stream.shown_size();
                    info.has_video = info.width > 0 && info.height > 0;
                }
                Some("audio") => {
                    info.audio.push(AudioStream { codec: stream.codec_name, language: stream.tags.language });
                }
                Some("subtitle") => {
                    let codec = stream.codec_name.unwrap_or_default();
                    info.subtitles.push(SubtitleStream {
                        index: info.subtitles.len(),
                        is_text: TEXT_SUBTITLES.contains(&codec.as_str()),
                        codec,
                        language: stream.tags.language,
                        title: stream.tags.title,
                    });
                }
                _ => {}
            }
        }
        info.duration_ms = longest;
        info
    }
}

impl Stream {
    fn shown_size(&self) -> (u32, u32) {
        let (width, height) = (self.width.unwrap_or(0), self.height.unwrap_or(0));
        let turned =
            self.side_data_list.iter().filter_map(|data| data.rotation).any(|angle| angle % 180 != 0);
        if turned { (height, width) } else { (width, height) }
    }
}

fn milliseconds(seconds: Option<&str>) -> u64 {
    let seconds: f64 = seconds.and_then(|text| text.parse().ok()).unwrap_or(0.0);
    (seconds.max(0.0) * 1000.0).round() as u64
}

fn by_container(container: &dyn FormatReader) -> MediaInfo {
    let mut info = MediaInfo { duration_ms: duration_ms(container).unwrap_or(0), ..MediaInfo::default() };
    for track in container.tracks() {
        match &track.codec_params {
            Some(CodecParameters::Audio(_)) => {
                info.audio.push(AudioStream { codec: None, language: language(track) });
            }
            Some(CodecParameters::Video(video)) if !info.has_video => {
                let size = |side: Option<u16>| side.map_or(0, u32::from);
                (info.width, info.height) = (size(video.width), size(video.height));
                info.has_video = true;
            }
            _ => {}
        }
    }
    info
}

fn language(track: &Track) -> Option<String> {
    track.language.clone().filter(|language| language != "und")
}
