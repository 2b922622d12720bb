//! The driver: does at each node what it says, tells [`crate::machine::next`] what it saw, keeps the trace.

use std::time::Instant;

use serde_json::{Value, json};
use zhiku_core::{
    Evidence, EvidenceId, EvidenceSet, EvidenceSetId, ExitReason, Gap, NodeRecord, Reason, RunContext, Stage,
};
use zhiku_vault::Scope;

use crate::assess::{Sufficiency, assess};
use crate::evidence::{Collector, Strategy, choose};
use crate::machine::{Node, Observation, Position, next};
use crate::outcome::{EvidenceResult, EvidenceStatus, Failure, PartResult, RetrievalError};
use crate::plan::{Intent, plan};
use crate::recall::{Asked, Pool, Routes, ask};
use crate::retriever::{Question, Retriever};
use crate::search::{Ranked, candidates, rerank};
use crate::words::{content_terms, is_literal};

/// One question's retrieval.
pub(crate) struct Run<'a> {
    retriever: &'a Retriever,
    scope: &'a Scope,
    question: &'a Question,
    ctx: &'a RunContext,
    intent: Intent,
    parts: Vec<Part>,
    degraded: Vec<Reason>,
    trace: Vec<NodeRecord>,
    completed: Vec<String>,
}

/// One sub-query and how far it is.
struct Part {
    text: String,
    /// The sub-query itself, by which every candidate is judged, whatever query found it.
    asked: Asked,
    /// Queries to recall next.
    pending: Vec<Asked>,
    /// Every query text so far.
    tried: Vec<String>,
    pool: Pool,
    ranked: Vec<Ranked>,
    verdict: Sufficiency,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        retriever: &'a Retriever,
        scope: &'a Scope,
        question: &'a Question,
        ctx: &'a RunContext,
    ) -> Self {
        Self {
            retriever,
            scope,
            question,
            ctx,
            intent: Intent::Factoid,
            parts: Vec::new(),
            degraded: Vec::new(),
            trace: Vec::new(),
            completed: Vec::new(),
        }
    }

    pub(crate) fn drive(mut self, observer: &mut dyn FnMut(Stage)) -> EvidenceResult {
        let mut position = Position::start();
        while position.node != Node::Done {
            let node = position.node;
            if let Some(stage) = stage_of(node) {
                observer(stage);
            }
            let started = Instant::now();
            let (seen, facts) = match self.visit(node) {
                Ok(visited) => visited,
                Err(RetrievalError::Stopped(stopped)) => {
                    (Observation::Stopped(stopped), json!({ "stopped": stopped.to_string() }))
                }
                Err(error) => return self.failed(node, started, &error),
            };
            self.record(node, started, facts, !matches!(seen, Observation::Stopped(_)));
            position = next(position, seen, self.retriever.config.limits);
        }
        self.finish(position)
    }

    fn visit(&mut self, node: Node) -> Result<(Observation, Value), RetrievalError> {
        self.ctx.check()?;
        match node {
            Node::Plan => self.plan(),
            Node::Recall => self.recall(),
            Node::Fuse => Ok(self.fuse()),
            Node::Rerank => self.rerank(),
            Node::Assess => Ok(self.assess()),
            Node::Rewrite | Node::Done => self.rewrite(),
        }
    }

    fn record(&mut self, node: Node, started: Instant, facts: Value, completed: bool) {
        let name = node.as_str().to_owned();
        if completed && !self.completed.contains(&name) {
            self.completed.push(name.clone());
        }
        self.trace.push(NodeRecord { node: name, took_ms: started.elapsed().as_secs_f64() * 1e3, facts });
    }

    fn plan(&mut self) -> Result<(Observation, Value), RetrievalError> {
        let plan = plan(&self.question.text);
        self.intent = plan.intent;
        let asked = ask(self.retriever, &plan.sub_queries, self.routes(), self.ctx, &mut self.degraded)?;
        self.parts = asked
            .into_iter()
            .map(|asked| Part {
                text: asked.text.clone(),
                tried: vec![asked.text.clone()],
                pending: vec![asked.clone()],
                asked,
                pool: Pool::default(),
                ranked: Vec::new(),
                verdict: Sufficiency::Nothing,
            })
            .collect();
        let facts = json!({ "intent": plan.intent, "sub_queries": plan.sub_queries, "route_degraded": self.degraded });
        Ok((Observation::Planned { n_queries: self.parts.len() }, facts))
    }

    fn recall(&mut self) -> Result<(Observation, Value), RetrievalError> {
        let (retriever, scope, filter) = (self.retriever, self.scope, &self.question.filter);
        let routes = self.routes();
        let mut n_queries = 0;
        for part in &mut self.parts {
            for asked in std::mem::take(&mut part.pending) {
                self.ctx.check()?;
                part.pool.recall(retriever, scope, &asked, filter, routes)?;
                n_queries += 1;
            }
        }
        let counts: Vec<usize> = self.parts.iter().map(|part| part.pool.n_candidates()).collect();
        let facts = json!({ "queries": n_queries, "candidates": counts });
        Ok((Observation::Recalled { n_candidates: counts.iter().sum() }, facts))
    }

    fn fuse(&mut self) -> (Observation, Value) {
        let counts: Vec<usize> = self.parts.iter().map(|part| part.pool.fused().len()).collect();
        (Observation::Fused, json!({ "fused": counts }))
    }

    fn rerank(&mut self) -> Result<(Observation, Value), RetrievalError> {
        let depth = self.retriever.config.rerank_depth * Strategy::of(self.intent).depth_factor;
        for part in self.parts.iter_mut().filter(|part| !part.verdict.is_sufficient()) {
            self.ctx.check()?;
            let found = candidates(self.retriever, self.scope, &part.pool, &part.asked, depth)?;
            part.ranked =
                rerank(self.retriever, self.scope, &part.pool, &part.asked, found, &mut self.degraded)?;
        }
        let best: Vec<Option<f32>> = self
            .parts
            .iter()
            .map(|part| part.ranked.first().and_then(|ranked| ranked.scores.rerank))
            .collect();
        Ok((Observation::Reranked, json!({ "best": best, "route_degraded": self.degraded })))
    }

    fn assess(&mut self) -> (Observation, Value) {
        let thresholds = self.retriever.config.thresholds;
        for part in &mut self.parts {
            part.verdict = assess(&part.text, &part.ranked, thresholds);
        }
        let n_sufficient = self.parts.iter().filter(|part| part.verdict.is_sufficient()).count();
        let judged: Vec<Value> = self.parts.iter().map(Part::judgement).collect();
        let n_open = self.parts.len() - n_sufficient;
        (Observation::Assessed { n_sufficient, n_open }, json!({ "parts": judged }))
    }

    fn rewrite(&mut self) -> Result<(Observation, Value), RetrievalError> {
        let mut texts = Vec::new();
        let mut owners = Vec::new();
        for (i, part) in self.parts.iter_mut().enumerate().filter(|(_, part)| !part.verdict.is_sufficient()) {
            let terms = content_terms(&part.text);
            let weights = self.retriever.vault.term_weights(&terms)?;
            if let Some(query) = rewritten(&terms, &weights, &part.tried) {
                part.tried.push(query.clone());
                texts.push(query);
                owners.push(i);
            }
        }
        let asked = ask(self.retriever, &texts, self.routes(), self.ctx, &mut self.degraded)?;
        for (owner, asked) in owners.into_iter().zip(asked) {
            self.parts[owner].pending.push(asked);
        }
        Ok((Observation::Rewritten { n_queries: texts.len() }, json!({ "queries": texts })))
    }

    fn routes(&self) -> Routes {
        Routes::all(self.retriever.config.recall_depth)
    }

    fn finish(mut self, position: Position) -> EvidenceResult {
        let exit = position.exit.unwrap_or(ExitReason::NothingFound);
        let stopped = matches!(exit, ExitReason::Deadline | ExitReason::Cancelled);
        if stopped {
            // What was ranked before the stop is judged after it: partial evidence is still evidence.
            let thresholds = self.retriever.config.thresholds;
            self.parts
                .iter_mut()
                .for_each(|part| part.verdict = assess(&part.text, &part.ranked, thresholds));
        }
        let (items, sub_queries) = match self.collect() {
            Ok(collected) => collected,
            Err(error) => return self.failed(Node::Done, Instant::now(), &error),
        };
        let gaps = self.gaps(&sub_queries, exit);
        let some = sub_queries.iter().any(|part| part.sufficient);
        EvidenceResult {
            run_id: self.ctx.run_id,
            status: status(exit, some, !gaps.is_empty()),
            intent: self.intent,
            evidence_set: EvidenceSet { evidence_set_id: EvidenceSetId::new(), items },
            sub_queries,
            completed_stages: self.completed,
            retryable: stopped,
            exit_reason: exit_reason(exit, some, !gaps.is_empty()),
            gaps,
            node_trace: self.trace,
            route_degraded: self.degraded,
            failure: None,
        }
    }

    /// The evidence of the parts that have enough, and what belongs to which part.
    fn collect(&self) -> Result<(Vec<Evidence>, Vec<PartResult>), RetrievalError> {
        let strategy = Strategy::of(self.intent);
        let chosen: Vec<Vec<Ranked>> = self
            .parts
            .iter()
            .map(
                |part| if part.verdict.is_sufficient() { choose(&part.ranked, strategy) } else { Vec::new() },
            )
            .collect();
        let collector = Collector::new(&self.retriever.vault, self.scope, self.retriever.config.max_evidence);
        let (items, ids) = collector.collect(&chosen, strategy)?;
        let of_part = |(part, evidence_ids): (&Part, Vec<EvidenceId>)| PartResult {
            text: part.text.clone(),
            // Revoked between finding and reading: it is as if it had never been there.
            sufficient: part.verdict.is_sufficient() && !evidence_ids.is_empty(),
            evidence_ids,
        };
        Ok((items, self.parts.iter().zip(ids).map(of_part).collect()))
    }

    fn gaps(&self, results: &[PartResult], exit: ExitReason) -> Vec<Gap> {
        self.parts
            .iter()
            .zip(results)
            .filter(|(_, result)| !result.sufficient)
            .map(|(part, _)| Gap { sub_query: part.text.clone(), reason: gap_reason(&part.verdict, exit) })
            .collect()
    }

    fn failed(mut self, node: Node, started: Instant, error: &RetrievalError) -> EvidenceResult {
        tracing::error!(%error, node = node.as_str(), "could not finish a retrieval");
        self.record(node, started, json!({ "error": error.to_string() }), false);
        EvidenceResult {
            run_id: self.ctx.run_id,
            status: EvidenceStatus::Failed,
            intent: self.intent,
            evidence_set: EvidenceSet { evidence_set_id: EvidenceSetId::new(), items: Vec::new() },
            sub_queries: Vec::new(),
            completed_stages: self.completed,
            gaps: Vec::new(),
            retryable: error.retryable(),
            exit_reason: ExitReason::NothingFound,
            node_trace: self.trace,
            route_degraded: self.degraded,
            failure: Some(Failure { code: error.code(), message: error.to_string(), hint: error.hint() }),
        }
    }
}

