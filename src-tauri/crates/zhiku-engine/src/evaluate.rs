//! Evaluation over the same search and answers that people use. A data set lives in a vault of its own in this home, so that
//! a second run does not embed it again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use zhiku_core::model::ModelError;
use zhiku_core::{
    AnswerEvent, AnswerStatus, DocumentId, RunContext, SearchMode, SearchQuery, SearchResponse, Searcher,
    Support,
};
use zhiku_eval::EvalError;
use zhiku_eval::beir::BeirSet;
use zhiku_eval::pages::read_questions;
use zhiku_eval::run::{PagesReport, RetrievalReport, run_pages, run_retrieval};
use zhiku_ingest::{Passage, import_passage};
use zhiku_vault::{AccessMode, Principal, SearchFilter};

use crate::ask::AskRequest;
use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::session::Session;

/// A data set in BEIR's layout and how to search it.
#[derive(Clone, Debug)]
pub struct RetrievalSet {
    pub beir: PathBuf,
    /// The questions of another set against this corpus.
    pub queries: Option<PathBuf>,
    /// Distractor passages.
    pub extra: Vec<PathBuf>,
    pub mode: SearchMode,
    pub limit: Option<usize>,
}

/// PDFs and questions about their pages.
#[derive(Clone, Debug)]
pub struct PageSet {
    pub pdf: PathBuf,
    pub questions: PathBuf,
}

/// A question with what its answer must and must not say.
#[derive(Clone, Debug, Deserialize)]
struct AnswerQuestion {
    text: String,
    #[serde(default)]
    expect_text: Vec<String>,
    #[serde(default)]
    never_text: Vec<String>,
    #[serde(default)]
    refuse: bool,
}

/// Shares over a fixed set of questions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AnswersReport {
    pub n_questions: usize,
    /// Of the questions that have an answer: those whose answer says what it must.
    pub answered_right: f64,
    /// Of all citations: those that support their sentence, fully or partly.
    pub citation_precision: f64,
    /// Of all claims: those fully supported.
    pub claim_support: f64,
    /// Of the questions that must be refused: those that were.
    pub refusal_rate: f64,
    /// Answers that say what must not be said.
    pub leaks: usize,
}

impl From<EvalError> for EngineError {
    fn from(error: EvalError) -> Self {
        match error {
            EvalError::Search(error) => error.into(),
            other => Self::invalid(other.to_string()),
        }
    }
}

impl Searcher for Session {
    fn search(&self, query: &SearchQuery, ctx: &RunContext) -> Result<SearchResponse, ModelError> {
        Session::search(self, query, &SearchFilter::default(), ctx).map_err(|error| ModelError {
            code: error.code,
            fault: error.fault,
            message: error.message,
            hint: error.hint,
            retryable: error.retryable,
        })
    }
}

impl Engine {
    /// Ranking of passages.
    pub fn evaluate_retrieval(
        self: &Arc<Self>,
        principal: &Principal,
        wanted: &RetrievalSet,
        ctx: &RunContext,
    ) -> Result<RetrievalReport> {
        let set = BeirSet::read(&wanted.beir, wanted.queries.as_deref(), &wanted.extra)?;
        let corpora: Vec<&Path> =
            std::iter::once(&wanted.beir).chain(&wanted.extra).map(PathBuf::as_path).collect();
        let session = self.data_set_vault(principal, &corpora)?;
        let started = Instant::now();
        let scope = session.scope()?;
        let mut passage_of: HashMap<DocumentId, String> = HashMap::new();
        for passage in &set.passages {
            let title = passage.title.replace('_', " ");
            let title = if title.trim().is_empty() { "-" } else { title.trim() };
            let taken = Passage { name: &passage.id, title, text: &passage.text };
            let registered = import_passage(session.vault(), &scope, &taken)?;
            passage_of.insert(registered.version.document, passage.id.clone());
        }
        session.pipeline()?.wake();
        session.wait_for_imports();
        let index_seconds = started.elapsed().as_secs_f64();
        let mut report = run_retrieval(&set, wanted.mode, wanted.limit, &session, &passage_of, ctx)?;
        report.index_seconds = index_seconds;
        Ok(report)
    }

