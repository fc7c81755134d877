//! What each key does, as one table.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// What a key asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Writes a letter.
    Insert(char),
    /// Sends, or ends the line after a backslash.
    Send,
    /// Begins a new line.
    NewLine,
    /// Accepts what is offered, or asks for an offer.
    Complete,
    /// Closes what is open.
    Escape,
    /// A row up, or back in the history.
    Up,
    /// A row down, or on in the history.
    Down,
    /// A grapheme back.
    Left,
    /// A grapheme on; at the end it accepts the suggestion.
    Right,
    /// A word back.
    WordLeft,
    /// A word on.
    WordRight,
    /// To the start of the line.
    LineStart,
    /// To the end of the line.
    LineEnd,
    /// To the start of the text.
    TextStart,
    /// To the end of the text.
    TextEnd,
    /// Takes the grapheme in front away.
    Backspace,
    /// Takes the grapheme behind away.
    Delete,
    /// Takes the grapheme behind away, or leaves when nothing is written.
    DeleteOrLeave,
    /// Cuts to the end of the line.
    KillToLineEnd,
    /// Cuts to the start of the line.
    KillToLineStart,
    /// Cuts back to a space.
    KillToSpace,
    /// Cuts the word in front.
    KillWordLeft,
    /// Cuts the word behind.
    KillWordRight,
    /// Puts back what was cut.
    Yank,
    /// Puts back what was cut before that.
    YankOlder,
    /// Exchanges two graphemes.
    Transpose,
    /// Takes a change back.
    Undo,
    /// Makes it again.
    Redo,
    /// Searches the history.
    Search,
    /// Searches it in the other direction.
    SearchNewer,
    /// Opens the text in the user's editor.
    Editor,
    /// Begins a key of two strokes.
    Chord,
    /// Attaches the picture on the clipboard.
    ClipboardImage,
    /// Starts and stops recording.
    Record,
    /// Interrupts, clears or leaves, as the moment has it.
    Interrupt,
    /// Interrupts without ever leaving by force.
    Cancel,
    /// Hands the terminal back to the shell.
    Suspend,
    /// Draws everything again.
    Repaint,
    /// Shows commands and keys.
    Help,
}

/// A key and what it does.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    code: KeyCode,
    modifiers: KeyModifiers,
    /// What it asks for.
    pub action: Action,
    /// What the help says about it; empty where another key of the same action says it.
    pub about: &'static str,
}

const NONE: KeyModifiers = KeyModifiers::NONE;
const CTRL: KeyModifiers = KeyModifiers::CONTROL;
const ALT: KeyModifiers = KeyModifiers::ALT;
const SHIFT: KeyModifiers = KeyModifiers::SHIFT;

const fn key(
    code: KeyCode,
    modifiers: KeyModifiers,
    action: Action,
    about: &'static str,
) -> Binding {
    Binding {
        code,
        modifiers,
        action,
        about,
    }
}

const fn ctrl(letter: char, action: Action, about: &'static str) -> Binding {
    key(KeyCode::Char(letter), CTRL, action, about)
}

const fn alt(letter: char, action: Action, about: &'static str) -> Binding {
    key(KeyCode::Char(letter), ALT, action, about)
}

