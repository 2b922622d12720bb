//! One chat model over HTTP: sends the request, tries again where that is safe, and turns the event stream into deltas.
//!
//! The protocol (what is sent, how an event is read) is a parameter; time limits, cancellation, budget, redaction and the
//! end of the stream are the same for every provider and live here.

use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Response, StatusCode, Url};
use zhiku_core::model::{ChatDelta, ChatModel, ChatRequest, ModelError, StopReason};
use zhiku_core::{RunContext, Usage};

use crate::failure::{self, Failed, HttpAnswer, KeySent};
use crate::meter::Meter;
use crate::providers::{Protocol, ProviderConfig, ReplyReader, Step};
use crate::redact::Redactor;
use crate::sse::{SseDecoder, SseLimits};
use crate::surroundings::Surroundings;
use crate::transport::{Interrupted, within};

/// The most bytes of an error's body that are read.
const ERROR_BODY_BYTES: usize = 64 * 1024;

/// The most bytes of one reply; no model writes that much.
const REPLY_BYTES: usize = 64 << 20;

/// A provider's model, ready to be asked.
pub(crate) struct HttpChatModel {
    pub(crate) config: ProviderConfig,
    pub(crate) protocol: &'static dyn Protocol,
    pub(crate) endpoint: Url,
    pub(crate) client: Client,
    /// Holds the key, marked as sensitive.
    pub(crate) headers: HeaderMap,
    pub(crate) key: KeySent,
    pub(crate) redactor: Redactor,
    pub(crate) surroundings: Surroundings,
}

#[async_trait]
impl ChatModel for HttpChatModel {
    fn name(&self) -> String {
        format!("{}/{}", self.config.id, self.config.model)
    }

    async fn stream<'a>(
        &'a self,
        request: ChatRequest,
        ctx: &'a RunContext,
    ) -> Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError> {
        let opened =
            self.open(&request, ctx).await.map_err(|error| failure::redacted(error, &self.redactor))?;
        let reply = Reply {
            model: self,
            ctx,
            response: Some(opened.response),
            sse: SseDecoder::new(SseLimits::default()),
            reader: self.protocol.reader(),
            meter: opened.meter,
            attempts: opened.attempts,
            received_bytes: 0,
            patience: Duration::from_millis(self.config.timeouts.first_byte_ms),
        };
        Ok(stream::unfold(reply, |mut reply| async move { reply.next().await.map(|item| (item, reply)) })
            .boxed())
    }
}

/// A response of which nothing was read yet.
struct Opened {
    response: Response,
    meter: Meter,
    attempts: u32,
}

impl HttpChatModel {
    /// Sends until an answer begins, a failure is final, or the attempts are used up.
    async fn open(&self, request: &ChatRequest, ctx: &RunContext) -> Result<Opened, ModelError> {
        let body = self.protocol.body(&self.config, request).to_string();
        let mut attempts = 1;
        loop {
            ctx.check()?;
            let mut meter = Meter::reserve(&ctx.budget, request).map_err(failure::budget_refused)?;
            let failed = match self.attempt(body.clone(), ctx).await {
                Ok(response) => {
                    meter.accepted(request);
                    return Ok(Opened { response, meter, attempts });
                }
                Err(failed) => failed,
            };
            drop(meter);
            let policy = self.surroundings.retry;
            let jitter = (self.surroundings.jitter)();
            let Some(wait) = policy.wait_after(attempts, failed.retry, ctx.budget.time_left(), jitter) else {
                return Err(failed.error);
            };
            tracing::debug!(provider = %self.config.id, attempts, code = failed.error.code.as_str(), "trying again");
            within(ctx, Duration::MAX, (self.surroundings.pause)(wait))
                .await
                .map_err(|interrupted| self.interrupted(interrupted, "the next attempt"))?;
            attempts += 1;
        }
    }

    async fn attempt(&self, body: String, ctx: &RunContext) -> Result<Response, Failed> {
        let patience = Duration::from_millis(self.config.timeouts.first_byte_ms);
        let request = self
            .client
            .post(self.endpoint.clone())
            .headers(self.headers.clone())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header(ACCEPT, HeaderValue::from_static("text/event-stream"))
            .body(body);
        let response = within(ctx, patience, request.send())
            .await
            .map_err(|interrupted| self.interrupted(interrupted, "an answer"))?
            .map_err(|error| failure::from_send_error(&self.config.id, &error))?;
        if response.status() == StatusCode::OK && is_event_stream(&response) {
            return Ok(response);
        }
        Err(self.refused(response, ctx).await)
    }

