//! Asking: a run from the question to its terminal event. Events are stored before anyone sees them.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;
use zhiku_agent::{
    AnswerDeps, AnswerQuestion, Cited, EventLog, LogError, Retrieved, SourceError, Sources, SubQuery, Turn,
    Writer, answer_question,
};
use zhiku_core::{
    AnswerEvent, BudgetLimits, ConversationId, DocumentId, Locator, RunContext, RunId, SearchMode,
    SearchQuery, SearchResponse, Stage,
};
use zhiku_retrieval::{Question, Retriever};
use zhiku_vault::{Scope, SearchFilter, Vault, VaultError};

use crate::engine::lock;
use crate::error::{EngineError, Result};
use crate::session::{LiveRun, Session};

/// Turns of the conversation that a follow-up may refer to.
const HISTORY_TURNS: usize = 4;

/// Who writes the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WriterChoice {
    /// Sentences of the sources, without any model.
    #[default]
    Extractive,
    /// A provider by its id.
    Provider(String),
}

/// One question.
#[derive(Clone, Debug, Default)]
pub struct AskRequest {
    pub question: String,
    pub conversation: Option<ConversationId>,
    /// Narrows the question to some documents.
    pub filter: SearchFilter,
    pub writer: WriterChoice,
}

/// A run under way. Dropping it does not stop the run.
pub struct RunHandle {
    pub run_id: RunId,
    pub events: EventReceiver,
}

impl Session {
    /// Starts a run and returns at once.
    pub fn ask(&self, request: AskRequest) -> Result<RunHandle> {
        let question = request.question.trim().to_owned();
        if question.is_empty() {
            return Err(EngineError::invalid("a question needs some words"));
        }
        let scope = self.scope()?;
        let writer = match &request.writer {
            WriterChoice::Extractive => Writer::Extractive,
            WriterChoice::Provider(id) => Writer::Model(self.engine.chat_model(id)?),
        };
        let history = self.history(&scope, request.conversation)?;
        let ctx = RunContext::new(BudgetLimits::default());
        let run_id = ctx.run_id;
        self.vault().create_run(&scope, run_id, request.conversation, &question)?;
        let (listener, events) = unbounded_channel();
        let live = LiveRun { cancel: ctx.cancel.clone(), listeners: vec![listener] };
        lock(&self.open.live).insert(run_id, live);

        let session = self.clone();
        self.engine.runtime.spawn(async move {
            session
                .carry_out(scope, AnswerQuestion { text: question, history }, request.filter, writer, ctx)
                .await;
        });
        Ok(RunHandle { run_id, events })
    }

    /// What a reader that has seen everything up to `after_seq` still has to see, and all that follows. A run that was
    /// interrupted ends without a terminal event.
    pub fn subscribe(&self, run: RunId, after_seq: u64) -> Result<EventReceiver> {
        let scope = self.scope()?;
        let (sender, receiver) = unbounded_channel();
        // Under the lock nothing new is sent, so that nothing falls between what is stored and what follows.
        let mut live = lock(&self.open.live);
        let stored = self.vault().events_after(&scope, run, 0)?;
        for event in zhiku_agent::replay(&stored, after_seq) {
            let _ = sender.send(event.clone());
        }
        if let Some(run) = live.get_mut(&run) {
            run.listeners.push(sender);
        }
        Ok(receiver)
    }

    /// Stops a run; its stream ends with `cancelled`. A run that has ended is left as it is.
    pub fn cancel(&self, run: RunId) -> Result<()> {
        self.vault().run(&self.scope()?, run)?;
        if let Some(cancel) = self.live_run(run) {
            cancel.cancel();
        }
        Ok(())
    }

    /// Finds passages, without an answer.
    pub fn search(
        &self,
        query: &SearchQuery,
        filter: &SearchFilter,
        ctx: &RunContext,
    ) -> Result<SearchResponse> {
        let scope = self.scope()?;
        let retriever = match query.mode {
            // Words need no model, so none is loaded for them.
            SearchMode::Lexical => self.engine.models.word_retriever(self.vault()),
            SearchMode::Dense | SearchMode::Hybrid | SearchMode::Rerank => {
                self.engine.models.retriever(self.vault())
            }
        };
        let found = retriever.search(&scope, query, filter, ctx);
        Ok(found.map_err(zhiku_core::model::ModelError::from)?)
    }

    fn history(&self, scope: &Scope, conversation: Option<ConversationId>) -> Result<Vec<Turn>> {
        let Some(conversation) = conversation else { return Ok(Vec::new()) };
        let runs = self.vault().runs(scope, Some(conversation))?;
        let mut turns = Vec::new();
        for run in runs.iter().take(HISTORY_TURNS) {
            let events = self.vault().events_after(scope, run.run_id, 0)?;
            let Some(AnswerEvent::Final { answer, .. }) = events.last() else { continue };
            // What was withdrawn since must not come back through the conversation.
            let mut cited: Vec<DocumentId> =
                answer.citations.iter().map(|citation| citation.document).collect();
            cited.sort_unstable();
            cited.dedup();
            let visible = self.vault().documents_visible(scope, &cited)?.len() == cited.len();
            let text = if visible { answer.text.clone() } else { String::new() };
            turns.push(Turn { question: run.question.clone(), answer: text });
        }
        turns.reverse();
        Ok(turns)
    }

