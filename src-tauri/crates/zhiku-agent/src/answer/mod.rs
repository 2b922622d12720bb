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
mod run;
mod sources;
mod write;

use std::sync::Arc;

use tokio::sync::mpsc::UnboundedSender;
use zhiku_core::model::{ChatModel, Embedder};
use zhiku_core::{Answer, AnswerEvent, ErrorCode, RunContext};

use crate::text::language_of;
use events::Events;
pub use events::{EventLog, LogError, is_complete, replay};
pub use prompt::PROMPT_VERSION;
use run::Run;
pub use sources::{Cited, Retrieved, SourceError, Sources};

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

#[cfg(test)]
mod tests;
