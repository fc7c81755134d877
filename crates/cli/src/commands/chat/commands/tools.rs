//! Which tools the agent has.

use hermes_agent::toolsets;
use hermes_core::Op;

use super::{Next, Order, aside};
use crate::args::tools::{SwitchArgs, ToolsArgs, ToolsCommand};
use crate::commands::chat::ask::{Ask, Entry, List};
use crate::commands::tools::is_built_in;
use crate::complaint::{Complaint, Outcome};
use crate::output::Output;

const SURFACE: &str = "cli";

/// `/tools [list|enable|disable|only] [names]`
pub(super) async fn tools(order: &Order<'_>, output: &mut Output) -> Outcome<Next> {
    let mut words = order.arguments.split_whitespace().map(str::to_owned);
    let verb = words.next();
    let names: Vec<String> = words.collect();
    match verb.as_deref() {
        None => return Ok(Next::Ask(picker(order)?)),
        Some("list") => list(order, output).await?,
        Some("enable") => switch(order, names, Vec::new(), output).await?,
        Some("disable") => switch(order, Vec::new(), names, output).await?,
        Some("only") => {
            let on = offered(order)?;
            let is_on = |name: &str| on.iter().any(|(other, on, _)| other == name && *on);
            let enable = names.iter().filter(|name| !is_on(name)).cloned().collect();
            let disable = on
                .iter()
                .filter(|(name, on, _)| *on && !names.contains(name))
                .map(|(name, _, _)| name.clone());
            switch(order, enable, disable.collect(), output).await?;
        }
        Some(word) => {
            return Err(
                Complaint::bad_request(format!("/tools cannot {word}")).hint(
                    "/tools shows a list, /tools enable NAME and /tools disable NAME switch one",
                ),
            );
        }
    }
    Ok(Next::Nothing)
}

/// `/toolsets`
pub(super) async fn list(order: &Order<'_>, output: &mut Output) -> Outcome {
    aside::print(order.context, output, |context, output| {
        let list = ToolsCommand::List {
            platform: SURFACE.to_owned(),
            json: false,
        };
        run(list, context, output)
    })
    .await
}

fn run(command: ToolsCommand, context: &crate::context::Context, output: &mut Output) -> Outcome {
    let command = Some(command);
    crate::commands::tools::run(
        ToolsArgs {
            command,
            summary: false,
        },
        context,
        output,
    )
}

/// The toolsets that have tools in this version: name, whether it is on, what it is for.
fn offered(order: &Order<'_>) -> Outcome<Vec<(String, bool, &'static str)>> {
    let config = order.context.load()?.config;
    let manner = order.conversation.manner();
    let chosen = toolsets::chosen(&config, SURFACE, manner.toolsets.as_deref());
    let tools = hermes_tools::specs();
    let exists = |name: &&str| tools.iter().any(|spec| spec.name == *name);
    Ok(toolsets::toolsets()
        .iter()
        .filter(|set| is_built_in(set))
        .map(|set| {
            let mut tools = set.tools.iter().filter(|tool| exists(tool));
            let on = tools.all(|tool| chosen.has(tool));
            (set.name.to_owned(), on, set.about)
        })
        .collect())
}

fn picker(order: &Order<'_>) -> Outcome<Ask> {
    let entries = offered(order)?
        .into_iter()
        .map(|(name, picked, about)| Entry {
            cells: vec![name.clone(), about.to_owned()],
            also: String::new(),
            picked,
            line: name,
        });
    Ok(Ask::Several {
        command: "/tools only".to_owned(),
        list: List {
            title: "Toolsets of this and later conversations".to_owned(),
            columns: vec![("Toolset", false), ("What it does", false)],
            entries: entries.collect(),
        },
    })
}

/// Writes the change down, and lets it count from the next message on.
async fn switch(
    order: &Order<'_>,
    enable: Vec<String>,
    disable: Vec<String>,
    output: &mut Output,
) -> Outcome {
    if enable.is_empty() && disable.is_empty() {
        return Ok(output.line("Nothing was changed.")?);
    }
    let args = |names| SwitchArgs {
        names,
        platform: SURFACE.to_owned(),
    };
    aside::print(order.context, output, move |context, output| {
        if !enable.is_empty() {
            run(ToolsCommand::Enable(args(enable)), context, output)?;
        }
        if !disable.is_empty() {
            run(ToolsCommand::Disable(args(disable)), context, output)?;
        }
        Ok(())
    })
    .await?;
    let config = order.context.load()?.config;
    let mut sets = config.platform_toolsets.get(SURFACE).cloned();
    // A list that is asked for word by word brings only the servers it names.
    if let Some(sets) = &mut sets
        && !sets
            .iter()
            .any(|set| set == "no_mcp" || toolsets::server_of(&config, set).is_some())
    {
        sets.push("mcp".to_owned());
    }
    let op = Op::SetToolsets { sets: sets.clone() };
    order
        .conversation
        .adjust(|manner| manner.toolsets = sets, op);
    Ok(output.line("It counts from your next message on.")?)
}
