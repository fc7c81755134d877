//! What the text stands on, as the terminal tells it.
//!
//! The answer comes among the keys, whenever the terminal gets to it, and must never be taken for them. Nobody waits
//! for it: a terminal that does not answer is taken for what it was before.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

use crate::skin::Background;

/// Asks for the colour of the background.
pub(super) const QUERY: &str = "\x1b]11;?\x1b\\";
/// What an answer begins with.
const HEAD: &str = "11;rgb";
/// No answer is longer.
const LONGEST: usize = 40;
/// An escape key that is the first part of an answer is followed by the rest at once.
const MOMENT: Duration = Duration::from_millis(50);
/// So is the rest by its end, but for slow lines; nobody types what comes in between.
const PATIENCE: Duration = Duration::from_millis(500);
/// An escape key may be the first part of an answer for so long.
const SOON: Duration = Duration::from_secs(2);

/// Takes an answer out of the keys.
#[derive(Debug, Default)]
pub(super) struct Ground {
    /// When it was asked, while no answer came.
    asked: Option<Instant>,
    /// Keys that may be an answer.
    held: Vec<Event>,
    part: Part,
    said: String,
    /// When they are keys after all.
    until: Option<Instant>,
}

/// How far an answer is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Nothing was begun.
    #[default]
    None,
    /// An escape came.
    Begun,
    /// In the middle of it.
    Inside,
    /// An escape came inside, which may be its end.
    Ending,
}

/// What a key is to an answer.
enum Sign {
    Escape,
    /// What stands in front.
    Front,
    Letter(char),
    End,
    Other,
}

impl Ground {
    pub(super) fn asked(&mut self, now: Instant) {
        self.asked = Some(now);
    }

    /// Whether an answer may still come soon.
    pub(super) fn is_awaited(&self, now: Instant) -> bool {
        self.asked.is_some_and(|at| now.duration_since(at) < SOON)
    }

    /// When what is held is given back.
    pub(super) fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Takes the next event: keys go on, the answer does not.
    pub(super) fn take(
        &mut self,
        event: Event,
        now: Instant,
        keys: &mut VecDeque<Event>,
    ) -> Option<Background> {
        if self.asked.is_none() {
            keys.push_back(event);
            return None;
        }
        let part = match (self.part, sign(&event)) {
            (Part::None, Sign::Front) => Part::Inside,
            (Part::None, Sign::Escape) if self.is_awaited(now) => Part::Begun,
            (Part::Begun, Sign::Letter(']')) => Part::Inside,
            (Part::Inside, Sign::Letter(letter)) if self.goes_on(letter) => {
                self.said.push(letter);
                Part::Inside
            }
            (Part::Inside, Sign::Escape) => Part::Ending,
            (Part::Inside, Sign::End) | (Part::Ending, Sign::Letter('\\')) => {
                let ground = background(&self.said);
                if ground.is_some() {
                    *self = Self::default();
                    return ground;
                }
                Part::None
            }
            _ => Part::None,
        };
        if part == Part::None {
            // It was no answer; what came now may begin one.
            let again = !self.held.is_empty();
            self.release(keys);
            if again {
                return self.take(event, now, keys);
            }
            keys.push_back(event);
            return None;
        }
        self.part = part;
        self.held.push(event);
        self.until = Some(match part {
            Part::None | Part::Begun => now + MOMENT,
            Part::Inside | Part::Ending => now + PATIENCE,
        });
        None
    }

    /// What is held are keys.
    pub(super) fn release(&mut self, keys: &mut VecDeque<Event>) {
        keys.extend(self.held.drain(..));
        self.part = Part::None;
        self.said.clear();
        self.until = None;
    }

    fn goes_on(&self, letter: char) -> bool {
        match HEAD.chars().nth(self.said.len()) {
            Some(expected) => expected == letter,
            None => {
                self.said.len() < LONGEST && (letter.is_ascii_hexdigit() || "a:/".contains(letter))
            }
        }
    }
}

fn sign(event: &Event) -> Sign {
    let Event::Key(KeyEvent {
        code, modifiers, ..
    }) = event
    else {
        return Sign::Other;
    };
    match (*code, *modifiers) {
        (KeyCode::Esc, KeyModifiers::NONE) => Sign::Escape,
        (KeyCode::Char(']'), KeyModifiers::ALT) => Sign::Front,
        (KeyCode::Char('\\'), KeyModifiers::ALT) => Sign::End,
        (KeyCode::Char('g'), KeyModifiers::CONTROL) => Sign::End,
        (KeyCode::Char(letter), KeyModifiers::NONE | KeyModifiers::SHIFT) => Sign::Letter(letter),
        _ => Sign::Other,
    }
}

