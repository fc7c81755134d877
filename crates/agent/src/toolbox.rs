//! The tools a turn may use: what the model is shown, and who answers a call.
//!
//! | module | holds |
//! |---|---|
//! | `hidden` | tools that are found instead of shown |
//! | `ranking` | which of them fit some words |

mod hidden;
mod ranking;

use std::sync::Arc;

use hermes_config::ToolSearch;
use hermes_core::{Availability, Notice, Tool, ToolCall, ToolSpec};

use crate::batch::Ready;
use crate::repair::{self, Arguments};
use crate::turn::text_tokens;
use hidden::Named;

/// The tools on offer, by name.
pub(crate) struct Toolbox {
    /// All that can be called, shown or not.
    tools: Named,
    specs: Arc<[ToolSpec]>,
    tokens: u32,
}

impl Toolbox {
    /// Takes the tools that are chosen and can be used now. The order never depends on the order they
    /// come in: the model's cache holds on to the bytes. Those of servers are hidden where they would fill
    /// the window.
    pub(crate) fn new(
        tools: impl IntoIterator<Item = Arc<dyn Tool>>,
        chosen: impl Fn(&str) -> bool,
        search: &ToolSearch,
        window: u32,
    ) -> Self {
        let mut tools: Named = tools
            .into_iter()
            .filter(|tool| chosen(&tool.spec().name))
            .filter(|tool| tool.availability() == Availability::Ready)
            .map(|tool| (tool.spec().name.clone(), tool))
            .collect();
        let of_servers: Named = tools
            .iter()
            .filter(|(_, tool)| tool.server().is_some())
            .map(|(name, tool)| (name.clone(), Arc::clone(tool)))
            .collect();
        let size = of_servers.values().map(|tool| tokens(tool.spec())).sum();
        let hides = hidden::hides(search, size, window);
        if hides {
            for tool in hidden::stand_ins(of_servers, search) {
                tools.insert(tool.spec().name.clone(), tool);
            }
        }
        let specs: Arc<[ToolSpec]> = tools
            .values()
            .filter(|tool| !(hides && tool.server().is_some()))
            .map(|tool| tool.spec())
            .cloned()
            .collect();
        let tokens = specs.iter().map(tokens).sum();
        Self {
            tools,
            specs,
            tokens,
        }
    }

    /// What a call asks for: the tool, and the call as the tool gets it. Otherwise what the model is told.
    pub(crate) fn meant(&self, call: &ToolCall) -> Result<Ready, String> {
        let tool = self.tools.get(&call.name);
        let tool = tool.ok_or_else(|| hidden::unknown(&call.name, &self.tools))?;
        if call.name != hidden::CALL {
            return Ok(Ready {
                asked: call.name.clone(),
                call: call.clone(),
                tool: tool.clone(),
            });
        }
        let (name, arguments) = hidden::inner(&call.arguments)?;
        let found = self.tools.get(name).filter(|_| name != hidden::CALL);
        let tool = found.ok_or_else(|| hidden::unknown(name, &self.tools))?;
        let schema = Some(&tool.spec().parameters);
        let arguments = match repair::arguments(&arguments.to_string(), schema) {
            Arguments::Good(mended) => mended,
            Arguments::Truncated | Arguments::Broken => arguments,
        };
        Ok(Ready {
            asked: call.name.clone(),
            call: ToolCall {
                id: call.id.clone(),
                name: name.to_owned(),
                arguments,
            },
            tool: tool.clone(),
        })
    }

    /// The name of the hidden tool that a call is about, if it is about one.
    pub(crate) fn handed_on(call: &ToolCall) -> Option<&str> {
        let inner = hidden::inner(&call.arguments);
        inner
            .ok()
            .map(|(name, _)| name)
            .filter(|_| call.name == hidden::CALL)
    }

    pub(crate) fn specs(&self) -> Arc<[ToolSpec]> {
        self.specs.clone()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// The names of those that are shown.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &str> {
        self.specs.iter().map(|spec| spec.name.as_str())
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// Tells all of them what happened.
    pub(crate) fn notice(&self, notice: Notice<'_>) {
        for tool in self.tools.values() {
            tool.noticed(notice);
        }
    }

    /// Roughly what showing them takes.
    pub(crate) fn tokens(&self) -> u32 {
        self.tokens
    }
}

/// Roughly what showing a tool takes.
fn tokens(spec: &ToolSpec) -> u32 {
    text_tokens(&spec.name)
        + text_tokens(&spec.description)
        + text_tokens(&spec.parameters.to_string())
}
