//! The less usual ways in which a session turns out to be lost.

use std::time::Duration;

use hermes_mcp::RecoveryPolicy;
use hermes_testkit::mcp_server::{McpServer, Mode, Profile};
use serde_json::json;

use super::fixture::{Bench, PATIENCE, error, quick, remote};

fn said(message: &str) -> Mode {
    Mode::Error {
        code: -32600,
        message: message.to_owned(),
    }
}

fn status(status: u16, body: &str) -> Mode {
    Mode::Status {
        status,
        body: body.to_owned(),
    }
}

async fn connected() -> (McpServer, Bench) {
    let server = remote(Profile::default());
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    (server, bench)
}

// MCP-3, MCP-32
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_refused_over_its_session_is_made_again_in_a_new_one() {
    let inner = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Mcp-Session-Id header is required"}}"#;
    for mode in [
        status(400, "Bad Request: No valid session ID provided"),
        status(400, inner),
        status(410, "session terminated"),
        said("Missing session ID"),
    ] {
        let (server, bench) = connected().await;
        server.arm("tools/call", mode.clone(), 1);
        assert_eq!(bench.echo("x").await, json!({ "result": "x" }), "{mode:?}");
        let stats = server.stats();
        assert_eq!((stats.initialize, stats.calls), (2, 2), "{mode:?}");
    }
    // Without a session nothing can be wrong with it.
    let server = remote(Profile {
        sessions: false,
        ..Profile::default()
    });
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    server.arm("tools/call", status(400, "missing session id"), 1);
    server.arm("tools/call", said("missing session id"), 1);
    for _ in 0..2 {
        let text = error(&bench.echo("x").await);
        assert!(text.contains("MCP call failed"), "{text}");
    }
    assert_eq!(server.stats().initialize, 1);
}

// MCP-5, MCP-21
#[tokio::test(flavor = "multi_thread")]
async fn parameters_are_blamed_on_the_session_only_when_nothing_else_works_either() {
    let (server, bench) = connected().await;
    server.arm("tools/call", said("Invalid request parameters"), 1);
    let text = error(&bench.echo("x").await);
    assert!(text.contains("Invalid request parameters"), "{text}");
    assert_eq!(
        (server.stats().initialize, server.stats().of("ping")),
        (1, 1)
    );

    server.arm("tools/call", said("Invalid request parameters"), 1);
    server.arm("ping", said("Invalid request parameters"), 1);
    assert_eq!(bench.echo("y").await, json!({ "result": "y" }));
    assert_eq!(server.stats().initialize, 2);
    assert!(server.stats().doubled.is_empty());
}

// MCP-35
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_tells_of_a_broken_connection_gets_a_new_session_and_only_reads_again() {
    for text in [
        "ClosedResourceError()",
        "Broken pipe",
        "unexpected end of file",
    ] {
        let (server, bench) = connected().await;
        server.arm("tools/call", said(text), 1);
        let answer = bench.echo("x").await;
        assert_eq!(answer["outcome_unknown"], json!(true), "{answer}");
        let renewed = |generation| {
            move |view: &hermes_mcp::View| view.is_ready() && view.generation == generation
        };
        bench.until("one", "a new session", renewed(2)).await;
        assert_eq!(server.stats().calls, 1, "{text}");

        server.arm("tools/call", said(text), 1);
        let answer = bench.call("read", json!({ "text": "r" })).await;
        assert_eq!(answer, json!({ "result": "r" }), "{text}");
        bench.until("one", "another one", renewed(3)).await;
    }
}

// MCP-21
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_expired_unused_or_belongs_to_another_instance_is_replaced() {
    let server = remote(Profile {
        session_life: Some(Duration::from_secs(2)),
        ..Profile::default()
    });
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    tokio::time::sleep(Duration::from_millis(2_100)).await;
    assert_eq!(bench.echo("x").await, json!({ "result": "x" }));
    assert_eq!(server.stats().initialize, 2);

    // Another instance takes over the address; nobody who was connected to the first is known there.
    let mut server = remote(Profile::default());
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    for number in 2..4 {
        // The stream on which the server can tell us something is opened after the handshake, and must not be
        // opened in the middle of what follows.
        hermes_testkit::eventually(PATIENCE, "the stream is open", || {
            let requests = server.stats().requests;
            let opened = requests.iter().filter(|seen| seen.line == "GET /mcp");
            (opened.count() >= number - 1).then_some(())
        })
        .unwrap();
        server.restart().unwrap();
        let text = format!("instance {number}");
        let answer = bench.call("read", json!({ "text": text })).await;
        assert_eq!(answer, json!({ "result": text }));
        assert_eq!(server.stats().initialize, number);
    }
}

// MCP-82
#[tokio::test(flavor = "multi_thread")]
async fn ids_in_what_a_server_says_do_not_make_it_something_new() {
    let server = remote(Profile::default());
    let policy = RecoveryPolicy {
        breaker_threshold: 1_000,
        ..quick()
    };
    let bench = Bench::connected(policy, server.url("/mcp")).await;
    for number in 0..20 {
        let text = format!("Unknown session: {number}-abc");
        server.arm("tools/call", said(&text), 1);
    }
    for _ in 0..12 {
        let text = error(&bench.echo("x").await);
        assert!(text.contains("MCP call failed"), "{text}");
    }
    assert_eq!((server.stats().initialize, server.stats().calls), (2, 13));
}