/// Every key that is not a letter. Ctrl+/ and Ctrl+_ are the same byte, which is read as Ctrl+7.
pub const BINDINGS: &[Binding] = &[
    key(
        KeyCode::Enter,
        NONE,
        Action::Send,
        "send; after a trailing \\ a new line",
    ),
    key(KeyCode::Enter, ALT, Action::NewLine, "new line"),
    key(KeyCode::Enter, SHIFT, Action::NewLine, ""),
    ctrl('j', Action::NewLine, ""),
    key(
        KeyCode::Tab,
        NONE,
        Action::Complete,
        "accept the completion or the suggestion, or ask for one",
    ),
    key(KeyCode::Esc, NONE, Action::Escape, "close or interrupt"),
    key(KeyCode::F(1), NONE, Action::Help, "commands and keys"),
    key(KeyCode::Up, NONE, Action::Up, "row up, then older messages"),
    ctrl('p', Action::Up, ""),
    key(
        KeyCode::Down,
        NONE,
        Action::Down,
        "row down, then newer messages",
    ),
    ctrl('n', Action::Down, ""),
    ctrl('r', Action::Search, "search the messages sent before"),
    ctrl('s', Action::SearchNewer, ""),
    ctrl('g', Action::Editor, "write in your editor"),
    alt('g', Action::Editor, ""),
    ctrl('x', Action::Chord, ""),
    ctrl(
        'c',
        Action::Interrupt,
        "interrupt; clear the text; leave when there is none",
    ),
    ctrl('q', Action::Cancel, "interrupt"),
    ctrl(
        'd',
        Action::DeleteOrLeave,
        "delete; leave when nothing is written",
    ),
    ctrl('z', Action::Suspend, "back to the shell until fg"),
    ctrl('l', Action::Repaint, "draw the screen again"),
    ctrl(
        'v',
        Action::ClipboardImage,
        "attach the picture on the clipboard",
    ),
    alt('v', Action::ClipboardImage, ""),
    // Not told before there is something that records.
    ctrl('b', Action::Record, ""),
    key(KeyCode::Left, NONE, Action::Left, ""),
    key(KeyCode::Right, NONE, Action::Right, ""),
    ctrl('f', Action::Right, ""),
    key(KeyCode::Left, CTRL, Action::WordLeft, "word left"),
    key(KeyCode::Left, ALT, Action::WordLeft, ""),
    alt('b', Action::WordLeft, ""),
    key(KeyCode::Right, CTRL, Action::WordRight, "word right"),
    key(KeyCode::Right, ALT, Action::WordRight, ""),
    alt('f', Action::WordRight, ""),
    ctrl('a', Action::LineStart, "start of the line"),
    key(KeyCode::Home, NONE, Action::LineStart, ""),
    ctrl('e', Action::LineEnd, "end of the line"),
    key(KeyCode::End, NONE, Action::LineEnd, ""),
    key(KeyCode::Home, CTRL, Action::TextStart, "start of the text"),
    alt('<', Action::TextStart, ""),
    key(KeyCode::End, CTRL, Action::TextEnd, "end of the text"),
    alt('>', Action::TextEnd, ""),
    key(KeyCode::Backspace, NONE, Action::Backspace, ""),
    key(KeyCode::Backspace, SHIFT, Action::Backspace, ""),
    ctrl('h', Action::Backspace, ""),
    key(KeyCode::Delete, NONE, Action::Delete, ""),
    ctrl('k', Action::KillToLineEnd, "cut to the end of the line"),
    ctrl('u', Action::KillToLineStart, "cut to the start of the line"),
    ctrl('w', Action::KillToSpace, "cut back to a space"),
    key(
        KeyCode::Backspace,
        ALT,
        Action::KillWordLeft,
        "cut the word in front",
    ),
    key(KeyCode::Backspace, CTRL, Action::KillWordLeft, ""),
    alt('d', Action::KillWordRight, "cut the word behind"),
    key(KeyCode::Delete, ALT, Action::KillWordRight, ""),
    key(KeyCode::Delete, CTRL, Action::KillWordRight, ""),
    ctrl('y', Action::Yank, "put back what was cut"),
    alt('y', Action::YankOlder, "put back what was cut before that"),
    ctrl('t', Action::Transpose, "exchange two letters"),
    ctrl('_', Action::Undo, "undo"),
    ctrl('7', Action::Undo, ""),
    ctrl('/', Action::Undo, ""),
    alt('_', Action::Redo, "redo"),
    alt('/', Action::Redo, ""),
];

/// What else there is in full screen. The mouse is part of it.
pub const FULL_SCREEN: &[(&str, &str)] = &[
    ("PageUp, PageDown, wheel", "read what was said before"),
    ("Ctrl+Home, Ctrl+End", "to the beginning and to the end"),
    ("Alt+Up, Alt+Down", "mark a call or a thought"),
    (
        "Ctrl+O, click",
        "unfold what is marked, or the last one; fold it again",
    ),
    (
        "F2, Ctrl+X",
        "the list of sessions: Enter takes one up, N begins one",
    ),
    (
        "Shift+drag",
        "select text, as in any program: the terminal does it",
    ),
];

