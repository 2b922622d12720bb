//! Lets a chat model write the answer, and keeps from the reader what it must not see while it writes: marks that name no
//! evidence, and any further word once a document of the evidence was revoked.

use std::sync::Arc;

use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use zhiku_core::model::{ChatDelta, ChatModel, ChatRequest, ModelError, StopReason};
use zhiku_core::{
    AnswerEvent, DocumentId, ErrorCode, EvidenceSet, Fault, Reason, RunContext, Stopped, Usage,
};

use super::events::{Events, LogError};
use super::prompt;
use super::sources::Sources;
use crate::citations::cited::{CitedSentence, CitedText, Emit};
use crate::citations::guard::MarkerGuard;

/// What the rules tell a model to write when the evidence answers nothing.
const NO_ANSWER: &str = "NO ANSWER";

/// How the writing ended.
#[derive(Debug)]
pub(super) enum Written {
    /// `cut`: the model reached its output limit, its last sentence may be half.
    Done {
        sentences: Vec<CitedSentence>,
        usage: Usage,
        removed_marks: Vec<String>,
        cut: bool,
    },
    /// Before a word reached the reader.
    FailedBeforeText(ModelError),
    FailedMidway(ModelError),
    Exhausted {
        sentences: Vec<CitedSentence>,
        usage: Usage,
        reason: Reason,
    },
    Cancelled,
}

pub(super) struct ModelWriter<'a> {
    pub(super) model: &'a dyn ChatModel,
    pub(super) evidence: &'a EvidenceSet,
    pub(super) sources: &'a Arc<dyn Sources>,
    pub(super) ctx: &'a RunContext,
}

impl ModelWriter<'_> {
    /// Reserves, streams, settles. Whatever happens, what was reserved and not used is given back.
    pub(super) async fn write(
        &self,
        request: ChatRequest,
        events: &mut Events<'_>,
    ) -> Result<Written, LogError> {
        let budget = &self.ctx.budget;
        let input = prompt::estimate_tokens(&request);
        let reserved = input + u64::from(request.max_output_tokens);
        if let Err(refused) = budget.reserve_model_call().and_then(|()| budget.reserve_tokens(reserved)) {
            let reason =
                Reason::new("budget_exhausted").with("what", refused.what).with("limit", refused.limit);
            return Ok(Written::Exhausted { sentences: Vec::new(), usage: Usage::default(), reason });
        }
        let mut progress = Progress::new(self, input);
        let written = self.stream(request, &mut progress, events).await;
        budget.settle_tokens(reserved, progress.usage.input_tokens + progress.usage.output_tokens);
        let end = written?;
        let usage = progress.usage;
        Ok(match end {
            End::Stop(cut) => {
                let removed_marks = progress.guard.removed().to_vec();
                Written::Done { sentences: progress.text.into_sentences(), usage, removed_marks, cut }
            }
            End::Failed(error) if progress.reader_saw_text => Written::FailedMidway(error),
            End::Failed(error) => Written::FailedBeforeText(error),
            End::Deadline => {
                let mut sentences = progress.text.into_sentences();
                sentences.pop();
                Written::Exhausted { sentences, usage, reason: Reason::new("deadline") }
            }
            End::Cancelled => Written::Cancelled,
        })
    }

    async fn stream(
        &self,
        request: ChatRequest,
        progress: &mut Progress<'_>,
        events: &mut Events<'_>,
    ) -> Result<End, LogError> {
        let opened = self.unless_stopped(self.model.stream(request, self.ctx)).await;
        let mut stream: BoxStream<'_, Result<ChatDelta, ModelError>> = match opened {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return Ok(self.failed(error)),
            Err(end) => return Ok(end),
        };
        loop {
            let next = match self.unless_stopped(stream.next()).await {
                Ok(next) => next,
                Err(end) => return Ok(end),
            };
            // What is there already goes out as one event.
            let mut batch = vec![next];
            while batch.len() < 64 && matches!(batch.last(), Some(Some(Ok(ChatDelta::Text(_))))) {
                match stream.next().now_or_never() {
                    Some(next) => batch.push(next),
                    None => break,
                }
            }
            if let Err(stopped) = self.ctx.check() {
                return Ok(End::from(stopped));
            }
            if let Some(end) = self.take(batch, progress, events).await? {
                return Ok(end);
            }
        }
    }

    async fn take(
        &self,
        batch: Vec<Option<Result<ChatDelta, ModelError>>>,
        progress: &mut Progress<'_>,
        events: &mut Events<'_>,
    ) -> Result<Option<End>, LogError> {
        let mut text = String::new();
        let mut end = None;
        let mut reported = None;
        for item in batch {
            match item {
                Some(Ok(ChatDelta::Text(delta))) => text.push_str(&delta),
                Some(Ok(ChatDelta::Done { stop, usage })) => {
                    reported = Some(usage);
                    end = Some(match stop {
                        StopReason::EndOfTurn => End::Stop(false),
                        StopReason::MaxTokens => End::Stop(true),
                        StopReason::Refused => {
                            End::Failed(error(ErrorCode::Denied, "the model declined to answer"))
                        }
                        StopReason::Incomplete => End::Failed(cut_off()),
                    });
                }
                Some(Err(error)) => end = Some(self.failed(error)),
                None => end = Some(End::Failed(cut_off())),
            }
            if end.is_some() {
                break;
            }
        }
        let last = matches!(end, Some(End::Stop(_)));
        let emits = progress.push(&text, last);
        if let Some(reported) = reported {
            progress.usage = settled(reported, &progress.usage);
        }
        self.send(emits, progress, events).await?;
        Ok(end)
    }

    async fn send(
        &self,
        emits: Vec<Emit>,
        progress: &mut Progress<'_>,
        events: &mut Events<'_>,
    ) -> Result<(), LogError> {
        if emits.is_empty() || progress.withheld {
            return Ok(());
        }
        if !self.all_visible().await {
            // What was revoked is gone from the next event on; the final text is made without it.
            progress.withheld = true;
            return Ok(());
        }
        for emit in emits {
            match emit {
                Emit::Text(text) => {
                    events.send(|seq| AnswerEvent::TextDelta { seq, revision: 1, text }).await?;
                    progress.reader_saw_text = true;
                }
                Emit::Citation { n, evidence_id } => {
                    events.send(|seq| AnswerEvent::Citation { seq, n, evidence_id }).await?;
                }
            }
        }
        Ok(())
    }

    async fn all_visible(&self) -> bool {
        let mut documents: Vec<DocumentId> =
            self.evidence.items.iter().map(|item| item.document_id).collect();
        documents.sort_unstable();
        documents.dedup();
        let sources = Arc::clone(self.sources);
        let wanted = documents.len();
        let visible = tokio::task::spawn_blocking(move || sources.visible(&documents)).await;
        matches!(visible, Ok(Ok(visible)) if visible.len() >= wanted)
    }

    /// Cancel and deadline end the waiting, not only the next check.
    async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Result<T, End> {
        tokio::select! {
            biased;
            () = self.ctx.cancel.cancelled() => Err(End::Cancelled),
            () = tokio::time::sleep(self.ctx.budget.time_left()) => Err(End::Deadline),
            done = work => Ok(done),
        }
    }

    fn failed(&self, error: ModelError) -> End {
        if self.ctx.cancel.is_cancelled() { End::Cancelled } else { End::Failed(error) }
    }
}

