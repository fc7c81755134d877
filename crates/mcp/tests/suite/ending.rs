//! Calls that meet the end of a server are answered, and at once.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use hermes_testkit::mcp_server::{Mode, Profile};
use hermes_testkit::process::Process;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::fixture::{Bench, at, context, error, quick, read, remote};

/// What "at once" means, for a call that the server itself would hold for twenty seconds.
const AT_ONCE: Duration = Duration::from_secs(1);

// MCP-10; seed: test_session_expired_handler_returns_none_without_loop
#[tokio::test(flavor = "multi_thread")]
async fn a_call_during_the_shutdown_is_answered_at_once() {
    // A busy machine may be late once; what is promised is not missed every time.
    let mut times = Vec::new();
    for _ in 0..3 {
        times.push(answered_within().await);
        if times.last().is_some_and(|took| *took < AT_ONCE) {
            return;
        }
    }
    panic!("{times:?}");
}

/// How long a call takes that meets the end of everything, or one that comes after it, whichever is longer.
async fn answered_within() -> Duration {
    let server = remote(Profile::default());
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    let tool = bench.tool("mcp__one__echo");
    let hold = Mode::Hold {
        millis: 20_000,
        then: Some("Invalid or expired session".to_owned()),
    };
    server.arm("tools/call", hold, 1);
    let around = context(CancellationToken::new());
    let running = async {
        let answer = read(tool.call(json!({}), &around).await);
        (answer, Instant::now())
    };
    let ((answer, answered), asked) = tokio::join!(running, async {
        while server.stats().calls == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let asked = Instant::now();
        bench.fleet.shutdown().await;
        asked
    });
    assert!(!error(&answer).is_empty());
    let took = answered.duration_since(asked);
    let late = Instant::now();
    let answer = read(tool.call(json!({}), &around).await);
    assert!(error(&answer).contains("not connected"), "{answer}");
    let took = took.max(late.elapsed());
    assert_eq!(server.stats().initialize, 1);
    took
}

// MCP-10
// On one thread, so that the calls are in the queue before the supervisor hears of the end.
#[tokio::test]
async fn calls_that_wait_in_the_queue_are_answered_before_the_program_has_ended() {
    let policy = hermes_mcp::RecoveryPolicy {
        child_grace: Duration::from_secs(6),
        exit_grace: Duration::from_secs(6),
        ..quick()
    };
    let mut bench = Bench::new(policy);
    bench.add("one", bench.program("one", "stays")).await;
    let pid = bench.ready("one").await.pid.unwrap();
    let program = Process::of(i32::try_from(pid).unwrap()).unwrap();
    let tool = bench.tool("mcp__one__echo");
    let around = context(CancellationToken::new());
    let calls = join_all((0..20).map(|_| tool.call(json!({}), &around)));
    let calls = async { (calls.await, program.alive()) };
    let ((answers, was_there), ()) = tokio::join!(calls, bench.fleet.shutdown());
    for answer in answers {
        let answer = read(answer);
        assert!(error(&answer).contains("not connected"), "{answer}");
    }
    assert!(was_there, "they waited for its end");
    assert!(!program.alive());
    assert!(bench.lines("one", "done").is_empty());
}

// MCP-11; seed: test_session_expired_handler_returns_none_without_server_record
#[tokio::test(flavor = "multi_thread")]
async fn a_tool_of_a_removed_server_is_not_connected() {
    let server = remote(Profile::default());
    let mut bench = Bench::connected(quick(), server.url("/mcp")).await;
    let stale = bench.tool("mcp__one__echo");
    bench.remove("one").await;
    let answer = read(
        stale
            .call(json!({}), &context(CancellationToken::new()))
            .await,
    );
    assert!(error(&answer).contains("not connected"), "{answer}");
    assert!(bench.names().is_empty());
}

// MCP-47, MCP-91
#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_long_for_goodbyes_when_everything_ends() {
    // As above: what is promised is not missed every time.
    let mut times = Vec::new();
    for _ in 0..3 {
        times.push(ended_within().await);
        if times.last().is_some_and(|took| *took < AT_ONCE) {
            return;
        }
    }
    panic!("{times:?}");
}

/// How long the end of everything takes where one server does not say goodbye and the other does not go.
async fn ended_within() -> Duration {
    let policy = hermes_mcp::RecoveryPolicy {
        child_grace: Duration::from_secs(20),
        ..quick()
    };
    let server = remote(Profile {
        slow_goodbye: Duration::from_secs(20),
        ..Profile::default()
    });
    let mut bench = Bench::new(policy);
    bench.add("one", at(server.url("/mcp"))).await;
    bench.add("two", bench.program("two", "stays")).await;
    bench.ready("one").await;
    let pid = bench.ready("two").await.pid.unwrap();
    let begun = Instant::now();
    bench.fleet.shutdown().await;
    let took = begun.elapsed();
    // The one was told all the same, and nothing is left of the other.
    let requests = server.stats().requests;
    assert!(requests.iter().any(|seen| seen.line == "DELETE /mcp"));
    assert!(Process::of(i32::try_from(pid).unwrap()).is_none());
    took
}
