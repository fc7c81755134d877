//! What answers now, and how to change that.

use crate::complaint::Outcome;
use crate::models::{Chosen, Models};
use crate::output::{Output, Style};

const WAYS: &[(&str, &str)] = &[
    ("hermes model list", "the providers, and which have a key"),
    ("hermes model list --provider ID", "the models of one"),
    (
        "hermes model set MODEL --provider ID",
        "use this one from now on",
    ),
    (
        "hermes model --why",
        "where each part of the route comes from",
    ),
    (
        "hermes model pull smollm2",
        "a tiny model that needs no key",
    ),
    ("hermes auth add PROVIDER", "add a key, or sign in"),
];

/// Who answers.
pub(super) fn headline(models: &Models, output: &mut Output) -> Outcome {
    match models.route(&Chosen::default()) {
        Ok(resolved) => {
            let route = resolved.route;
            let line = format!(
                "{} answers, served by {}.",
                route.model, route.provider_name
            );
            output.line(output.paint(Style::Strong, &line))?;
        }
        Err(error) => {
            let line = format!("No model answers: {error}.");
            output.line(output.paint(Style::Warning, &line))?;
            output.line(format!("To change that: {}.", error.hint()))?;
        }
    }
    Ok(())
}

/// Commands that set a model up.
pub(super) fn ways(output: &mut Output) -> Outcome {
    output.line("")?;
    for (command, about) in WAYS {
        output.line(format!("  {command:<38} {about}"))?;
    }
    Ok(())
}
