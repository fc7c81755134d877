//! Keys and the bytes a terminal sends for them.

/// A key press that is not plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// Enter.
    Enter,
    /// Tab.
    Tab,
    /// Shift and Tab.
    BackTab,
    /// Escape.
    Esc,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Control and C, which interrupts.
    CtrlC,
    /// Control and a letter.
    Ctrl(char),
    /// Alt and a character.
    Alt(char),
}

impl Key {
    /// The bytes xterm would send.
    pub(super) fn encode(self, application_cursor: bool) -> String {
        let cursor = |letter: char| {
            let introducer = if application_cursor { 'O' } else { '[' };
            format!("\x1b{introducer}{letter}")
        };
        match self {
            Self::Enter => "\r".to_owned(),
            Self::Tab => "\t".to_owned(),
            Self::BackTab => "\x1b[Z".to_owned(),
            Self::Esc => "\x1b".to_owned(),
            Self::Backspace => "\x7f".to_owned(),
            Self::Delete => "\x1b[3~".to_owned(),
            Self::Up => cursor('A'),
            Self::Down => cursor('B'),
            Self::Right => cursor('C'),
            Self::Left => cursor('D'),
            Self::Home => cursor('H'),
            Self::End => cursor('F'),
            Self::PageUp => "\x1b[5~".to_owned(),
            Self::PageDown => "\x1b[6~".to_owned(),
            Self::CtrlC => control('c'),
            Self::Ctrl(letter) => control(letter),
            Self::Alt(character) => format!("\x1b{character}"),
        }
    }
}

/// Control keeps the low five bits of a letter.
fn control(letter: char) -> String {
    let code = u32::from(letter.to_ascii_uppercase()) & 0x1f;
    char::from_u32(code).map(String::from).unwrap_or_default()
}
