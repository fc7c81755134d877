//! `clarify`: a question to the user.

use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{
    Answer, AnsweredBy, Effect, Handling, Question, QuestionId, QuestionKind, Tool, ToolContext,
    ToolOutcome, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::arguments::{read, refuse, text};

/// Most answers that are offered to pick from.
const MOST_CHOICES: usize = 4;
/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Asks the user.
pub struct Clarify {
    spec: ToolSpec,
}

#[derive(Deserialize)]
struct Asked {
    question: String,
    #[serde(default)]
    choices: Vec<String>,
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
        }
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
            deadline: PATIENCE + Duration::from_secs(60),
            ..Handling::default()
        }
    }

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let asked: Asked = read(arguments)?;
            if asked.question.trim().is_empty() {
                return Err(refuse("the question is empty"));
            }
            let choices = asked
                .choices
                .into_iter()
                .filter(|choice| !choice.trim().is_empty())
                .take(MOST_CHOICES)
                .collect();
            let question = Question {
                // The asker numbers its questions.
                id: QuestionId(0),
                session: context.session.clone(),
                kind: QuestionKind::Clarify {
                    question: asked.question,
                    choices,
                },
                deadline: PATIENCE,
            };
            let reply = context.asker.ask(question, context.cancel.clone()).await;
            match (reply.answer, reply.by) {
                (Answer::Text(answer), _) => Ok(text(format!("The user answered: {answer}"))),
                (_, AnsweredBy::Runtime) => Ok(text(
                    "Nobody can be asked here, or nobody answered in time. Decide yourself, choose what is \
                     easiest to undo, and say what you assumed.",
                )),
                (Answer::Deny { .. }, _) => {
                    Ok(text("The user did not want to answer. Decide yourself."))
                }
                (_, _) => Ok(text("The user agreed.")),
            }
        })
    }
}
