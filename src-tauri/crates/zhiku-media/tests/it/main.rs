//! Against the small files of fixtures/make_media.py, and against the recordings of fixtures/make_recordings.py and the real
//! models where they are; a test without them says that it was skipped.

mod files;
mod frames;
mod recordings;
mod score;

use std::path::PathBuf;

use zhiku_media::MediaTools;

pub(crate) fn media(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/media").join(name)
}

/// ffmpeg, or a note that the test is skipped.
pub(crate) fn tools() -> Option<MediaTools> {
    let tools = MediaTools::find();
    if tools.ffmpeg().is_none() {
        eprintln!("skipped: ffmpeg is not installed");
        return None;
    }
    Some(tools)
}
