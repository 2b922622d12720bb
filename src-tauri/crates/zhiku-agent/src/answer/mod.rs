//! One question from its first event to its last.
//!
//! retrieve → freeze the evidence → write (extractive, or a chat model over the same evidence) → judge each sentence → final.
//! Rights are read again before anything is written and before the end: what was revoked meanwhile is gone from the answer.
//! Start at [`answer_question`]. Deliberately absent: how retrieval works, where events are stored, who the principal is.

mod events;
mod finish;
mod follow_up;
mod model_writer;
mod phrases;
mod prompt;
mod sources;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use zhiku_core::model::{ChatModel, Embedder};
use zhiku_core::{
    Answer, AnswerEvent, AnswerStatus, Confidence, DocumentId, ErrorCode, EvidenceId, EvidenceSet,
    ExitReason, Gap, NodeRecord, Reason, Route, RunContext, Stage, Stopped, Usage,
};

use crate::citations::cited::{CitedSentence, Part};
use crate::citations::{CitationBook, Numbered};
use crate::extractive::{Extract, ExtractInput, SubQuery, extract};
use crate::text::terms::{TermWeights, question_terms};
use crate::text::{Language, language_of};
use events::Events;
pub use events::{EventLog, LogError, is_complete, replay};
use finish::{Draft, Origin, RunFacts, finish};
use model_writer::{ModelWriter, Written};
pub use prompt::PROMPT_VERSION;
pub use sources::{Retrieved, SourceError, Sources};

/// An earlier question of the conversation and what was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    pub question: String,
    /// Empty when something it cites may not be seen any more: the host reads the rights again before it passes an old answer on.
    pub answer: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerQuestion {
    pub text: String,
    /// Oldest first. Helps to understand the question; never a source.
    pub history: Vec<Turn>,
}

/// Who writes.
#[derive(Clone)]
pub enum Writer {
    Extractive,
    Model(Arc<dyn ChatModel>),
}

/// What a run works with. Cheap to clone.
#[derive(Clone)]
pub struct AnswerDeps {
    pub sources: Arc<dyn Sources>,
    /// Sharpens selection and verification where it is present.
    pub embedder: Option<Arc<dyn Embedder>>,
    pub writer: Writer,
    pub log: Arc<dyn EventLog>,
    pub events: UnboundedSender<AnswerEvent>,
}

/// How a run ended; the same as its last event.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    Final(Box<Answer>),
    Error { code: ErrorCode, message: String, hint: Option<String>, retryable: bool },
    Cancelled,
}

/// Answers one question. Returns when the terminal event is recorded and sent; an error means that recording failed, and then
/// no terminal event was sent.
pub async fn answer_question(
    deps: &AnswerDeps,
    question: &AnswerQuestion,
    ctx: &RunContext,
) -> Result<Ending, LogError> {
    let mut events = Events::new(deps.log.as_ref(), &deps.events);
    let run_id = ctx.run_id;
    events.send(|seq| AnswerEvent::RunStarted { seq, run_id }).await?;
    let run = Run { deps, question, ctx, language: language_of(&question.text) };
    let ending = match run.answer(&mut events).await {
        Ok(ending) | Err(Halt::Failed(ending)) => ending,
        Err(Halt::Log(error)) => return Err(error),
        Err(Halt::Cancelled) => Ending::Cancelled,
    };
    let last = ending.clone();
    events
        .send(|seq| match last {
            Ending::Final(answer) => AnswerEvent::Final { seq, revision: 2, replace: true, answer },
            Ending::Error { code, message, hint, retryable } => {
                AnswerEvent::Error { seq, code: code.as_str().to_owned(), message, hint, retryable }
            }
            Ending::Cancelled => AnswerEvent::Cancelled { seq },
        })
        .await?;
    Ok(ending)
}

/// Why a run does not go on to a final answer.
enum Halt {
    Log(LogError),
    Cancelled,
    Failed(Ending),
}

