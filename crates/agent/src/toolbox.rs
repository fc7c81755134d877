//! The tools a turn may use: what the model is shown, and who answers a call.

use std::collections::BTreeMap;
use std::sync::Arc;

use hermes_core::{Availability, Notice, Tool, ToolSpec};

use crate::turn::text_tokens;

/// The tools on offer, by name.
pub(crate) struct Toolbox {
    tools: BTreeMap<String, Arc<dyn Tool>>,
    specs: Arc<[ToolSpec]>,
    tokens: u32,
}

impl Toolbox {
    /// Takes the tools that are chosen and can be used now. The order never depends on the order they
    /// come in: the model's cache holds on to the bytes.
    pub(crate) fn new(
        tools: impl IntoIterator<Item = Arc<dyn Tool>>,
        chosen: impl Fn(&str) -> bool,
    ) -> Self {
        let tools: BTreeMap<String, Arc<dyn Tool>> = tools
            .into_iter()
            .filter(|tool| chosen(&tool.spec().name))
            .filter(|tool| tool.availability() == Availability::Ready)
            .map(|tool| (tool.spec().name.clone(), tool))
            .collect();
        let specs: Arc<[ToolSpec]> = tools.values().map(|tool| tool.spec().clone()).collect();
        let tokens = specs
            .iter()
            .map(|spec| {
                text_tokens(&spec.name)
                    + text_tokens(&spec.description)
                    + text_tokens(&spec.parameters.to_string())
            })
            .sum();
        Self {
            tools,
            specs,
            tokens,
        }
    }

    pub(crate) fn specs(&self) -> Arc<[ToolSpec]> {
        self.specs.clone()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
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