    /// Whether the page that holds the answer is found.
    pub fn evaluate_pages(
        self: &Arc<Self>,
        principal: &Principal,
        wanted: &PageSet,
        ctx: &RunContext,
    ) -> Result<PagesReport> {
        let questions = read_questions(&wanted.questions)?;
        let session = self.data_set_vault(principal, &[&wanted.pdf])?;
        let started = Instant::now();
        session.import(std::slice::from_ref(&wanted.pdf), &mut |_| {})?;
        session.wait_for_imports();
        let import_seconds = started.elapsed().as_secs_f64();
        let mut report = run_pages(&questions, &session, ctx)?;
        report.import_seconds = import_seconds;
        report.n_pages = session.list()?.iter().map(|document| document.n_units).sum();
        Ok(report)
    }

    fn data_set_vault(self: &Arc<Self>, principal: &Principal, corpora: &[&Path]) -> Result<Session> {
        let part = |path: &&Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let parents = corpora
            .first()
            .and_then(|path| path.parent()?.file_name())
            .map(|name| name.to_string_lossy().into_owned());
        let names: Vec<String> = parents.into_iter().chain(corpora.iter().map(part)).collect();
        let name: String = format!("eval {}", names.join(" ")).chars().take(100).collect();
        if !self.vaults()?.iter().any(|vault| vault.name == name) {
            self.create_vault(principal, &name, None)?;
        }
        self.open_vault(principal, Some(&name), AccessMode::Owner)
    }
}

impl Session {
    /// Answers to a fixed set of questions: `{text, expect_text, never_text, refuse}` per line.
    pub fn evaluate_answers(&self, questions: &Path) -> Result<AnswersReport> {
        let lines = std::fs::read_to_string(questions).map_err(EngineError::io(questions))?;
        let questions: Vec<AnswerQuestion> = lines
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| {
                serde_json::from_str(line)
                    .map_err(|error| EngineError::invalid(format!("not a question: {error}")))
            })
            .collect::<Result<_>>()?;
        let mut tally = Tally::default();
        for question in &questions {
            let mut run =
                self.ask(AskRequest { question: question.text.clone(), ..AskRequest::default() })?;
            let mut last = None;
            while let Some(event) = run.events.blocking_recv() {
                last = Some(event);
            }
            if let Some(AnswerEvent::Final { answer, .. }) = last {
                tally.count(question, &answer);
            }
        }
        Ok(tally.report(questions.len()))
    }
}

#[derive(Default)]
struct Tally {
    to_answer: usize,
    right: usize,
    to_refuse: usize,
    refused: usize,
    citations: usize,
    supporting: usize,
    claims: usize,
    supported: usize,
    leaks: usize,
}

impl Tally {
    fn count(&mut self, question: &AnswerQuestion, answer: &zhiku_core::Answer) {
        let said = squeezed(&answer.text);
        let says = |words: &String| said.contains(&squeezed(words));
        self.leaks += usize::from(question.never_text.iter().any(says));
        if question.refuse {
            self.to_refuse += 1;
            self.refused += usize::from(answer.status == AnswerStatus::InsufficientEvidence);
        } else {
            self.to_answer += 1;
            self.right += usize::from(
                answer.status == AnswerStatus::Completed && question.expect_text.iter().all(says),
            );
        }
        for claim in &answer.claims {
            self.claims += 1;
            self.supported += usize::from(claim.support == Support::Supported);
            self.citations += claim.citations.len();
            if matches!(claim.support, Support::Supported | Support::Partly) {
                self.supporting += claim.citations.len();
            }
        }
    }

    fn report(&self, n_questions: usize) -> AnswersReport {
        let share = |part: usize, whole: usize| if whole == 0 { 1.0 } else { part as f64 / whole as f64 };
        AnswersReport {
            n_questions,
            answered_right: share(self.right, self.to_answer),
            citation_precision: share(self.supporting, self.citations),
            claim_support: share(self.supported, self.claims),
            refusal_rate: share(self.refused, self.to_refuse),
            leaks: self.leaks,
        }
    }
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
