//! A session that the server does not know any more is replaced, and the call succeeds.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use hermes_testkit::mcp_server::{Mode, Profile};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::fixture::{Bench, context, error, quick, remote};

fn said(message: &str) -> Mode {
    Mode::Error {
        code: -32602,
        message: message.to_owned(),
    }
}

/// Whether a call survives this error, with one new session and one more try.
async fn is_recovered(text: &str) {
    let server = remote(Profile::default());
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    server.arm("tools/call", said(text), 1);
    assert_eq!(bench.echo("x").await, json!({ "result": "x" }), "{text}");
    let stats = server.stats();
    assert_eq!((stats.initialize, stats.calls), (2, 2), "{text}");
}

// MCP-1; seed: test_is_session_expired_detects_invalid_or_expired_session
#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_or_expired_session_is_replaced() {
    is_recovered("Invalid params: Invalid or expired session").await;
}

// MCP-2; seed: test_is_session_expired_detects_expired_session_variant
#[tokio::test(flavor = "multi_thread")]
async fn an_expired_session_is_replaced_in_either_wording() {
    is_recovered("Session expired").await;
    is_recovered("expired session: abc").await;
}

// MCP-3; seed: test_is_session_expired_detects_session_not_found
#[tokio::test(flavor = "multi_thread")]
async fn a_session_the_server_cannot_find_is_replaced() {
    is_recovered("session not found").await;
    is_recovered("Unknown session: abc123").await;
}

// MCP-4; seed: test_is_session_expired_is_case_insensitive
#[tokio::test(flavor = "multi_thread")]
async fn the_case_of_the_words_does_not_matter() {
    is_recovered("INVALID OR EXPIRED SESSION").await;
    is_recovered("Session Expired").await;
}

// MCP-5; seed: test_is_session_expired_rejects_unrelated_errors
#[tokio::test(flavor = "multi_thread")]
async fn other_errors_leave_the_session_alone() {
    let server = remote(Profile::default());
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    for text in [
        "Tool failed to execute",
        "Missing parameter",
        "Connection refused",
        "401 Unauthorized",
    ] {
        server.arm("tools/call", said(text), 1);
        let answer = bench.echo("x").await;
        assert!(error(&answer).contains("MCP call failed"), "{answer}");
    }
    let stats = server.stats();
    assert_eq!((stats.initialize, stats.calls), (1, 4));
}

// MCP-7; seed: test_is_session_expired_rejects_empty_message
#[tokio::test(flavor = "multi_thread")]
async fn an_error_without_a_text_leaves_the_session_alone() {
    let server = remote(Profile::default());
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    server.arm("tools/call", said(""), 1);
    let answer = bench.echo("x").await;
    assert!(error(&answer).contains("MCP call failed"), "{answer}");
    let stats = server.stats();
    assert_eq!((stats.initialize, stats.calls), (1, 1));
}

// MCP-6; seed: test_is_session_expired_rejects_interrupted_error
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_the_user_stops_replaces_nothing() {
    let server = remote(Profile::default());
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    let mode = Mode::Hold {
        millis: 20_000,
        then: Some("Invalid or expired session".to_owned()),
    };
    server.arm("tools/call", mode, 1);
    let cancel = CancellationToken::new();
    let tool = bench.tool("mcp__one__echo");
    let (stop, around) = (cancel.clone(), context(cancel));
    let (outcome, ()) = tokio::join!(tool.call(json!({}), &around), async {
        while server.stats().calls == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stop.cancel();
    });
    assert_eq!(outcome, Err(hermes_core::ToolError::Cancelled));
    server.disarm();
    // The answer that comes afterwards concerns nobody.
    while server.stats().in_flight > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(bench.echo("x").await, json!({ "result": "x" }));
    assert_eq!(server.stats().initialize, 1);
    bench.failures(0).await;
}

// MCP-8; seed: test_call_tool_handler_reconnects_on_session_expired
// MCP-32
#[tokio::test(flavor = "multi_thread")]
async fn a_session_the_server_has_dropped_costs_one_handshake_and_one_more_call() {
    for streams in [false, true] {
        let server = remote(Profile {
            streams,
            ..Profile::default()
        });
        let bench = Bench::connected(quick(), server.url("/mcp")).await;
        server.drop_sessions();
        assert_eq!(bench.echo("after").await, json!({ "result": "after" }));
        let stats = server.stats();
        assert_eq!(stats.initialize, 2);
        let calls = stats.requests.iter();
        let calls = calls.filter(|seen| seen.method.as_deref() == Some("tools/call"));
        assert_eq!(calls.count(), 2, "the refused one and its repetition");
        // Only one of them got past the session.
        assert_eq!(stats.calls, 1);
        assert_eq!(bench.view("one").generation, 2);
    }
}

