//! Asking the person at the terminal.

mod typing;

use std::io::{self, IsTerminal, Write};

pub(crate) use typing::{Echo, Typing, Unseen};

use crate::complaint::{Complaint, Outcome};
use crate::output::Output;

/// What a shell says of a program that Ctrl+C ended.
const STOPPED: u8 = 130;

/// Asks for a yes. Where nobody can be asked the answer is no, with the flag that says yes.
pub(crate) fn confirm(question: &str) -> Outcome {
    if !io::stdin().is_terminal() {
        return Err(Complaint::bad_request(format!(
            "{question} needs a yes, and nobody can be asked here"
        ))
        .hint("add --yes to go ahead"));
    }
    let typing = Typing::begin(Echo::Shown);
    let mut errors = io::stderr().lock();
    write!(errors, "{question}? [y/N] ")?;
    errors.flush()?;
    if is_yes(&typing.line()?.unwrap_or_default()) {
        Ok(())
    } else {
        writeln!(errors, "left as it was")?;
        Err(Complaint::Code(1))
    }
}

/// Whether questions can be asked and answered here.
pub(crate) fn at_a_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// What was typed, without spaces around it; `None` at the end of the input.
pub(crate) fn line(question: &str, output: &mut Output) -> Outcome<Option<String>> {
    let typing = Typing::begin(Echo::Shown);
    let question = output.folded("", question);
    write!(output, "{question}")?;
    output.flush()?;
    typing.line()
}

/// A question whose usual answer is yes.
pub(crate) fn agreed(question: &str, output: &mut Output) -> Outcome<bool> {
    let typed = line(&format!("{question} [Y/n] "), output)?;
    Ok(typed.is_some_and(|typed| typed.is_empty() || is_yes(&typed)))
}

/// A question whose usual answer is no.
pub(crate) fn wished(question: &str, output: &mut Output) -> Outcome<bool> {
    let typed = line(&format!("{question} [y/N] "), output)?;
    Ok(typed.is_some_and(|typed| is_yes(&typed)))
}

/// The one of a list that a typed number stands for, counted from one.
pub(crate) fn numbered<'c, T>(typed: &str, items: &'c [T]) -> Option<&'c T> {
    items.get(typed.parse::<usize>().ok()?.checked_sub(1)?)
}

/// Says what Ctrl+C left behind, for questions whose answers are written at the very end.
pub(crate) fn unchanged_when_stopped<T>(outcome: Outcome<T>, output: &mut Output) -> Outcome<T> {
    if let Err(Complaint::Code(STOPPED)) = outcome {
        output.line("\nNothing was changed.")?;
    }
    outcome
}

fn is_yes(typed: &str) -> bool {
    matches!(typed.to_lowercase().as_str(), "y" | "yes")
}
