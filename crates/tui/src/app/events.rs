//! What the session says.

use std::time::Duration;

use hermes_core::{CallId, Event, Question, SessionId, TurnEnd};

use super::turn::{Held, Running, Turn, Written, tool_cell};
use super::{App, Effect, Mode, Occasion, Tag, ToolLines};
use crate::cells::{self, Cell, Failure, Fold, Level, ToolState};
use crate::diff::Diff;
use crate::panels::{Finished, Panel, Verdict};
use crate::status::Cost;

/// A turn that took this long is worth a ring at its end.
const LONG_TURN: Duration = Duration::from_secs(20);
/// How far two who count the same time may be apart.
const ABOUT: Duration = Duration::from_secs(1);

impl App {
    pub(super) fn event(&mut self, event: Event, now: Duration, effects: &mut Vec<Effect>) {
        match event {
            Event::TurnStarted { .. } => self.starts(now, effects),
            Event::TextDelta { text } => self.says(&text, now),
            Event::ReasoningDelta { text } => self.thinks(&text, now),
            Event::ToolPreparing { name } => self.prepares(name, now),
            Event::ToolStarted {
                call,
                name,
                arguments,
            } => {
                let cell = tool_cell(name, &arguments, &self.settings);
                self.begins_tool(call, cell, now);
            }
            Event::ToolOutput { call, chunk } => {
                if let Some(running) = self.running(&call, now) {
                    running.cell.output.push(&chunk);
                }
            }
            Event::FileChanged { call, diff } => {
                if let Some(running) = self.running(&call, now) {
                    running.diff.push_str(&diff);
                }
            }
            Event::ToolFinished {
                call,
                failed,
                summary,
            } => self.ends_tool(&call, failed, &summary, now),
            Event::Ask(question) => self.ask(&question, now, effects),
            Event::Answered { question, how } => {
                self.withdraw(|tag| matches!(tag, Tag::Question(asked, _) if *asked == question));
                self.notice(Level::Info, how);
            }
            Event::RouteChanged {
                provider,
                model,
                reason,
            } => {
                let words = format!("{model} from {provider} answers now: {reason}");
                self.notice(Level::Info, words);
            }
            Event::SessionChanged { session } => self.goes_on_as(&session),
            Event::Usage { turn, call } => {
                self.turn(now).usage = Some(turn);
                self.has_used(call.total());
            }
            Event::Compacted { before, after } => {
                let words = format!("the conversation was shortened: {before} → {after} tokens");
                self.notice(Level::Info, words);
                self.compressions += 1;
            }
            Event::Notice { text } => {
                self.end_text();
                self.notice(Level::Info, text);
            }
            Event::TurnFinished { why, .. } => self.turn_ended(why, now, effects),
        }
    }

    fn starts(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        self.begin_turn(now);
        // The list marks what works.
        self.ask_for_sessions(effects);
    }

    fn goes_on_as(&mut self, session: &SessionId) {
        self.put_in_front(Some(session.clone()));
        let words = format!("the conversation goes on as {session}");
        self.notice(Level::Info, words);
    }

    /// All calls of a turn send much the same once more; what the last one took is what there is. One that was cut
    /// short says nothing about it.
    fn has_used(&mut self, tokens: u64) {
        if tokens > 0 {
            self.used = tokens;
        }
    }

    pub(super) fn begin_turn(&mut self, now: Duration) {
        let mut turn = Turn::new(now);
        // Of what has no price yet, all that is known afterwards was added.
        turn.cost_before = self.standing.as_ref().and_then(|now| match now.cost {
            Cost::Known(sum) => Some(sum),
            Cost::Unknown => Some(0.0),
            Cost::Hidden => None,
        });
        self.turn = Some(turn);
        self.last_tool = None;
    }

    /// What the session cost so far.
    fn cost(&self) -> Option<f64> {
        match self.standing.as_ref()?.cost {
            Cost::Known(sum) => Some(sum),
            Cost::Hidden | Cost::Unknown => None,
        }
    }

    /// The turn; events may come before its first word.
    fn turn(&mut self, now: Duration) -> &mut Turn {
        if self.turn.is_none() {
            self.begin_turn(now);
        }
        self.turn.get_or_insert_with(|| Turn::new(now))
    }

