//! Which tools of a server are offered.

use std::collections::BTreeSet;

use hermes_config::McpTools;

use crate::Utility;

/// Decides by the server's own names of its tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolFilter {
    /// Every tool.
    All,
    /// These and no others; none at all when empty.
    Only(BTreeSet<String>),
    /// Every tool but these.
    AllBut(BTreeSet<String>),
}

impl ToolFilter {
    /// What the settings of a server say: `include` counts before `exclude`, and an empty `include` means
    /// no tools.
    pub fn new(tools: Option<&McpTools>) -> Self {
        let names = |list: &hermes_config::NameList| list.iter().map(str::to_owned).collect();
        match tools {
            None => Self::All,
            Some(McpTools {
                include: Some(include),
                ..
            }) => Self::Only(names(include)),
            Some(McpTools { exclude, .. }) if exclude.is_empty() => Self::All,
            Some(McpTools { exclude, .. }) => Self::AllBut(names(exclude)),
        }
    }

    /// Whether a tool is offered.
    pub fn allows(&self, tool: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(tool),
            Self::AllBut(names) => !names.contains(tool),
        }
    }

    /// What people should know about the filter of a server, because older versions read it differently.
    pub fn notice(&self, server: &str) -> Option<String> {
        match self {
            Self::Only(names) if names.is_empty() => Some(format!(
                "MCP server {server}: tools.include is empty, so none of its tools is offered; \
                 remove the key to offer all of them"
            )),
            Self::All | Self::Only(_) | Self::AllBut(_) => None,
        }
    }
}

/// Whether the settings of a server allow one of our own tools for it.
pub fn allows_utility(tools: Option<&McpTools>, utility: Utility) -> bool {
    tools.is_none_or(|tools| {
        if utility.is_about_prompts() {
            tools.prompts
        } else {
            tools.resources
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(yaml: &str) -> ToolFilter {
        let node = hermes_config::parse(yaml, hermes_config::Layer::File).unwrap();
        let mut reader = hermes_config::Reader::default();
        let tools = <McpTools as hermes_config::Setting>::read(&node, &mut reader).unwrap();
        ToolFilter::new(Some(&tools))
    }

    // MCP-53
    #[test]
    fn include_wins_over_exclude_and_an_empty_one_means_none() {
        assert!(ToolFilter::new(None).allows("anything"));
        let both = filter("include: [a-b, c]\nexclude: [c]\n");
        assert!(both.allows("a-b") && both.allows("c"));
        assert!(!both.allows("a_b") && !both.allows("d"));
        let one = filter("include: a\n");
        assert!(one.allows("a") && !one.allows("b"));
        let without = filter("exclude: [a]\n");
        assert!(!without.allows("a") && without.allows("b"));
        assert_eq!(filter("include: null\n"), ToolFilter::All);
        assert_eq!(filter("exclude: []\n"), ToolFilter::All);
        let none = filter("include: []\n");
        assert!(!none.allows("a"));
        assert!(none.notice("s").unwrap().contains("none of its tools"));
        assert_eq!(both.notice("s"), None);
    }

    #[test]
    fn utilities_follow_their_own_switches() {
        let tools = McpTools {
            prompts: false,
            ..McpTools::default()
        };
        let allowed = Utility::ALL
            .into_iter()
            .filter(|utility| allows_utility(Some(&tools), *utility));
        assert_eq!(
            allowed.collect::<Vec<_>>(),
            [Utility::ListResources, Utility::ReadResource]
        );
    }
}
