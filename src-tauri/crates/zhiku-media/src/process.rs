//! A process of ffmpeg whose output is read piece by piece. It is killed when it takes too long, when the run is cancelled, and
//! when nobody reads it any more.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use zhiku_core::{RunContext, Stopped};

use crate::error::MediaError;

const CHUNK: usize = 64 * 1024;
/// Chunks that may wait for the reader; then the process waits.
const CHUNKS_AHEAD: usize = 16;
const CANCEL_POLL: Duration = Duration::from_millis(10);
/// Of the process's messages, what an error repeats.
const LAST_LINES: usize = 4;
/// Notes of one run that are kept; a longer recording is cut off there.
const MAX_NOTES: usize = 200_000;
/// A message is no longer than this, whatever a foreign file makes ffmpeg say.
const MAX_LINE: u64 = 4096;

/// How long the reader waits for the process. The time in which nobody wants output does not count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// For the next piece of output.
    pub(crate) idle: Duration,
    /// In all.
    pub(crate) total: Duration,
}

pub(crate) struct Running {
    child: Child,
    tool: PathBuf,
    output: Receiver<Vec<u8>>,
    readers: Option<(JoinHandle<()>, JoinHandle<Messages>)>,
    waited: Duration,
    limits: Limits,
    what: &'static str,
    input: PathBuf,
    ctx: RunContext,
}

/// What the process wrote to its standard error.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    last: Vec<String>,
    /// The lines with a time of a frame.
    pub(crate) notes: Vec<String>,
}

impl Running {
    /// `what` is done to `input`, for errors: "could not {what} {input} within …".
    pub(crate) fn start(
        mut command: Command,
        what: &'static str,
        input: &Path,
        limits: Limits,
        ctx: &RunContext,
    ) -> Result<Self, MediaError> {
        let tool = PathBuf::from(command.get_program());
        let failed =
            |error: std::io::Error| MediaError::Tool { tool: tool.clone(), detail: error.to_string() };
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(failed(std::io::Error::other("no pipes")));
        };
        let (sender, output) = sync_channel(CHUNKS_AHEAD);
        let read_output = move || {
            let mut stdout = stdout;
            let mut chunk = vec![0; CHUNK];
            while let Ok(n) = stdout.read(&mut chunk) {
                if n == 0 || sender.send(chunk[..n].to_vec()).is_err() {
                    break;
                }
            }
        };
        let readers = (std::thread::spawn(read_output), std::thread::spawn(move || collect(stderr)));
        Ok(Self {
            child,
            tool,
            output,
            readers: Some(readers),
            waited: Duration::ZERO,
            limits,
            what,
            input: input.to_owned(),
            ctx: ctx.clone(),
        })
    }

    /// The next piece of output, or `None` at its end.
    pub(crate) fn next_chunk(&mut self) -> Result<Option<Vec<u8>>, MediaError> {
        let began = Instant::now();
        let chunk = loop {
            match self.output.recv_timeout(CANCEL_POLL) {
                Ok(chunk) => break Some(chunk),
                Err(RecvTimeoutError::Disconnected) => break None,
                Err(RecvTimeoutError::Timeout) => self.give_up_if_due(began.elapsed())?,
            }
        };
        self.waited += began.elapsed();
        Ok(chunk)
    }

    fn give_up_if_due(&self, idle: Duration) -> Result<(), MediaError> {
        if self.ctx.cancel.is_cancelled() {
            return Err(Stopped::Cancelled.into());
        }
        if self.ctx.budget.time_left().is_zero() {
            return Err(Stopped::Deadline.into());
        }
        let limit = if idle > self.limits.idle { self.limits.idle } else { self.limits.total };
        if idle > self.limits.idle || self.waited + idle > self.limits.total {
            return Err(MediaError::TooSlow { what: self.what, path: self.input.clone(), limit });
        }
        Ok(())
    }

    /// Call at the end of the output: fails when the process did.
    pub(crate) fn finish(mut self) -> Result<Messages, MediaError> {
        let status = self
            .child
            .wait()
            .map_err(|error| MediaError::Tool { tool: self.tool.clone(), detail: error.to_string() })?;
        let messages = self.join();
        if status.success() {
            return Ok(messages);
        }
        let detail = if messages.last.is_empty() { status.to_string() } else { messages.last.join("; ") };
        Err(MediaError::Damaged { path: self.input.clone(), detail })
    }

    /// All output, at most `most` bytes; the rest is cut off.
    pub(crate) fn read_all(mut self, most: usize) -> Result<(Vec<u8>, Messages), MediaError> {
        let mut all = Vec::new();
        while let Some(chunk) = self.next_chunk()? {
            all.extend(chunk);
            if all.len() >= most {
                all.truncate(most);
                return Ok((all, self.stop()));
            }
        }
        Ok((all, self.finish()?))
    }

    /// Ends the process, whose output is no longer wanted.
    pub(crate) fn stop(mut self) -> Messages {
        self.kill();
        self.join()
    }

    fn kill(&mut self) {
        // It may have ended by itself; then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn join(&mut self) -> Messages {
        let Some((output, messages)) = self.readers.take() else { return Messages::default() };
        // The process has ended, so the pipes are closed; nothing is read from the channel any more.
        self.output = sync_channel(0).1;
        let _ = output.join();
        messages.join().unwrap_or_default()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.readers.is_some() {
            self.kill();
            self.join();
        }
    }
}

