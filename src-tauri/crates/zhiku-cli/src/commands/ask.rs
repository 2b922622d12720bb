//! `search`, `ask`, `runs`.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use serde_json::{Value, json};
use zhiku_core::{
    Answer, AnswerEvent, BudgetLimits, Fault, Locator, RunContext, RunId, SearchMode, SearchQuery,
};
use zhiku_engine::{AskRequest, EngineError, SearchFilter, WriterChoice};

use super::{Result, cancel_on_interrupt, reader, writer};
use crate::args::{Global, RunsCommand};
use crate::output::Output;

pub(super) fn search(
    global: &Global,
    query: &str,
    k: usize,
    mode: SearchMode,
    output: &Output,
) -> Result<ExitCode> {
    let session = reader(global)?;
    let ctx = RunContext { cancel: cancel_on_interrupt(), ..RunContext::new(BudgetLimits::default()) };
    let query = SearchQuery { text: query.to_owned(), k, mode };
    let found = session.search(&query, &SearchFilter::default(), &ctx)?;
    output.result(&json!(found), || {
        let hit = |(n, hit): (usize, &zhiku_core::SearchHit)| {
            format!("{:>2}. {} {}\n    {}", n + 1, hit.title, place(&hit.locator), first_words(&hit.text))
        };
        let hits = found.hits.iter().enumerate().map(hit).collect::<Vec<_>>().join("\n");
        format!("{hits}\n{} passages in {:.0} ms", found.hits.len(), found.took_ms)
    });
    Ok(ExitCode::SUCCESS)
}

pub(super) fn ask(
    global: &Global,
    question: &str,
    model: &str,
    stream: bool,
    conversation: Option<&str>,
    output: &Output,
) -> Result<ExitCode> {
    let session = writer(global)?;
    let conversation = conversation
        .map(|id| id.parse().map_err(|_| EngineError::invalid("--conversation takes an id")))
        .transpose()?;
    let choice = if model == "extractive" {
        WriterChoice::Extractive
    } else {
        WriterChoice::Provider(model.to_owned())
    };
    let started = Instant::now();
    let request =
        AskRequest { question: question.to_owned(), conversation, writer: choice, ..AskRequest::default() };
    let mut run = session.ask(request)?;
    let cancel = cancel_on_interrupt();
    let (mut first_evidence, mut first_text) = (None, None);
    let mut last = None;
    let mut stopping = false;
    while let Some(event) = next(&mut run.events, &cancel, &mut stopping, || session.cancel(run.run_id)) {
        let now = started.elapsed().as_secs_f64() * 1e3;
        match &event {
            AnswerEvent::EvidenceReady { .. } => first_evidence = first_evidence.or(Some(now)),
            AnswerEvent::TextDelta { .. } => first_text = first_text.or(Some(now)),
            _ => {}
        }
        if stream {
            output.line(&json!(event), || delta(&event));
        }
        if event.is_terminal() {
            last = Some(event);
        }
    }
    let total = started.elapsed().as_secs_f64() * 1e3;
    let timings = json!({ "first_evidence": first_evidence, "first_text": first_text, "total": total });
    match last {
        Some(AnswerEvent::Final { answer, .. }) => {
            if !stream {
                output.result(&answer_value(run.run_id, &answer, &timings), || answer_text(&answer));
            }
            Ok(ExitCode::SUCCESS)
        }
        Some(AnswerEvent::Cancelled { .. }) => Ok(ExitCode::from(130)),
        Some(AnswerEvent::Error { code, message, hint, retryable, .. }) => {
            let code = serde_json::from_value(json!(code)).unwrap_or(zhiku_core::ErrorCode::Internal);
            Err(EngineError { code, message, hint, fault: Fault::Environment, retryable })
        }
        _ => Err(EngineError::incomplete_answer()),
    }
}

/// The next event; an interrupt stops the run once and waits for its last event.
fn next(
    events: &mut zhiku_engine::EventReceiver,
    cancel: &zhiku_engine::CancellationToken,
    stopping: &mut bool,
    stop: impl Fn() -> Result<()>,
) -> Option<AnswerEvent> {
    loop {
        if let Some(event) = zhiku_engine::recv_event(events, cancel, *stopping) {
            return event;
        }
        *stopping = true;
        if stop().is_err() {
            return None;
        }
    }
}

fn answer_value(run_id: RunId, answer: &Answer, timings: &Value) -> Value {
    let mut value = json!(answer);
    value["answer"] = value["text"].take();
    value["run_id"] = json!(run_id);
    value["timings_ms"] = timings.clone();
    value
}

fn answer_text(answer: &Answer) -> String {
    let mut text = answer.text.clone();
    for gap in &answer.gaps {
        let _ = write!(text, "\n? {}", gap.sub_query);
    }
    if !answer.citations.is_empty() {
        text += "\n";
    }
    for citation in &answer.citations {
        let _ = write!(text, "\n[{}] {} {}", citation.n, citation.title, place(&citation.locator));
    }
    text
}

fn delta(event: &AnswerEvent) -> Option<String> {
    match event {
        AnswerEvent::TextDelta { text, .. } => Some(text.clone()),
        AnswerEvent::Final { answer, .. } => Some(format!("\n{}", answer_text(answer))),
        _ => None,
    }
}

pub(super) fn runs(global: &Global, command: RunsCommand, output: &Output) -> Result<ExitCode> {
    let session = reader(global)?;
    match command {
        RunsCommand::List => {
            let runs = session.runs(None)?;
            let rows: Vec<_> = runs
                .iter()
                .map(|run| json!({ "run_id": run.run_id, "question": run.question, "state": run.state, "created_ms": run.created, "ended_ms": run.ended }))
                .collect();
            output.result(&json!({ "runs": rows }), || {
                runs.iter()
                    .map(|run| format!("{}  {}", run.run_id, run.question))
                    .collect::<Vec<_>>()
                    .join("\n")
            });
        }
        RunsCommand::Show { id } => {
            let id: RunId = id.parse().map_err(|_| EngineError::invalid("runs show takes a run's id"))?;
            let turn = session.run(id)?;
            let value = json!({ "run_id": id, "question": turn.run.question, "state": turn.run.state, "events": turn.events });
            output.result(&value, || match turn.events.last() {
                Some(AnswerEvent::Final { answer, .. }) => answer_text(answer),
                _ => "this run has no answer".to_owned(),
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn place(locator: &Locator) -> String {
    match locator {
        Locator::Page { page_label, .. } => format!("p. {page_label}"),
        Locator::Section { heading_path, .. } => heading_path.join(" > "),
        Locator::Slide { index, .. } => format!("slide {}", index + 1),
        Locator::Cells { sheet, range } => format!("{sheet}!{range}"),
        Locator::Region { .. } => String::new(),
        Locator::Time { start_ms, .. } => format!("{}:{:02}", start_ms / 60_000, start_ms / 1000 % 60),
        Locator::Chars { char_start, .. } => format!("at character {}", char_start + 1),
    }
}

fn first_words(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = line.chars().take(140).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}
