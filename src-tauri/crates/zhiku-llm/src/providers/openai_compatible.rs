//! The chat-completions protocol of OpenAI, which most other servers speak too.
//!
//! Tolerated, because real servers differ: no usage, no `[DONE]`, `choices: null`, names for reasons to stop that OpenAI
//! does not have. The thoughts of reasoning models (`reasoning_content`, `reasoning`) are not part of the answer and are
//! dropped.

use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde::Deserialize;
use serde_json::{Value, json};
use zhiku_core::model::{ChatRequest, ChatRole, ModelError, StopReason};

use super::{Ending, Protocol, ProviderConfig, ReplyReader, Step, key_header};
use crate::failure;
use crate::meter::TokenCounts;
use crate::secret::Secret;
use crate::sse::SseEvent;

pub(super) struct OpenAiCompatible;

impl Protocol for OpenAiCompatible {
    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn needs_key(&self) -> bool {
        false
    }

    fn headers(&self, secret: &Secret) -> Result<HeaderMap, ModelError> {
        Ok(HeaderMap::from_iter([(AUTHORIZATION, key_header("Bearer ", secret)?)]))
    }

    fn body(&self, config: &ProviderConfig, request: &ChatRequest) -> Value {
        let messages: Vec<Value> = request
            .messages
            .iter()
            .map(|message| json!({ "role": role(message.role), "content": message.content }))
            .collect();
        let mut body = json!({
            "model": config.model,
            "messages": messages,
            "stream": true,
            "stream_options": { "include_usage": true },
        });
        body[output_limit_field(&config.base_url)] = json!(request.max_output_tokens);
        if let Some(temperature) = request.temperature {
            body["temperature"] = json!(temperature);
        }
        body
    }

    fn reader(&self) -> Box<dyn ReplyReader> {
        Box::new(Reader::default())
    }
}

fn role(role: ChatRole) -> &'static str {
    match role {
        ChatRole::System => "system",
        ChatRole::User => "user",
        ChatRole::Assistant => "assistant",
    }
}

/// OpenAI's reasoning models refuse `max_tokens`; other servers do not know its successor.
/// <https://platform.openai.com/docs/api-reference/chat/create#chat-create-max_completion_tokens>
fn output_limit_field(base_url: &str) -> &'static str {
    let host = reqwest::Url::parse(base_url.trim()).ok().and_then(|url| url.host_str().map(str::to_owned));
    if host.as_deref() == Some("api.openai.com") { "max_completion_tokens" } else { "max_tokens" }
}

#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<UsageFields>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
    /// OpenAI's own words for declining; what it holds is not an answer from the evidence.
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct UsageFields {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

#[derive(Default)]
struct Reader {
    ending: Ending,
    refused: bool,
}

impl ReplyReader for Reader {
    fn read(&mut self, event: &SseEvent) -> Result<Step, ModelError> {
        let data = event.data.trim();
        if data == "[DONE]" {
            return Ok(Step::End);
        }
        if data.is_empty() {
            return Ok(Step::Nothing);
        }
        let chunk: Chunk = serde_json::from_str(data).map_err(failure::malformed)?;
        if let Some(error) = &chunk.error {
            return Err(reported(error));
        }
        if let Some(usage) = chunk.usage {
            self.ending.tokens = Some(TokenCounts {
                input: usage.prompt_tokens.unwrap_or(0),
                output: usage.completion_tokens.unwrap_or(0),
            });
        }
        // One answer is asked for, so there is one choice.
        let Some(choice) = chunk.choices.into_iter().flatten().next() else { return Ok(Step::Nothing) };
        let delta = choice.delta.unwrap_or(Delta { content: None, refusal: None });
        self.refused |= delta.refusal.is_some_and(|refusal| !refusal.is_empty());
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.ending.stop = Some(stop_reason(&reason));
        }
        Ok(delta.content.map_or(Step::Nothing, Step::Text))
    }

    fn ending(&self) -> Ending {
        let stop = if self.refused { Some(StopReason::Refused) } else { self.ending.stop };
        Ending { stop, ..self.ending }
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        // The second and later names: text-generation-inference, and gateways that pass on other protocols.
        "stop" | "eos" | "eos_token" | "stop_sequence" | "end_turn" => StopReason::EndOfTurn,
        "length" | "max_tokens" => StopReason::MaxTokens,
        "content_filter" | "refusal" | "sensitive" => StopReason::Refused,
        // Tools were not offered; DeepSeek's insufficient_system_resource; whatever comes next.
        _ => StopReason::Incomplete,
    }
}

