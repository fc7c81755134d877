//! Who hears what a server nearby has to say while it loads a model, and what is wrong with a model's settings.

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};

use tokio::sync::mpsc;

use crate::output::one_line;

/// Lines that may wait for a screen that is busy; what is too much is left out.
const MOST_LINES: usize = 64;

/// Standard error, until a screen listens: what is written past a screen would stand in the middle of it.
#[derive(Default)]
pub(crate) struct Listener {
    screen: Mutex<Option<mpsc::Sender<String>>>,
    /// Notes that are not told again.
    told: Mutex<BTreeSet<String>>,
}

impl Listener {
    /// Everything is said here from now on.
    pub(crate) fn listen(&self) -> mpsc::Receiver<String> {
        let (sender, receiver) = mpsc::channel(MOST_LINES);
        *self.screen.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        receiver
    }

    /// How far something is that takes long.
    pub(crate) fn say(&self, line: &str) {
        if !self.heard(line) {
            progress(line);
        }
    }

    /// What the user should know about a server.
    pub(crate) fn note(&self, notes: &[String]) {
        for note in notes {
            if !self.heard(note) {
                tell(std::slice::from_ref(note));
            }
        }
    }

    /// The same, about what stays as it is: it is said the first time.
    pub(crate) fn note_once(&self, note: &str) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(note.to_owned()) {
            self.note(&[note.to_owned()]);
        }
    }

    fn heard(&self, line: &str) -> bool {
        let sender = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
        match &*sender {
            // A line that finds no room is one of many about the same.
            Some(sender) => {
                let _ = sender.try_send(line.to_owned());
                true
            }
            None => false,
        }
    }
}

/// Says on standard error how far something is, where somebody reads it.
fn progress(line: &str) {
    let mut errors = std::io::stderr();
    if errors.is_terminal() {
        // Somebody who cannot be told waits all the same.
        let _ = writeln!(errors, "{}", one_line(line));
    }
}

/// Says what the user should know about a server.
pub(crate) fn tell(notes: &[String]) {
    for note in notes {
        // Whoever closed the stream does not want to know.
        let _ = writeln!(std::io::stderr(), "note: {}", one_line(note));
    }
}
