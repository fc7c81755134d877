//! What the status bar says, from end to end.

use std::time::{Duration, Instant};

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, Scenario, Step, Usage, text, tool_call};
use hermes_testkit::pty::{Screen, Terminal};
use serde_json::json;

use super::mcp_lab::Lab;
use super::program::Program;
use super::screen::{LIMIT, READY, leave, open, quiet};

/// The last row with something in it.
fn bar(screen: &Screen) -> String {
    let rows = screen.rows();
    let row = rows.iter().rfind(|row| !row.is_empty());
    row.cloned().unwrap_or_default()
}

/// How long the session lasts, as the bar says.
fn seconds(bar: &str) -> Option<u64> {
    let mut parts = bar.split('│').map(str::trim);
    parts.find_map(|part| part.strip_suffix('s')?.parse().ok())
}

fn wait_bar(terminal: &Terminal, wanted: impl Fn(&str) -> bool) -> String {
    let screen = terminal.wait_for(|screen| wanted(&bar(screen)), LIMIT);
    bar(&screen.unwrap())
}

fn resumed(program: &Program, session: &str, columns: u16) -> Terminal {
    let command = program.command(&["chat", "--resume", session]);
    let command = command.env("TERM", "xterm-256color");
    let terminal = Terminal::spawn(&command, columns, 30).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal
}

