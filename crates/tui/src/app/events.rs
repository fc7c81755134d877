//! What the session says.

use std::time::Duration;

use hermes_core::{Event, Question, TurnEnd, Usage};

use super::turn::Turn;
use super::{App, Effect, Tag};
use crate::cells::{self, Answer, Cell, Failure, Fold, Level, Marks, ToolState};
use crate::diff::Diff;
use crate::markdown::Stream;
use crate::panels::{Finished, Panel, Verdict};
use crate::status;

/// A turn that took this long is worth a ring at its end.
const LONG_TURN: Duration = Duration::from_secs(20);

impl App {
    pub(super) fn event(&mut self, event: Event, now: Duration, effects: &mut Vec<Effect>) {
        match event {
            Event::TurnStarted { .. } => self.turn = Some(Turn::new(now)),
            Event::TextDelta { text } => self.says(&text, now),
            Event::ReasoningDelta { text } => {
                self.end_text();
                self.turn(now).think(&text, now);
            }
            Event::ToolStarted {
                call,
                name,
                arguments,
            } => {
                self.end_thought(now);
                self.end_text();
                self.turn(now).tool(call, name, &arguments, now);
            }
            Event::ToolOutput { call, chunk } => {
                let tools = &mut self.turn(now).tools;
                if let Some(running) = tools.iter_mut().find(|one| one.call == call) {
                    running.cell.output.push(&chunk);
                }
            }
            Event::ToolFinished {
                call,
                failed,
                summary,
            } => {
                if let Some(running) = self.turn(now).take_tool(&call) {
                    self.tool_ended(running, failed, &summary, now);
                }
            }
            Event::Ask(question) => self.ask(&question, now, effects),
            Event::RouteChanged {
                provider,
                model,
                reason,
            } => {
                self.notice(
                    Level::Info,
                    format!("{model} from {provider} answers now: {reason}"),
                );
                if let Some(status) = &mut self.status {
                    status.model = status::model_label(&model, None);
                }
            }
            Event::SessionChanged { session } => {
                self.notice(
                    Level::Info,
                    format!("the conversation goes on as {session}"),
                );
            }
            Event::Usage(usage) => self.used(usage, now),
            Event::Compacted { before, after } => {
                self.notice(
                    Level::Info,
                    format!("the conversation was shortened: {before} → {after} tokens"),
                );
                if let Some(status) = &mut self.status {
                    status.compressions += 1;
                }
            }
            Event::Notice { text } => {
                self.end_text();
                self.notice(Level::Info, text);
            }
            Event::TurnFinished { why, .. } => self.turn_ended(why, now, effects),
        }
    }

    /// The turn; events may come before its first word.
    fn turn(&mut self, now: Duration) -> &mut Turn {
        self.turn.get_or_insert_with(|| Turn::new(now))
    }

    fn says(&mut self, text: &str, now: Duration) {
        self.end_thought(now);
        let columns = self.columns();
        if self.turn(now).stream.is_none() {
            if text.trim().is_empty() {
                return;
            }
            let head = Answer {
                text: String::new(),
                label: None,
                marks: Marks::Render,
            }
            .head(columns, &self.theme);
            self.push_apart(vec![head]);
            let stream = Stream::new(columns, &self.theme);
            self.turn(now).stream = Some(stream);
        }
        let mut lines = Vec::new();
        if let Some(stream) = &mut self.turn(now).stream {
            stream.push(text);
            lines = stream.take_finished();
        }
        self.finished.extend(lines);
    }

    /// What was being written is complete.
    fn end_text(&mut self) {
        let Some(mut stream) = self.turn.as_mut().and_then(|turn| turn.stream.take()) else {
            return;
        };
        stream.finish();
        self.finished.extend(stream.take_finished());
        self.spaced = false;
    }

    fn end_thought(&mut self, now: Duration) {
        let fold = self.reasoning_fold();
        let thought = self
            .turn
            .as_mut()
            .and_then(|turn| turn.take_thought(now, fold));
        if let Some(thought) = thought {
            self.show(&Cell::Reasoning(thought));
        }
    }

    pub(super) fn reasoning_fold(&self) -> Fold {
        match self.settings.show_reasoning {
            true => Fold::Open,
            false => Fold::Folded,
        }
    }

