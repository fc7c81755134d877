//! `hermes mcp serve`

use std::io::{IsTerminal as _, Write as _};
use std::net::SocketAddr;

use hermes_config::Loaded;
use hermes_core::FailureKind;
use hermes_mcp::{ServeError, ServeParts, ServeTransport};
use hermes_secrets::{Secret, SecretName};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::runtime;
use crate::args::mcp::ServeArgs;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::logging;
use crate::output::Output;

/// A token that can be guessed keeps nobody out.
const SHORTEST_TOKEN: usize = 16;

pub(super) fn run(args: &ServeArgs, context: &Context, output: &mut Output) -> Outcome {
    if args.verbose {
        logging::aside(context);
    }
    let loaded = context.settings()?;
    let store = context.conversations()?;
    let runtime = runtime()?;
    let outcome = runtime.block_on(async {
        let transport = match args.http {
            None => {
                if std::io::stdin().is_terminal() {
                    let mut aside = std::io::stderr().lock();
                    writeln!(
                        aside,
                        "This speaks MCP on standard input and output: it is for programs to start. Ctrl-C ends it."
                    )?;
                }
                ServeTransport::Stdio
            }
            Some(address) => {
                let token = token(&args.token_env, &loaded)?;
                let listener = listen(address).await?;
                output.line(format!("http://{}/mcp", listener.local_addr()?))?;
                output.flush()?;
                ServeTransport::Http { listener, token }
            }
        };
        let mut terminate = signal(SignalKind::terminate())?;
        let parts = ServeParts {
            store,
            channels: context.home()?.path().join("channel_directory.json"),
        };
        tokio::select! {
            served = hermes_mcp::serve(parts, transport, CancellationToken::new()) => {
                served.map_err(complaint)
            }
            _ = tokio::signal::ctrl_c() => Err(Complaint::Code(130)),
            _ = terminate.recv() => Err(Complaint::Code(143)),
        }
    });
    // A read of the standard input cannot be called off; nobody waits for it.
    runtime.shutdown_background();
    outcome
}

/// What clients have to show.
fn token(variable: &str, loaded: &Loaded) -> Outcome<Secret> {
    let Some(value) = loaded.environment.filled_named(variable) else {
        return Err(Complaint::bad_request(format!("{variable} is not set"))
            .hint(format!(
                "clients show this token to get in: put {variable}=… into the .env file of the home, for example with the output of openssl rand -hex 32"
            )));
    };
    if value.len() < SHORTEST_TOKEN {
        let short = format!("{variable} has fewer than {SHORTEST_TOKEN} characters");
        return Err(Complaint::bad_request(short).hint("openssl rand -hex 32 makes a good one"));
    }
    let named = SecretName::new(variable)
        .map_err(|error| Complaint::caused(FailureKind::BadInput, error))?;
    Secret::builder(named, value.to_owned())
        .build()
        .map_err(|error| Complaint::caused(FailureKind::BadInput, error))
}

async fn listen(address: SocketAddr) -> Outcome<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        Complaint::new(
            FailureKind::Unavailable,
            format!("cannot listen on {address}: {error}"),
        )
        .hint("choose another port with --http 127.0.0.1:PORT")
    })
}

fn complaint(error: ServeError) -> Complaint {
    match &error {
        ServeError::NotLoopback(_) => Complaint::caused(FailureKind::BadRequest, error)
            .hint("use 127.0.0.1 or [::1], and a tunnel to reach it from elsewhere"),
        ServeError::Handshake(_) => Complaint::caused(FailureKind::BadInput, error).hint(
            "this command speaks MCP on its standard input; programs start it, people do not",
        ),
        ServeError::Store(_) | ServeError::Network(_) | ServeError::Broken(_) => {
            Complaint::caused(FailureKind::Unavailable, error)
        }
    }
}