// CL-23
#[test]
fn time_passes_in_the_bar_when_nothing_happens() {
    let server = ModelServer::start(Scenario::new().reply(text("Hello."))).unwrap();
    let program = quiet(&server, "");
    let terminal = open(&program, 110, 30);
    assert!(!bar(&terminal.screen()).contains('✓'));
    terminal.send("hello\r").unwrap();
    terminal.wait_for_text("Hello.", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    let line = wait_bar(&terminal, |bar| bar.contains("✓ 2s"));
    assert!(line.contains('⏲'), "{line}");
    leave(&terminal);
}

// CL-23
#[test]
fn processes_and_servers_that_are_down_are_counted() {
    let scenario = Scenario::new()
        .reply(tool_call(
            "terminal",
            json!({"command": "sleep 60", "background": true}),
        ))
        .reply(text("It runs."))
        .lenient();
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(
        &server,
        "approvals: {mode: 'off'}\nmcp_servers: {broken: {command: /nowhere/at-all}}\n",
    );
    let terminal = open(&program, 110, 30);
    assert!(!bar(&terminal.screen()).contains('⚙'));
    terminal.send("start it\r").unwrap();
    terminal.wait_for_text("It runs.", LIMIT).unwrap();
    let line = wait_bar(&terminal, |bar| bar.contains("⚙ 1"));
    assert!(line.contains("⚠ YOLO"), "{line}");
    wait_bar(&terminal, |bar| bar.contains("MCP 0/1"));
    terminal.send("/stop\r").unwrap();
    wait_bar(&terminal, |bar| !bar.contains('⚙'));
    leave(&terminal);
}

// CL-23
#[test]
fn a_conversation_that_goes_on_is_as_full_as_it_is_and_shortenings_are_counted() {
    let scenario = Scenario::new()
        .reply(
            Step::new(text("Goal: a shed. Done: the walls."))
                .when_no_tools()
                .repeat(),
        )
        .reply(Step::new(text(format!("Noted. {}", "so it goes. ".repeat(900)))).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    let started = program.run(&["chat", "-Q", "-q", "the shed"]).ok();
    let session = started.stderr.trim().strip_prefix("session_id: ").unwrap();
    for part in 0..8 {
        let question = format!("part {part} of the shed");
        program.run(&["-z", &question, "--resume", session]).ok();
    }
    // Nine answers of about 2,700 tokens.
    let terminal = resumed(&program, session, 110);
    let line = bar(&terminal.screen());
    let percent = |line: &str| -> u64 {
        let (before, _) = line.split_once('%').unwrap();
        before.rsplit(' ').next().unwrap().parse().unwrap()
    };
    assert!((20..40).contains(&percent(&line)), "{line}");
    assert!(!line.contains('🗜'), "{line}");
    terminal.send("/compress\r").unwrap();
    terminal.wait_for_text("was shortened", LIMIT).unwrap();
    wait_bar(&terminal, |bar| bar.contains("🗜️ 1") || bar.contains("🗜 1"));
    leave(&terminal);
    // So it is when it is taken up from another one, in the middle width as well.
    let terminal = open(&program, 60, 30);
    assert_eq!(percent(&bar(&terminal.screen())), 0);
    terminal.send(&format!("/resume {session}\r")).unwrap();
    wait_bar(&terminal, |bar| bar.contains('%') && percent(bar) > 0);
    std::thread::sleep(Duration::from_millis(100));
    leave(&terminal);
}

// CL-23
#[test]
fn the_context_is_as_full_as_the_last_call_of_a_turn_found_it() {
    let used = || Usage {
        prompt_tokens: 20_000,
        completion_tokens: 10,
        ..Usage::default()
    };
    let looks = || {
        let call = tool_call("terminal", json!({"command": "echo seen"}));
        call.usage(used())
    };
    let scenario = Scenario::new()
        .reply(looks())
        .reply(looks())
        .reply(text("All seen.").usage(used()));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "approvals: {mode: 'off'}\n");
    let terminal = open(&program, 110, 30);
    terminal.send("look\r").unwrap();
    terminal.wait_for_text("All seen.", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    let line = wait_bar(&terminal, |bar| bar.contains("20%"));
    assert!(line.contains("20k/100k"), "{line}");
    leave(&terminal);
}

// CL-23
#[test]
fn the_bar_says_more_from_52_and_from_76_columns_on() {
    let server = ModelServer::start(Scenario::new()).unwrap();
    let program = quiet(&server, "");
    for (columns, percent, bars) in [
        (51, false, false),
        (52, true, false),
        (75, true, false),
        (76, true, true),
    ] {
        let terminal = open(&program, columns, 30);
        let line = bar(&terminal.screen());
        assert_eq!(line.contains('%'), percent, "{columns}: {line}");
        assert_eq!(line.contains("░]"), bars, "{columns}: {line}");
        leave(&terminal);
    }
}

// CL-23
#[test]
fn the_time_of_a_session_begins_with_it() {
    let server = ModelServer::start(Scenario::new().reply(text("Hello."))).unwrap();
    let program = quiet(&server, "");
    let terminal = open(&program, 110, 30);
    terminal.send("hello\r").unwrap();
    terminal.wait_for_text("Hello.", LIMIT).unwrap();
    wait_bar(&terminal, |bar| {
        seconds(bar).is_some_and(|shown| shown >= 3)
    });
    let start = Instant::now();
    terminal.send("/new now\r").unwrap();
    terminal.wait_for_text("a new conversation", LIMIT).unwrap();
    // It counts from here on, and not from the start of the program.
    wait_bar(&terminal, |bar| {
        seconds(bar).is_some_and(|shown| shown <= start.elapsed().as_secs())
    });
    leave(&terminal);
}

// CL-23
#[test]
fn a_server_that_rests_until_the_next_call_is_not_down() {
    let scenario = Scenario::new().reply(text("Hello."));
    let lab = Lab::with_server(scenario, "    idle_timeout_seconds: 1\n");
    let terminal = open(&lab.program, 110, 30);
    terminal.send("hello\r").unwrap();
    terminal.wait_for_text("Hello.", LIMIT).unwrap();
    let begun = || (!lab.lines("starts").is_empty()).then_some(());
    eventually(LIMIT, "the server", begun).unwrap();
    // Its program is closed while nobody uses it.
    lab.is_gone(LIMIT);
    let line = wait_bar(&terminal, |bar| bar.contains("✓ 4s"));
    assert!(!line.contains("MCP"), "{line}");
    leave(&terminal);
}
