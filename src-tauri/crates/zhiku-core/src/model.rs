//! The traits behind which models live. Implementations are named in `zhiku-engine` only.

use async_trait::async_trait;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};

use crate::answer::Usage;
use crate::error::{ErrorCode, Fault};
use crate::run::{RunContext, Stopped};

/// A model could not do its work.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    pub code: ErrorCode,
    pub fault: Fault,
    pub message: String,
    pub hint: Option<String>,
    pub retryable: bool,
}

impl From<Stopped> for ModelError {
    fn from(stopped: Stopped) -> Self {
        let code = match stopped {
            Stopped::Cancelled => ErrorCode::Cancelled,
            Stopped::Deadline => ErrorCode::Timeout,
        };
        Self { code, fault: Fault::User, message: stopped.to_string(), hint: None, retryable: true }
    }
}

/// Which side of a retrieval a text is on; e5 needs a different prefix for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EmbedSide {
    Query,
    Passage,
}

/// Interactive work goes before background work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Priority {
    Interactive,
    Background,
}

/// What an embedding model makes of one text.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// `dim` values, L2 norm 1.
    pub sentence: Vec<f32>,
    /// One row per content token (special tokens and the side's prefix left out), row-major `[n_tokens, dim]`, each of norm 1.
    pub tokens: TokenMatrix,
}

/// Row-major `[n_tokens, dim]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenMatrix {
    pub dim: usize,
    pub values: Vec<f32>,
}

impl TokenMatrix {
    pub fn n_tokens(&self) -> usize {
        self.values.len().checked_div(self.dim).unwrap_or(0)
    }

    pub fn rows(&self) -> impl Iterator<Item = &[f32]> {
        self.values.chunks_exact(self.dim.max(1))
    }
}

/// Identifies the vector space; vectors of two never mix. Persisted: changes need a migration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbeddingSpace {
    pub model_id: String,
    pub dim: u32,
}

/// Text to vectors. Blocking; call it off the async threads.
pub trait Embedder: Send + Sync {
    fn space(&self) -> EmbeddingSpace;

    /// Tokens that [`Self::embed`] would see for this text, prefix and special tokens included.
    fn count_tokens(&self, text: &str, side: EmbedSide) -> usize;

    /// The most tokens of one text; what is longer is cut, so callers cut before.
    fn max_tokens(&self) -> usize;

    /// One embedding per text, in order. Batches by length inside; honours cancellation between batches.
    fn embed(
        &self,
        texts: &[&str],
        side: EmbedSide,
        priority: Priority,
        ctx: &RunContext,
    ) -> Result<Vec<Embedding>, ModelError>;
}

/// Who speaks in a chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatRole {
    System,
    User,
    Assistant,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatMessage {
    pub role: ChatRole,
    pub content: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ChatRequest {
    pub messages: Vec<ChatMessage>,
    pub max_output_tokens: u32,
    /// `None` leaves it to the provider.
    pub temperature: Option<f32>,
}

/// Why a model stopped writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    EndOfTurn,
    MaxTokens,
    /// The provider declined to answer.
    Refused,
    /// The stream ended without saying why: what came is incomplete.
    Incomplete,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ChatDelta {
    Text(String),
    /// Exactly once, last, in a stream that ended in order.
    Done {
        stop: StopReason,
        usage: Usage,
    },
}

/// A chat model. The tool loop lives in `zhiku-agent`, never behind this trait.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// For people and traces, for example `anthropic/claude-sonnet`.
    fn name(&self) -> String;

    /// Streams one reply. Cancelling `ctx` ends the stream within 200 ms with [`ErrorCode::Cancelled`].
    async fn stream<'a>(
        &'a self,
        request: ChatRequest,
        ctx: &'a RunContext,
    ) -> Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>;
}
