//! The scripted model server as a program, to try Hermes without a network or a key.

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Parser;
use hermes_testkit::model_server::{ModelServer, Scenario, ServerOptions};
use tokio::signal::unix::{SignalKind, signal};

/// Serves a scripted model on loopback until interrupted, in five protocols on one port.
///
/// Prints the base URL of the OpenAI-compatible endpoint, which ends in /v1. The path of a request
/// decides in which protocol it is answered, whatever comes before these endings:
///
///   /chat/completions                       OpenAI chat completions
///   /responses                              OpenAI Responses
///   /messages                               Anthropic Messages
///   /models/NAME:generateContent            Gemini (and :streamGenerateContent)
///   /model/NAME/converse                    Bedrock Converse (and /converse-stream)
///
/// Without a scenario it repeats the last user message. Requests that a strict vendor would refuse get
/// status 400 and the reasons.
#[derive(Debug, Parser)]
#[command(name = "mock-llm", verbatim_doc_comment)]
struct Arguments {
    /// Scenario file in JSON: steps, scripted routes, model names (see crates/testkit/README.md)
    scenario: Option<PathBuf>,
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Append one JSON line per request to this file, credentials blanked
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Answer requests that a strict vendor would refuse
    #[arg(long)]
    lenient: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut scenario = match &arguments.scenario {
        Some(path) => Scenario::from_file(path)?,
        None => Scenario::echo(),
    };
    if arguments.lenient {
        scenario = scenario.lenient();
    }
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
