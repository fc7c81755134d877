//! Servers that fail come back; what is given up is tried again.

use std::time::{Duration, Instant};

use hermes_mcp::{RecoveryPolicy, State, StatusWord, View};
use hermes_testkit::mcp_server::{Mode, Profile, tool};
use hermes_testkit::process::Process;
use serde_json::json;

use super::breaker::end;
use super::fixture::{Bench, PATIENCE, at, quick, remote};

// MCP-27; seed: test_run_loop_parks_instead_of_exiting_then_revives
// MCP-30
#[tokio::test(flavor = "multi_thread")]
async fn a_spent_budget_parks_a_server_and_a_signal_revives_it() {
    let policy = RecoveryPolicy {
        reconnect_retries: 2,
        ..quick()
    };
    let mut bench = Bench::new(policy);
    bench.add("one", bench.program("one", "")).await;
    let pid = bench.ready("one").await.pid.unwrap();
    let offered = bench.names();
    assert_eq!(offered.len(), 3);
    let broken = bench.state("one").join("broken");
    std::fs::write(&broken, "").unwrap();
    end(pid);
    let parked = bench.parked("one").await;
    assert!(bench.names().is_empty());
    assert!(parked.next_try.is_some());
    let error = parked.last_error.unwrap();
    assert!(error.contains("the program is broken"), "{error}");
    // The loss itself was the first failure.
    assert_eq!(bench.lines("one", "starts").len(), 3);
    assert_eq!(bench.fleet.status()[0].status, StatusWord::Parked);
    assert_eq!(bench.fleet.unavailable().len(), 1);

    std::fs::remove_file(&broken).unwrap();
    bench.handle("one").reconnect().await;
    bench.ready("one").await;
    assert_eq!(bench.names(), offered);

    std::fs::write(&broken, "").unwrap();
    let pid = bench.view("one").pid.unwrap();
    end(pid);
    bench.parked("one").await;
    let begun = Instant::now();
    bench.fleet.shutdown().await;
    assert!(begun.elapsed() < Duration::from_secs(2));
}

// MCP-28
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_often_keeps_its_budget() {
    let policy = RecoveryPolicy {
        reconnect_retries: 2,
        ..quick()
    };
    let mut bench = Bench::new(policy);
    bench.add("one", bench.program("one", "")).await;
    let handle = bench.handle("one");
    let mut seen = handle.watch();
    let mut watching = tokio::task::JoinSet::new();
    watching.spawn(async move {
        seen.wait_for(|view| view.state == State::Parked)
            .await
            .is_ok()
    });
    for generation in 1..=12 {
        let view = bench
            .until("one", "the next session", |view| {
                view.is_ready() && view.generation == generation
            })
            .await;
        end(view.pid.unwrap());
    }
    bench
        .until("one", "the last session", |view| view.generation == 13)
        .await;
    assert!(watching.try_join_next().is_none(), "it was parked");
}

// MCP-38
#[tokio::test(flavor = "multi_thread")]
async fn a_parked_server_comes_back_without_anybody_asking() {
    let server = remote(Profile::default());
    let policy = RecoveryPolicy {
        parked_probe: Duration::from_millis(200),
        ..quick()
    };
    let bench = Bench::connected(policy, server.url("/mcp")).await;
    server.set_down(true);
    bench.handle("one").reconnect().await;
    bench.parked("one").await;
    assert!(bench.names().is_empty());
    server.set_down(false);
    bench.ready("one").await;
    assert_eq!(bench.names().len(), 8);
}

// MCP-39
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_down_at_the_start_appears_later() {
    let server = remote(Profile::default());
    server.set_down(true);
    let policy = RecoveryPolicy {
        parked_probe: Duration::from_millis(200),
        ..quick()
    };
    let mut bench = Bench::new(policy);
    bench.add("one", at(server.url("/mcp"))).await;
    bench.fleet.discovered(PATIENCE).await;
    let parked = bench.parked("one").await;
    assert_eq!(parked.generation, 0);
    let status = bench.fleet.status();
    assert_eq!((status.len(), status[0].status), (1, StatusWord::Failed));
    assert!(status[0].error.as_ref().unwrap().contains("503"));
    assert!(
        bench.fleet.unavailable()[0]
            .why
            .contains("cannot be reached")
    );
    server.set_down(false);
    bench.ready("one").await;
    assert_eq!(bench.echo("x").await, json!({ "result": "x" }));
    assert_eq!(
        server.stats().of("notifications/initialized"),
        1,
        "one supervisor"
    );
}

