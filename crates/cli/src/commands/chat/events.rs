//! Following a turn: what is printed, what is kept for the end.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use hermes_core::{Event, Op, TurnEnd};
use hermes_store::Spent;
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
    /// What was answered.
    pub(super) answer: String,
    /// What all of it used and cost.
    pub(super) spent: Spent,
    pub(super) why: TurnEnd,
}

/// Follows one turn.
pub(super) struct Watch<'o> {
    shown: Shown,
    output: &'o mut Output,
    busy: ProgressBar,
    /// Whether anything but space was said since the last call.
    spoke: bool,
    /// Makes the answer harmless as it comes.
    cleaner: Cleaner,
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
            spoke: false,
            cleaner: Cleaner::prose(),
            mid_line: false,
        }
    }

    /// Reads events to the end of the turn. Ctrl+C stops the turn.
    pub(super) async fn until_end(mut self, conversation: &Conversation) -> Outcome<Ending> {
        let front = conversation.front();
        self.busy.set_message("thinking");
        let (why, answer) = loop {
            let event = tokio::select! {
                event = front.next_event() => event,
                _ = tokio::signal::ctrl_c() => {
                    front.send(Op::Interrupt);
                    continue;
                }
            };
            let Some(event) = event else {
                break (TurnEnd::Interrupted, String::new());
            };
            match event {
                Event::TurnFinished { why, answer, .. } => break (why, answer),
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
        let began = conversation.began.as_duration().as_secs_f64();
        let spent = conversation.house.store.spent(&session, began).await;
        let spent = spent.unwrap_or_else(|error| {
            tracing::warn!(%error, "it is not known what this run used");
            Spent::default()
        });
        let route = front.route();
        Ok(Ending {
            spent,
            session: session.to_string(),
            provider: route.provider.clone(),
            model: route.model.clone(),
            service_tier: route.service_tier().map(str::to_owned),
            why: match why {
                // The limit was reached, and nobody said how far it came.
                TurnEnd::Done | TurnEnd::Budget if answer.is_empty() => TurnEnd::Empty,
                why => why,
            },
            answer,
        })
    }

    fn take(&mut self, event: Event) -> Outcome {
        match event {
            Event::TextDelta { text } => self.text(&text)?,
            Event::ToolStarted {
                name, arguments, ..
            } => {
                self.spoke = false;
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
            | Event::Usage { .. }
            | Event::FileChanged { .. }
            | Event::SessionChanged { .. }
            | Event::RouteChanged { .. }
            | Event::TurnFinished { .. } => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Outcome {
        self.spoke |= !text.trim().is_empty();
        if self.shown == Shown::Everything && self.spoke {
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