// MCP-9; seed: test_call_tool_handler_non_session_expired_error_falls_through
#[tokio::test(flavor = "multi_thread")]
async fn an_unrelated_failure_is_told_as_it_is() {
    let server = remote(Profile::default());
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    let internal = Mode::Error {
        code: -32603,
        message: "Tool execution failed, unrelated".to_owned(),
    };
    server.arm("tools/call", internal, 1);
    let text = error(&bench.echo("x").await);
    assert!(text.contains("MCP call failed"), "{text}");
    assert!(text.contains("unrelated"), "{text}");
    assert_eq!(server.stats().initialize, 1);
}

// MCP-12; seed: test_session_expired_handler_returns_none_when_retry_also_fails
#[tokio::test(flavor = "multi_thread")]
async fn a_second_failure_is_told_and_nothing_loops() {
    let server = remote(Profile::default());
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    server.arm("tools/call", said("Session expired"), 1);
    server.arm("tools/call", said("Unknown session: second"), 1);
    let text = error(&bench.echo("x").await);
    assert!(text.contains("MCP call failed"), "{text}");
    assert!(text.contains("second"), "the retry's error counts: {text}");
    let stats = server.stats();
    assert_eq!((stats.initialize, stats.calls), (2, 2));
}

/// Whether a utility survives an expired session, with one new session and one more try.
async fn utility_recovers(method: &str, tool: &str, arguments: serde_json::Value, key: &str) {
    let server = remote(Profile::default());
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    server.arm(method, said("Invalid or expired session"), 1);
    let answer = bench.call(tool, arguments).await;
    assert!(answer.get("error").is_none(), "{answer}");
    assert!(answer.get(key).is_some(), "{answer}");
    let stats = server.stats();
    assert_eq!((stats.initialize, stats.of(method)), (2, 2));
}

// MCP-13; seed: test_non_tool_handlers_also_reconnect_on_session_expired[list_resources]
#[tokio::test(flavor = "multi_thread")]
async fn listing_resources_recovers_from_an_expired_session() {
    utility_recovers("resources/list", "list_resources", json!({}), "resources").await;
}

// MCP-14; seed: test_non_tool_handlers_also_reconnect_on_session_expired[read_resource]
#[tokio::test(flavor = "multi_thread")]
async fn reading_a_resource_recovers_from_an_expired_session() {
    let arguments = json!({ "uri": "memo://1" });
    utility_recovers("resources/read", "read_resource", arguments, "result").await;
}

// MCP-15; seed: test_non_tool_handlers_also_reconnect_on_session_expired[list_prompts]
#[tokio::test(flavor = "multi_thread")]
async fn listing_prompts_recovers_from_an_expired_session() {
    utility_recovers("prompts/list", "list_prompts", json!({}), "prompts").await;
}

// MCP-16; seed: test_non_tool_handlers_also_reconnect_on_session_expired[get_prompt]
#[tokio::test(flavor = "multi_thread")]
async fn getting_a_prompt_recovers_from_an_expired_session() {
    let arguments = json!({ "name": "prompt 1" });
    utility_recovers("prompts/get", "get_prompt", arguments, "messages").await;
}

// MCP-19
#[tokio::test(flavor = "multi_thread")]
async fn a_new_session_is_waited_for_only_so_long() {
    let server = remote(Profile::default());
    let policy = hermes_mcp::RecoveryPolicy {
        fresh_session_wait: Duration::from_millis(300),
        backoff_cap: Duration::from_secs(5),
        backoff_first: Duration::from_secs(5),
        ..quick()
    };
    let bench = Bench::connected(policy, server.url("/mcp")).await;
    server.arm("tools/call", said("Session expired"), 1);
    server.arm(
        "initialize",
        Mode::Status {
            status: 503,
            body: String::new(),
        },
        100,
    );
    let begun = Instant::now();
    let text = error(&bench.echo("x").await);
    assert!(text.contains("MCP call failed"), "{text}");
    let waited = begun.elapsed();
    assert!(waited >= Duration::from_millis(300), "{waited:?}");
    // The next attempt to connect, after five seconds, is not waited for.
    assert!(waited < Duration::from_secs(4), "{waited:?}");
    assert_eq!(server.stats().calls, 1);
}

