//! A server that keeps failing is left alone for a while, and then asked once.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use hermes_core::Tool;
use hermes_mcp::RecoveryPolicy;
use hermes_testkit::mcp_server::{McpServer, Mode, Profile};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::fixture::{Bench, PATIENCE, at, context, error, quick, read, remote};

const COOLDOWN: Duration = Duration::from_secs(4);

fn hasty() -> RecoveryPolicy {
    RecoveryPolicy {
        call_timeout: Duration::from_secs(2),
        breaker_cooldown: COOLDOWN,
        ..quick()
    }
}

fn hold(millis: u64) -> Mode {
    Mode::Hold { millis, then: None }
}

/// A server whose calls hang, and a bench whose breaker they have opened.
async fn opened() -> (McpServer, Bench) {
    let server = remote(Profile::default());
    let bench = Bench::connected(hasty(), server.url("/mcp")).await;
    server.arm("tools/call", hold(20_000), 3);
    for _ in 0..3 {
        let text = error(&bench.echo("x").await);
        assert!(text.contains("MCP call failed: Timeout"), "{text}");
    }
    bench.failures(3).await;
    (server, bench)
}

// MCP-22; seed: test_circuit_breaker_half_opens_after_cooldown
#[tokio::test(flavor = "multi_thread")]
async fn an_open_breaker_lets_nothing_through_until_one_call_succeeds() {
    let (server, bench) = opened().await;
    let text = error(&bench.echo("x").await);
    assert!(text.contains("unreachable"), "{text}");
    assert_eq!(server.stats().calls, 3);
    tokio::time::sleep(COOLDOWN).await;
    assert_eq!(bench.echo("x").await, json!({ "result": "x" }));
    assert_eq!(server.stats().calls, 4);
    assert_eq!(server.stats().initialize, 1);
    bench.failures(0).await;
}

// MCP-23; seed: test_circuit_breaker_reopens_on_probe_failure
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_probe_starts_the_wait_again() {
    let (server, bench) = opened().await;
    server.arm("tools/call", hold(20_000), 1);
    tokio::time::sleep(COOLDOWN).await;
    assert!(error(&bench.echo("x").await).contains("Timeout"));
    assert_eq!(server.stats().calls, 4);
    let text = error(&bench.echo("x").await);
    assert!(text.contains("unreachable"), "{text}");
    assert_eq!(server.stats().calls, 4);
}

// MCP-37
#[tokio::test(flavor = "multi_thread")]
async fn only_one_call_probes() {
    let (server, bench) = opened().await;
    server.arm("tools/call", hold(20_000), 10);
    tokio::time::sleep(COOLDOWN).await;
    let answers = join_all((0..10).map(|_| bench.echo("x"))).await;
    let refused = answers
        .iter()
        .filter(|answer| error(answer).contains("unreachable"));
    assert_eq!(refused.count(), 9);
    assert_eq!(server.stats().calls, 4);
}

