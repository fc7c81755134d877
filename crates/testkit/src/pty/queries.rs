//! Answers to the questions programs put to their terminal.

use vt100::{Callbacks, Screen};

/// Collects answers while output is parsed; the reader sends them back.
#[derive(Debug, Default)]
pub(super) struct Queries {
    answers: Vec<u8>,
}

impl Queries {
    pub(super) fn take_answers(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.answers)
    }
}

impl Callbacks for Queries {
    fn unhandled_csi(
        &mut self,
        screen: &mut Screen,
        first_intermediate: Option<u8>,
        _second_intermediate: Option<u8>,
        params: &[&[u16]],
        command: char,
    ) {
        if first_intermediate.is_some() {
            return;
        }
        let parameter = params.first().and_then(|param| param.first()).copied();
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
