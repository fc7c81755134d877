//! A summary made without a model: poorer, but always there.

use std::collections::BTreeSet;
use std::sync::Arc;

use hermes_core::{Message, Part, Role};

use super::{digest, one_line, plan, start_of, summary, transcript};
use crate::turn::Entry;

/// Most characters of it.
const MOST: usize = 8_000;
/// Shares of them.
const MOST_EARLIER: usize = 2_500;
const MOST_REQUESTS: usize = 1_600;
const MOST_ACTIONS: usize = 2_400;
const MOST_FILES: usize = 700;
/// Characters of one request and of one action.
const REQUEST: usize = 240;
const ACTION: usize = 160;

/// Puts what was asked for and what was done in a few lines each, the newest ones first in line.
pub(crate) fn local(replaced: &[&Entry]) -> String {
    let messages = || replaced.iter().map(|entry| &entry.message);
    let mut sections = Vec::new();
    let earlier = messages().rev().find_map(|message| summary::body(message));
    if let Some(earlier) = &earlier {
        sections.push(transcript::clipped(earlier, MOST_EARLIER));
    }
    let requests = replaced
        .iter()
        .filter(|entry| plan::is_request(entry))
        .map(|entry| one_line(&entry.message.plain_text(), REQUEST));
    section(
        &mut sections,
        "Resolved questions",
        newest(requests, MOST_REQUESTS),
    );
    section(
        &mut sections,
        "Completed actions",
        newest(actions(messages()), MOST_ACTIONS),
    );
    let said = messages()
        .rev()
        .filter(|message| message.role == Role::Assistant)
        .map(|message| message.plain_text())
        .find(|text| !text.trim().is_empty());
    section(
        &mut sections,
        "Active state",
        said.map(|text| one_line(&text, 600)).unwrap_or_default(),
    );
    let files: BTreeSet<String> = messages().flat_map(|message| files(message)).collect();
    section(
        &mut sections,
        "Relevant files",
        newest(files.into_iter(), MOST_FILES),
    );
    let note = "This summary was made without a model: read files and results again before relying on details.";
    section(&mut sections, "Critical context", note.to_owned());
    start_of(&sections.join("\n\n"), MOST).to_owned()
}

fn section(sections: &mut Vec<String>, name: &str, text: String) {
    if !text.is_empty() {
        sections.push(format!("## {name}\n{text}"));
    }
}

/// As many of the last lines as fit, in their order.
fn newest(lines: impl Iterator<Item = String>, most: usize) -> String {
    let lines: Vec<String> = lines.map(|line| format!("- {line}")).collect();
    let mut left = most;
    let fitting = lines
        .iter()
        .rev()
        .take_while(|line| {
            let size = line.chars().count() + 1;
            let fits = size <= left;
            left = left.saturating_sub(size);
            fits
        })
        .count();
    lines[lines.len() - fitting..].join("\n")
}

/// Every call with how it went.
fn actions<'a>(
    messages: impl Iterator<Item = &'a Arc<Message>> + Clone,
) -> impl Iterator<Item = String> {
    let calls: Vec<_> = messages
        .clone()
        .flat_map(|message| message.tool_calls())
        .collect();
    messages
        .flat_map(|message| &message.parts)
        .filter_map(move |part| match part {
            Part::ToolResult {
                call,
                name,
                content,
                failed,
            } => {
                let call = calls.iter().find(|asked| asked.id == *call).copied();
                Some(one_line(
                    &digest::digest(name, call, content, *failed),
                    ACTION,
                ))
            }
            Part::Text { .. } | Part::Reasoning { .. } | Part::Media(_) | Part::ToolCall(_) => None,
        })
        .collect::<Vec<_>>()
        .into_iter()
}

/// The paths calls were about.
fn files(message: &Message) -> Vec<String> {
    message
        .tool_calls()
        .filter_map(|call| call.arguments.get("path")?.as_str())
        .map(|path| one_line(path, ACTION))
        .collect()
}

#[cfg(test)]
mod tests {
    use hermes_core::{CallId, MessageId, ToolCall};
    use hermes_secrets::Redactor;
    use serde_json::json;

    use super::*;

    fn entry(message: Message) -> Entry {
        Entry::new(MessageId(1), message)
    }

    // AG-23
    #[test]
    fn it_holds_requests_actions_and_files_and_stays_small() {
        let mut entries = vec![entry(summary::message(
            "## Goal\nShip it.",
            "r",
            500,
            &Redactor::default(),
        ))];
        for n in 0..400 {
            entries.push(entry(Message::text(
                Role::User,
                format!("request {n} {}", "x".repeat(500)),
            )));
            let id = CallId(n.to_string());
            let call = ToolCall {
                id: id.clone(),
                name: "read_file".to_owned(),
                arguments: json!({"path": format!("src/{n}.rs")}),
            };
            entries.push(entry(Message {
                role: Role::Assistant,
                parts: vec![Part::ToolCall(call)],
                raw: None,
            }));
            entries.push(entry(Message {
                role: Role::Tool,
                parts: vec![Part::ToolResult {
                    call: id,
                    name: "read_file".to_owned(),
                    content: "text".repeat(100),
                    failed: false,
                }],
                raw: None,
            }));
        }
        let text = local(&entries.iter().collect::<Vec<_>>());
        assert!(text.chars().count() <= MOST);
        for wanted in [
            "Ship it.",
            "- request 399",
            "[read_file src/399.rs: done",
            "- src/99.rs",
            "without a model",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
    }
}
