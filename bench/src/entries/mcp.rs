//! MCP servers: what a call costs, how soon an expired session is forgotten, what many servers cost, a storm.

#[path = "../../../crates/mcp/tests/suite/chaos.rs"]
mod chaos;
mod crew;
mod first_request;
mod reference;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use hermes_config::McpServer;
use hermes_testkit::mcp_server::{McpServer as Remote, Profile};
use serde_json::json;

use crate::bench::{Bench, Context};
use crate::figure::{Figure, percentile};
use chaos::Rig;
use crew::Crew;

pub(crate) const BENCH: Bench = Bench {
    name: "mcp",
    about: "a call over pipes beside a bare loop, an expired session beside a handshake, 20 remembered servers and what they add to the first request, a storm of faults",
    run,
};

/// Servers that are remembered.
const REMEMBERED: usize = 20;
/// Open files that pooled connections to one server may take.
const FILES_EACH: usize = 4;

fn run(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let hermes = context
        .hermes
        .canonicalize()
        .with_context(|| format!("{} is not there: pass --hermes", context.hermes.display()))?;
    let program = std::env::current_exe()?.with_file_name("mcp-stdio");
    ensure!(
        program.exists(),
        "{} is not there: cargo build --release -p hermes-mcp --bin mcp-stdio",
        program.display()
    );
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let mut figures = runtime.block_on(calls(context, &hermes, &program))?;
    figures.extend(reference::measure(context, &program)?);
    figures.extend(runtime.block_on(expiry(context, &hermes))?);
    figures.push(runtime.block_on(remembered(context, &hermes))?);
    figures.extend(first_request::measure(context, &hermes)?);
    figures.extend(runtime.block_on(storm(context, hermes, program))?);
    Ok(figures)
}

fn entry(program: &Path, state: &Path) -> McpServer {
    McpServer {
        command: program.display().to_string(),
        env: BTreeMap::from([("SX_STATE".to_owned(), state.display().to_string())]),
        ..McpServer::default()
    }
}

/// What a call of a model costs, from its arguments to the text it is shown, over a bare loop of the same messages through the same program. The two take turns.
async fn calls(context: &Context, hermes: &Path, program: &Path) -> anyhow::Result<Vec<Figure>> {
    let folder = tempfile::tempdir()?;
    let crew = Crew::new(hermes, folder.path(), None);
    crew.apply([("one".to_owned(), entry(program, folder.path()))])
        .await;
    crew.ready("one").await?;
    let (tool, around) = (crew.tool("one")?, Crew::context()?);
    let mut bare = Bare::start(program)?;
    let rounds = context.count(10_000, 500);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..rounds + 20 {
        let started = Instant::now();
        Crew::call(&tool, &around).await?;
        let took = started.elapsed();
        let alone = bare.call(round)?;
        if round >= 20 {
            ours.push(took);
            theirs.push(alone);
        }
    }
    crew.fleet.shutdown().await;
    let mean = |times: &[Duration]| {
        times.iter().sum::<Duration>().as_secs_f64() * 1e3 / times.len().max(1) as f64
    };
    Ok(vec![
        Figure::times("call over pipes", &ours),
        Figure::times("bare loop of the same messages", &theirs),
        Figure::new("what a call adds", mean(&ours) - mean(&theirs), "ms")
            .at_most(0.3)
            .of(rounds),
    ])
}

/// The program, talked to by hand.
struct Bare {
    child: std::process::Child,
    answers: BufReader<std::process::ChildStdout>,
    _folder: tempfile::TempDir,
}

impl Bare {
    fn start(program: &Path) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut child = Command::new(program)
            .env("SX_STATE", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let answers = BufReader::new(child.stdout.take().context("no output")?);
        Ok(Self {
            child,
            answers,
            _folder: folder,
        })
    }

    fn call(&mut self, number: usize) -> anyhow::Result<Duration> {
        let request = json!({
            "jsonrpc": "2.0", "id": number, "method": "tools/call",
            "params": { "name": "read", "arguments": { "text": "x" }, "_meta": { "progressToken": number } },
        });
        let started = Instant::now();
        let input = self.child.stdin.as_mut().context("no input")?;
        input.write_all(format!("{request}\n").as_bytes())?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        ensure!(answer.contains("\"result\""), "{answer}");
        Ok(started.elapsed())
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // It ends with its input; waiting only keeps the process table clean.
        drop(self.child.stdin.take());
        drop(self.child.wait());
    }
}

