//! Reading a call's arguments.

use hermes_core::{ToolError, ToolResult};
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

/// The arguments as a struct; what does not fit is told to the model.
pub(crate) fn read<T: DeserializeOwned>(arguments: Json) -> Result<T, ToolError> {
    serde_json::from_value(arguments)
        .map_err(|error| refuse(format!("the arguments do not fit: {error}")))
}

/// A refusal, in the form all tools answer in.
pub(crate) fn refuse(message: impl Into<String>) -> ToolError {
    ToolError::ForModel {
        message: json!({ "error": message.into() }).to_string(),
    }
}

pub(crate) fn text(content: impl Into<String>) -> ToolResult {
    ToolResult {
        content: content.into(),
        media: Vec::new(),
    }
}
