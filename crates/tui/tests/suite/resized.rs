//! Windows that are resized while an answer comes, on a terminal that breaks no lines anew.
//!
//! The terminal and the program are two: what was written may be on its way while the window changes, and the window
//! may change in the middle of a picture. Here both are driven by the same dice, so every storm is the same again.

use std::io::{self, Write};
use std::num::NonZero;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hermes_core::{Event, TurnEnd, TurnId};
use hermes_testkit::pty::Wrapping;
use hermes_tui::Theme;
use hermes_tui::app::{App, Input, Settings};
use hermes_tui::composer::Composer;
use hermes_tui::screen::Inline;

const WORDS: usize = 400;
const STORMS: u64 = 150;
/// The narrowest holds every line of the answer: this terminal cuts what does not fit. All hold the live area.
const USUAL: [(u16, u16); 6] = [(60, 20), (120, 10), (45, 24), (90, 8), (50, 30), (100, 24)];
/// Some are too low for the live area.
const ANY: [(u16, u16); 6] = [(60, 20), (120, 3), (45, 24), (90, 5), (50, 30), (100, 4)];

/// The same numbers in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        // The constants of a well-known generator; the high bits are the good ones.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % sides.max(1)
    }
}

/// What the program wrote and the terminal has not read yet.
#[derive(Clone, Default)]
struct Wire(Arc<Mutex<Vec<u8>>>);

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How much a terminal reads at once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// Any part of a picture.
    Parts,
    /// All that was written.
    Pictures,
}

/// A window, and a program that learns of its size with delay.
struct Storm {
    dice: Dice,
    sizes: &'static [(u16, u16)],
    /// How much the terminal reads at once.
    reads: Reads,
    wire: Wire,
    terminal: vt100::Parser,
    wrapping: Wrapping,
    app: App,
    inline: Inline<Wire>,
    /// The size the program knows.
    known: (u16, u16),
    /// The size there is.
    size: (u16, u16),
    /// The program was not told yet that the window changed.
    told_later: bool,
    /// The window changed a moment ago, and nothing is drawn before it rests.
    resting: bool,
}

fn some(number: u16) -> NonZero<u16> {
    NonZero::new(number).unwrap()
}

impl Storm {
    fn new(seed: u64, sizes: &'static [(u16, u16)], reads: Reads) -> Self {
        let size = (100, 24);
        let wire = Wire::default();
        let mut app = App::new(
            Theme::plain(),
            Settings::default(),
            Composer::default(),
            size,
        );
        app.update(Input::Opened(Box::default()), Duration::ZERO);
        app.update(
            Input::Event(Event::TurnStarted { turn: TurnId(1) }),
            Duration::ZERO,
        );
        Self {
            dice: Dice(seed),
            sizes,
            reads,
            wrapping: Wrapping::default(),
            told_later: false,
            inline: Inline::new(wire.clone(), size.0),
            wire,
            terminal: vt100::Parser::new(some(size.1), some(size.0), 10_000),
            app,
            known: size,
            size,
            resting: false,
        }
    }

    /// The terminal reads a part of what is on its way.
    fn deliver(&mut self, reads: Reads) {
        let mut waiting = self.wire.0.lock().unwrap();
        let length = match reads {
            Reads::Pictures => waiting.len(),
            Reads::Parts => self.dice.roll(waiting.len() + 1),
        };
        let read: Vec<u8> = waiting.drain(..length).collect();
        self.wrapping.process(&read, &mut self.terminal);
    }

    /// The window has another size.
    fn resize(&mut self, size: (u16, u16)) {
        self.told_later |= self.size != size;
        self.size = size;
        self.terminal
            .screen_mut()
            .set_size(some(size.1), some(size.0));
    }

    /// The program is told of it, as the loop of the screen is.
    fn notice(&mut self) {
        if std::mem::take(&mut self.told_later) && !self.resting {
            self.inline.hide(self.size).unwrap();
            self.resting = true;
        }
    }

