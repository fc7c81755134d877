//! `hermes mcp test`, and connecting once for other commands.

use std::time::{Duration, Instant};

use hermes_config::{Loaded, McpServer};
use hermes_core::{Effect, FailureKind};
use hermes_mcp::{Change, Memory, RecoveryPolicy, Server, State, Status, View, unresolved};
use hermes_store::Store;
use jiff::tz::TimeZone;
use serde_json::{Value as Json, json};

use super::{list, runtime, server, status};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::{Output, Style, one_line};
use crate::servers::{Running, Wiring};
use crate::table::{Table, cut};

/// How long a connection is waited for, unless the entry says less.
const PATIENCE: Duration = Duration::from_secs(30);
/// Widest description that is shown.
const WIDEST: usize = 80;

/// A server that answered.
pub(super) struct Found {
    pub(super) view: View,
    pub(super) took: Duration,
    /// That its tools describe themselves differently than before, if so.
    change: Option<Change>,
}

/// Connects once, without trying again, and lets the server go. What it offers is remembered.
pub(super) async fn connect(
    server: &Server,
    context: &Context,
    loaded: &Loaded,
    store: &Store,
) -> Outcome<Found> {
    let policy = RecoveryPolicy {
        first_connect_retries: 0,
        ..RecoveryPolicy::default()
    };
    let wiring = Wiring::with(context, loaded, store, None, policy)?;
    let name = server.name();
    let once = server.clone().changed(|settings| {
        settings.enabled = true;
        settings.connect_timeout = settings.connect_timeout.min(PATIENCE);
    });
    let limit = once.settings().connect_timeout + Duration::from_secs(15);
    let started = Instant::now();
    wiring.fleet.apply([once]).await;
    let view = match wiring.fleet.handle(name) {
        Some(handle) => Some(handle.wait_for(limit, View::is_settled).await),
        None => None,
    };
    let took = started.elapsed();
    let mut change = None;
    if let Some(view) = view.as_ref().filter(|view| view.is_ready()) {
        // Under the settings as they are written, so that the next conversation finds it.
        wiring.memory.keep(server, &view.catalog).await;
        change = compared(&wiring, name).await;
    }
    let refused = wiring
        .fleet
        .unavailable()
        .into_iter()
        .map(|one| one.why)
        .next();
    wiring.close().await;
    match view {
        Some(view) if view.is_ready() => Ok(Found { view, took, change }),
        Some(view) => Err(failed(server, &view, loaded)),
        None => Err(Complaint::new(
            FailureKind::Refused,
            format!("{name} is not started: {}", refused.unwrap_or_default()),
        )),
    }
}

/// How the tools of a server differ from what was known of them.
async fn compared(wiring: &Wiring, name: &str) -> Option<Change> {
    let handle = wiring.fleet.handle(name)?;
    let looked_at = |view: &View| view.restated.is_some() || !view.is_ready();
    handle.wait_for(PATIENCE, looked_at).await;
    wiring.fleet.restated().into_iter().next()
}

fn failed(server: &Server, view: &View, loaded: &Loaded) -> Complaint {
    let name = server.name();
    let why = view.last_error.as_deref().map(one_line);
    let why = why.map(|why| list::as_written(&why, loaded));
    let why = why.unwrap_or_else(|| "it did not answer in time".to_owned());
    let kind = match view.state {
        State::NeedsAuth => FailureKind::Refused,
        _ => FailureKind::Unavailable,
    };
    let complaint = Complaint::new(kind, format!("{name}: {why}"));
    match view.state {
        State::NeedsAuth if server.wants_oauth() => {
            complaint.hint(format!("hermes mcp login {name}"))
        }
        State::NeedsAuth => {
            let variables = list::variables(server, loaded);
            let from = match variables.is_empty() {
                true => String::new(),
                false => format!(", which comes from {}", variables.join(" and ")),
            };
            complaint.hint(format!("{}{from}", server.way_in()))
        }
        _ if server.settings().url.is_empty() => {
            complaint.hint("what a program says is in logs/mcp-stderr.log of the home")
        }
        _ => complaint.hint("see whether it runs, and whether its address is right"),
    }
}

/// Says beforehand which variables an entry refers to in vain.
pub(super) fn warn(name: &str, entry: &McpServer) -> Outcome {
    use std::io::Write as _;
    for one in unresolved(entry) {
        let (place, variable) = (&one.place, &one.name);
        writeln!(
            std::io::stderr(),
            "warning: {place} of {name} refers to {variable}, which is not set"
        )?;
    }
    Ok(())
}

