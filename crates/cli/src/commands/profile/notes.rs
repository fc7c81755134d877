//! What the user should know about something that went well.

use std::io;

use hermes_config::Note;

use crate::output::{Output, Style};

/// How many names of things left out are worth reading.
const MOST_NAMES: usize = 12;

/// Prints notes, the many things that were left out on purpose in one line.
pub(super) fn print(notes: &[Note], output: &mut Output) -> io::Result<()> {
    let mut left_out = Vec::new();
    for note in notes {
        match note {
            Note::PrivateLeftOut { path } => left_out.push(path.display().to_string()),
            Note::LinkLeftOut { .. }
            | Note::SpecialLeftOut { .. }
            | Note::SettingLeftOut { .. }
            | Note::KeptAside { .. }
            | Note::WrongVersion { .. }
            | Note::WrapperStays { .. }
            | Note::NoWrapper(_) => line(&note.to_string(), output)?,
        }
    }
    if left_out.is_empty() {
        return Ok(());
    }
    let more = left_out.len().saturating_sub(MOST_NAMES);
    left_out.truncate(MOST_NAMES);
    let mut text = format!("left out {}", left_out.join(", "));
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    line(&text, output)
}

/// One note. Names of files come from others and must not move the cursor.
pub(super) fn line(text: &str, output: &mut Output) -> io::Result<()> {
    let label = output.paint(Style::Warning, "note:");
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    output.line(format!("{label} {text}"))
}