/// Dark or light, by an answer such as `11;rgb:ffff/ffff/ffff`.
fn background(said: &str) -> Option<Background> {
    let (_, colour) = said.strip_prefix(HEAD)?.split_once(':')?;
    let mut parts = colour.split('/').map(|digits| {
        let most = 16_u32.checked_pow(u32::try_from(digits.len()).ok()?)? - 1;
        let value = u32::from_str_radix(digits, 16).ok()?;
        (digits.len() <= 4 && most > 0).then(|| f64::from(value) / f64::from(most))
    });
    let mut part = || parts.next().flatten();
    let (red, green, blue) = (part()?, part()?, part()?);
    let bright = 0.299 * red + 0.587 * green + 0.114 * blue;
    Some(match bright > 0.5 {
        true => Background::Light,
        false => Background::Dark,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: KeyCode, modifiers: KeyModifiers) -> Event {
        Event::Key(KeyEvent::new(code, modifiers))
    }

    /// Keys as they are read from bytes: an escape in front of a letter is Alt, unless it came alone.
    fn typed(text: &str) -> Vec<Event> {
        let mut events = Vec::new();
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            events.push(match (letter, letters.peek()) {
                ('\x1b', Some('|')) => {
                    letters.next();
                    key(KeyCode::Esc, KeyModifiers::NONE)
                }
                ('\x1b', Some(next)) => {
                    let next = key(KeyCode::Char(*next), KeyModifiers::ALT);
                    letters.next();
                    next
                }
                ('\x1b', None) => key(KeyCode::Esc, KeyModifiers::NONE),
                ('\x07', _) => key(KeyCode::Char('g'), KeyModifiers::CONTROL),
                (letter, _) => key(KeyCode::Char(letter), KeyModifiers::NONE),
            });
        }
        events
    }

    /// What a text is taken for, and the keys that are left of it.
    #[track_caller]
    fn check(text: &str, ground: Option<Background>, left: &str) {
        let now = Instant::now();
        let mut asked = Ground::default();
        asked.asked(now);
        let mut keys = VecDeque::new();
        let mut found = None;
        for event in typed(text) {
            found = found.or(asked.take(event, now, &mut keys));
        }
        asked.release(&mut keys);
        assert_eq!(found, ground, "{text:?}");
        assert_eq!(keys, typed(left), "{text:?}");
    }

    // CL-30
    #[test]
    fn an_answer_is_taken_out_of_the_keys() {
        let (light, dark) = (Some(Background::Light), Some(Background::Dark));
        check("ab\x1b]11;rgb:ffff/ffff/ffff\x1b\\cd", light, "abcd");
        check("\x1b]11;rgb:fdfd/f6f6/e3e3\x07", light, "");
        check("\x1b]11;rgb:00/2b/36\x1b\\x", dark, "x");
        check("\x1b]11;rgba:F/F/F/8\x07", light, "");
        // Cut by a slow line, at the worst places.
        check("a\x1b|]11;rgb:0/0/0\x1b|\\b", dark, "ab");
        // What only begins like one.
        check("\x1b]12;x", None, "\x1b]12;x");
        check("\x1b]11;rgb:zz", None, "\x1b]11;rgb:zz");
        check("\x1b]11;rgb:\x1b\\", None, "\x1b]11;rgb:\x1b\\");
        check("\x1b", None, "\x1b");
        let endless = format!("\x1b]11;rgb:{}", "f".repeat(100));
        check(&endless, None, &endless);
    }

    #[test]
    fn nothing_is_held_when_nothing_was_asked_or_an_escape_comes_late() {
        let now = Instant::now();
        let mut keys = VecDeque::new();
        let mut ground = Ground::default();
        for event in typed("\x1b]11") {
            ground.take(event, now, &mut keys);
        }
        assert_eq!(keys.len(), 3);
        ground.asked(now);
        let late = now + SOON;
        ground.take(key(KeyCode::Esc, KeyModifiers::NONE), late, &mut keys);
        assert_eq!((keys.len(), ground.until()), (4, None));
        // A late answer is still none of the user's words.
        let mut found = None;
        for event in typed("\x1b]11;rgb:ff/ff/ff\x07") {
            found = found.or(ground.take(event, late, &mut keys));
        }
        assert_eq!((keys.len(), found), (4, Some(Background::Light)));
    }
}
