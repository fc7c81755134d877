//! The same through the reference's own client: calls, a call whose session has expired, many servers.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use hermes_testkit::mcp_server::{McpServer as Remote, Profile};

use super::REMEMBERED;
use crate::bench::Context;
use crate::figure::Figure;

const SCRIPT: &str = include_str!("reference.py");

/// What it costs there; nothing without `--peer reference=HERMES`, whose Python needs version 1 of the `mcp` package.
pub(super) fn measure(context: &Context, program: &Path) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let program = program.display().to_string();
    for peer in context.peers.iter().filter(|peer| peer.name == "reference") {
        let Some(hermes) = peer.command.first() else {
            continue;
        };
        let python = Path::new(hermes).with_file_name("python");
        let folder = tempfile::tempdir()?;
        let state = folder.path().display().to_string();
        let run = |arguments: &[&str], before_each: &dyn Fn()| {
            ask(&python, folder.path(), arguments, before_each)
        };
        let rounds = context.count(1_000, 100).to_string();
        let calls = run(&["calls", &program, &state, &rounds], &|| ())?;
        figures.push(Figure::times("call over pipes by the reference", &calls));

        let remote = Remote::start(Profile::default())?;
        let rounds = context.count(20, 5).to_string();
        let expire = || remote.drop_sessions();
        let expired = run(&["expiry", &remote.url("/mcp"), &rounds], &expire)?;
        let name = "call with an expired session by the reference";
        figures.push(Figure::times(name, &expired));

        // It remembers no tools, so its servers have to answer before any is offered.
        let servers = REMEMBERED.to_string();
        let mut offered = Vec::new();
        for _ in 0..context.count(5, 2) {
            offered.extend(run(&["many", &program, &state, &servers], &|| ())?);
        }
        let name = "20 servers, until their tools are offered by the reference";
        figures.push(Figure::times(name, &offered));
    }
    Ok(figures)
}

/// Runs the script; whenever it is ready for the next round, something happens first.
fn ask(
    python: &Path,
    home: &Path,
    arguments: &[&str],
    before_each: &dyn Fn(),
) -> anyhow::Result<Vec<Duration>> {
    // What it says goes into a file, where it cannot hold the script up.
    let log = home.join("stderr.log");
    let mut child = Command::new(python)
        .args(["-c", SCRIPT])
        .args(arguments)
        .env("HERMES_HOME", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(std::fs::File::create(&log)?)
        .spawn()
        .context("the reference's Python")?;
    let mut input = child.stdin.take().context("no input")?;
    let mut output = BufReader::new(child.stdout.take().context("no output")?);
    let mut times = Vec::new();
    let mut line = String::new();
    while output.read_line(&mut line)? > 0 {
        match line.trim() {
            "ready" => {
                before_each();
                writeln!(input)?;
            }
            seconds => times.push(Duration::from_secs_f64(seconds.parse()?)),
        }
        line.clear();
    }
    drop(input);
    let status = child.wait()?;
    let problem = std::fs::read_to_string(&log)?;
    ensure!(status.success(), "the reference: {problem}");
    Ok(times)
}
