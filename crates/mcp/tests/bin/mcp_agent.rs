//! An agent that keeps one server until its input ends, for tests that kill it: `mcp-agent agent STATE PROGRAM FAULTS`.
//! With `warden` as first argument it is the process that starts the servers of tests. `serve HOME` makes it a server
//! itself, over standard input.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_config::McpServer;
use hermes_core::{SystemClock, SystemRandom};
use hermes_exec::{LocalBackend, LocalOptions, WardenProgram, warden_main};
use hermes_http::ClientSettings;
use hermes_mcp::{
    Authority, Borders, Fleet, Gatekeeper, RecoveryPolicy, ServeParts, ServeTransport, Server,
    Shelf, ShelfFolders, Surroundings,
};
use hermes_secrets::RedactorHandle;
use hermes_store::{Options, Store};
use tokio::io::AsyncReadExt as _;
use tokio_util::sync::CancellationToken;

const WARDEN: &str = "warden";
const FOREVER: Duration = Duration::from_secs(600);

struct Open;

impl Gatekeeper for Open {
    fn authority(&self, _: &Server) -> Option<Arc<dyn Authority>> {
        None
    }

    fn clear<'a>(&'a self, _: &'a Server) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == WARDEN) {
        return warden_main(&[WARDEN.to_owned()], arguments.into_iter().skip(1));
    }
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["serve", home] => serve(home),
        _ => run(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [_, state, program, faults] = arguments else {
        return Err("agent STATE PROGRAM FAULTS".into());
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let home = PathBuf::from(state);
        let fleet = Fleet::new(Surroundings {
            policy: RecoveryPolicy::default(),
            backend: Arc::new(LocalBackend::new(LocalOptions {
                warden: WardenProgram {
                    program: std::env::current_exe()?,
                    arguments: vec![WARDEN.to_owned()],
                    grace: Duration::from_millis(500),
                },
                scratch: home.join("scratch"),
                confiner: None,
            })),
            network: ClientSettings::default(),
            redactor: RedactorHandle::default(),
            home: home.clone(),
            user_home: None,
            directory: home.clone(),
            environment: [("PATH", "/usr/bin:/bin")].into_iter().collect(),
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            borders: Borders::default(),
            gatekeeper: Arc::new(Open),
            shelf: Arc::new(Shelf::new(ShelfFolders::of_home(&home), None)),
            memory: None,
            decisions: None,
            patience: Duration::from_secs(30),
            sampler: None,
            reserved: Vec::new(),
            blocked: Vec::new(),
        });
        let server = McpServer {
            command: program.clone(),
            env: BTreeMap::from([
                ("SX_STATE".to_owned(), state.clone()),
                ("SX_FAULTS".to_owned(), faults.clone()),
            ]),
            ..McpServer::default()
        };
        fleet.apply([Server::new("one", server)]).await;
        fleet.discovered(FOREVER).await;
        writeln!(io::stdout(), "ready")?;
        io::stdout().flush()?;
        tokio::io::stdin().read_to_end(&mut Vec::new()).await?;
        fleet.shutdown().await;
        Ok(())
    })
}

fn serve(home: &str) -> Result<(), Box<dyn Error>> {
    let home = PathBuf::from(home);
    let store = Store::open(Options {
        path: home.join("hermes.db"),
        blobs: home.join("blobs"),
        clock: Arc::new(SystemClock),
        redactor: RedactorHandle::default(),
        vfs: None,
    })?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let served = hermes_mcp::serve(
        ServeParts {
            store,
            channels: home.join("channel_directory.json"),
        },
        ServeTransport::Stdio,
        CancellationToken::new(),
    );
    let outcome = runtime.block_on(served);
    runtime.shutdown_background();
    Ok(outcome?)
}
