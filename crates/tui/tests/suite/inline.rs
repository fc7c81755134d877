//! The live area on a terminal.

use std::io::{self, Write};
use std::num::NonZero;
use std::sync::{Arc, Mutex};

use hermes_tui::screen::{Inline, Live};
use ratatui::text::Line;

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
        cursor: Some(cursor),
    }
}

// CL-20
#[test]
fn finished_lines_scroll_away_above_a_live_area_that_stays() {
    let terminal = Terminal::new(6, 30);
    let mut inline = Inline::new(terminal.clone(), 30);
    inline
        .draw(&[], live(&["> ", "status"], (0, 2)), 30)
        .unwrap();
    // Behind the prompt stands the cursor that is seen.
    assert_eq!(terminal.text(), [">  ", "status"]);
    assert_eq!(terminal.cursor(), (0, 0));
    for number in 0..20 {
        let done = [Line::from(format!("line {number}"))];
        let area = live(&["working", "> draft", "status"], (1, 7));
        inline.draw(&done, area, 30).unwrap();
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
            .draw(&[], live(&[&long[..29], text, "status"], (1, 3)), 30)
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
