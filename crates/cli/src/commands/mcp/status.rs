//! `hermes mcp status`

use std::time::Duration;

use hermes_config::Loaded;
use hermes_mcp::{Server, Status};
use jiff::tz::TimeZone;
use serde_json::json;

use super::{list, runtime};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::{Output, one_line};
use crate::servers::{Running, Wiring, again, running};
use crate::table::Table;

pub(super) fn run(
    as_json: bool,
    wait: Duration,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let loaded = context.settings()?;
    let servers = Server::configured(&loaded);
    let statuses = if servers.is_empty() {
        Vec::new()
    } else {
        let store = context.store()?;
        let runtime = runtime()?;
        let _entered = runtime.enter();
        let wiring = Wiring::new(context, &loaded, &store, None)?;
        runtime.block_on(async {
            wiring.fleet.apply(servers).await;
            wiring.fleet.discovered(wait).await;
            let mut statuses = wiring.fleet.status();
            wiring.close().await;
            mask(&mut statuses, &loaded);
            statuses
        })
    };
    let running = elsewhere(context, &loaded)?;
    if as_json {
        return Ok(output.json(&json!({ "servers": statuses, "running": running }))?);
    }
    match statuses.is_empty() {
        true => output.line("There are no MCP servers.")?,
        false => show(&statuses, output)?,
    }
    for one in running {
        output.line(format!("\nIn the running program {}:", one.pid))?;
        show(&one.servers, output)?;
    }
    Ok(())
}

/// The other runs of the program, and how servers are there.
pub(super) fn elsewhere(context: &Context, loaded: &Loaded) -> Outcome<Vec<Running>> {
    let mut running = running(context.home()?.path());
    for one in &mut running {
        mask(&mut one.servers, loaded);
    }
    Ok(running)
}

/// How a server is, in a sentence.
pub(super) fn sentence(status: &Status, zone: &TimeZone) -> String {
    let again = again(status, zone).unwrap_or_default();
    let problem = problem(status);
    let problem = match problem.is_empty() {
        true => problem,
        false => format!(" ({problem})"),
    };
    format!("{}{problem}{again}", word(status))
}

/// Names the variables of the settings where a problem would show their values.
pub(crate) fn mask(statuses: &mut [Status], loaded: &Loaded) {
    for status in statuses {
        let error = status.error.as_deref();
        status.error = error.map(|error| list::as_written(error, loaded));
    }
}

/// How servers are, as a table.
pub(crate) fn show(statuses: &[Status], output: &mut Output) -> Outcome {
    let mut table = Table::new([
        "SERVER",
        "TRANSPORT",
        "STATUS",
        "TOOLS",
        "NEXT TRY",
        "PROBLEM",
    ]);
    for status in statuses {
        table.row([
            status.name.clone(),
            status.transport.clone(),
            word(status),
            status.tools.to_string(),
            status.next_retry.clone().unwrap_or_default(),
            problem(status),
        ]);
    }
    Ok(table.print(output)?)
}

/// What is wrong now, or what is missing.
fn problem(status: &Status) -> String {
    let problem = status.error.as_deref().or(status.warning.as_deref());
    one_line(problem.unwrap_or_default())
}

fn word(status: &Status) -> String {
    let word = json!(status.status);
    word.as_str().unwrap_or_default().replace('_', " ")
}
