//! An answer that breaks off is gone on with where the server can, and waited for no longer where it cannot.

use std::time::Duration;

use hermes_mcp::RecoveryPolicy;
use hermes_testkit::mcp_server::{McpServer, Mode, Profile};
use serde_json::json;

use super::fixture::{Bench, PATIENCE, error, quick, remote};

/// A server whose answers can be gone on with, and somebody who waits long for them.
async fn resumable() -> (McpServer, Bench) {
    let server = remote(Profile {
        resumable: true,
        ..Profile::default()
    });
    let policy = RecoveryPolicy {
        call_timeout: PATIENCE,
        ..quick()
    };
    let bench = Bench::connected(policy, server.url("/mcp")).await;
    (server, bench)
}

fn status(status: u16, body: &str) -> Mode {
    Mode::Status {
        status,
        body: body.to_owned(),
    }
}

// MCP-100
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_broke_off_is_gone_on_with_and_nothing_is_done_twice() {
    let (server, bench) = resumable().await;
    for (number, refusals) in [(1, 0), (2, 2)] {
        server.arm("tools/call", Mode::Cut, 1);
        server.arm("resume", status(503, "busy"), refusals);
        let before = server.stats().of("resume");
        assert_eq!(bench.echo("x").await, json!({ "result": "x" }));
        let stats = server.stats();
        assert_eq!((stats.initialize, stats.calls), (1, number));
        assert_eq!(stats.of("resume") - before, refusals + 1);
    }
    // Behind an answer nothing is asked for.
    let before = server.stats().of("resume");
    assert_eq!(bench.echo("y").await, json!({ "result": "y" }));
    assert_eq!(bench.echo("z").await, json!({ "result": "z" }));
    assert_eq!(server.stats().of("resume"), before);
    let again = server.stats().requests.into_iter();
    let mut again = again.filter(|seen| seen.headers.contains_key("last-event-id"));
    assert!(again.all(|seen| seen.headers.contains_key("mcp-session-id")));
}

// MCP-32, MCP-35, MCP-100
#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_for_the_rest_of_an_answer_in_a_session_that_is_gone() {
    for refusal in [None, Some(status(400, "Bad Request: No valid session ID"))] {
        let (server, bench) = resumable().await;
        let lose = || {
            server.arm("tools/call", Mode::Lose, 1);
            if let Some(refusal) = &refusal {
                server.arm("resume", refusal.clone(), 1);
            }
        };
        lose();
        let answer = bench.echo("once").await;
        assert_eq!(answer["outcome_unknown"], json!(true), "{answer}");
        assert!(error(&answer).contains("ConnectionInterrupted"), "{answer}");
        bench
            .until("one", "another session", |view| {
                view.is_ready() && view.generation == 2
            })
            .await;
        lose();
        let answer = bench.call("read", json!({ "text": "x" })).await;
        assert_eq!(answer, json!({ "result": "x" }));
        let stats = server.stats();
        assert_eq!((stats.initialize, stats.calls), (3, 3));
        assert_eq!(stats.of("resume"), 2, "asked once each time");
        assert!(stats.doubled.is_empty());
    }
}

// MCP-35, MCP-100
#[tokio::test(flavor = "multi_thread")]
async fn the_rest_of_an_answer_is_asked_for_only_so_often() {
    let (server, bench) = resumable().await;
    server.arm("resume", status(503, "busy"), 100);
    server.arm("tools/call", Mode::Cut, 1);
    let answer = bench.echo("once").await;
    assert_eq!(answer["outcome_unknown"], json!(true), "{answer}");
    assert_eq!(server.stats().of("resume"), 3);
    // The session works all the same.
    server.arm("tools/call", Mode::Cut, 1);
    let answer = bench.call("read", json!({ "text": "x" })).await;
    assert_eq!(answer, json!({ "result": "x" }));
    let stats = server.stats();
    assert_eq!((stats.initialize, stats.calls), (1, 3));
}

// MCP-21, MCP-35, MCP-100
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_in_the_middle_of_an_answer_holds_nobody_up() {
    let (server, bench) = resumable().await;
    let port = server.port();
    let hold = Mode::Hold {
        millis: 600_000,
        then: None,
    };
    server.arm("tools/call", hold, 2);
    let killed = async {
        while server.stats().in_flight < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        drop(server);
    };
    let reading = bench.call("read", json!({ "text": "x" }));
    let (written, read, ()) = tokio::join!(bench.echo("once"), reading, killed);
    assert_eq!(written["outcome_unknown"], json!(true), "{written}");
    for answer in [written, read] {
        let told = error(&answer);
        assert!(!told.contains("Timeout") && !told.is_empty(), "{answer}");
    }
    let _back = McpServer::start_on(port, Profile::default()).unwrap();
    bench.handle("one").reconnect().await;
    bench
        .until("one", "another session", |view| {
            view.is_ready() && view.generation > 1
        })
        .await;
    assert_eq!(bench.echo("again").await, json!({ "result": "again" }));
}