impl Part {
    fn judgement(&self) -> Value {
        let best = self.ranked.first().map(|ranked| ranked.relevance).unwrap_or_default();
        json!({
            "sub_query": self.text,
            "sufficient": self.verdict.is_sufficient(),
            "probability": crate::assess::probability(&best),
            "coverage": best.coverage,
        })
    }
}

fn status(exit: ExitReason, has_evidence: bool, has_gaps: bool) -> EvidenceStatus {
    match exit {
        ExitReason::Cancelled => EvidenceStatus::Cancelled,
        ExitReason::Deadline => EvidenceStatus::BudgetExhausted,
        _ if has_evidence && has_gaps => EvidenceStatus::Partial,
        _ => EvidenceStatus::Ok,
    }
}

/// What the machine said, unless evidence went away while it was collected.
fn exit_reason(exit: ExitReason, has_evidence: bool, has_gaps: bool) -> ExitReason {
    match exit {
        ExitReason::EvidenceSufficient if !has_evidence => ExitReason::NothingFound,
        ExitReason::EvidenceSufficient if has_gaps => ExitReason::RetrievalBudgetExhausted,
        other => other,
    }
}

fn stage_of(node: Node) -> Option<Stage> {
    match node {
        Node::Plan => Some(Stage::Planning),
        Node::Recall => Some(Stage::Retrieving),
        Node::Rerank => Some(Stage::Reranking),
        Node::Fuse | Node::Assess | Node::Rewrite | Node::Done => None,
    }
}

