//! Subtitles that a recording carries, as SRT text.

use std::path::Path;
use std::time::Duration;

use zhiku_core::RunContext;

use crate::error::MediaError;
use crate::process::{Limits, Running};
use crate::tools::MediaTools;

const LIMITS: Limits = Limits { idle: Duration::from_mins(2), total: Duration::from_mins(10) };
/// A day of talk is 5 MB.
const MAX_BYTES: usize = 20 << 20;

/// The subtitles with this index among those of the recording. Needs ffmpeg ([`MediaError::NeedsFfmpeg`]).
pub fn subtitles(
    path: &Path,
    index: usize,
    tools: &MediaTools,
    ctx: &RunContext,
) -> Result<String, MediaError> {
    ctx.check()?;
    let mut command = tools.command(path, &["-loglevel", "error"], "subtitles inside recordings")?;
    command.args(["-map", &format!("0:s:{index}"), "-vn", "-an", "-dn", "-f", "srt", "pipe:1"]);
    let read = Running::start(command, "extract the subtitles of", path, LIMITS, ctx)?.read_all(MAX_BYTES);
    match read {
        Ok((text, _)) => Ok(String::from_utf8_lossy(&text).into_owned()),
        Err(MediaError::Damaged { .. }) => Err(MediaError::NoSubtitles { path: path.to_owned(), index }),
        Err(error) => Err(error),
    }
}