impl From<LogError> for Halt {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

impl From<SourceError> for Halt {
    fn from(error: SourceError) -> Self {
        if error.code == ErrorCode::Cancelled {
            return Self::Cancelled;
        }
        let SourceError { code, message, hint, retryable } = error;
        Self::Failed(Ending::Error { code, message, hint, retryable })
    }
}

struct Run<'a> {
    deps: &'a AnswerDeps,
    question: &'a AnswerQuestion,
    ctx: &'a RunContext,
    language: Language,
}

impl Run<'_> {
    async fn answer(&self, events: &mut Events<'_>) -> Result<Ending, Halt> {
        if let Some((reply, reason)) = phrases::small_talk(&self.question.text, self.language) {
            return self.small_talk(reply, reason, events).await;
        }
        let retrieved = self.retrieve(events).await?;
        let (evidence_set_id, items) = (retrieved.evidence.evidence_set_id, retrieved.evidence.items.clone());
        events.send(|seq| AnswerEvent::EvidenceReady { seq, evidence_set_id, items }).await?;

        let live = self.visible_part(&retrieved.evidence).await?;
        let started = Instant::now();
        events.send(|seq| AnswerEvent::Status { seq, stage: Stage::Writing }).await?;
        let nothing = live.items.is_empty() || !retrieved.sub_queries.iter().any(|part| part.sufficient);
        let mut draft = match &self.deps.writer {
            _ if nothing => empty_draft(&retrieved, live),
            Writer::Extractive => self.write_extract(&retrieved, live, None, events).await?,
            Writer::Model(model) => self.write_with_model(model.as_ref(), &retrieved, live, events).await?,
        };
        let wrote = NodeRecord {
            node: "write".to_owned(),
            took_ms: started.elapsed().as_secs_f64() * 1e3,
            facts: serde_json::json!({ "sentences": draft.sentences.len(), "prompt_version": PROMPT_VERSION }),
        };

        events.send(|seq| AnswerEvent::Status { seq, stage: Stage::Verifying }).await?;
        let visible = self.visible(&draft.evidence).await?;
        let revoked = draft.evidence.items.iter().any(|item| !visible.contains(&item.document_id));
        if revoked && draft.origin == Origin::Extractive {
            let live = part_of(&draft.evidence, &visible);
            draft = draft_of(self.extract(&retrieved, &live).await?, &retrieved, live, draft.note);
        } else if revoked {
            draft.without_revoked(&visible);
        }
        let answer = self.finish(draft, &retrieved, wrote, revoked).await?;
        Ok(Ending::Final(Box::new(answer)))
    }

    async fn small_talk(&self, reply: &str, reason: Reason, events: &mut Events<'_>) -> Result<Ending, Halt> {
        events.send(|seq| AnswerEvent::TextDelta { seq, revision: 1, text: reply.to_owned() }).await?;
        Ok(Ending::Final(Box::new(Answer {
            status: AnswerStatus::Completed,
            text: reply.to_owned(),
            citations: Vec::new(),
            claims: Vec::new(),
            gaps: Vec::new(),
            confidence: Confidence::None,
            usage: Usage::default(),
            reason: reason.clone(),
            route: Route { name: "direct".to_owned(), reason },
            exit_reason: ExitReason::NothingFound,
            node_trace: Vec::new(),
        })))
    }

    /// Retrieval on a blocking thread; its stages become events, cancelling does not wait for it.
    async fn retrieve(&self, events: &mut Events<'_>) -> Result<Retrieved, Halt> {
        let sources = Arc::clone(&self.deps.sources);
        let searched = follow_up::searched(&self.question.text, &self.question.history);
        let ctx = self.ctx.clone();
        let (stages, mut seen) = unbounded_channel();
        let work = async move {
            tokio::task::spawn_blocking(move || {
                sources.retrieve(&searched, &ctx, &mut |stage| {
                    // The driver may have been cancelled meanwhile.
                    let _ = stages.send(stage);
                })
            })
            .await
        };
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                () = self.ctx.cancel.cancelled() => return Err(Halt::Cancelled),
                Some(stage) = seen.recv() => events.send(|seq| AnswerEvent::Status { seq, stage }).await?,
                done = &mut work => {
                    let retrieved = done.map_err(crashed)??;
                    if retrieved.exit_reason == ExitReason::Cancelled {
                        return Err(Halt::Cancelled);
                    }
                    return Ok(retrieved);
                }
            }
        }
    }

    async fn write_extract(
        &self,
        retrieved: &Retrieved,
        live: EvidenceSet,
        note: Option<Reason>,
        events: &mut Events<'_>,
    ) -> Result<Draft, Halt> {
        let extract = self.extract(retrieved, &live).await?;
        if !extract.is_empty() {
            stream_sentences(&extract.sentences, &live, events).await?;
        }
        Ok(draft_of(extract, retrieved, live, note))
    }

    async fn extract(&self, retrieved: &Retrieved, live: &EvidenceSet) -> Result<Extract, Halt> {
        let sources = Arc::clone(&self.deps.sources);
        let embedder = self.deps.embedder.clone();
        let (parts, evidence, ctx) = (retrieved.sub_queries.clone(), live.clone(), self.ctx.clone());
        let extracted = self
            .blocking(move || {
                let weights = weights(sources.as_ref(), &parts);
                let input = ExtractInput {
                    sub_queries: &parts,
                    evidence: &evidence,
                    weights: &weights,
                    embedder: embedder.as_deref(),
                };
                extract(&input, &ctx)
            })
            .await?;
        extracted.map_err(|stopped| match stopped {
            Stopped::Cancelled => Halt::Cancelled,
            Stopped::Deadline => Halt::Failed(Ending::Error {
                code: ErrorCode::Timeout,
                message: "the time for this question was over before an answer was written".to_owned(),
                hint: None,
                retryable: true,
            }),
        })
    }

    async fn write_with_model(
        &self,
        model: &dyn ChatModel,
        retrieved: &Retrieved,
        live: EvidenceSet,
        events: &mut Events<'_>,
    ) -> Result<Draft, Halt> {
        let request = prompt::request(self.question, &live.items, &retrieved.gaps, self.language);
        let writer = ModelWriter { model, evidence: &live, sources: &self.deps.sources, ctx: self.ctx };
        let written = writer.write(request, events).await?;
        let draft = |sentences, usage, note, exhausted| Draft {
            origin: Origin::Model(model.name()),
            sentences,
            evidence: live.clone(),
            gaps: retrieved.gaps.clone(),
            conflicts: Vec::new(),
            usage,
            note,
            exhausted,
        };
        match written {
            Written::Cancelled => Err(Halt::Cancelled),
            Written::Done { mut sentences, usage, removed_marks, cut } => {
                if cut {
                    sentences.pop();
                }
                let note = if cut {
                    Some(Reason::new("answer_cut"))
                } else if removed_marks.is_empty() {
                    None
                } else {
                    Some(Reason::new("marks_removed").with("marks", removed_marks.join(" ")))
                };
                Ok(draft(sentences, usage, note, false))
            }
            Written::Exhausted { sentences, usage, reason } => {
                Ok(draft(sentences, usage, Some(reason), true))
            }
            Written::FailedMidway(error) => Err(Halt::Failed(Ending::Error {
                code: error.code,
                message: error.message,
                hint: error.hint,
                retryable: error.retryable,
            })),
            Written::FailedBeforeText(error) => {
                let note = Reason::new("model_failed")
                    .with("code", error.code.as_str())
                    .with("message", &error.message)
                    .with("model", model.name());
                self.write_extract(retrieved, live, Some(note), events).await
            }
        }
    }

    async fn finish(
        &self,
        draft: Draft,
        retrieved: &Retrieved,
        wrote: NodeRecord,
        strict: bool,
    ) -> Result<Answer, Halt> {
        let n_parts = retrieved.sub_queries.len();
        let reason = match n_parts {
            0 | 1 => Reason::new("single_question"),
            n => Reason::new("several_parts").with("n", n),
        };
        let mut searched: Vec<String> = retrieved.sub_queries.iter().map(|part| part.text.clone()).collect();
        if searched.is_empty() {
            searched.push(self.question.text.clone());
        }
        let mut node_trace = retrieved.node_trace.clone();
        node_trace.push(wrote);
        let facts = RunFacts {
            language: self.language,
            searched,
            route: Route { name: "direct".to_owned(), reason },
            exit_reason: retrieved.exit_reason,
            node_trace,
        };
        let (embedder, ctx) = (self.deps.embedder.clone(), self.ctx.clone());
        self.blocking(move || finish(draft, facts, embedder.as_deref(), strict, &ctx)).await
    }

    async fn visible(&self, evidence: &EvidenceSet) -> Result<HashSet<DocumentId>, Halt> {
        let mut documents: Vec<DocumentId> = evidence.items.iter().map(|item| item.document_id).collect();
        documents.sort_unstable();
        documents.dedup();
        let sources = Arc::clone(&self.deps.sources);
        Ok(self.blocking(move || sources.visible(&documents)).await??)
    }

    async fn visible_part(&self, evidence: &EvidenceSet) -> Result<EvidenceSet, Halt> {
        Ok(part_of(evidence, &self.visible(evidence).await?))
    }

    /// Work that blocks, on a thread for it. Cancelling does not wait for its end.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Halt> {
        tokio::select! {
            biased;
            () = self.ctx.cancel.cancelled() => Err(Halt::Cancelled),
            done = tokio::task::spawn_blocking(work) => done.map_err(crashed),
        }
    }
}

