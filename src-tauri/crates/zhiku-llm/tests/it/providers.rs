//! Providers against a scripted server: what arrives broken, late, or not at all.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::{
    ScriptedServer, Step, answer, collect, config, context, good_answer, openai_end, openai_text, request,
    stream_head, stream_head_of, without_waiting, write,
};
use crate::tls;
use futures::StreamExt;
use tokio::sync::Notify;
use zhiku_core::model::{ChatDelta, ChatModel, ModelError, StopReason};
use zhiku_core::{BudgetLimits, ErrorCode, Fault, RunContext, Usage};
use zhiku_llm::{
    ProviderConfig, ProxyVariables, Secret, Surroundings, Timeouts, TransportRule, build_with,
    test_connection,
};

const KEY: &str = "sk-scripted-0123456789";

fn model(config: &ProviderConfig, surroundings: Surroundings) -> Arc<dyn ChatModel> {
    build_with(config, Some(Secret::new(KEY)), surroundings).expect("builds")
}

/// Plays one script and reads the reply.
async fn reply_to(script: Vec<Step>) -> Result<(String, ChatDelta), ModelError> {
    let server = ScriptedServer::start(vec![script]).await;
    collect(&*model(&config(&server.base_url()), without_waiting().0), &context()).await
}

async fn error_of(script: Vec<Step>) -> ModelError {
    reply_to(script).await.expect_err("an error")
}

fn done(stop: StopReason, input_tokens: u64, output_tokens: u64) -> ChatDelta {
    ChatDelta::Done { stop, usage: Usage { model_calls: 1, input_tokens, output_tokens } }
}

#[tokio::test]
async fn a_reply_streams_and_the_request_is_what_the_protocol_asks_for() {
    let server = ScriptedServer::start(vec![good_answer()]).await;
    let reply = collect(&*model(&config(&server.base_url()), Surroundings::default()), &context()).await;
    assert_eq!(reply.expect("a reply"), ("ok".to_owned(), done(StopReason::EndOfTurn, 5, 2)));
    let request = &server.requests()[0];
    let (head, body) = request.split_once("\r\n\r\n").expect("head and body");
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{head}");
    for line in
        [&format!("authorization: Bearer {KEY}"), "user-agent: zhiku/0.1.0", "accept: text/event-stream"]
    {
        assert!(head.lines().any(|have| have == line), "{line} in {head}");
    }
    let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
    assert_eq!(body["messages"][0]["content"], "知库是什么？");
    assert_eq!(body["stream"], true);
}

#[tokio::test]
async fn half_characters_and_single_bytes_are_put_together() {
    let stream = format!("{}{}", openai_text("知库🗄"), openai_end());
    let mut script = vec![stream_head()];
    script.extend(stream.as_bytes().iter().map(|byte| write([*byte])));
    assert_eq!(
        reply_to(script).await.expect("a reply"),
        ("知库🗄".to_owned(), done(StopReason::EndOfTurn, 5, 2))
    );
}

#[tokio::test]
async fn a_rejected_key_says_so_and_the_key_is_not_in_the_message() {
    let body = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}."}}}}"#);
    let error = error_of(answer("401 Unauthorized", "", &body)).await;
    assert_eq!((error.code, error.fault, error.retryable), (ErrorCode::KeyRejected, Fault::User, false));
    assert_eq!(error.message, "scripted refused the key (HTTP 401): Incorrect API key provided: [redacted].");
    assert!(error.hint.is_some_and(|hint| hint.contains("settings")));
}

#[tokio::test]
async fn without_a_key_a_401_asks_for_one() {
    let server = ScriptedServer::start(vec![answer("401 Unauthorized", "", "")]).await;
    let model = build_with(&config(&server.base_url()), None, Surroundings::default()).expect("builds");
    let error = collect(&*model, &context()).await.expect_err("an error");
    assert_eq!(error.code, ErrorCode::KeyMissing);
    assert!(!server.requests()[0].to_lowercase().contains("authorization"));
}

