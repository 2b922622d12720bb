//! Anthropic's messages protocol. Thinking blocks and their signatures are not part of the answer and are dropped.
//! <https://docs.anthropic.com/en/api/messages-streaming>

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::{Value, json};
use zhiku_core::model::{ChatRequest, ChatRole, ModelError, StopReason};

use super::{Ending, Protocol, ProviderConfig, ReplyReader, Step, key_header};
use crate::failure;
use crate::secret::Secret;
use crate::sse::SseEvent;

pub(super) struct Anthropic;

impl Protocol for Anthropic {
    fn path(&self) -> &'static str {
        "/v1/messages"
    }

    fn needs_key(&self) -> bool {
        true
    }

    fn headers(&self, secret: &Secret) -> Result<HeaderMap, ModelError> {
        Ok(HeaderMap::from_iter([
            (HeaderName::from_static("x-api-key"), key_header("", secret)?),
            (HeaderName::from_static("anthropic-version"), HeaderValue::from_static("2023-06-01")),
        ]))
    }

    fn body(&self, config: &ProviderConfig, request: &ChatRequest) -> Value {
        let (system, turns): (Vec<_>, Vec<_>) =
            request.messages.iter().partition(|message| message.role == ChatRole::System);
        let messages: Vec<Value> = turns
            .iter()
            .map(|message| {
                let role = if message.role == ChatRole::Assistant { "assistant" } else { "user" };
                json!({ "role": role, "content": message.content })
            })
            .collect();
        let mut body = json!({
            "model": config.model,
            "messages": messages,
            "max_tokens": request.max_output_tokens,
            "stream": true,
        });
        if !system.is_empty() {
            let parts: Vec<&str> = system.iter().map(|message| message.content.as_str()).collect();
            body["system"] = json!(parts.join("\n\n"));
        }
        if let Some(temperature) = request.temperature {
            body["temperature"] = json!(temperature);
        }
        body
    }

    fn reader(&self) -> Box<dyn ReplyReader> {
        Box::new(Reader::default())
    }
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    MessageStart {
        message: Message,
    },
    ContentBlockStart {
        content_block: Block,
    },
    ContentBlockDelta {
        delta: Block,
    },
    MessageDelta {
        delta: MessageEnd,
        usage: Option<UsageFields>,
    },
    MessageStop,
    Error {
        error: ErrorFields,
    },
    /// `ping`, `content_block_stop`, and what a later version adds.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Message {
    usage: Option<UsageFields>,
}

/// A block as it starts, or a piece of it: only text is read.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    #[serde(alias = "text_delta")]
    Text { text: String },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct MessageEnd {
    stop_reason: Option<String>,
}

/// Running totals: a later value replaces an earlier one.
#[derive(Deserialize)]
struct UsageFields {
    #[serde(rename = "input_tokens")]
    fresh_input: Option<u64>,
    #[serde(rename = "cache_creation_input_tokens")]
    cached_input: Option<u64>,
    #[serde(rename = "cache_read_input_tokens")]
    reused_input: Option<u64>,
    #[serde(rename = "output_tokens")]
    output: Option<u64>,
}

#[derive(Deserialize)]
struct ErrorFields {
    #[serde(rename = "type")]
    kind: String,
    message: String,
}

#[derive(Default)]
struct Reader {
    ending: Ending,
}

impl Reader {
    fn take_usage(&mut self, usage: Option<UsageFields>) {
        let Some(usage) = usage else { return };
        let tokens = self.ending.tokens.get_or_insert_default();
        if let Some(fresh) = usage.fresh_input {
            tokens.input = fresh + usage.cached_input.unwrap_or(0) + usage.reused_input.unwrap_or(0);
        }
        if let Some(output) = usage.output {
            tokens.output = output;
        }
    }
}

