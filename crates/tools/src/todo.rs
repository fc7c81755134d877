//! `todo`: the list of steps a model keeps while it works.

use std::sync::{Arc, Mutex, PoisonError};

use futures_core::future::BoxFuture;
use hermes_core::{
    CallId, Effect, Message, Part, Tool, ToolContext, ToolError, ToolOutcome, ToolSpec,
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value as Json, json};

use crate::arguments::{read, refuse, text};

/// The tool's name, by which earlier lists are found again.
const NAME: &str = "todo";
/// Most steps of a list.
const MOST_STEPS: usize = 256;
/// Most characters of a step.
const LONGEST: usize = 4_000;

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
    todos: Option<Json>,
    #[serde(default)]
    merge: bool,
}

/// A step as a model writes it: a change of a known one may leave things out.
#[derive(Deserialize)]
struct Given {
    #[serde(default)]
    id: Json,
    #[serde(default)]
    content: Option<String>,
    /// One that is not known says nothing, so the rest of the list still counts.
    #[serde(default, deserialize_with = "known_status")]
    status: Option<Status>,
}

fn known_status<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Status>, D::Error> {
    let given = Json::deserialize(from)?;
    Ok(Status::deserialize(given).ok())
}

impl Given {
    /// The id, or the place in the list where there is none.
    fn id(&self, place: usize) -> String {
        match &self.id {
            Json::String(text) if !text.trim().is_empty() => text.trim().to_owned(),
            Json::Null | Json::String(_) => place.to_string(),
            other => other.to_string(),
        }
    }

    fn change(self, step: &mut Item) {
        if let Some(content) = self.content {
            step.content = content.chars().take(LONGEST).collect();
        }
        if let Some(status) = self.status {
            step.status = status;
        }
    }
}

impl Todo {
    /// The list as the history leaves it.
    pub fn from_history(history: &[Arc<Message>]) -> Self {
        let parts = history.iter().flat_map(|message| &message.parts);
        let parts: Vec<&Part> = parts.filter(|part| is_ours(part)).collect();
        let read = (0..parts.len()).rev().find_map(|at| match parts.get(at)? {
            Part::ToolResult { content, .. } => Some((at + 1, listed(content)?)),
            _ => None,
        });
        let (from, steps) = read.unwrap_or_default();
        let todo = Self {
            spec: spec(),
            steps: Mutex::new(steps),
        };
        // A result that was too long for the conversation is not in it; its call still says what it did.
        for at in from..parts.len() {
            let (before, after) = parts.split_at(at);
            if let Some(Part::ToolResult { call, .. }) = after.first()
                && let Some(asked) = asked_by(before, call)
            {
                // What cannot be done now could not be done then.
                drop(todo.update(asked));
            }
        }
        todo
    }

    fn update(&self, asked: Asked) -> ToolOutcome {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(given) = asked.todos {
            let mut changed = if asked.merge {
                steps.clone()
            } else {
                Vec::new()
            };
            for (index, given) in list(given)?.into_iter().enumerate() {
                let id = given.id(index + 1);
                // The last of several with one id is the one that is meant.
                match changed.iter_mut().find(|known| known.id == id) {
                    Some(known) => given.change(known),
                    None => {
                        let mut step = Item {
                            id,
                            content: String::new(),
                            status: Status::Pending,
                        };
                        given.change(&mut step);
                        changed.push(step);
                    }
                }
            }
            if changed.len() > MOST_STEPS {
                return Err(refuse(format!("a list has at most {MOST_STEPS} steps")));
            }
            *steps = changed;
        }
        Ok(text(shown(&steps)))
    }
}

/// Whether a part is a call of this tool, or its answer.
fn is_ours(part: &Part) -> bool {
    match part {
        Part::ToolCall(call) => call.name == NAME,
        Part::ToolResult { name, failed, .. } => name == NAME && !failed,
        Part::Text { .. } | Part::Reasoning { .. } | Part::Media(_) => false,
    }
}

/// What the last call with this id asked for.
fn asked_by(parts: &[&Part], id: &CallId) -> Option<Asked> {
    let arguments = parts.iter().rev().find_map(|part| match part {
        Part::ToolCall(call) if call.id == *id => Some(call.arguments.clone()),
        _ => None,
    })?;
    read(arguments).ok()
}

