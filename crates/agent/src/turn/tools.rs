//! Running the tools an answer asked for.

use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use hermes_core::{
    CallId, Event, Message, Notice, Origin, Part, Role, ToolContext, ToolOutcome, TurnEnd,
};
use hermes_secrets::{Redactor, Scope};
use hermes_store::StoreError;

use super::{Step, Turn};
use crate::batch::guard::Verdict;
use crate::batch::plan::{self, MOST_AT_ONCE};
use crate::batch::present::{self, Shown, Sizes, Spill};
use crate::batch::{Ready, run};
use crate::host::Host;
use crate::prompt::Project;

/// The tool whose scripts make many calls at the price of one.
const SCRIPTS: &str = "execute_code";
/// Most paths of one call whose rules are looked for.
const MOST_PATHS: usize = 32;
/// The tool that reads a file piece by piece.
const READS_PIECES: &str = "read_file";
/// Most characters of a result that front ends show.
const MOST_SUMMARY: usize = 400;
/// Bytes of a diff that people see.
const MOST_DIFF: usize = 32 * 1024;

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
        let mut room = Room {
            left: sizes.batch,
            sizes,
            spill,
        };
        let mut halted = None;
        let mut done = 0;
        while done < batch.len() {
            self.settle().await?;
            let start = done;
            done += plan::next(&batch, start, &self.around.spec.directory);
            let segment: Vec<usize> = (start..done).collect();
            let mut outcomes = self.run_segment(&batch, &segment).await;
            self.see(&mut outcomes).await;
            let results;
            (results, halted) = self.results(&batch, outcomes, &mut room).await;
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
        if !batch.is_empty() && batch.iter().all(|ready| ready.call.name == SCRIPTS) {
            self.give_back();
        }
        Ok(Step::CallModel)
    }

    /// Runs the calls of one segment side by side; outcomes come in the order of the calls.
    async fn run_segment(&self, batch: &[Ready], segment: &[usize]) -> Vec<(usize, ToolOutcome)> {
        let host = &Arc::new(self.host());
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
                let deadline = match together {
                    Some(limit) => deadline.min(limit.saturating_sub(started.elapsed())),
                    None => deadline,
                };
                let context = self.tool_context(host, ready.call.id.clone(), deadline);
                (index, run::run(ready, &context).await)
            })
            .buffer_unordered(MOST_AT_ONCE)
            .collect()
            .await;
        outcomes.sort_by_key(|(index, _)| *index);
        outcomes
    }

    /// Puts words in the place of pictures, where the model cannot see them.
    async fn see(&self, outcomes: &mut [(usize, ToolOutcome)]) {
        for (_, outcome) in outcomes {
            // Words in place of pictures are as little ours as the pictures are.
            if let Ok(result) = outcome
                && !result.media.is_empty()
            {
                let (text, media) = (take(&mut result.content), take(&mut result.media));
                (result.content, result.media) = self.seen(text, media).await;
            }
        }
    }

    /// The results of a segment, and why the turn ends if one of them ends it.
    async fn results(
        &mut self,
        batch: &[Ready],
        outcomes: Vec<(usize, ToolOutcome)>,
        room: &mut Room,
    ) -> (Vec<(Message, Event)>, Option<String>) {
        let redactor = self.around.services.redactor.snapshot();
        let mut halted = None;
        let mut results = Vec::with_capacity(outcomes.len());
        for Fitted {
            index,
            mut shown,
            failed,
        } in room.fitted(batch, outcomes, &redactor)
        {
            // The end of it said so, and was cut off.
            shown.failed |= failed && !present::says_failed(&shown.content);
            if let Some(text) = shown.suspicion() {
                self.say(Event::Notice { text }).await;
            }
            shown.close();
            room.left = room.left.saturating_sub(shown.content.len());
            let ready = &batch[index];
            let effect = ready.tool.spec().effect;
            match self
                .guard
                .finished(&ready.call, effect, failed, &shown.content)
            {
                Verdict::Fine => {}
                Verdict::Warn(words) => shown.content.push_str(&format!("\n\n[Note: {words}.]")),
                Verdict::Halt(stop) => {
                    shown.content = stop.result(&shown.content);
                    halted = Some(stop.message);
                }
            }
            shown.content.push_str(&self.hints_for(ready));
            results.push(result(ready, &shown));
        }
        (results, halted)
    }

    /// The session behind calls.
    pub(super) fn host(&self) -> Host {
        Host {
            shared: self.around.shared.clone(),
            session: self.around.spec.id.clone(),
            main: self.around.spec.course.route().clone(),
            events: self.around.events.clone(),
            toolbox: self.toolbox.clone(),
        }
    }

    /// What a call knows about where it runs.
    pub(super) fn tool_context(
        &self,
        host: &Arc<Host>,
        call: CallId,
        deadline: Duration,
    ) -> ToolContext {
        ToolContext {
            session: self.around.spec.id.clone(),
            turn: self.id,
            call,
            directory: self.around.spec.directory.clone(),
            cancel: self.around.cancel.child_token(),
            deadline,
            asker: self.around.asker.clone(),
            mode: self.around.spec.mode,
            attended: self.around.spec.attended,
            lasting: self.around.spec.lasting,
            origin: Origin::Conversation,
            nested: false,
            host: host.clone(),
        }
    }

    /// Rules of directories that a call touched for the first time.
    fn hints_for(&mut self, ready: &Ready) -> String {
        if self.around.spec.ignore_rules {
            return String::new();
        }
        let history = &self.history;
        let results = || -> Box<dyn Iterator<Item = &str>> {
            let parts = history.iter().flat_map(|entry| &entry.message.parts);
            Box::new(parts.filter_map(|part| match part {
                Part::ToolResult { content, .. } => Some(content.as_str()),
                _ => None,
            }))
        };
        let project = Project {
            directory: &self.around.spec.directory,
            home: &self.around.services.home,
            rules: &self.around.services.rules,
        };
        let home = &self.around.services.rules.home;
        let hints = &mut self.hints;
        touched(ready, project.directory, home)
            .iter()
            .filter_map(|path| hints.about(path, project, results))
            .collect()
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
        let shown = Shown::failure(&format!("[TOOL_ERROR] not started: {why}"));
        let unstarted = batch
            .iter()
            .filter(|ready| !answered.contains(&ready.call.id));
        let results = unstarted.map(|ready| result(ready, &shown)).collect();
        self.keep_results(results).await
    }
}

