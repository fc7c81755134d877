//! `hermes skills config`: which skills are offered.

use hermes_config::UnknownKey;
use serde_json::json;

use super::Asking;
use super::ground::Ground;
use crate::args::skills::SkillsConfigArgs;
use crate::commands::ask;
use crate::commands::edit::edit;
use crate::complaint::{Complaint, Outcome};
use crate::output::Output;

pub(super) fn run(args: &SkillsConfigArgs, ground: &Ground<'_>, output: &mut Output) -> Outcome {
    let mut off = current(args, ground);
    if args.json {
        let platform = args.platform.as_deref();
        return Ok(output.json(&json!({ "platform": platform, "disabled": off }))?);
    }
    if args.disable.is_empty() && args.enable.is_empty() {
        return choose(args, off, ground, output);
    }
    let names = names(ground)?;
    if let Some(stranger) = args.disable.iter().find(|name| !names.contains(name)) {
        return Err(
            Complaint::bad_request(format!("there is no skill called {stranger}"))
                .hint("hermes skills list"),
        );
    }
    off.retain(|name| !args.enable.contains(name));
    for name in &args.disable {
        if !off.contains(name) {
            off.push(name.clone());
        }
    }
    write(args, &off, ground)?;
    told(&off, output)
}

/// What is switched off now.
fn current(args: &SkillsConfigArgs, ground: &Ground<'_>) -> Vec<String> {
    let settings = &ground.loaded.config.skills;
    match &args.platform {
        Some(platform) => settings
            .platform_disabled
            .get(platform)
            .cloned()
            .unwrap_or_default(),
        None => settings.disabled.clone(),
    }
}

fn names(ground: &Ground<'_>) -> Outcome<Vec<String>> {
    let catalog = ground.library()?.catalog();
    Ok(catalog
        .entries
        .iter()
        .map(|entry| entry.name.clone())
        .collect())
}

/// A list to pick from, at a terminal.
fn choose(
    args: &SkillsConfigArgs,
    off: Vec<String>,
    ground: &Ground<'_>,
    output: &mut Output,
) -> Outcome {
    if ground.asking == Asking::Elsewhere || !ask::at_a_terminal() {
        told(&off, output)?;
        return Ok(output.line("Change it with --disable NAME and --enable NAME.")?);
    }
    let names = names(ground)?;
    for (number, name) in (1..).zip(&names) {
        let mark = if off.contains(name) { " " } else { "x" };
        output.line(format!("{number:>4}  [{mark}] {name}"))?;
    }
    let question = "Numbers to switch, or nothing to leave it: ";
    let typed = ask::line(question, output)?.unwrap_or_default();
    let mut chosen = off.clone();
    for word in typed.split([',', ' ']).filter(|word| !word.is_empty()) {
        let Some(name) = ask::numbered(word, &names) else {
            return Err(Complaint::bad_request(format!(
                "{word} is no number of the list"
            )));
        };
        if chosen.contains(name) {
            chosen.retain(|other| other != name);
        } else {
            chosen.push(name.clone());
        }
    }
    if chosen == off {
        return Ok(output.line("Nothing was changed.")?);
    }
    write(args, &chosen, ground)?;
    told(&chosen, output)
}

fn write(args: &SkillsConfigArgs, off: &[String], ground: &Ground<'_>) -> Outcome {
    let key = match &args.platform {
        Some(platform) => format!("skills.platform_disabled.{platform}"),
        None => "skills.disabled".to_owned(),
    };
    let value = json!(off).to_string();
    edit(ground.context, |settings| {
        settings.set(&key, &value, UnknownKey::Refuse)
    })?;
    Ok(())
}

fn told(off: &[String], output: &mut Output) -> Outcome {
    let line = match off {
        [] => "All skills are offered.".to_owned(),
        _ => format!("Switched off: {}", off.join(", ")),
    };
    Ok(output.line(line)?)
}
