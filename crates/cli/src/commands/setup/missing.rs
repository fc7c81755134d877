//! What is on and still lacks something, most often a key.

use hermes_agent::toolsets;
use hermes_config::McpServer;

use super::{HERE, heading};
use crate::commands::tools;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::models::{Chosen, Models};
use crate::output::{Output, one_line};

/// Says it at the end, when it can still be seen to. Nothing is said where nothing is missing.
pub(super) fn tell(context: &Context, output: &mut Output) -> Outcome {
    let mut lacks = Vec::new();
    let models = Models::new(context, context.settings_again(false)?)?;
    let loaded = &models.loaded;
    if let Err(error) = models.route(&Chosen::default()) {
        lacks.push(("the model".to_owned(), error.to_string()));
    }
    for (tools, why) in tools::lacking(HERE, context, loaded)? {
        // Memory only lacks what somebody switched off.
        if tools != ["memory"] {
            lacks.push((tools.join(", "), why));
        }
    }
    let chosen = toolsets::chosen(&loaded.config, HERE, None);
    for (name, server) in &loaded.config.mcp_servers {
        let unset = variables(server);
        if server.enabled && chosen.has_server(name) && !unset.is_empty() {
            let verb = if unset.len() == 1 { "is" } else { "are" };
            let why = format!("{} {verb} not set", unset.join(", "));
            lacks.push((format!("MCP server {name}"), why));
        }
    }
    if lacks.is_empty() {
        return Ok(());
    }
    heading("Still missing", output)?;
    for (what, why) in lacks {
        output.item("  ", &one_line(&format!("{what}: {why}")))?;
    }
    Ok(output.item(
        "  ",
        "hermes config set NAME VALUE keeps a key in .env; hermes doctor looks at everything.",
    )?)
}

/// The variables an entry names that nobody has set: what is set was put in their place.
fn variables(server: &McpServer) -> Vec<&str> {
    let texts = [&server.command, &server.url].into_iter();
    let texts = texts.chain(&server.args);
    let texts = texts
        .chain(server.env.values())
        .chain(server.headers.values());
    let mut names = Vec::new();
    for text in texts {
        let begun = text.split("${").skip(1);
        for (name, _) in begun.filter_map(|rest| rest.split_once('}')) {
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}
