//! Sound of every other format, decoded by ffmpeg.

use std::path::Path;
use std::time::Duration;

use zhiku_core::RunContext;
use zhiku_core::recognition::SPEECH_SAMPLE_RATE;

use crate::error::MediaError;
use crate::process::{Limits, Running};
use crate::tools::MediaTools;

/// Seeking in a file without an index reads all of it.
const IDLE: Duration = Duration::from_mins(2);
/// For a recording of many hours.
const TOTAL: Duration = Duration::from_hours(2);

pub(crate) struct FfmpegAudio {
    running: Option<Running>,
    /// Bytes of an unfinished sample.
    rest: Vec<u8>,
}

impl FfmpegAudio {
    pub(crate) fn start(
        path: &Path,
        from_ms: u64,
        what: &str,
        tools: &MediaTools,
        ctx: &RunContext,
    ) -> Result<Self, MediaError> {
        let from = format!("{}.{:03}", from_ms / 1000, from_ms % 1000);
        let mut command = tools.command(path, &["-loglevel", "error", "-ss", &from], what)?;
        command.args(["-map", "0:a:0", "-vn", "-sn", "-dn", "-ac", "1", "-ar"]);
        command.arg(SPEECH_SAMPLE_RATE.to_string()).args(["-f", "f32le", "pipe:1"]);
        let limits = Limits { idle: IDLE, total: TOTAL };
        let running = Running::start(command, "decode", path, limits, ctx)?;
        Ok(Self { running: Some(running), rest: Vec::new() })
    }

    /// The next samples, or `None` at the end.
    pub(crate) fn next_samples(&mut self) -> Result<Option<Vec<f32>>, MediaError> {
        let Some(running) = &mut self.running else { return Ok(None) };
        let Some(chunk) = running.next_chunk()? else {
            return match self.running.take().map(Running::finish) {
                Some(Err(error)) => Err(error),
                _ => Ok(None),
            };
        };
        self.rest.extend(chunk);
        let whole = self.rest.len() / 4 * 4;
        let samples = self.rest[..whole].chunks_exact(4).map(|bytes| {
            let sample = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            if sample.is_finite() { sample } else { 0.0 }
        });
        let samples = samples.collect();
        self.rest.drain(..whole);
        Ok(Some(samples))
    }
}