    fn says(&mut self, text: &str, now: Duration) {
        self.end_thought(now);
        self.turn(now).preparing = None;
        if self.settings.holds_text() {
            let held = self.turn(now).held.get_or_insert_with(|| Held {
                text: String::new(),
                since: now,
            });
            return held.text.push_str(text);
        }
        let mut answer = match self.turn(now).answer.take() {
            Some(answer) => answer,
            None if text.trim().is_empty() => return,
            None => Written {
                writing: self.begin_answer(),
                text: String::new(),
                since: now,
            },
        };
        answer.writing.push(text);
        if self.settings.mode == Mode::Full {
            answer.text.push_str(text);
        }
        self.show_written(&mut answer.writing);
        let paused = answer.writing.is_between_blocks();
        self.turn(now).answer = Some(answer);
        if paused && self.is_held_up() {
            self.end_text();
        }
    }

    fn thinks(&mut self, text: &str, now: Duration) {
        self.end_text();
        // Thoughts say nothing about whether more calls follow.
        if self.settings.commentary {
            self.end_held();
        }
        self.turn(now).preparing = None;
        self.turn(now).think(text, now);
    }

    fn prepares(&mut self, name: String, now: Duration) {
        self.end_thought(now);
        self.end_text();
        self.turn(now).preparing = Some(name);
    }

    fn begins_tool(&mut self, call: CallId, cell: cells::Tool, now: Duration) {
        self.end_thought(now);
        self.end_text();
        match self.settings.commentary {
            true => self.end_held(),
            false => self.turn(now).held = None,
        }
        self.turn(now).preparing = None;
        self.turn(now).tool(call, cell, now);
    }

    fn ends_tool(&mut self, call: &CallId, failed: bool, summary: &str, now: Duration) {
        if let Some(running) = self.turn(now).take_tool(call) {
            self.tool_ended(running, failed, summary, now);
        }
    }

    /// A call that is under way.
    fn running(&mut self, call: &CallId, now: Duration) -> Option<&mut Running> {
        let tools = &mut self.turn(now).tools;
        tools.iter_mut().find(|one| one.call == *call)
    }

    /// What was being written is complete.
    pub(super) fn end_text(&mut self) {
        let Some(mut answer) = self.turn.as_mut().and_then(|turn| turn.answer.take()) else {
            return;
        };
        answer.writing.finish();
        self.show_written(&mut answer.writing);
        self.show_answer(answer.text, answer.since);
        self.show_waiting();
    }

    /// What waited is an answer.
    pub(super) fn end_held(&mut self) {
        let held = self.turn.as_mut().and_then(|turn| turn.held.take());
        if let Some(held) = held.filter(|held| !held.text.trim().is_empty()) {
            let answer = cells::Answer {
                text: held.text,
                label: None,
                marks: self.settings.marks,
            };
            self.show_from(Cell::Answer(answer), Some(held.since));
        }
    }

    fn end_thought(&mut self, now: Duration) {
        let fold = match self.settings.mode {
            Mode::Inline => self.settings.thoughts.fold(),
            // They are kept even if they are hidden: somebody may want to see them later.
            Mode::Full => Some(Fold::Folded),
        };
        let turn = self.turn.as_mut();
        let thought = turn.and_then(|turn| turn.take_thought(now));
        if let (Some(thought), Some(fold)) = (thought, fold) {
            self.show(Cell::Reasoning(cells::Reasoning { fold, ..thought }));
        }
    }

    fn tool_ended(&mut self, running: Running, failed: bool, summary: &str, now: Duration) {
        let took = now.saturating_sub(running.started);
        let mut cell = running.cell;
        cell.state = match failed {
            true => ToolState::Failed(took, first_line(summary)),
            false => ToolState::Done(took),
        };
        cell.output.settle();
        let again = self.last_tool.replace(cell.name.clone()) == Some(cell.name.clone());
        let shown = match self.settings.tools {
            ToolLines::Off => false,
            ToolLines::New => !again,
            ToolLines::All | ToolLines::Verbose => true,
        };
        if shown {
            self.show(Cell::Tool(cell));
        }
        let answered = || {
            let result = serde_json::from_str::<serde_json::Value>(summary).ok()?;
            Some(result.get("diff")?.as_str()?.to_owned())
        };
        let diff = Some(running.diff).filter(|diff| !diff.is_empty());
        let diff = diff.or_else(answered).filter(|_| self.settings.diffs);
        if let Some(diff) = diff {
            let diff = Diff::parse(&diff).below(&self.directory);
            self.show(Cell::Diff(diff));
        }
    }

