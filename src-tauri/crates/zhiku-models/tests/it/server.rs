//! A small HTTP server on 127.0.0.1 that does what each test scripts, and remembers what it was asked.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// One request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) target: String,
    headers: Vec<(String, String)>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Where a `Range: bytes=<n>-` starts.
    pub(crate) fn range_start(&self) -> Option<usize> {
        self.header("range")?.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    /// The connection ends after so many bytes of the body.
    pub(crate) cut_after: Option<usize>,
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new(), cut_after: None }
    }

    pub(crate) fn cut(mut self, after: usize) -> Self {
        self.cut_after = Some(after);
        self
    }
}

/// What an ordinary file server answers: ranges, and `If-Range` against `etag`.
pub(crate) fn serve_file(request: &Request, content: &[u8], etag: &str) -> Reply {
    let same = request.header("if-range").is_none_or(|known| known == etag);
    let headers = vec![("ETag", etag.to_owned())];
    match request.range_start().filter(|_| same) {
        Some(start) => {
            let range = format!("bytes {start}-{}/{}", content.len() - 1, content.len());
            let headers = [headers, vec![("Content-Range", range)]].concat();
            Reply { status: 206, headers, body: content[start..].to_vec(), cut_after: None }
        }
        None => Reply { status: 200, headers, body: content.to_vec(), cut_after: None },
    }
}

pub(crate) struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// `answer` gets the number of the request, from 0, and the request. The server lives as long as the test program.
    pub(crate) fn start(answer: impl Fn(usize, &Request) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let port = listener.local_addr().expect("address").port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let Some(request) = read_request(&stream) else { continue };
                let n = {
                    let mut seen = seen.lock().expect("requests");
                    seen.push(request.clone());
                    seen.len() - 1
                };
                send(stream, &answer(n, &request));
            }
        });
        Self { port, requests }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("requests").clone()
    }
}

fn read_request(stream: &TcpStream) -> Option<Request> {
    let mut lines = BufReader::new(stream).lines();
    let target = lines.next()?.ok()?.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    for line in lines {
        let line = line.ok()?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    Some(Request { target, headers })
}

fn send(mut stream: TcpStream, reply: &Reply) {
    let mut head = vec![
        format!("HTTP/1.1 {} x", reply.status),
        "Connection: close".to_owned(),
        format!("Content-Length: {}", reply.body.len()),
    ];
    head.extend(reply.headers.iter().map(|(name, value)| format!("{name}: {value}")));
    let head = head.join("\r\n") + "\r\n\r\n";
    let body = &reply.body[..reply.cut_after.unwrap_or(reply.body.len())];
    // The client may hang up first.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}
