//! The stream of one run: every event is recorded before it is sent, numbers count from 1, exactly one event ends it.

use async_trait::async_trait;
use tokio::sync::mpsc::UnboundedSender;
use zhiku_core::AnswerEvent;

/// An event could not be recorded. It was not sent either: a reader sees the stream as incomplete.
#[derive(Clone, Debug, thiserror::Error)]
#[error("could not record event {seq}: {message}")]
pub struct LogError {
    pub seq: u64,
    pub message: String,
}

/// Where the events of one run are kept.
#[async_trait]
pub trait EventLog: Send + Sync {
    /// Returns when the event is durable.
    async fn append(&self, event: &AnswerEvent) -> Result<(), LogError>;
}

/// Numbers, records, sends.
pub(super) struct Events<'a> {
    log: &'a dyn EventLog,
    sender: &'a UnboundedSender<AnswerEvent>,
    seq: u64,
}

impl<'a> Events<'a> {
    pub(super) fn new(log: &'a dyn EventLog, sender: &'a UnboundedSender<AnswerEvent>) -> Self {
        Self { log, sender, seq: 0 }
    }

    pub(super) async fn send(&mut self, event: impl FnOnce(u64) -> AnswerEvent) -> Result<(), LogError> {
        let event = event(self.seq + 1);
        self.log.append(&event).await?;
        self.seq += 1;
        // A window that went away reads the log when it comes back.
        let _ = self.sender.send(event);
        Ok(())
    }
}

/// What a reader that has seen everything up to `after_seq` still has to see: repeated numbers and anything behind the end of
/// the stream are left out.
pub fn replay(events: &[AnswerEvent], after_seq: u64) -> Vec<&AnswerEvent> {
    let mut last = 0;
    let mut ended = false;
    let mut rest = Vec::new();
    for event in events {
        if ended || event.seq() <= last {
            continue;
        }
        last = event.seq();
        ended = event.is_terminal();
        if last > after_seq {
            rest.push(event);
        }
    }
    rest
}

/// Whether a recorded stream came to its end. One that did not was interrupted.
pub fn is_complete(events: &[AnswerEvent]) -> bool {
    events.iter().any(AnswerEvent::is_terminal)
}
