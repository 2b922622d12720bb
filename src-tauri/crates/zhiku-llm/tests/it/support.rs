//! A server on loopback that plays scripts: one script per connection, in order.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use zhiku_core::model::{ChatDelta, ChatMessage, ChatModel, ChatRequest, ChatRole, ModelError};
use zhiku_core::{BudgetLimits, RunContext};
use zhiku_llm::{ProviderConfig, ProviderKind, Surroundings};

/// What the server does after it has read a request.
pub(crate) enum Step {
    /// Writes and flushes, as one portion.
    Write(Vec<u8>),
    /// Waits for the test.
    Await(Arc<Notify>),
    /// Keeps the connection open until the client closes it, then tells the test.
    UntilClosed(Arc<Notify>),
}

pub(crate) fn write(text: impl AsRef<[u8]>) -> Step {
    Step::Write(text.as_ref().to_vec())
}

/// Head of a stream that ends when the connection closes: portions are the client's reads, nothing else.
pub(crate) fn stream_head() -> Step {
    write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
}

/// Head of a stream of a known length: closing earlier cuts it.
pub(crate) fn stream_head_of(length: usize) -> Step {
    write(format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {length}\r\n\r\n"))
}

pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Vec<Step> {
    let length = body.len();
    vec![write(format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    ))]
}

/// A whole reply of one word.
pub(crate) fn good_answer() -> Vec<Step> {
    vec![stream_head(), write(openai_text("ok")), write(openai_end())]
}

pub(crate) fn openai_text(text: &str) -> String {
    format!(
        "data: {}\n\n",
        serde_json::json!({ "choices": [{ "delta": { "content": text }, "finish_reason": null }] })
    )
}

pub(crate) fn openai_end() -> String {
    let stop = serde_json::json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] });
    let usage = serde_json::json!({ "choices": [], "usage": { "prompt_tokens": 5, "completion_tokens": 2 } });
    format!("data: {stop}\n\ndata: {usage}\n\ndata: [DONE]\n\n")
}

pub(crate) struct ScriptedServer {
    pub(crate) address: String,
    requests: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ScriptedServer {
    pub(crate) async fn start(scripts: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port on loopback");
        let address = listener.local_addr().expect("an address").to_string();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let mut scripts = VecDeque::from(scripts);
        let task = tokio::spawn(async move {
            while let Some(script) = scripts.pop_front() {
                let Ok((mut socket, _)) = listener.accept().await else { return };
                socket.set_nodelay(true).expect("nodelay");
                play(&mut socket, script, &seen).await;
            }
        });
        Self { address, requests, task }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Head and body of every request so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("requests").clone()
    }
}

/// Reads one request and plays the script. A client that goes away ends it.
pub(crate) async fn play(
    socket: &mut (impl AsyncRead + AsyncWrite + Unpin),
    script: Vec<Step>,
    seen: &Mutex<Vec<String>>,
) {
    let Some(request) = read_request(socket).await else { return };
    seen.lock().expect("requests").push(request);
    for step in script {
        match step {
            Step::Write(bytes) => {
                if socket.write_all(&bytes).await.is_err() || socket.flush().await.is_err() {
                    return;
                }
                // Lets the client read this portion on its own.
                tokio::task::yield_now().await;
            }
            Step::Await(notify) => notify.notified().await,
            Step::UntilClosed(closed) => {
                let mut rest = [0; 64];
                while matches!(socket.read(&mut rest).await, Ok(n) if n > 0) {}
                closed.notify_one();
            }
        }
    }
    let _ = socket.shutdown().await;
}

async fn read_request(socket: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let mut portion = [0; 4096];
        let n = socket.read(&mut portion).await.ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&portion[..n]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .and_then(|(_, value)| value.trim().parse::<usize>().ok())
            .unwrap_or(0);
        if body.len() >= length {
            return Some(text);
        }
    }
}

pub(crate) fn config(base_url: &str) -> ProviderConfig {
    ProviderConfig::new("scripted", ProviderKind::OpenAiCompatible, base_url, "m")
}

pub(crate) fn request() -> ChatRequest {
    let message = ChatMessage { role: ChatRole::User, content: "知库是什么？".to_owned() };
    ChatRequest { messages: vec![message], max_output_tokens: 64, temperature: None }
}

pub(crate) fn context() -> RunContext {
    RunContext::new(BudgetLimits::default())
}

/// Waits are written down and not waited for.
pub(crate) fn without_waiting() -> (Surroundings, Arc<Mutex<Vec<Duration>>>) {
    let waits = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&waits);
    let surroundings = Surroundings {
        pause: Arc::new(move |wait| {
            noted.lock().expect("waits").push(wait);
            Box::pin(std::future::ready(()))
        }),
        jitter: Arc::new(|| 1.0),
        ..Surroundings::default()
    };
    (surroundings, waits)
}

/// The text, and how the stream ended.
pub(crate) async fn collect(
    model: &dyn ChatModel,
    ctx: &RunContext,
) -> Result<(String, ChatDelta), ModelError> {
    let mut deltas = model.stream(request(), ctx).await?;
    let mut text = String::new();
    let mut done = None;
    while let Some(delta) = deltas.next().await {
        assert!(done.is_none(), "nothing comes after the end");
        match delta? {
            ChatDelta::Text(piece) => {
                assert!(!piece.is_empty(), "no empty pieces");
                text.push_str(&piece);
            }
            end @ ChatDelta::Done { .. } => done = Some(end),
        }
    }
    Ok((text, done.expect("a stream in order has an end")))
}
