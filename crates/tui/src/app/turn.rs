//! The turn under way: what is not history yet.

use std::borrow::Cow;
use std::time::Duration;

use hermes_core::CallId;
use ratatui::text::Line;
use serde_json::Value as Json;

use super::{Labels, Mode, Settings, ToolLines};
use crate::cells::{Fold, Output, Reasoning, Tool, ToolState, Writing, tool_verb};
use crate::spinner::Activity;
use crate::theme::Theme;
use crate::transcript::Tail;

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
/// Most characters of arguments when all of them are shown.
const LONGEST_ARGUMENTS: usize = 4_000;
/// Bytes of thoughts that are kept.
const MOST_THOUGHTS: usize = 1024 * 1024;
/// Bytes of thoughts that are drawn while they come: what is seen is their end.
const LIVE_THOUGHTS: usize = 8 * 1024;

/// A turn.
pub(super) struct Turn {
    pub(super) started: Duration,
    /// Whether it was asked to stop.
    pub(super) stopping: bool,
    /// The answer that is being written.
    pub(super) answer: Option<Written>,
    /// What was said and waits until it is known what it is.
    pub(super) held: Option<Held>,
    pub(super) reasoning: Option<Thought>,
    /// The tool whose call the model is writing.
    pub(super) preparing: Option<String>,
    pub(super) tools: Vec<Running>,
    pub(super) usage: Option<hermes_core::Usage>,
    /// What the session had cost at its start, when that is known.
    pub(super) cost_before: Option<f64>,
}

/// An answer as it comes.
pub(super) struct Written {
    pub(super) writing: Writing,
    /// Its text so far, where it may have to be laid out again.
    pub(super) text: String,
    pub(super) since: Duration,
}

/// Text that is not shown yet.
pub(super) struct Held {
    pub(super) text: String,
    pub(super) since: Duration,
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
    /// What it changed in files, as far as it was told.
    pub(super) diff: String,
}

impl Turn {
    pub(super) fn new(now: Duration) -> Self {
        Self {
            started: now,
            stopping: false,
            answer: None,
            held: None,
            reasoning: None,
            preparing: None,
            tools: Vec::new(),
            usage: None,
            cost_before: None,
        }
    }

    /// Lines have another width from now on. Where all of the answer is still seen, all of it is laid out again.
    pub(super) fn resize(&mut self, columns: usize, settings: &Settings, theme: &Theme) {
        let Some(answer) = &mut self.answer else {
            return;
        };
        match settings.mode {
            Mode::Inline => answer.writing.resize(columns),
            Mode::Full => {
                answer.writing = Writing::new(settings.marks, columns, theme);
                answer.writing.push(&answer.text);
            }
        }
    }

    /// More thoughts.
    pub(super) fn think(&mut self, text: &str, now: Duration) {
        let thought = self.reasoning.get_or_insert_with(|| Thought {
            text: String::new(),
            started: now,
        });
        if thought.text.len() < MOST_THOUGHTS {
            thought.text.push_str(text);
        }
    }

    /// The thoughts, which are over.
    pub(super) fn take_thought(&mut self, now: Duration) -> Option<Reasoning> {
        let thought = self.reasoning.take()?;
        Some(Reasoning {
            text: thought.text,
            elapsed: now.saturating_sub(thought.started),
            done: true,
            fold: Fold::Folded,
        })
    }

    pub(super) fn tool(&mut self, call: CallId, cell: Tool, now: Duration) {
        self.tools.push(Running {
            call,
            started: now,
            cell,
            diff: String::new(),
        });
    }

    /// The cell of a call that ended.
    pub(super) fn take_tool(&mut self, call: &CallId) -> Option<Running> {
        let place = self.tools.iter().position(|one| one.call == *call)?;
        Some(self.tools.remove(place))
    }

    /// What the agent is busy with, in one line.
    /// What goes on; a call that is to be seen anyway is not named once more.
    pub(super) fn activity(&self, carded: bool) -> Activity {
        match (self.tools.first(), &self.preparing, &self.reasoning) {
            (Some(_), ..) if carded => Activity::Working,
            (Some(running), ..) => Activity::Tool {
                name: running.cell.name.clone(),
                label: format!("{} {}", running.cell.verb, running.cell.preview),
            },
            (None, Some(name), _) => Activity::Tool {
                name: name.clone(),
                label: format!("preparing {name}"),
            },
            (None, None, Some(_)) => Activity::Thinking,
            (None, None, None) => Activity::Waiting,
        }
    }

