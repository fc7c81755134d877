//! The whole screen on a terminal.

use std::io::{self, Write};
use std::num::NonZero;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use hermes_core::{Event, TurnEnd, TurnId};
use hermes_tui::Theme;
use hermes_tui::app::{App, Input, Mode, Opened, Settings};
use hermes_tui::composer::Composer;
use hermes_tui::screen::Full;
use proptest::prelude::*;

use super::anything::words;

/// A terminal that counts what it is told.
#[derive(Clone)]
struct Terminal(Arc<Mutex<(vt100::Parser, usize)>>);

impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut held = self.0.lock().unwrap();
        held.0.process(bytes);
        held.1 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Terminal {
    fn new(columns: u16, rows: u16) -> Self {
        let [rows, columns] = [rows, columns].map(|size| NonZero::new(size).unwrap());
        Self(Arc::new(Mutex::new((
            vt100::Parser::new(rows, columns, 0),
            0,
        ))))
    }

    /// What is on it, and the cursor, if it is to be seen.
    fn text(&self) -> (Vec<String>, Option<(u16, u16)>) {
        let held = self.0.lock().unwrap();
        let screen = held.0.screen();
        let columns = screen.size().1.get();
        (
            screen.rows(0, columns).collect(),
            (!screen.hide_cursor()).then(|| screen.cursor_position()),
        )
    }

    fn told(&self) -> usize {
        self.0.lock().unwrap().1
    }

    fn resize(&self, columns: u16, rows: u16) {
        let [rows, columns] = [rows, columns].map(|size| NonZero::new(size).unwrap());
        self.0
            .lock()
            .unwrap()
            .0
            .screen_mut()
            .set_size(rows, columns);
    }
}

fn app(size: (u16, u16)) -> App {
    let settings = Settings {
        mode: Mode::Full,
        ..Settings::default()
    };
    let mut app = App::new(Theme::plain(), settings, Composer::default(), size);
    app.update(Input::Opened(Box::<Opened>::default()), Duration::ZERO);
    app
}

fn key(app: &mut App, code: KeyCode) {
    let key = KeyEvent::new(code, KeyModifiers::NONE);
    app.update(Input::Key(key), Duration::ZERO);
}

fn said(app: &mut App, text: &str) {
    let text = text.to_owned();
    app.update(Input::Event(Event::TextDelta { text }), Duration::ZERO);
}

// CL-31
#[test]
fn nothing_is_written_when_nothing_changed_and_a_key_writes_one_line() {
    let terminal = Terminal::new(80, 24);
    let mut full = Full::new(terminal.clone());
    let mut app = app((80, 24));
    said(&mut app, &"line\n\n".repeat(30));
    full.draw(app.live(Duration::ZERO), (80, 24)).unwrap();
    let first = terminal.told();
    for _ in 0..100 {
        // Time passes, but not so much that it is seen.
        app.update(Input::Resize(80, 24), Duration::ZERO);
        full.draw(app.live(Duration::ZERO), (80, 24)).unwrap();
    }
    assert_eq!(terminal.told(), first);
    key(&mut app, KeyCode::Char('a'));
    full.draw(app.live(Duration::ZERO), (80, 24)).unwrap();
    assert!(terminal.told() - first < 120, "{}", terminal.told() - first);
    let (rows, cursor) = terminal.text();
    let (row, column) = cursor.unwrap();
    assert_eq!(rows[usize::from(row)].trim_end(), "❯ a");
    assert_eq!(column, 3);
}

/// What can happen to a screen, as far as its lines are concerned.
#[derive(Debug, Clone)]
enum Step {
    Say(String),
    Key(KeyCode),
    Size(u16, u16),
    End,
}

fn step() -> impl Strategy<Value = Step> {
    let keys = vec![
        KeyCode::Char('a'),
        KeyCode::Backspace,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::F(2),
        KeyCode::Esc,
    ];
    prop_oneof![
        // The terminal here gives every part of a joined sign columns of its own.
        words()
            .prop_map(|text| text.replace('\u{200d}', ""))
            .prop_map(Step::Say),
        prop::sample::select(keys).prop_map(Step::Key),
        (20_u16..130, 5_u16..30).prop_map(|(columns, rows)| Step::Size(columns, rows)),
        Just(Step::End),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    // CL-31 CL-20
    #[test]
    fn changes_lead_to_the_same_screen_as_drawing_it_anew(steps in prop::collection::vec(step(), 1..40)) {
        let mut size = (80, 24);
        let terminal = Terminal::new(size.0, size.1);
        let mut full = Full::new(terminal.clone());
        let mut app = app(size);
        for step in steps {
            match step {
                Step::Say(text) => said(&mut app, &text),
                Step::Key(code) => key(&mut app, code),
                Step::Size(columns, rows) => {
                    size = (columns, rows);
                    terminal.resize(columns, rows);
                    app.update(Input::Resize(columns, rows), Duration::ZERO);
                }
                Step::End => {
                    let (turn, why, answer) = (TurnId(1), TurnEnd::Done, String::new());
                    app.update(Input::Event(Event::TurnFinished { turn, why, answer }), Duration::ZERO);
                }
            }
            let live = app.live(Duration::ZERO);
            full.draw(live.clone(), size).unwrap();
            let fresh = Terminal::new(size.0, size.1);
            Full::new(fresh.clone()).draw(live, size).unwrap();
            prop_assert_eq!(terminal.text(), fresh.text());
        }
    }
}