pub(super) fn run(name: &str, as_json: bool, context: &Context, output: &mut Output) -> Outcome {
    let loaded = context.settings()?;
    let server = server(name, &loaded)?;
    warn(name, server.settings())?;
    let runtime = runtime()?;
    let store = context.store()?;
    let _entered = runtime.enter();
    let found = runtime.block_on(connect(&server, context, &loaded, &store));
    let running = status::elsewhere(context, &loaded)?;
    let found = match found {
        Ok(found) => found,
        Err(complaint) => {
            if !as_json {
                show_running(name, &running, context.zone(), output)?;
            }
            return Err(complaint);
        }
    };
    let auth = list::auth(&server, context.home()?.path());
    if as_json {
        let mut described = described(&server, &auth, &found);
        described["running"] = running_json(name, &running);
        output.json(&described)?;
    } else {
        show(&server, &auth, &found, context, &loaded, output)?;
        show_running(name, &running, context.zone(), output)?;
    }
    // It was seen, so it is no news to the next conversation.
    if let Some(change) = &found.change {
        let memory = Memory::new(store);
        runtime.block_on(memory.accept(name, &change.restated))?;
    }
    Ok(())
}

/// How the server is in conversations that go on: what works here may be down there.
fn show_running(name: &str, running: &[Running], zone: &TimeZone, output: &mut Output) -> Outcome {
    for (pid, status) in in_each(name, running) {
        let state = status::sentence(status, zone);
        output.line(format!("In the running program {pid} it is {state}."))?;
    }
    Ok(())
}

fn running_json(name: &str, running: &[Running]) -> Json {
    in_each(name, running)
        .map(|(pid, status)| json!({ "pid": pid, "server": status }))
        .collect()
}

fn in_each<'r>(name: &'r str, running: &'r [Running]) -> impl Iterator<Item = (u32, &'r Status)> {
    running.iter().filter_map(move |one| {
        let status = one.servers.iter().find(|status| status.name == name)?;
        Some((one.pid, status))
    })
}

fn show(
    server: &Server,
    auth: &str,
    found: &Found,
    context: &Context,
    loaded: &Loaded,
    output: &mut Output,
) -> Outcome {
    output.line(format!("transport  {}", server.kind().word()))?;
    output.line(format!(
        "where      {}",
        list::place(server, loaded, &context.redactor)
    ))?;
    output.line(format!("auth       {auth}"))?;
    if let Some(info) = &found.view.server_info {
        output.line(format!("server     {}", one_line(info)))?;
    }
    output.line(format!("connected  in {:.1} s", found.took.as_secs_f64()))?;
    if let Some(change) = &found.change {
        output.line(output.paint(Style::Warning, &change.told))?;
    }
    tools(&found.view, output)
}

fn described(server: &Server, auth: &str, found: &Found) -> Json {
    let catalog = &found.view.catalog;
    let tools = catalog.tools.iter().map(|tool| {
        json!({
            "name": tool.name,
            "description": tool.description,
            "read_only": tool.effect == Effect::ReadOnly,
        })
    });
    json!({
        "name": server.name(),
        "transport": server.kind().word(),
        "auth": auth,
        "server": found.view.server_info,
        "seconds": found.took.as_secs_f64(),
        "tools": tools.collect::<Vec<_>>(),
        "resources": catalog.resources,
        "prompts": catalog.prompts,
        "warning": warning(found),
    })
}

fn warning(found: &Found) -> Option<String> {
    let told = found.change.as_ref().map(|change| change.told.as_str());
    let parts = [found.view.catalog.cut.as_deref(), told];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What a server offers, for people.
pub(super) fn tools(view: &View, output: &mut Output) -> Outcome {
    let catalog = &view.catalog;
    let mut more = Vec::new();
    if catalog.resources {
        more.push("resources");
    }
    if catalog.prompts {
        more.push("prompts");
    }
    let more = match more.is_empty() {
        true => String::new(),
        false => format!(", and {}", more.join(" and ")),
    };
    let line = format!("{} tools{more}", catalog.tools.len());
    output.line(output.paint(Style::Good, &line))?;
    if let Some(cut) = &catalog.cut {
        output.line(format!("Some are missing: {cut}"))?;
    }
    if catalog.tools.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(["TOOL", "WHAT IT DOES"]);
    for tool in &catalog.tools {
        let about = tool.description.as_deref().unwrap_or_default();
        table.row([tool.name.clone(), cut(&one_line(about), WIDEST)]);
    }
    Ok(table.print(output)?)
}
