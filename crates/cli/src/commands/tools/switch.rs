//! `hermes tools enable` and `disable`

use std::io::Write;

use hermes_agent::toolsets;
use hermes_config::{Config, UnknownKey};
use serde_json::Value as Json;

use super::check_platform;
use super::sets::{listed, plain};
use crate::args::tools::SwitchArgs;
use crate::commands::edit::edit;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;

pub(super) fn enable(args: &SwitchArgs, context: &Context, output: &mut Output) -> Outcome {
    let config = before(args, context)?;
    let mut names = listed(&config, &args.platform);
    let (mut done, mut idle) = (Vec::new(), Vec::new());
    for name in wanted(args) {
        if names.contains(&name) {
            idle.push(name);
        } else {
            names.push(name.clone());
            done.push(name);
        }
    }
    write(&names, &done, args, context)?;
    say("on", &done, &idle, &args.platform, output)?;
    let off: Vec<&str> = done
        .iter()
        .chain(&idle)
        .map(String::as_str)
        .filter(|name| {
            config
                .agent
                .disabled_toolsets
                .iter()
                .any(|other| other == name)
        })
        .collect();
    if !off.is_empty() {
        output.flush()?;
        writeln!(
            std::io::stderr(),
            "note: agent.disabled_toolsets still switches {} off everywhere",
            off.join(", ")
        )?;
    }
    Ok(())
}

pub(super) fn disable(args: &SwitchArgs, context: &Context, output: &mut Output) -> Outcome {
    let config = before(args, context)?;
    let mut names = listed(&config, &args.platform);
    let (mut done, mut idle) = (Vec::new(), Vec::new());
    for name in wanted(args) {
        let before = names.len();
        names.retain(|other| *other != name);
        if names.len() < before {
            done.push(name);
        } else {
            idle.push(name);
        }
    }
    write(&names, &done, args, context)?;
    say("off", &done, &idle, &args.platform, output)?;
    let left = still_offered(&config, &names, &done, &args.platform);
    if !left.is_empty() {
        output.flush()?;
        writeln!(
            std::io::stderr(),
            "note: {} is still offered, as part of another toolset",
            left.join(", ")
        )?;
    }
    Ok(())
}

fn before(args: &SwitchArgs, context: &Context) -> Outcome<Config> {
    check_platform(&args.platform)?;
    for name in &args.names {
        if plain(name).is_none() {
            let known = toolsets::toolsets().iter().map(|set| set.name);
            let hint = match hermes_config::nearest(name, known) {
                Some(near) => format!("did you mean {near}?"),
                None => "hermes tools list shows them".to_owned(),
            };
            return Err(Complaint::bad_request(format!("there is no toolset {name}")).hint(hint));
        }
    }
    Ok(context.settings()?.config)
}

/// The names as they are called today, each once.
fn wanted(args: &SwitchArgs) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for set in args.names.iter().filter_map(|name| plain(name)) {
        if !names.iter().any(|name| name == set.name) {
            names.push(set.name.to_owned());
        }
    }
    names
}

fn write(names: &[String], changed: &[String], args: &SwitchArgs, context: &Context) -> Outcome {
    if changed.is_empty() {
        return Ok(());
    }
    let key = format!("platform_toolsets.{}", args.platform);
    let list = Json::from(names.to_vec()).to_string();
    edit(context, |settings| {
        settings.set(&key, &list, UnknownKey::Refuse)
    })?;
    Ok(())
}

fn say(
    state: &str,
    done: &[String],
    idle: &[String],
    platform: &str,
    output: &mut Output,
) -> Outcome {
    if !done.is_empty() {
        output.line(format!("{platform}: {} switched {state}", done.join(", ")))?;
    }
    if !idle.is_empty() {
        output.line(format!(
            "{platform}: {} was {state} already",
            idle.join(", ")
        ))?;
    }
    Ok(())
}

/// Tools of sets that were switched off which others bring along.
fn still_offered(
    config: &Config,
    names: &[String],
    done: &[String],
    platform: &str,
) -> Vec<&'static str> {
    let mut after = config.clone();
    after
        .platform_toolsets
        .insert(platform.to_owned(), names.to_vec());
    let chosen = toolsets::chosen(&after, platform, None);
    done.iter()
        .filter_map(|name| plain(name))
        .flat_map(|set| set.tools.iter().copied())
        .filter(|tool| chosen.names().any(|name| name == *tool))
        .collect()
}