fn empty_draft(retrieved: &Retrieved, live: EvidenceSet) -> Draft {
    let late = retrieved.exit_reason == ExitReason::Deadline;
    let note = late.then(|| Reason::new("deadline"));
    Draft { exhausted: late, ..draft_of(Extract::default(), retrieved, live, note) }
}

fn draft_of(extract: Extract, retrieved: &Retrieved, live: EvidenceSet, note: Option<Reason>) -> Draft {
    Draft {
        origin: Origin::Extractive,
        gaps: merged(&retrieved.gaps, extract.gaps),
        sentences: extract.sentences,
        conflicts: extract.conflicts,
        evidence: live,
        usage: Usage::default(),
        note,
        exhausted: false,
    }
}

fn crashed(error: tokio::task::JoinError) -> Halt {
    Halt::Failed(Ending::Error {
        code: ErrorCode::Internal,
        message: format!("a worker of this run failed: {error}"),
        hint: None,
        retryable: true,
    })
}

fn part_of(evidence: &EvidenceSet, visible: &HashSet<DocumentId>) -> EvidenceSet {
    EvidenceSet {
        evidence_set_id: evidence.evidence_set_id,
        items: evidence.items.iter().filter(|item| visible.contains(&item.document_id)).cloned().collect(),
    }
}