impl ReplyReader for Reader {
    fn read(&mut self, event: &SseEvent) -> Result<Step, ModelError> {
        match serde_json::from_str(&event.data).map_err(failure::malformed)? {
            Event::MessageStart { message } => self.take_usage(message.usage),
            Event::ContentBlockStart { content_block: Block::Text { text } }
            | Event::ContentBlockDelta { delta: Block::Text { text } } => return Ok(Step::Text(text)),
            Event::MessageDelta { delta, usage } => {
                self.take_usage(usage);
                if let Some(reason) = delta.stop_reason {
                    self.ending.stop = Some(stop_reason(&reason));
                }
            }
            Event::MessageStop => return Ok(Step::End),
            Event::Error { error } => return Err(failure::reported(&error.kind, &error.message)),
            Event::ContentBlockStart { .. } | Event::ContentBlockDelta { .. } | Event::Other => {}
        }
        Ok(Step::Nothing)
    }

    fn ending(&self) -> Ending {
        self.ending
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "end_turn" | "stop_sequence" => StopReason::EndOfTurn,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "refusal" => StopReason::Refused,
        // Tools were not offered; `pause_turn` asks to be continued.
        _ => StopReason::Incomplete,
    }
}

#[cfg(test)]
mod tests {
    use zhiku_core::ErrorCode;
    use zhiku_core::model::ChatMessage;

    use super::*;
    use crate::meter::TokenCounts;
    use crate::providers::ProviderKind;

    #[test]
    fn body_takes_the_system_text_out_of_the_turns() {
        let message = |role, content: &str| ChatMessage { role, content: content.to_owned() };
        let request = ChatRequest {
            messages: vec![
                message(ChatRole::System, "a"),
                message(ChatRole::System, "b"),
                message(ChatRole::User, "问"),
                message(ChatRole::Assistant, "答"),
                message(ChatRole::User, "再问"),
            ],
            max_output_tokens: 64,
            temperature: None,
        };
        let config = ProviderConfig::new("p", ProviderKind::Anthropic, "https://a.example", "m");
        let expect = json!({
            "model": "m",
            "system": "a\n\nb",
            "messages": [
                { "role": "user", "content": "问" },
                { "role": "assistant", "content": "答" },
                { "role": "user", "content": "再问" },
            ],
            "max_tokens": 64,
            "stream": true,
        });
        assert_eq!(Anthropic.body(&config, &request), expect);
    }

    fn read(events: &[&str]) -> (Vec<Result<Step, ModelError>>, Ending) {
        let mut reader = Reader::default();
        let steps = events
            .iter()
            .map(|data| reader.read(&SseEvent { name: String::new(), data: (*data).to_owned() }))
            .collect();
        (steps, reader.ending())
    }

    #[test]
    fn usage_counts_cached_input_and_the_last_output() {
        let (_, ending) = read(&[
            r#"{"type":"message_start","message":{"id":"x","usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":4,"output_tokens":1}}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}"#,
        ]);
        assert_eq!(
            ending,
            Ending { stop: Some(StopReason::EndOfTurn), tokens: Some(TokenCounts { input: 17, output: 9 }) }
        );
    }

    #[test]
    fn only_text_is_read() {
        let (steps, _) = read(&[
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"好"}}"#,
            r#"{"type":"ping"}"#,
            r#"{"type":"something_new","x":1}"#,
            r#"{"type":"message_stop"}"#,
        ]);
        let steps: Vec<Step> = steps.into_iter().map(|step| step.expect("readable")).collect();
        let text = |text: &str| Step::Text(text.to_owned());
        let nothing = || Step::Nothing;
        assert_eq!(steps, [nothing(), nothing(), text(""), text("好"), nothing(), nothing(), Step::End]);
    }

    #[test]
    fn reasons_to_stop_and_errors() {
        assert_eq!(stop_reason("refusal"), StopReason::Refused);
        assert_eq!(stop_reason("pause_turn"), StopReason::Incomplete);
        let (steps, _) =
            read(&[r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#]);
        let error = steps.into_iter().next().expect("one").expect_err("error");
        assert_eq!((error.code, error.retryable), (ErrorCode::Network, true));
        assert_eq!(error.message, "the provider reported an error: Overloaded");
    }
}
