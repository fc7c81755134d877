//! Measures what Hermes promises and says where a promise is not kept.
//!
//! `hermes-bench [NAMES…]` runs the entries of `entries.rs` and prints medians beside their budgets;
//! see `bench/README.md`. It leaves out anything that needs a network.

mod bench;
mod corpus;
mod entries;
mod figure;
mod report;

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;

use bench::{Bench, Context, Peer};
use report::{Outcome, Style};

/// Measures what Hermes promises.
#[derive(Debug, Parser)]
#[command(name = "hermes-bench")]
struct Arguments {
    /// Entries to run; all of them when none is named.
    names: Vec<String>,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
    /// Smaller data, fewer runs; budgets that need the full size are still shown.
    #[arg(long)]
    quick: bool,
    /// Only say which entries there are.
    #[arg(long)]
    list: bool,
    /// Make cached data anew.
    #[arg(long)]
    rebuild: bool,
    /// The binary to measure.
    #[arg(long, value_name = "PATH", default_value = "target/release/hermes")]
    hermes: PathBuf,
    /// Where large data is kept between runs.
    #[arg(long, value_name = "DIR", default_value = "/tmp/hermes-bench")]
    data: PathBuf,
    /// Another program to compare start-up with, such as `codex=codex --version`.
    #[arg(long = "peer", value_name = "NAME=CMD")]
    peers: Vec<Peer>,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let mut stdout = std::io::stdout().lock();
    if arguments.list {
        report::list(&mut stdout, entries::ALL)?;
        return Ok(ExitCode::SUCCESS);
    }
    let chosen = choose(&arguments.names)?;
    let context = Context {
        hermes: arguments.hermes,
        quick: arguments.quick,
        rebuild: arguments.rebuild,
        data: arguments.data,
        peers: arguments.peers,
    };
    std::fs::create_dir_all(&context.data)
        .with_context(|| format!("could not make {}", context.data.display()))?;
    let mut outcomes = Vec::new();
    for bench in chosen {
        context.tell(&format!("{} …", bench.name));
        let outcome = Outcome {
            bench,
            result: (bench.run)(&context),
        };
        if !arguments.json {
            let style = Style {
                colours: stdout.is_terminal(),
            };
            report::table(&mut stdout, &outcome, style)?;
            stdout.flush()?;
        }
        outcomes.push(outcome);
    }
    if arguments.json {
        report::json(&mut stdout, &outcomes)?;
    }
    let kept = outcomes.iter().all(Outcome::is_kept);
    Ok(if kept {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn choose(names: &[String]) -> anyhow::Result<Vec<&'static Bench>> {
    if names.is_empty() {
        return Ok(entries::ALL.iter().collect());
    }
    names
        .iter()
        .map(|name| {
            let found = entries::ALL.iter().find(|bench| bench.name == name);
            found.with_context(|| format!("there is no entry `{name}`; see --list"))
        })
        .collect()
}
