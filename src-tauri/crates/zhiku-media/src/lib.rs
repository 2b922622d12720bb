//! Recordings: what is in them ([`probe`]), their sound ([`decode_audio`]), their pictures ([`key_frames`]), the subtitles they
//! carry ([`subtitles`]), and what is said in them, with times ([`transcribe`]).
//!
//! Common formats are decoded here. For the rest, and for pictures, ffmpeg runs as a process of its own ([`MediaTools`]); where
//! it is missing the error says so ([`MediaError::reason_code`]) and what can be had without it still works. Everything
//! blocks; call it off the async threads.
//!
//! Deliberately absent: the models of voice activity and speech (`zhiku-onnx`, `zhiku-speech`, behind the traits of
//! `zhiku_core::recognition`), OCR of the pictures, and parsing of subtitles (`zhiku-parse`).

mod audio;
mod decoder;
mod error;
mod ffmpeg_audio;
mod frames;
mod probe;
mod process;
mod resample;
mod scenes;
mod stretch;
mod subtitles;
mod tools;
mod transcribe;

pub use audio::{AudioWindow, AudioWindows, decode_audio};
pub use error::MediaError;
pub use frames::{FrameLimits, FramesFound, KeyFrame, key_frames};
pub use probe::{AudioStream, MediaInfo, SubtitleStream, probe};
pub use subtitles::subtitles;
pub use tools::MediaTools;
pub use transcribe::{Heard, transcribe};
