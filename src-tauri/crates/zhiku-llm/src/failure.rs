//! What can go wrong with a provider, told so that a person knows what to do next.
//!
//! Foreign words in a message are shortened here and redacted by the caller that knows the key.

use std::error::Error as StdError;
use std::io;
use std::time::{Duration, SystemTime};

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, LOCATION, RETRY_AFTER};
use serde_json::Value;
use zhiku_core::model::ModelError;
use zhiku_core::{BudgetRefused, ErrorCode, Fault};

use crate::redact::Redactor;
use crate::retry::{Retry, parse_retry_after};

/// The most characters of a foreign message that are shown.
const DETAIL_CHARS: usize = 300;

/// One attempt that failed, and whether another is safe.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) error: ModelError,
    pub(crate) retry: Retry,
}

impl From<ModelError> for Failed {
    fn from(error: ModelError) -> Self {
        Self { error, retry: Retry::Never }
    }
}

/// The answer of a server that is not 200.
pub(crate) struct HttpAnswer<'a> {
    pub(crate) provider: &'a str,
    pub(crate) status: StatusCode,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a str,
    pub(crate) key: KeySent,
}

/// Whether a key went along; a 401 means something else without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeySent {
    Yes,
    No,
}

pub(crate) fn invalid_input(message: impl Into<String>, hint: Option<&str>) -> ModelError {
    ModelError {
        code: ErrorCode::InvalidInput,
        fault: Fault::User,
        message: message.into(),
        hint: hint.map(str::to_owned),
        retryable: false,
    }
}

pub(crate) fn network(message: impl Into<String>, hint: &str) -> ModelError {
    ModelError {
        code: ErrorCode::Network,
        fault: Fault::Environment,
        message: message.into(),
        hint: Some(hint.to_owned()),
        retryable: true,
    }
}

pub(crate) fn timeout(message: impl Into<String>) -> ModelError {
    let hint = "Try again; if it stays slow, choose another model or raise the time limit of this provider.";
    ModelError { code: ErrorCode::Timeout, ..network(message, hint) }
}

/// The server sent something that is not the protocol.
pub(crate) fn malformed(what: impl std::fmt::Display) -> ModelError {
    network(
        format!("could not read the provider's answer: {what}"),
        "Try again; if it happens every time, the server does not speak the protocol chosen for it.",
    )
}

pub(crate) fn key_missing(provider: &str) -> ModelError {
    ModelError {
        code: ErrorCode::KeyMissing,
        hint: Some("Store the key of this provider in the settings.".to_owned()),
        ..invalid_input(format!("no key is stored for {provider}"), None)
    }
}

pub(crate) fn budget_refused(refused: BudgetRefused) -> ModelError {
    ModelError {
        code: ErrorCode::BudgetExhausted,
        hint: Some("Ask a narrower question, or raise the budget in the settings.".to_owned()),
        ..invalid_input(refused.to_string(), None)
    }
}

/// An error that a provider reports inside its stream or with status 200: its kind and message as the protocol names them.
pub(crate) fn reported(kind: &str, message: &str) -> ModelError {
    let message = format!("the provider reported an error: {}", shorten(message));
    let with = |code, fault, hint: &str, retryable| ModelError {
        code,
        fault,
        message: message.clone(),
        hint: Some(hint.to_owned()),
        retryable,
    };
    match kind {
        "authentication_error" | "permission_error" | "invalid_api_key" => {
            with(ErrorCode::KeyRejected, Fault::User, HINT_KEY, false)
        }
        "rate_limit_error" | "rate_limit_exceeded" => {
            with(ErrorCode::RateLimited, Fault::Environment, HINT_WAIT, true)
        }
        "invalid_request_error" | "context_length_exceeded" | "not_found_error" | "request_too_large" => {
            with(ErrorCode::InvalidInput, Fault::User, HINT_REQUEST, false)
        }
        _ => with(ErrorCode::Network, Fault::Environment, HINT_BUSY, true),
    }
}

const HINT_KEY: &str =
    "Check the key in the settings: it may be mistyped, expired, or without access to this model.";
const HINT_WAIT: &str = "Wait a moment and ask again.";
const HINT_REQUEST: &str =
    "Check the model's name, or ask a shorter question: the request may not fit this model.";
const HINT_BUSY: &str = "The provider has a problem of its own; try again in a moment.";

