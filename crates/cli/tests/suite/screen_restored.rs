//! However the program ends or rests, the terminal is as it was.

use std::io::Read as _;

use hermes_testkit::model_server::{ModelServer, Scenario, Step, text};
use hermes_testkit::pty::Terminal;
use hermes_testkit::{TempHome, eventually};
use hermes_tui::app::Mode;
use hermes_tui::screen::{Guard, Hold, Inline, Live};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode as FileMode;
use nix::unistd::{Pid, mkfifo};

use super::program::Program;
use super::screen::{LIMIT, READY, quiet};

/// The modes of the terminal, as `stty` has them.
fn modes(terminal: &Terminal) -> String {
    let name = std::fs::read_link(format!("/proc/{}/fd/0", terminal.pid())).unwrap();
    let done = std::process::Command::new("stty")
        .args(["-a", "-F"])
        .arg(name)
        .output()
        .unwrap();
    String::from_utf8_lossy(&done.stdout).into_owned()
}

fn is_raw(terminal: &Terminal) -> bool {
    modes(terminal).contains("-icanon")
}

/// A shell that starts the program, so that somebody is there when it is gone.
fn shell(program: &Program, options: &str) -> Terminal {
    let hermes = env!("CARGO_BIN_EXE_hermes");
    let command = program.home.command("/bin/bash");
    let command = command
        .args(["--norc", "--noprofile", "-i"])
        .env("TERM", "xterm-256color")
        .env("PS1", "shell> ")
        .env("H", format!("{hermes} chat {options}"));
    let terminal = Terminal::spawn(&command, 80, 20).unwrap();
    terminal.wait_for_text("shell>", LIMIT).unwrap();
    terminal.send("$H; echo \"code $?\"\r").unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal
}

/// The program the shell waits for.
fn child(terminal: &Terminal) -> Pid {
    let path = format!("/proc/{0}/task/{0}/children", terminal.pid());
    let pid = eventually(LIMIT, "the program", || {
        let children = std::fs::read_to_string(&path).ok()?;
        children.split_whitespace().next()?.parse().ok()
    });
    Pid::from_raw(pid.unwrap())
}

fn is_given_back(terminal: &Terminal) {
    let screen = terminal.screen();
    assert!(!screen.cursor_hidden(), "{screen}");
    assert!(!screen.alternate(), "{screen}");
    assert!(!screen.contains(READY), "{screen}");
    assert!(!screen.contains("scripted │"), "{screen}");
}

// The shell itself has the terminal in a mode of its own while it reads a line; `cat` shows what it was given.
fn lines_can_be_typed(terminal: &Terminal, words: &str) {
    eventually(LIMIT, "a shell that reads a line", || {
        is_raw(terminal).then_some(())
    })
    .unwrap();
    terminal.send("cat\r").unwrap();
    eventually(LIMIT, "a terminal that reads lines", || {
        (!is_raw(terminal)).then_some(())
    })
    .unwrap();
    terminal.send(&format!("{words}\r")).unwrap();
    let twice = |screen: &hermes_testkit::pty::Screen| {
        let rows = screen.rows();
        rows.iter().filter(|row| *row == words).count() == 2
    };
    terminal.wait_for(twice, LIMIT).unwrap();
    let given = modes(terminal);
    assert!(given.contains(" echo "), "{given}");
    terminal.send("\x04").unwrap();
}

#[test]
fn signals_that_end_the_program_give_the_terminal_back_in_both_modes() {
    let server = ModelServer::start(Scenario::new()).unwrap();
    let program = quiet(&server, "");
    for (options, signal, code) in [
        ("", Signal::SIGINT, 130),
        ("", Signal::SIGTERM, 143),
        ("--tui", Signal::SIGINT, 130),
        ("--tui", Signal::SIGTERM, 143),
        ("--tui", Signal::SIGQUIT, 131),
    ] {
        let terminal = shell(&program, options);
        assert_eq!(terminal.screen().alternate(), options == "--tui");
        assert!(is_raw(&terminal));
        kill(child(&terminal), signal).unwrap();
        terminal
            .wait_for_text(&format!("code {code}"), LIMIT)
            .unwrap();
        is_given_back(&terminal);
        lines_can_be_typed(&terminal, "by hand");
    }
}

#[test]
fn a_turn_that_runs_is_no_reason_to_leave_the_live_area_behind() {
    let endless = Step::new(text("words and more words")).hang_after(2);
    let server = ModelServer::start(Scenario::new().reply(endless)).unwrap();
    let program = quiet(&server, "");
    let terminal = shell(&program, "");
    terminal.send("begin\r").unwrap();
    terminal.wait_for_text("words and", LIMIT).unwrap();
    kill(child(&terminal), Signal::SIGINT).unwrap();
    terminal.wait_for_text("code 130", LIMIT).unwrap();
    is_given_back(&terminal);
    assert!(!terminal.screen().contains("a message stops"));
    assert!(terminal.screen().contains("● begin"));
}

