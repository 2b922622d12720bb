//! The providers: one file and one line in [`ProviderKind::protocol`] each, and a folder of recorded streams that the
//! conformance test replays.

mod anthropic;
mod openai_compatible;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use reqwest::header::{HeaderMap, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use zhiku_core::model::{ChatDelta, ChatMessage, ChatModel, ChatRequest, ChatRole, ModelError, StopReason};
use zhiku_core::{RunContext, Usage};

use crate::endpoint::endpoint;
use crate::failure::{self, KeySent};
use crate::meter::TokenCounts;
use crate::redact::Redactor;
use crate::reply::HttpChatModel;
use crate::secret::Secret;
use crate::sse::SseEvent;
use crate::surroundings::Surroundings;
use crate::transport;

/// The protocol a server speaks. Persisted: changes need a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    /// `POST {base}/chat/completions`, as OpenAI and most others have it.
    #[serde(rename = "openai_compatible")]
    OpenAiCompatible,
    /// `POST {base}/v1/messages`.
    Anthropic,
}

impl ProviderKind {
    pub const ALL: [Self; 2] = [Self::OpenAiCompatible, Self::Anthropic];

    /// As stored, and the name of its folder of recorded streams.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiCompatible => "openai_compatible",
            Self::Anthropic => "anthropic",
        }
    }

    fn protocol(self) -> &'static dyn Protocol {
        match self {
            Self::OpenAiCompatible => &openai_compatible::OpenAiCompatible,
            Self::Anthropic => &anthropic::Anthropic,
        }
    }
}

/// Whether plain HTTP may leave this machine. Persisted: changes need a migration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransportRule {
    #[default]
    HttpsOrLoopback,
    /// For a server in one's own network; key and documents are readable on the way.
    AllowPlainHttp,
}

/// The total time of a call is bounded by the run's budget. Persisted: changes need a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timeouts {
    pub connect_ms: u64,
    /// From the request to the first bytes of the reply; a local model reads the whole prompt in this time.
    pub first_byte_ms: u64,
    /// Between two portions of the reply.
    pub idle_ms: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect_ms: 10_000, first_byte_ms: 120_000, idle_ms: 60_000 }
    }
}

/// One provider as set by a person; the key is elsewhere, in the keychain under `id`. Persisted: changes need a migration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderConfig {
    pub id: String,
    pub kind: ProviderKind,
    pub base_url: String,
    pub model: String,
    /// Certificates in PEM format, trusted besides the system's.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    #[serde(default)]
    pub transport: TransportRule,
    #[serde(default)]
    pub timeouts: Timeouts,
}

impl ProviderConfig {
    pub fn new(
        id: impl Into<String>,
        kind: ProviderKind,
        base_url: impl Into<String>,
        model: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            kind,
            base_url: base_url.into(),
            model: model.into(),
            ca_file: None,
            transport: TransportRule::default(),
            timeouts: Timeouts::default(),
        }
    }
}

/// Makes the model of a provider, with the proxy variables of this process. Reads the CA file; sends nothing.
pub fn build(config: &ProviderConfig, secret: Option<Secret>) -> Result<Arc<dyn ChatModel>, ModelError> {
    build_with(config, secret, Surroundings::of_this_process())
}

/// [`build`] with the outside world as a parameter.
pub fn build_with(
    config: &ProviderConfig,
    secret: Option<Secret>,
    surroundings: Surroundings,
) -> Result<Arc<dyn ChatModel>, ModelError> {
    if config.model.trim().is_empty() {
        let hint = Some("Enter the model's name in the settings, as the provider writes it.");
        return Err(failure::invalid_input(format!("no model is chosen for {}", config.id), hint));
    }
    let protocol = config.kind.protocol();
    let secret = secret.filter(|secret| !secret.is_empty());
    let endpoint = endpoint(&config.base_url, protocol.path(), config.transport)?;
    let headers = match &secret {
        Some(secret) => protocol.headers(secret)?,
        None if protocol.needs_key() => return Err(failure::key_missing(&config.id)),
        None => HeaderMap::new(),
    };
    let client =
        transport::client(&endpoint, config.ca_file.as_deref(), config.timeouts, &surroundings.proxy)?;
    Ok(Arc::new(HttpChatModel {
        config: config.clone(),
        protocol,
        endpoint,
        client,
        headers,
        key: if secret.is_some() { KeySent::Yes } else { KeySent::No },
        redactor: Redactor::new(secret),
        surroundings,
    }))
}

/// How long a person waits for [`test_connection`]: a budget for its context.
pub const TEST_WALL_TIME: Duration = Duration::from_secs(30);

