//! What a model may ask of memory.

use hermes_core::{Effect, ToolError, ToolSpec};
use hermes_memory::{Action, Operation, Target};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::arguments::refuse;

/// A call as a model writes it.
#[derive(Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    target: Option<String>,
    #[serde(default)]
    action: Option<String>,
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    old_text: Option<String>,
    #[serde(default)]
    operations: Option<Json>,
}

/// What is wanted.
pub(super) enum Wish {
    Read,
    Change(Vec<Operation>),
}

impl Asked {
    pub(super) fn target(&self) -> Result<Target, ToolError> {
        match self.target.as_deref().map(str::trim) {
            None | Some("") => Ok(Target::Memory),
            Some(word) => Target::of(&word.to_lowercase())
                .ok_or_else(|| refuse(format!("target is memory or user, not {word}"))),
        }
    }

    pub(super) fn wish(self) -> Result<Wish, ToolError> {
        if let Some(operations) = self.operations.filter(|given| !is_nothing(given)) {
            return list(operations).map(Wish::Change);
        }
        let Some(word) = self.action.as_deref().map(str::trim) else {
            return Err(refuse(
                "say what to do: action, or operations for several steps",
            ));
        };
        if word == "read" {
            return Ok(Wish::Read);
        }
        let one = json!({"action": word, "content": self.content, "old_text": self.old_text});
        let operation = serde_json::from_value::<Operation>(one);
        let operation = operation.map_err(|_| {
            refuse(format!(
                "action is add, replace, remove or read, not {word}"
            ))
        })?;
        Ok(Wish::Change(vec![operation]))
    }
}

fn is_nothing(given: &Json) -> bool {
    match given {
        Json::Null => true,
        Json::Array(items) => items.is_empty(),
        Json::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// The steps of a call; some models write the list as a text.
fn list(given: Json) -> Result<Vec<Operation>, ToolError> {
    let parsed = match given {
        Json::String(text) => serde_json::from_str(&text),
        other => serde_json::from_value(other),
    };
    parsed.map_err(|error| {
        refuse(format!(
            "operations is not a list of {{action, content, old_text}}: {error}"
        ))
    })
}

pub(super) fn spec() -> ToolSpec {
    let words = [Action::Add, Action::Replace, Action::Remove].map(Action::word);
    let content = json!({"type": "string", "description": "The new words, for add and replace."});
    let old_text = json!({
        "type": "string",
        "description": "Which entry, for replace and remove: a few words that stand in no other, or its id.",
    });
    ToolSpec {
        name: "memory".to_owned(),
        description: "Keep short facts for later sessions. `user` is about the person: name, work, tastes, how they \
                      want to be answered. `memory` is your notebook: the machine, projects, conventions, lessons. \
                      Save on your own when you learn something that will still be true and useful next week, above \
                      all when the person corrects you or asks you to remember. Leave out what a task is about \
                      today, what is easy to find again, long data, and secrets. One fact an entry, in plain words. \
                      There is little room: put several changes into `operations`, which is checked as a whole, and \
                      make room in the same call. What you keep is in your prompt from the next session on; `read` \
                      shows what is kept now."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "target": {"type": "string", "enum": Target::ALL.map(Target::word)},
                "action": {"type": "string", "enum": [words[0], words[1], words[2], "read"]},
                "content": content,
                "old_text": old_text,
                "operations": {
                    "type": "array",
                    "description": "Several steps in place of action: all are done or none.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "action": {"type": "string", "enum": words},
                            "content": content,
                            "old_text": old_text,
                        },
                        "required": ["action"],
                    },
                },
            },
            "required": ["target"],
        }),
        effect: Effect::Mutating,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(call: Json) -> Asked {
        serde_json::from_value(call).unwrap()
    }

    fn steps(call: Json) -> Vec<Operation> {
        match asked(call).wish().unwrap() {
            Wish::Change(operations) => operations,
            Wish::Read => panic!("a change was asked for"),
        }
    }

    // LN-4
    #[test]
    fn calls_are_understood_in_every_form_models_write() {
        let target = |call: Json| asked(call).target().ok();
        assert_eq!(target(json!({})), Some(Target::Memory));
        assert_eq!(target(json!({"target": null})), Some(Target::Memory));
        assert_eq!(target(json!({"target": " User"})), Some(Target::User));
        assert_eq!(target(json!({"target": "skills"})), None);
        assert!(matches!(
            asked(json!({"action": "read"})).wish(),
            Ok(Wish::Read)
        ));
        let one = steps(json!({"action": "add", "content": "x", "operations": []}));
        assert_eq!(one, [Operation::add("x")]);
        let several =
            json!([{"action": "remove", "old_text": "a"}, {"action": "add", "content": "b"}]);
        let expected = [Operation::remove("a"), Operation::add("b")];
        assert_eq!(steps(json!({"operations": several})), expected);
        assert_eq!(steps(json!({"operations": several.to_string()})), expected);
        for wrong in [
            json!({}),
            json!({"action": "forget"}),
            json!({"operations": [{"content": "x"}]}),
            json!({"operations": "later"}),
        ] {
            assert!(asked(wrong.clone()).wish().is_err(), "{wrong}");
        }
    }
}