// MCP-39
#[tokio::test(flavor = "multi_thread")]
async fn another_attempt_is_no_news_to_whoever_heard_that_a_server_is_down() {
    let server = remote(Profile::default());
    server.set_down(true);
    let policy = RecoveryPolicy {
        parked_probe: Duration::from_secs(3600),
        ..quick()
    };
    let mut bench = Bench::new(policy);
    bench.add("one", at(server.url("/mcp"))).await;
    bench.parked("one").await;
    let told = bench.fleet.unavailable();
    assert!(told[0].why.contains("cannot be reached"), "{told:?}");
    server.set_down(false);
    let slow = Mode::Hold {
        millis: 60_000,
        then: None,
    };
    server.arm("initialize", slow, 1);
    bench.handle("one").reconnect().await;
    bench
        .until("one", "another attempt", |view| view.state != State::Parked)
        .await;
    assert_eq!(bench.fleet.unavailable(), told);
    server.disarm();
    bench.ready("one").await;
    assert!(bench.fleet.unavailable().is_empty());
}

// MCP-40
#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_program_is_seen_at_once() {
    let policy = RecoveryPolicy {
        backoff_first: Duration::from_secs(60),
        ..quick()
    };
    let mut bench = Bench::new(policy);
    bench.add("one", bench.program("one", "")).await;
    // A busy machine may be late once; what is promised is not missed every time.
    let mut times = Vec::new();
    for _ in 0..5 {
        let pid = bench.ready("one").await.pid.unwrap();
        let mut seen = bench.handle("one").watch();
        let begun = Instant::now();
        end(pid);
        let gone = |view: &View| matches!(view.state, State::Reconnecting { .. });
        let noticed = tokio::time::timeout(PATIENCE, seen.wait_for(gone)).await;
        noticed.unwrap().unwrap();
        times.push(begun.elapsed());
        if begun.elapsed() < Duration::from_millis(500) {
            return;
        }
        bench.handle("one").reconnect().await;
    }
    panic!("{times:?}");
}

// MCP-35
#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_may_have_happened_is_not_repeated_and_a_read_is() {
    let mut bench = Bench::new(quick());
    bench.add("one", bench.program("one", "")).await;
    bench.ready("one").await;
    let die = bench.state("one").join("die");
    std::fs::write(&die, "").unwrap();
    let answer = bench.echo("x").await;
    assert_eq!(answer["outcome_unknown"], json!(true), "{answer}");
    assert_eq!(answer["server"], json!("one"));
    assert_eq!(bench.lines("one", "done"), ["echo"]);

    bench.ready("one").await;
    std::fs::write(&die, "").unwrap();
    let answer = bench.call("read", json!({ "text": "r" })).await;
    assert_eq!(answer, json!({ "result": "r" }));
    assert_eq!(bench.lines("one", "done"), ["echo", "read", "read"]);
}

// MCP-35
#[tokio::test(flavor = "multi_thread")]
async fn a_write_without_an_answer_or_with_a_server_error_may_have_happened() {
    let server = remote(Profile::default());
    let policy = RecoveryPolicy {
        call_timeout: Duration::from_secs(3),
        ..quick()
    };
    let bench = Bench::connected(policy, server.url("/mcp")).await;
    let hold = Mode::Hold {
        millis: 20_000,
        then: None,
    };
    let failed = |status| Mode::Status {
        status,
        body: "no".to_owned(),
    };
    for (mode, word, unknown) in [
        (hold, "Timeout", true),
        (failed(502), "HTTP 502", true),
        (failed(422), "HTTP 422", false),
    ] {
        server.arm("tools/call", mode.clone(), 1);
        let answer = bench.echo("x").await;
        let text = answer["error"].as_str().unwrap();
        assert!(
            text.starts_with("MCP call failed") && text.contains(word),
            "{text}"
        );
        assert_eq!(answer["outcome_unknown"] == json!(true), unknown, "{text}");
        // A read may simply be repeated.
        server.arm("tools/call", mode, 1);
        let answer = bench.call("read", json!({})).await;
        assert_eq!(answer.get("outcome_unknown"), None, "{answer}");
        assert_eq!(bench.echo("x").await, json!({ "result": "x" }));
    }
}