    /// The window rests.
    fn rest(&mut self) {
        if self.resting {
            self.known = self.size;
            self.resting = false;
        }
    }

    fn draw(&mut self) {
        if self.resting {
            return;
        }
        let (columns, rows) = self.known;
        self.app
            .update(Input::Resize(columns, rows), Duration::ZERO);
        let finished = self.app.take_finished();
        let live = self.app.live(Duration::ZERO);
        self.inline.draw(&finished, live, self.known).unwrap();
    }

    fn says(&mut self, text: &str) {
        let text = text.to_owned();
        self.app
            .update(Input::Event(Event::TextDelta { text }), Duration::ZERO);
    }

    fn any(&mut self) {
        match self.dice.roll(8) {
            0 => {
                let size = self.sizes[self.dice.roll(self.sizes.len())];
                self.resize(size);
            }
            1 => self.notice(),
            2 => self.rest(),
            3 | 4 => self.draw(),
            5 => self.deliver(Reads::Pictures),
            _ => self.deliver(self.reads),
        }
    }

    /// Everything there is to read, when it is calm again.
    fn everything(mut self) -> String {
        let why = TurnEnd::Done;
        let over = Event::TurnFinished {
            turn: TurnId(1),
            why,
            answer: String::new(),
        };
        self.app.update(Input::Event(over), Duration::ZERO);
        self.deliver(Reads::Pictures);
        self.resize((100, 24));
        self.notice();
        self.rest();
        self.draw();
        self.deliver(Reads::Pictures);
        let screen = self.terminal.screen_mut();
        screen.set_scrollback(usize::MAX);
        let mut seen = String::new();
        for behind in (1..=screen.scrollback()).rev() {
            screen.set_scrollback(behind);
            seen.extend(screen.rows(0, 120).next());
            seen.push('\n');
        }
        screen.set_scrollback(0);
        for row in screen.rows(0, 120) {
            seen.push_str(&row);
            seen.push('\n');
        }
        seen
    }
}

fn word(number: usize) -> String {
    format!("w{number:04}x")
}

/// Words that are not there once.
fn wrong(seen: &str) -> Vec<(usize, usize)> {
    let whole: String = seen.split_whitespace().collect();
    (0..WORDS)
        .map(|number| (number, whole.matches(&word(number)).count()))
        .filter(|(_, times)| *times != 1)
        .collect()
}

fn answer() -> String {
    let words: Vec<String> = (0..WORDS).map(word).collect();
    let (list, text) = words.split_at(WORDS / 2);
    let list: Vec<String> = list
        .chunks(4)
        .map(|four| format!("- {}\n", four.join(" ")))
        .collect();
    let text: Vec<String> = text.chunks(5).map(|five| five.join(" ")).collect();
    format!("{}\n{}\n", list.concat(), text.join("\n\n"))
}

#[track_caller]
fn check(sizes: &'static [(u16, u16)], reads: Reads) {
    let answer = answer();
    for seed in 0..STORMS {
        let mut storm = Storm::new(seed, sizes, reads);
        let mut rest = answer.as_str();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(28));
            rest = after;
            storm.says(piece);
            for _ in 0..storm.dice.roll(6) {
                storm.any();
            }
        }
        let seen = storm.everything();
        let wrong = wrong(&seen);
        assert!(wrong.is_empty(), "storm {seed}: {wrong:?}\n{seen}");
        let composers = seen.matches("ask anything").count();
        assert_eq!(composers, 1, "storm {seed}\n{seen}");
    }
}

// CL-20
#[test]
fn every_word_outlives_a_storm_where_lines_are_not_broken_anew() {
    check(&USUAL, Reads::Parts);
}

// CL-20
#[test]
fn every_word_outlives_windows_that_are_too_low_for_a_while() {
    check(&ANY, Reads::Pictures);
}
