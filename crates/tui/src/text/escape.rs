//! Recognises terminal control sequences without obeying them.

/// Where in a control sequence the text stands. It survives from one chunk to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Escape {
    /// Outside of any sequence.
    #[default]
    Ground,
    /// After ESC.
    Start,
    /// After ESC and an intermediate byte.
    Intermediate,
    /// Inside a control sequence (CSI).
    Control,
    /// Inside a string: OSC, DCS, SOS, PM or APC.
    Text,
    /// After ESC inside a string, which may be half of its terminator.
    TextEnd,
}

impl Escape {
    /// Takes one character; true when it belonged to a sequence, or introduced one.
    ///
    /// A line end is never part of a sequence: a string nobody terminates would otherwise hide everything
    /// that follows it.
    pub(super) fn swallows(&mut self, c: char) -> bool {
        if c == '\n' {
            *self = Self::Ground;
            return false;
        }
        if let Some(next) = introduced_by(c, *self) {
            *self = next;
            return true;
        }
        let (next, swallowed) = match (*self, c) {
            (Self::Ground, _) => (Self::Ground, false),
            // CAN and SUB abort whatever is under way.
            (_, '\u{18}' | '\u{1a}') => (Self::Ground, true),
            (Self::Start, '[') => (Self::Control, true),
            (Self::Start, ']' | 'P' | 'X' | '^' | '_') => (Self::Text, true),
            (Self::Start | Self::Intermediate, ' '..='/') => (Self::Intermediate, true),
            (Self::Start | Self::Intermediate, '0'..='~') => (Self::Ground, true),
            (Self::Control, ' '..='?') => (Self::Control, true),
            (Self::Control, '@'..='~') => (Self::Ground, true),
            (Self::Text, '\u{7}' | '\u{9c}') => (Self::Ground, true),
            (Self::Text, _) => (Self::Text, true),
            (Self::TextEnd, '\\') => (Self::Ground, true),
            // An ESC that ends no string began a sequence of its own.
            (Self::TextEnd, _) => {
                *self = Self::Start;
                return self.swallows(c);
            }
            // Other controls are obeyed in the middle of a sequence; here they are dropped later.
            (state, '\0'..='\u{1f}' | '\u{7f}') => (state, true),
            (Self::Start | Self::Intermediate | Self::Control, _) => (Self::Ground, false),
        };
        *self = next;
        swallowed
    }
}

/// What ESC and the 8-bit introducers begin.
fn introduced_by(c: char, now: Escape) -> Option<Escape> {
    match c {
        '\u{1b}' if now == Escape::Text => Some(Escape::TextEnd),
        '\u{1b}' => Some(Escape::Start),
        '\u{9b}' => Some(Escape::Control),
        '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => Some(Escape::Text),
        _ => None,
    }
}
