//! The same calls through the reference's own client.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use crate::bench::Context;
use crate::figure::Figure;

const SCRIPT: &str = include_str!("reference.py");

/// What a call costs there; nothing without `--peer reference=HERMES`, whose Python needs the `mcp` package.
pub(super) fn calls(context: &Context, program: &Path) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for peer in context.peers.iter().filter(|peer| peer.name == "reference") {
        let Some(hermes) = peer.command.first() else {
            continue;
        };
        let folder = tempfile::tempdir()?;
        let rounds = context.count(1_000, 100);
        let output = Command::new(Path::new(hermes).with_file_name("python"))
            .args(["-c", SCRIPT])
            .arg(program)
            .arg(folder.path())
            .arg(rounds.to_string())
            .env("HERMES_HOME", folder.path())
            .output()
            .context("the reference's Python")?;
        let said = String::from_utf8_lossy(&output.stdout);
        let problem = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "the reference: {problem}");
        let times = said
            .lines()
            .map(|line| Ok(Duration::from_secs_f64(line.parse()?)));
        let times = times.collect::<anyhow::Result<Vec<Duration>>>()?;
        figures.push(Figure::times("call over pipes by the reference", &times));
    }
    Ok(figures)
}
