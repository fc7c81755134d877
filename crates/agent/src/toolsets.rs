//! Which tools a surface offers: named sets, presets of the surfaces, and what the user took away.

mod table;

use std::collections::BTreeSet;

use hermes_config::{CodingContext, Config};

use crate::prompt::is_coding_surface;
use table::{CORE, OFF_BY_DEFAULT};
pub use table::{Toolset, today, toolsets};

/// The tools that were chosen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chosen {
    names: BTreeSet<&'static str>,
    /// Tools of plugins, which no table knows.
    others: bool,
    servers: Servers,
}

/// The MCP servers whose tools were chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Servers {
    Only(BTreeSet<String>),
    AllBut(BTreeSet<String>),
}

impl Default for Servers {
    fn default() -> Self {
        Self::Only(BTreeSet::new())
    }
}

impl Chosen {
    /// Whether a tool is among them.
    pub fn has(&self, tool: &str) -> bool {
        if self.names.contains(tool) {
            true
        } else if tool.starts_with("mcp_") {
            // Of which server, only the source of the tool knows: its name does not say.
            self.servers != Servers::default()
        } else {
            self.others && !table::is_known_tool(tool)
        }
    }

    /// Whether the tools of an MCP server are among them.
    pub fn has_server(&self, server: &str) -> bool {
        match &self.servers {
            Servers::Only(names) => names.contains(server),
            Servers::AllBut(names) => !names.contains(server),
        }
    }

    /// The built-in ones, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.iter().copied()
    }
}

/// Resolves what is offered on a surface. `asked` replaces the configured sets for this session.
pub fn chosen(config: &Config, surface: &str, asked: Option<&[String]>) -> Chosen {
    let configured = config.platform_toolsets.get(surface);
    let preset = [format!("hermes-{surface}")];
    let coding = ["coding".to_owned()];
    let focused = config.agent.coding_context == CodingContext::Focus && is_coding_surface(surface);
    let (sets, from_preset): (&[String], bool) = match (asked, configured) {
        (Some(asked), _) => (asked, false),
        (None, _) if focused => (&coding, false),
        (None, Some(listed)) => (listed, false),
        (None, None) => (&preset, true),
    };
    let mut chosen = Chosen {
        names: BTreeSet::new(),
        others: asked.is_none() && !sets.is_empty(),
        servers: servers(config, sets, asked.is_some()),
    };
    for set in sets {
        if matches!(set.as_str(), "all" | "*") {
            chosen.names.extend(table::all_tools());
            chosen.others = true;
        } else if let Some(tools) = table::tools_of(set) {
            chosen.names.extend(tools);
        } else if from_preset {
            // A surface without a preset of its own gets what every surface has.
            chosen.names.extend(CORE);
        }
    }
    if from_preset {
        for set in OFF_BY_DEFAULT {
            for tool in table::tools_of(set).unwrap_or_default() {
                chosen.names.remove(tool);
            }
        }
    }
    for set in &config.agent.disabled_toolsets {
        let bundle = set.starts_with("hermes-") || table::is_posture(set);
        for tool in table::tools_of(set).unwrap_or_default() {
            if !bundle || !CORE.contains(&tool) {
                chosen.names.remove(tool);
            }
        }
    }
    chosen
}

/// The servers a list of sets brings along. A list that names servers means these and no others; one that
/// names none means all, unless it was asked for word by word.
fn servers(config: &Config, sets: &[String], literal: bool) -> Servers {
    let off: BTreeSet<String> = config
        .agent
        .disabled_toolsets
        .iter()
        .filter_map(|set| server_of(config, set).map(str::to_owned))
        .collect();
    let is_off = config
        .agent
        .disabled_toolsets
        .iter()
        .any(|set| set == "mcp");
    let has = |words: &[&str]| sets.iter().any(|set| words.contains(&set.as_str()));
    if is_off || sets.is_empty() || has(&["no_mcp"]) {
        return Servers::default();
    }
    if has(&["all", "*", "mcp"]) {
        return Servers::AllBut(off);
    }
    let named = sets.iter().filter_map(|set| server_of(config, set));
    let named: BTreeSet<String> = named
        .filter(|name| !off.contains(*name))
        .map(str::to_owned)
        .collect();
    let names_any = sets.iter().any(|set| server_of(config, set).is_some());
    match literal || names_any {
        true => Servers::Only(named),
        false => Servers::AllBut(off),
    }
}

/// The configured server a toolset stands for: `mcp-NAME`, or `NAME` where no other set is called so.
pub fn server_of<'a>(config: &Config, set: &'a str) -> Option<&'a str> {
    let is_server = |name: &str| config.mcp_servers.contains_key(name);
    let whole = set.strip_prefix("mcp-").filter(|name| is_server(name));
    whole.or_else(|| Some(set).filter(|name| is_server(name) && table::tools_of(name).is_none()))
}

/// The sets of which a tool is there.
pub(crate) fn present(tools: &[&str]) -> Vec<&'static str> {
    let sets = toolsets().iter();
    sets.filter(|set| set.own().any(|tool| tools.contains(&tool)))
        .map(|set| set.name)
        .collect()
}