/// Maps a status other than 200 to an error and to what it says about trying again.
pub(crate) fn from_status(answer: &HttpAnswer<'_>, now: SystemTime) -> Failed {
    let HttpAnswer { provider, status, headers, body, key } = answer;
    let code_of_body = error_field(body, "code").or_else(|| error_field(body, "type")).unwrap_or_default();
    let detail = detail_of(body).map(|detail| format!(": {detail}")).unwrap_or_default();
    let error = |code, fault, what: &str, hint: &str, retryable| ModelError {
        code,
        fault,
        message: format!("{provider} {what} (HTTP {}){detail}", status.as_u16()),
        hint: Some(hint.to_owned()),
        retryable,
    };
    let user = |code, what: &str, hint: &str| Failed::from(error(code, Fault::User, what, hint, false));
    let wait = headers
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| parse_retry_after(value, now));
    match status.as_u16() {
        401 if *key == KeySent::No => {
            user(ErrorCode::KeyMissing, "asks for a key", "Store the key of this provider in the settings.")
        }
        401 | 403 => user(ErrorCode::KeyRejected, "refused the key", HINT_KEY),
        402 => user(
            ErrorCode::RateLimited,
            "says the account has no credit left",
            "Top up the account at the provider, or choose another.",
        ),
        404 => user(
            ErrorCode::InvalidInput,
            "does not know this model or address",
            "Check the model's name and the base URL in the settings.",
        ),
        407 => Failed::from(error(
            ErrorCode::Network,
            Fault::Environment,
            "could not be reached: the proxy wants a login",
            "Put the user name and password into the HTTPS_PROXY variable.",
            false,
        )),
        429 if code_of_body == "insufficient_quota" => user(
            ErrorCode::RateLimited,
            "says the account's quota is used up",
            "Check plan and billing at the provider, or choose another.",
        ),
        429 => Failed {
            error: error(
                ErrorCode::RateLimited,
                Fault::Environment,
                "limits how often it may be asked",
                &wait_hint(wait),
                true,
            ),
            retry: wait.map_or(Retry::BackOff, Retry::After),
        },
        502 | 503 | 529 => Failed {
            error: error(ErrorCode::Network, Fault::Environment, "is overloaded or down", HINT_BUSY, true),
            retry: wait.map_or(Retry::BackOff, Retry::After),
        },
        408 | 504 => {
            Failed::from(error(ErrorCode::Timeout, Fault::Environment, "took too long", HINT_BUSY, true))
        }
        500..=599 => Failed::from(error(ErrorCode::Network, Fault::Environment, "failed", HINT_BUSY, true)),
        300..=399 => {
            let target =
                headers.get(LOCATION).and_then(|value| value.to_str().ok()).map_or_else(String::new, shorten);
            let hint = "Enter the final address as base URL if you trust it: a key is never sent on to another server.";
            user(ErrorCode::InvalidInput, &format!("redirects to another address, {target},"), hint)
        }
        _ => user(ErrorCode::InvalidInput, "refused the request", HINT_REQUEST),
    }
}

fn wait_hint(wait: Option<Duration>) -> String {
    match wait {
        Some(wait) => format!("Ask again in {} s.", wait.as_secs_f64().ceil()),
        None => HINT_WAIT.to_owned(),
    }
}

/// The request did not get as far as an answer.
pub(crate) fn from_send_error(provider: &str, error: &reqwest::Error) -> Failed {
    let cause = innermost(error);
    if let Some(tls) = find_tls_error(error) {
        let hint =
            "If your network checks traffic with its own certificate, choose its CA file in the settings.";
        let error = network(format!("could not trust the certificate of {provider}: {tls}"), hint);
        return Failed::from(ModelError { retryable: false, ..error });
    }
    if error.is_timeout() {
        let error = timeout(format!("could not connect to {provider} in time"));
        return Failed { error, retry: Retry::BackOff };
    }
    if error.is_connect() {
        let hint = "Check the network, the base URL and the proxy; a local server must be running.";
        return Failed {
            error: network(format!("could not connect to {provider}: {cause}"), hint),
            retry: Retry::BackOff,
        };
    }
    Failed::from(network(
        format!("the connection to {provider} broke before an answer came: {cause}"),
        "Try again.",
    ))
}

pub(crate) fn cut_connection(provider: &str, error: &reqwest::Error) -> ModelError {
    network(
        format!("the connection to {provider} was cut in the middle of the answer: {}", innermost(error)),
        "The answer is incomplete; ask again.",
    )
}

/// The deepest cause says most; the outer ones repeat the address.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn StdError = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    shorten(&cause.to_string())
}

