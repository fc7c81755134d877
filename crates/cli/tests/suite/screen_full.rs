//! The full screen: its list of sessions, the mouse, and what it leaves behind.

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, Scenario, text};
use hermes_testkit::pty::{Screen, Terminal};

use super::program::Program;
use super::screen::{LIMIT, READY, Tmux, leave, quiet};

fn full(program: &Program) -> Terminal {
    let command = program.command(&["chat", "--tui"]);
    let command = command.env("TERM", "xterm-256color");
    let terminal = Terminal::spawn(&command, 120, 30).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal
}

/// Presses and lets go of the left button on the row of the list that holds these words.
fn click(terminal: &Terminal, words: &str) {
    let in_list = |screen: &Screen| {
        let rows = screen.rows();
        rows.iter().position(|row| {
            let list = row.split_once('│').map_or("", |(list, _)| list);
            list.contains(words)
        })
    };
    let screen = terminal
        .wait_for(|screen| in_list(screen).is_some(), LIMIT)
        .unwrap();
    let row = in_list(&screen).unwrap() + 1;
    terminal
        .send(&format!("\x1b[<0;4;{row}M\x1b[<0;4;{row}m"))
        .unwrap();
}

fn wheel(terminal: &Terminal, button: u8, times: usize) {
    let step = format!("\x1b[<{button};80;10M");
    terminal.send(&step.repeat(times)).unwrap();
}

fn points() -> String {
    (0..60)
        .map(|number| format!("- point {number}\n"))
        .collect()
}

// CL-20: what a terminal cut off while its window was narrow comes back with the width, however soon that is.
#[test]
fn a_window_that_is_narrow_for_a_moment_is_whole_again() {
    let server = ModelServer::start(Scenario::new().reply(text("x".repeat(80)))).unwrap();
    let program = quiet(&server, "");
    let terminal = full(&program);
    terminal.send("first question\r").unwrap();
    let answered = terminal.wait_for_text(&"x".repeat(80), LIMIT).unwrap();
    let before = terminal.wait_for_text(READY, LIMIT).unwrap().rows();
    assert_eq!(before.len(), answered.rows().len());
    for _ in 0..5 {
        terminal.resize(50, 30).unwrap();
        terminal.resize(120, 30).unwrap();
        // The last row is the bar, whose clock goes on.
        let whole = |screen: &Screen| {
            let rows = screen.rows();
            rows[..rows.len() - 1] == before[..before.len() - 1]
        };
        terminal.wait_for(whole, LIMIT).unwrap();
    }
    leave(&terminal);
}

// CL-31
#[test]
fn the_wheel_scrolls_and_a_click_in_the_list_goes_to_another_session() {
    let scenario = Scenario::new()
        .reply(text(points()))
        .reply(text("Second answer."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "display: {mouse_tracking: buttons}\n");
    let terminal = full(&program);
    assert!(terminal.screen().alternate());
    terminal.send("first question\r").unwrap();
    terminal.wait_for_text("point 59", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    wheel(&terminal, 64, 12);
    terminal
        .wait_for(
            |screen| !screen.contains("point 59") && screen.contains("point 10"),
            LIMIT,
        )
        .unwrap();
    wheel(&terminal, 65, 30);
    terminal.wait_for_text("point 59", LIMIT).unwrap();
    click(&terminal, "+ new session");
    terminal
        .wait_for_text("Begin another conversation", LIMIT)
        .unwrap();
    terminal.send("1").unwrap();
    terminal
        .wait_for_text("This is a new conversation", LIMIT)
        .unwrap();
    terminal
        .wait_for(|screen| !screen.contains("point 59"), LIMIT)
        .unwrap();
    terminal.send("second question\r").unwrap();
    terminal.wait_for_text("Second answer.", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    click(&terminal, "first question");
    let screen = terminal.wait_for_text("point 59", LIMIT).unwrap();
    assert!(!screen.contains("Second answer."), "{screen}");
    // By keys: the list is focused, the one above is chosen.
    terminal.send("\x1bOQ").unwrap();
    terminal.wait_for_text("Enter · N · Esc", LIMIT).unwrap();
    terminal.send("\x1b[H\x1b[B\r").unwrap();
    terminal.wait_for_text("Second answer.", LIMIT).unwrap();
    leave(&terminal);
    assert!(!terminal.screen().alternate());
}

// CL-31
#[test]
fn the_mouse_is_taken_as_far_as_the_settings_say() {
    for (preset, standard, moves) in [
        ("'off'", "0", "0"),
        ("wheel", "1", "0"),
        ("buttons", "1", "0"),
        ("all", "0", "1"),
    ] {
        let server = ModelServer::start(Scenario::new()).unwrap();
        let program = quiet(&server, &format!("display: {{mouse_tracking: {preset}}}\n"));
        let name = preset.trim_matches('\'');
        let tmux = Tmux(format!("hermes-mouse-{name}-{}", std::process::id()));
        let line = program.command(&["chat", "--tui"]);
        let line = line.env("TERM", "tmux-256color").line();
        let mut start = vec!["new-session", "-d", "-x", "100", "-y", "24", "--"];
        start.extend(line.iter().map(String::as_str));
        tmux.run(&start);
        tmux.wait(READY);
        let flags = || {
            let format = "#{alternate_on} #{mouse_standard_flag} #{mouse_all_flag}";
            tmux.run(&["display-message", "-p", format])
                .trim()
                .to_owned()
        };
        assert_eq!(flags(), format!("1 {standard} {moves}"), "{preset}");
        tmux.run(&["send-keys", "/mouse off", "Enter"]);
        let off = eventually(LIMIT, "no mouse", || (flags() == "1 0 0").then_some(()));
        assert!(off.is_ok(), "{preset}: {}", flags());
    }
}
