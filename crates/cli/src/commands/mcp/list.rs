//! `hermes mcp list`

use hermes_config::{Loaded, names_secret};
use hermes_mcp::{Server, TokenFiles, ToolFilter, clean};
use hermes_secrets::RedactorHandle;
use serde_json::{Value as Json, json};

use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::Output;
use crate::table::{Table, cut};

/// Widest address or command that is shown.
const WIDEST: usize = 60;
/// Shorter values of variables are no secrets, and happen to be part of other words.
const SHORTEST: usize = 4;

pub(super) fn run(as_json: bool, context: &Context, output: &mut Output) -> Outcome {
    let loaded = context.settings()?;
    let servers = Server::configured(&loaded);
    let home = context.home()?.path();
    if as_json {
        let row = |server| row(server, home, place(server, &loaded, &context.redactor));
        let rows: Vec<Json> = servers.iter().map(row).collect();
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
            cut(&place(server, &loaded, &context.redactor), WIDEST),
        ]);
    }
    Ok(table.print(output)?)
}

fn row(server: &Server, home: &std::path::Path, place: String) -> Json {
    let settings = server.settings();
    json!({
        "name": server.name(),
        "transport": server.kind().word(),
        "enabled": settings.enabled,
        "trust": settings.trust.word(),
        "tools": tools(server),
        "auth": auth(server, home),
        "where": place,
        "toolset": hermes_mcp::toolset(server.name()),
    })
}

/// Which tools are offered, in a word.
pub(super) fn tools(server: &Server) -> String {
    match server.filter() {
        ToolFilter::All => "all".to_owned(),
        ToolFilter::Only(names) => format!("{} chosen", names.len()),
        ToolFilter::AllBut(names) => format!("all but {}", names.len()),
    }
}

/// How we show who we are, in a word.
pub(super) fn auth(server: &Server, home: &std::path::Path) -> String {
    let signed_in = || TokenFiles::new(home, server.name(), &server.settings().url).has_tokens();
    let word = match (server.wants_oauth(), server.settings().headers.is_empty()) {
        (true, _) if signed_in() => "signed in",
        (true, _) => "needs login",
        (false, false) => "header",
        (false, true) => "none",
    };
    word.to_owned()
}

/// The command or address as it is written, without what may be a secret.
pub(super) fn place(server: &Server, loaded: &Loaded, redactor: &RedactorHandle) -> String {
    let settings = server.settings();
    let redactor = redactor.snapshot();
    if !settings.url.is_empty() {
        let url = as_written(&settings.url, loaded);
        let end = url.find(['?', '#']);
        return clean(&redactor, end.map_or(&*url, |end| &url[..end]));
    }
    let mut words = vec![as_written(&settings.command, loaded)];
    let mut hidden = false;
    for word in &settings.args {
        let word = as_written(word, loaded);
        let (name, value) = word.split_once('=').unwrap_or((&word, ""));
        let is_flag = name.starts_with('-');
        let is_secret = is_flag && names_secret(name);
        words.push(match (is_secret, hidden && !is_flag) {
            (true, _) if !value.is_empty() && !value.starts_with("${") => format!("{name}=***"),
            (_, true) if !word.starts_with("${") => "***".to_owned(),
            _ => word.clone(),
        });
        hidden = is_secret && value.is_empty();
    }
    clean(&redactor, &words.join(" "))
}

/// A text, such as one of an entry, with the names of the variables that were filled in, in the place of their values.
pub(super) fn as_written(text: &str, loaded: &Loaded) -> String {
    let mut filled: Vec<(&str, &str)> = loaded
        .referenced
        .iter()
        .filter_map(|name| Some((name.as_str(), loaded.environment.filled_named(name)?)))
        .filter(|(_, value)| value.len() >= SHORTEST)
        .collect();
    // One value may be part of another.
    filled.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    let mut text = text.to_owned();
    for (name, value) in filled {
        text = text.replace(value, &format!("${{{name}}}"));
    }
    text
}

/// The variables that the headers of a server are made of.
pub(super) fn variables(server: &Server, loaded: &Loaded) -> Vec<String> {
    let headers = server.settings().headers.values();
    let written: String = headers.map(|value| as_written(value, loaded)).collect();
    let named = |name: &&String| written.contains(&format!("${{{name}}}"));
    loaded.referenced.iter().filter(named).cloned().collect()
}
