//! Conversations and past runs, always one's own.

use std::collections::HashSet;

use zhiku_core::{Answer, AnswerEvent, ConversationId, DocumentId, RunId};
use zhiku_vault::{Conversation, RunSummary};

use crate::error::Result;
use crate::session::Session;

/// A past question with what came of it.
#[derive(Clone, Debug)]
pub struct ConversationTurn {
    pub run: RunSummary,
    pub events: Vec<AnswerEvent>,
    /// Documents that were removed or withdrawn since: their quotes are replaced by a notice.
    pub withdrawn: HashSet<DocumentId>,
}

impl Session {
    pub fn create_conversation(&self, title: &str) -> Result<Conversation> {
        Ok(self.vault().create_conversation(&self.scope()?, title)?)
    }

    /// Newest first.
    pub fn conversations(&self) -> Result<Vec<Conversation>> {
        Ok(self.vault().conversations(&self.scope()?)?)
    }

    pub fn rename_conversation(&self, conversation: ConversationId, title: &str) -> Result<()> {
        Ok(self.vault().rename_conversation(&self.scope()?, conversation, title)?)
    }

    pub fn delete_conversation(&self, conversation: ConversationId) -> Result<()> {
        Ok(self.vault().delete_conversation(&self.scope()?, conversation)?)
    }

    /// Newest first.
    pub fn runs(&self, conversation: Option<ConversationId>) -> Result<Vec<RunSummary>> {
        Ok(self.vault().runs(&self.scope()?, conversation)?)
    }

    pub fn run(&self, run: RunId) -> Result<ConversationTurn> {
        let scope = self.scope()?;
        Ok(ConversationTurn {
            run: self.vault().run(&scope, run)?,
            events: self.vault().events_after(&scope, run, 0)?,
            withdrawn: self.vault().withdrawn_documents(&scope, run)?,
        })
    }

    /// The answer of a run that has one.
    pub fn answer(&self, run: RunId) -> Result<Option<Answer>> {
        let last = self.run(run)?.events.pop();
        Ok(match last {
            Some(AnswerEvent::Final { answer, .. }) => Some(*answer),
            _ => None,
        })
    }
}
