//! The commands that do what the questions do, for scripts and for those who like to type.

use super::draft::Draft;
use super::{agent, terminal};
use crate::args::setup::Section;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::{Output, one_line};

/// What makes a model answer, and what each way is good for.
const MODEL: [(&str, &str); 6] = [
    (
        "hermes auth add PROVIDER",
        "a key, typed unseen or piped in; or a sign-in",
    ),
    (
        "hermes config set OPENROUTER_API_KEY KEY",
        "the same in .env, for any provider",
    ),
    (
        "hermes model set MODEL --provider ID --api-key KEY",
        "a key and a model in one",
    ),
    (
        "hermes model set MODEL --provider custom --base-url URL",
        "a server of your own",
    ),
    (
        "hermes model pull smollm2",
        "a tiny model inside the program, no key",
    ),
    (
        "hermes model list",
        "who there is, and what each still needs",
    ),
];

/// Columns a command and what it is good for need on one line.
const SIDE_BY_SIDE: usize = 106;

const TOOLS: [(&str, &str); 5] = [
    ("hermes tools list", "the toolsets, and which are on"),
    ("hermes tools enable NAME", "one more"),
    ("hermes tools disable NAME", "one less"),
    (
        "hermes skills opt-out",
        "none of the skills that come with the program; opt-in brings them back",
    ),
    ("hermes mcp list", "the MCP servers"),
];

/// Prints the commands of one part, or of all.
pub(super) fn print(section: Option<Section>, context: &Context, output: &mut Output) -> Outcome {
    let draft = Draft::new(context)?;
    let wanted = |part: Section| section.is_none_or(|section| section == part);
    if wanted(Section::Model) {
        model(output)?;
    }
    let settings = |keys: &[&str], output: &mut Output| -> Outcome {
        for key in keys {
            let now = match draft.value(key) {
                value if value.is_empty() => "not set".to_owned(),
                value => format!("now {}", one_line(&value)),
            };
            line(&format!("hermes config set {key} VALUE"), &now, output)?;
        }
        Ok(())
    };
    if wanted(Section::Terminal) {
        output.line("Where commands run:")?;
        settings(&terminal::keys(), output)?;
    }
    if wanted(Section::Agent) {
        output.line("The agent:")?;
        settings(&agent::QUESTIONS.map(|question| question.key), output)?;
    }
    if wanted(Section::Tools) {
        output.line("Tools:")?;
        for (command, about) in TOOLS {
            line(command, about, output)?;
        }
    }
    for (part, name) in [
        (Section::Gateway, "Messaging platforms"),
        (Section::Tts, "Speech"),
    ] {
        if section == Some(part) {
            output.line(format!("{name}: not part of this version yet."))?;
        }
    }
    Ok(())
}

/// What makes a model answer.
pub(super) fn model(output: &mut Output) -> Outcome {
    output.line("A model, any of these:")?;
    for (command, about) in MODEL {
        line(command, about, output)?;
    }
    Ok(())
}

fn line(command: &str, about: &str, output: &mut Output) -> Outcome {
    if output
        .columns()
        .is_none_or(|columns| columns >= SIDE_BY_SIDE)
    {
        return Ok(output.line(format!("  {command:<56} {about}"))?);
    }
    output.item("  ", command)?;
    Ok(output.item("      ", about)?)
}
