//! What commands print for people at 50, 80 and 140 columns: no word is cut, and no line is longer than the window.
//! Their colours are the terminal's own, bold, faint and green, so they look the same on a dark and a light ground.

use hermes_testkit::pty::Terminal;
use insta::assert_snapshot;

use super::program::Program;
use super::setup::{LIMIT, ends, reply, waits};

const WIDTHS: [u16; 3] = [50, 80, 140];

fn open(program: &Program, arguments: &[&str], columns: u16) -> Terminal {
    let command = program.command(arguments).env("TERM", "xterm-256color");
    Terminal::spawn(&command.env("PATH", "/nowhere"), columns, 120).unwrap()
}

/// What is on the screen once its question waits, without the folder of this test.
fn asked(program: &Program, terminal: &Terminal, question: &str) -> String {
    program.home.scrub(&waits(terminal, question).text())
}

/// One page at each width.
fn at_each_width(draw: impl Fn(u16) -> String) -> String {
    WIDTHS
        .map(|columns| format!("== {columns} columns\n{}\n", draw(columns).trim_end()))
        .concat()
}

// CL-12
#[test]
fn setting_up_fits_the_window() {
    let shown = at_each_width(|columns| {
        let program = Program::new();
        let terminal = open(&program, &["setup"], columns);
        // The last words of each question, which stand at the cursor however it is broken.
        for (end, answer) in [("it is)", "2"), ("this)", "s"), ("it is)", "3")] {
            reply(&terminal, end, answer);
        }
        let screen = asked(&program, &terminal, "done)");
        terminal.send("\x03").unwrap();
        ends(&terminal, 130);
        screen
    });
    assert_snapshot!(shown);
}

// CL-12
#[test]
fn a_first_start_fits_the_window() {
    let shown = at_each_width(|columns| {
        let program = Program::new();
        let terminal = open(&program, &["chat"], columns);
        waits(&terminal, "s skips this)");
        terminal.send("s\r").unwrap();
        ends(&terminal, 1);
        terminal.wait_for_text("hermes model list", LIMIT).unwrap();
        program.home.scrub(&terminal.screen().text())
    });
    assert_snapshot!(shown);
}

// CL-26
#[test]
fn insights_fit_the_window() {
    let shown = at_each_width(|columns| {
        let program = Program::after_the_reference();
        program.run(&["sessions", "stats"]).ok();
        let terminal = open(&program, &["insights", "--days", "36500"], columns);
        ends(&terminal, 0);
        terminal.wait_for_text("Most tool calls", LIMIT).unwrap();
        terminal.screen().text()
    });
    assert_snapshot!(shown);
}