/// The room that the results of one batch have.
struct Room {
    sizes: Sizes,
    /// What is left of it for results to come.
    left: usize,
    spill: Spill,
}

/// A result that fits in its room.
struct Fitted {
    /// The place of its call in the batch.
    index: usize,
    shown: Shown,
    /// Whether all of it said that it failed.
    failed: bool,
}

impl Room {
    /// What the model sees of the outcomes of a segment: each within its own limit, and all within what is left.
    fn fitted(
        &self,
        batch: &[Ready],
        outcomes: Vec<(usize, ToolOutcome)>,
        redactor: &Redactor,
    ) -> Vec<Fitted> {
        let mut calls = Vec::with_capacity(outcomes.len());
        let mut shown = Vec::with_capacity(outcomes.len());
        for (index, outcome) in outcomes {
            calls.push((index, present::reports_failure(&outcome)));
            let ready = &batch[index];
            let handling = ready.tool.handling();
            let name = &ready.call.name;
            // What is read piece by piece has limits of its own; a copy in a file would be read again.
            let limit = match name.as_str() {
                READS_PIECES => handling.max_chars,
                _ => handling.max_chars.min(self.sizes.result),
            };
            let untrusted = handling.untrusted;
            let spill = &self.spill;
            shown.push(present::show(
                outcome, name, untrusted, limit, redactor, spill,
            ));
        }
        present::fit_batch(&mut shown, self.left, &self.spill);
        let fitted = calls.into_iter().zip(shown);
        let fitted = fitted.map(|((index, failed), shown)| Fitted {
            index,
            shown,
            failed,
        });
        fitted.collect()
    }
}

/// The paths a call names: its path, its directory, and those in its command, which start from there.
fn touched(ready: &Ready, directory: &Path, home: &Path) -> Vec<PathBuf> {
    let arguments = &ready.call.arguments;
    let text = |name: &str| arguments.get(name)?.as_str();
    let own = |path: &str| match path.strip_prefix("~/") {
        Some(below) => home.join(below),
        None => PathBuf::from(path),
    };
    let workdir = text("workdir");
    let words = text("command").unwrap_or_default().split_whitespace();
    let bare = words.map(|word| word.trim_matches(['"', '\'', ';', ',', '(', ')']));
    let start = workdir.map(own).unwrap_or_default();
    let named = bare
        .filter(|word| is_path(word))
        .map(|word| start.join(own(word)));
    // Its own tool knows best what a call is about, and where the session is by now.
    let known = ready.tool.touches(arguments, directory);
    let said = || text("path").map(own).into_iter().collect();
    let about = known.unwrap_or_else(said).into_iter();
    let about = about.chain(workdir.map(own));
    about.chain(named).take(MOST_PATHS).collect()
}

/// Whether a word of a command looks like the path of a file or folder.
fn is_path(word: &str) -> bool {
    word.contains('/') && !word.contains("://") && !word.starts_with(['-', '$', '"', '\''])
}

/// The beginning of a result, or all of what it changed: half a diff says nothing.
fn summary(content: &str) -> String {
    #[derive(serde::Deserialize, serde::Serialize)]
    struct Changed {
        diff: String,
    }
    match serde_json::from_str::<Changed>(content) {
        Ok(mut changed) => {
            changed
                .diff
                .truncate(changed.diff.floor_char_boundary(MOST_DIFF));
            serde_json::to_string(&changed).unwrap_or_default()
        }
        Err(_) => content.chars().take(MOST_SUMMARY).collect(),
    }
}

/// A result as it is kept, and as it is told.
fn result(ready: &Ready, shown: &Shown) -> (Message, Event) {
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
        failed: shown.failed || shown.why.is_some(),
        summary: shown.why.clone().unwrap_or_else(|| summary(&shown.content)),
    };
    (message, event)
}
