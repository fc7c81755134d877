//! `hermes mcp status`

use std::time::Duration;

use hermes_config::Loaded;
use hermes_mcp::{Server, Status};
use serde_json::json;

use super::{list, runtime};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::{Output, one_line};
use crate::servers::Wiring;
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
    if as_json {
        return Ok(output.json(&json!({ "servers": statuses }))?);
    }
    if statuses.is_empty() {
        return Ok(output.line("There are no MCP servers.")?);
    }
    show(&statuses, output)
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
            status.transport.to_owned(),
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
