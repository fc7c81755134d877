//! Running the tools an answer asked for.

use std::mem::take;
use std::path::Path;
use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use hermes_core::{Event, Message, Notice, Part, Role, ToolContext, TurnEnd};
use hermes_secrets::Scope;
use hermes_store::StoreError;

use super::{Step, Turn};
use crate::batch::guard::Verdict;
use crate::batch::plan::{self, MOST_AT_ONCE};
use crate::batch::present::{self, Sizes, Spill};
use crate::batch::{Ready, run};
use crate::host::Host;

/// The tool that reads a file piece by piece.
const READS_PIECES: &str = "read_file";
/// Most characters of a result that front ends show.
const MOST_SUMMARY: usize = 400;

impl Turn<'_> {
    /// Runs a batch, segment by segment. The results of one are rows before the next starts.
    pub(super) async fn run_tools(&mut self, batch: Vec<Ready>) -> Result<Step, StoreError> {
        let sizes = Sizes::of_window(self.around.spec.course.window());
        let spill = Spill::new(
            &self
                .around
                .services
                .spill
                .join(self.around.spec.id.as_str()),
        );
        let mut left = sizes.batch;
        let mut halted = None;
        for segment in plan::segments(&batch, &self.around.spec.directory) {
            self.settle().await?;
            let mut outcomes = self.run_segment(&batch, &segment).await;
            for (_, outcome) in &mut outcomes {
                // Words in place of pictures are as little ours as the pictures are.
                if let Ok(result) = outcome
                    && !result.media.is_empty()
                {
                    let (text, media) = (take(&mut result.content), take(&mut result.media));
                    (result.content, result.media) = self.seen(text, media).await;
                }
            }
            let redactor = self.around.services.redactor.snapshot();
            let failures: Vec<bool> = outcomes
                .iter()
                .map(|(_, outcome)| present::reports_failure(outcome))
                .collect();
            let mut shown: Vec<_> = outcomes
                .drain(..)
                .map(|(index, outcome)| {
                    let handling = batch[index].tool.handling();
                    // What is read piece by piece has limits of its own; a copy in a file would be read again.
                    let limit = match batch[index].call.name.as_str() {
                        READS_PIECES => handling.max_chars,
                        _ => handling.max_chars.min(sizes.result),
                    };
                    let name = &batch[index].call.name;
                    let shown =
                        present::show(outcome, name, handling.untrusted, limit, &redactor, &spill);
                    (index, shown)
                })
                .collect();
            let mut contents: Vec<_> = shown.iter().map(|(_, shown)| shown.clone()).collect();
            present::fit_batch(&mut contents, left, &spill);
            let mut results = Vec::with_capacity(shown.len());
            let shown_with = shown.iter_mut().zip(contents).zip(failures);
            for (((index, slot), content), failed) in shown_with {
                *slot = content;
                slot.close();
                left = left.saturating_sub(slot.content.len());
                let ready = &batch[*index];
                let effect = ready.tool.spec().effect;
                match self
                    .guard
                    .finished(&ready.call, effect, failed, &slot.content)
                {
                    Verdict::Fine => {}
                    Verdict::Warn(words) => slot.content.push_str(&format!("\n\n[Note: {words}.]")),
                    Verdict::Halt(words) => halted = Some(words),
                }
                if let Some(hint) = self.hint_for(ready) {
                    slot.content.push_str(&hint);
                }
                results.push(result(ready, slot));
            }
            self.keep_results(results).await?;
            if self.around.cancel.is_cancelled() || halted.is_some() {
                break;
            }
        }
        if let Some(words) = halted {
            self.close_unstarted(&batch, "the turn went round in circles")
                .await?;
            return Ok(Step::Finish(TurnEnd::Failed {
                message: format!("stopped going round in circles: {words}"),
                hint: Some(
                    "say how to go on, or raise tool_loop_guardrails.hard_stop_after".to_owned(),
                ),
            }));
        }
        if self.around.cancel.is_cancelled() {
            self.close_unstarted(&batch, "the user stopped the turn")
                .await?;
            return Ok(Step::Finish(TurnEnd::Interrupted));
        }
        Ok(Step::CallModel)
    }

    /// Runs the calls of one segment side by side; outcomes come in the order of the calls.
    async fn run_segment(
        &self,
        batch: &[Ready],
        segment: &[usize],
    ) -> Vec<(usize, hermes_core::ToolOutcome)> {
        let host = Arc::new(Host {
            shared: self.around.shared.clone(),
            session: self.around.spec.id.clone(),
            main: self.around.spec.course.route().clone(),
            events: self.around.events.clone(),
            toolbox: self.toolbox.clone(),
        });
        let host = &host;
        // One alone has its own deadline, which may be longer.
        let together = self.around.services.side_by_side;
        let together = together.filter(|_| segment.len() > 1);
        let started = tokio::time::Instant::now();
        let mut outcomes: Vec<_> = stream::iter(segment.iter().copied())
            .map(|index| async move {
                let ready = &batch[index];
                let deadline = ready.tool.handling().deadline;
                self.say(self.started(ready)).await;
                self.toolbox.notice(Notice::Called(&ready.call.name));
                let context = ToolContext {
                    session: self.around.spec.id.clone(),
                    turn: self.id,
                    call: ready.call.id.clone(),
                    directory: self.around.spec.directory.clone(),
                    cancel: self.around.cancel.child_token(),
                    deadline: match together {
                        Some(limit) => deadline.min(limit.saturating_sub(started.elapsed())),
                        None => deadline,
                    },
                    asker: self.around.asker.clone(),
                    mode: self.around.spec.mode,
                    attended: self.around.spec.attended,
                    lasting: self.around.spec.lasting,
                    nested: false,
                    host: host.clone(),
                };
                (index, run::run(ready, &context).await)
            })
            .buffer_unordered(MOST_AT_ONCE)
            .collect()
            .await;
        outcomes.sort_by_key(|(index, _)| *index);
        outcomes
    }

    /// Rules of a directory that a call touched for the first time.
    fn hint_for(&mut self, ready: &Ready) -> Option<String> {
        if self.around.spec.ignore_rules {
            return None;
        }
        let arguments = &ready.call.arguments;
        let text = |name: &str| arguments.get(name)?.as_str();
        let in_command = || {
            text("command")?
                .split_whitespace()
                .find(|word| is_path(word))
        };
        let touched = text("path")
            .or_else(|| text("workdir"))
            .or_else(in_command)?;
        let history = &self.history;
        let results = || -> Box<dyn Iterator<Item = &str>> {
            let parts = history.iter().flat_map(|entry| &entry.message.parts);
            Box::new(parts.filter_map(|part| match part {
                Part::ToolResult { content, .. } => Some(content.as_str()),
                _ => None,
            }))
        };
        self.hints
            .about(Path::new(touched), &self.around.spec.directory, results)
    }

    fn started(&self, ready: &Ready) -> Event {
        let redactor = self.around.services.redactor.snapshot();
        let shown = redactor
            .redact_in(Scope::Log, &ready.call.arguments.to_string())
            .into_owned();
        Event::ToolStarted {
            call: ready.call.id.clone(),
            name: ready.call.name.clone(),
            arguments: serde_json::from_str(&shown).unwrap_or(serde_json::Value::String(shown)),
        }
    }

    /// Calls that never started get a result that says so.
    async fn close_unstarted(&mut self, batch: &[Ready], why: &str) -> Result<(), StoreError> {
        self.settle().await?;
        // Only behind the answer that asked: ids of earlier answers may come again.
        let answered: Vec<_> = self
            .history
            .iter()
            .rev()
            .take_while(|entry| entry.message.role != Role::Assistant)
            .flat_map(|entry| &entry.message.parts)
            .filter_map(|part| match part {
                Part::ToolResult { call, .. } => Some(call.clone()),
                _ => None,
            })
            .collect();
        let shown = present::Shown::failure(&format!("[TOOL_ERROR] not started: {why}"));
        let unstarted = batch
            .iter()
            .filter(|ready| !answered.contains(&ready.call.id));
        let results = unstarted.map(|ready| result(ready, &shown)).collect();
        self.keep_results(results).await
    }
}

/// Whether a word of a command looks like the path of a file or folder.
fn is_path(word: &str) -> bool {
    word.contains('/') && !word.contains("://") && !word.starts_with(['-', '$', '"', '\''])
}

/// A result as it is kept, and as it is told.
fn result(ready: &Ready, shown: &present::Shown) -> (Message, Event) {
    let result = Part::ToolResult {
        call: ready.call.id.clone(),
        name: ready.asked.clone(),
        content: shown.content.clone(),
        failed: shown.failed,
    };
    let media = shown.media.iter().cloned().map(Part::Media);
    let message = Message {
        role: Role::Tool,
        parts: std::iter::once(result).chain(media).collect(),
        raw: None,
    };
    let event = Event::ToolFinished {
        call: ready.call.id.clone(),
        failed: shown.failed,
        summary: shown.content.chars().take(MOST_SUMMARY).collect(),
    };
    (message, event)
}
