//! The scripted model server as a program, to try Hermes without a network or a key.

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Parser;
use hermes_testkit::model_server::{ModelServer, Scenario, ServerOptions};
use tokio::signal::unix::{SignalKind, signal};

/// Serves a scripted OpenAI-compatible model on loopback until interrupted.
///
/// Prints the base URL. Without a scenario it repeats the last user message.
#[derive(Debug, Parser)]
#[command(name = "mock-llm")]
struct Arguments {
    /// Scenario file in JSON
    scenario: Option<PathBuf>,
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Append one JSON line per request to this file, credentials blanked
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let scenario = match &arguments.scenario {
        Some(path) => Scenario::from_file(path)?,
        None => Scenario::echo(),
    };
    let options = ServerOptions {
        port: arguments.port,
        log: arguments.log,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        // Listening for signals comes first: whoever reads the URL may send one at once.
        let mut terminate =
            signal(SignalKind::terminate()).context("could not wait for SIGTERM")?;
        let mut interrupt = signal(SignalKind::interrupt()).context("could not wait for SIGINT")?;
        let server = ModelServer::start_with(scenario, options)?;
        let mut stdout = io::stdout();
        writeln!(stdout, "{}", server.base_url())?;
        stdout.flush()?;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        server.stop();
        Ok(())
    })
}
