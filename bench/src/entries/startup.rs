//! From process start to exit.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use hermes_testkit::{Output, TempHome};

use super::conversation::megabytes;
use crate::bench::{Bench, Context, Peer};
use crate::figure::{Figure, percentile};

pub(crate) const BENCH: Bench = Bench {
    name: "startup",
    about: "`hermes --version` and `config get`: wall time, memory, ratio to /bin/true and to peers",
    run,
};

/// Programs that are compared when they are installed.
const PEERS: [&str; 5] = ["codex", "goose", "opencode", "zeroclaw", "openclaw"];
/// Where they would be; commands run with a fixed PATH.
const PLACES: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

fn run(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let hermes = context.hermes.canonicalize().with_context(|| {
        format!(
            "{} is not there: run `cargo build --release --bin hermes` or pass --hermes",
            context.hermes.display()
        )
    })?;
    let hermes = hermes.to_string_lossy().into_owned();
    let home = TempHome::new()?;
    home.write_config(&super::config_load::config(300))?;
    let runs = context.count(200, 30);
    let version = repeat(&home, &[&hermes, "--version"], runs)?;
    let setting = repeat(&home, &[&hermes, "config", "get", "display.skin"], runs)?;
    let baseline = repeat(&home, &["/bin/true"], runs)?;
    let median = |outputs: &[Output]| percentile(&walls(outputs), 50.0);
    let memory: Vec<f64> = version.iter().map(megabytes).collect();
    let mut figures = vec![
        Figure::times("hermes --version", &times(&version)).at_most(4.0),
        Figure::new(
            "hermes --version, peak memory",
            percentile(&memory, 50.0),
            "MB",
        )
        .at_most(8.0)
        .of(runs),
        Figure::times("hermes config get display.skin", &times(&setting)).at_most(10.0),
        Figure::times("/bin/true", &times(&baseline)),
        Figure::new(
            "--version against /bin/true",
            median(&version) / median(&baseline),
            "×",
        )
        .of(runs),
    ];
    for peer in installed_peers().chain(context.peers.iter().cloned()) {
        let mut command: Vec<&str> = peer.command.iter().map(String::as_str).collect();
        if command.len() == 1 {
            // Other entries take a program alone; alone it would ask for a question.
            command.push("--version");
        }
        let outputs = repeat(&home, &command, context.count(20, 5))?;
        figures.push(Figure::times(peer.name.clone(), &times(&outputs)));
        let ratio = median(&outputs) / median(&version);
        figures.push(
            Figure::new(format!("{} against hermes", peer.name), ratio, "×").of(outputs.len()),
        );
    }
    Ok(figures)
}

fn installed_peers() -> impl Iterator<Item = Peer> {
    PEERS.into_iter().filter_map(|name| {
        let path = PLACES
            .iter()
            .map(|place| Path::new(place).join(name))
            .find(|path| path.is_file())?;
        Some(Peer {
            name: name.to_owned(),
            command: vec![path.to_string_lossy().into_owned(), "--version".to_owned()],
        })
    })
}

/// Runs a command many times, after a few runs that only warm the caches.
fn repeat(home: &TempHome, command: &[&str], runs: usize) -> anyhow::Result<Vec<Output>> {
    let (program, arguments) = command.split_first().context("no command")?;
    let command = home.command(program).args(arguments);
    let mut outputs = Vec::with_capacity(runs);
    for round in 0..runs + 3 {
        let output = command.run()?;
        ensure!(
            output.code == Some(0),
            "{program} {arguments:?} failed\n{}",
            output.report()
        );
        if round >= 3 {
            outputs.push(output);
        }
    }
    Ok(outputs)
}

fn times(outputs: &[Output]) -> Vec<Duration> {
    outputs.iter().map(|output| output.wall).collect()
}

fn walls(outputs: &[Output]) -> Vec<f64> {
    outputs
        .iter()
        .map(|output| output.wall.as_secs_f64())
        .collect()
}