    async fn carry_out(
        self,
        scope: Scope,
        question: AnswerQuestion,
        filter: SearchFilter,
        writer: Writer,
        ctx: RunContext,
    ) {
        let run_id = ctx.run_id;
        // Loading a model blocks for a moment: not on the async threads.
        let models = Arc::clone(&self.engine.models);
        let vault = self.vault().clone();
        let prepared =
            tokio::task::spawn_blocking(move || (models.retriever(&vault), models.embedder().ok())).await;
        let Ok((retriever, embedder)) = prepared else {
            lock(&self.open.live).remove(&run_id);
            return;
        };
        let (sender, mut events) = unbounded_channel();
        let deps = AnswerDeps {
            sources: Arc::new(ScopedSources { retriever, vault: self.vault().clone(), scope, filter }),
            embedder,
            writer,
            log: Arc::new(VaultLog { vault: self.vault().clone(), run: run_id }),
            events: sender,
        };
        let answering = async {
            let result = answer_question(&deps, &question, &ctx).await;
            drop(deps);
            result
        };
        let passing_on = async {
            while let Some(event) = events.recv().await {
                if let Some(live) = lock(&self.open.live).get_mut(&run_id) {
                    live.listeners.retain(|listener| listener.send(event.clone()).is_ok());
                }
            }
        };
        let (result, ()) = tokio::join!(answering, passing_on);
        if let Err(error) = result {
            tracing::error!(%error, "a run could not be recorded");
        }
        lock(&self.open.live).remove(&run_id);
    }
}

/// Retrieval with scope and filter closed over.
struct ScopedSources {
    retriever: Retriever,
    vault: Vault,
    scope: Scope,
    filter: SearchFilter,
}

impl Sources for ScopedSources {
    fn retrieve(
        &self,
        question: &str,
        ctx: &RunContext,
        on_stage: &mut dyn FnMut(Stage),
    ) -> Result<Retrieved, SourceError> {
        let question = Question { text: question.to_owned(), filter: self.filter.clone() };
        let found = self.retriever.retrieve(&self.scope, &question, ctx, on_stage);
        if let Some(failure) = found.failure {
            return Err(SourceError {
                code: failure.code,
                message: failure.message,
                hint: failure.hint,
                retryable: found.retryable,
            });
        }
        Ok(Retrieved {
            evidence: found.evidence_set,
            sub_queries: found
                .sub_queries
                .into_iter()
                .map(|sub| SubQuery {
                    text: sub.text,
                    evidence_ids: sub.evidence_ids,
                    sufficient: sub.sufficient,
                })
                .collect(),
            gaps: found.gaps,
            exit_reason: found.exit_reason,
            node_trace: found.node_trace,
        })
    }

    fn visible(&self, documents: &[DocumentId]) -> Result<HashSet<DocumentId>, SourceError> {
        self.vault.documents_visible(&self.scope, documents).map_err(source_error)
    }

    fn term_weights(&self, terms: &[String]) -> Vec<f32> {
        self.vault.term_weights(terms).unwrap_or_default()
    }

    fn places(&self, cited: &[Cited]) -> Vec<Option<Locator>> {
        let place = |cited: &Cited| {
            let unit = self.vault.unit(&self.scope, cited.unit_id).ok().flatten()?;
            Some(unit.place_of(cited.char_start, cited.char_end))
        };
        cited.iter().map(place).collect()
    }
}

fn source_error(error: VaultError) -> SourceError {
    SourceError {
        code: error.code(),
        message: error.to_string(),
        hint: error.hint(),
        retryable: error.retryable(),
    }
}

/// Stores events in the vault. SQLite blocks for well under a millisecond; the writer thread does the waiting.
struct VaultLog {
    vault: Vault,
    run: RunId,
}

#[async_trait]
impl EventLog for VaultLog {
    async fn append(&self, event: &AnswerEvent) -> Result<(), LogError> {
        let (vault, run, stored) = (self.vault.clone(), self.run, event.clone());
        let seq = event.seq();
        let done = tokio::task::spawn_blocking(move || vault.append_event(run, &stored)).await;
        match done {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(LogError { seq, message: error.to_string() }),
            Err(error) => Err(LogError { seq, message: error.to_string() }),
        }
    }
}

/// The receiving end of a run's events.
pub type EventReceiver = UnboundedReceiver<AnswerEvent>;

/// For hosts without an async runtime: blocks for the next event. `None` when `cancel` was cancelled and the host is not
/// `stopping` yet; `Some(None)` at the end of the stream.
pub fn recv_event(
    events: &mut EventReceiver,
    cancel: &CancellationToken,
    stopping: bool,
) -> Option<Option<AnswerEvent>> {
    loop {
        match events.try_recv() {
            Ok(event) => return Some(Some(event)),
            Err(TryRecvError::Disconnected) => return Some(None),
            Err(TryRecvError::Empty) if cancel.is_cancelled() && !stopping => return None,
            Err(TryRecvError::Empty) => std::thread::park_timeout(Duration::from_millis(2)),
        }
    }
}
