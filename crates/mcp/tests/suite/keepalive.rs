//! Silent sessions are asked for a sign of life, and only dead ones are replaced.

use std::time::Duration;

use hermes_mcp::RecoveryPolicy;
use hermes_testkit::mcp_server::{Mode, Profile};
use serde_json::json;

use super::fixture::{Bench, PATIENCE, quick, remote};

fn watchful() -> RecoveryPolicy {
    RecoveryPolicy {
        keepalive_interval: Duration::from_millis(100),
        keepalive_timeout: Duration::from_secs(5),
        ..quick()
    }
}

async fn until(what: &str, met: impl Fn() -> bool) {
    let deadline = std::time::Instant::now() + PATIENCE;
    while !met() {
        assert!(std::time::Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

// MCP-41
#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_ping_is_asked_for_its_tools() {
    let mut bench = Bench::new(watchful());
    bench.add("one", bench.program("one", "no-ping")).await;
    let pid = bench.ready("one").await.pid;
    let count = |method: &str| {
        let lines = bench.lines("one", "requests");
        lines.iter().filter(|line| *line == method).count()
    };
    until("lists instead of pings", || count("tools/list") >= 4).await;
    // Once it was said that there is no ping, it is not tried again.
    assert_eq!(count("ping"), 1);
    assert_eq!(bench.view("one").pid, pid);
}

// MCP-42
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ignores_pings_is_left_running() {
    let mut bench = Bench::new(watchful());
    bench.add("one", bench.program("one", "deaf")).await;
    let pid = bench.ready("one").await.pid;
    let count = |method: &str| {
        let lines = bench.lines("one", "requests");
        lines.iter().filter(|line| *line == method).count()
    };
    until("three more signs of life", || count("tools/list") >= 4).await;
    let view = bench.view("one");
    assert_eq!((view.pid, view.generation), (pid, 1));
    assert_eq!(bench.lines("one", "starts").len(), 1);
}

// MCP-43
#[tokio::test(flavor = "multi_thread")]
async fn signs_of_life_keep_a_session_that_would_expire() {
    let server = remote(Profile {
        session_life: Some(Duration::from_secs(3)),
        ..Profile::default()
    });
    let policy = RecoveryPolicy {
        keepalive_interval: Duration::from_millis(500),
        keepalive_timeout: Duration::from_secs(10),
        ..quick()
    };
    let bench = Bench::connected(policy, server.url("/mcp")).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(server.stats().of("ping") >= 2);
    assert_eq!(bench.echo("x").await, json!({ "result": "x" }));
    assert_eq!(server.stats().initialize, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_session_is_replaced_before_anybody_calls() {
    let server = remote(Profile::default());
    let bench = Bench::connected(watchful(), server.url("/mcp")).await;
    server.drop_sessions();
    bench
        .until("one", "a new session", |view| {
            view.is_ready() && view.generation == 2
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_pinged_while_a_call_runs_or_answers_come() {
    let server = remote(Profile::default());
    let policy = RecoveryPolicy {
        keepalive_interval: Duration::from_secs(1),
        ..watchful()
    };
    let bench = Bench::connected(policy, server.url("/mcp")).await;
    let call = bench.call("wait", json!({ "millis": 4_000, "text": "w" }));
    // From when the call is there, whoever is pinged would not bear it.
    let deadly = async {
        until("the call is there", || server.stats().calls == 1).await;
        let failure = Mode::Status {
            status: 500,
            body: String::new(),
        };
        server.arm("ping", failure, 1_000);
    };
    let (answer, ()) = tokio::join!(call, deadly);
    assert_eq!(answer, json!({ "result": "w" }));
    assert_eq!(server.stats().initialize, 1);
}

// MCP-82
#[tokio::test(flavor = "multi_thread")]
async fn calls_without_an_answer_cause_only_so_many_new_sessions() {
    let server = remote(Profile::default());
    let policy = RecoveryPolicy {
        call_timeout: Duration::from_millis(100),
        keepalive_timeout: Duration::from_millis(50),
        breaker_threshold: 1_000,
        ..quick()
    };
    let bench = Bench::connected(policy, server.url("/mcp")).await;
    let hold = Mode::Hold {
        millis: 20_000,
        then: None,
    };
    // The server takes every session and answers nothing else.
    server.arm("tools/call", hold.clone(), 1_000);
    server.arm("ping", hold, 1_000);
    let deadline = std::time::Instant::now() + PATIENCE;
    while server.stats().of("ping") < 8 {
        assert!(
            std::time::Instant::now() < deadline,
            "{:?}",
            server.stats().methods
        );
        bench.echo("x").await;
    }
    assert_eq!(server.stats().initialize, 4, "the first and three more");
}
