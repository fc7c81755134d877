//! What is drawn on: a live area or the whole screen.

use std::io::{self, Write};

use ratatui::text::Line;

use super::{Full, Inline, Live};
use crate::app::Mode;

/// One of the two ways to use a terminal.
pub(super) enum Surface<W> {
    Inline(Inline<W>),
    Full(Full<W>),
}

impl<W: Write> Surface<W> {
    pub(super) fn new(mode: Mode, out: W, columns: u16) -> Self {
        match mode {
            Mode::Inline => Self::Inline(Inline::new(out, columns)),
            Mode::Full => Self::Full(Full::new(out)),
        }
    }

    /// Draws what changed, after what is history from now on.
    pub(super) fn draw(
        &mut self,
        finished: &[Line<'_>],
        live: Live,
        size: (u16, u16),
    ) -> io::Result<()> {
        match self {
            Self::Inline(inline) => inline.draw(finished, live, size),
            Self::Full(full) => full.draw(live, size),
        }
    }

    /// Draws everything again, with the end of the history above a live area.
    pub(super) fn repaint(
        &mut self,
        history: &[Line<'static>],
        live: Live,
        size: (u16, u16),
    ) -> io::Result<()> {
        match self {
            Self::Inline(inline) => inline.repaint(history, live, size),
            Self::Full(full) => {
                full.forget();
                full.draw(live, size)
            }
        }
    }

    /// Leaves what is history, and nothing else.
    pub(super) fn finish(&mut self, finished: &[Line<'_>], size: (u16, u16)) -> io::Result<()> {
        if let Self::Inline(inline) = self {
            inline.draw(finished, Live::default(), size)?;
        }
        self.clear()
    }

    /// Takes away what is no history.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        match self {
            Self::Inline(inline) => inline.clear(),
            // What was there before comes back with the terminal.
            Self::Full(full) => {
                full.forget();
                Ok(())
            }
        }
    }

    /// The terminal is being resized. A whole screen is drawn anew afterwards, also for the size it had before: what
    /// did not fit meanwhile was cut off.
    pub(super) fn hide(&mut self, size: (u16, u16)) -> io::Result<()> {
        match self {
            Self::Inline(inline) => inline.hide(size),
            Self::Full(full) => {
                full.forget();
                Ok(())
            }
        }
    }

    /// The terminal was somebody else's meanwhile.
    pub(super) fn forget(&mut self) {
        match self {
            Self::Inline(inline) => inline.forget(),
            Self::Full(full) => full.forget(),
        }
    }
}