fn reported(error: &Value) -> ModelError {
    let text = |field: &str| error.get(field).and_then(Value::as_str);
    let kind = text("code").or_else(|| text("type")).unwrap_or_default();
    let message = text("message").or_else(|| error.as_str()).unwrap_or("no reason given");
    failure::reported(kind, message)
}

#[cfg(test)]
mod tests {
    use zhiku_core::ErrorCode;
    use zhiku_core::model::ChatMessage;

    use super::*;
    use crate::providers::ProviderKind;

    fn request() -> ChatRequest {
        let message = |role, content: &str| ChatMessage { role, content: content.to_owned() };
        ChatRequest {
            messages: vec![message(ChatRole::System, "s"), message(ChatRole::User, "问")],
            max_output_tokens: 64,
            temperature: Some(0.5),
        }
    }

    #[test]
    fn body_asks_for_a_stream_with_usage() {
        let config = ProviderConfig::new("p", ProviderKind::OpenAiCompatible, "https://a.example/v1", "m");
        let expect = json!({
            "model": "m",
            "messages": [{ "role": "system", "content": "s" }, { "role": "user", "content": "问" }],
            "stream": true,
            "stream_options": { "include_usage": true },
            "max_tokens": 64,
            "temperature": 0.5,
        });
        assert_eq!(OpenAiCompatible.body(&config, &request()), expect);
    }

    #[test]
    fn openai_itself_takes_the_newer_name_of_the_limit() {
        assert_eq!(output_limit_field("https://api.openai.com/v1"), "max_completion_tokens");
        assert_eq!(output_limit_field("https://api.openai.com.example/v1"), "max_tokens");
    }

    fn read(data: &str) -> (Result<Step, ModelError>, Ending) {
        let mut reader = Reader::default();
        let step = reader.read(&SseEvent { name: String::new(), data: data.to_owned() });
        (step, reader.ending())
    }

    #[test]
    fn chunks_of_many_servers() {
        let step = |data: &str| read(data).0.expect("readable");
        assert_eq!(
            step(r#"{"choices":[{"delta":{"role":"assistant","content":"你"}}]}"#),
            Step::Text("你".to_owned())
        );
        assert_eq!(
            step(r#"{"choices":[{"delta":{"content":null,"reasoning_content":"hm"}}]}"#),
            Step::Nothing
        );
        assert_eq!(step(r#"{"choices":null,"usage":null}"#), Step::Nothing);
        assert_eq!(step(r#"{"choices":[{"delta":null,"finish_reason":""}]}"#), Step::Nothing);
        assert_eq!(step(" [DONE] "), Step::End);
        assert_eq!(step(""), Step::Nothing);
    }

    #[test]
    fn reasons_to_stop() {
        let stop = |reason: &str| {
            read(&json!({ "choices": [{ "delta": {}, "finish_reason": reason }] }).to_string()).1.stop
        };
        assert_eq!(stop("stop"), Some(StopReason::EndOfTurn));
        assert_eq!(stop("length"), Some(StopReason::MaxTokens));
        assert_eq!(stop("content_filter"), Some(StopReason::Refused));
        assert_eq!(stop("insufficient_system_resource"), Some(StopReason::Incomplete));
        assert_eq!(stop(""), None);
    }

    #[test]
    fn a_refusal_is_no_answer() {
        let (step, ending) =
            read(r#"{"choices":[{"delta":{"refusal":"I can't help"},"finish_reason":"stop"}]}"#);
        assert_eq!(step.expect("readable"), Step::Nothing);
        assert_eq!(ending.stop, Some(StopReason::Refused));
    }

    #[test]
    fn errors_in_the_stream() {
        let error = read(r#"{"error":{"message":"slow down","type":"x","code":"rate_limit_exceeded"}}"#)
            .0
            .expect_err("error");
        assert_eq!(
            (error.code, error.message.as_str()),
            (ErrorCode::RateLimited, "the provider reported an error: slow down")
        );
        let error = read(r#"{"error":"out of memory"}"#).0.expect_err("error");
        assert_eq!(
            (error.code, error.message.as_str()),
            (ErrorCode::Network, "the provider reported an error: out of memory")
        );
        assert_eq!(read("{broken").0.expect_err("error").code, ErrorCode::Network);
    }
}