/// A call whose session has expired, beside a first connection and an ordinary call.
async fn expiry(context: &Context, hermes: &Path) -> anyhow::Result<Vec<Figure>> {
    let folder = tempfile::tempdir()?;
    let remote = Remote::start(Profile::default())?;
    let at = McpServer {
        url: remote.url("/mcp"),
        ..McpServer::default()
    };
    let (mut handshakes, mut plain, mut expired) = (Vec::new(), Vec::new(), Vec::new());
    let crew = Crew::new(hermes, folder.path(), None);
    for _ in 0..context.count(100, 20) {
        let started = Instant::now();
        crew.apply([("one".to_owned(), at.clone())]).await;
        let handle = crew.ready("one").await?;
        handshakes.push(started.elapsed());
        let started = Instant::now();
        Crew::read(&handle).await?;
        plain.push(started.elapsed());
        remote.drop_sessions();
        let started = Instant::now();
        Crew::read(&handle).await?;
        expired.push(started.elapsed());
        crew.apply([]).await;
    }
    crew.fleet.shutdown().await;
    let middle = |times: &[Duration]| {
        let times: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
        percentile(&times, 50.0)
    };
    let over = middle(&expired) - middle(&plain) - middle(&handshakes);
    Ok(vec![
        Figure::times("first connection", &handshakes),
        Figure::times("call with an expired session", &expired),
        Figure::new("what recovery adds to call and handshake", over, "ms")
            .at_most(5.0)
            .of(expired.len()),
    ])
}

/// Until the tools of many servers are offered, none of which answers.
async fn remembered(context: &Context, hermes: &Path) -> anyhow::Result<Figure> {
    let folder = tempfile::tempdir()?;
    let mut times = Vec::new();
    let servers: Vec<(String, McpServer)> = (0..REMEMBERED)
        .map(|number| {
            let at = McpServer {
                // Nobody listens there.
                url: "http://127.0.0.1:9/mcp".to_owned(),
                ..McpServer::default()
            };
            (format!("server{number}"), at)
        })
        .collect();
    let memory = crew::memory(folder.path())?;
    let tools = crew::remember(&memory, &servers).await;
    for _ in 0..context.count(50, 10) {
        let crew = Crew::new(hermes, folder.path(), Some(memory.clone()));
        let mut changes = crew.fleet.changes();
        let started = Instant::now();
        crew.apply(servers.clone()).await;
        while crew.fleet.tools().len() < tools {
            tokio::time::timeout(Duration::from_secs(10), changes.changed())
                .await
                .context("the tools were not offered")??;
        }
        times.push(started.elapsed());
        crew.fleet.shutdown().await;
    }
    Ok(Figure::times(
        "20 remembered servers, until their tools are offered",
        &times,
    )
    .at_most(5.0))
}

/// The storm, at full size.
async fn storm(
    context: &Context,
    hermes: PathBuf,
    program: PathBuf,
) -> anyhow::Result<Vec<Figure>> {
    let rig = Rig {
        warden: (hermes, "__warden".to_owned()),
        program,
        servers: context.count(50, 10),
        faults: context.count(10_000, 200),
        pause: 40,
        // A little more than is promised, because starting and stopping count.
        rate: 220,
        seed: 20_261_116,
    };
    let report = chaos::run(&rig).await?;
    let count = |name: &str, count: usize| Figure::new(name, count as f64, "").at_most(0.0);
    let seconds = |name: &str, took: Duration, limit: Duration| {
        Figure::new(name, took.as_secs_f64(), "s").at_most(limit.as_secs_f64())
    };
    let files = report.descriptors.1 as f64 - report.descriptors.0 as f64;
    let memory = (report.memory.1 as f64 - report.memory.0 as f64) / 1024.0;
    Ok(vec![
        count("storm: servers that did not come back", report.lost.len()),
        seconds(
            "storm: until all were back",
            report.back_after,
            report.back_limit,
        ),
        seconds("storm: slowest call", report.slowest, report.call_limit)
            .of(report.calls)
            .note(format!(
                "{} of {} calls were answered",
                report.answered, report.calls
            )),
        Figure::new("storm: calls each second", report.rate, "").at_least(200.0),
        count("storm: changes made twice", report.doubled.len()),
        count("storm: programs of one server at once", report.overlaps),
        count("storm: programs left behind", report.orphans),
        Figure::new("storm: more open files", files, "").at_most((FILES_EACH * rig.servers) as f64),
        Figure::new("storm: more memory", memory, "MiB").at_most(16.0),
    ])
}
