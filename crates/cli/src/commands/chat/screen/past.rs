//! What was said and done before, for a screen that shows it again.

use std::collections::HashMap;
use std::time::Duration;

use hermes_agent::{message_tokens, why_failed};
use hermes_core::{Message, Part, Role, SessionId};
use hermes_skills::typed_and_added;
use hermes_store::{Record, Store};
use hermes_tui::app::{Mode, Settings, ToolLines, tool_cell};
use hermes_tui::{Answer, Cell, Diff, Fold, Reasoning, ToolState, User};
use serde_json::Value as Json;

use crate::complaint::Outcome;

/// More is left to `hermes sessions show`.
const MOST_ROWS: u32 = 10_000;
/// Characters of the reason why a call failed.
const LONGEST_REASON: usize = 200;

/// Roughly how many tokens a session takes when it goes on.
pub(super) async fn size(store: &Store, id: &SessionId) -> Outcome<u64> {
    let history = store.history(id).await?;
    let tokens = history
        .iter()
        .map(|record| u64::from(message_tokens(&record.to_message())));
    Ok(tokens.sum())
}

/// What happened in a session, oldest first. What came since `asked` is left out: it is still going on.
pub(super) async fn of(
    store: &Store,
    id: &SessionId,
    asked: Option<&str>,
    directory: &str,
    settings: &Settings,
) -> Outcome<Vec<Cell>> {
    let mut rows = store.last_rows(id, MOST_ROWS).await?;
    let began = |record: &Record| {
        let text = record.to_message().plain_text();
        let typed = typed_and_added(&text).0.trim();
        record.role() == Some(Role::User) && Some(typed) == asked.map(str::trim)
    };
    if let Some(at) = rows.iter().rposition(began) {
        rows.truncate(at);
    }
    Ok(cells(&rows, directory, settings))
}

/// What was thought and called in some rows.
pub(super) fn steps(rows: &[Record], settings: &Settings) -> Vec<Cell> {
    // What changed in files is left out, so it does not matter where they are.
    let mut cells = cells(rows, "", settings);
    cells.retain(|cell| matches!(cell, Cell::Reasoning(_) | Cell::Tool(_)));
    cells
}

fn cells(rows: &[Record], directory: &str, settings: &Settings) -> Vec<Cell> {
    let mut past = Past {
        settings,
        directory,
        cells: Vec::new(),
        open: HashMap::new(),
        last: None,
    };
    for record in rows {
        let message = record.to_message();
        match record.role() {
            Some(Role::User) => past.asked(&message),
            Some(Role::Assistant) => past.answered(&message, record.timestamp),
            Some(Role::Tool) => past.returned(&message, record.timestamp),
            Some(Role::System) | None => {}
        }
    }
    past.cells
}

/// Cells as they are made of rows.
struct Past<'a> {
    settings: &'a Settings,
    /// Where the session worked.
    directory: &'a str,
    cells: Vec<Cell>,
    /// Calls whose results were not met yet: which cell, and when they were made.
    open: HashMap<String, (usize, f64)>,
    /// The tool that was called last, for those who want to see only others.
    last: Option<String>,
}

impl Past<'_> {
    fn asked(&mut self, message: &Message) {
        let text = message.plain_text();
        let preview = self.settings.preview;
        self.last = None;
        self.cells.push(Cell::User(User {
            text: typed_and_added(&text).0.to_owned(),
            first: preview.first,
            last: preview.last,
        }));
    }

    fn answered(&mut self, message: &Message, at: f64) {
        // Where thoughts can be unfolded, hidden ones are kept for that.
        let kept = self.settings.mode == Mode::Full || !self.settings.thoughts.hidden;
        for part in &message.parts {
            if let Part::Reasoning { text } = part
                && kept
                && !text.trim().is_empty()
            {
                self.cells.push(Cell::Reasoning(Reasoning {
                    text: text.clone(),
                    elapsed: Duration::ZERO,
                    done: true,
                    fold: Fold::Folded,
                }));
            }
        }
        let text = message.plain_text();
        let remark = message.tool_calls().next().is_some();
        if !text.trim().is_empty() && (self.settings.commentary || !remark) {
            self.cells.push(Cell::Answer(Answer {
                text,
                label: None,
                marks: self.settings.marks,
            }));
        }
        for call in message.tool_calls() {
            let again = self.last.replace(call.name.clone()).as_ref() == Some(&call.name);
            let shown = match self.settings.tools {
                ToolLines::Off => false,
                ToolLines::New => !again,
                ToolLines::All | ToolLines::Verbose => true,
            };
            if !shown {
                continue;
            }
            let mut tool = tool_cell(call.name.clone(), &call.arguments, self.settings);
            tool.state = ToolState::Failed(Duration::ZERO, "no result".to_owned());
            self.open.insert(call.id.0.clone(), (self.cells.len(), at));
            self.cells.push(Cell::Tool(tool));
        }
    }

    fn returned(&mut self, message: &Message, at: f64) {
        for part in &message.parts {
            let Part::ToolResult {
                call,
                content,
                failed,
                ..
            } = part
            else {
                continue;
            };
            let Some((place, begun)) = self.open.remove(&call.0) else {
                continue;
            };
            let result = serde_json::from_str::<Json>(content).ok();
            let word = |name: &str| result.as_ref()?.get(name)?.as_str();
            let took = Duration::try_from_secs_f64(at - begun).unwrap_or_default();
            if let Some(Cell::Tool(tool)) = self.cells.get_mut(place) {
                let first = || content.lines().next().unwrap_or_default().to_owned();
                let why = why_failed(content).or_else(|| failed.then(first));
                tool.state = match why {
                    Some(why) => {
                        ToolState::Failed(took, why.chars().take(LONGEST_REASON).collect())
                    }
                    None => ToolState::Done(took),
                };
                tool.output.push(word("output").unwrap_or(content));
            }
            let diff = word("diff").filter(|_| self.settings.diffs);
            if let Some(diff) = diff {
                let diff = Diff::parse(diff).below(self.directory);
                self.cells.push(Cell::Diff(diff));
            }
        }
    }
}
