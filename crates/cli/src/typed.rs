//! What somebody types, and the questions it answers.

mod form;

use std::collections::VecDeque;
use std::io::{self, BufRead, IsTerminal, Write};

use hermes_core::{Answer, InboxId, Question, QuestionKind, Reach};
use nix::sys::termios::{FlushArg, tcflush};
use tokio::sync::mpsc;

use crate::output::printable;

/// Lines that may wait to be read.
const QUEUE: usize = 16;
/// Lines that may be typed ahead while an answer is on its way; whoever types more waits.
const MOST_AHEAD: usize = 64;

/// A line that was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
    /// The row it waits in, when it is a message that does.
    pub(crate) row: Option<InboxId>,
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Self { text, row: None }
    }
}

/// The lines of a conversation. What was typed before a question was asked is no answer to it; from a pipe all of it
/// was.
pub(crate) struct Typed {
    lines: mpsc::Receiver<String>,
    /// Whether somebody can answer.
    by_hand: bool,
    /// Typed while a question or an answer was on its way.
    ahead: VecDeque<Line>,
    /// Nobody types any more.
    over: bool,
}

impl Typed {
    pub(crate) fn new() -> Self {
        Self {
            lines: lines(),
            by_hand: io::stdin().is_terminal(),
            ahead: VecDeque::new(),
            over: false,
        }
    }

    /// Whether somebody sits there and reads what is asked.
    pub(crate) fn is_by_hand(&self) -> bool {
        self.by_hand
    }

    /// The next line; `None` when nobody types any more.
    pub(crate) async fn next(&mut self) -> Option<Line> {
        match self.ahead.pop_front() {
            Some(line) => Some(line),
            None => self.lines.recv().await.map(Line::from),
        }
    }

    /// The next line that is typed while an answer is on its way; never, where nobody sits there or has typed enough.
    /// May be dropped before it ends.
    pub(crate) async fn meanwhile(&mut self) -> String {
        if self.by_hand && !self.over && self.ahead.len() < MOST_AHEAD {
            match self.lines.recv().await {
                Some(line) => return line,
                None => self.over = true,
            }
        }
        std::future::pending().await
    }

    /// Keeps a line for `next`.
    pub(crate) fn later(&mut self, line: impl Into<Line>) {
        self.ahead.push_back(line.into());
    }

    /// Keeps the lines that were typed so far for `next`; of one that has not ended, nobody knows what it is about, so
    /// that goes. Called before a question is shown, so that whoever answers at once is heard.
    pub(crate) fn set_aside(&mut self) {
        if !self.by_hand {
            return;
        }
        if let Err(error) = tcflush(io::stdin(), FlushArg::TCIFLUSH) {
            tracing::debug!("what was typed before a question stays: {error}");
        }
        while let Ok(line) = self.lines.try_recv() {
            self.ahead.push_back(line.into());
        }
    }

    /// The next line that is typed after that; `None` where nobody can answer.
    pub(crate) async fn fresh(&mut self) -> Option<String> {
        match self.by_hand {
            true => self.lines.recv().await,
            false => None,
        }
    }
}

/// Lines from the terminal, read on a thread of their own: reading cannot be interrupted.
fn lines() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(QUEUE);
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Puts a question on the terminal and waits for the lines that answer it; nothing when nobody types any more.
pub(crate) async fn ask(
    question: &Question,
    lines: &mut Typed,
    into: &mut impl Write,
) -> io::Result<Option<Answer>> {
    lines.set_aside();
    if let QuestionKind::Form(form) = &question.kind {
        return form::fill(form, lines, into).await;
    }
    show(question, into)?;
    let said = lines.fresh().await;
    Ok(said.map(|said| answer(question, &said)))
}

/// Puts a question on the terminal.
fn show(question: &Question, into: &mut impl Write) -> io::Result<()> {
    match &question.kind {
        QuestionKind::Clarify { question, choices } => {
            writeln!(into, "\n{}", printable(question))?;
            for (number, choice) in choices.iter().enumerate() {
                writeln!(into, "  {}. {}", number + 1, printable(choice))?;
            }
        }
        QuestionKind::Approval {
            action,
            reasons,
            reach,
            editable,
            ..
        } => {
            writeln!(into, "\nMay I do this? {}", printable(action))?;
            writeln!(into, "  {}", printable(&reasons.join("; ")))?;
            writeln!(into, "  {}", ways_to_say_yes(*reach))?;
            if *editable {
                writeln!(into, "  e COMMAND = run that instead")?;
            }
        }
        QuestionKind::Secret { prompt } => writeln!(into, "\n{}", printable(prompt))?,
        QuestionKind::Form(form) => writeln!(into, "\n{}", printable(&form.text))?,
    }
    write!(into, "? ")?;
    into.flush()
}

/// What a typed line says to a question.
fn answer(question: &Question, said: &str) -> Answer {
    let said = said.trim();
    match &question.kind {
        QuestionKind::Approval {
            reach, editable, ..
        } => match said {
            "y" | "yes" => Answer::AllowOnce,
            "s" if *reach >= Reach::Session => Answer::AllowSession,
            "a" if *reach >= Reach::Always => Answer::AllowAlways,
            "" | "n" | "no" => Answer::no(),
            said if *editable && said.starts_with("e ") => {
                Answer::Instead(said.strip_prefix("e ").unwrap_or(said).trim().to_owned())
            }
            reason => Answer::Deny {
                reason: Some(reason.to_owned()),
            },
        },
        _ if said.is_empty() => Answer::no(),
        QuestionKind::Clarify { choices, .. } => {
            let picked = said
                .parse::<usize>()
                .ok()
                .and_then(|number| choices.get(number.checked_sub(1)?));
            Answer::Text(picked.map_or_else(|| said.to_owned(), Clone::clone))
        }
        QuestionKind::Secret { .. } | QuestionKind::Form(_) => Answer::Text(said.to_owned()),
    }
}

fn ways_to_say_yes(reach: Reach) -> &'static str {
    match reach {
        Reach::Once => "y = this time, n or a reason = no",
        Reach::Session => "y = this time, s = in this session, n or a reason = no",
        Reach::Always => "y = this time, s = in this session, a = always, n or a reason = no",
    }
}