/// `io::Error` hides the error it wraps from `source`, so it is looked into by hand.
fn find_tls_error(error: &reqwest::Error) -> Option<&rustls::Error> {
    let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(current) = cause {
        if let Some(tls) = current.downcast_ref::<rustls::Error>() {
            return Some(tls);
        }
        cause = match current.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner as &(dyn StdError + 'static)),
            None => current.source(),
        };
    }
    None
}

/// The message in a body of any of the usual shapes; nothing for a page of HTML.
pub(crate) fn detail_of(body: &str) -> Option<String> {
    let Ok(json) = serde_json::from_str::<Value>(body) else {
        let text = body.trim();
        return (!text.is_empty() && !text.starts_with('<')).then(|| shorten(text));
    };
    let candidates =
        [json.pointer("/error/message"), json.get("error"), json.get("message"), json.get("detail")];
    candidates.into_iter().flatten().find_map(Value::as_str).map(shorten)
}

fn error_field(body: &str, field: &str) -> Option<String> {
    let json: Value = serde_json::from_str(body).ok()?;
    json.get("error")?.get(field)?.as_str().map(str::to_owned)
}

/// One line, without control characters, of bounded length.
fn shorten(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = line.chars().filter(|c| !c.is_control()).take(DETAIL_CHARS).collect();
    if line.chars().count() > DETAIL_CHARS {
        short.push('…');
    }
    short
}

/// Takes keys out of everything a person will read.
pub(crate) fn redacted(error: ModelError, redactor: &Redactor) -> ModelError {
    ModelError {
        message: redactor.redact(&error.message),
        hint: error.hint.map(|hint| redactor.redact(&hint)),
        ..error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(status: u16, body: &str) -> (ErrorCode, bool, Retry, String) {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, "7".parse().expect("header"));
        let status = StatusCode::from_u16(status).expect("status");
        let answer = HttpAnswer { provider: "p", status, headers: &headers, body, key: KeySent::Yes };
        let failed = from_status(&answer, SystemTime::UNIX_EPOCH);
        (failed.error.code, failed.error.retryable, failed.retry, failed.error.message)
    }

    #[test]
    fn statuses_say_whose_fault_and_whether_to_try_again() {
        let wait = Retry::After(Duration::from_secs(7));
        let cases = [
            (401, ErrorCode::KeyRejected, false, Retry::Never),
            (403, ErrorCode::KeyRejected, false, Retry::Never),
            (402, ErrorCode::RateLimited, false, Retry::Never),
            (404, ErrorCode::InvalidInput, false, Retry::Never),
            (400, ErrorCode::InvalidInput, false, Retry::Never),
            (413, ErrorCode::InvalidInput, false, Retry::Never),
            (307, ErrorCode::InvalidInput, false, Retry::Never),
            (407, ErrorCode::Network, false, Retry::Never),
            (429, ErrorCode::RateLimited, true, wait),
            (500, ErrorCode::Network, true, Retry::Never),
            (502, ErrorCode::Network, true, wait),
            (503, ErrorCode::Network, true, wait),
            (504, ErrorCode::Timeout, true, Retry::Never),
            (529, ErrorCode::Network, true, wait),
        ];
        for (status, code, retryable, retry) in cases {
            let (got_code, got_retryable, got_retry, message) = check(status, "");
            assert_eq!((got_code, got_retryable, got_retry), (code, retryable, retry), "{status}: {message}");
        }
        let quota = r#"{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}"#;
        let (code, retryable, retry, message) = check(429, quota);
        assert_eq!((code, retryable, retry), (ErrorCode::RateLimited, false, Retry::Never));
        assert_eq!(
            message,
            "p says the account's quota is used up (HTTP 429): You exceeded your current quota"
        );
    }

    #[test]
    fn bodies_of_all_usual_shapes_give_one_short_line() {
        let detail = |body: &str| detail_of(body).unwrap_or_default();
        assert_eq!(detail(r#"{"error":{"message":"a\n b"}}"#), "a b");
        assert_eq!(detail(r#"{"type":"error","error":{"type":"x","message":"m"}}"#), "m");
        assert_eq!(detail(r#"{"error":"plain"}"#), "plain");
        assert_eq!(detail(r#"{"detail":"Not Found"}"#), "Not Found");
        assert_eq!(detail("Bad gateway\n"), "Bad gateway");
        assert_eq!(detail("<html><h1>502</h1></html>"), "");
        assert_eq!(detail(&"长".repeat(400)).chars().count(), DETAIL_CHARS + 1);
    }
}
