//! The live area on a terminal.

use std::io::{self, Write};
use std::num::NonZero;
use std::sync::{Arc, Mutex};

use std::time::Duration;

use hermes_tui::Theme;
use hermes_tui::app::{App, Input, Mode, Settings};
use hermes_tui::composer::Composer;
use hermes_tui::screen::{Inline, Live};
use proptest::prelude::*;
use ratatui::text::Line;

use super::anything;

/// A terminal that remembers everything.
#[derive(Clone)]
struct Terminal(Arc<Mutex<vt100::Parser>>);

impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().process(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Terminal {
    fn new(rows: u16, columns: u16) -> Self {
        let [rows, columns] = [rows, columns].map(|size| NonZero::new(size).unwrap());
        let parser = vt100::Parser::new(rows, columns, 1000);
        Self(Arc::new(Mutex::new(parser)))
    }

    /// Everything there is, history included.
    fn text(&self) -> Vec<String> {
        let mut parser = self.0.lock().unwrap();
        let (rows, columns) = parser.screen().size();
        let (rows, columns) = (rows.get(), columns.get());
        parser.screen_mut().set_scrollback(usize::MAX);
        let mut behind = parser.screen().scrollback();
        let mut lines = Vec::new();
        while behind > 0 {
            parser.screen_mut().set_scrollback(behind);
            lines.extend(parser.screen().rows(0, columns).next());
            behind -= 1;
        }
        parser.screen_mut().set_scrollback(0);
        lines.extend(parser.screen().rows(0, columns).take(usize::from(rows)));
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }

    fn resize(&self, rows: u16, columns: u16) {
        let [rows, columns] = [rows, columns].map(|size| NonZero::new(size).unwrap());
        self.0.lock().unwrap().screen_mut().set_size(rows, columns);
    }

    fn cursor(&self) -> (u16, u16) {
        self.0.lock().unwrap().screen().cursor_position()
    }
}

fn live(lines: &[&str], cursor: (u16, u16)) -> Live {
    Live {
        lines: lines
            .iter()
            .map(|line| Line::from((*line).to_owned()))
            .collect(),
        yielding: 0,
        cursor: Some(cursor),
    }
}

// CL-20
#[test]
fn finished_lines_scroll_away_above_a_live_area_that_stays() {
    let terminal = Terminal::new(6, 30);
    let mut inline = Inline::new(terminal.clone(), 30);
    inline
        .draw(&[], live(&["> ", "status"], (0, 2)), (30, 6))
        .unwrap();
    // Behind the prompt stands the cursor that is seen.
    assert_eq!(terminal.text(), [">  ", "status"]);
    assert_eq!(terminal.cursor(), (0, 0));
    for number in 0..20 {
        let done = [Line::from(format!("line {number}"))];
        let area = live(&["working", "> draft", "status"], (1, 7));
        inline.draw(&done, area, (30, 6)).unwrap();
    }
    let mut expected: Vec<String> = (0..20).map(|number| format!("line {number}")).collect();
    expected.extend(["working", "> draft ", "status"].map(str::to_owned));
    assert_eq!(terminal.text(), expected);
    assert_eq!(terminal.cursor(), (3, 0));
    inline.clear().unwrap();
    expected.truncate(20);
    assert_eq!(terminal.text(), expected);
}

#[test]
fn only_what_changed_is_written() {
    let terminal = Terminal::new(6, 30);
    let counted = Arc::new(Mutex::new(0));
    struct Counting(Terminal, Arc<Mutex<usize>>);
    impl Write for Counting {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            *self.1.lock().unwrap() += bytes.len();
            self.0.write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let out = Counting(terminal.clone(), counted.clone());
    let mut inline = Inline::new(out, 30);
    let long = "a long line that stays as it is";
    let draw = |inline: &mut Inline<Counting>, text: &str| {
        inline
            .draw(&[], live(&[&long[..29], text, "status"], (1, 3)), (30, 6))
            .unwrap();
    };
    draw(&mut inline, "> a");
    let first = *counted.lock().unwrap();
    draw(&mut inline, "> a");
    assert_eq!(*counted.lock().unwrap(), first);
    draw(&mut inline, "> b");
    assert!(*counted.lock().unwrap() - first < 60);
    assert_eq!(terminal.text(), [&long[..29], "> b ", "status"]);
}

/// A terminal that remembers every write by itself.
#[derive(Clone, Default)]
struct Writes(Arc<Mutex<Vec<String>>>);

impl Write for Writes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        self.0.lock().unwrap().push(text);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

// CL-20
#[test]
fn a_picture_is_one_write_that_a_terminal_shows_as_a_whole() {
    let writes = Writes::default();
    let mut inline = Inline::new(writes.clone(), 30);
    for number in 0..5 {
        let done = [Line::from(format!("line {number}"))];
        let area = live(&["working", &format!("> draft {number}")], (1, 7));
        inline.draw(&done, area, (30, 6)).unwrap();
    }
    let writes = writes.0.lock().unwrap();
    assert_eq!(writes.len(), 5, "{writes:?}");
    for picture in &*writes {
        assert!(picture.starts_with("\x1b[?2026h"), "{picture:?}");
        assert!(picture.ends_with("\x1b[?2026l"), "{picture:?}");
        assert_eq!(picture.matches("\x1b[?2026").count(), 2, "{picture:?}");
    }
}

#[test]
fn the_last_column_is_kept() {
    let terminal = Terminal::new(6, 10);
    let mut inline = Inline::new(terminal.clone(), 10);
    let area = |lines: [&str; 3]| Live {
        lines: lines
            .iter()
            .map(|line| Line::from((*line).to_owned()))
            .collect(),
        yielding: 0,
        cursor: None,
    };
    inline
        .draw(&[], area(["0123456789", "a", "ABCDEFGHIJ"]), (10, 6))
        .unwrap();
    assert_eq!(terminal.text(), ["0123456789", "a", "ABCDEFGHIJ"]);
    // Only the lines that changed are written, and none of them loses its end.
    inline
        .draw(&[], area(["9876543210", "b", "JIHGFEDCBA"]), (10, 6))
        .unwrap();
    assert_eq!(terminal.text(), ["9876543210", "b", "JIHGFEDCBA"]);
    let full = [Line::from("full width")];
    inline
        .draw(&full, area(["日本日本日", "c", "x"]), (10, 6))
        .unwrap();
    assert_eq!(terminal.text(), ["full width", "日本日本日", "c", "x"]);
}

// CL-20
#[test]
fn a_terminal_that_shrank_before_we_knew_loses_nothing_and_doubles_nothing() {
    let terminal = Terminal::new(12, 30);
    let mut inline = Inline::new(terminal.clone(), 30);
    let tall: Vec<String> = (0..9).map(|number| format!("live {number}")).collect();
    let tall: Vec<&str> = tall.iter().map(String::as_str).collect();
    let mut expected = Vec::new();
    for round in 0..40 {
        let done = [Line::from(format!("line {round}"))];
        expected.push(format!("line {round}"));
        inline.draw(&done, live(&tall, (0, 0)), (30, 12)).unwrap();
        // Fewer rows than the live area has, and more again; each time it is drawn before we are told.
        let rows = [5, 12, 3, 9][round % 4];
        terminal.resize(rows, 30);
        let other = format!("changed {round}");
        let mut changed = tall.clone();
        changed[8] = &other;
        inline.draw(&[], live(&changed, (0, 0)), (30, 12)).unwrap();
        inline.hide((30, rows)).unwrap();
    }
    terminal.resize(12, 30);
    inline.draw(&[], live(&["> "], (0, 2)), (30, 12)).unwrap();
    let seen = terminal.text();
    let lines: Vec<&String> = seen
        .iter()
        .filter(|line| line.starts_with("line"))
        .collect();
    assert_eq!(lines, expected.iter().collect::<Vec<_>>(), "{seen:#?}");
    assert!(
        !seen
            .iter()
            .any(|line| line.contains("live") || line.contains("changed")),
        "{seen:#?}"
    );
}

// CL-20
#[test]
fn first_lines_give_way_where_a_narrower_window_would_push_them_into_the_history() {
    let terminal = Terminal::new(12, 30);
    let mut inline = Inline::new(terminal.clone(), 30);
    let tail: Vec<String> = (0..4)
        .map(|number| format!("{number} a line that is long"))
        .collect();
    let area = || {
        let lines = tail.iter().map(String::as_str).chain(["> "]);
        Live {
            yielding: tail.len(),
            ..live(&lines.collect::<Vec<_>>(), (4, 2))
        }
    };
    let shown = |terminal: &Terminal| {
        let seen = terminal.text();
        seen.iter().filter(|line| line.contains("long")).count()
    };
    // At a third of the width each takes three rows, and nothing is above them.
    inline.draw(&[], area(), (30, 12)).unwrap();
    assert_eq!(shown(&terminal), 1);
    assert_eq!(terminal.text(), ["3 a line that is long", ">  "]);
    let done = [Line::from("done")];
    for expected in [1, 1, 1, 2, 2, 3, 3, 4] {
        inline.draw(&done, area(), (30, 12)).unwrap();
        assert_eq!(shown(&terminal), expected);
    }
    // What they were broken into took rows away from the history.
    inline.hide((15, 12)).unwrap();
    inline.draw(&[], area(), (30, 12)).unwrap();
    assert_eq!(shown(&terminal), 1);
}

#[test]
fn everything_is_drawn_anew_with_the_end_of_the_history() {
    let terminal = Terminal::new(6, 20);
    let mut inline = Inline::new(terminal.clone(), 20);
    let history: Vec<Line<'static>> = (0..9)
        .map(|number| Line::from(format!("line {number}")))
        .collect();
    inline
        .draw(&history, live(&["> ", "status"], (0, 2)), (20, 6))
        .unwrap();
    let before = terminal.text();
    // Somebody else wrote over it.
    terminal
        .clone()
        .write_all(b"\x1b[2;1Hrubbish\x1b[6;3Hmore of it")
        .unwrap();
    assert_ne!(terminal.text(), before);
    inline
        .repaint(&history, live(&["> ", "status"], (0, 2)), (20, 6))
        .unwrap();
    assert_eq!(terminal.text(), before);
    assert_eq!(terminal.cursor(), (4, 0));
    // In a narrower window a line takes more rows, and fewer lines are there.
    terminal.resize(6, 4);
    inline
        .repaint(&history, live(&["> ", "st"], (0, 2)), (4, 6))
        .unwrap();
    let seen = terminal.text();
    let end = seen.len() - 6;
    assert_eq!(seen[end..], ["line", " 7", "line", " 8", ">  ", "st"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    // CL-20
    #[test]
    fn changes_lead_to_the_same_live_area_as_drawing_it_anew(inputs in prop::collection::vec(anything::input(), 1..40)) {
        let size = (40_u16, 14_u16);
        let terminal = Terminal::new(size.1, size.0);
        let mut inline = Inline::new(terminal.clone(), size.0);
        let settings = Settings { mode: Mode::Inline, ..Settings::default() };
        let mut app = App::new(Theme::plain(), settings, Composer::default(), size);
        app.update(Input::Opened(Box::default()), Duration::ZERO);
        let mut history = Vec::new();
        let mut now = Duration::ZERO;
        for input in inputs {
            now += Duration::from_millis(400);
            // The terminal here gives every part of a joined sign columns of its own, and wraps where no other does.
            let joined = format!("{input:?}").contains("\\u{200d}");
            if joined || matches!(input, Input::Resize(..)) {
                continue;
            }
            app.update(input, now);
            let finished = app.take_finished();
            // What gives way depends on what was there before.
            let live = Live { yielding: 0, ..app.live(now) };
            inline.draw(&finished, live.clone(), size).unwrap();
            history.extend(finished);
            let fresh = Terminal::new(size.1, size.0);
            Inline::new(fresh.clone(), size.0).draw(&history, live, size).unwrap();
            prop_assert_eq!(terminal.text(), fresh.text());
        }
    }
}
