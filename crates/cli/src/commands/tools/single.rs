//! Single tools of MCP servers, which are switched on and off by `SERVER:TOOL`, wherever the server is offered.

use std::collections::BTreeMap;

use hermes_agent::toolsets;
use hermes_config::{Loaded, McpTools};
use hermes_mcp::ToolFilter;
use serde_json::Value as Json;

use crate::commands::mcp;
use crate::complaint::Outcome;
use crate::context::Context;

/// What switching them comes to.
#[derive(Default)]
pub(super) struct Singles {
    /// The settings that change and their new values; one without a value goes.
    pub(super) edits: Vec<(String, Option<String>)>,
    pub(super) done: Vec<String>,
    pub(super) idle: Vec<String>,
}

/// The server and the tool that such a name means. The server may be called by the name of its toolset.
pub(super) fn parts<'a>(name: &'a str, loaded: &Loaded) -> Option<(&'a str, &'a str)> {
    let (server, tool) = name.split_once(':').filter(|(_, tool)| !tool.is_empty())?;
    let config = &loaded.config;
    let own = toolsets::server_of(config, server).unwrap_or(server);
    Some((own, tool))
}

impl Singles {
    /// Finds out what is to be changed. A tool that its server is known not to have is refused.
    pub(super) fn switch(
        names: &[String],
        on: bool,
        loaded: &Loaded,
        context: &Context,
    ) -> Outcome<Self> {
        let mut filters: BTreeMap<&str, Lists> = BTreeMap::new();
        let mut singles = Self::default();
        for (server, tool) in names.iter().filter_map(|name| parts(name, loaded)) {
            let entry = mcp::entry(server, loaded)?;
            mcp::check_tool(server, tool, loaded, context)?;
            let lists = filters
                .entry(server)
                .or_insert_with(|| Lists::of(entry.tools.as_ref()));
            let name = format!("{server}:{tool}");
            match lists.switch(tool, on) {
                true => singles.done.push(name),
                false => singles.idle.push(name),
            }
        }
        for (server, lists) in filters.iter().filter(|(_, lists)| lists.changed) {
            singles.edits.push(lists.edit(server));
        }
        Ok(singles)
    }
}

/// The filter of a server. Where it names those that are offered, those that are not have no effect.
struct Lists {
    filter: ToolFilter,
    changed: bool,
}

impl Lists {
    fn of(tools: Option<&McpTools>) -> Self {
        Self {
            filter: ToolFilter::new(tools),
            changed: false,
        }
    }

    /// Says whether that changed anything.
    fn switch(&mut self, tool: &str, on: bool) -> bool {
        if self.filter.allows(tool) == on {
            return false;
        }
        match (&mut self.filter, on) {
            (ToolFilter::Only(names), true) | (ToolFilter::AllBut(names), false) => {
                names.insert(tool.to_owned());
            }
            (ToolFilter::Only(names), false) | (ToolFilter::AllBut(names), true) => {
                names.remove(tool);
            }
            (ToolFilter::All, _) => {
                self.filter = ToolFilter::AllBut([tool.to_owned()].into());
            }
        }
        self.changed = true;
        true
    }

    fn edit(&self, server: &str) -> (String, Option<String>) {
        let (part, names) = match &self.filter {
            ToolFilter::Only(names) => ("tools.include", Some(names)),
            ToolFilter::AllBut(names) if !names.is_empty() => ("tools.exclude", Some(names)),
            ToolFilter::AllBut(_) | ToolFilter::All => ("tools.exclude", None),
        };
        let list = names.map(|names| Json::from_iter(names.iter().cloned()).to_string());
        (mcp::key(server, part), list)
    }
}