    /// What is to be seen of it above the live area's other parts: the ends of what changes, no more than the last
    /// `most` lines of the answer.
    pub(super) fn lines(
        &self,
        now: Duration,
        columns: usize,
        most: usize,
        settings: &Settings,
        theme: &Theme,
    ) -> Vec<Line<'static>> {
        let fold = settings.thoughts.fold();
        let mut lines = fold.map_or_else(Vec::new, |fold| self.thoughts(now, fold, columns, theme));
        if let Some(answer) = &self.answer {
            let tail = answer.writing.tail();
            let start = tail.len().saturating_sub(most);
            lines.extend(tail.into_iter().skip(start));
        }
        lines.extend(self.calls(now, columns, settings, theme));
        lines
    }

    /// All of it, behind a transcript; `head` stands above the answer.
    pub(super) fn tail(
        &self,
        now: Duration,
        head: Vec<Line<'static>>,
        columns: usize,
        settings: &Settings,
        theme: &Theme,
    ) -> Tail<'_> {
        let mut parts: Vec<Cow<'_, [Line<'static>]>> = Vec::new();
        if let Some(fold) = settings.sections.thinking.fold() {
            let lines = self.thoughts(now, fold, columns, theme);
            if !lines.is_empty() {
                parts.push(vec![Line::default()].into());
            }
            parts.push(lines.into());
        }
        if let Some(answer) = &self.answer {
            parts.push(vec![Line::default()].into());
            parts.push(head.into());
            parts.push(answer.writing.done().into());
            parts.push(answer.writing.tail().into());
        }
        parts.push(self.calls(now, columns, settings, theme).into());
        Tail(parts)
    }

    fn thoughts(
        &self,
        now: Duration,
        fold: Fold,
        columns: usize,
        theme: &Theme,
    ) -> Vec<Line<'static>> {
        let Some(thought) = &self.reasoning else {
            return Vec::new();
        };
        let start = thought.text.len().saturating_sub(LIVE_THOUGHTS);
        let start = (start..thought.text.len())
            .find(|place| thought.text.is_char_boundary(*place))
            .unwrap_or_default();
        let cell = Reasoning {
            text: thought.text.get(start..).unwrap_or_default().to_owned(),
            elapsed: now.saturating_sub(thought.started),
            done: false,
            fold,
        };
        cell.lines(columns, theme)
    }

    fn calls(
        &self,
        now: Duration,
        columns: usize,
        settings: &Settings,
        theme: &Theme,
    ) -> Vec<Line<'static>> {
        if settings.tools == ToolLines::Off {
            return Vec::new();
        }
        let one = |running: &Running| {
            let state = ToolState::Running(now.saturating_sub(running.started));
            running.cell.lines_in(&state, columns, theme)
        };
        self.tools.iter().flat_map(one).collect()
    }
}

/// The cell of a call that was just begun.
pub fn tool_cell(name: String, arguments: &Json, settings: &Settings) -> Tool {
    let verbose = settings.tools == ToolLines::Verbose;
    let mut preview = match verbose {
        true => whole(arguments),
        false => preview(arguments),
    };
    if let Some(most) = settings.tool_preview
        && let Some((end, _)) = preview.char_indices().nth(most)
    {
        preview.truncate(end);
        preview.push('…');
    }
    Tool {
        verb: match settings.labels {
            Labels::Friendly => tool_verb(&name).to_owned(),
            Labels::Names => name.clone(),
        },
        preview,
        name,
        state: ToolState::Running(Duration::ZERO),
        output: Output::default(),
        fold: match verbose {
            true => Fold::Open,
            false => Fold::Folded,
        },
    }
}

/// All arguments of a call.
fn whole(arguments: &Json) -> String {
    let text = serde_json::to_string_pretty(arguments).unwrap_or_default();
    text.chars().take(LONGEST_ARGUMENTS).collect()
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