    fn tool_ended(
        &mut self,
        running: super::turn::Running,
        failed: bool,
        summary: &str,
        now: Duration,
    ) {
        let took = now.saturating_sub(running.started);
        let mut cell = running.cell;
        cell.state = match failed {
            true => ToolState::Failed(took, first_line(summary)),
            false => ToolState::Done(took),
        };
        // Calls that follow each other stand together.
        let lines = cell.lines(self.columns(), &self.theme);
        self.finished.extend(lines);
        self.spaced = false;
        let diff = serde_json::from_str::<serde_json::Value>(summary)
            .ok()
            .and_then(|result| Some(result.get("diff")?.as_str()?.to_owned()));
        if let Some(diff) = diff {
            let lines = Cell::Diff(Diff::parse(&diff)).lines(self.columns(), &self.theme);
            self.finished.extend(lines);
        }
    }

    fn ask(&mut self, question: &Question, now: Duration, effects: &mut Vec<Effect>) {
        let panel = Panel::for_question(&question.kind);
        let tag = Tag::Question(question.id);
        if self.panels.is_empty() {
            self.asked_at = Some(now);
            self.last_tick = now;
        }
        if self.panels.push(tag, panel, Some(question.deadline)) {
            effects.push(Effect::Ring);
        }
    }

    /// A panel is over.
    pub(super) fn answered(&mut self, over: Finished<Tag>, effects: &mut Vec<Effect>) {
        if let Some(summary) = over.summary {
            self.notice(Level::Info, summary);
        }
        let Tag::Question(question) = over.tag;
        // Whoever asked has stopped waiting by itself.
        if over.verdict == Verdict::TimedOut {
            return;
        }
        if let Some(answer) = over.verdict.into_answer() {
            effects.push(Effect::Send(hermes_core::Op::Answer { question, answer }));
        }
    }

    fn used(&mut self, usage: Usage, now: Duration) {
        self.turn(now).usage = Some(usage);
        let used = usage.total();
        if let Some(context) = self
            .status
            .as_mut()
            .and_then(|status| status.context.as_mut())
        {
            context.used = used;
        }
    }

    fn turn_ended(&mut self, why: TurnEnd, now: Duration, effects: &mut Vec<Effect>) {
        self.end_thought(now);
        self.end_text();
        let Some(turn) = self.turn.take() else {
            return;
        };
        let took = now.saturating_sub(turn.started);
        for running in turn.tools {
            self.tool_ended(running, true, "stopped", now);
        }
        // Nobody waits for these any more, so nobody is told.
        self.panels.withdraw(|Tag::Question(_)| true);
        match why {
            TurnEnd::Done => {}
            TurnEnd::Interrupted => self.notice(Level::Info, "stopped"),
            TurnEnd::Budget => {
                self.notice(
                    Level::Warn,
                    "the limit of model calls is reached; say `go on`",
                );
            }
            TurnEnd::Empty => {
                let message = "the model said nothing, even when it was asked again".to_owned();
                let next =
                    Some("ask in another way, or choose another model with /model".to_owned());
                self.show(&Cell::Failure(Failure { message, next }));
            }
            TurnEnd::Failed { message, hint } => {
                let next = hint;
                self.show(&Cell::Failure(Failure { message, next }));
            }
        }
        if let (true, Some(usage)) = (self.settings.show_usage, turn.usage) {
            self.show(&Cell::TurnEnd(cells::TurnEnd {
                input: usage.total() - usage.output_tokens,
                output: usage.output_tokens,
                cost: None,
                elapsed: took,
            }));
        }
        if let Some(status) = &mut self.status {
            status.turn = Some(status::Turn::Done(took));
        }
        if self.settings.ring && took >= LONG_TURN {
            effects.push(Effect::Ring);
        }
        self.interrupted_at = None;
        self.send_waiting(now, effects);
    }
}

fn first_line(text: &str) -> String {
    let said = serde_json::from_str::<serde_json::Value>(text)
        .ok()
        .and_then(|result| Some(result.get("error")?.as_str()?.to_owned()));
    let text = said.as_deref().unwrap_or(text);
    text.lines().next().unwrap_or_default().to_owned()
}
