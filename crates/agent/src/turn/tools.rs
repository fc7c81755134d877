//! Running the tools an answer asked for.

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

/// Most characters of a result that front ends show.
const MOST_SUMMARY: usize = 400;

impl Turn<'_> {
    /// Runs a batch, segment by segment. Each result is a row before the next segment starts.
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
            let mut outcomes = self.run_segment(&batch, &segment).await;
            let redactor = self.around.services.redactor.snapshot();
            let mut shown: Vec<_> = outcomes
                .drain(..)
                .map(|(index, outcome)| {
                    let handling = batch[index].tool.handling();
                    let limit = handling.max_chars.min(sizes.result);
                    let name = &batch[index].call.name;
                    let shown =
                        present::show(outcome, name, handling.untrusted, limit, &redactor, &spill);
                    (index, shown)
                })
                .collect();
            let mut contents: Vec<_> = shown.iter().map(|(_, shown)| shown.clone()).collect();
            present::fit_batch(&mut contents, left, &spill);
            for ((index, slot), content) in shown.iter_mut().zip(contents) {
                *slot = content;
                left = left.saturating_sub(slot.content.len());
                let ready = &batch[*index];
                let effect = ready.tool.spec().effect;
                match self
                    .guard
                    .finished(&ready.call, effect, slot.failed, &slot.content)
                {
                    Verdict::Fine => {}
                    Verdict::Warn(words) => slot.content.push_str(&format!("\n\n[Note: {words}.]")),
                    Verdict::Halt(words) => halted = Some(words),
                }
                if let Some(hint) = self.hint_for(ready) {
                    slot.content.push_str(&hint);
                }
                self.keep_result(ready, slot).await?;
            }
            if self.around.cancel.is_cancelled() || halted.is_some() {
                break;
            }
        }
        if let Some(words) = halted {
            return Ok(Step::Finish(TurnEnd::Failed {
                message: format!("stopped going round in circles: {words}"),
                hint: Some(
                    "say how to go on, or raise tool_loop_guardrails.hard_stop_after".to_owned(),
                ),
            }));
        }
        if self.around.cancel.is_cancelled() {
            self.close_unstarted(&batch).await?;
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
        let mut outcomes: Vec<_> = stream::iter(segment.iter().copied())
            .map(|index| async move {
                let ready = &batch[index];
                self.say(self.started(ready)).await;
                self.toolbox.notice(Notice::Called(&ready.call.name));
                let context = ToolContext {
                    session: self.around.spec.id.clone(),
                    turn: self.id,
                    call: ready.call.id.clone(),
                    directory: self.around.spec.directory.clone(),
                    cancel: self.around.cancel.child_token(),
                    deadline: ready.tool.handling().deadline,
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
        let touched = ["path", "workdir"]
            .iter()
            .find_map(|name| arguments.get(name)?.as_str())?;
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

    async fn keep_result(
        &mut self,
        ready: &Ready,
        shown: &present::Shown,
    ) -> Result<(), StoreError> {
        self.keep(Message {
            role: Role::Tool,
            parts: vec![Part::ToolResult {
                call: ready.call.id.clone(),
                name: ready.call.name.clone(),
                content: shown.content.clone(),
                failed: shown.failed,
            }],
            raw: None,
        })
        .await?;
        self.say(Event::ToolFinished {
            call: ready.call.id.clone(),
            failed: shown.failed,
            summary: shown.content.chars().take(MOST_SUMMARY).collect(),
        })
        .await;
        Ok(())
    }

    /// Calls that never started get a result that says so.
    async fn close_unstarted(&mut self, batch: &[Ready]) -> Result<(), StoreError> {
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
        for ready in batch {
            if !answered.contains(&ready.call.id) {
                let shown = present::Shown {
                    content: "[TOOL_ERROR] not started: the user stopped the turn".to_owned(),
                    failed: true,
                };
                self.keep_result(ready, &shown).await?;
            }
        }
        Ok(())
    }
}
