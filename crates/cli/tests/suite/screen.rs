//! `hermes chat` on a screen, driven by keys.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Scenario, Step, text, tool_call};
use hermes_testkit::pty::Terminal;
use serde_json::json;

use super::chat::with_model;
use super::program::Program;

pub(crate) const LIMIT: Duration = Duration::from_secs(30);
pub(crate) const READY: &str = "ask anything";

pub(crate) fn quiet(server: &ModelServer, more: &str) -> Program {
    let program = with_model(&server.base_url());
    let settings = program.home.read("config.yaml").unwrap();
    let quiet = "auxiliary: {title_generation: {enabled: false}}\n";
    let config = format!("{settings}{quiet}{more}");
    program.home.write_config(&config).unwrap();
    program
}

pub(crate) fn open(program: &Program, columns: u16, rows: u16) -> Terminal {
    let mut command = program.command(&["chat"]);
    command = command.env("TERM", "xterm-256color");
    let terminal = Terminal::spawn(&command, columns, rows).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal
}

/// What the user said in the last request.
pub(crate) fn last_said(server: &ModelServer) -> String {
    let requests = server.requests();
    let request = requests.last().unwrap().expect_json();
    let messages = request["messages"].as_array().unwrap().clone();
    let said = messages
        .iter()
        .rfind(|message| message["role"] == "user")
        .unwrap();
    said["content"].as_str().unwrap().to_owned()
}

pub(crate) fn leave(terminal: &Terminal) {
    terminal.send("\x04").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
}

/// Takes the draft away and waits until the agent rests. Ctrl+C would do the first only then, and stop it before.
pub(crate) fn clear(terminal: &Terminal) {
    terminal.send("\x15").unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
}

// CL-17 CL-35
#[test]
fn lines_pastes_and_history_go_where_they_should() {
    let answers = ["First.", "Second.", "Third."];
    let scenario = answers.iter().fold(Scenario::new(), |scenario, answer| {
        scenario.reply(text(*answer))
    });
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    let terminal = open(&program, 100, 30);
    // Ctrl+J, Alt+Enter and a backslash at the end begin new lines.
    terminal.send("one\ntwo\x1b\rthree\\\rfour\r").unwrap();
    terminal.wait_for_text("First.", LIMIT).unwrap();
    assert_eq!(last_said(&server), "one\ntwo\nthree\nfour");
    let pasted: String = (0..40).map(|number| format!("line {number}\n")).collect();
    terminal.paste(&pasted).unwrap();
    terminal
        .wait_for_text("[Pasted text #1: 40 lines", LIMIT)
        .unwrap();
    assert!(!terminal.screen().contains("line 20"));
    terminal.send("\r").unwrap();
    terminal.wait_for_text("Second.", LIMIT).unwrap();
    assert!(last_said(&server).contains("line 20\nline 21"));
    // The one before the last comes back, and can be sent again.
    terminal.send("\x1b[A\x1b[A").unwrap();
    terminal.wait_for_text("four", LIMIT).unwrap();
    terminal.send("\x05!\r").unwrap();
    terminal.wait_for_text("Third.", LIMIT).unwrap();
    assert!(last_said(&server).starts_with("one\ntwo"));
    leave(&terminal);
    let history = program.home.read(".hermes_history").unwrap();
    assert!(history.contains("+one\n+two\n+three\n+four\n"), "{history}");
    let kept = std::fs::metadata(program.home.path().join(".hermes_history")).unwrap();
    assert_eq!(kept.permissions().mode() & 0o777, 0o600);
}

// CL-18
#[test]
fn a_turn_is_stopped_replaced_and_left() {
    let endless = || Step::new(text("words and more words")).hang_after(2);
    let scenario = Scenario::new()
        .reply(endless())
        .reply(text("Now this."))
        .reply(endless());
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    let terminal = open(&program, 100, 30);
    terminal.send("begin\r").unwrap();
    terminal.wait_for_text("words and", LIMIT).unwrap();
    terminal.wait_for_text("a message stops it", LIMIT).unwrap();
    // A message stops the turn and is the next one.
    terminal.send("do that instead\r").unwrap();
    terminal.wait_for_text("Now this.", LIMIT).unwrap();
    assert!(terminal.screen().contains("stopped"));
    assert!(last_said(&server).contains("do that instead"));
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal.send("again\r").unwrap();
    terminal.wait_for_text("a message stops it", LIMIT).unwrap();
    terminal.send("\x03\x03").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
}