#[test]
fn the_shell_has_the_terminal_until_fg_in_both_modes() {
    let server = ModelServer::start(Scenario::new().reply(text("Here again."))).unwrap();
    for (options, by_key) in [("", true), ("--tui", true), ("", false), ("--tui", false)] {
        let program = quiet(&server, "");
        let terminal = shell(&program, options);
        terminal.send("a draft").unwrap();
        terminal.wait_for_text("a draft", LIMIT).unwrap();
        match by_key {
            true => terminal.send("\x1a").unwrap(),
            // Somebody else says so.
            false => kill(child(&terminal), Signal::SIGTSTP).unwrap(),
        }
        let screen = terminal.wait_for_text("fg goes on with it", LIMIT).unwrap();
        assert!(!screen.alternate(), "{screen}");
        terminal.wait_for_text("Stopped", LIMIT).unwrap();
        assert!(!terminal.screen().cursor_hidden());
        lines_can_be_typed(&terminal, "in between");
        // What was to run behind it ran when it was stopped.
        terminal.send("fg; echo \"left $?\"\r").unwrap();
        // What was written is still there, and can be written on.
        let wanted = options == "--tui";
        terminal
            .wait_for(
                |screen| screen.alternate() == wanted && screen.contains("❯ a draft"),
                LIMIT,
            )
            .unwrap();
        assert!(is_raw(&terminal));
        terminal.send("s").unwrap();
        terminal.wait_for_text("❯ a drafts", LIMIT).unwrap();
        terminal.send("\x03\x04").unwrap();
        terminal.wait_for_text("left 0", LIMIT).unwrap();
        is_given_back(&terminal);
        lines_can_be_typed(&terminal, "by hand");
    }
}

#[test]
fn a_signal_while_the_conversation_is_opened_gives_the_terminal_back() {
    let program = Program::new();
    let model = "model: {default: unknown-model, provider: custom, base_url: 'http://127.0.0.1:9/v1', api_key: k}\n";
    program.home.write_config(model).unwrap();
    // A file that opening reads, on a disk that never answers.
    let windows = program.home.path().join("context_length_cache.yaml");
    mkfifo(&windows, FileMode::S_IRUSR).unwrap();
    for (options, signal, code) in [
        (["chat", "--cli"], Signal::SIGTERM, 143),
        (["chat", "--tui"], Signal::SIGINT, 130),
    ] {
        let command = program.command(&options).env("TERM", "xterm-256color");
        let terminal = Terminal::spawn(&command, 80, 20).unwrap();
        terminal
            .wait_for_text("starting; what you write waits", LIMIT)
            .unwrap();
        kill(Pid::from_raw(terminal.pid()), signal).unwrap();
        assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, code);
        let screen = terminal.screen();
        assert!(!screen.cursor_hidden() && !screen.alternate(), "{screen}");
        assert!(!screen.contains("starting"), "{screen}");
    }
}

/// Set for the copy of this test that panics.
const PANICS: &str = "HERMES_TEST_PANICS";

#[expect(clippy::disallowed_methods, reason = "a copy of the test is told so")]
fn panics_in() -> Option<Mode> {
    match std::env::var(PANICS).ok()?.as_str() {
        "full" => Some(Mode::Full),
        _ => Some(Mode::Inline),
    }
}

#[test]
fn a_panic_gives_the_terminal_back() {
    if let Some(mode) = panics_in() {
        let hold = Hold {
            mode,
            ..Hold::default()
        };
        let _guard = Guard::take(hold).unwrap();
        let live = Live {
            lines: vec!["the live area".into(), "its second line".into()],
            yielding: 0,
            cursor: None,
        };
        Inline::new(std::io::stdout(), 80)
            .draw(&[], live, (80, 24))
            .unwrap();
        // The terminal may answer what it was asked; the word to go on is another.
        let mut typed = std::io::stdin().lock().bytes();
        assert!(typed.any(|byte| byte.is_ok_and(|byte| byte == b'!')));
        panic!("this was to be expected");
    }
    let home = TempHome::new().unwrap();
    for mode in ["inline", "full"] {
        let name = "suite::screen_restored::a_panic_gives_the_terminal_back";
        let command = home
            .command(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(PANICS, mode);
        let terminal = Terminal::spawn(&command, 80, 20).unwrap();
        terminal.wait_for_text("its second line", LIMIT).unwrap();
        assert!(terminal.screen().cursor_hidden());
        assert_eq!(terminal.screen().alternate(), mode == "full");
        assert!(is_raw(&terminal));
        terminal.send("!").unwrap();
        // The words of the panic come after the terminal is given back, so they are there to be read.
        let screen = terminal
            .wait_for_text("this was to be expected", LIMIT)
            .unwrap();
        assert!(!screen.cursor_hidden() && !screen.alternate(), "{screen}");
        assert!(!screen.contains("live area"), "{screen}");
        assert!(!screen.contains("second line"), "{screen}");
        assert_ne!(terminal.wait_exit(LIMIT).unwrap().code, 0);
    }
}