fn weights(sources: &dyn Sources, parts: &[SubQuery]) -> TermWeights {
    let mut terms: Vec<String> = parts.iter().flat_map(|part| question_terms(&part.text)).collect();
    terms.sort();
    terms.dedup();
    let weights = sources.term_weights(&terms);
    TermWeights::new(terms.into_iter().zip(weights))
}

/// Retrieval's gaps and the writer's, each part once.
fn merged(a: &[Gap], b: Vec<Gap>) -> Vec<Gap> {
    let mut gaps = a.to_vec();
    for gap in b {
        if !gaps.iter().any(|known| known.sub_query == gap.sub_query) {
            gaps.push(gap);
        }
    }
    gaps
}

/// Sends a text that is already known, sentence by sentence.
async fn stream_sentences(
    sentences: &[CitedSentence],
    evidence: &EvidenceSet,
    events: &mut Events<'_>,
) -> Result<(), LogError> {
    let mut book = CitationBook::default();
    for sentence in sentences {
        let mut text = String::new();
        let mut new: Vec<(u32, EvidenceId)> = Vec::new();
        for part in &sentence.parts {
            match part {
                Part::Text(words) => text.push_str(words),
                Part::Mark(quote) => {
                    let Some(item) = evidence.items.get(quote.evidence) else { continue };
                    let numbered = book.number(item, &quote.range);
                    if let Numbered::New(n) = numbered {
                        new.push((n, item.evidence_id.clone()));
                    }
                    let _ = write!(text, "[{}]", numbered.n());
                }
            }
        }
        for (n, evidence_id) in new {
            events.send(|seq| AnswerEvent::Citation { seq, n, evidence_id }).await?;
        }
        events.send(|seq| AnswerEvent::TextDelta { seq, revision: 1, text }).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