/// What a connection test found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConnectionReport {
    pub model: String,
    pub elapsed_ms: u64,
    pub stop: StopReason,
    pub usage: Usage,
}

/// Asks the provider for a few words and reads them to the end: proves address, key, model and streaming at once.
pub async fn test_connection(
    config: &ProviderConfig,
    secret: Option<Secret>,
    ctx: &RunContext,
) -> Result<ConnectionReport, ModelError> {
    let model = build(config, secret)?;
    let message =
        ChatMessage { role: ChatRole::User, content: "Reply with the single word: ready".to_owned() };
    let request = ChatRequest { messages: vec![message], max_output_tokens: 32, temperature: None };
    let started = Instant::now();
    let mut deltas = model.stream(request, ctx).await?;
    while let Some(delta) = deltas.next().await {
        if let ChatDelta::Done { stop, usage } = delta? {
            let elapsed_ms = started.elapsed().as_millis() as u64;
            return Ok(ConnectionReport { model: model.name(), elapsed_ms, stop, usage });
        }
    }
    Err(failure::malformed("the stream ended without a last event"))
}

/// What differs between providers.
pub(crate) trait Protocol: Send + Sync {
    /// Appended to the base URL.
    fn path(&self) -> &'static str;

    /// Whether the protocol is of no use without a key.
    fn needs_key(&self) -> bool;

    fn headers(&self, secret: &Secret) -> Result<HeaderMap, ModelError>;

    fn body(&self, config: &ProviderConfig, request: &ChatRequest) -> Value;

    fn reader(&self) -> Box<dyn ReplyReader>;
}

/// Reads the events of one reply.
pub(crate) trait ReplyReader: Send {
    fn read(&mut self, event: &SseEvent) -> Result<Step, ModelError>;

    /// What is known at the end of the stream.
    fn ending(&self) -> Ending;
}

/// What one event means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Nothing,
    Text(String),
    /// The provider says that the reply is over; nothing after it is read.
    End,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) stop: Option<StopReason>,
    /// `None` if the provider reported no usage.
    pub(crate) tokens: Option<TokenCounts>,
}

/// A header value that holds the key: never shown, never compressed into a shared table.
fn key_header(prefix: &str, secret: &Secret) -> Result<HeaderValue, ModelError> {
    let mut value = HeaderValue::from_str(&format!("{prefix}{}", secret.expose())).map_err(|_| {
        let hint = Some("Paste the key again, without line breaks.");
        failure::invalid_input("the key holds characters that no key has", hint)
    })?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use zhiku_core::ErrorCode;

    use super::*;

    #[test]
    fn stored_configurations_need_only_what_a_person_enters() {
        let json =
            r#"{"id":"openai","kind":"openai_compatible","base_url":"https://a.example/v1","model":"m"}"#;
        let config: ProviderConfig = serde_json::from_str(json).expect("parses");
        assert_eq!(
            config,
            ProviderConfig::new("openai", ProviderKind::OpenAiCompatible, "https://a.example/v1", "m")
        );
        for kind in ProviderKind::ALL {
            assert_eq!(serde_json::to_value(kind).expect("serialises"), kind.as_str());
        }
    }

    fn refused(kind: ProviderKind, model: &str, secret: Option<&str>) -> (ErrorCode, String) {
        let config = ProviderConfig::new("p", kind, "https://a.example", model);
        let error = build(&config, secret.map(Secret::new)).err().expect("refused");
        (error.code, error.message)
    }

    #[test]
    fn what_cannot_work_is_refused_before_anything_is_sent() {
        let (code, message) = refused(ProviderKind::Anthropic, "m", None);
        assert_eq!((code, message.as_str()), (ErrorCode::KeyMissing, "no key is stored for p"));
        let (_, message) = refused(ProviderKind::OpenAiCompatible, "m", Some("sk-a\nb"));
        assert_eq!(message, "the key holds characters that no key has");
        let (_, message) = refused(ProviderKind::OpenAiCompatible, " ", None);
        assert_eq!(message, "no model is chosen for p");
    }

    #[test]
    fn a_missing_ca_file_is_named() {
        let mut config = ProviderConfig::new("p", ProviderKind::OpenAiCompatible, "https://a.example", "m");
        config.ca_file = Some("/nowhere/ca.pem".into());
        let error = build(&config, None).err().expect("refused");
        assert!(
            error.message.starts_with("could not read the CA file /nowhere/ca.pem: "),
            "{}",
            error.message
        );
    }
}
