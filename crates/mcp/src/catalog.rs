//! What a server offers.

use hermes_core::Effect;
use rmcp::model::ServerCapabilities;
use serde_json::Value as Json;

use crate::task;

/// A tool as its server describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteTool {
    /// The server's own name for it.
    pub name: String,
    /// What it says about it.
    pub description: Option<String>,
    /// The schema of its arguments, as sent.
    pub schema: Json,
    /// What calling it may change, as its annotations say.
    pub effect: Effect,
    /// Whether the server carries it out only as a task.
    pub needs_task: bool,
}

impl RemoteTool {
    /// Reads one entry of a list.
    pub(crate) fn read(entry: &Json) -> Option<Self> {
        let text = |key: &str| entry.get(key).and_then(Json::as_str).map(str::to_owned);
        let Some(name) = text("name").filter(|name| !name.is_empty()) else {
            tracing::warn!("a tool without a name is left out");
            return None;
        };
        let hint = |key: &str| {
            let annotations = entry.get("annotations")?;
            annotations.get(key)?.as_bool()
        };
        let effect = match (hint("readOnlyHint"), hint("idempotentHint")) {
            (Some(true), _) => Effect::ReadOnly,
            (_, Some(true)) => Effect::Idempotent,
            _ => Effect::Mutating,
        };
        Some(Self {
            name,
            description: text("description").or_else(|| text("title")),
            schema: entry.get("inputSchema").cloned().unwrap_or(Json::Null),
            effect,
            needs_task: task::is_needed(entry),
        })
    }

    /// Whether doing it twice is as good as doing it once.
    pub fn is_repeatable(&self) -> bool {
        match self.effect {
            Effect::ReadOnly | Effect::Idempotent => true,
            Effect::Mutating => false,
        }
    }
}

/// What a server offers in one session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalog {
    /// Its tools, those of the filter only.
    pub tools: Vec<RemoteTool>,
    /// Whether it has resources to read.
    pub resources: bool,
    /// Whether it has prompts.
    pub prompts: bool,
    /// Whether it carries out calls as tasks.
    pub tasks: bool,
    /// Why some of its tools are missing, and what helps.
    pub cut: Option<String>,
}

impl Catalog {
    /// Whether there is anything to call.
    pub(crate) fn offers_anything(&self) -> bool {
        !self.tools.is_empty() || self.resources || self.prompts
    }

    /// What the handshake says, without the tools.
    pub(crate) fn announced(capabilities: Option<&ServerCapabilities>) -> Self {
        Self {
            tools: Vec::new(),
            resources: capabilities.is_some_and(|found| found.resources.is_some()),
            prompts: capabilities.is_some_and(|found| found.prompts.is_some()),
            tasks: capabilities.is_some_and(task::is_offered),
            cut: None,
        }
    }

    /// The tool with a server's own name.
    pub fn tool(&self, name: &str) -> Option<&RemoteTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn annotations_say_what_a_call_may_change() {
        let effect = |annotations: Json| {
            let entry = json!({ "name": "t", "annotations": annotations });
            RemoteTool::read(&entry).unwrap().effect
        };
        assert_eq!(effect(json!({ "readOnlyHint": true })), Effect::ReadOnly);
        assert_eq!(
            effect(json!({ "idempotentHint": true })),
            Effect::Idempotent
        );
        assert_eq!(effect(json!({ "readOnlyHint": false })), Effect::Mutating);
        assert_eq!(effect(Json::Null), Effect::Mutating);
    }
}
