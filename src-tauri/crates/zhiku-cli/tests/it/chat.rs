//! A chat model on loopback, for one answer: it says what the test makes of the evidence, and lets the test act before the end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use serde_json::{Value, json};

pub(crate) struct Chat {
    pub(crate) base_url: String,
    served: JoinHandle<()>,
}

impl Chat {
    /// `say` gets the user's message and makes the answer; `before_the_end` runs when all its words are written.
    pub(crate) fn once(
        say: impl FnOnce(&str) -> String + Send + 'static,
        before_the_end: impl FnOnce() + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
        let base_url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let served = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let request = body(&stream);
            let message = request["messages"].as_array().and_then(|all| all.last()).expect("a message");
            let words = say(message["content"].as_str().expect("content"));
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            stream.write_all(head.as_bytes()).expect("written");
            send(&mut stream, &json!({ "content": words }), &Value::Null);
            before_the_end();
            send(&mut stream, &json!({}), &"stop".into());
            stream.write_all(b"data: [DONE]\n\n").expect("written");
        });
        Self { base_url, served }
    }

    /// What failed in there fails here.
    pub(crate) fn finish(self) {
        self.served.join().expect("the model was asked and answered");
    }
}

fn body(stream: &TcpStream) -> Value {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a header");
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    serde_json::from_slice(&body).expect("JSON")
}

fn send(stream: &mut TcpStream, delta: &Value, finish_reason: &Value) {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish_reason });
    let chunk =
        json!({ "id": "1", "object": "chat.completion.chunk", "model": "scripted", "choices": [choice] });
    stream.write_all(format!("data: {chunk}\n\n").as_bytes()).expect("written");
    stream.flush().expect("flushed");
}
