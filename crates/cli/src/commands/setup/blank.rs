//! A blank slate: everything off but what an agent cannot do without, and the rest on request.

use super::HERE;
use super::draft::{Along, Draft};
use crate::commands::{ask, tools};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::number;
use crate::output::{Output, one_line};

/// What it leaves on: the least an agent can work with.
const BARE: [&str; 2] = ["terminal", "file"];
const SKILLS: &str = "skills";
/// In the list of a surface: none of the MCP servers.
const NO_SERVER: &str = "no_mcp";

pub(super) fn ask(draft: &mut Draft, context: &Context, output: &mut Output) -> Outcome {
    let mut names: Vec<String> = BARE.map(str::to_owned).to_vec();
    let servers: Vec<String> = draft.config().mcp_servers.keys().cloned().collect();
    output.line("")?;
    output.item(
        "",
        "Tools: commands and files are on, everything else is off.",
    )?;
    output.item(
        "",
        "Skills: those that come with the program stay out, and the agent uses and keeps none.",
    )?;
    if !servers.is_empty() {
        let count = number::of(servers.len() as u64, "server");
        output.item("", &format!("MCP: {count} in the settings, all off."))?;
    }
    draft.skills = Some(Along::StayOut);
    if ask::wished("Go through skills, MCP servers and tools now?", output)? {
        if ask::wished(
            "Bring in the skills that come with the program, and use skills?",
            output,
        )? {
            draft.skills = Some(Along::Come);
            names.push(SKILLS.to_owned());
        }
        let mut on = Vec::new();
        for server in &servers {
            let question = format!("Use the MCP server {}?", one_line(server));
            if ask::wished(&question, output)? {
                on.push(hermes_mcp::toolset(server));
            }
        }
        extend(&mut names, on, &servers);
        let picked = tools::pick(HERE, names.clone(), draft.config(), context, output)?;
        draft.set_to(picked.or_else(|| Some(tools::setting(HERE, &names))));
        return Ok(());
    }
    extend(&mut names, Vec::new(), &servers);
    draft.set_to(Some(tools::setting(HERE, &names)));
    Ok(())
}

/// Adds the servers that are on. A list without any name of one would mean them all.
fn extend(names: &mut Vec<String>, on: Vec<String>, servers: &[String]) {
    match on.is_empty() {
        true if servers.is_empty() => {}
        true => names.push(NO_SERVER.to_owned()),
        false => names.extend(on),
    }
}
