//! Our own tools for what servers offer besides tools: resources and prompts.

use hermes_core::{Effect, ToolSpec};
use serde_json::{Value as Json, json};

/// A tool that Hermes offers for a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Utility {
    /// Lists what the server has to read.
    ListResources,
    /// Reads one of them.
    ReadResource,
    /// Lists the server's prompts.
    ListPrompts,
    /// Fills one of them in.
    GetPrompt,
}

impl Utility {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::ListResources,
        Self::ReadResource,
        Self::ListPrompts,
        Self::GetPrompt,
    ];

    /// Its name without server.
    pub fn word(self) -> &'static str {
        match self {
            Self::ListResources => "list_resources",
            Self::ReadResource => "read_resource",
            Self::ListPrompts => "list_prompts",
            Self::GetPrompt => "get_prompt",
        }
    }

    /// The one with this name.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|utility| utility.word() == word)
    }

    /// Whether it is about prompts rather than resources.
    pub fn is_about_prompts(self) -> bool {
        match self {
            Self::ListPrompts | Self::GetPrompt => true,
            Self::ListResources | Self::ReadResource => false,
        }
    }

    /// What the model is told about it.
    pub fn spec(self, wire: &str, server: &str) -> ToolSpec {
        let (description, parameters) = match self {
            Self::ListResources => (
                format!("Lists the resources that MCP server {server} offers for reading."),
                object(json!({}), &[]),
            ),
            Self::ReadResource => (
                format!("Reads one resource of MCP server {server}."),
                object(
                    json!({ "uri": { "type": "string", "description": "Address of the resource, as listed." } }),
                    &["uri"],
                ),
            ),
            Self::ListPrompts => (
                format!("Lists the prompt templates of MCP server {server} and their arguments."),
                object(json!({}), &[]),
            ),
            Self::GetPrompt => (
                format!("Gets a prompt template of MCP server {server}, filled in."),
                object(
                    json!({
                        "name": { "type": "string", "description": "Name of the template, as listed." },
                        "arguments": {
                            "type": "object",
                            "description": "Its arguments by name.",
                            "additionalProperties": { "type": "string" },
                            "properties": {}
                        }
                    }),
                    &["name"],
                ),
            ),
        };
        ToolSpec {
            name: wire.to_owned(),
            description,
            parameters,
            effect: Effect::ReadOnly,
        }
    }
}

fn object(properties: Json, required: &[&str]) -> Json {
    if required.is_empty() {
        json!({ "type": "object", "properties": properties })
    } else {
        json!({ "type": "object", "properties": properties, "required": required })
    }
}