    fn ask(&mut self, question: &Question, now: Duration, effects: &mut Vec<Effect>) {
        let panel = Panel::for_question(&question.kind);
        let tag = Tag::Question(question.id, question.session.clone());
        if self.panels.is_empty() {
            self.came_up(now);
        }
        if self.panels.push(tag, panel, Some(question.deadline)) {
            effects.push(Effect::Ring(Occasion::Asks));
        }
    }

    /// A panel is over.
    pub(super) fn answered(&mut self, over: Finished<Tag>, effects: &mut Vec<Effect>) {
        if let Some(summary) = over.summary.filter(|_| self.settings.keep_prompts) {
            self.notice(Level::Info, summary);
        }
        let question = match over.tag {
            Tag::Question(question, _) => question,
            Tag::Program(then) => {
                let lines = then.lines(&over.verdict);
                return effects.extend(lines.into_iter().map(Effect::Command));
            }
        };
        // Whoever asked has stopped waiting by itself.
        if over.verdict == Verdict::TimedOut {
            return;
        }
        if let Some(answer) = over.verdict.into_answer() {
            effects.push(Effect::Send(hermes_core::Op::Answer { question, answer }));
        }
    }

    /// Takes back the questions of the session in front: nobody waits for these any more, so nobody is told.
    pub(super) fn withdraw_own(&mut self) {
        if let Some(session) = self.session.clone() {
            self.withdraw_of(&session);
        }
    }

    /// Takes back the questions of a session.
    pub(super) fn withdraw_of(&mut self, session: &SessionId) {
        self.withdraw(|tag| matches!(tag, Tag::Question(_, asks) if asks == session));
    }

    fn withdraw(&mut self, over: impl Fn(&Tag) -> bool) {
        let gone = self.panels.withdraw(over);
        if !gone.is_empty() {
            self.moved_up(self.now);
        }
    }

    fn tell_end(&mut self, why: TurnEnd) {
        match why {
            TurnEnd::Done => {}
            TurnEnd::Interrupted => self.notice(Level::Info, "stopped"),
            TurnEnd::Budget => {
                self.notice(
                    Level::Warn,
                    "the limit of model calls is reached; say `go on`",
                );
            }
            TurnEnd::Empty if !self.settings.explain => self.notice(Level::Info, "no answer"),
            TurnEnd::Empty => {
                let message = "the model said nothing, even when it was asked again".to_owned();
                let next =
                    Some("ask in another way, or choose another model with /model".to_owned());
                self.show(Cell::Failure(Failure { message, next }));
            }
            TurnEnd::Failed { message, hint } => {
                let next = hint;
                self.show(Cell::Failure(Failure { message, next }));
            }
        }
    }

    fn turn_ended(&mut self, why: TurnEnd, now: Duration, effects: &mut Vec<Effect>) {
        self.end_thought(now);
        self.end_text();
        self.end_held();
        let Some(turn) = self.turn.take() else {
            return;
        };
        let took = now.saturating_sub(turn.started);
        for running in turn.tools {
            self.tool_ended(running, true, "stopped", now);
        }
        // Whoever asked has counted for itself, and may have given up a little earlier than is seen here.
        if why != TurnEnd::Interrupted {
            let session = self.session.clone();
            let own =
                |tag: &Tag| matches!(tag, Tag::Question(_, asks) if Some(asks) == session.as_ref());
            for over in self.panels.lapse(ABOUT, own) {
                self.answered(over, effects);
            }
        }
        self.withdraw_own();
        self.tell_end(why);
        let told = self.settings.show_usage || self.settings.show_cost;
        if let (true, Some(usage)) = (told, turn.usage) {
            let cost = match (turn.cost_before, self.cost()) {
                (Some(before), Some(after)) => Some((after - before).max(0.0)),
                (Some(_) | None, _) => None,
            };
            self.show(Cell::TurnEnd(cells::TurnEnd {
                input: usage.total() - usage.output_tokens,
                output: usage.output_tokens,
                cost,
                elapsed: took,
            }));
        }
        self.took = Some(took);
        self.ended_at = Some(now);
        if self.settings.ring && took >= LONG_TURN {
            effects.push(Effect::Ring(Occasion::Done));
        }
        self.ask_for_sessions(effects);
        self.send_waiting(now, effects);
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
