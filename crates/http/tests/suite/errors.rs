//! What a failure says, and what it keeps to itself.

use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use hermes_http::{
    AddressPolicy, AuthScheme, ClientBuilder, ClientSettings, HttpError, Resolver, retry_after,
};
use http::HeaderMap;
use jiff::Timestamp;

use super::server::{KEY, Reply, Server, client, key_for};

#[tokio::test]
async fn a_failure_status_carries_delay_and_masked_excerpt() {
    let body = format!("{{\"error\":\"bad key {KEY} for sk-ant-0123456789abcdefghij\"}}");
    let server =
        Server::start(move |_| Reply::status("429 Too Many", &[("retry-after", "7")], &body)).await;
    let key = key_for(&[&server.url("")]);
    let answer = client()
        .get(server.url("/v1?x=1").as_str())
        .auth(&key, AuthScheme::Bearer)
        .send()
        .await
        .expect("an answer");
    let error = answer.require_success().await.err().expect("an error");
    assert!(error.is_transient());
    let excerpt = "{\"error\":\"bad key [redacted:CANARY] for [redacted:anthropic-key]\"}";
    assert_eq!(
        error.to_string(),
        format!(
            "{}?… answered 429 Too Many Requests: {excerpt}",
            server.url("/v1")
        )
    );
    let HttpError::Status(status) = error else {
        panic!("not a status")
    };
    assert_eq!(
        status.retry_after(Timestamp::UNIX_EPOCH),
        Some(Duration::from_secs(7))
    );
    assert_eq!(
        (status.status.as_u16(), status.excerpt.as_str()),
        (429, excerpt)
    );
}

#[test]
fn delays_are_read_as_seconds_milliseconds_or_dates() {
    let now: Timestamp = "2015-10-21T07:27:00Z".parse().expect("a time");
    for (name, value, expected) in [
        ("retry-after", "120", Some(120_000)),
        ("retry-after", " 1.5 ", Some(1_500)),
        ("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT", Some(60_000)),
        ("retry-after", "Wed, 21 Oct 2015 07:26:00 GMT", Some(0)),
        ("retry-after-ms", "250", Some(250)),
        ("retry-after", "soon", None),
        ("retry-after", "-5", None),
        ("x-other", "5", None),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().expect("a value"));
        assert_eq!(
            retry_after(&headers, now),
            expected.map(Duration::from_millis),
            "{name}: {value}"
        );
    }
}

#[tokio::test]
async fn success_passes_and_a_client_mistake_is_final() {
    let server = Server::start(|seen| match seen.target.as_str() {
        "/ok" => Reply::ok("fine"),
        _ => Reply::status("400 Bad Request", &[], ""),
    })
    .await;
    let good = client()
        .get(server.url("/ok").as_str())
        .send()
        .await
        .expect("an answer");
    assert_eq!(
        good.require_success()
            .await
            .expect("success")
            .text(10)
            .await
            .expect("text"),
        "fine"
    );
    let bad = client()
        .get(server.url("/bad").as_str())
        .send()
        .await
        .expect("an answer");
    let error = bad.require_success().await.err().expect("an error");
    assert_eq!(
        error.to_string(),
        format!("{} answered 400 Bad Request", server.url("/bad"))
    );
    assert!(!error.is_transient());
}

struct NoSuchName;

impl Resolver for NoSuchName {
    async fn resolve(&self, _host: &str) -> io::Result<Vec<IpAddr>> {
        Err(io::Error::other("no such name"))
    }
}

#[tokio::test]
async fn no_error_text_holds_a_key() {
    let builder =
        ClientBuilder::new(ClientSettings::default(), AddressPolicy::Any).resolver(NoSuchName);
    let client = builder.build().expect("a client");
    let key = key_for(&["http://api.test"]);
    for scheme in [
        AuthScheme::Bearer,
        AuthScheme::Query("key".into()),
        AuthScheme::Path,
    ] {
        let url = "http://api.test/bot~secret~/x?token=plain-token-1";
        let error = client
            .get(url)
            .auth(&key, scheme)
            .send()
            .await
            .err()
            .expect("an error");
        assert!(
            matches!(&error, HttpError::Dns { host, .. } if host == "api.test"),
            "{error:?}"
        );
        let mut texts = vec![format!("{error} {error:?}")];
        let mut cause = error.source();
        while let Some(current) = cause {
            texts.push(format!("{current} {current:?}"));
            cause = current.source();
        }
        let all = texts.join("\n");
        assert!(
            !all.contains(KEY) && !all.contains("plain-token-1"),
            "{all}"
        );
    }
}

#[tokio::test]
async fn keys_in_a_path_are_masked() {
    let shown = client().display(
        &"https://u:p@api.telegram.org/bot123456789:AAabcdefghijklmnopqrstuvwxyz012345/getMe?x=1#y"
            .parse()
            .unwrap(),
    );
    assert_eq!(
        shown.to_string(),
        "https://api.telegram.org/bot[redacted:telegram-token]/getMe?…"
    );
}

#[tokio::test]
async fn a_bad_request_is_reported_by_send() {
    let error = client()
        .get("not a url")
        .send()
        .await
        .err()
        .expect("an error");
    assert_eq!(
        error.to_string(),
        "cannot build the request: the url is not valid"
    );
    let error = client()
        .get("http://a.test")
        .header(http::header::ACCEPT, "a\nb")
        .send()
        .await
        .err()
        .expect("an error");
    assert_eq!(
        error.to_string(),
        "cannot build the request: a header is not valid"
    );
}

#[tokio::test]
async fn a_broken_body_is_an_interruption() {
    let server =
        Server::start(|_| Reply::Raw("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc".into()))
            .await;
    let answer = client()
        .get(server.url("/").as_str())
        .send()
        .await
        .expect("a head");
    let error = answer.bytes(100).await.err();
    assert!(
        matches!(error, Some(HttpError::Interrupted { .. })),
        "{error:?}"
    );
}
