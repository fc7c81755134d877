//! A provider's own tool, as the engine calls it.

use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{
    Beside, Effect, Handling, Tool, ToolContext, ToolError, ToolOutcome, ToolResult, ToolSpec,
};
use serde_json::{Value as Json, json};

use super::error::ProviderError;
use super::keeper::External;
use super::provider::Scene;

/// How long a call may take; a service may think about its answer.
const DEADLINE: Duration = Duration::from_secs(150);

pub(crate) struct ExternalTool {
    pub(crate) spec: ToolSpec,
    pub(crate) external: External,
    pub(crate) surface: String,
    pub(crate) user: Option<String>,
}

impl Tool for ExternalTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn handling(&self) -> Handling {
        Handling {
            beside: match self.spec.effect {
                Effect::ReadOnly => Beside::Anything,
                Effect::Idempotent | Effect::Mutating => Beside::Nothing,
            },
            deadline: DEADLINE,
            untrusted: true,
            ..Handling::default()
        }
    }

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let scene = Scene {
                session: context.session.as_str().to_owned(),
                directory: context.directory.clone(),
                surface: self.surface.clone(),
                user: self.user.clone(),
            };
            let called = tokio::select! {
                biased;
                () = context.cancel.cancelled() => return Err(ToolError::Cancelled),
                called = self.external.call(&scene, &self.spec.name, &arguments) => called,
            };
            match called {
                Ok(answer) => Ok(ToolResult {
                    content: answer.to_string(),
                    media: Vec::new(),
                }),
                Err(error) if error.leaves_doubt() && self.spec.effect == Effect::Mutating => {
                    Err(ToolError::OutcomeUnknown {
                        message: error.to_string(),
                    })
                }
                Err(error) => Err(ToolError::ForModel {
                    message: format!("{error}; {}", error.hint()),
                }),
            }
        })
    }
}

/// A tool in short: its name, what it does, its properties and which of them must be there.
pub(crate) fn spec(
    name: &str,
    description: &str,
    properties: Json,
    required: &[&str],
    effect: Effect,
) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: json!({"type": "object", "properties": properties, "required": required}),
        effect,
    }
}

/// An argument that must be a text with something in it.
pub(crate) fn needed<'a>(arguments: &'a Json, name: &str) -> Result<&'a str, ProviderError> {
    optional(arguments, name).ok_or_else(|| refused(format!("{name} is missing")))
}

/// An argument that may be left out.
pub(crate) fn optional<'a>(arguments: &'a Json, name: &str) -> Option<&'a str> {
    let text = arguments.get(name)?.as_str()?.trim();
    (!text.is_empty()).then_some(text)
}

/// A whole number within bounds, however it was written.
pub(crate) fn bounded(arguments: &Json, name: &str, otherwise: u64, most: u64) -> u64 {
    let asked = arguments.get(name).and_then(|value| {
        let spelled = value.as_str().and_then(|text| text.trim().parse().ok());
        value.as_u64().or(spelled)
    });
    asked.unwrap_or(otherwise).clamp(1, most)
}

pub(crate) fn refused(message: impl Into<String>) -> ProviderError {
    ProviderError::Arguments {
        message: message.into(),
    }
}

/// A name that no tool of this provider has.
pub(crate) fn unknown(tool: &str) -> ProviderError {
    refused(format!("there is no tool {tool}"))
}
