//! Which tools a surface offers: named sets, presets of the surfaces, and what the user took away.

mod table;

use std::collections::BTreeSet;

use hermes_config::{CodingContext, Config};

use crate::prompt::is_coding_surface;
use table::{CORE, OFF_BY_DEFAULT};
pub use table::{Toolset, toolsets};

/// The tools that were chosen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chosen {
    names: BTreeSet<&'static str>,
    /// Tools of plugins and MCP servers, which no table knows.
    others: bool,
    mcp: bool,
}

impl Chosen {
    /// Whether a tool is among them.
    pub fn has(&self, tool: &str) -> bool {
        if self.names.contains(tool) {
            true
        } else if tool.starts_with("mcp_") {
            self.mcp
        } else {
            self.others && !table::is_known_tool(tool)
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
        mcp: !sets.is_empty() && !sets.iter().any(|set| set == "no_mcp"),
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
        if set == "mcp" {
            chosen.mcp = false;
        }
    }
    chosen
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
    fn sets_asked_for_win_and_old_names_are_known() {
        let asked = with("cli", Some(&["web_tools", "safe"]), |config| {
            listed(config, "cli", &["todo"])
        });
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
