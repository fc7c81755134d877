//! A conversation with a long past, as agents have them: questions, thoughts, calls, results, answers.

use std::sync::Arc;

use hermes_core::{CallId, Message, Part, Role, SessionId, SystemClock, ToolCall};
use hermes_secrets::RedactorHandle;
use hermes_store::{NewRecord, NewSession, Options, Store};
use hermes_testkit::TempHome;
use serde_json::json;

use crate::entries::conversation::LONG;

/// Writes so many rows.
pub(super) fn remember(home: &TempHome, messages: usize) -> anyhow::Result<()> {
    let store = Store::open(Options {
        path: home.path().join("hermes.db"),
        blobs: home.path().join("blobs"),
        clock: Arc::new(SystemClock),
        redactor: RedactorHandle::default(),
        vfs: None,
    })?;
    let id = SessionId::try_from(LONG.to_owned())?;
    store
        .create_session(NewSession::new(id.clone(), "cli"))
        .wait()?;
    let rows = (0..messages).map(|number| NewRecord::from(&message(number)));
    store.append(&id, rows.collect()).wait()?;
    Ok(())
}

fn message(number: usize) -> Message {
    let call = CallId(format!("call_{}", number / 4));
    let said = format!("Message {number}, a few **sentences** of an ordinary length. ").repeat(4);
    let (role, parts) = match number % 4 {
        0 => (Role::User, vec![Part::Text { text: said }]),
        1 => (
            Role::Assistant,
            vec![
                Part::Reasoning { text: said },
                Part::ToolCall(ToolCall {
                    id: call,
                    name: "terminal".to_owned(),
                    arguments: json!({"command": format!("grep -rn word{number} src")}),
                }),
            ],
        ),
        2 => (
            Role::Tool,
            vec![Part::ToolResult {
                call,
                name: "terminal".to_owned(),
                content: json!({"output": said.repeat(8), "exit_code": 0}).to_string(),
                failed: false,
            }],
        ),
        _ => (Role::Assistant, vec![Part::Text { text: said }]),
    };
    Message {
        role,
        parts,
        raw: None,
    }
}

/// A history file with this many entries, as people have them after years.
pub(super) fn history(entries: usize) -> String {
    let entry = |number: usize| {
        format!(
            "\n# 2026-01-01 10:00:00.000000\n+what did we say about number {number}, and who has to hear of it?\n"
        )
    };
    (0..entries).map(entry).collect()
}