enum End {
    /// `true`: cut at the output limit.
    Stop(bool),
    Failed(ModelError),
    Deadline,
    Cancelled,
}

impl From<Stopped> for End {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Cancelled => Self::Cancelled,
            Stopped::Deadline => Self::Deadline,
        }
    }
}

struct Progress<'a> {
    guard: MarkerGuard,
    text: CitedText<'a>,
    /// The beginning, while it still may become [`NO_ANSWER`].
    opening: Option<String>,
    usage: Usage,
    reader_saw_text: bool,
    withheld: bool,
}

impl<'a> Progress<'a> {
    fn new(writer: &ModelWriter<'a>, input_tokens: u64) -> Self {
        Self {
            guard: MarkerGuard::new(writer.evidence.items.len()),
            text: CitedText::new(writer.evidence),
            opening: Some(String::new()),
            usage: Usage { model_calls: 1, input_tokens, output_tokens: 0 },
            reader_saw_text: false,
            withheld: false,
        }
    }

    fn push(&mut self, delta: &str, last: bool) -> Vec<Emit> {
        self.usage.output_tokens += prompt::estimate_text(delta);
        let delta = match self.opening.take() {
            None => delta.to_owned(),
            Some(opening) => {
                let opening = opening + delta;
                let start = opening.trim().trim_end_matches('.');
                if start.len() <= NO_ANSWER.len()
                    && NO_ANSWER.starts_with(start)
                    && !(last && start != NO_ANSWER)
                {
                    self.opening = Some(opening);
                    return Vec::new();
                }
                opening
            }
        };
        let mut pieces = self.guard.push(&delta);
        if last {
            pieces.extend(self.guard.finish());
        }
        self.text.push(pieces)
    }
}

/// A provider that reports no usage is taken at our estimate.
fn settled(reported: Usage, estimated: &Usage) -> Usage {
    let either = |reported: u64, estimated: u64| if reported > 0 { reported } else { estimated };
    Usage {
        model_calls: reported.model_calls.max(estimated.model_calls),
        input_tokens: either(reported.input_tokens, estimated.input_tokens),
        output_tokens: either(reported.output_tokens, estimated.output_tokens),
    }
}

fn cut_off() -> ModelError {
    error(ErrorCode::Network, "the model's stream ended before its answer was complete")
}

fn error(code: ErrorCode, message: &str) -> ModelError {
    ModelError { code, fault: Fault::Environment, message: message.to_owned(), hint: None, retryable: true }
}