fn gap_reason(verdict: &Sufficiency, exit: ExitReason) -> Reason {
    match (exit, verdict) {
        (ExitReason::Deadline, _) => Reason::new("deadline_passed"),
        (ExitReason::Cancelled, _) => Reason::new("cancelled"),
        (_, Sufficiency::CodeMissing(code)) => Reason::new("code_not_found").with("code", code),
        (_, Sufficiency::TooWeak | Sufficiency::AmountMissing) => Reason::new("evidence_too_weak"),
        (_, Sufficiency::Nothing | Sufficiency::Sufficient) => Reason::new("nothing_found"),
    }
}

/// The next query for a gap, from words of the sub-query only: first its telling words alone, then those of them that tell
/// most, codes and numbers always among them. `None` when there is nothing new to try.
fn rewritten(terms: &[String], weights: &[f32], tried: &[String]) -> Option<String> {
    let all = terms.join(" ");
    let mut by_weight: Vec<usize> = (0..terms.len()).collect();
    let weight = |i: &usize| weights.get(*i).copied().unwrap_or_default();
    by_weight.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(a.cmp(b)));
    let n_kept = terms.len().div_ceil(2);
    let telling: Vec<&str> = (0..terms.len())
        .filter(|i| is_literal(&terms[*i]) || by_weight[..n_kept].contains(i))
        .map(|i| terms[i].as_str())
        .collect();
    [all, telling.join(" ")].into_iter().find(|query| !query.is_empty() && !tried.contains(query))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rewrite_uses_the_telling_words_first_and_then_the_rarest() {
        let terms: Vec<String> = ["hotel", "limit", "m-208", "tokyo"].map(str::to_owned).to_vec();
        let weights = [1.0, 0.5, 0.1, 3.0];
        let tried = vec!["What is the hotel limit?".to_owned()];
        let first = rewritten(&terms, &weights, &tried).expect("a first one");
        assert_eq!(first, "hotel limit m-208 tokyo");
        let second = rewritten(&terms, &weights, &[tried, vec![first]].concat()).expect("a second one");
        assert_eq!(second, "hotel m-208 tokyo");
        assert_eq!(rewritten(&terms, &weights, &["hotel limit m-208 tokyo".to_owned(), second]), None);
        assert_eq!(rewritten(&[], &[], &[]), None);
    }
}
