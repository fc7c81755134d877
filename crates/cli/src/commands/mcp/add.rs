//! `hermes mcp add`

use std::io::{IsTerminal, Write};

use hermes_config::{Edit, Loaded, McpServer, UnknownKey};
use hermes_core::FailureKind;
use hermes_mcp::Server;
use hermes_secrets::{Secret, SecretName};

use super::probe::{self, Found};
use super::{
    check_harmless, check_name, configure, is_flawed, key, login, runtime, token_variable,
};
use crate::args::mcp::{AddArgs, AuthWay, Preset};
use crate::commands::ask::{Echo, Typing};
use crate::commands::auth::read_key;
use crate::commands::edit::edit;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;

pub(super) fn run(args: &AddArgs, context: &Context, output: &mut Output) -> Outcome {
    let name = args.name.as_str();
    check_name(name)?;
    let mut loaded = context.settings()?;
    if loaded.config.mcp_servers.contains_key(name) || is_flawed(name, &loaded) {
        return Err(
            Complaint::bad_request(format!("there is an MCP server {name} already"))
                .hint(format!("hermes mcp remove {name}, or choose another name")),
        );
    }
    let token = match args.auth {
        Some(AuthWay::Header) => Some(token(name, context)?),
        Some(AuthWay::Oauth) | None => None,
    };
    // As it will be when it is read back; what is written keeps the names.
    let (entry, names) = entry(args, token.as_deref()).filled_in(&loaded.environment);
    loaded.referenced.extend(names);
    let server = Server::new(name, entry);
    check_harmless(name, server.settings(), &loaded)?;
    probe::warn(name, server.settings())?;
    let found = signed_in(args, &server, context, &loaded, output)
        .and_then(|()| reach(&server, context, &loaded));
    let (enabled, only) = match &found {
        Err(Complaint::Code(code)) => return Err(Complaint::Code(*code)),
        Ok(found) => {
            probe::tools(&found.view, output)?;
            output.flush()?;
            (true, chosen(args, found, output)?)
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
    output.line(saved.told())?;
    match found {
        // It was asked for, but it is no success.
        Err(complaint) if !enabled => Err(complaint),
        _ => Ok(()),
    }
}

/// Signs in where that is asked for.
fn signed_in(
    args: &AddArgs,
    server: &Server,
    context: &Context,
    loaded: &Loaded,
    output: &mut Output,
) -> Outcome {
    if args.auth == Some(AuthWay::Oauth) {
        login::sign_in(server, context, loaded, output)?;
        output.flush()?;
    }
    Ok(())
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

/// The program to start and its arguments.
fn program(args: &AddArgs) -> (Option<String>, Vec<String>) {
    match args.preset.map(Preset::command) {
        Some((command, arguments)) => {
            let arguments = arguments.iter().map(ToString::to_string);
            (Some(command.to_owned()), arguments.collect())
        }
        None => (args.command.clone(), args.args.clone()),
    }
}

/// The entry as it is used now, with the token itself.
fn entry(args: &AddArgs, token: Option<&str>) -> McpServer {
    let (command, arguments) = program(args);
    let mut entry = McpServer {
        url: args.url.clone().unwrap_or_default(),
        command: command.unwrap_or_default(),
        args: arguments,
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
fn chosen(args: &AddArgs, found: &Found, output: &mut Output) -> Outcome<Option<Vec<String>>> {
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
            let rows = tools.iter().map(|tool| (tool.name.as_str(), true));
            let picked = configure::select(rows.collect(), output)?;
            Ok(picked.map(|picked| picked.into_iter().collect()))
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
    let way_in = way_in(args, complaint);
    if std::io::stdin().is_terminal() {
        writeln!(std::io::stderr(), "{said}")?;
        if let Some(way_in) = way_in {
            writeln!(std::io::stderr(), "hint: {way_in}")?;
        }
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
    .hint(way_in.unwrap_or("mend it and try again, or add --yes to save it switched off")))
}

/// What helps when the server wants to know who asks and nobody said how to show it.
fn way_in(args: &AddArgs, complaint: &Complaint) -> Option<&'static str> {
    let refused = matches!(complaint, Complaint::Failed(why) if why.kind == FailureKind::Refused);
    let unsaid = args.url.is_some() && args.auth.is_none();
    (refused && unsaid)
        .then_some("--auth oauth signs in with a browser, --auth header sends a token")
}

pub(super) fn ask(question: &str) -> Outcome<String> {
    let typing = Typing::begin(Echo::Shown);
    let mut errors = std::io::stderr().lock();
    write!(errors, "{question}")?;
    errors.flush()?;
    Ok(typing.line()?.unwrap_or_default())
}

/// What is written down.
struct Saved<'a> {
    args: &'a AddArgs,
    token: Option<&'a str>,
    enabled: bool,
    only: Option<Vec<String>>,
}

impl Saved<'_> {
    /// What is said about it, with what there is left to do.
    fn told(&self) -> String {
        let name = self.args.name.as_str();
        if self.enabled {
            return format!("{name}: saved; new conversations offer its tools");
        }
        let first = match self.args.auth {
            Some(AuthWay::Oauth) => format!("hermes mcp login {name}, then "),
            Some(AuthWay::Header) | None => String::new(),
        };
        let enabled = key(name, "enabled");
        format!("{name}: saved, switched off; {first}hermes config set {enabled} true")
    }

    fn write(&self, context: &Context) -> Outcome {
        let (args, name) = (self.args, self.args.name.as_str());
        let mut edits: Vec<(String, String)> = Vec::new();
        let mut put = |part: &str, value: String| edits.push((key(name, part), value));
        if let Some(url) = &args.url {
            put("url", url.clone());
        }
        let (command, arguments) = program(args);
        if let Some(command) = command {
            put("command", command);
        }
        if !arguments.is_empty() {
            put("args", serde_json::json!(arguments).to_string());
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
