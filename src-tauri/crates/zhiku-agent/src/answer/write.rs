//! The two ways to write: sentences of the evidence itself, or a chat model's over the same evidence.

use std::fmt::Write as _;
use std::sync::Arc;

use zhiku_core::model::ChatModel;
use zhiku_core::{AnswerEvent, ErrorCode, EvidenceId, EvidenceSet, ExitReason, Gap, Reason, Stopped, Usage};

use super::events::{Events, LogError};
use super::finish::{Draft, Origin};
use super::model_writer::{ModelWriter, Written};
use super::run::Run;
use super::sources::{Retrieved, Sources};
use super::{Ending, Halt, prompt};
use crate::citations::cited::{CitedSentence, Part};
use crate::citations::{CitationBook, Numbered};
use crate::extractive::{Extract, ExtractInput, SubQuery, extract};
use crate::text::terms::{TermWeights, question_terms};

impl Run<'_> {
    pub(super) async fn write_extract(
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

    pub(super) async fn extract(&self, retrieved: &Retrieved, live: &EvidenceSet) -> Result<Extract, Halt> {
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

    pub(super) async fn write_with_model(
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
}

pub(super) fn empty_draft(retrieved: &Retrieved, live: EvidenceSet) -> Draft {
    let late = retrieved.exit_reason == ExitReason::Deadline;
    let note = late.then(|| Reason::new("deadline"));
    Draft { exhausted: late, ..draft_of(Extract::default(), retrieved, live, note) }
}

pub(super) fn draft_of(
    extract: Extract,
    retrieved: &Retrieved,
    live: EvidenceSet,
    note: Option<Reason>,
) -> Draft {
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
