//! What a model is asked that calls no tools: none are offered, and what others called before is told in words. A
//! history with calls in it is refused by those who refuse tools.

use std::sync::Arc;

use hermes_core::{Message, ModelRequest, Part, Role, ToolCall};

use super::legal::UNNAMED_TOOL;

/// The same request for a model without tools. It depends only on each message by itself, so that a growing history
/// keeps its first turns.
pub(super) fn without_tools(request: &ModelRequest) -> ModelRequest {
    ModelRequest {
        model: request.model.clone(),
        conversation: request.conversation.clone(),
        system: Arc::clone(&request.system),
        tools: Arc::from([]),
        messages: request.messages.iter().map(in_words).collect(),
        settings: request.settings.clone(),
    }
}

fn in_words(message: &Arc<Message>) -> Arc<Message> {
    let of_tools = |part: &Part| matches!(part, Part::ToolCall(_) | Part::ToolResult { .. });
    if message.role != Role::Tool && !message.parts.iter().any(of_tools) {
        return Arc::clone(message);
    }
    Arc::new(Message {
        role: match message.role {
            Role::Tool => Role::User,
            role @ (Role::System | Role::User | Role::Assistant) => role,
        },
        parts: message.parts.iter().map(told).collect(),
        // It holds the calls as their issuer knows them.
        raw: None,
    })
}

fn told(part: &Part) -> Part {
    let text = match part {
        Part::ToolCall(ToolCall {
            name, arguments, ..
        }) => format!("(I called the tool {} with {arguments}.)", known(name)),
        Part::ToolResult {
            name,
            content,
            failed,
            ..
        } => {
            let what = if *failed { "failed" } else { "answered" };
            format!("(The tool {} {what}:)\n{content}", known(name))
        }
        Part::Text { .. } | Part::Reasoning { .. } | Part::Media(_) => return part.clone(),
    };
    Part::Text { text }
}

fn known(name: &str) -> &str {
    match name.trim() {
        "" => UNNAMED_TOOL,
        name => name,
    }
}
