//! `hermes mcp configure`

use std::collections::BTreeSet;
use std::io::IsTerminal;

use hermes_config::Edit;
use hermes_mcp::{Memory, Server, ToolFilter};

use super::{add, entry, key, probe, runtime};
use crate::args::mcp::ConfigureArgs;
use crate::commands::edit::edit;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;

pub(super) fn run(args: &ConfigureArgs, context: &Context, output: &mut Output) -> Outcome {
    let name = args.name.as_str();
    let loaded = context.settings()?;
    let entry = entry(name, &loaded)?;
    // What is filtered out must be seen too.
    let mut whole = entry.clone();
    whole.tools = None;
    let server = Server::new(name, whole);
    let store = context.store()?;
    let runtime = runtime()?;
    let _entered = runtime.enter();
    let tools: Vec<String> = runtime.block_on(async {
        let catalog = match Memory::new(store.clone()).recall(&server).await {
            Some(catalog) => catalog,
            None => {
                let found = probe::connect(&server, context, &loaded, &store).await?;
                hermes_mcp::Catalog::clone(&found.view.catalog)
            }
        };
        Ok::<_, Complaint>(catalog.tools.into_iter().map(|tool| tool.name).collect())
    })?;
    let now = ToolFilter::new(entry.tools.as_ref());
    let offered: BTreeSet<&str> = tools
        .iter()
        .map(String::as_str)
        .filter(|tool| now.allows(tool))
        .collect();
    let wanted = wanted(args, &tools, offered, output)?;
    write(name, &tools, &wanted, context)?;
    Ok(output.line(format!(
        "{name}: {} of {} tools are offered",
        wanted.len(),
        tools.len()
    ))?)
}

fn wanted(
    args: &ConfigureArgs,
    tools: &[String],
    offered: BTreeSet<&str>,
    output: &mut Output,
) -> Outcome<BTreeSet<String>> {
    for name in args.enable.iter().chain(&args.disable).chain(&args.only) {
        if !tools.contains(name) {
            let near = hermes_config::nearest(name, tools.iter().map(String::as_str));
            let hint = match near {
                Some(near) => format!("did you mean {near}?"),
                None => format!("there are {}", tools.join(", ")),
            };
            return Err(
                Complaint::bad_request(format!("the server has no tool {name}")).hint(hint),
            );
        }
    }
    let mut wanted: BTreeSet<String> = offered.iter().map(|tool| (*tool).to_owned()).collect();
    if args.all {
        wanted = tools.iter().cloned().collect();
    } else if !args.only.is_empty() {
        wanted = args.only.iter().cloned().collect();
    } else if !args.enable.is_empty() || !args.disable.is_empty() {
        wanted.extend(args.enable.iter().cloned());
        wanted.retain(|tool| !args.disable.contains(tool));
    } else if std::io::stdin().is_terminal() {
        for tool in tools {
            let mark = if wanted.contains(tool) { "x" } else { " " };
            output.line(format!("[{mark}] {tool}"))?;
        }
        output.flush()?;
        let names: Vec<&str> = tools.iter().map(String::as_str).collect();
        wanted = select(&names)?.into_iter().collect();
    } else {
        return Err(
            Complaint::bad_request("nobody can be asked which tools to offer")
                .hint("use --enable, --disable, --only or --all"),
        );
    }
    Ok(wanted)
}

/// Asks for tools by name or number.
pub(super) fn select(tools: &[&str]) -> Outcome<Vec<String>> {
    let said = add::ask("Tools to offer, by name or number, separated by commas: ")?;
    let words = said
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty());
    words
        .map(|word| {
            let number = word.parse::<usize>().ok();
            let numbered = number.and_then(|number| tools.get(number.checked_sub(1)?));
            let named = tools.iter().find(|tool| tool.eq_ignore_ascii_case(word));
            match named.or(numbered) {
                Some(tool) => Ok((*tool).to_owned()),
                None => Err(Complaint::bad_request(format!("there is no tool {word}"))
                    .hint("nothing was changed")),
            }
        })
        .collect()
}

/// All tools need no filter.
fn write(name: &str, tools: &[String], wanted: &BTreeSet<String>, context: &Context) -> Outcome {
    let (include, exclude) = (key(name, "tools.include"), key(name, "tools.exclude"));
    let only: Vec<&String> = tools.iter().filter(|tool| wanted.contains(*tool)).collect();
    let list = serde_json::json!(only).to_string();
    let first = match only.len() == tools.len() {
        true => Edit::Unset,
        false => Edit::Set(&list),
    };
    edit(context, |settings| {
        settings.change(&[(&include, first), (&exclude, Edit::Unset)])
    })?;
    Ok(())
}