/// The steps of a call; some models write the list as a text.
fn list(given: Json) -> Result<Vec<Given>, ToolError> {
    let parsed = match given {
        Json::String(text) => serde_json::from_str(&text),
        other => serde_json::from_value(other),
    };
    parsed.map_err(|error| {
        refuse(format!(
            "todos is not a list of steps ({error}); give an array of objects with id, content and status"
        ))
    })
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

/// The list and how far it is.
fn shown(steps: &[Item]) -> String {
    let count = |status: Status| steps.iter().filter(|step| step.status == status).count();
    json!({
        "todos": steps,
        "summary": {
            "total": steps.len(),
            "pending": count(Status::Pending),
            "in_progress": count(Status::InProgress),
            "completed": count(Status::Completed),
            "cancelled": count(Status::Cancelled),
        },
    })
    .to_string()
}

fn listed(content: &str) -> Option<Vec<Item>> {
    #[derive(Deserialize)]
    struct List {
        todos: Vec<Item>,
    }
    // Older results have a line of words before it.
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
    use hermes_core::{Role, ToolCall};

    use super::*;

    fn update(todo: &Todo, arguments: Json) -> String {
        todo.update(read(arguments).unwrap()).unwrap().content
    }

    // EX-63
    #[test]
    fn lists_are_replaced_merged_and_found_again() {
        let todo = Todo::from_history(&[]);
        let empty: Json = serde_json::from_str(&update(&todo, json!({}))).unwrap();
        assert_eq!(
            (&empty["todos"], &empty["summary"]["total"]),
            (&json!([]), &json!(0))
        );
        update(
            &todo,
            json!({"todos": [{"id": "1", "content": "look", "status": "completed"},
                             {"id": "2", "content": "fix", "status": "pending"},
                             {"id": "2", "content": "mend", "status": "pending"}]}),
        );
        let result = update(
            &todo,
            json!({"merge": true, "todos": "[{\"id\": 2, \"status\": \"in_progress\"}, {\"id\": \"3\", \"content\": \"test\"}]"}),
        );
        let told: Json = serde_json::from_str(&result).unwrap();
        let summary =
            json!({"total": 3, "pending": 1, "in_progress": 1, "completed": 1, "cancelled": 0});
        assert_eq!(told["summary"], summary);
        assert_eq!(
            told["todos"][1],
            json!({"id": "2", "content": "mend", "status": "in_progress"})
        );
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

    // EX-63
    #[test]
    fn a_list_whose_result_was_kept_elsewhere_is_found_by_its_call() {
        let said = |id: &str, arguments: Json, content: &str| {
            let call = Part::ToolCall(ToolCall {
                id: CallId(id.into()),
                name: NAME.into(),
                arguments,
            });
            let result = Part::ToolResult {
                call: CallId(id.into()),
                name: NAME.into(),
                content: content.into(),
                failed: false,
            };
            let message = |role, part| {
                Arc::new(Message {
                    role,
                    parts: vec![part],
                    raw: None,
                })
            };
            [message(Role::Assistant, call), message(Role::Tool, result)]
        };
        let step = |id: &str, status: &str| json!({"id": id, "content": "look", "status": status});
        let first = json!({"todos": [step("1", "pending")]});
        let short = shown(&[Item {
            id: "1".into(),
            content: "look".into(),
            status: Status::Pending,
        }]);
        let longer =
            json!({"merge": true, "todos": [step("1", "completed"), step("2", "pending")]});
        let history: Vec<Arc<Message>> = [
            said("a", first, &short),
            said("b", longer, "<persisted-output>\n{\"todos\":[{\"id\":"),
        ]
        .concat();
        let told: Json =
            serde_json::from_str(&update(&Todo::from_history(&history), json!({}))).unwrap();
        assert_eq!(
            told["todos"],
            json!([step("1", "completed"), step("2", "pending")])
        );
    }

    // EX-63
    #[test]
    fn a_status_nobody_knows_and_a_missing_id_do_not_cost_the_list() {
        let todo = Todo::from_history(&[]);
        let told: Json = serde_json::from_str(&update(
            &todo,
            json!({"todos": [{"id": "a", "content": "look", "status": "done"},
                             {"content": "fix", "status": "completed"},
                             {"id": " ", "content": "test", "status": 7}]}),
        ))
        .unwrap();
        assert_eq!(
            told["todos"],
            json!([{"id": "a", "content": "look", "status": "pending"},
                   {"id": "2", "content": "fix", "status": "completed"},
                   {"id": "3", "content": "test", "status": "pending"}])
        );
        // A step that is known keeps its status.
        let told: Json = serde_json::from_str(&update(
            &todo,
            json!({"merge": true, "todos": [{"id": "2", "status": "finished"}]}),
        ))
        .unwrap();
        assert_eq!(told["todos"][1]["status"], "completed");
    }

    // EX-63
    #[test]
    fn what_is_no_list_is_refused_as_json() {
        let todo = Todo::from_history(&[]);
        let refused = todo.update(read(json!({"todos": "three steps"})).unwrap());
        let Err(ToolError::ForModel { message }) = refused else {
            panic!("{refused:?}");
        };
        let told: Json = serde_json::from_str(&message).unwrap();
        assert!(
            told["error"].as_str().unwrap().contains("array of objects"),
            "{told}"
        );
    }

    // EX-63
    #[test]
    fn a_list_without_end_is_refused_and_long_steps_are_cut() {
        let todo = Todo::from_history(&[]);
        let steps: Vec<_> = (0..=MOST_STEPS)
            .map(|n| json!({"id": n.to_string(), "content": "x", "status": "pending"}))
            .collect();
        let asked = read(json!({ "todos": steps })).unwrap();
        assert!(todo.update(asked).is_err());
        assert!(todo.steps.lock().unwrap().is_empty());
        update(
            &todo,
            json!({"todos": [{"id": "1", "content": "é".repeat(5_000)}]}),
        );
        assert_eq!(
            todo.steps.lock().unwrap()[0].content.chars().count(),
            LONGEST
        );
    }
}