#[tokio::test]
async fn an_unknown_model_points_to_name_and_address() {
    let error = error_of(answer("404 Not Found", "", r#"{"error":{"message":"model `m` not found"}}"#)).await;
    assert_eq!(error.code, ErrorCode::InvalidInput);
    assert_eq!(error.message, "scripted does not know this model or address (HTTP 404): model `m` not found");
}

#[tokio::test]
async fn retry_after_is_waited_for_and_each_attempt_is_a_model_call() {
    let limited = answer("429 Too Many Requests", "Retry-After: 7\r\n", "");
    let down = answer("503 Service Unavailable", "", "");
    let server = ScriptedServer::start(vec![limited, down, good_answer()]).await;
    let (surroundings, waits) = without_waiting();
    let ctx = RunContext::new(BudgetLimits { model_calls: 3, ..BudgetLimits::default() });
    let (text, end) =
        collect(&*model(&config(&server.base_url()), surroundings), &ctx).await.expect("a reply");
    assert_eq!(text, "ok");
    let usage = Usage { model_calls: 3, input_tokens: 5, output_tokens: 2 };
    assert_eq!(end, ChatDelta::Done { stop: StopReason::EndOfTurn, usage });
    assert_eq!(*waits.lock().expect("waits"), [Duration::from_secs(7), Duration::from_secs(1)]);
    assert!(ctx.budget.reserve_model_call().is_err(), "three calls were counted");
}

#[tokio::test]
async fn a_long_retry_after_is_left_to_the_person() {
    let server =
        ScriptedServer::start(vec![answer("429 Too Many Requests", "Retry-After: 90\r\n", "")]).await;
    let (surroundings, waits) = without_waiting();
    let error =
        collect(&*model(&config(&server.base_url()), surroundings), &context()).await.expect_err("an error");
    assert_eq!((error.code, error.retryable), (ErrorCode::RateLimited, true));
    assert_eq!(error.hint.as_deref(), Some("Ask again in 90 s."));
    assert!(waits.lock().expect("waits").is_empty());
}

#[tokio::test]
async fn attempts_are_bounded_and_an_internal_error_is_not_tried_again() {
    let down = || answer("502 Bad Gateway", "", "<html>bad gateway</html>");
    let server = ScriptedServer::start(vec![down(), down(), down(), good_answer()]).await;
    let error = collect(&*model(&config(&server.base_url()), without_waiting().0), &context())
        .await
        .expect_err("an error");
    assert_eq!(
        (error.code, error.message.as_str()),
        (ErrorCode::Network, "scripted is overloaded or down (HTTP 502)")
    );
    assert_eq!(server.requests().len(), 3);

    let server =
        ScriptedServer::start(vec![answer("500 Internal Server Error", "", ""), good_answer()]).await;
    let error = collect(&*model(&config(&server.base_url()), without_waiting().0), &context())
        .await
        .expect_err("an error");
    assert_eq!((error.code, error.retryable), (ErrorCode::Network, true));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn nothing_is_tried_again_after_the_first_word() {
    let cut = vec![stream_head_of(10_000), write(openai_text("half"))];
    let server = ScriptedServer::start(vec![cut, good_answer()]).await;
    let model = model(&config(&server.base_url()), without_waiting().0);
    let ctx = context();
    let mut deltas = model.stream(request(), &ctx).await.expect("a stream");
    assert_eq!(deltas.next().await.expect("a word").expect("a word"), ChatDelta::Text("half".to_owned()));
    let error = deltas.next().await.expect("an item").expect_err("an error");
    assert_eq!((error.code, error.retryable), (ErrorCode::Network, true));
    assert!(
        error.message.starts_with("the connection to scripted was cut in the middle of the answer"),
        "{}",
        error.message
    );
    assert!(deltas.next().await.is_none());
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn an_end_without_a_reason_is_incomplete() {
    let script = vec![stream_head(), write(openai_text("half a sen"))];
    assert_eq!(
        reply_to(script).await.expect("a reply"),
        ("half a sen".to_owned(), done(StopReason::Incomplete, 14, 4))
    );
    let error = error_of(vec![stream_head()]).await;
    assert_eq!(error.message, "scripted closed the connection without an answer");
}

#[tokio::test]
async fn a_connection_that_fails_is_tried_again() {
    let server = ScriptedServer::start(vec![]).await;
    let base_url = server.base_url();
    drop(server);
    let (surroundings, waits) = without_waiting();
    let error = collect(&*model(&config(&base_url), surroundings), &context()).await.expect_err("an error");
    assert_eq!((error.code, error.fault), (ErrorCode::Network, Fault::Environment));
    assert!(error.message.starts_with("could not connect to scripted"), "{}", error.message);
    assert_eq!(waits.lock().expect("waits").len(), 2);
}

#[tokio::test]
async fn broken_json_a_page_and_an_error_in_the_stream_are_told_apart() {
    let error = error_of(vec![stream_head(), write("data: {\"choices\": [\n\n")]).await;
    assert!(error.message.starts_with("could not read the provider's answer"), "{}", error.message);
    let error = error_of(answer("200 OK", "Content-Type: text/html\r\n", "<html>log in</html>")).await;
    assert_eq!(error.message, "scripted answered with something other than a stream");
    let body = r#"{"error":{"message":"model is loading"}}"#;
    let error = error_of(answer("200 OK", "Content-Type: application/json\r\n", body)).await;
    assert_eq!(error.message, "the provider reported an error: model is loading");
    let echo =
        format!("data: {{\"error\":{{\"message\":\"bad key {KEY}\",\"code\":\"invalid_api_key\"}}}}\n\n");
    let error = error_of(vec![stream_head(), write(echo)]).await;
    assert_eq!(
        (error.code, error.message.as_str()),
        (ErrorCode::KeyRejected, "the provider reported an error: bad key [redacted]")
    );
}

fn impatient(base_url: &str) -> ProviderConfig {
    let timeouts = Timeouts { connect_ms: 5_000, first_byte_ms: 60, idle_ms: 60 };
    ProviderConfig { timeouts, ..config(base_url) }
}

#[tokio::test]
async fn silence_ends_in_a_timeout_before_and_after_the_head_and_between_words() {
    let scripts: Vec<Vec<Step>> =
        vec![vec![], vec![stream_head()], vec![stream_head(), write(openai_text("a"))]];
    let expect = ["an answer", "the next words", "the next words"];
    for (mut script, awaited) in scripts.into_iter().zip(expect) {
        let closed = Arc::new(Notify::new());
        script.push(Step::UntilClosed(Arc::clone(&closed)));
        let server = ScriptedServer::start(vec![script, good_answer()]).await;
        let model = model(&impatient(&server.base_url()), without_waiting().0);
        let error = collect(&*model, &context()).await.expect_err("an error");
        assert_eq!((error.code, error.retryable), (ErrorCode::Timeout, true));
        assert_eq!(error.message, format!("waited too long for {awaited} from scripted"));
        closed.notified().await;
        assert_eq!(server.requests().len(), 1, "a request that may have been worked on is not sent again");
    }
}

#[tokio::test]
async fn the_runs_deadline_bounds_the_whole_call() {
    let closed = Arc::new(Notify::new());
    let server = ScriptedServer::start(vec![vec![stream_head(), Step::UntilClosed(closed)]]).await;
    let ctx =
        RunContext::new(BudgetLimits { wall_time: Duration::from_millis(80), ..BudgetLimits::default() });
    let error = collect(&*model(&config(&server.base_url()), Surroundings::default()), &ctx)
        .await
        .expect_err("an error");
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::Timeout, "deadline passed"));
}

#[tokio::test]
async fn cancelling_a_slow_drip_ends_it_at_once_and_closes_the_connection() {
    let (drip, closed) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let script = vec![
        stream_head(),
        write(openai_text("slow ")),
        Step::Await(Arc::clone(&drip)),
        write(openai_text("drip")),
        Step::UntilClosed(Arc::clone(&closed)),
    ];
    let server = ScriptedServer::start(vec![script]).await;
    let model = model(&config(&server.base_url()), Surroundings::default());
    let ctx = context();
    let mut deltas = model.stream(request(), &ctx).await.expect("a stream");
    assert_eq!(deltas.next().await.expect("a word").expect("a word"), ChatDelta::Text("slow ".to_owned()));
    drip.notify_one();
    assert_eq!(deltas.next().await.expect("a word").expect("a word"), ChatDelta::Text("drip".to_owned()));
    let cancel = ctx.cancel.clone();
    let started = Instant::now();
    let (item, ()) = tokio::join!(deltas.next(), async move { cancel.cancel() });
    assert_eq!(item.expect("an item").expect_err("cancelled").code, ErrorCode::Cancelled);
    closed.notified().await;
    assert!(started.elapsed() < Duration::from_millis(200), "{:?}", started.elapsed());
    assert!(deltas.next().await.is_none());
}

#[tokio::test]
async fn cancelling_ends_the_wait_for_an_answer_and_for_another_attempt() {
    let closed = Arc::new(Notify::new());
    let server = ScriptedServer::start(vec![vec![Step::UntilClosed(Arc::clone(&closed))]]).await;
    let ctx = context();
    let waiting = model(&config(&server.base_url()), Surroundings::default());
    let cancel = ctx.cancel.clone();
    let (result, ()) = tokio::join!(collect(&*waiting, &ctx), async { cancel.cancel() });
    assert_eq!(result.expect_err("cancelled").code, ErrorCode::Cancelled);

    let server = ScriptedServer::start(vec![answer("503 Service Unavailable", "", "")]).await;
    let ctx = context();
    let cancel = ctx.cancel.clone();
    let endless = Surroundings {
        pause: Arc::new(move |_| {
            cancel.cancel();
            Box::pin(std::future::pending())
        }),
        ..Surroundings::default()
    };
    let result = collect(&*model(&config(&server.base_url()), endless), &ctx).await;
    assert_eq!(result.expect_err("cancelled").code, ErrorCode::Cancelled);
}

#[tokio::test]
async fn dropping_the_reply_closes_the_connection() {
    let closed = Arc::new(Notify::new());
    let script = vec![stream_head(), write(openai_text("a")), Step::UntilClosed(Arc::clone(&closed))];
    let server = ScriptedServer::start(vec![script]).await;
    let model = model(&config(&server.base_url()), Surroundings::default());
    let ctx = context();
    let mut deltas = model.stream(request(), &ctx).await.expect("a stream");
    assert!(deltas.next().await.is_some());
    drop(deltas);
    closed.notified().await;
}

#[tokio::test]
async fn a_budget_that_is_used_up_sends_nothing() {
    let server = ScriptedServer::start(vec![good_answer()]).await;
    let ctx = RunContext::new(BudgetLimits { tokens: 50, ..BudgetLimits::default() });
    let error = collect(&*model(&config(&server.base_url()), Surroundings::default()), &ctx)
        .await
        .expect_err("an error");
    assert_eq!(
        (error.code, error.message.as_str()),
        (ErrorCode::BudgetExhausted, "the run's budget of 50 tokens is used up")
    );
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn tokens_are_settled_with_what_the_provider_reported() {
    let server = ScriptedServer::start(vec![good_answer()]).await;
    let ctx = RunContext::new(BudgetLimits { tokens: 100, ..BudgetLimits::default() });
    collect(&*model(&config(&server.base_url()), Surroundings::default()), &ctx).await.expect("a reply");
    assert!(ctx.budget.reserve_tokens(93).is_ok(), "five in and two out were used");
    assert!(ctx.budget.reserve_tokens(1).is_err());
}

#[tokio::test]
async fn a_key_is_not_sent_on_to_another_server() {
    let other = ScriptedServer::start(vec![good_answer()]).await;
    let location = format!("Location: http://{}/v1/chat/completions\r\n", other.address);
    let server = ScriptedServer::start(vec![answer("307 Temporary Redirect", &location, "")]).await;
    let error = collect(&*model(&config(&server.base_url()), Surroundings::default()), &context())
        .await
        .expect_err("an error");
    assert_eq!(error.code, ErrorCode::InvalidInput);
    assert!(error.message.contains(&other.address), "{}", error.message);
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn a_redirect_within_the_same_server_is_followed() {
    let moved = answer("308 Permanent Redirect", "Location: /v2/chat/completions\r\n", "");
    let server = ScriptedServer::start(vec![moved, good_answer()]).await;
    let (text, _) = collect(&*model(&config(&server.base_url()), Surroundings::default()), &context())
        .await
        .expect("a reply");
    assert_eq!(text, "ok");
    assert!(server.requests()[1].starts_with("POST /v2/chat/completions "), "{}", server.requests()[1]);
    assert!(server.requests()[1].contains(KEY));
}

fn behind_proxy(address: &str, no_proxy: Option<&str>) -> Surroundings {
    let proxy = ProxyVariables {
        http: Some(format!("http://{address}")),
        https: None,
        no_proxy: no_proxy.map(str::to_owned),
    };
    Surroundings { proxy, ..without_waiting().0 }
}

#[tokio::test]
async fn a_proxy_is_used_except_for_loopback() {
    let proxy = ScriptedServer::start(vec![good_answer()]).await;
    let lan =
        ProviderConfig { transport: TransportRule::AllowPlainHttp, ..config("http://provider.invalid/v1") };
    let (text, _) =
        collect(&*model(&lan, behind_proxy(&proxy.address, None)), &context()).await.expect("a reply");
    assert_eq!(text, "ok");
    assert!(proxy.requests()[0].starts_with("POST http://provider.invalid/v1/chat/completions HTTP/1.1\r\n"));

    let proxy = ScriptedServer::start(vec![]).await;
    let server = ScriptedServer::start(vec![good_answer()]).await;
    let local = model(&config(&server.base_url()), behind_proxy(&proxy.address, None));
    collect(&*local, &context()).await.expect("a reply");
    assert!(proxy.requests().is_empty());
}

/// On Unix the unspecified address leads to this machine without being a loopback address.
#[cfg(unix)]
#[tokio::test]
async fn exceptions_from_the_proxy_are_kept() {
    let (proxy, server) =
        (ScriptedServer::start(vec![]).await, ScriptedServer::start(vec![good_answer()]).await);
    let base_url = server.base_url().replace("127.0.0.1", "0.0.0.0");
    let lan = ProviderConfig { transport: TransportRule::AllowPlainHttp, ..config(&base_url) };
    let excepted = behind_proxy(&proxy.address, Some("example.com,0.0.0.0"));
    collect(&*model(&lan, excepted), &context()).await.expect("a reply");
    assert!(proxy.requests().is_empty());
}

#[tokio::test]
async fn a_connection_test_reads_a_whole_reply() {
    let server = ScriptedServer::start(vec![good_answer(), answer("403 Forbidden", "", "")]).await;
    let config = config(&server.base_url());
    let report = test_connection(&config, Some(Secret::new(KEY)), &context()).await.expect("a report");
    assert_eq!((report.model.as_str(), report.stop), ("scripted/m", StopReason::EndOfTurn));
    let error = test_connection(&config, Some(Secret::new(KEY)), &context()).await.expect_err("an error");
    assert_eq!(error.code, ErrorCode::KeyRejected);
}

#[tokio::test]
async fn certificates_of_an_own_authority_are_trusted_only_when_chosen() {
    let authority = tls::Authority::new();
    let folder = tempfile::tempdir().expect("a folder");
    let ca_file = folder.path().join("ca.pem");
    std::fs::write(&ca_file, &authority.pem).expect("written");
    let address = authority.serve(vec![good_answer(), good_answer()]).await;
    let base_url = format!("https://localhost:{}/v1", address.port());

    let error =
        collect(&*model(&config(&base_url), without_waiting().0), &context()).await.expect_err("not trusted");
    assert_eq!((error.code, error.retryable), (ErrorCode::Network, false));
    assert!(error.message.starts_with("could not trust the certificate of scripted"), "{}", error.message);
    assert!(error.hint.is_some_and(|hint| hint.contains("CA file")));

    let trusting = ProviderConfig { ca_file: Some(ca_file), ..config(&base_url) };
    let (text, _) = collect(&*model(&trusting, without_waiting().0), &context()).await.expect("a reply");
    assert_eq!(text, "ok");
}
