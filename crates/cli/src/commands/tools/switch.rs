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
    let (mut done, mut idle) = servers(args, &config, true, &mut names);
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
    let (mut done, mut idle) = servers(args, &config, false, &mut names);
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
    let config = context.settings()?.config;
    for name in &args.names {
        if plain(name).is_none() && toolsets::server_of(&config, name).is_none() {
            let servers = config.mcp_servers.keys().map(String::as_str);
            let known = toolsets::toolsets()
                .iter()
                .map(|set| set.name)
                .chain(servers);
            let hint = match hermes_config::nearest(name, known) {
                Some(near) => format!("did you mean {near}?"),
                None => "hermes tools list shows them".to_owned(),
            };
            return Err(Complaint::bad_request(format!("there is no toolset {name}")).hint(hint));
        }
    }
    Ok(config)
}

/// Switches MCP servers and says which were changed and which were so already. A list that names none offers
/// all of them, so what it names afterwards depends on all.
fn servers(
    args: &SwitchArgs,
    config: &Config,
    on: bool,
    names: &mut Vec<String>,
) -> (Vec<String>, Vec<String>) {
    let asked: Vec<&str> = args
        .names
        .iter()
        .filter(|name| plain(name).is_none())
        .filter_map(|name| toolsets::server_of(config, name))
        .collect();
    if asked.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let chosen = toolsets::chosen(config, &args.platform, None);
    let set = |name: &str| hermes_mcp::toolset(name);
    let (idle, done): (Vec<&str>, Vec<&str>) =
        asked.iter().partition(|name| chosen.has_server(name) == on);
    let offered: Vec<&String> = config
        .mcp_servers
        .keys()
        .filter(|name| match asked.contains(&name.as_str()) {
            true => on,
            false => chosen.has_server(name),
        })
        .collect();
    names.retain(|name| name != "no_mcp" && toolsets::server_of(config, name).is_none());
    match offered.len() {
        0 => names.push("no_mcp".to_owned()),
        all if all == config.mcp_servers.len() => {}
        _ => names.extend(offered.into_iter().map(|name| set(name))),
    }
    let words = |names: Vec<&str>| names.into_iter().map(set).collect();
    (words(done), words(idle))
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
    let (key, list) = setting(&args.platform, names);
    edit(context, |settings| {
        settings.set(&key, &list, UnknownKey::Refuse)
    })?;
    Ok(())
}

/// The setting that lists the toolsets of a platform, and its value.
pub(in crate::commands) fn setting(platform: &str, names: &[String]) -> (String, String) {
    let key = format!("platform_toolsets.{platform}");
    (key, Json::from(names.to_vec()).to_string())
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
