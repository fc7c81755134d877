//! `hermes mcp`: servers whose tools the agent uses.

mod add;
mod bootstrap;
mod call;
mod catalog;
mod configure;
mod install;
mod list;
mod login;
mod picker;
mod probe;
mod remove;
mod serve;
pub(super) mod status;

pub(super) use configure::check_tool;

use hermes_config::{Loaded, McpServer};
use hermes_core::FailureKind;
use hermes_mcp::Server;

use crate::args::mcp::{McpArgs, McpCommand};
use crate::commands::chat::runtime;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;

pub(crate) fn run(args: McpArgs, context: &Context, output: &mut Output) -> Outcome {
    match args.command.unwrap_or(McpCommand::Picker) {
        McpCommand::Picker => picker::run(context, output),
        McpCommand::List { json } => list::run(json, context, output),
        McpCommand::Add(args) => add::run(&args, context, output),
        McpCommand::Remove { name } => remove::run(&name, context, output),
        McpCommand::Test { name, json } => probe::run(&name, json, context, output),
        McpCommand::Login { name } => login::run(&name, context, output),
        McpCommand::Reauth { name, .. } => match name {
            Some(name) => login::run(&name, context, output),
            None => login::all(context, output),
        },
        McpCommand::Configure(args) => configure::run(&args, context, output),
        McpCommand::Catalog { json } => catalog::run(json, context, output),
        McpCommand::Install(args) => install::run(&args, context, output),
        McpCommand::Status { json, wait } => status::run(json, wait, context, output),
        McpCommand::Call(args) => call::run(args, context, output),
        McpCommand::Serve(args) => serve::run(&args, context, output),
    }
}

/// A server that must be there, even if its entry cannot be used.
fn server(name: &str, loaded: &Loaded) -> Outcome<Server> {
    if !is_flawed(name, loaded) {
        entry(name, loaded)?;
    }
    Ok(Server::in_settings(name, loaded))
}

/// Whether there is an entry that cannot be used.
fn is_flawed(name: &str, loaded: &Loaded) -> bool {
    let mut problems = loaded.problems.iter();
    problems.any(|problem| {
        let lasting = problem.fault.is_error() && !McpServer::forgives(&problem.key);
        lasting && problem.server() == Some(name)
    })
}

/// The entry of a server that must be there and can be used.
pub(super) fn entry<'l>(name: &str, loaded: &'l Loaded) -> Outcome<&'l McpServer> {
    if is_flawed(name, loaded) {
        let complaint = Complaint::new(
            FailureKind::BadInput,
            format!("the entry of {name} cannot be used"),
        );
        return Err(complaint.hint(format!(
            "hermes mcp test {name} says why, hermes mcp remove {name} removes it"
        )));
    }
    let servers = &loaded.config.mcp_servers;
    if let Some(entry) = servers.get(name) {
        return Ok(entry);
    }
    let hint = match hermes_config::nearest(name, servers.keys().map(String::as_str)) {
        Some(near) => format!("did you mean {near}?"),
        None => "hermes mcp list shows them, hermes mcp add adds one".to_owned(),
    };
    let complaint = Complaint::new(
        FailureKind::NotFound,
        format!("there is no MCP server {name}"),
    );
    Err(complaint.hint(hint))
}

/// The key of a part of a server's entry.
pub(super) fn key(name: &str, part: &str) -> String {
    format!("mcp_servers.{name}.{part}")
}

/// A name that can stand in a key and in the names of tools.
fn check_name(name: &str) -> Outcome {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.len() <= 64 && name.chars().all(fits) {
        return Ok(());
    }
    Err(
        Complaint::bad_request(format!("{name} cannot be the name of a server"))
            .hint("use letters, digits, - and _, at most 64 of them"),
    )
}

/// The variable of `.env` that holds the token of a server.
fn token_variable(name: &str) -> String {
    let name = name.to_uppercase().replace('-', "_");
    format!("MCP_{name}_API_KEY")
}

/// Refuses an entry that must never be started.
fn check_harmless(name: &str, entry: &McpServer, loaded: &Loaded) -> Outcome {
    let found = entry.suspicions(&loaded.config.mcp.blocked_strings);
    if found.is_empty() {
        return Ok(());
    }
    let reasons: Vec<String> = found.iter().map(ToString::to_string).collect();
    let complaint = Complaint::new(
        FailureKind::Refused,
        format!(
            "{name} is not saved, its entry is suspicious: {}",
            reasons.join("; ")
        ),
    );
    Err(complaint.hint("start the server's own program directly, without a shell around it"))
}
