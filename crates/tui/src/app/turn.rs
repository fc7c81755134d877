//! The turn under way: what is not history yet.

use std::time::Duration;

use hermes_core::CallId;
use ratatui::text::Line;
use serde_json::Value as Json;

use crate::cells::{Fold, Output, Reasoning, Tool, ToolState, tool_verb};
use crate::markdown::Stream;
use crate::spinner::Activity;
use crate::theme::Theme;

/// Arguments that say what a call is about, the most telling first.
const TELLING: [&str; 12] = [
    "command",
    "path",
    "file_path",
    "pattern",
    "query",
    "url",
    "question",
    "name",
    "code",
    "action",
    "text",
    "session_id",
];
/// Most characters of an argument that are looked at.
const LONGEST_PREVIEW: usize = 400;

/// A turn.
pub(super) struct Turn {
    pub(super) started: Duration,
    /// Whether it was asked to stop.
    pub(super) stopping: bool,
    /// The answer that is being written.
    pub(super) stream: Option<Stream>,
    pub(super) reasoning: Option<Thought>,
    pub(super) tools: Vec<Running>,
    pub(super) usage: Option<hermes_core::Usage>,
}

/// Thoughts as they come.
pub(super) struct Thought {
    pub(super) text: String,
    pub(super) started: Duration,
}

/// A call that runs.
pub(super) struct Running {
    pub(super) call: CallId,
    pub(super) started: Duration,
    pub(super) cell: Tool,
}

impl Turn {
    pub(super) fn new(now: Duration) -> Self {
        Self {
            started: now,
            stopping: false,
            stream: None,
            reasoning: None,
            tools: Vec::new(),
            usage: None,
        }
    }

    pub(super) fn resize(&mut self, columns: usize) {
        if let Some(stream) = &mut self.stream {
            stream.resize(columns);
        }
    }

    /// More thoughts.
    pub(super) fn think(&mut self, text: &str, now: Duration) {
        let thought = self.reasoning.get_or_insert_with(|| Thought {
            text: String::new(),
            started: now,
        });
        thought.text.push_str(text);
    }

    /// The thoughts, which are over.
    pub(super) fn take_thought(&mut self, now: Duration, fold: Fold) -> Option<Reasoning> {
        let thought = self.reasoning.take()?;
        Some(Reasoning {
            text: thought.text,
            elapsed: now.saturating_sub(thought.started),
            done: true,
            fold,
        })
    }

    pub(super) fn tool(&mut self, call: CallId, name: String, arguments: &Json, now: Duration) {
        let cell = Tool {
            verb: tool_verb(&name).to_owned(),
            preview: preview(arguments),
            name,
            state: ToolState::Running(Duration::ZERO),
            output: Output::default(),
            fold: Fold::Folded,
        };
        self.tools.push(Running {
            call,
            started: now,
            cell,
        });
    }

    /// The cell of a call that ended.
    pub(super) fn take_tool(&mut self, call: &CallId) -> Option<Running> {
        let place = self.tools.iter().position(|one| one.call == *call)?;
        Some(self.tools.remove(place))
    }

    /// What the agent is busy with, in one line.
    pub(super) fn activity(&self) -> Activity {
        match (self.tools.first(), &self.reasoning) {
            (Some(running), _) => Activity::Tool {
                name: running.cell.name.clone(),
                label: format!("{} {}", running.cell.verb, running.cell.preview),
            },
            (None, Some(_)) => Activity::Thinking,
            (None, None) => Activity::Waiting,
        }
    }

    /// What is to be seen of it besides the line that moves.
    pub(super) fn lines(
        &self,
        now: Duration,
        columns: usize,
        reasoning: Fold,
        theme: &Theme,
    ) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        if let Some(thought) = &self.reasoning {
            let cell = Reasoning {
                text: thought.text.clone(),
                elapsed: now.saturating_sub(thought.started),
                done: false,
                fold: reasoning,
            };
            lines.extend(cell.lines(columns, theme));
        }
        if let Some(stream) = &self.stream {
            lines.extend(stream.tail());
        }
        for running in &self.tools {
            let cell = Tool {
                state: ToolState::Running(now.saturating_sub(running.started)),
                ..running.cell.clone()
            };
            lines.extend(cell.lines(columns, theme));
        }
        lines
    }
}

/// What a call is about, in a few words.
fn preview(arguments: &Json) -> String {
    let text = |value: &Json| match value {
        Json::String(text) => Some(text.chars().take(LONGEST_PREVIEW).collect::<String>()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let told = TELLING
        .iter()
        .find_map(|name| arguments.get(*name).and_then(text));
    told.or_else(|| arguments.as_object()?.values().find_map(text))
        .unwrap_or_default()
}
