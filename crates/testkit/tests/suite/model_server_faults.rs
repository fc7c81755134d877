//! The scripted server misbehaves exactly as told.

use std::io::{ErrorKind, Read as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use hermes_testkit::model_server::{ModelServer, Scenario, Step, bytes, error, frames, text};
use serde_json::json;

use super::http_client::{ask, ask_streamed, chat, open};

#[test]
fn errors_carry_status_body_and_retry_after() {
    let scenario = Scenario::new()
        .reply(error(429).retry_after(2))
        .reply(Step::new(error(503).body(json!({"error": "busy"}))).header("x-request-id", "r1"));
    let server = ModelServer::start(scenario).unwrap();
    let limited = chat(&server.base_url(), &ask("a"));
    assert_eq!(limited.status, 429);
    assert!(limited.head.contains("retry-after: 2"), "{}", limited.head);
    assert_eq!(limited.json()["error"]["message"], "scripted 429");
    let busy = chat(&server.base_url(), &ask("b"));
    assert_eq!((busy.status, busy.json()), (503, json!({"error": "busy"})));
    assert!(busy.head.contains("x-request-id: r1"), "{}", busy.head);
}

#[test]
fn closes_in_the_middle_of_a_stream() {
    let reply = Step::new(text("abcdef")).chunk_chars(1).close_after(3);
    let server = ModelServer::start(Scenario::new().reply(reply)).unwrap();
    let response = chat(&server.base_url(), &ask_streamed("go"));
    assert!(!response.complete);
    assert_eq!(response.events().len(), 3);
    assert!(
        response.text().contains(r#""content":"b""#),
        "{}",
        response.text()
    );
}

#[test]
fn hangs_after_the_scripted_frames_until_stopped() {
    let reply = Step::new(text("abc")).hang_after(1);
    let server = ModelServer::start(Scenario::new().reply(reply)).unwrap();
    let body = ask_streamed("go").to_string();
    let mut stream = open(&server.base_url(), "POST", "/chat/completions", &body);
    let mut seen = Vec::new();
    while !seen.ends_with(b"\n\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        seen.push(byte[0]);
    }
    stream
        .set_read_timeout(Some(Duration::from_millis(50)))
        .unwrap();
    let silence = stream.read(&mut [0]).unwrap_err().kind();
    assert!(
        matches!(silence, ErrorKind::WouldBlock | ErrorKind::TimedOut),
        "{silence:?}"
    );

    let address = server.origin().strip_prefix("http://").unwrap().to_owned();
    server.stop();
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    assert!(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn keeps_to_the_scripted_pace() {
    let pause = Duration::from_millis(30);
    let reply = Step::new(frames(["data: a", "data: b", "data: c"]))
        .delay(pause)
        .pace(pause);
    let server = ModelServer::start(Scenario::new().reply(reply)).unwrap();
    let started = Instant::now();
    let response = chat(&server.base_url(), &ask_streamed("go"));
    assert_eq!(response.events(), ["a", "b", "c"]);
    assert!(started.elapsed() >= pause * 3, "{:?}", started.elapsed());
}

#[test]
fn sends_broken_bytes_and_cuts_across_characters() {
    let scenario = Scenario::new()
        .reply(bytes(vec![b'{', 0xff, 0x00]))
        .reply(Step::new(frames(["data: é"])).write_bytes(1));
    let server = ModelServer::start(scenario).unwrap();
    assert_eq!(chat(&server.base_url(), &ask("a")).body, [b'{', 0xff, 0x00]);
    assert_eq!(chat(&server.base_url(), &ask("b")).text(), "data: é\n\n");
}
