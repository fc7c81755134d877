//! `hermes mcp add`

use std::io::{BufRead, IsTerminal, Write};

use hermes_config::{Edit, Loaded, McpServer, UnknownKey};
use hermes_core::FailureKind;
use hermes_mcp::Server;
use hermes_secrets::{Secret, SecretName};

use super::probe::{self, Found};
use super::{check_harmless, check_name, configure, key, login, runtime, token_variable};
use crate::args::mcp::{AddArgs, AuthWay};
use crate::commands::auth::read_key;
use crate::commands::edit::edit;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;

pub(super) fn run(args: &AddArgs, context: &Context, output: &mut Output) -> Outcome {
    let name = args.name.as_str();
    check_name(name)?;
    let loaded = context.settings()?;
    if loaded.config.mcp_servers.contains_key(name) {
        return Err(
            Complaint::bad_request(format!("there is an MCP server {name} already"))
                .hint(format!("hermes mcp remove {name}, or choose another name")),
        );
    }
    let token = match args.auth {
        Some(AuthWay::Header) => Some(token(name, context)?),
        Some(AuthWay::Oauth) | None => None,
    };
    let server = Server::new(name, entry(args, token.as_deref()));
    check_harmless(name, server.settings(), &loaded)?;
    if args.auth == Some(AuthWay::Oauth) {
        login::sign_in(&server, context, &loaded, output)?;
        output.flush()?;
    }
    let found = reach(&server, context, &loaded);
    let (enabled, only) = match &found {
        Ok(found) => {
            probe::tools(&found.view, output)?;
            output.flush()?;
            (true, chosen(args, found)?)
        }
        Err(complaint) => {
            keep_it_off(args, complaint)?;
            (false, None)
        }
    };
    let saved = Saved {
        args,
        token: token.as_deref(),
        enabled,
        only,
    };
    saved.write(context)?;
    output.line(match enabled {
        true => format!("{name}: saved; new conversations offer its tools"),
        false => format!(
            "{name}: saved, switched off; hermes config set {} true",
            key(name, "enabled")
        ),
    })?;
    match found {
        // It was asked for, but it is no success.
        Err(complaint) if !enabled => Err(complaint),
        _ => Ok(()),
    }
}

fn reach(server: &Server, context: &Context, loaded: &Loaded) -> Outcome<Found> {
    let store = context.store()?;
    let runtime = runtime()?;
    let _entered = runtime.enter();
    runtime.block_on(probe::connect(server, context, loaded, &store))
}

/// The token, hidden from everything that is printed from now on.
fn token(name: &str, context: &Context) -> Outcome<String> {
    let typed = read_key::read(name)?;
    let bare = typed.strip_prefix("Bearer ").unwrap_or(&typed).trim();
    let secret = SecretName::new("mcp_token")
        .and_then(|label| Secret::new(label, bare.to_owned(), []))
        .map_err(|error| Complaint::bad_request(error.to_string()).hint("type the token again"))?;
    context.redactor.add(&secret);
    Ok(bare.to_owned())
}

/// The entry as it is used now, with the token itself.
fn entry(args: &AddArgs, token: Option<&str>) -> McpServer {
    let mut entry = McpServer {
        url: args.url.clone().unwrap_or_default(),
        command: args.command.clone().unwrap_or_default(),
        args: args.args.clone(),
        env: args.env.iter().cloned().collect(),
        ..McpServer::default()
    };
    if args.sse {
        entry.transport = "sse".to_owned();
    }
    if args.auth == Some(AuthWay::Oauth) {
        entry.auth = "oauth".to_owned();
    }
    if let Some(token) = token {
        let header = ("Authorization".to_owned(), format!("Bearer {token}"));
        entry.headers.extend([header]);
    }
    if let Some(limit) = args.connect_timeout {
        entry.connect_timeout = limit;
    }
    entry
}

/// The tools to offer; nothing means all.
fn chosen(args: &AddArgs, found: &Found) -> Outcome<Option<Vec<String>>> {
    let tools = &found.view.catalog.tools;
    if args.yes || tools.is_empty() || !std::io::stdin().is_terminal() {
        return Ok(None);
    }
    match ask("Offer all of them? [Y = all, n = none, s = select] ")?
        .to_lowercase()
        .as_str()
    {
        "n" | "no" | "none" => Ok(Some(Vec::new())),
        "s" | "select" => {
            let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
            configure::select(&names).map(Some)
        }
        _ => Ok(None),
    }
}

/// Asks whether a server that cannot be reached is kept; without a yes nothing is saved.
fn keep_it_off(args: &AddArgs, complaint: &Complaint) -> Outcome {
    if args.yes {
        return Ok(());
    }
    let said = complaint.cause();
    if std::io::stdin().is_terminal() {
        writeln!(std::io::stderr(), "{said}")?;
        let kept = ask("Save it switched off? [y/N] ")?;
        if matches!(kept.to_lowercase().as_str(), "y" | "yes") {
            return Ok(());
        }
        return Err(Complaint::Code(1));
    }
    Err(Complaint::new(
        FailureKind::Unavailable,
        format!("nothing was saved: {said}"),
    )
    .hint("mend it and try again, or add --yes to save it switched off"))
}

pub(super) fn ask(question: &str) -> Outcome<String> {
    let mut errors = std::io::stderr().lock();
    write!(errors, "{question}")?;
    errors.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(answer.trim().to_owned())
}

/// What is written down.
struct Saved<'a> {
    args: &'a AddArgs,
    token: Option<&'a str>,
    enabled: bool,
    only: Option<Vec<String>>,
}

impl Saved<'_> {
    fn write(&self, context: &Context) -> Outcome {
        let (args, name) = (self.args, self.args.name.as_str());
        let mut edits: Vec<(String, String)> = Vec::new();
        let mut put = |part: &str, value: String| edits.push((key(name, part), value));
        if let Some(url) = &args.url {
            put("url", url.clone());
        }
        if let Some(command) = &args.command {
            put("command", command.clone());
        }
        if !args.args.is_empty() {
            put("args", serde_json::json!(args.args).to_string());
        }
        for (variable, value) in &args.env {
            put(&format!("env.{variable}"), value.clone());
        }
        if args.sse {
            put("transport", "sse".to_owned());
        }
        if args.auth == Some(AuthWay::Oauth) {
            put("auth", "oauth".to_owned());
        }
        let variable = token_variable(name);
        if self.token.is_some() {
            put("headers.Authorization", format!("Bearer ${{{variable}}}"));
        }
        if let Some(limit) = args.connect_timeout {
            put("connect_timeout", limit.as_secs_f64().to_string());
        }
        if !self.enabled {
            put("enabled", "false".to_owned());
        }
        if let Some(only) = &self.only {
            put("tools.include", serde_json::json!(only).to_string());
        }
        edit(context, |settings| {
            if let Some(token) = self.token {
                settings.set(&variable, token, UnknownKey::Refuse)?;
            }
            let edits: Vec<(&str, Edit<'_>)> = edits
                .iter()
                .map(|(key, value)| (key.as_str(), Edit::Set(value)))
                .collect();
            settings.change(&edits)
        })?;
        Ok(())
    }
}
