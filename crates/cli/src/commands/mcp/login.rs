//! `hermes mcp login` and `reauth`

use std::io::Write;
use std::sync::Arc;

use hermes_config::Loaded;
use hermes_core::FailureKind;
use hermes_mcp::{Kind, LoggedIn, OAuthError, Server};
use tokio_util::sync::CancellationToken;

use super::{entry, runtime};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::network;
use crate::output::Output;
use crate::servers::{AtTerminal, logins};

pub(super) fn run(name: &str, context: &Context, output: &mut Output) -> Outcome {
    let loaded = context.settings()?;
    let server = Server::new(name, entry(name, &loaded)?.clone());
    if !server.wants_oauth() {
        let hint = match server.kind() {
            Kind::Stdio => "a program gets its keys as variables: env in its entry".to_owned(),
            Kind::Http | Kind::Sse => format!(
                "hermes config set mcp_servers.{name}.auth oauth, if the server wants a browser"
            ),
        };
        let complaint =
            Complaint::bad_request(format!("{name} is not signed in to with a browser"));
        return Err(complaint.hint(hint));
    }
    sign_in(&server, context, &loaded, output)
}

/// All servers with a login, one after the other; one that fails does not stop the others.
pub(super) fn all(context: &Context, output: &mut Output) -> Outcome {
    let loaded = context.settings()?;
    let servers = loaded.config.mcp_servers.iter();
    let servers: Vec<Server> = servers
        .map(|(name, entry)| Server::new(name, entry.clone()))
        .filter(|server| server.wants_oauth() && server.settings().enabled)
        .collect();
    if servers.is_empty() {
        return Ok(output.line("No MCP server is signed in to with a browser.")?);
    }
    let mut failed = Vec::new();
    for server in &servers {
        let usable = entry(server.name(), &loaded);
        match usable.and_then(|_| sign_in(server, context, &loaded, output)) {
            Ok(()) => output.flush()?,
            Err(Complaint::Code(code)) => return Err(Complaint::Code(code)),
            Err(complaint) => {
                writeln!(
                    std::io::stderr(),
                    "{}: {}",
                    server.name(),
                    complaint.cause()
                )?;
                failed.push(server.name());
            }
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(Complaint::new(
            FailureKind::Unavailable,
            format!("not signed in to {}", failed.join(", ")),
        )
        .hint("hermes mcp login NAME tries one again")),
    }
}

/// Signs in; what was there stays until the new login is complete.
pub(super) fn sign_in(
    server: &Server,
    context: &Context,
    loaded: &Loaded,
    output: &mut Output,
) -> Outcome {
    let name = server.name();
    let network = network::settings(loaded, context)?;
    let person = Arc::new(AtTerminal::default());
    let logins = logins(context, loaded, network, Some(person))?;
    let signed = runtime()?.block_on(async {
        let cancel = CancellationToken::new();
        let login = async { logins.of(server).await?.login(&cancel).await };
        tokio::select! {
            signed = login => Some(signed),
            _ = tokio::signal::ctrl_c() => None,
        }
    });
    let Some(signed) = signed else {
        writeln!(std::io::stderr(), "stopped; nothing was changed")?;
        return Err(Complaint::Code(130));
    };
    let signed = signed.map_err(|error| complaint(name, error))?;
    Ok(output.line(format!("{name}: signed in{}", said(&signed)))?)
}

fn complaint(name: &str, error: OAuthError) -> Complaint {
    Complaint::caused(FailureKind::Unavailable, error).hint(format!(
        "hermes mcp login {name} tries again; what was there is kept"
    ))
}

fn said(signed: &LoggedIn) -> String {
    match (signed.renewable, signed.expires_in) {
        (true, _) => ", renewed by itself from now on".to_owned(),
        (false, Some(seconds)) => format!(" for {} minutes", seconds / 60),
        (false, None) => String::new(),
    }
}
