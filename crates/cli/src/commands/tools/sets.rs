//! Toolsets and the surfaces they are offered on.

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

/// The plain set of a name; old names end in `_tools`.
pub(super) fn plain(name: &str) -> Option<&'static Toolset> {
    let name = name.strip_suffix("_tools").unwrap_or(name);
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

/// The sets whose tools are all chosen, without those that are part of another one.
fn covered(chosen: &toolsets::Chosen) -> Vec<String> {
    let is_whole =
        |set: &&Toolset| !set.tools.is_empty() && set.tools.iter().all(|tool| chosen.has(tool));
    let whole: Vec<&Toolset> = toolsets::toolsets().iter().filter(is_whole).collect();
    let is_part = |set: &Toolset, of: &Toolset| {
        set.tools.len() < of.tools.len() && set.tools.iter().all(|tool| of.tools.contains(tool))
    };
    whole
        .iter()
        .filter(|set| !whole.iter().any(|other| is_part(set, other)))
        .map(|set| set.name.to_owned())
        .collect()
}
