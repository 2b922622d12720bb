//! A chat model that follows a script: the stand-in for a cloud service.

use std::sync::Mutex;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use zhiku_core::model::{ChatDelta, ChatModel, ChatRequest, ModelError, StopReason};
use zhiku_core::{ErrorCode, Fault, RunContext, Usage};

/// One thing the model does, in order.
pub enum ScriptStep {
    Text(&'static str),
    /// Runs between two deltas; for what happens in the world meanwhile.
    Do(Box<dyn Fn() + Send + Sync>),
    Fail(ErrorCode),
    Done(StopReason),
    /// Never comes back; ends with the run's cancellation.
    Hang,
}

impl ScriptStep {
    pub fn run(action: impl Fn() + Send + Sync + 'static) -> Self {
        Self::Do(Box::new(action))
    }
}

/// Plays its steps for every request and keeps the requests. A script without an end is a stream that was cut.
pub struct ScriptedModel {
    steps: Vec<ScriptStep>,
    /// Fails when the stream is opened.
    refuses: Option<ErrorCode>,
    requests: Mutex<Vec<ChatRequest>>,
}

impl ScriptedModel {
    pub fn new(steps: Vec<ScriptStep>) -> Self {
        Self { steps, refuses: None, requests: Mutex::new(Vec::new()) }
    }

    /// Writes the deltas and ends in order.
    pub fn writes(deltas: &[&'static str]) -> Self {
        let mut steps: Vec<ScriptStep> = deltas.iter().map(|delta| ScriptStep::Text(delta)).collect();
        steps.push(ScriptStep::Done(StopReason::EndOfTurn));
        Self::new(steps)
    }

    /// Fails before the first delta.
    pub fn refuses(code: ErrorCode) -> Self {
        Self { steps: Vec::new(), refuses: Some(code), requests: Mutex::new(Vec::new()) }
    }

    /// What it was asked so far.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.requests.lock().map(|requests| requests.clone()).unwrap_or_default()
    }
}

fn error(code: ErrorCode) -> ModelError {
    let message = format!("scripted: {}", code.as_str());
    ModelError { code, fault: Fault::Environment, message, hint: None, retryable: true }
}

#[async_trait]
impl ChatModel for ScriptedModel {
    fn name(&self) -> String {
        "scripted/model".to_owned()
    }

    async fn stream<'a>(
        &'a self,
        request: ChatRequest,
        ctx: &'a RunContext,
    ) -> Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError> {
        if let Ok(mut requests) = self.requests.lock() {
            requests.push(request);
        }
        if let Some(code) = self.refuses {
            return Err(error(code));
        }
        let steps = stream::iter(&self.steps).filter_map(move |step| async move {
            match step {
                ScriptStep::Text(text) => Some(Ok(ChatDelta::Text((*text).to_owned()))),
                ScriptStep::Do(action) => {
                    action();
                    None
                }
                ScriptStep::Fail(code) => Some(Err(error(*code))),
                ScriptStep::Done(stop) => {
                    let usage = Usage { model_calls: 1, input_tokens: 100, output_tokens: 20 };
                    Some(Ok(ChatDelta::Done { stop: *stop, usage }))
                }
                ScriptStep::Hang => {
                    ctx.cancel.cancelled().await;
                    Some(Err(error(ErrorCode::Cancelled)))
                }
            }
        });
        Ok(steps.boxed())
    }
}
