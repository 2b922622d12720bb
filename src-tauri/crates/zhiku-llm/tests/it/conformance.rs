//! Every provider replays every recorded stream of its folder, in portions of several sizes, with the same result.

use std::path::{Path, PathBuf};

use crate::support::{ScriptedServer, Step, context, request, stream_head, without_waiting, write};
use futures::StreamExt;
use serde_json::{Value, json};
use zhiku_core::model::{ChatDelta, StopReason};
use zhiku_llm::{ProviderConfig, ProviderKind, Secret, build_with};

fn fixtures(kind: ProviderKind) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/llm").join(kind.as_str());
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "sse"));
    files.sort();
    assert!(!files.is_empty(), "{} holds no recorded stream", folder.display());
    files
}

/// The text, and how the reply ended.
async fn replay(kind: ProviderKind, stream: &[u8], portion: usize) -> Value {
    let mut script = vec![stream_head()];
    script.extend(stream.chunks(portion).map(write));
    let server = ScriptedServer::start(vec![script as Vec<Step>]).await;
    let config = ProviderConfig::new("recorded", kind, server.base_url(), "m");
    let model = build_with(&config, Some(Secret::new("sk-recorded-0123456789")), without_waiting().0)
        .expect("builds");
    let ctx = context();
    let mut deltas = model.stream(request(), &ctx).await.expect("a stream");
    let mut text = String::new();
    let mut end = Value::Null;
    while let Some(delta) = deltas.next().await {
        assert!(end.is_null(), "nothing comes after the end");
        match delta {
            Ok(ChatDelta::Text(piece)) => {
                assert!(!piece.is_empty(), "no empty pieces");
                text.push_str(&piece);
            }
            Ok(ChatDelta::Done { stop, usage }) => end = json!({ "stop": stop, "usage": usage }),
            Err(error) => end = json!({ "error": error.code, "message": error.message }),
        }
    }
    assert!(!end.is_null(), "every stream has an end");
    json!({ "text": text, "end": end })
}

#[tokio::test]
async fn recorded_streams_read_the_same_in_any_portions() {
    for kind in ProviderKind::ALL {
        for file in fixtures(kind) {
            let stream = std::fs::read(&file).expect("readable");
            let whole = replay(kind, &stream, stream.len()).await;
            for portion in [2, 61] {
                assert_eq!(replay(kind, &stream, portion).await, whole, "{} by {portion}", file.display());
            }
            let name = format!(
                "{}__{}",
                kind.as_str(),
                file.file_stem().and_then(|stem| stem.to_str()).expect("a name")
            );
            insta::assert_json_snapshot!(name, whole);
        }
    }
}

#[tokio::test]
async fn no_recorded_stream_ends_in_order_when_it_is_cut() {
    for kind in ProviderKind::ALL {
        for file in fixtures(kind) {
            let stream = std::fs::read(&file).expect("readable");
            let cut = replay(kind, &stream[..stream.len() / 3], 1000).await;
            let stop = &cut["end"]["stop"];
            assert_ne!(*stop, json!(StopReason::EndOfTurn), "{}: {cut}", file.display());
        }
    }
}