// MCP-21
#[tokio::test(flavor = "multi_thread")]
async fn a_restarted_server_is_found_again() {
    let server = remote(Profile::default());
    let (port, url) = (server.port(), server.url("/mcp"));
    let bench = Bench::connected(quick(), url).await;
    drop(server);
    let server = hermes_testkit::mcp_server::McpServer::start_on(port, Profile::default()).unwrap();
    // A read: a write that meets a connection closed at this very moment may have been carried out.
    let answer = bench.call("read", json!({ "text": "x" })).await;
    assert_eq!(answer, json!({ "result": "x" }));
    assert_eq!(bench.echo("y").await, json!({ "result": "y" }));
    assert_eq!(server.stats().initialize, 1);
}

// MCP-33
#[tokio::test(flavor = "multi_thread")]
async fn calls_that_expire_together_share_one_new_session() {
    let server = remote(Profile::default());
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    server.drop_sessions();
    let calls = (0..20).map(|number| {
        let bench = &bench;
        async move { bench.echo(&number.to_string()).await }
    });
    let answers = join_all(calls).await;
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!(*answer, json!({ "result": number.to_string() }));
    }
    assert_eq!(server.stats().initialize, 2);
}

// MCP-34
#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_tried_again_only_on_the_newer_session() {
    let server = remote(Profile {
        slow_return: Duration::from_millis(400),
        ..Profile::default()
    });
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    server.arm("tools/call", said("session not found"), 1);
    assert_eq!(bench.echo("x").await, json!({ "result": "x" }));
    let stats = server.stats();
    let sessions: Vec<&String> = stats
        .requests
        .iter()
        .filter(|seen| seen.method.as_deref() == Some("tools/call"))
        .filter_map(|seen| seen.headers.get("mcp-session-id"))
        .collect();
    assert_eq!(sessions.len(), 2);
    assert_ne!(sessions[0], sessions[1]);
}

// MCP-82
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_always_says_expired_is_not_connected_again_and_again() {
    let server = remote(Profile::default());
    let policy = hermes_mcp::RecoveryPolicy {
        breaker_threshold: 1_000,
        ..quick()
    };
    let bench = Bench::connected(policy, server.url("/mcp")).await;
    server.arm("tools/call", said("session expired"), 1_000);
    for _ in 0..12 {
        let text = error(&bench.echo("x").await);
        assert!(text.contains("MCP call failed"), "{text}");
    }
    assert_eq!(server.stats().initialize, 2);
    assert_eq!(server.stats().calls, 13);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_under_way_is_not_cut_off_by_the_new_session_of_another() {
    let server = remote(Profile::default());
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    let slow = bench.call("echo", json!({ "millis": 1_500, "text": "slow" }));
    let other = async {
        while server.stats().calls == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        server.arm("tools/call", said("Session expired"), 1);
        bench.echo("other").await
    };
    let (slow, other) = tokio::join!(slow, other);
    assert_eq!(slow, json!({ "result": "slow" }));
    assert_eq!(other, json!({ "result": "other" }));
    assert_eq!(server.stats().initialize, 2);
}

/// Not a promise of this profile, only a guard against waits that crept in: recovery is a handshake and
/// little else.
#[tokio::test(flavor = "multi_thread")]
async fn recovery_waits_for_nothing_but_the_handshake() {
    let server = remote(Profile::default());
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    let mut best = Duration::MAX;
    for _ in 0..3 {
        server.arm("tools/call", said("Session expired"), 1);
        let begun = Instant::now();
        assert_eq!(bench.echo("x").await, json!({ "result": "x" }));
        best = best.min(begun.elapsed());
    }
    assert!(best < Duration::from_millis(500), "{best:?}");
    println!("recovered in {best:?}");
}

// MCP-1, MCP-21, MCP-35
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_fails_over_a_session_it_does_not_know_gets_a_new_one() {
    let server = remote(Profile::default());
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    let failing = || Mode::Status {
        status: 500,
        body: "Invalid or expired session".to_owned(),
    };
    // How far it came before it failed is not known, so what changes something is not done twice.
    server.arm("tools/call", failing(), 1);
    let answer = bench.echo("once").await;
    assert_eq!(answer["outcome_unknown"], json!(true), "{answer}");
    assert!(error(&answer).contains("HTTP 500"), "{answer}");
    bench
        .until("one", "another session", |view| {
            view.is_ready() && view.generation == 2
        })
        .await;
    assert_eq!(bench.echo("again").await, json!({ "result": "again" }));

    server.arm("tools/call", failing(), 1);
    let answer = bench.call("read", json!({ "text": "x" })).await;
    assert_eq!(answer, json!({ "result": "x" }));
    let stats = server.stats();
    assert_eq!((stats.initialize, stats.calls), (3, 4));
}
