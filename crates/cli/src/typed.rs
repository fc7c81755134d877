//! What somebody types, and the questions it answers.

use std::collections::VecDeque;
use std::io::{self, BufRead, Write};

use hermes_core::{Answer, Question, QuestionKind, Reach};
use tokio::sync::mpsc;

use crate::output::printable;

/// Lines that may wait to be read.
const QUEUE: usize = 16;

/// The lines of a conversation. What was typed before a question was asked is no answer to it.
pub(crate) struct Typed {
    lines: mpsc::Receiver<String>,
    /// Typed while a question was on its way.
    ahead: VecDeque<String>,
}

impl Typed {
    pub(crate) fn new() -> Self {
        Self {
            lines: lines(),
            ahead: VecDeque::new(),
        }
    }

    /// The next line; `None` when nobody types any more.
    pub(crate) async fn next(&mut self) -> Option<String> {
        match self.ahead.pop_front() {
            Some(line) => Some(line),
            None => self.lines.recv().await,
        }
    }

    /// Keeps what was typed so far for `next`. Called before a question is shown, so that whoever answers
    /// at once is heard.
    pub(crate) fn set_aside(&mut self) {
        while let Ok(line) = self.lines.try_recv() {
            self.ahead.push_back(line);
        }
    }

    /// The next line that is typed after that.
    pub(crate) async fn fresh(&mut self) -> Option<String> {
        self.lines.recv().await
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

/// Puts a question on the terminal.
pub(crate) fn show(question: &Question, into: &mut impl Write) -> io::Result<()> {
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
            ..
        } => {
            writeln!(into, "\nMay I do this? {}", printable(action))?;
            writeln!(into, "  {}", printable(&reasons.join("; ")))?;
            writeln!(into, "  {}", ways_to_say_yes(*reach))?;
        }
        QuestionKind::Secret { prompt } => writeln!(into, "\n{}", printable(prompt))?,
    }
    write!(into, "? ")?;
    into.flush()
}

/// What a typed line says to a question.
pub(crate) fn answer(question: &Question, said: &str) -> Answer {
    let said = said.trim();
    match &question.kind {
        QuestionKind::Approval { reach, .. } => match said {
            "y" | "yes" => Answer::AllowOnce,
            "s" if *reach >= Reach::Session => Answer::AllowSession,
            "a" if *reach >= Reach::Always => Answer::AllowAlways,
            "" | "n" | "no" => Answer::no(),
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
        QuestionKind::Secret { .. } => Answer::Text(said.to_owned()),
    }
}

fn ways_to_say_yes(reach: Reach) -> &'static str {
    match reach {
        Reach::Once => "y = this time, n or a reason = no",
        Reach::Session => "y = this time, s = in this session, n or a reason = no",
        Reach::Always => "y = this time, s = in this session, a = always, n or a reason = no",
    }
}
