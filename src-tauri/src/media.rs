//! Sound and video for the player: a server on the loopback address alone, since the web view plays from nothing else. The
//! path begins with a token of this start of the program; another page's requests are refused by host and origin, and
//! whether this person may see the document is asked again for every request.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tauri::{AppHandle, Manager};
use tokio::io::AsyncReadExt;
use tokio_util::io::ReaderStream;
use uuid::Uuid;

use crate::app::App;
use crate::ipc::error::{ErrorCode, IpcError};
use crate::protocol::{allowed_origin, parse_range};

/// What is read from disk at a time.
const PIECE_BYTES: usize = 256 * 1024;

/// A running server.
#[derive(Clone, Debug)]
pub(crate) struct MediaServer {
    address: SocketAddr,
    token: String,
}

impl MediaServer {
    /// Starts to serve on a port that the system chooses.
    pub(crate) fn start(app: &AppHandle) -> Result<Self, IpcError> {
        let failed = |error: std::io::Error| IpcError::environment("serve sound and video", &error);
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let server = Self { address, token: Uuid::new_v4().simple().to_string() };
        let serving = Arc::new(Serving { app: app.clone(), server: server.clone() });
        tauri::async_runtime::spawn(async move {
            let routes = Router::new().route("/{token}/{media_ref}", get(serve)).with_state(serving);
            let served = match tokio::net::TcpListener::from_std(listener) {
                Ok(listener) => axum::serve(listener, routes).await,
                Err(error) => Err(error),
            };
            if let Err(error) = served {
                tracing::error!(%error, "sound and video are not served any more");
            }
        });
        Ok(server)
    }

    pub(crate) fn url(&self, media_ref: &str) -> String {
        format!("http://{}/{}/{media_ref}", self.address, self.token)
    }

    /// Whether a request is from our own page: by its token, by the host it thinks it talks to, by its origin.
    fn admits(&self, token: &str, headers: &HeaderMap) -> Option<&'static str> {
        let host = headers.get(header::HOST)?.as_bytes();
        let ours = host == self.address.to_string().as_bytes() && token == self.token;
        allowed_origin(headers).filter(|_| ours)
    }
}

struct Serving {
    app: AppHandle,
    server: MediaServer,
}

async fn serve(
    State(serving): State<Arc<Serving>>,
    Path((token, media_ref)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let Some(origin) = serving.server.admits(&token, &headers) else {
        return StatusCode::FORBIDDEN.into_response();
    };
    let app = serving.app.clone();
    let opened = tauri::async_runtime::spawn_blocking(move || open(&app, &media_ref)).await;
    let (file, total) = match opened {
        Ok(Ok(opened)) => opened,
        Ok(Err(error)) if error.code == ErrorCode::NotFound => return StatusCode::NOT_FOUND.into_response(),
        _ => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    };
    let wanted = headers.get(header::RANGE).and_then(|value| value.to_str().ok());
    answer(file, total, wanted, origin).unwrap_or_else(|error| {
        tracing::warn!(%error, "a recording could not be read");
        StatusCode::INTERNAL_SERVER_ERROR.into_response()
    })
}

fn open(app: &AppHandle, media_ref: &str) -> Result<(File, u64), IpcError> {
    let state = app.state::<App>();
    let (document, version) = state.media(media_ref).ok_or_else(|| IpcError::not_found("source"))?;
    let original = state.session(app)?.original(document, version)?;
    Ok((original.file, original.bytes))
}

/// Streams the wanted range, all of it: a player takes a shorter one for the end of the recording.
fn answer(
    mut file: File,
    total: u64,
    wanted: Option<&str>,
    origin: &'static str,
) -> std::io::Result<Response> {
    let range = match wanted.map(|text| parse_range(text, total)) {
        None => 0..total,
        Some(Some(range)) => range,
        Some(None) => {
            let total = format!("bytes */{total}");
            return Ok((StatusCode::RANGE_NOT_SATISFIABLE, [(header::CONTENT_RANGE, total)]).into_response());
        }
    };
    let mut head = [0_u8; 16];
    let n_read = file.read(&mut head)?;
    let kind = content_type(&head[..n_read]);
    file.seek(SeekFrom::Start(range.start))?;
    let length = range.end - range.start;
    let body = tokio::fs::File::from_std(file).take(length);
    let mut response = Body::from_stream(ReaderStream::with_capacity(body, PIECE_BYTES)).into_response();
    if wanted.is_some() {
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static(origin));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    if wanted.is_some() {
        let covered = format!("bytes {}-{}/{total}", range.start, range.end - 1);
        if let Ok(covered) = HeaderValue::from_str(&covered) {
            headers.insert(header::CONTENT_RANGE, covered);
        }
    }
    Ok(response)
}

/// By the first bytes: a player asks for the type before it plays.
fn content_type(head: &[u8]) -> &'static str {
    match head {
        [b'R', b'I', b'F', b'F', ..] => "audio/wav",
        [b'O', b'g', b'g', b'S', ..] => "audio/ogg",
        [b'f', b'L', b'a', b'C', ..] => "audio/flac",
        [b'I', b'D', b'3', ..] | [0xff, 0xe2..=0xff, ..] => "audio/mpeg",
        [0x1a, 0x45, 0xdf, 0xa3, ..] => "video/webm",
        [_, _, _, _, b'f', b't', b'y', b'p', b'M', b'4', b'A', ..] => "audio/mp4",
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => "video/mp4",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    fn headers(host: &str, origin: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().expect("host"));
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().expect("origin"));
        }
        headers
    }

    #[test]
    fn only_our_own_page_with_this_starts_token_is_served() {
        let server = MediaServer { address: ([127, 0, 0, 1], 4711).into(), token: "secret".to_owned() };
        let cases = [
            ("secret", "127.0.0.1:4711", None, true),
            ("secret", "127.0.0.1:4711", Some("tauri://localhost"), true),
            ("secret", "127.0.0.1:4711", Some("https://evil.example"), false),
            // A name that an attacker makes point at this machine.
            ("secret", "rebound.example:4711", None, false),
            ("guessed", "127.0.0.1:4711", None, false),
        ];
        for (token, host, origin, expected) in cases {
            assert_eq!(
                server.admits(token, &headers(host, origin)).is_some(),
                expected,
                "{token} {host} {origin:?}"
            );
        }
    }

    #[tokio::test]
    async fn an_open_range_is_answered_to_the_end() {
        let dir = tempfile::tempdir().expect("folder");
        let path = dir.path().join("a.wav");
        std::fs::write(&path, b"RIFF0123456789").expect("write");
        let open = || File::open(&path).expect("open");
        let response = answer(open(), 14, Some("bytes=4-"), "tauri://localhost").expect("answer");
        assert_eq!(response.status(), StatusCode::PARTIAL_CONTENT);
        assert_eq!(response.headers()[header::CONTENT_RANGE], "bytes 4-13/14");
        assert_eq!(response.headers()[header::CONTENT_TYPE], "audio/wav");
        assert_eq!(to_bytes(response.into_body(), 100).await.expect("body"), "0123456789");
        let whole = answer(open(), 14, None, "tauri://localhost").expect("answer");
        assert_eq!(
            (whole.status(), whole.headers()[header::CONTENT_LENGTH].clone()),
            (StatusCode::OK, 14.into())
        );
        let beyond = answer(open(), 14, Some("bytes=99-"), "tauri://localhost").expect("answer");
        assert_eq!(beyond.status(), StatusCode::RANGE_NOT_SATISFIABLE);
    }
}
