//! `hermes mcp status`

use std::time::Duration;

use hermes_mcp::Status;
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
    let servers = &loaded.config.mcp_servers;
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
            for status in &mut statuses {
                let error = status.error.as_deref();
                status.error = error.map(|error| list::as_written(error, &loaded));
            }
            statuses
        })
    };
    if as_json {
        return Ok(output.json(&json!({ "servers": statuses }))?);
    }
    if statuses.is_empty() {
        return Ok(output.line("There are no MCP servers.")?);
    }
    let mut table = Table::new([
        "SERVER",
        "TRANSPORT",
        "STATUS",
        "TOOLS",
        "NEXT TRY",
        "PROBLEM",
    ]);
    for status in &statuses {
        table.row([
            status.name.clone(),
            status.transport.to_owned(),
            word(status),
            status.tools.to_string(),
            status.next_retry.clone().unwrap_or_default(),
            one_line(status.error.as_deref().unwrap_or_default()),
        ]);
    }
    Ok(table.print(output)?)
}

fn word(status: &Status) -> String {
    let word = json!(status.status);
    word.as_str().unwrap_or_default().replace('_', " ")
}
