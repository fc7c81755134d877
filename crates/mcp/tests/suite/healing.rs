//! The promise itself: whatever happened to them, all servers are there again once they are healthy.

use std::time::Duration;

use hermes_core::{Random as _, SeededRandom};
use hermes_mcp::RecoveryPolicy;
use hermes_testkit::mcp_server::{Mode, Profile};
use serde_json::json;

use super::breaker::end;
use super::chaos::{self, Rig};
use super::fixture::{Bench, at, quick, remote};

// MCP-31
#[tokio::test(flavor = "multi_thread")]
async fn every_server_comes_back_after_any_faults() {
    for seed in [20_260_704, 1, 77] {
        comes_back(seed).await;
    }
}

/// Torments three servers, and sees them back within the time in which a parked one is tried once.
async fn comes_back(seed: u64) {
    let policy = RecoveryPolicy {
        call_timeout: Duration::from_millis(300),
        connect_timeout: Duration::from_millis(1_500),
        first_connect_retries: 1,
        reconnect_retries: 1,
        parked_probe: Duration::from_millis(300),
        breaker_cooldown: Duration::from_millis(200),
        fresh_session_wait: Duration::from_millis(500),
        absent_session_wait: Duration::from_millis(100),
        keepalive_interval: Duration::from_millis(200),
        keepalive_timeout: Duration::from_millis(300),
        call_reconnect_window: Duration::from_secs(1),
        ..quick()
    };
    // The machine may be busy with other tests.
    let limit = policy.parked_probe + policy.connect_timeout + Duration::from_secs(5);
    let server = remote(Profile::default());
    let mut bench = Bench::new(policy);
    bench.add("http", at(server.url("/mcp"))).await;
    let mut old = at(server.url("/sse"));
    old.transport = "sse".to_owned();
    bench.add("sse", old).await;
    bench.add("stdio", bench.program("stdio", "")).await;
    let names = ["http", "sse", "stdio"];
    for name in names {
        bench.ready(name).await;
    }
    let state = bench.state("stdio");
    let random = SeededRandom::new(seed);
    for _ in 0..25 {
        match random.below(8) {
            0 => {
                if let Some(pid) = bench.view("stdio").pid
                    && nix::sys::signal::kill(
                        nix::unistd::Pid::from_raw(i32::try_from(pid).unwrap()),
                        None,
                    )
                    .is_ok()
                {
                    end(pid);
                }
            }
            1 => std::fs::write(state.join("broken"), "").unwrap(),
            2 => std::fs::write(state.join("die"), "").unwrap(),
            3 => server.drop_sessions(),
            4 => server.set_down(true),
            5 => server.set_down(false),
            6 => server.arm(
                "*",
                Mode::Status {
                    status: 401,
                    body: String::new(),
                },
                3,
            ),
            _ => server.arm(
                "*",
                Mode::Hold {
                    millis: 2_000,
                    then: None,
                },
                2,
            ),
        }
        let name = names[usize::try_from(random.below(3)).unwrap()];
        if bench.names().contains(&format!("mcp__{name}__read")) {
            bench.call_at(name, "read", json!({})).await;
        }
        tokio::time::sleep(Duration::from_millis(random.below(60))).await;
    }
    // Healthy again: nobody asks, nobody restarts anything.
    for file in ["broken", "die"] {
        let _ = std::fs::remove_file(state.join(file));
    }
    server.disarm();
    server.set_down(false);
    let healthy = std::time::Instant::now();
    for name in names {
        let read = format!("mcp__{name}__read");
        loop {
            assert!(
                healthy.elapsed() < limit,
                "seed {seed}, {name}: {:?}",
                bench.view(name)
            );
            if bench.names().contains(&read) {
                let answer = bench.call_at(name, "read", json!({ "text": "x" })).await;
                if answer == json!({ "result": "x" }) {
                    break;
                }
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    assert!(bench.lines("stdio", "overlaps").is_empty(), "seed {seed}");
}

// MCP-31, MCP-35, MCP-49
#[tokio::test(flavor = "multi_thread")]
async fn a_storm_of_faults_breaks_no_promise() {
    let rig = Rig {
        warden: (env!("CARGO_BIN_EXE_mcp-agent").into(), "warden".to_owned()),
        program: env!("CARGO_BIN_EXE_mcp-stdio").into(),
        servers: 10,
        faults: 200,
        pause: 60,
        rate: 100,
        seed: 20_261_116,
    };
    let report = chaos::run(&rig).await.unwrap();
    assert!(report.lost.is_empty(), "{report:?}");
    assert!(report.doubled.is_empty(), "{report:?}");
    assert_eq!((report.overlaps, report.orphans), (0, 0), "{report:?}");
    assert!(report.answered > 0, "{report:?}");
    assert!(report.rate > 50.0, "{report:?}");
    // The machine may be busy with other tests.
    let slack = Duration::from_secs(5);
    assert!(report.slowest < report.call_limit + slack, "{report:?}");
    assert!(report.back_after < report.back_limit + slack, "{report:?}");
    let (before, after) = report.descriptors;
    assert!(after < before + 4 * rig.servers + 20, "{report:?}");
    let (before, after) = report.memory;
    assert!(after < before + 32 * 1024, "{report:?}");
}
