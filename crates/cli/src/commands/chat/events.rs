//! Following a turn: what is printed, what is kept for the end.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use hermes_core::{Event, Op, TurnEnd, Usage};
use hermes_store::Session;
use hermes_tui::{Cleaner, clean_line};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::conversation::Conversation;
use crate::complaint::Outcome;
use crate::output::{Output, Style, cleaned, printable};

/// How much of a turn is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// Nothing: the caller prints the answer.
    Answer,
    /// Text as it comes, tools and notices beside it.
    Everything,
}

/// How a turn ended.
pub(super) struct Ending {
    pub(super) session: String,
    pub(super) provider: String,
    pub(super) model: String,
    /// What the route that answered asked for.
    pub(super) service_tier: Option<String>,
    /// The last thing that was said.
    pub(super) answer: String,
    pub(super) usage: Usage,
    pub(super) calls: u32,
    /// The session as it stands now, with its costs.
    pub(super) row: Option<Session>,
    pub(super) why: TurnEnd,
}

/// The last thing that was said in a turn.
#[derive(Debug, Default)]
pub(super) struct LastSaid {
    now: String,
    /// What was said before the last calls: the answer, if nothing follows them.
    before: String,
}

impl LastSaid {
    /// Takes a piece in; answers it without the space in front of an answer.
    pub(super) fn push<'t>(&mut self, text: &'t str) -> &'t str {
        let piece = match self.now.is_empty() {
            true => text.trim_start(),
            false => text,
        };
        self.now.push_str(piece);
        piece
    }

    /// Whatever was said, calls follow it.
    pub(super) fn calls_follow(&mut self) {
        let said = std::mem::take(&mut self.now);
        if !said.trim().is_empty() {
            self.before = said;
        }
    }

    /// What the answer of a turn is that ended like this.
    pub(super) fn at_the_end(&mut self, why: &TurnEnd) -> String {
        let before = std::mem::take(&mut self.before);
        match std::mem::take(&mut self.now) {
            now if now.trim().is_empty() && *why == TurnEnd::Done => before,
            now => now,
        }
    }
}

/// Follows one turn.
pub(super) struct Watch<'o> {
    shown: Shown,
    output: &'o mut Output,
    busy: ProgressBar,
    answer: LastSaid,
    /// Makes the answer harmless as it comes.
    cleaner: Cleaner,
    usage: Usage,
    calls: u32,
    mid_line: bool,
}

/// What a call that failed said first.
pub(super) fn first_line(summary: &str) -> String {
    let line = summary.lines().next().unwrap_or_default();
    line.chars().take(120).collect()
}

impl<'o> Watch<'o> {
    pub(super) fn new(shown: Shown, output: &'o mut Output) -> Self {
        // Nothing is drawn when stderr is no terminal.
        let busy = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            busy.set_style(style);
        }
        if std::io::stderr().is_terminal() {
            busy.enable_steady_tick(Duration::from_millis(100));
        }
        Self {
            shown,
            output,
            busy,
            answer: LastSaid::default(),
            cleaner: Cleaner::prose(),
            usage: Usage::default(),
            calls: 0,
            mid_line: false,
        }
    }

    /// Reads events to the end of the turn. Ctrl+C stops the turn.
    pub(super) async fn until_end(mut self, conversation: &Conversation) -> Outcome<Ending> {
        let front = conversation.front();
        self.busy.set_message("thinking");
        let why = loop {
            let event = tokio::select! {
                event = front.next_event() => event,
                _ = tokio::signal::ctrl_c() => {
                    front.send(Op::Interrupt);
                    continue;
                }
            };
            let Some(event) = event else {
                break TurnEnd::Interrupted;
            };
            match event {
                Event::TurnFinished { why, .. } => break why,
                Event::RouteChanged {
                    provider: to,
                    model: name,
                    reason,
                } => self.note(&format!("{to}/{name} answers now: {reason}"))?,
                Event::SessionChanged { session } => {
                    self.note(&format!("the conversation goes on as {session}"))?;
                }
                other => self.take(other)?,
            }
        };
        self.busy.finish_and_clear();
        if self.mid_line {
            self.output.line("")?;
            self.output.flush()?;
        }
        let session = front.id();
        let row = conversation.house.store.session(&session).await;
        let route = front.route();
        Ok(Ending {
            row: row.unwrap_or_default(),
            session: session.to_string(),
            provider: route.provider.clone(),
            model: route.model.clone(),
            service_tier: route.service_tier().map(str::to_owned),
            answer: self.answer.at_the_end(&why),
            usage: self.usage,
            calls: self.calls,
            why,
        })
    }

    fn take(&mut self, event: Event) -> Outcome {
        match event {
            Event::TextDelta { text } => self.text(&text)?,
            Event::ToolStarted {
                name, arguments, ..
            } => {
                self.answer.calls_follow();
                self.busy.set_message(clean_line(&name));
                let shown: String = arguments.to_string().chars().take(100).collect();
                if self.shown == Shown::Everything {
                    self.note(&format!("┊ {name} {shown}"))?;
                }
            }
            Event::ToolFinished {
                failed, summary, ..
            } => {
                self.busy.set_message("thinking");
                if failed && self.shown == Shown::Everything {
                    self.note(&format!("┊ failed: {}", first_line(&summary)))?;
                }
            }
            Event::Usage { turn, .. } => {
                self.usage = turn;
                self.calls += 1;
            }
            Event::Compacted { before, after } => {
                self.note(&format!(
                    "the conversation was shortened: {before} → {after} tokens"
                ))?;
            }
            Event::Notice { text } => self.note(&text)?,
            // Nobody is asked in a run of one question.
            Event::Ask(_)
            | Event::Answered { .. }
            | Event::TurnStarted { .. }
            | Event::ReasoningDelta { .. }
            | Event::ToolPreparing { .. }
            | Event::ToolOutput { .. }
            | Event::FileChanged { .. }
            | Event::SessionChanged { .. }
            | Event::RouteChanged { .. }
            | Event::TurnFinished { .. } => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Outcome {
        let piece = self.answer.push(text);
        if self.shown == Shown::Everything && !piece.is_empty() {
            self.busy.set_draw_target(ProgressDrawTarget::hidden());
            let mut shown = String::new();
            match self.output.is_terminal() {
                true => self.cleaner.push(text, &mut shown),
                // A program may need the tabs.
                false => shown = printable(text),
            }
            write!(self.output, "{shown}")?;
            self.output.flush()?;
            if let Some(last) = shown.chars().next_back() {
                self.mid_line = last != '\n';
            }
        }
        Ok(())
    }

    /// A remark beside the answer, on stderr.
    fn note(&mut self, text: &str) -> Outcome {
        if std::mem::take(&mut self.mid_line) {
            self.output.line("")?;
        }
        self.output.flush()?;
        let line = self.output.paint(Style::Faint, &cleaned(text));
        let printed = self.busy.suspend(|| writeln!(std::io::stderr(), "{line}"));
        Ok(printed?)
    }
}