// CL-19
#[test]
fn an_approval_is_asked_in_a_panel_and_the_draft_stays() {
    let scenario = Scenario::new()
        .reply(tool_call(
            "terminal",
            json!({"command": "mkdir gone; rm -r gone"}),
        ))
        .reply(text("It is gone."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "approvals: {mode: manual}\n");
    let terminal = open(&program, 60, 24);
    terminal.send("delete it\rhalf a thought").unwrap();
    let screen = terminal.wait_for_text("Allow once", LIMIT).unwrap();
    assert!(screen.contains("rm -r gone"), "{}", screen.text());
    assert!(!screen.contains("half a thought"), "{}", screen.text());
    // What is typed at once was meant for the draft.
    std::thread::sleep(Duration::from_millis(400));
    terminal.send("1").unwrap();
    terminal.wait_for_text("It is gone.", LIMIT).unwrap();
    terminal.wait_for_text("half a thought", LIMIT).unwrap();
    let last = server.requests().last().unwrap().expect_json().to_string();
    assert!(last.contains("exit_code"), "{last}");
    clear(&terminal);
    leave(&terminal);
}

#[test]
fn a_process_that_is_asked_to_end_gives_the_terminal_back() {
    let server = ModelServer::start(Scenario::new()).unwrap();
    let program = quiet(&server, "");
    let terminal = open(&program, 80, 20);
    assert!(terminal.screen().cursor_hidden());
    let pid = nix::unistd::Pid::from_raw(terminal.pid());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 143);
    let screen = terminal.screen();
    assert!(!screen.cursor_hidden());
    assert!(!screen.contains(READY), "{}", screen.text());
}

/// A tmux of our own, ended with the test.
pub(crate) struct Tmux(pub(crate) String);

impl Tmux {
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let done = Command::new("tmux")
            .args(["-L", &self.0, "-f", "/dev/null"])
            .args(arguments)
            .output()
            .unwrap();
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    pub(crate) fn everything(&self) -> String {
        self.run(&["capture-pane", "-p", "-S", "-"])
    }

    pub(crate) fn wait(&self, shown: &str) {
        let seen = hermes_testkit::eventually(LIMIT, shown, || {
            self.everything().contains(shown).then_some(())
        });
        assert!(seen.is_ok(), "{}", self.everything());
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

// CL-20 CL-23
#[test]
fn a_storm_of_sizes_leaves_the_history_whole_and_one_status_line() {
    let answer: String = (0..30)
        .map(|number| format!("- point {number}\n"))
        .collect();
    let server = ModelServer::start(Scenario::new().reply(text(answer))).unwrap();
    let program = quiet(&server, "");
    let tmux = Tmux(format!("hermes-screen-{}", std::process::id()));
    let command = program.command(&["chat"]);
    let line = command.env("TERM", "tmux-256color").line();
    let mut start = vec!["new-session", "-d", "-x", "100", "-y", "24", "--"];
    start.extend(line.iter().map(String::as_str));
    tmux.run(&start);
    tmux.wait(READY);
    tmux.run(&["send-keys", "tell me", "Enter"]);
    tmux.wait("point 29");
    tmux.wait(READY);
    for (columns, rows) in [
        (60, 20),
        (120, 10),
        (40, 24),
        (90, 8),
        (50, 30),
        (70, 12),
        (100, 24),
    ] {
        tmux.run(&[
            "resize-window",
            "-x",
            &columns.to_string(),
            "-y",
            &rows.to_string(),
        ]);
        std::thread::sleep(Duration::from_millis(60));
    }
    hermes_testkit::eventually(LIMIT, "a wide status line", || {
        let seen = tmux.everything();
        let wide = seen
            .lines()
            .filter(|line| line.contains("100k │ ["))
            .count();
        (wide == 1).then_some(())
    })
    .unwrap();
    let seen = tmux.everything();
    for number in 0..30 {
        let point = format!("point {number}");
        let times = seen
            .lines()
            .filter(|line| line.trim_end().ends_with(&point))
            .count();
        assert_eq!(times, 1, "{point}:\n{seen}");
    }
    assert_eq!(seen.matches(READY).count(), 1, "{seen}");
    assert_eq!(
        seen.matches('⚕').count(),
        3,
        "banner, answer, status:\n{seen}"
    );
    for (columns, shown, hidden) in [(60, "%", "["), (45, "scripted", "%")] {
        tmux.run(&["resize-window", "-x", &columns.to_string(), "-y", "24"]);
        hermes_testkit::eventually(LIMIT, "the status line of this width", || {
            let seen = tmux.run(&["capture-pane", "-p"]);
            let last = seen
                .lines()
                .rfind(|line| !line.trim().is_empty())?
                .to_owned();
            (last.contains(shown) && !last.contains(hidden)).then_some(())
        })
        .unwrap();
    }
}
