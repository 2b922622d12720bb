//! The way of one run: retrieve, write, judge, say where each quote stands. Rights are read again before the writing and
//! before the end.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::mpsc::unbounded_channel;
use zhiku_core::{
    Answer, AnswerEvent, AnswerStatus, Confidence, DocumentId, ErrorCode, EvidenceSet, ExitReason,
    NodeRecord, Reason, Route, RunContext, Stage, Usage,
};

use super::events::Events;
use super::finish::{Draft, Origin, RunFacts, finish};
use super::prompt::PROMPT_VERSION;
use super::sources::{Cited, Retrieved};
use super::write::{draft_of, empty_draft};
use super::{AnswerDeps, AnswerQuestion, Ending, Halt, Writer, follow_up, phrases};
use crate::text::Language;

pub(super) struct Run<'a> {
    pub(super) deps: &'a AnswerDeps,
    pub(super) question: &'a AnswerQuestion,
    pub(super) ctx: &'a RunContext,
    pub(super) language: Language,
}

impl Run<'_> {
    pub(super) async fn answer(&self, events: &mut Events<'_>) -> Result<Ending, Halt> {
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
        let mut answer = self.finish(draft, &retrieved, wrote, revoked).await?;
        self.locate(&mut answer).await?;
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

    /// Evidence stands where its whole stretch does; a citation stands where its quote does.
    async fn locate(&self, answer: &mut Answer) -> Result<(), Halt> {
        let cited: Vec<Cited> = answer
            .citations
            .iter()
            .map(|citation| Cited {
                unit_id: citation.unit_id,
                char_start: citation.char_start,
                char_end: citation.char_end,
            })
            .collect();
        let sources = Arc::clone(&self.deps.sources);
        let places = self.blocking(move || sources.places(&cited)).await?;
        for (citation, place) in answer.citations.iter_mut().zip(places) {
            if let Some(place) = place {
                citation.locator = place;
            }
        }
        Ok(())
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
    pub(super) async fn blocking<T: Send + 'static>(
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
