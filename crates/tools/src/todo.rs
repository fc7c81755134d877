//! `todo`: the list of steps a model keeps while it works.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use futures_core::future::BoxFuture;
use hermes_core::{Effect, Message, Part, Tool, ToolContext, ToolOutcome, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::arguments::{read, refuse, text};

/// The tool's name, by which earlier lists are found again.
const NAME: &str = "todo";
/// Most steps of a list.
const MOST_STEPS: usize = 100;

/// Keeps the list.
pub struct Todo {
    spec: ToolSpec,
    steps: Mutex<Vec<Item>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Item {
    id: String,
    content: String,
    status: Status,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    todos: Option<Vec<Item>>,
    #[serde(default)]
    merge: bool,
}

impl Todo {
    /// The list as the last result in the history has it.
    pub fn from_history(history: &[Arc<Message>]) -> Self {
        let steps = history
            .iter()
            .rev()
            .flat_map(|message| message.parts.iter().rev())
            .find_map(|part| match part {
                Part::ToolResult {
                    name,
                    content,
                    failed: false,
                    ..
                } if name == NAME => listed(content),
                _ => None,
            })
            .unwrap_or_default();
        Self {
            spec: spec(),
            steps: Mutex::new(steps),
        }
    }

    fn update(&self, asked: Asked) -> ToolOutcome {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(given) = asked.todos {
            if asked.merge {
                for step in given {
                    match steps.iter_mut().find(|known| known.id == step.id) {
                        Some(known) => *known = step,
                        None => steps.push(step),
                    }
                }
            } else {
                *steps = given;
            }
            if steps.len() > MOST_STEPS {
                steps.truncate(MOST_STEPS);
                return Err(refuse(format!(
                    "a list has at most {MOST_STEPS} steps; the rest was left out"
                )));
            }
        }
        Ok(text(shown(&steps)))
    }
}

fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME.to_owned(),
        description: "Keep a list of steps for work that has three or more of them. Call it without arguments to \
                      see the list. Mark one step in_progress at a time and complete it as soon as it is done."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "todos": {
                    "type": "array",
                    "description": "The steps, in order.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "id": {"type": "string"},
                            "content": {"type": "string", "description": "What is to be done."},
                            "status": {
                                "type": "string",
                                "enum": ["pending", "in_progress", "completed", "cancelled"],
                            },
                        },
                        "required": ["id", "content", "status"],
                    },
                },
                "merge": {
                    "type": "boolean",
                    "description": "Change steps by id and add new ones, in place of replacing the list.",
                },
            },
        }),
        effect: Effect::Idempotent,
    }
}

/// The list for the model, with its data in the last line so that it can be read back.
fn shown(steps: &[Item]) -> String {
    let mut out = String::new();
    let done = steps
        .iter()
        .filter(|step| step.status == Status::Completed)
        .count();
    let _ = writeln!(out, "{done} of {} done", steps.len());
    out.push_str(&json!({ "todos": steps }).to_string());
    out
}

fn listed(content: &str) -> Option<Vec<Item>> {
    #[derive(Deserialize)]
    struct List {
        todos: Vec<Item>,
    }
    // The reference answers with the same object, in the first line or over several.
    let start = content.find('{')?;
    let mut values = serde_json::Deserializer::from_str(content.get(start..)?).into_iter::<List>();
    values.next()?.ok().map(|list| list.todos)
}

impl Tool for Todo {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, arguments: Json, _: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move { self.update(read(arguments)?) })
    }
}

#[cfg(test)]
mod tests {
    use hermes_core::{CallId, Role};

    use super::*;

    fn update(todo: &Todo, arguments: Json) -> String {
        todo.update(read(arguments).unwrap()).unwrap().content
    }

    #[test]
    fn lists_are_replaced_merged_and_found_again() {
        let todo = Todo::from_history(&[]);
        assert!(update(&todo, json!({})).starts_with("0 of 0 done"));
        update(
            &todo,
            json!({"todos": [{"id": "1", "content": "look", "status": "completed"},
                             {"id": "2", "content": "fix", "status": "pending"}]}),
        );
        let result = update(
            &todo,
            json!({"merge": true, "todos": [{"id": "2", "content": "fix it", "status": "in_progress"},
                                            {"id": "3", "content": "test", "status": "pending"}]}),
        );
        assert!(result.starts_with("1 of 3 done"));
        let message = Message {
            role: Role::Tool,
            parts: vec![Part::ToolResult {
                call: CallId("c".into()),
                name: "todo".into(),
                content: result,
                failed: false,
            }],
            raw: None,
        };
        let later = Todo::from_history(&[Arc::new(message)]);
        assert_eq!(*later.steps.lock().unwrap(), *todo.steps.lock().unwrap());
        assert_eq!(later.steps.lock().unwrap().len(), 3);
    }

    #[test]
    fn a_list_without_end_is_refused() {
        let todo = Todo::from_history(&[]);
        let steps: Vec<_> = (0..200)
            .map(|n| json!({"id": n.to_string(), "content": "x", "status": "pending"}))
            .collect();
        assert!(
            todo.update(read(json!({ "todos": steps })).unwrap())
                .is_err()
        );
        assert_eq!(todo.steps.lock().unwrap().len(), MOST_STEPS);
    }
}
