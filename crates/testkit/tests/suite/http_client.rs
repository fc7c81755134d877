//! The smallest HTTP client that shows what the server really put on the wire.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

const READ_LIMIT: Duration = Duration::from_secs(10);

pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// Whether the body came to its proper end.
    pub(crate) complete: bool,
}

impl Response {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The server-sent events that have a name, with their payloads.
    pub(crate) fn named_events(&self) -> Vec<(String, Value)> {
        let text = self.text();
        let frames = text.split_terminator("\n\n");
        frames
            .map(|frame| {
                let (name, data) = frame.split_once('\n').unwrap();
                let data = data.strip_prefix("data: ").unwrap();
                let name = name.strip_prefix("event: ").unwrap().to_owned();
                (name, serde_json::from_str(data).unwrap())
            })
            .collect()
    }

    /// The payloads of the server-sent events.
    pub(crate) fn events(&self) -> Vec<String> {
        self.text()
            .split_terminator("\n\n")
            .map(|frame| frame.strip_prefix("data: ").unwrap().to_owned())
            .collect()
    }
}

/// Sends the request and leaves the answer in the socket.
pub(crate) fn open(base_url: &str, method: &str, path: &str, body: &str) -> TcpStream {
    let address = base_url.strip_prefix("http://").unwrap();
    let (host, base_path) = match address.split_once('/') {
        Some((host, base)) => (host, format!("/{base}")),
        None => (address, String::new()),
    };
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(READ_LIMIT)).unwrap();
    let request = format!(
        "{method} {base_path}{path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer sk-test\r\n\
         x-tier: gold\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

pub(crate) fn send(base_url: &str, method: &str, path: &str, body: &str) -> Response {
    let mut raw = Vec::new();
    // A cut connection may show as a reset; what arrived before it counts.
    let _ = open(base_url, method, path, body).read_to_end(&mut raw);
    parse(&raw)
}

pub(crate) fn chat(base_url: &str, body: &Value) -> Response {
    send(base_url, "POST", "/chat/completions", &body.to_string())
}

/// A request with one user message.
pub(crate) fn ask(user: &str) -> Value {
    json!({"model": "scripted", "messages": [{"role": "user", "content": user}]})
}

/// The same, streamed, with the usage at the end.
pub(crate) fn ask_streamed(user: &str) -> Value {
    let mut body = ask(user);
    body["stream"] = true.into();
    body["stream_options"] = json!({"include_usage": true});
    body
}

fn parse(raw: &[u8]) -> Response {
    let split = raw
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .unwrap();
    let head = String::from_utf8(raw[..split].to_vec()).unwrap();
    let rest = &raw[split + 4..];
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let (body, complete) = if head.to_lowercase().contains("transfer-encoding: chunked") {
        dechunk(rest)
    } else {
        (rest.to_vec(), true)
    };
    Response {
        status,
        head,
        body,
        complete,
    }
}

fn dechunk(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(line_end) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = std::str::from_utf8(&rest[..line_end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        body.extend_from_slice(&rest[line_end + 2..line_end + 2 + size]);
        rest = &rest[line_end + 2 + size + 2..];
    }
    (body, false)
}
