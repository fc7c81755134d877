//! `hermes tools list`

use hermes_agent::toolsets::{self, Toolset};
use hermes_core::ToolSpec;
use serde_json::{Value as Json, json};

use super::check_platform;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::Output;
use crate::table::Table;

/// A toolset on one surface.
struct Row {
    set: &'static Toolset,
    on: bool,
    /// Why it is of no use, though it may be on.
    lacks: Option<String>,
}

pub(super) fn run(
    platform: &str,
    as_json: bool,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    check_platform(platform)?;
    let loaded = context.settings()?;
    let chosen = toolsets::chosen(&loaded.config, platform, None);
    let tools = hermes_tools::specs();
    let rows: Vec<Row> = toolsets::toolsets()
        .iter()
        .filter(|set| !set.tools.is_empty())
        .map(|set| Row {
            set,
            on: set.tools.iter().all(|tool| chosen.has(tool)),
            lacks: lack(set, &tools),
        })
        .collect();
    if as_json {
        let rows: Vec<Json> = rows
            .iter()
            .map(|row| {
                json!({
                    "name": row.set.name,
                    "about": row.set.about,
                    "enabled": row.on,
                    "available": row.lacks.is_none(),
                    "reason": row.lacks,
                    "tools": row.set.tools,
                })
            })
            .collect();
        return Ok(output.json(&json!({"platform": platform, "toolsets": rows}))?);
    }
    let mut table = Table::new(["TOOLSET", "ON", "WHAT IT DOES", "UNAVAILABLE BECAUSE"]);
    for row in &rows {
        table.row([
            row.set.name.to_owned(),
            if row.on { "yes" } else { "no" }.to_owned(),
            row.set.about.to_owned(),
            row.lacks.clone().unwrap_or_default(),
        ]);
    }
    Ok(table.print(output)?)
}

/// Why none of the tools of a set can be called.
fn lack(set: &Toolset, tools: &[ToolSpec]) -> Option<String> {
    let known = |name: &str| tools.iter().any(|spec| spec.name == name);
    let none = !set.tools.iter().any(|name| known(name));
    none.then(|| "it is not part of this version".to_owned())
}
