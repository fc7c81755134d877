//! Reading bodies, up to a limit.

use futures_util::StreamExt;
use hermes_http::HttpError;
use http::header;
use serde::Deserialize;
use std::pin::pin;

use super::server::{Reply, Server, client};

#[derive(Debug, Deserialize, PartialEq)]
struct Answer {
    name: String,
}

#[tokio::test]
async fn text_and_json_are_read_whole() {
    let server = Server::start(|seen| match seen.target.as_str() {
        "/json" => Reply::ok("{\"name\":\"é\"}"),
        _ => Reply::status(
            "200 OK",
            &[("content-type", "text/html; Charset=\"windows-1252\"")],
            "plain",
        ),
    })
    .await;
    let answer = client()
        .get(server.url("/json").as_str())
        .send()
        .await
        .expect("an answer");
    assert_eq!(
        answer.json::<Answer>(100).await.expect("json"),
        Answer { name: "é".into() }
    );
    let answer = client()
        .get(server.url("/text").as_str())
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.text(5).await.expect("text"), "plain");
}

#[tokio::test]
async fn wrong_json_is_a_decode_error_without_the_query() {
    let server = Server::start(|_| Reply::ok("{\"name\":1}")).await;
    let answer = client()
        .get(server.url("/x?key=abc").as_str())
        .send()
        .await
        .expect("an answer");
    let error = answer.json::<Answer>(100).await.expect_err("an error");
    assert_eq!(
        error.to_string(),
        format!(
            "the body of {}?… is not valid JSON of the expected form",
            server.url("/x")
        )
    );
}

#[tokio::test]
async fn an_endless_body_is_cut_off_and_the_server_sees_it() {
    let mut server = Server::start(|_| Reply::Endless).await;
    let answer = client()
        .get(server.url("/").as_str())
        .send()
        .await
        .expect("an answer");
    let error = answer.bytes(100_000).await.expect_err("an error");
    assert!(matches!(error, HttpError::TooLarge { limit: 100_000, .. }));
    server
        .gone
        .recv()
        .await
        .expect("the server saw the connection close");
}

#[tokio::test]
async fn an_announced_length_is_refused_before_reading() {
    let server = Server::start(|_| Reply::ok("0123456789")).await;
    let answer = client()
        .get(server.url("/").as_str())
        .send()
        .await
        .expect("an answer");
    assert!(matches!(
        answer.stream(9).err(),
        Some(HttpError::TooLarge { limit: 9, .. })
    ));
    let answer = client()
        .get(server.url("/").as_str())
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.bytes(10).await.expect("bytes").len(), 10);
}

#[tokio::test]
async fn a_stream_ends_after_its_error() {
    let server = Server::start(|_| Reply::Endless).await;
    let answer = client()
        .get(server.url("/").as_str())
        .send()
        .await
        .expect("an answer");
    let mut stream = pin!(answer.stream(1000).expect("a body").into_stream());
    let mut seen = 0;
    let error = loop {
        match stream.next().await.expect("an item") {
            Ok(chunk) => seen += chunk.len(),
            Err(error) => break error,
        }
    };
    assert!(seen <= 1000 && matches!(error, HttpError::TooLarge { .. }));
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn requests_carry_json_forms_and_queries() {
    let server = Server::start(|_| Reply::ok("")).await;
    client()
        .post(server.url("/a?x=1").as_str())
        .query([("y", "ü &")])
        .json(&[1, 2])
        .send()
        .await
        .expect("an answer");
    client()
        .post(server.url("/b").as_str())
        .form([("k", "v w")])
        .send()
        .await
        .expect("an answer");
    let [json, form] = server.seen().try_into().expect("two requests");
    assert_eq!(
        (json.target.as_str(), json.body.as_str()),
        ("/a?x=1&y=%C3%BC+%26", "[1,2]")
    );
    assert_eq!(
        json.headers[header::CONTENT_TYPE.as_str()],
        "application/json"
    );
    assert_eq!(json.headers["user-agent"], "hermes/0.1.0");
    assert_eq!(
        (form.headers["content-type"].as_str(), form.body.as_str()),
        ("application/x-www-form-urlencoded", "k=v+w")
    );
}
