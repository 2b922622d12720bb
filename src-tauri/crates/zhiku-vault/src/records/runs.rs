//! Conversations, runs, and receipts of removal.

use serde::{Deserialize, Serialize};
use zhiku_core::{ConversationId, DocumentId, RunId, UtcMs};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    pub conversation_id: ConversationId,
    pub title: String,
    pub created: UtcMs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    Running,
    /// Has its terminal event.
    Ended,
    /// The program ended before the run did.
    Interrupted,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary {
    pub run_id: RunId,
    pub conversation_id: Option<ConversationId>,
    pub question: String,
    pub state: RunState,
    pub created: UtcMs,
    pub ended: Option<UtcMs>,
}

/// What a store held of a document, and what was taken out of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreReceipt {
    pub store: String,
    pub found: u64,
    pub removed: u64,
}

/// The proof of a removal: one line per store of document content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub document: DocumentId,
    pub stores: Vec<StoreReceipt>,
}

impl Receipt {
    /// Whether no store holds anything of the document any more.
    pub fn is_clean(&self) -> bool {
        self.stores.iter().all(|store| store.found == store.removed)
    }
}
