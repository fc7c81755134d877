//! From the start of the program to its first request to the model, with and without servers.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use hermes_testkit::TempHome;
use hermes_testkit::mcp_server::{McpServer as Remote, Profile};
use hermes_testkit::model_server::{ModelServer, Scenario, Step, text};

use crate::bench::Context;
use crate::entries::conversation::{ask, home_for};
use crate::figure::{Figure, percentile};

/// Servers that are configured.
const SERVERS: usize = 20;
/// Runs whose time does not count, because the first ones warm the caches.
const WARM: usize = 3;

/// What the servers add. They are known from an earlier run and none of them answers any more; the runs with
/// and without take turns.
pub(super) fn measure(context: &Context, hermes: &Path) -> anyhow::Result<Vec<Figure>> {
    let hermes = hermes.to_string_lossy().into_owned();
    let model = ModelServer::start(
        Scenario::new()
            .reply(Step::new(text("Forty-two.")).repeat())
            .lenient(),
    )?;
    let plain = home_for(&model)?;
    let crowded = home_for(&model)?;
    remembered(&crowded, &hermes)?;
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for round in 0..context.count(60, 10) + WARM {
        let alone = first_request(&plain, &hermes, &model)?;
        let among = first_request(&crowded, &hermes, &model)?;
        if round >= WARM {
            without.push(alone);
            with.push(among);
        }
    }
    let offered = |home: &TempHome| -> anyhow::Result<bool> {
        first_request(home, &hermes, &model)?;
        let requests = model.requests();
        let last = requests.last().context("no request")?;
        Ok(last.expect_json().to_string().contains("server0"))
    };
    ensure!(
        offered(&crowded)? && !offered(&plain)?,
        "the model was not told of the servers"
    );
    let middle = |times: &[Duration]| {
        let times: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
        percentile(&times, 50.0)
    };
    let added = middle(&with) - middle(&without);
    Ok(vec![
        Figure::times("hermes -z to its first request, no servers", &without),
        Figure::times("hermes -z to its first request, 20 servers", &with),
        Figure::new("what 20 servers add to the first request", added, "ms")
            .at_most(5.0)
            .of(with.len()),
    ])
}

/// Writes the servers into the settings, and lets the program see their tools once.
fn remembered(home: &TempHome, hermes: &str) -> anyhow::Result<()> {
    let server = Remote::start(Profile::default())?;
    let url = server.url("/mcp");
    let mut settings = home.read("config.yaml")?;
    settings.push_str("mcp_servers:\n");
    for number in 0..SERVERS {
        settings.push_str(&format!("  server{number}:\n    url: '{url}'\n"));
    }
    home.write_config(&settings)?;
    let status = ask(home, hermes, &["mcp", "status"])?;
    let connected = status.stdout.matches("connected").count();
    ensure!(connected >= SERVERS, "{}", status.report());
    Ok(())
}

fn first_request(home: &TempHome, hermes: &str, model: &ModelServer) -> anyhow::Result<Duration> {
    let before = model.requests().len();
    let started = Instant::now();
    ask(home, hermes, &["-z", "What is the answer?"])?;
    let requests = model.requests();
    let first = requests.get(before).context("no request")?;
    Ok(first.arrived_at.saturating_duration_since(started))
}
