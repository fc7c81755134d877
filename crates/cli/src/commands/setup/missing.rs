//! What is on and still lacks something, most often a key.

use hermes_agent::toolsets;
use hermes_config::{EnvName, McpServer};

use super::draft::Draft;
use super::{HERE, heading};
use crate::commands::auth::read_key;
use crate::commands::tools;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::models::{Chosen, Models};
use crate::output::{Output, one_line};

/// Something that is on and cannot be used.
pub(super) struct Lack {
    what: String,
    why: String,
    /// The variables that would change that.
    variables: Vec<EnvName>,
}

/// Everything that is missing.
pub(super) fn lacks(context: &Context) -> Outcome<Vec<Lack>> {
    let mut lacks = Vec::new();
    let models = Models::new(context, context.settings_again(false)?)?;
    let loaded = &models.loaded;
    if let Err(error) = models.route(&Chosen::default()) {
        lacks.push(Lack {
            what: "the model".to_owned(),
            why: error.to_string(),
            variables: Vec::new(),
        });
    }
    for lack in tools::lacking(HERE, context, loaded)? {
        // Memory only lacks what somebody switched off.
        if lack.tools != ["memory"] {
            lacks.push(Lack {
                what: lack.tools.join(", "),
                why: lack.why,
                variables: named(lack.variable.as_deref()),
            });
        }
    }
    let chosen = toolsets::chosen(&loaded.config, HERE, None);
    for (name, server) in &loaded.config.mcp_servers {
        let unset = variables(server);
        if server.enabled && chosen.has_server(name) && !unset.is_empty() {
            let verb = if unset.len() == 1 { "is" } else { "are" };
            lacks.push(Lack {
                what: format!("MCP server {name}"),
                why: format!("{} {verb} not set", unset.join(", ")),
                variables: named(unset),
            });
        }
    }
    Ok(lacks)
}

fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<EnvName> {
    let names = names.into_iter();
    names.filter_map(|name| EnvName::new(name).ok()).collect()
}

/// Says it at the end, when it can still be seen to. Nothing is said where nothing is missing.
pub(super) fn tell(context: &Context, output: &mut Output) -> Outcome {
    let lacks = lacks(context)?;
    if lacks.is_empty() {
        return Ok(());
    }
    heading("Still missing", output)?;
    for Lack { what, why, .. } in lacks {
        output.item("  ", &one_line(&format!("{what}: {why}")))?;
    }
    Ok(output.item(
        "  ",
        "hermes config set NAME VALUE keeps a key in .env; hermes doctor looks at everything.",
    )?)
}

/// Asks for what can be typed in: the variables that are not set.
pub(super) fn ask(lacks: &[Lack], draft: &mut Draft, output: &mut Output) -> Outcome {
    for lack in lacks {
        output.item("  ", &one_line(&format!("{}: {}", lack.what, lack.why)))?;
        for name in &lack.variables {
            if draft.has_variable(name) {
                continue;
            }
            output.flush()?;
            let question = format!("{name} (it is not shown; Enter leaves it out): ");
            if let Some(value) = read_key::line(&question)? {
                draft.variables.push((name.clone(), value));
            }
        }
    }
    Ok(())
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
            let name = name.strip_prefix("env:").unwrap_or(name);
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}