/// What a key asks for; nothing for keys without a meaning and for keys being let go.
pub fn action(event: KeyEvent) -> Option<Action> {
    let of_the_system = KeyModifiers::SUPER | KeyModifiers::HYPER | KeyModifiers::META;
    if event.kind == KeyEventKind::Release || event.modifiers.intersects(of_the_system) {
        return None;
    }
    let commands = event.modifiers & (CTRL | ALT);
    let (code, modifiers) = match event.code {
        // Shift is part of the letter already.
        KeyCode::Char(letter) if commands.is_empty() => return Some(Action::Insert(letter)),
        KeyCode::Char(letter) => (KeyCode::Char(letter.to_ascii_lowercase()), commands),
        code => (code, event.modifiers & (CTRL | ALT | SHIFT)),
    };
    let bound = BINDINGS
        .iter()
        .find(|binding| binding.code == code && binding.modifiers == modifiers);
    match (bound, event.code) {
        (Some(binding), _) => Some(binding.action),
        // The third level of a keyboard is reported as both.
        (None, KeyCode::Char(letter)) if commands == CTRL | ALT => Some(Action::Insert(letter)),
        // Selecting with Shift moves, as there is no selection.
        (
            None,
            KeyCode::Left
            | KeyCode::Right
            | KeyCode::Up
            | KeyCode::Down
            | KeyCode::Home
            | KeyCode::End,
        ) if modifiers.contains(SHIFT) => action(KeyEvent::new(code, modifiers - SHIFT)),
        (None, _) => None,
    }
}

/// The keys worth knowing, with what they do.
pub fn help() -> Vec<(String, &'static str)> {
    let told = BINDINGS.iter().filter(|binding| !binding.about.is_empty());
    told.map(|binding| (names(binding.action), binding.about))
        .collect()
}

fn names(action: Action) -> String {
    let same = BINDINGS.iter().filter(|binding| binding.action == action);
    let names: Vec<String> = same.take(3).map(name).collect();
    names.join(", ")
}

fn name(binding: &Binding) -> String {
    let mut made = String::new();
    for (modifier, word) in [(CTRL, "Ctrl+"), (ALT, "Alt+"), (SHIFT, "Shift+")] {
        if binding.modifiers.contains(modifier) {
            made.push_str(word);
        }
    }
    match binding.code {
        KeyCode::Char(letter) => made.push(letter.to_ascii_uppercase()),
        code => made.push_str(&code.to_string()),
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(code: KeyCode, modifiers: KeyModifiers) -> Option<Action> {
        action(KeyEvent::new(code, modifiers))
    }

    // CL-17 CL-35
    #[test]
    fn new_lines_and_the_editor_have_their_keys() {
        for (code, modifiers) in [
            (KeyCode::Enter, ALT),
            (KeyCode::Enter, SHIFT),
            (KeyCode::Char('j'), CTRL),
        ] {
            assert_eq!(press(code, modifiers), Some(Action::NewLine));
        }
        assert_eq!(
            press(KeyCode::Char('G'), CTRL | SHIFT),
            Some(Action::Editor)
        );
        assert_eq!(press(KeyCode::Enter, NONE), Some(Action::Send));
    }

    #[test]
    fn letters_are_letters_whatever_keyboard_they_come_from() {
        assert_eq!(press(KeyCode::Char('É'), SHIFT), Some(Action::Insert('É')));
        assert_eq!(
            press(KeyCode::Char('@'), CTRL | ALT),
            Some(Action::Insert('@'))
        );
        assert_eq!(press(KeyCode::Char('o'), CTRL), None);
        assert_eq!(press(KeyCode::Left, CTRL | SHIFT), Some(Action::WordLeft));
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::SUPER), None);
        let released = KeyEvent::new_with_kind(KeyCode::Char('a'), NONE, KeyEventKind::Release);
        assert_eq!(action(released), None);
    }

    #[test]
    fn no_key_is_bound_twice() {
        for (at, binding) in BINDINGS.iter().enumerate() {
            let same = |other: &&Binding| {
                other.code == binding.code && other.modifiers == binding.modifiers
            };
            assert_eq!(
                BINDINGS.iter().skip(at).filter(same).count(),
                1,
                "{binding:?}"
            );
        }
    }

    #[test]
    fn the_help_names_all_keys_of_an_action_once() {
        let help = help();
        let line = help.iter().find(|(_, about)| *about == "new line");
        assert_eq!(
            line.map(|(keys, _)| keys.as_str()),
            Some("Alt+Enter, Shift+Enter, Ctrl+J")
        );
        assert!(help.len() > 25);
    }
}
