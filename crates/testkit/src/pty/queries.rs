//! Answers to the questions programs put to their terminal.

use vt100::{Callbacks, Screen};

/// The mode in which a terminal shows nothing until the picture is complete.
const SYNCHRONIZED: u16 = 2026;

/// Collects answers while output is parsed; the reader sends them back.
#[derive(Debug, Default)]
pub(super) struct Queries {
    answers: Vec<u8>,
    pub(super) bells: u32,
    pub(super) notifications: Vec<String>,
    /// How often it was asked for the colour of the background. It is the test that answers.
    pub(super) ground_queries: u32,
    pub(super) title: String,
    pub(super) copied: Vec<String>,
    /// Pictures that were drawn as a whole, and whether one is being drawn.
    pub(super) pictures: u32,
    pub(super) drawing: bool,
}

impl Queries {
    pub(super) fn take_answers(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.answers)
    }
}

impl Callbacks for Queries {
    fn audible_bell(&mut self, _: &mut Screen) {
        self.bells += 1;
    }

    fn set_window_title(&mut self, _: &mut Screen, title: &[u8]) {
        self.title = String::from_utf8_lossy(title).into_owned();
    }

    fn copy_to_clipboard(&mut self, _: &mut Screen, _: &[u8], data: &[u8]) {
        self.copied.push(String::from_utf8_lossy(data).into_owned());
    }

    fn unhandled_osc(&mut self, _: &mut Screen, params: &[&[u8]]) {
        match params {
            [b"9", text] => self
                .notifications
                .push(String::from_utf8_lossy(text).into_owned()),
            [b"11", b"?"] => self.ground_queries += 1,
            _ => {}
        }
    }

    fn unhandled_csi(
        &mut self,
        screen: &mut Screen,
        first_intermediate: Option<u8>,
        _second_intermediate: Option<u8>,
        params: &[&[u16]],
        command: char,
    ) {
        let parameter = params.first().and_then(|param| param.first()).copied();
        if first_intermediate == Some(b'?') && parameter == Some(SYNCHRONIZED) {
            let ends = std::mem::replace(&mut self.drawing, command == 'h');
            self.pictures += u32::from(ends && command == 'l');
        }
        if first_intermediate.is_some() {
            return;
        }
        match (command, parameter) {
            // Where is the cursor?
            ('n', Some(6)) => {
                let (row, col) = screen.cursor_position();
                let answer = format!("\x1b[{};{}R", row + 1, col + 1);
                self.answers.extend_from_slice(answer.as_bytes());
            }
            // Are you there?
            ('n', Some(5)) => self.answers.extend_from_slice(b"\x1b[0n"),
            // What are you? A VT100 with advanced video.
            ('c', None | Some(0)) => self.answers.extend_from_slice(b"\x1b[?1;2c"),
            _ => {}
        }
    }
}