fn collect(stderr: impl Read) -> Messages {
    let mut messages = Messages::default();
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    while reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        line.clear();
        if text.contains("pts_time:") {
            if messages.notes.len() < MAX_NOTES {
                messages.notes.push(text);
            }
        } else if !text.is_empty() {
            messages.last.push(text);
            if messages.last.len() > LAST_LINES {
                messages.last.remove(0);
            }
        }
    }
    messages
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const SOON: Limits = Limits { idle: Duration::from_millis(60), total: Duration::from_secs(5) };

    fn start(script: &str, limits: Limits, ctx: &RunContext) -> Running {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        Running::start(command, "read", Path::new("a.mp4"), limits, ctx).expect("starts")
    }

    #[test]
    fn output_and_messages_are_read() {
        let running =
            start("echo pts_time:1.5 >&2; echo hallo; echo why >&2", SOON, &RunContext::background());
        let (output, messages) = running.read_all(100).expect("ends well");
        assert_eq!(output, b"hallo\n");
        assert_eq!(
            (messages.notes, messages.last),
            (vec!["pts_time:1.5".to_owned()], vec!["why".to_owned()])
        );
    }

    #[test]
    fn a_failure_repeats_the_last_words() {
        let running = start("echo bad header >&2; exit 3", SOON, &RunContext::background());
        let error = running.read_all(100).expect_err("fails");
        assert_eq!(error.to_string(), "could not read a.mp4: bad header");
    }

    #[test]
    fn a_process_that_hangs_is_killed() {
        let started = Instant::now();
        let running = start("exec sleep 30", SOON, &RunContext::background());
        let error = running.read_all(100).expect_err("hangs");
        assert_eq!(error.reason_code(), "media_too_slow");
        assert!(started.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn cancelling_kills_the_process_at_once() {
        let ctx = RunContext::background();
        let limits = Limits { idle: Duration::from_mins(1), total: Duration::from_mins(1) };
        let mut running = start("exec sleep 30", limits, &ctx);
        ctx.cancel.cancel();
        let started = Instant::now();
        assert_eq!(running.next_chunk().expect_err("cancelled").reason_code(), "cancelled");
        drop(running);
        assert!(started.elapsed() < Duration::from_secs(2));
    }

    #[test]
    fn endless_output_is_cut_off() {
        let running = start("exec yes", SOON, &RunContext::background());
        assert_eq!(running.read_all(5).expect("cut").0, b"y\ny\ny");
    }
}
