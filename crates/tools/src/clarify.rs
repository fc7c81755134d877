//! `clarify`: a question to the user.

use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{
    Answer, AnsweredBy, Effect, Handling, Question, QuestionId, QuestionKind, Tool, ToolContext,
    ToolError, ToolOutcome, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::arguments::{read, refuse, text};

/// Most answers that are offered to pick from.
const MOST_CHOICES: usize = 4;
/// How long an answer is waited for, unless something else is set.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Asks the user.
pub struct Clarify {
    spec: ToolSpec,
    patience: Duration,
}

#[derive(Deserialize)]
struct Asked {
    question: String,
    #[serde(default)]
    choices: Vec<Json>,
}

/// The words of a choice; some models write an object.
fn words(choice: &Json) -> Option<String> {
    let text = match choice {
        Json::String(text) => Some(text.as_str()),
        Json::Object(fields) => ["label", "description", "text", "title"]
            .iter()
            .find_map(|name| fields.get(*name)?.as_str()),
        _ => None,
    };
    let text = text?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// What an answer means: the number of a choice, or its words in whatever case, are that choice.
fn meant(answer: &str, choices: &[String]) -> String {
    let answer = answer.trim();
    let by_number = answer
        .parse::<usize>()
        .ok()
        .and_then(|number| choices.get(number.checked_sub(1)?));
    let by_words = || {
        choices
            .iter()
            .find(|choice| choice.to_lowercase() == answer.to_lowercase())
    };
    by_number
        .or_else(by_words)
        .cloned()
        .unwrap_or_else(|| answer.to_owned())
}

impl Clarify {
    /// The tool.
    pub fn new() -> Self {
        Self {
            spec: ToolSpec {
                name: "clarify".to_owned(),
                description: "Ask the user one question when the task cannot be done well without the answer. \
                              Do not ask for permission or for what you can find out yourself."
                    .to_owned(),
                parameters: json!({
                    "type": "object",
                    "properties": {
                        "question": {"type": "string", "description": "The question."},
                        "choices": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": "Up to four answers to pick from; the user may always write another.",
                        },
                    },
                    "required": ["question"],
                }),
                effect: Effect::ReadOnly,
            },
            patience: PATIENCE,
        }
    }

    /// The tool, with how long an answer is waited for.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}

impl Default for Clarify {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for Clarify {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn handling(&self) -> Handling {
        Handling {
            // The asker's own limit passes first, and says what it means.
            deadline: self.patience.saturating_add(Duration::from_secs(60)),
            ..Handling::default()
        }
    }

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let asked: Asked = read(arguments)?;
            if asked.question.trim().is_empty() {
                return Err(refuse("the question is empty"));
            }
            let choices: Vec<String> = asked
                .choices
                .iter()
                .filter_map(words)
                .take(MOST_CHOICES)
                .collect();
            let question = Question {
                // The asker numbers its questions.
                id: QuestionId(0),
                session: context.session.clone(),
                kind: QuestionKind::Clarify {
                    question: asked.question.clone(),
                    choices: choices.clone(),
                },
                deadline: self.patience,
            };
            let reply = context.asker.ask(question, context.cancel.clone()).await;
            let response = match (reply.answer, reply.by) {
                (_, AnsweredBy::Stopped) => return Err(ToolError::Cancelled),
                (Answer::Text(answer), _) => meant(&answer, &choices),
                (_, AnsweredBy::Runtime) => {
                    return Err(refuse(
                        "Nobody can be asked here, or nobody answered in time. Decide yourself, choose what is \
                         easiest to undo, and say what you assumed.",
                    ));
                }
                (Answer::Deny { .. } | Answer::Dismiss, _) => {
                    "(no answer; decide yourself)".to_owned()
                }
                (_, _) => "yes".to_owned(),
            };
            let answer = json!({
                "question": asked.question,
                "choices_offered": choices,
                "user_response": response,
            });
            Ok(text(answer.to_string()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // EX-63
    #[test]
    fn choices_are_unwrapped_and_answers_mean_them() {
        let choices: Vec<String> = [
            json!(" red "),
            json!({"label": "Blue"}),
            json!(7),
            json!(""),
        ]
        .iter()
        .filter_map(words)
        .collect();
        assert_eq!(choices, ["red", "Blue"]);
        for (answer, meaning) in [
            ("2", "Blue"),
            ("RED", "red"),
            ("3", "3"),
            ("green", "green"),
            ("0", "0"),
        ] {
            assert_eq!(meant(answer, &choices), meaning);
        }
    }
}