// MCP-41: whoever answers a ping has answered, whatever the words for not knowing it.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_breaks_off_keeps_the_session_of_a_server_without_ping() {
    for (code, message) in [
        (-32601, "Method not found"),
        (-32603, "Handler not found: ping"),
    ] {
        let server = remote(Profile::default());
        let bench = Bench::connected(quick(), server.url("/mcp")).await;
        let message = message.to_owned();
        server.arm("ping", Mode::Error { code, message }, 1);
        server.arm("tools/call", Mode::Cut, 1);
        let answer = bench.call("read", json!({ "text": "r" })).await;
        assert_eq!(answer, json!({ "result": "r" }));
        let stats = server.stats();
        assert_eq!((stats.initialize, stats.of("ping")), (1, 1), "{code}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_breaks_off_over_http_keeps_the_session() {
    let server = remote(Profile::default());
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    server.arm("tools/call", Mode::Cut, 1);
    assert_eq!(
        bench.call("read", json!({ "text": "r" })).await,
        json!({ "result": "r" })
    );
    server.arm("tools/call", Mode::Cut, 1);
    assert_eq!(bench.echo("x").await["outcome_unknown"], json!(true));
    assert_eq!(bench.echo("x").await, json!({ "result": "x" }));
    assert_eq!(server.stats().initialize, 1);
}

// MCP-44
#[tokio::test(flavor = "multi_thread")]
async fn an_unused_program_is_closed_and_the_next_call_starts_it() {
    let mut bench = Bench::new(quick());
    let mut server = bench.program("one", "");
    server.idle_timeout_seconds = Duration::from_secs(3);
    bench.add("one", server).await;
    let pid = bench.ready("one").await.pid.unwrap();
    let process = Process::of(i32::try_from(pid).unwrap()).unwrap();
    // A call that takes longer than the limit is not cut off.
    let answer = bench
        .call("wait", json!({ "millis": 4_000, "text": "w" }))
        .await;
    assert_eq!(answer, json!({ "result": "w" }));
    bench
        .until("one", "recycled", |view| view.state == State::Recycled)
        .await;
    assert_eq!(bench.names().len(), 3);
    hermes_testkit::eventually(PATIENCE, "the program has ended", || {
        (!process.alive()).then_some(())
    })
    .unwrap();
    assert_eq!(bench.fleet.status()[0].status, StatusWord::Recycled);
    assert!(bench.fleet.unavailable().is_empty());
    // Trying what is down again does not start what nobody uses.
    bench.fleet.nudge().await;
    let soon = Duration::from_millis(500);
    let awake = |view: &View| view.state != State::Recycled;
    let view = bench.handle("one").wait_for(soon, awake).await;
    assert_eq!(view.state, State::Recycled);
    assert_eq!(bench.echo("x").await, json!({ "result": "x" }));
    bench.failures(0).await;
    assert_eq!(bench.lines("one", "starts").len(), 2);
}

// MCP-44
#[tokio::test(flavor = "multi_thread")]
async fn an_old_program_is_closed_although_it_is_used() {
    let mut bench = Bench::new(quick());
    let mut server = bench.program("one", "");
    server.max_lifetime_seconds = Duration::from_millis(400);
    bench.add("one", server).await;
    bench.ready("one").await;
    while bench.lines("one", "starts").len() < 3 {
        assert_eq!(bench.echo("x").await, json!({ "result": "x" }));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(bench.lines("one", "overlaps").is_empty());
}

// MCP-45
#[tokio::test(flavor = "multi_thread")]
async fn changed_tools_are_read_while_a_call_runs_and_our_own_tools_stay() {
    let server = remote(Profile::default());
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    // The stream on which the server can tell us is opened after the handshake.
    hermes_testkit::eventually(PATIENCE, "the stream is open", || {
        let stats = server.stats();
        stats
            .requests
            .iter()
            .any(|seen| seen.line == "GET /mcp")
            .then_some(())
    })
    .unwrap();
    let slow = bench.call("wait", json!({ "millis": 3_000, "text": "w" }));
    let change = async {
        while server.stats().calls == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let mut vanished = Vec::new();
        server.set_tools(vec![tool("echo", json!({})), tool("fresh", json!({}))]);
        let deadline = Instant::now() + PATIENCE;
        while !bench.names().contains(&"mcp__one__fresh".to_owned()) {
            assert!(Instant::now() < deadline, "{:?}", bench.names());
            vanished.push(
                !bench
                    .names()
                    .contains(&"mcp__one__list_resources".to_owned()),
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let still_running = server.stats().in_flight > 0;
        (vanished.iter().any(|gone| *gone), still_running)
    };
    let (answer, (vanished, still_running)) = tokio::join!(slow, change);
    assert_eq!(answer, json!({ "result": "w" }));
    assert!(!vanished && still_running);
    assert_eq!(
        bench.names(),
        [
            "echo",
            "fresh",
            "get_prompt",
            "list_prompts",
            "list_resources",
            "read_resource"
        ]
        .map(|name| format!("mcp__one__{name}"))
    );
    assert_eq!(server.stats().initialize, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_server_that_hangs_stops_no_other() {
    let mut bench = Bench::new(quick());
    let hanging = bench.program("slow", "");
    std::fs::write(bench.state("slow").join("hang"), "").unwrap();
    bench.add("slow", hanging).await;
    bench.add("one", bench.program("one", "")).await;
    bench.ready("one").await;
    assert_eq!(bench.echo("x").await, json!({ "result": "x" }));
    assert!(!bench.view("slow").is_ready());
}
