//! The terminal as we need it, and back to what it was, however we end.

use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

/// Pastes are told from typing, and keys with modifiers from those without, where the terminal can.
const ON: &str = "\x1b[?2004h\x1b[>1u";
/// Also ends what a picture that was cut short may have left on: synchronised output, no wrapping, a hidden
/// cursor, colours.
const OFF: &str = "\x1b[<1u\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[0m\x1b[?2026l";

/// Whether there is something to restore.
static TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// Holds the terminal; gives it back when dropped, and when the program panics.
pub struct Guard(());

impl Guard {
    /// Takes the terminal.
    ///
    /// # Errors
    ///
    /// Standard input is no terminal.
    pub fn take() -> io::Result<Self> {
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                restore();
                before(info);
            }));
        });
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let mut out = io::stdout();
        out.write_all(ON.as_bytes())?;
        out.flush()?;
        Ok(Self(()))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back. Done once, whoever comes first.
fn restore() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    // A terminal that is gone needs nothing.
    let mut out = io::stdout();
    let _ = out.write_all(OFF.as_bytes());
    let _ = out.flush();
    let _ = disable_raw_mode();
}
