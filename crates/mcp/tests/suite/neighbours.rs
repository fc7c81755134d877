//! A good server among bad ones.

use std::time::{Duration, Instant};

use hermes_mcp::{RecoveryPolicy, State};
use hermes_testkit::mcp_server::{Mode, Profile, tool};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::fixture::{Bench, at, error, quick, remote};
use super::limits::{FLOOD, flooding};
use super::memory::memory;

/// Those that never answer the handshake, on every transport.
const SAY_NOTHING: [&str; 3] = ["mute", "silent", "older"];

/// Calls the good server until told to stop: how often, and how long the slowest call took.
async fn calls(bench: &Bench, over: &CancellationToken) -> (usize, Duration) {
    let (mut count, mut slowest) = (0, Duration::ZERO);
    while !over.is_cancelled() {
        let text = format!("call {count}");
        let begun = Instant::now();
        let answer = bench.call_at("good", "echo", json!({ "text": text })).await;
        assert_eq!(answer, json!({ "result": text }));
        slowest = slowest.max(begun.elapsed());
        count += 1;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    (count, slowest)
}

/// Longest call of a good server whose neighbours misbehave.
const UNNOTICED: Duration = Duration::from_secs(1);
/// On a machine that is busy with something else only the quickest round says anything.
const ROUNDS: usize = 3;

// MCP-39, MCP-46, MCP-59, MCP-62, MCP-83, MCP-98
#[tokio::test(flavor = "multi_thread")]
async fn whatever_the_others_do_a_good_server_does_not_notice() {
    let mut slowest = Vec::new();
    for _ in 0..ROUNDS {
        slowest.push(among_bad_ones().await);
        if slowest.last().is_some_and(|time| *time < UNNOTICED) {
            return;
        }
    }
    panic!("{slowest:?}");
}

/// All kinds of bad servers beside a good one: how long its slowest call took.
async fn among_bad_ones() -> Duration {
    let policy = RecoveryPolicy {
        connect_timeout: Duration::from_secs(5),
        first_connect_retries: 0,
        ..quick()
    };
    let home = tempfile::tempdir().unwrap();
    let mut bench = Bench::remembering(policy, memory(home.path()));
    bench.add("good", bench.program("good", "")).await;
    bench.ready("good").await;
    let circles = remote(Profile {
        endless_list: true,
        ..Profile::default()
    });
    let deep = remote(Profile {
        page_size: Some(1),
        bottomless_list: true,
        ..Profile::default()
    });
    let fickle = remote(Profile::default());
    let (flood, _running) = flooding(true).await;
    bench
        .add("babbles", bench.program("babbles", "noise"))
        .await;
    bench.add("circles", at(circles.url("/mcp"))).await;
    bench.add("deep", at(deep.url("/mcp"))).await;
    bench.add("fickle", at(fickle.url("/mcp"))).await;
    bench.add("floods", at(flood)).await;
    bench.add("heavy", bench.program("heavy", "heavy")).await;
    let mute = bench.program("mute", "");
    std::fs::write(bench.state("mute").join("hang"), "").unwrap();
    bench.add("mute", mute).await;
    // Addresses where somebody listens and says nothing.
    let silent = remote(Profile::default());
    let hold = Mode::Hold {
        millis: 600_000,
        then: None,
    };
    silent.arm("initialize", hold, 100);
    bench.add("silent", at(silent.url("/mcp"))).await;
    let mut older = at(silent.url("/sse"));
    older.transport = "sse".to_owned();
    bench.add("older", older).await;

    let over = CancellationToken::new();
    let bad = async {
        for name in ["babbles", "circles", "deep", "fickle", "floods", "heavy"] {
            bench.ready(name).await;
        }
        let drowned = bench
            .call_at("floods", "read", json!({ "bytes": FLOOD }))
            .await;
        assert!(error(&drowned).contains("16777216 bytes"), "{drowned}");
        let babble = bench
            .call_at("babbles", "echo", json!({ "text": "b" }))
            .await;
        assert_eq!(babble, json!({ "result": "b" }));
        bench
            .until("fickle", "what it says is known", |view| {
                view.restated.is_some()
            })
            .await;
        let mut changed = tool("echo", json!({}));
        changed["description"] = json!("Does something else now");
        // It lies about what it takes, too.
        changed["inputSchema"] = json!({ "type": "array", "required": "all" });
        fickle.set_tools(vec![changed]);
        bench
            .until("fickle", "the change is read", |view| {
                let tools = &view.catalog.tools;
                tools.len() == 1
                    && tools[0].description.as_deref() == Some("Does something else now")
            })
            .await;
        bench
            .until("fickle", "the change is noticed", |view| {
                let restated = view.restated.as_ref();
                restated.is_some_and(|restated| !restated.is_empty())
            })
            .await;
        let called = bench
            .call_at("fickle", "echo", json!({ "text": "f" }))
            .await;
        assert_eq!(called, json!({ "result": "f" }));
        for name in SAY_NOTHING {
            bench.parked(name).await;
        }
        over.cancel();
    };
    let ((count, slowest), ()) = tokio::join!(calls(&bench, &over), bad);
    assert!(count > 20, "{count}");
    let good = bench.view("good");
    assert_eq!((good.state, good.generation), (State::Ready, 1));
    assert_eq!(good.failures, 0);
    // What is wrong with the others is said.
    let statuses = bench.fleet.status();
    let status = |name: &str| statuses.iter().find(|status| status.name == name).unwrap();
    for name in SAY_NOTHING {
        let error = status(name).error.clone().unwrap_or_default();
        assert!(error.contains("no answer within 5 s"), "{name}: {error}");
    }
    for (name, words) in [
        ("circles", "leads back to a page it had already"),
        ("deep", "50 pages"),
        ("heavy", "4194304 bytes"),
        (
            "fickle",
            "MCP server fickle describes its tool \"echo\" differently than before",
        ),
    ] {
        let warning = status(name).warning.clone().unwrap_or_default();
        assert!(warning.contains(words), "{name}: {warning}");
    }
    assert_eq!(status("good").warning, None);
    slowest
}
