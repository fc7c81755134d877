//! The terminal driver against a real shell.

use std::time::Duration;

use hermes_testkit::TempHome;
use hermes_testkit::process::assert_no_descendants_within;
use hermes_testkit::pty::{Color, Key, Terminal};

const LIMIT: Duration = Duration::from_secs(10);

fn shell(home: &TempHome) -> Terminal {
    let command = home.command("/bin/sh").env("PS1", "ready> ");
    let terminal = Terminal::spawn(&command, 60, 10).unwrap();
    terminal.wait_for_text("ready>", LIMIT).unwrap();
    terminal
}

#[test]
fn types_commands_and_reads_the_screen() {
    let home = TempHome::new().unwrap();
    let terminal = shell(&home);
    terminal.send("echo a''b").unwrap();
    terminal.send_key(Key::Enter).unwrap();
    let screen = terminal
        .wait_for(|screen| screen.rows()[2] == "ready>", LIMIT)
        .unwrap();
    assert_eq!(screen.rows()[..3], ["ready> echo a''b", "ab", "ready>"]);
    assert_eq!(screen.cursor(), (2, 7));
    terminal.send("exit 4\r").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 4);
}

#[test]
fn the_program_sees_a_resize() {
    let home = TempHome::new().unwrap();
    let terminal = shell(&home);
    terminal.send("stty size\r").unwrap();
    terminal.wait_for_text("10 60", LIMIT).unwrap();
    terminal.resize(90, 20).unwrap();
    terminal.send("stty size\r").unwrap();
    let screen = terminal.wait_for_text("20 90", LIMIT).unwrap();
    assert_eq!(screen.rows().len(), 20);
}

#[test]
fn ctrl_c_interrupts_the_foreground_program() {
    let home = TempHome::new().unwrap();
    let terminal = shell(&home);
    terminal.send("sleep 100 || echo stopped by $?\r").unwrap();
    hermes_testkit::eventually(LIMIT, "sleep runs", || {
        let children = hermes_testkit::process::descendants(terminal.pid());
        children
            .iter()
            .any(|child| child.to_string().contains("sleep 100"))
            .then_some(())
    })
    .unwrap();
    terminal.send_key(Key::CtrlC).unwrap();
    terminal
        .wait_for(
            |screen| screen.contains("^C") && screen.text().ends_with("ready>"),
            LIMIT,
        )
        .unwrap();
    assert_no_descendants_within(terminal.pid(), LIMIT);
}

#[test]
fn shows_colours_and_answers_queries() {
    let home = TempHome::new().unwrap();
    let script =
        r"printf '\033[1;31mred\033[0m\033[6n'; stty -icanon -echo min 1; head -c 6 | od -c";
    let command = home.command("/bin/sh").args(["-c", script]);
    let terminal = Terminal::spawn(&command, 60, 10).unwrap();
    let screen = terminal.wait_for_text("[   1   ;   4   R", LIMIT).unwrap();
    let cell = screen.cell(0, 0).unwrap();
    assert_eq!(
        (cell.text.as_str(), cell.foreground, cell.bold),
        ("r", Color::Idx(1), true)
    );
    assert_eq!(screen.cell(10, 0), None);
}

#[test]
fn pastes_in_brackets_when_the_program_asked() {
    let home = TempHome::new().unwrap();
    let script = r"stty -icanon -echo min 1; printf '\033[?2004hgo'; head -c 14 | od -An -c";
    let command = home.command("/bin/sh").args(["-c", script]);
    let terminal = Terminal::spawn(&command, 80, 10).unwrap();
    terminal.wait_for_text("go", LIMIT).unwrap();
    terminal.paste("hi").unwrap();
    let screen = terminal.wait_for_text("h   i", LIMIT).unwrap();
    assert!(screen.contains("[   2   0   0   ~   h   i"), "{screen}");
}

#[test]
fn a_failed_wait_shows_the_screen() {
    let home = TempHome::new().unwrap();
    let terminal = shell(&home);
    let error = terminal
        .wait_for_text("never", Duration::from_millis(20))
        .unwrap_err();
    let message = format!("{error:#}");
    assert!(message.contains("| ready>"), "{message}");
    assert!(message.contains("\"never\""), "{message}");
}

#[test]
fn half_a_picture_is_not_looked_at() {
    let home = TempHome::new().unwrap();
    // Clears and fills the screen, with a pause between the two.
    let script = r"while :; do printf '\033[?2026h\033[2J\033[H'; sleep 0.02; printf 'filled\033[?2026l'; sleep 0.01; done";
    let command = home.command("/bin/sh").args(["-c", script]);
    let terminal = Terminal::spawn(&command, 60, 10).unwrap();
    terminal.wait_for_text("filled", LIMIT).unwrap();
    for _ in 0..50 {
        assert!(terminal.screen().contains("filled"));
        assert!(terminal.everything().iter().any(|row| row == "filled"));
        let seen = Some(terminal.received());
        let screen = terminal.wait_past(seen, |_| true, LIMIT).unwrap();
        assert!(screen.contains("filled"), "{screen}");
    }
}

#[test]
fn dropping_it_ends_the_program() {
    let home = TempHome::new().unwrap();
    let terminal = shell(&home);
    let pid = terminal.pid();
    drop(terminal);
    assert!(!hermes_testkit::process::alive(pid));
}
