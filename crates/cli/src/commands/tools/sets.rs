//! Toolsets and the surfaces they are offered on.

use std::fmt;

use hermes_agent::toolsets::{self, Toolset};
use hermes_config::Config;

use crate::complaint::{Complaint, Outcome};

/// The surfaces that can be set up.
const PLATFORMS: &[&str] = &[
    "cli",
    "cron",
    "telegram",
    "discord",
    "whatsapp",
    "slack",
    "signal",
    "bluebubbles",
    "homeassistant",
    "email",
    "mattermost",
    "matrix",
    "dingtalk",
    "feishu",
    "yuanbao",
    "weixin",
    "qqbot",
    "wecom",
    "wecom-callback",
    "sms",
    "acp",
    "api-server",
    "webhook",
    "gateway",
];

pub(in crate::commands) fn check_platform(platform: &str) -> Outcome {
    if PLATFORMS.contains(&platform) {
        return Ok(());
    }
    let hint = match hermes_config::nearest(platform, PLATFORMS.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("there are {}", PLATFORMS.join(", ")),
    };
    Err(Complaint::bad_request(format!("there is no platform {platform}")).hint(hint))
}

/// The plain set of a name, which may be an old one.
pub(super) fn plain(name: &str) -> Option<&'static Toolset> {
    let name = toolsets::today(name);
    toolsets::toolsets().iter().find(|set| set.name == name)
}

/// The names the settings list for a surface, with presets and sets made of sets taken apart, so that a
/// single one can be taken out.
pub(in crate::commands) fn listed(config: &Config, platform: &str) -> Vec<String> {
    let Some(configured) = config.platform_toolsets.get(platform) else {
        let mut all = Config::default();
        all.platform_toolsets.clone_from(&config.platform_toolsets);
        return covered(&toolsets::chosen(&all, platform, None));
    };
    let mut names = Vec::new();
    for name in configured {
        let parts = match plain(name) {
            Some(set) => vec![set.name.to_owned()],
            None if is_made_of_sets(name) => {
                let asked = [name.clone()];
                covered(&toolsets::chosen(
                    &Config::default(),
                    platform,
                    Some(&asked),
                ))
            }
            // Of a plugin or an MCP server.
            None => vec![name.clone()],
        };
        for part in parts {
            if !names.contains(&part) {
                names.push(part);
            }
        }
    }
    names
}

fn is_made_of_sets(name: &str) -> bool {
    !matches!(name, "no_mcp" | "mcp") && toolsets::unknown([name]).is_empty()
}

/// Whether all tools of a set are chosen.
pub(super) fn is_whole(set: &Toolset, chosen: &toolsets::Chosen) -> bool {
    !set.tools.is_empty() && set.tools.iter().all(|tool| chosen.has(tool))
}

/// Those of these sets that bring tools of another one along.
pub(super) fn bringing<'a>(set: &Toolset, names: &'a [String]) -> Vec<&'a str> {
    let shares = |other: &Toolset| other.tools.iter().any(|tool| set.tools.contains(tool));
    let names = names.iter().map(String::as_str);
    names
        .filter(|name| plain(name).is_some_and(shares))
        .collect()
}

/// The sets whose tools are all chosen, without those that are part of another one.
fn covered(chosen: &toolsets::Chosen) -> Vec<String> {
    let all = toolsets::toolsets().iter();
    let whole: Vec<&Toolset> = all.filter(|set| is_whole(set, chosen)).collect();
    let is_part = |set: &Toolset, of: &Toolset| {
        set.tools.len() < of.tools.len() && set.tools.iter().all(|tool| of.tools.contains(tool))
    };
    whole
        .iter()
        .filter(|set| !whole.iter().any(|other| is_part(set, other)))
        .map(|set| set.name.to_owned())
        .collect()
}

/// The names that stand neither for a toolset nor for an MCP server.
pub(in crate::commands) fn missing<'a>(names: &'a [String], config: &Config) -> Vec<&'a str> {
    let names = names.iter().map(String::as_str);
    toolsets::unknown(names.filter(|name| toolsets::server_of(config, name).is_none()))
}

/// What somebody who wrote such a name may have meant.
pub(in crate::commands) fn meant(name: &str, config: &Config) -> String {
    let servers = config.mcp_servers.keys().map(String::as_str);
    let sets = toolsets::toolsets().iter().map(|set| set.name);
    match hermes_config::nearest(name, sets.chain(servers)) {
        Some(near) => format!("did you mean {near}?"),
        None => "hermes tools list shows them".to_owned(),
    }
}

/// A name in the settings that stands for nothing.
pub(in crate::commands) struct Unheeded {
    key: String,
    name: String,
    pub(in crate::commands) hint: String,
}

impl fmt::Display for Unheeded {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, name, .. } = self;
        write!(out, "{key}: there is no toolset {name}, so it is left out")
    }
}

/// The names that have no effect: in the lists of these surfaces, and in what is switched off everywhere.
pub(in crate::commands) fn unheeded(
    config: &Config,
    of_surface: impl Fn(&str) -> bool,
) -> Vec<Unheeded> {
    let listed = config
        .platform_toolsets
        .iter()
        .filter(|(surface, _)| of_surface(surface))
        .map(|(surface, names)| (format!("platform_toolsets.{surface}"), names));
    let off = (
        "agent.disabled_toolsets".to_owned(),
        &config.agent.disabled_toolsets,
    );
    let mut found = Vec::new();
    for (key, names) in listed.chain([off]) {
        found.extend(missing(names, config).into_iter().map(|name| Unheeded {
            key: key.clone(),
            name: name.to_owned(),
            hint: meant(name, config),
        }));
    }
    found
}
