//! What a summary is made from: the replaced rows as plain text, bounded, masked, without thinking.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use hermes_core::{CallId, Message, Part, Role, ToolCall};
use hermes_secrets::{Redactor, Scope};

use super::{digest, end_of, start_of, summary};
use crate::think;

/// Characters of one message, tried from the largest; its end is worth a quarter.
const PIECES: [usize; 5] = [5_500, 2_200, 1_000, 400, 150];
/// Characters of one call's arguments.
const ARGUMENTS: usize = 1_500;
/// Characters of tool results that are quoted, counted from the newest. Older ones become one line.
const QUOTED_RESULTS: usize = 60_000;

/// The rows as text of at most `most` characters. An earlier summary is not among them.
pub(crate) fn transcript<'a>(
    messages: impl Iterator<Item = &'a Arc<Message>>,
    redactor: &Redactor,
    most: usize,
) -> String {
    let messages: Vec<&Message> = messages
        .map(Arc::as_ref)
        .filter(|message| !summary::is_summary(message))
        .collect();
    let lines = shortened(&messages);
    let mut pieces = Vec::new();
    for size in PIECES {
        pieces = lines
            .iter()
            .map(|(label, text)| {
                // Masked before it is cut: half a key is not recognised any more.
                let text = redactor.redact_in(Scope::Chat, text);
                format!("[{label}]\n{}\n\n", clipped(&text, size))
            })
            .collect();
        if pieces
            .iter()
            .map(|piece: &String| piece.chars().count())
            .sum::<usize>()
            <= most
        {
            return pieces.concat();
        }
    }
    newest(&pieces, most)
}

/// As many of the newest pieces as fit.
fn newest(pieces: &[String], most: usize) -> String {
    let mut left = most.saturating_sub(80);
    let fitting = pieces
        .iter()
        .rev()
        .take_while(|piece| {
            let size = piece.chars().count();
            let fits = size <= left;
            left = left.saturating_sub(size);
            fits
        })
        .count();
    let skipped = pieces.len() - fitting;
    let rest = pieces.get(skipped..).unwrap_or_default().concat();
    format!("[{skipped} older messages are left out here]\n\n{rest}")
}

/// Every message with who speaks: repeated results once, old results in a line, pictures by name.
fn shortened(messages: &[&Message]) -> Vec<(String, String)> {
    let calls: HashMap<&CallId, &ToolCall> = messages
        .iter()
        .flat_map(|message| message.tool_calls())
        .map(|call| (&call.id, call))
        .collect();
    let mut seen: HashSet<&str> = HashSet::new();
    let mut quoted = 0;
    let mut lines: Vec<(String, String)> = messages
        .iter()
        .rev()
        .map(|message| {
            let mut text = String::new();
            for part in &message.parts {
                let piece = match part {
                    Part::Text { text } => think::split(text).0.trim().to_owned(),
                    Part::Reasoning { .. } => continue,
                    Part::Media(media) => {
                        let name = media.name.as_deref().unwrap_or("without a name");
                        format!("[{}, {name}]", media.mime)
                    }
                    Part::ToolCall(call) => {
                        let arguments = digest::arguments(&call.arguments).to_string();
                        format!("calls {} {}", call.name, start_of(&arguments, ARGUMENTS))
                    }
                    Part::ToolResult {
                        call,
                        name,
                        content,
                        failed,
                    } => {
                        let long = content.len() >= digest::SHORT;
                        let repeated = long && !seen.insert(content);
                        quoted += content.len().min(PIECES[0]);
                        if repeated {
                            format!("[{name}: the same result as a later call]")
                        } else if long && quoted > QUOTED_RESULTS {
                            digest::digest(name, calls.get(call).copied(), content, *failed)
                        } else {
                            format!("{name} answered: {content}")
                        }
                    }
                };
                let _ = writeln!(text, "{piece}");
            }
            (label(message.role).to_owned(), text.trim_end().to_owned())
        })
        .filter(|(_, text)| !text.is_empty())
        .collect();
    lines.reverse();
    lines
}

fn label(role: Role) -> &'static str {
    match role {
        Role::System => "instructions",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

/// The beginning and the end of a text that is too long.
pub(super) fn clipped(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let end = most / 4;
    let left_out = length - most;
    format!(
        "{}\n[… {left_out} characters …]\n{}",
        start_of(text, most - end),
        end_of(text, end)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str, arguments: serde_json::Value) -> Arc<Message> {
        Arc::new(Message {
            role: Role::Assistant,
            parts: vec![
                Part::Reasoning {
                    text: "secret plan".to_owned(),
                },
                Part::ToolCall(ToolCall {
                    id: CallId(id.to_owned()),
                    name: "terminal".to_owned(),
                    arguments,
                }),
            ],
            raw: None,
        })
    }

    fn result(id: &str, content: String) -> Arc<Message> {
        Arc::new(Message {
            role: Role::Tool,
            parts: vec![Part::ToolResult {
                call: CallId(id.to_owned()),
                name: "terminal".to_owned(),
                content,
                failed: false,
            }],
            raw: None,
        })
    }

    fn text(role: Role, text: &str) -> Arc<Message> {
        Arc::new(Message::text(role, text))
    }

    #[test]
    fn messages_are_named_and_thinking_is_left_out() {
        let messages = [
            text(Role::User, "build it"),
            text(Role::Assistant, "<think>hm</think>\nI will."),
            call("1", json!({"command": "make"})),
            result("1", "ok".to_owned()),
        ];
        let shown = transcript(messages.iter(), &Redactor::default(), 10_000);
        assert_eq!(
            shown,
            "[user]\nbuild it\n\n[assistant]\nI will.\n\n[assistant]\ncalls terminal {\"command\":\"make\"}\n\n\
             [tool]\nterminal answered: ok\n\n"
        );
    }

    #[test]
    fn repeated_and_old_results_take_one_line() {
        let mut messages = vec![text(Role::User, "go")];
        for id in 0..20 {
            let id = id.to_string();
            messages.push(call(&id, json!({"command": format!("step {id}")})));
            messages.push(result(&id, format!("{id} {}", "x".repeat(8_000))));
        }
        let again = messages[2].clone();
        messages.push(again);
        let shown = transcript(messages.iter(), &Redactor::default(), 1_000_000);
        assert_eq!(shown.matches("the same result as a later call").count(), 1);
        assert!(
            shown.contains("[terminal step 1: done, 8002 characters in 1 lines]"),
            "{shown}"
        );
        assert!(shown.contains("terminal answered: 19 xxx"));
        assert!(shown.chars().count() < QUOTED_RESULTS + 10_000);
    }

    #[test]
    fn keys_are_masked_before_anything_is_cut() {
        let key = format!("sk-proj-{}", "a1B2".repeat(12));
        let messages = [text(
            Role::User,
            &format!("{}{key} {}", "x ".repeat(2_040), "y".repeat(9_000)),
        )];
        let shown = transcript(messages.iter(), &Redactor::default(), 100_000);
        assert!(!shown.contains("sk-proj-a1B2"));
    }

    #[test]
    fn everything_fits_however_much_there_is() {
        let messages: Vec<_> = (0..500)
            .map(|n| text(Role::User, &format!("{n} {}", "words ".repeat(400))))
            .collect();
        for most in [1_000, 20_000, 200_000, 5_000_000] {
            let shown = transcript(messages.iter(), &Redactor::default(), most);
            assert!(shown.chars().count() <= most, "{most}");
            assert!(shown.contains("499 words"), "{most}");
        }
    }
}
