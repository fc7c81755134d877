//! `hermes tools enable` and `disable`

use std::collections::BTreeMap;
use std::io::Write;

use hermes_agent::toolsets::{self, Chosen};
use hermes_config::{Config, Edit, Loaded};
use serde_json::Value as Json;

use super::list::useless;
use super::sets::{bringing, check_platform, is_whole, listed, meant, plain};
use super::single::{self, Singles};
use crate::args::tools::SwitchArgs;
use crate::commands::edit::edit;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;

pub(super) fn enable(args: &SwitchArgs, context: &Context, output: &mut Output) -> Outcome {
    let loaded = before(args, context)?;
    let config = &loaded.config;
    let mut names = listed(config, &args.platform);
    let (mut done, mut idle) = servers(args, config, true, &mut names);
    for name in wanted(args) {
        if names.contains(&name) {
            idle.push(name);
        } else {
            names.push(name.clone());
            done.push(name);
        }
    }
    let singles = Singles::switch(&args.names, true, &loaded, context)?;
    let list = (!done.is_empty()).then(|| setting(&args.platform, &names));
    write(list.as_ref(), &singles, context)?;
    let said = Said {
        platform: &args.platform,
        state: "on",
        useless: useless(&args.platform, context, &loaded)?,
    };
    said.say(&done, &idle, output)?;
    said.everywhere(&singles, output)?;
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
    let loaded = before(args, context)?;
    let config = &loaded.config;
    let mut names = listed(config, &args.platform);
    let (mut done, mut idle) = servers(args, config, false, &mut names);
    for name in wanted(args) {
        let before = names.len();
        names.retain(|other| *other != name);
        if names.len() < before {
            done.push(name);
        } else {
            idle.push(name);
        }
    }
    let singles = Singles::switch(&args.names, false, &loaded, context)?;
    let list = (!done.is_empty()).then(|| setting(&args.platform, &names));
    write(list.as_ref(), &singles, context)?;
    let said = Said {
        platform: &args.platform,
        state: "off",
        useless: BTreeMap::new(),
    };
    let chosen = chosen_of(config, &names, &args.platform);
    let is_on = |name: &String| plain(name).filter(|set| is_whole(set, &chosen));
    let (parts, idle): (Vec<String>, Vec<String>) =
        idle.into_iter().partition(|name| is_on(name).is_some());
    said.say(&done, &idle, output)?;
    for set in parts.iter().filter_map(is_on) {
        let with = bringing(set, &names).join(", ");
        output.line(format!(
            "{}: {} is still on, as a part of {with}: switch that off",
            args.platform, set.name
        ))?;
    }
    said.everywhere(&singles, output)?;
    let left = still_offered(&chosen, &done);
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

fn before(args: &SwitchArgs, context: &Context) -> Outcome<Loaded> {
    check_platform(&args.platform)?;
    let loaded = context.settings()?;
    let config = &loaded.config;
    for name in &args.names {
        let is_single = single::parts(name, &loaded).is_some();
        if !is_single && plain(name).is_none() && toolsets::server_of(config, name).is_none() {
            let hint = meant(name, config);
            return Err(Complaint::bad_request(format!("there is no toolset {name}")).hint(hint));
        }
    }
    Ok(loaded)
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

/// Writes all of it or nothing.
fn write(list: Option<&(String, String)>, singles: &Singles, context: &Context) -> Outcome {
    let list = list.map(|(key, value)| (key.as_str(), Edit::Set(value)));
    let mut edits: Vec<(&str, Edit<'_>)> = list.into_iter().collect();
    edits.extend(singles.edits.iter().map(|(key, value)| {
        let value = value.as_deref().map_or(Edit::Unset, Edit::Set);
        (key.as_str(), value)
    }));
    if !edits.is_empty() {
        edit(context, |settings| settings.change(&edits))?;
    }
    Ok(())
}

/// The setting that lists the toolsets of a platform, and its value.
pub(in crate::commands) fn setting(platform: &str, names: &[String]) -> (String, String) {
    let key = format!("platform_toolsets.{platform}");
    (key, Json::from(names.to_vec()).to_string())
}

/// What is said of the names that were switched.
struct Said<'a> {
    platform: &'a str,
    state: &'static str,
    /// Why what is on is of no use all the same, by name.
    useless: BTreeMap<String, String>,
}

impl Said<'_> {
    fn say(&self, done: &[String], idle: &[String], output: &mut Output) -> Outcome {
        self.say_at(self.platform, done, idle, output)
    }

    /// A tool of a server is switched at the server, and so on every platform.
    fn everywhere(&self, singles: &Singles, output: &mut Output) -> Outcome {
        self.say_at("everywhere", &singles.done, &singles.idle, output)
    }

    fn say_at(
        &self,
        place: &str,
        done: &[String],
        idle: &[String],
        output: &mut Output,
    ) -> Outcome {
        let state = self.state;
        if !done.is_empty() {
            output.line(format!("{place}: {} switched {state}", done.join(", ")))?;
        }
        if !idle.is_empty() {
            output.line(format!("{place}: {} was {state} already", idle.join(", ")))?;
        }
        for name in done.iter().chain(idle) {
            if let Some(why) = self.useless.get(name) {
                output.line(format!("{place}: {name} cannot be used: {why}"))?;
            }
        }
        Ok(())
    }
}

/// What a platform has with these sets in its list.
fn chosen_of(config: &Config, names: &[String], platform: &str) -> Chosen {
    let mut after = config.clone();
    after
        .platform_toolsets
        .insert(platform.to_owned(), names.to_vec());
    toolsets::chosen(&after, platform, None)
}

/// Tools of sets that were switched off which others bring along.
fn still_offered(chosen: &Chosen, done: &[String]) -> Vec<&'static str> {
    done.iter()
        .filter_map(|name| plain(name))
        .flat_map(|set| set.tools.iter().copied())
        .filter(|tool| chosen.names().any(|name| name == *tool))
        .collect()
}
