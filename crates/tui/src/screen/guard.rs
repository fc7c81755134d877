//! The terminal as we need it, and back to what it was, however we end.

use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicU8, Ordering};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

use super::inline::CLEAR_BELOW;
use crate::app::{Mode, Mouse, Settings};

/// Pastes are told from typing, and keys with modifiers from those without, where the terminal can.
const ON: &str = "\x1b[?2004h\x1b[>1u";
/// Also ends what a picture that was cut short may have left on: synchronised output, no wrapping, a hidden
/// cursor, colours.
const OFF: &str = "\x1b[<1u\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[0m\x1b[?2026l";
/// The other screen, and back. Only told to a terminal that was asked for it: it also moves the cursor.
const OTHER_SCREEN: &str = "\x1b[?1049h";
const OWN_SCREEN: &str = "\x1b[?1049l";
/// Reports of the mouse in the form that has no limit.
const CLICKS: &str = "\x1b[?1000h\x1b[?1006h";
const MOVES: &str = "\x1b[?1000h\x1b[?1003h\x1b[?1006h";
const NO_MOUSE: &str = "\x1b[?1006l\x1b[?1003l\x1b[?1000l";
/// The title is put on the terminal's stack, and taken from it.
const KEEP_TITLE: &str = "\x1b[22;2t";
const OLD_TITLE: &str = "\x1b[23;2t";

/// What is to be restored: bits of [`Hold`], and whether anything is.
static TAKEN: AtomicU8 = AtomicU8::new(0);
const RAW: u8 = 1;
const SCREEN: u8 = 2;
const MOUSE: u8 = 4;
const TITLE: u8 = 8;

static HOOK: Once = Once::new();

/// What is taken of a terminal besides its keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hold {
    /// The whole screen, or only a part of it.
    pub mode: Mode,
    /// What the mouse reports. Only a full screen listens.
    pub mouse: Mouse,
    /// Whether the title is changed.
    pub title: bool,
}

impl Hold {
    /// What these settings need.
    pub fn of(settings: &Settings) -> Self {
        Self {
            mode: settings.mode,
            mouse: settings.mouse,
            title: settings.title,
        }
    }

    fn bits(self) -> u8 {
        let full = self.mode == Mode::Full;
        let mouse = full && self.mouse != Mouse::Off;
        let mut bits = RAW;
        for (held, bit) in [(full, SCREEN), (mouse, MOUSE), (self.title, TITLE)] {
            if held {
                bits |= bit;
            }
        }
        bits
    }

    /// What the terminal is told at the start.
    fn on(self) -> String {
        let mut told = String::new();
        if self.title {
            told.push_str(KEEP_TITLE);
        }
        if self.mode == Mode::Full {
            told.push_str(OTHER_SCREEN);
            told.push_str(match self.mouse {
                Mouse::Off => "",
                Mouse::Wheel | Mouse::Buttons => CLICKS,
                Mouse::All => MOVES,
            });
        }
        // The keyboard's mode belongs to the screen that is in use.
        told.push_str(ON);
        told
    }
}

/// What the terminal is told at the end.
fn off(bits: u8) -> String {
    let mut told = String::new();
    if bits & MOUSE != 0 {
        told.push_str(NO_MOUSE);
    }
    if bits & SCREEN == 0 {
        // The cursor is where the live area begins, unless that was taken away already.
        told.push_str(CLEAR_BELOW);
    }
    told.push_str(OFF);
    if bits & SCREEN != 0 {
        told.push_str(OWN_SCREEN);
        told.push_str("\x1b[?25h");
    }
    if bits & TITLE != 0 {
        told.push_str(OLD_TITLE);
    }
    told
}

/// Holds the terminal; gives it back when dropped, and when the program panics.
pub struct Guard(());

impl Guard {
    /// Takes the terminal.
    ///
    /// # Errors
    ///
    /// Standard input is no terminal.
    pub fn take(hold: Hold) -> io::Result<Self> {
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                // The program goes on, and with it the screen.
                if hermes_core::faults_are_caught() {
                    return;
                }
                restore();
                before(info);
            }));
        });
        enable_raw_mode()?;
        TAKEN.store(hold.bits(), Ordering::SeqCst);
        let mut out = io::stdout();
        out.write_all(hold.on().as_bytes())?;
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
pub(super) fn restore() {
    let bits = TAKEN.swap(0, Ordering::SeqCst);
    if bits == 0 {
        return;
    }
    // A terminal that is gone needs nothing.
    let mut out = io::stdout();
    let _ = out.write_all(off(bits).as_bytes());
    let _ = out.flush();
    let _ = disable_raw_mode();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The modes that are on after some bytes.
    fn modes(bytes: &str) -> Vec<u16> {
        let mut on = Vec::new();
        for part in bytes.split("\x1b[?").skip(1) {
            let end = part.find(['h', 'l']).unwrap();
            let mode = part[..end].parse().unwrap();
            on.retain(|known| *known != mode);
            if part[end..].starts_with('h') {
                on.push(mode);
            }
        }
        on
    }

    // CL-31
    #[test]
    fn everything_that_is_switched_on_is_switched_off() {
        for mode in [Mode::Inline, Mode::Full] {
            for mouse in [Mouse::Off, Mouse::Wheel, Mouse::Buttons, Mouse::All] {
                for title in [false, true] {
                    let hold = Hold { mode, mouse, title };
                    let (on, off) = (hold.on(), off(hold.bits()));
                    // Wrapping and the cursor are what a terminal begins with.
                    assert_eq!(modes(&format!("{on}{off}")), [7, 25], "{hold:?}");
                    let full = mode == Mode::Full;
                    assert_eq!(on.contains(OTHER_SCREEN), full);
                    assert_eq!(off.contains(OWN_SCREEN), full);
                    assert_eq!(off.contains(CLEAR_BELOW), !full);
                    let mice = full && mouse != Mouse::Off;
                    assert_eq!(on.contains("?1006h"), mice, "{hold:?}");
                    assert_eq!(on.contains("?1003h"), mice && mouse == Mouse::All);
                    assert_eq!(on.matches("\x1b[22;").count(), usize::from(title));
                    assert_eq!(off.matches("\x1b[23;").count(), usize::from(title));
                }
            }
        }
    }
}
