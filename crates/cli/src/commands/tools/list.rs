//! `hermes tools list`

use std::collections::BTreeMap;

use hermes_agent::toolsets::{self, Toolset};
use hermes_config::Loaded;
use serde_json::{Value as Json, json};

use super::check_platform;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::hands::{Absent, absent};
use crate::output::Output;
use crate::table::Table;

/// A toolset on one surface.
struct Row {
    name: String,
    about: String,
    tools: Vec<&'static str>,
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
    let rows = rows(platform, context, &context.settings()?)?;
    if as_json {
        let rows: Vec<Json> = rows
            .iter()
            .map(|row| {
                json!({
                    "name": row.name,
                    "about": row.about,
                    "enabled": row.on,
                    "available": row.lacks.is_none(),
                    "reason": row.lacks,
                    "tools": row.tools,
                })
            })
            .collect();
        return Ok(output.json(&json!({"platform": platform, "toolsets": rows}))?);
    }
    let mut table = Table::new(["TOOLSET", "ON", "WHAT IT DOES", "UNAVAILABLE BECAUSE"]);
    for row in &rows {
        table.row([
            row.name.clone(),
            if row.on { "yes" } else { "no" }.to_owned(),
            row.about.clone(),
            row.lacks.clone().unwrap_or_default(),
        ]);
    }
    Ok(table.print(output)?)
}

/// Why toolsets cannot be used, by name, whether they are on or not.
pub(super) fn useless(
    platform: &str,
    context: &Context,
    loaded: &Loaded,
) -> Outcome<BTreeMap<String, String>> {
    let rows = rows(platform, context, loaded)?.into_iter();
    Ok(rows
        .filter_map(|row| Some((row.name, row.lacks?)))
        .collect())
}

fn rows(platform: &str, context: &Context, loaded: &Loaded) -> Outcome<Vec<Row>> {
    let chosen = toolsets::chosen(&loaded.config, platform, None);
    let absent = absent(context, loaded)?;
    let mut rows: Vec<Row> = toolsets::toolsets()
        .iter()
        .filter(|set| !set.tools.is_empty())
        .map(|set| Row {
            name: set.name.to_owned(),
            about: set.about.to_owned(),
            tools: set.tools.to_vec(),
            on: set.tools.iter().all(|tool| chosen.has(tool)),
            lacks: lack(set, &absent),
        })
        .collect();
    let servers = loaded.config.mcp_servers.iter();
    rows.extend(servers.map(|(name, entry)| Row {
        name: hermes_mcp::toolset(name),
        about: format!("the tools of MCP server {name}"),
        tools: Vec::new(),
        on: entry.enabled && chosen.has_server(name),
        lacks: (!entry.enabled).then(|| "the server is switched off".to_owned()),
    }));
    Ok(rows)
}

/// Why none of the tools of a set can be called.
fn lack(set: &Toolset, absent: &[Absent]) -> Option<String> {
    if !is_built_in(set) {
        return Some("it is not part of this version".to_owned());
    }
    let known = hermes_tools::names();
    let tools = set.own().filter(|name| known.contains(name));
    let why = |name: &str| absent.iter().find(|one| one.tool == name);
    let lacks: Option<Vec<&Absent>> = tools.map(why).collect();
    Some(lacks?.first()?.why.clone())
}

/// Whether any of the tools of a set is part of this version.
pub(in crate::commands) fn is_built_in(set: &Toolset) -> bool {
    let known = hermes_tools::names();
    set.own().any(|name| known.contains(&name))
}

/// Tools that cannot be used for one reason.
pub(in crate::commands) struct Lacking {
    pub(in crate::commands) tools: Vec<String>,
    pub(in crate::commands) why: String,
    /// The variable that would change that, where one would.
    pub(in crate::commands) variable: Option<String>,
}

/// The tools that are on and cannot be used, and why: those with one reason together.
pub(in crate::commands) fn lacking(
    surface: &str,
    context: &Context,
    loaded: &Loaded,
) -> Outcome<Vec<Lacking>> {
    let chosen = toolsets::chosen(&loaded.config, surface, None);
    let mut lacks: Vec<Lacking> = Vec::new();
    for one in absent(context, loaded)? {
        if !chosen.has(&one.tool) {
            continue;
        }
        match lacks.iter_mut().find(|lack| lack.why == one.why) {
            Some(lack) => lack.tools.push(one.tool),
            None => lacks.push(Lacking {
                tools: vec![one.tool],
                why: one.why,
                variable: one.variable,
            }),
        }
    }
    Ok(lacks)
}