    /// Reads the body of an answer that is no stream, within bounds, for what it says.
    async fn refused(&self, mut response: Response, ctx: &RunContext) -> Failed {
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = Vec::new();
        let patience = Duration::from_millis(self.config.timeouts.idle_ms);
        while let Ok(Ok(Some(chunk))) = within(ctx, patience, response.chunk()).await {
            let room = ERROR_BODY_BYTES - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if body.len() >= ERROR_BODY_BYTES {
                break;
            }
        }
        if let Err(stopped) = ctx.check() {
            return ModelError::from(stopped).into();
        }
        let body = String::from_utf8_lossy(&body);
        if status == StatusCode::OK {
            return self.not_a_stream(&body).into();
        }
        let answer =
            HttpAnswer { provider: &self.config.id, status, headers: &headers, body: &body, key: self.key };
        failure::from_status(&answer, SystemTime::now())
    }

    fn not_a_stream(&self, body: &str) -> ModelError {
        match failure::detail_of(body) {
            Some(detail) if body.contains("\"error\"") => failure::reported("", &detail),
            _ => failure::invalid_input(
                format!("{} answered with something other than a stream", self.config.id),
                Some("Check the base URL in the settings: it may point to a web page or a login page."),
            ),
        }
    }

    fn interrupted(&self, interrupted: Interrupted, awaited: &str) -> ModelError {
        match interrupted {
            Interrupted::Stopped(stopped) => stopped.into(),
            Interrupted::TooSlow => {
                failure::timeout(format!("waited too long for {awaited} from {}", self.config.id))
            }
        }
    }
}

/// Servers that name no type get the benefit of the doubt.
fn is_event_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_none_or(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream"))
}

/// A reply while it arrives. Dropping the response closes the connection, which is what stops the provider.
struct Reply<'a> {
    model: &'a HttpChatModel,
    ctx: &'a RunContext,
    /// `None` after the last item.
    response: Option<Response>,
    sse: SseDecoder,
    reader: Box<dyn ReplyReader>,
    meter: Meter,
    attempts: u32,
    received_bytes: usize,
    /// How long the next bytes may take.
    patience: Duration,
}

impl Reply<'_> {
    async fn next(&mut self) -> Option<Result<ChatDelta, ModelError>> {
        self.response.as_ref()?;
        let item = self.step().await.map_err(|error| failure::redacted(error, &self.model.redactor));
        if !matches!(item, Ok(ChatDelta::Text(_))) {
            self.response = None;
        }
        Some(item)
    }

    async fn step(&mut self) -> Result<ChatDelta, ModelError> {
        loop {
            self.ctx.check()?;
            while let Some(event) = self.sse.next_event() {
                match self.reader.read(&event)? {
                    Step::Text(text) if !text.is_empty() => {
                        self.meter.count_output(&text);
                        return Ok(ChatDelta::Text(text));
                    }
                    Step::Text(_) | Step::Nothing => {}
                    Step::End => return self.end(),
                }
            }
            if !self.receive().await? {
                return self.end();
            }
        }
    }

    /// Takes the next bytes; false at the end of the body.
    async fn receive(&mut self) -> Result<bool, ModelError> {
        let provider = &self.model.config.id;
        let Some(response) = self.response.as_mut() else { return Ok(false) };
        let chunk = within(self.ctx, self.patience, response.chunk())
            .await
            .map_err(|interrupted| self.model.interrupted(interrupted, "the next words"))?
            .map_err(|error| failure::cut_connection(provider, &error))?;
        let Some(chunk) = chunk else { return Ok(false) };
        self.patience = Duration::from_millis(self.model.config.timeouts.idle_ms);
        self.received_bytes += chunk.len();
        if self.received_bytes > REPLY_BYTES {
            return Err(failure::malformed("it does not end"));
        }
        self.sse.push(&chunk).map_err(failure::malformed)?;
        Ok(true)
    }

    /// The stream is over. Without a word from the provider why, the reply counts as incomplete.
    fn end(&mut self) -> Result<ChatDelta, ModelError> {
        let ending = self.reader.ending();
        if self.received_bytes == 0 {
            return Err(failure::network(
                format!("{} closed the connection without an answer", self.model.config.id),
                "Try again; if it happens every time, check the server's own log.",
            ));
        }
        let tokens = self.meter.settle(ending.tokens);
        Ok(ChatDelta::Done {
            stop: ending.stop.unwrap_or(StopReason::Incomplete),
            usage: Usage {
                model_calls: self.attempts,
                input_tokens: tokens.input,
                output_tokens: tokens.output,
            },
        })
    }
}
