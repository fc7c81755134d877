//! Asking before something cannot be undone.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::complaint::{Complaint, Outcome};

/// Asks for a yes. Where nobody can be asked the answer is no, with the flag that says yes.
pub(crate) fn confirm(question: &str) -> Outcome {
    if !io::stdin().is_terminal() {
        return Err(Complaint::bad_request(format!(
            "{question} needs a yes, and nobody can be asked here"
        ))
        .hint("add --yes to go ahead"));
    }
    let mut errors = io::stderr().lock();
    write!(errors, "{question}? [y/N] ")?;
    errors.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        Ok(())
    } else {
        writeln!(errors, "left as it was")?;
        Err(Complaint::Code(1))
    }
}
