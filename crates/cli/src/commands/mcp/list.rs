//! `hermes mcp list`

use hermes_mcp::{Server, TokenFiles, ToolFilter};
use serde_json::{Value as Json, json};

use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::Output;
use crate::table::{Table, cut};

/// Widest address or command that is shown.
const WIDEST: usize = 60;

pub(super) fn run(as_json: bool, context: &Context, output: &mut Output) -> Outcome {
    let loaded = context.settings()?;
    let servers: Vec<Server> = loaded
        .config
        .mcp_servers
        .iter()
        .map(|(name, entry)| Server::new(name, entry.clone()))
        .collect();
    let home = context.home()?.path();
    if as_json {
        let rows: Vec<Json> = servers.iter().map(|server| row(server, home)).collect();
        return Ok(output.json(&json!({ "servers": rows }))?);
    }
    if servers.is_empty() {
        return Ok(output.line(
            "There are no MCP servers. hermes mcp add NAME adds one, hermes mcp catalog shows some.",
        )?);
    }
    let mut table = Table::new(["SERVER", "TRANSPORT", "ON", "TOOLS", "AUTH", "WHERE"]);
    for server in &servers {
        table.row([
            server.name().to_owned(),
            server.kind().word().to_owned(),
            if server.settings().enabled {
                "yes"
            } else {
                "no"
            }
            .to_owned(),
            tools(server),
            auth(server, home),
            cut(&place(server), WIDEST),
        ]);
    }
    Ok(table.print(output)?)
}

fn row(server: &Server, home: &std::path::Path) -> Json {
    let settings = server.settings();
    json!({
        "name": server.name(),
        "transport": server.kind().word(),
        "enabled": settings.enabled,
        "trust": settings.trust.word(),
        "tools": tools(server),
        "auth": auth(server, home),
        "where": place(server),
        "toolset": hermes_mcp::toolset(server.name()),
    })
}

/// Which tools are offered, in a word.
fn tools(server: &Server) -> String {
    match server.filter() {
        ToolFilter::All => "all".to_owned(),
        ToolFilter::Only(names) => format!("{} chosen", names.len()),
        ToolFilter::AllBut(names) => format!("all but {}", names.len()),
    }
}

fn auth(server: &Server, home: &std::path::Path) -> String {
    let signed_in = || TokenFiles::new(home, server.name()).has_tokens();
    let word = match (server.wants_oauth(), server.settings().headers.is_empty()) {
        (true, _) if signed_in() => "signed in",
        (true, _) => "needs login",
        (false, false) => "header",
        (false, true) => "none",
    };
    word.to_owned()
}

/// The command or address, without what may be a secret.
pub(super) fn place(server: &Server) -> String {
    let settings = server.settings();
    if !settings.url.is_empty() {
        let end = settings.url.find(['?', '#']);
        return end
            .map_or(&*settings.url, |end| &settings.url[..end])
            .to_owned();
    }
    let words = std::iter::once(&settings.command).chain(&settings.args);
    words.cloned().collect::<Vec<_>>().join(" ")
}
