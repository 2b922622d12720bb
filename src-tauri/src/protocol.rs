//! `vault://localhost/<reference>`: the bytes of an original for the viewer, in ranges. The reference is opaque and grants
//! nothing; whether this person may see the document is asked again for every request.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use tauri::http::{HeaderMap, Method, Request, Response, StatusCode, header};
use tauri::{AppHandle, Manager, UriSchemeContext, UriSchemeResponder, Wry};

use crate::app::App;
use crate::ipc::error::{ErrorCode, IpcError};

/// The origins of our own page on the platforms.
const ORIGINS: &[&str] = &["tauri://localhost", "http://tauri.localhost", "https://tauri.localhost"];

pub(crate) fn respond(
    context: UriSchemeContext<'_, Wry>,
    request: Request<Vec<u8>>,
    responder: UriSchemeResponder,
) {
    let app = context.app_handle().clone();
    tauri::async_runtime::spawn_blocking(move || responder.respond(answer(&app, &request)));
}

fn answer(app: &AppHandle, request: &Request<Vec<u8>>) -> Response<Vec<u8>> {
    let Some(origin) = allowed_origin(request.headers()) else { return status(StatusCode::FORBIDDEN, "") };
    match *request.method() {
        Method::OPTIONS => status(StatusCode::NO_CONTENT, origin),
        Method::GET => match bytes(app, request, origin) {
            Ok(response) => response,
            Err(error) if error.code == ErrorCode::NotFound => status(StatusCode::NOT_FOUND, origin),
            Err(_) => status(StatusCode::INTERNAL_SERVER_ERROR, origin),
        },
        _ => status(StatusCode::METHOD_NOT_ALLOWED, origin),
    }
}

/// Only our own page asks. A request without an origin is our page's as well: a page of another origin always names it.
pub(crate) fn allowed_origin(headers: &HeaderMap) -> Option<&'static str> {
    let Some(origin) = headers.get(header::ORIGIN) else { return Some(ORIGINS[0]) };
    ORIGINS.iter().find(|known| origin.as_bytes() == known.as_bytes()).copied()
}

fn bytes(app: &AppHandle, request: &Request<Vec<u8>>, origin: &str) -> Result<Response<Vec<u8>>, IpcError> {
    let state = app.state::<App>();
    let media_ref = request.uri().path().trim_start_matches('/');
    let (document, version) = state.media(media_ref).ok_or_else(|| IpcError::not_found("source"))?;
    let mut original = state.session(app)?.original(document, version)?;
    let wanted = request.headers().get(header::RANGE).and_then(|value| value.to_str().ok());
    let range = match wanted.map(|text| parse_range(text, original.bytes)) {
        None => 0..original.bytes,
        Some(Some(range)) => range,
        Some(None) => {
            let total = format!("bytes */{}", original.bytes);
            let response =
                head(StatusCode::RANGE_NOT_SATISFIABLE, origin).header(header::CONTENT_RANGE, total);
            return finish(response, Vec::new());
        }
    };
    let body = read(&mut original.file, &range)
        .map_err(|error| IpcError::environment("read the original", &error))?;
    let mut response =
        head(if wanted.is_some() { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK }, origin);
    if wanted.is_some() {
        let covered = format!("bytes {}-{}/{}", range.start, range.end - 1, original.bytes);
        response = response.header(header::CONTENT_RANGE, covered);
    }
    finish(response, body)
}

fn read(file: &mut File, range: &Range<u64>) -> io::Result<Vec<u8>> {
    let mut body = vec![0; usize::try_from(range.end - range.start).map_err(io::Error::other)?];
    file.seek(SeekFrom::Start(range.start))?;
    file.read_exact(&mut body)?;
    Ok(body)
}

/// One range of `bytes=a-b`, `bytes=a-` or `bytes=-n`, within `total`. Several ranges are not asked for here.
pub(crate) fn parse_range(text: &str, total: u64) -> Option<Range<u64>> {
    let (first, last) = text.trim().strip_prefix("bytes=")?.split_once('-')?;
    let range = match (first.trim(), last.trim()) {
        ("", suffix) => total.saturating_sub(suffix.parse().ok()?)..total,
        (first, "") => first.parse().ok()?..total,
        (first, last) => first.parse().ok()?..last.parse::<u64>().ok()?.checked_add(1)?.min(total),
    };
    (range.start < range.end).then_some(range)
}

fn head(status: StatusCode, origin: &str) -> tauri::http::response::Builder {
    Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, "application/octet-stream")
        .header(header::ACCEPT_RANGES, "bytes")
        .header(header::CACHE_CONTROL, "no-store")
        .header(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin)
        .header(header::ACCESS_CONTROL_ALLOW_HEADERS, "range")
        .header(header::ACCESS_CONTROL_EXPOSE_HEADERS, "content-range")
        .header("x-content-type-options", "nosniff")
}

fn finish(response: tauri::http::response::Builder, body: Vec<u8>) -> Result<Response<Vec<u8>>, IpcError> {
    response.body(body).map_err(|error| IpcError::bug(format!("could not build a response: {error}")))
}

fn status(code: StatusCode, origin: &str) -> Response<Vec<u8>> {
    finish(head(code, origin), Vec::new()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_exactly_what_was_asked_within_the_file() {
        let cases = [
            ("bytes=0-3", Some(0..4)),
            ("bytes=4-", Some(4..10)),
            ("bytes=-3", Some(7..10)),
            ("bytes=8-99", Some(8..10)),
            ("bytes=10-", None),
            ("bytes=5-4", None),
            ("bytes=0-18446744073709551615", None),
            ("bytes=a-b", None),
            ("items=0-1", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_range(text, 10), expected, "{text}");
        }
    }

    #[test]
    fn another_page_is_refused() {
        let mut headers = HeaderMap::new();
        assert!(allowed_origin(&headers).is_some());
        headers.insert(header::ORIGIN, header::HeaderValue::from_static("https://evil.example"));
        assert_eq!(allowed_origin(&headers), None);
        headers.insert(header::ORIGIN, header::HeaderValue::from_static("tauri://localhost"));
        assert_eq!(allowed_origin(&headers), Some("tauri://localhost"));
    }
}
