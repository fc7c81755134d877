//! The list of steps, which outlives the rows it stood in.

use hermes_core::{CallId, Message, Part, Role, ToolCall};

use super::plan::Plan;
use crate::turn::Entry;

/// The tool whose last result is the list.
const TODO: &str = "todo";

/// The list, when the rows that hold it are replaced: a call and its result, as before.
pub(crate) fn lost(history: &[Entry], plan: &Plan) -> Option<[Message; 2]> {
    let is_list =
        |part: &&Part| matches!(part, Part::ToolResult { name, failed: false, .. } if name == TODO);
    let (at, list) = history
        .iter()
        .enumerate()
        .rev()
        .find_map(|(at, entry)| Some((at, entry.message.parts.iter().rfind(is_list)?)))?;
    let Part::ToolResult { content, .. } = list else {
        return None;
    };
    plan.replaced.binary_search(&at).ok()?;
    let id = CallId(format!("kept_{}", history.get(at)?.row));
    let call = ToolCall {
        id: id.clone(),
        name: TODO.to_owned(),
        arguments: serde_json::json!({}),
    };
    let result = Part::ToolResult {
        call: id,
        name: TODO.to_owned(),
        content: content.clone(),
        failed: false,
    };
    let message = |role, part| Message {
        role,
        parts: vec![part],
        raw: None,
    };
    Some([
        message(Role::Assistant, Part::ToolCall(call)),
        message(Role::Tool, result),
    ])
}