/// Names in `asked` that are no toolset.
pub fn unknown<'a>(asked: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    asked
        .into_iter()
        .filter(|set| !matches!(*set, "all" | "*" | "no_mcp" | "mcp"))
        .filter(|set| table::tools_of(set).is_none())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // AG-30, AG-42
    #[test]
    fn a_programmer_who_wants_no_distraction_gets_the_tools_of_one() {
        let focus = |config: &mut Config| config.agent.coding_context = CodingContext::Focus;
        let coding = with("cli", None, focus);
        assert_eq!(coding.names, with("cli", Some(&["coding"]), |_| {}).names);
        assert!(coding.has("patch") && !coding.has("image_generate"));
        assert!(
            with("telegram", None, focus).has("image_generate"),
            "chats stay as they are"
        );
        assert!(
            with("cli", Some(&["web"]), focus).has("web_search"),
            "the caller insists"
        );
    }

    fn with(surface: &str, asked: Option<&[&str]>, change: impl FnOnce(&mut Config)) -> Chosen {
        let mut config = Config::default();
        change(&mut config);
        let asked: Option<Vec<String>> =
            asked.map(|sets| sets.iter().map(|set| (*set).to_owned()).collect());
        chosen(&config, surface, asked.as_deref())
    }

    fn listed(config: &mut Config, surface: &str, sets: &[&str]) {
        let sets = sets.iter().map(|set| (*set).to_owned()).collect();
        config.platform_toolsets.insert(surface.to_owned(), sets);
    }

    // AG-30
    #[test]
    fn surfaces_have_their_presets() {
        let cli = with("cli", None, |_| {});
        assert!(cli.has("read_file") && cli.has("terminal") && cli.has("clarify"));
        assert!(
            !cli.has("ha_get_state") && !cli.has("x_search"),
            "off by default"
        );
        assert!(cli.has("mcp_github_search") && cli.has("of_a_plugin"));
        let api = with("api-server", None, |_| {});
        assert!(!api.has("clarify") && !api.has("text_to_speech") && api.has("terminal"));
        let webhook = with("webhook", None, |_| {});
        let names: Vec<_> = webhook.names().collect();
        assert_eq!(
            names,
            ["clarify", "vision_analyze", "web_extract", "web_search"]
        );
        assert_eq!(with("telegram", None, |_| {}), with("cli", None, |_| {}));
    }

    // AG-30
    #[test]
    fn lists_replace_presets_and_disabled_sets_go_last() {
        let only = with("cli", None, |config| {
            listed(config, "cli", &["file", "todo"])
        });
        let names: Vec<_> = only.names().collect();
        assert_eq!(
            names,
            ["patch", "read_file", "search_files", "todo", "write_file"]
        );
        let none = with("cli", None, |config| listed(config, "cli", &[]));
        assert!(!none.has("todo") && !none.has("mcp_x_y") && !none.has("of_a_plugin"));
        let less = with("cli", None, |config| {
            config.agent.disabled_toolsets = vec!["terminal".into(), "hermes-cli".into()];
        });
        assert!(
            !less.has("terminal") && less.has("read_file"),
            "a bundle keeps the core"
        );
        let quiet = with("cli", None, |config| {
            listed(config, "cli", &["todo", "no_mcp"])
        });
        assert!(quiet.has("todo") && !quiet.has("mcp_x_y"));
        let all = with("cli", None, |config| listed(config, "cli", &["all"]));
        assert!(all.has("spotify_playback") && all.has("ha_get_state"));
    }

    // AG-30
    #[test]
    fn lists_that_name_servers_mean_these_and_no_others() {
        let two = |config: &mut Config| {
            for name in ["github", "web"] {
                let server = hermes_config::McpServer::default();
                config.mcp_servers.insert(name.to_owned(), server);
            }
        };
        let all = with("cli", None, two);
        assert!(all.has_server("github") && all.has_server("web") && all.has_server("later"));
        let one = with("cli", None, |config| {
            two(config);
            listed(config, "cli", &["todo", "mcp-github"]);
        });
        assert!(one.has_server("github") && !one.has_server("web") && one.has("mcp__github__x"));
        let built_in = with("cli", None, |config| {
            two(config);
            listed(config, "cli", &["web"]);
        });
        assert!(
            built_in.has_server("github") && built_in.has("web_search"),
            "web is a built-in set"
        );
        let less = with("cli", None, |config| {
            two(config);
            config.agent.disabled_toolsets = vec!["github".to_owned()];
        });
        assert!(!less.has_server("github") && less.has_server("web"));
        let asked = with("cli", Some(&["todo"]), two);
        assert!(!asked.has_server("github") && !asked.has("mcp__github__x"));
        assert!(with("cli", Some(&["github"]), two).has_server("github"));
        assert!(with("cli", Some(&["all"]), two).has_server("github"));
    }

    // AG-30
    #[test]
    fn sets_asked_for_win_and_old_names_are_known() {
        let asked = with(
            "cli",
            Some(&["web_tools", "vision_tools", "image_tools"]),
            |config| listed(config, "cli", &["todo"]),
        );
        let names: Vec<_> = asked.names().collect();
        assert_eq!(
            names,
            [
                "image_generate",
                "vision_analyze",
                "web_extract",
                "web_search"
            ]
        );
        assert!(!asked.has("of_a_plugin"));
        assert_eq!(unknown(["web", "webb", "all"]), ["webb"]);
    }
}