// MCP-20
#[tokio::test(flavor = "multi_thread")]
async fn a_success_after_a_new_session_forgets_earlier_failures() {
    let server = remote(Profile::default());
    let bench = Bench::connected(hasty(), server.url("/mcp")).await;
    for _ in 0..2 {
        server.arm("tools/call", hold(20_000), 2);
        for _ in 0..2 {
            assert!(error(&bench.echo("x").await).contains("Timeout"));
        }
        bench.failures(2).await;
        let expired = Mode::Error {
            code: -32602,
            message: "Session expired".to_owned(),
        };
        server.arm("tools/call", expired, 1);
        assert_eq!(bench.echo("x").await, json!({ "result": "x" }));
        bench.failures(0).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_fails_twice_counts_once() {
    let server = remote(Profile::default());
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    server.arm("tools/call", Mode::Cut, 2);
    let answer = bench.call("read", json!({ "text": "r" })).await;
    assert!(error(&answer).contains("MCP call failed"), "{answer}");
    assert_eq!(server.stats().calls, 2);
    // Whatever was reported about the call is counted before the next one begins.
    server.arm("tools/call", Mode::Cut, 1);
    let answer = bench.echo("x").await;
    assert!(error(&answer).contains("MCP call failed"), "{answer}");
    bench.failures(2).await;
}

// MCP-36
#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_says_it_failed_has_answered() {
    let server = remote(Profile::default());
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    for _ in 0..10 {
        let text = error(
            &bench
                .call("fail", json!({ "text": "my login session expired" }))
                .await,
        );
        assert_eq!(text, "my login session expired");
    }
    assert_eq!(bench.echo("x").await, json!({ "result": "x" }));
    assert_eq!(server.stats().initialize, 1);
    bench.failures(0).await;
}

/// A program that has died and cannot be started, with a breaker that its calls have opened. The tools of a
/// parked server are not offered, so one is kept from before.
async fn dead() -> (Bench, Arc<dyn Tool>) {
    let policy = RecoveryPolicy {
        reconnect_retries: 0,
        breaker_threshold: 2,
        breaker_cooldown: COOLDOWN,
        absent_session_wait: PATIENCE,
        ..quick()
    };
    let mut bench = Bench::new(policy);
    bench.add("one", bench.program("one", "")).await;
    let pid = bench.ready("one").await.pid.unwrap();
    let tool = bench.tool("mcp__one__echo");
    std::fs::write(bench.state("one").join("broken"), "").unwrap();
    end(pid);
    bench.parked("one").await;
    for _ in 0..2 {
        let text = error(&again(&tool).await);
        assert!(text.contains("reconnect"), "{text}");
    }
    assert!(error(&again(&tool).await).contains("unreachable"));
    (bench, tool)
}

async fn again(tool: &Arc<dyn Tool>) -> serde_json::Value {
    let around = context(CancellationToken::new());
    read(tool.call(json!({ "text": "x" }), &around).await)
}

// MCP-24; seed: test_half_open_probe_on_dead_session_requests_reconnect
#[tokio::test(flavor = "multi_thread")]
async fn a_probe_without_a_session_asks_for_exactly_one() {
    let (bench, tool) = dead().await;
    let requests = bench.lines("one", "requests").len();
    let starts = bench.lines("one", "starts").len();
    tokio::time::sleep(COOLDOWN).await;
    let text = error(&again(&tool).await);
    assert!(text.contains("reconnect"), "{text}");
    assert_eq!(bench.lines("one", "starts").len(), starts + 1);
    assert_eq!(bench.lines("one", "requests").len(), requests);
}

// MCP-25; seed: test_half_open_dead_session_recovers_after_reconnect
#[tokio::test(flavor = "multi_thread")]
async fn a_call_goes_through_as_soon_as_the_session_is_back() {
    let (bench, tool) = dead().await;
    std::fs::remove_file(bench.state("one").join("broken")).unwrap();
    bench.handle("one").reconnect().await;
    bench.ready("one").await;
    assert_eq!(again(&tool).await, json!({ "result": "x" }));
    bench.failures(0).await;
}

// MCP-25
#[tokio::test(flavor = "multi_thread")]
async fn a_probe_brings_the_session_back_by_itself_and_goes_through() {
    let (bench, tool) = dead().await;
    std::fs::remove_file(bench.state("one").join("broken")).unwrap();
    tokio::time::sleep(COOLDOWN).await;
    assert_eq!(again(&tool).await, json!({ "result": "x" }));
    bench.failures(0).await;
    assert_eq!(bench.view("one").generation, 2);
}

// MCP-29
#[tokio::test(flavor = "multi_thread")]
async fn a_new_session_closes_the_breaker_on_every_transport() {
    let server = remote(Profile::default());
    let policy = RecoveryPolicy {
        call_timeout: Duration::from_secs(2),
        breaker_cooldown: Duration::from_secs(600),
        ..quick()
    };
    let mut bench = Bench::new(policy);
    bench.add("http", at(server.url("/mcp"))).await;
    let mut old = at(server.url("/sse"));
    old.transport = "sse".to_owned();
    bench.add("sse", old).await;
    bench.add("stdio", bench.program("stdio", "")).await;
    for name in ["http", "sse", "stdio"] {
        bench.ready(name).await;
        let slow = (0..3).map(|_| bench.call_at(name, "wait", json!({ "millis": 30_000 })));
        for answer in join_all(slow).await {
            assert!(error(&answer).contains("Timeout"), "{name}: {answer}");
        }
        bench
            .until(name, "counted", |view| view.failures == 3)
            .await;
        let answer = bench.call_at(name, "read", json!({})).await;
        assert!(error(&answer).contains("unreachable"), "{name}: {answer}");
        let before = bench.view(name).generation;
        bench.handle(name).reconnect().await;
        bench
            .until(name, "a new session", |view| {
                view.is_ready() && view.generation > before
            })
            .await;
        let answer = bench.call_at(name, "read", json!({ "text": "x" })).await;
        assert_eq!(answer, json!({ "result": "x" }), "{name}");
    }
}

// MCP-29
#[tokio::test(flavor = "multi_thread")]
async fn calls_that_hang_on_an_old_session_do_not_count_against_the_new_one() {
    let server = remote(Profile::default());
    let policy = RecoveryPolicy {
        call_timeout: Duration::from_secs(3),
        breaker_cooldown: Duration::from_secs(600),
        ..quick()
    };
    let bench = Bench::connected(policy, server.url("/mcp")).await;
    server.arm("tools/call", hold(60_000), 3);
    let hanging = join_all((0..3).map(|_| bench.echo("x")));
    let renewed = async {
        while server.stats().calls < 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        bench.handle("one").reconnect().await;
        bench
            .until("one", "a new session", |view| {
                view.is_ready() && view.generation == 2
            })
            .await;
    };
    let (answers, ()) = tokio::join!(hanging, renewed);
    for answer in answers {
        assert!(error(&answer).contains("Timeout"), "{answer}");
    }
    assert_eq!(bench.echo("y").await, json!({ "result": "y" }));
    bench.failures(0).await;
}

/// Ends a process of ours at once.
pub(crate) fn end(pid: u32) {
    let pid = nix::unistd::Pid::from_raw(i32::try_from(pid).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
}
