//! Far more than usual, far less room, and output that means no good.

use std::time::{Duration, Instant};

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, Scenario, text, tool_call};
use hermes_testkit::pty::Terminal;
use serde_json::json;

use super::screen::{LIMIT, READY, clear, leave, quiet};

fn calling(command: &str) -> ModelServer {
    let scenario = Scenario::new()
        .reply(tool_call("terminal", json!({ "command": command })))
        .reply(text("That was it."));
    ModelServer::start(scenario).unwrap()
}

fn in_mode(program: &super::program::Program, mode: &str, columns: u16, rows: u16) -> Terminal {
    let command = program.command(&["chat", mode]);
    let command = command.env("TERM", "xterm-256color");
    let terminal = Terminal::spawn(&command, columns, rows).unwrap();
    terminal.wait_for_text("❯", LIMIT).unwrap();
    terminal
}

/// A row without the sessions that stand to the left of it in full screen.
fn beside(row: &str) -> &str {
    row.split_once('│').map_or(row, |(_, right)| right)
}

#[test]
fn fifty_megabytes_of_a_tool_leave_the_screen_quick_and_whole() {
    for mode in ["--cli", "--tui"] {
        let server = calling("yes 'a line of output that goes on and on' | head -c 52428800");
        let program = quiet(
            &server,
            "approvals: {mode: 'off'}\ndisplay: {tool_progress: verbose}\n",
        );
        let terminal = in_mode(&program, mode, 90, 24);
        terminal.wait_for_text(READY, LIMIT).unwrap();
        terminal.send("print it\r").unwrap();
        terminal.wait_for_text("head -c", LIMIT).unwrap();
        // A key is seen while it comes.
        let start = Instant::now();
        terminal.send("still here").unwrap();
        terminal.wait_for_text("❯ still here", LIMIT).unwrap();
        assert!(
            start.elapsed() < Duration::from_secs(2),
            "{:?}",
            start.elapsed()
        );
        terminal.wait_for_text("That was it.", 4 * LIMIT).unwrap();
        // What a person would have to scroll through is bounded.
        assert!(
            terminal.everything().len() < 600,
            "{}",
            terminal.everything().len()
        );
        assert!(
            terminal.received() < 8 * 1024 * 1024,
            "{}",
            terminal.received()
        );
        terminal.wait_for_text("❯ still here", LIMIT).unwrap();
        clear(&terminal);
        leave(&terminal);
    }
}

/// Clears, moves, other screens, titles, a clipboard, a device that is asked, broken ones, bytes that are no text.
const HOSTILE: &str = "printf 'before\\033[2J\\033[1;1H\\033[?1049h\\033]0;owned\\007\\033]52;c;b3duZWQ=\\007\\033[6n\\033[999;999H\\033[\\033]8;;x\\233[31m\\377\\376\\302\\033[?25h\\033Pq\\033\\\\after\\n'";
/// The same from a model.
const EVIL: &str = "Model \u{1b}[2Jsays \u{1b}]0;owned\u{7}\u{1b}]52;c;b3duZWQ=\u{7}\u{1b}[?1049h\u{202e}hi\u{9b}5mthere.";

#[test]
fn escapes_of_a_tool_and_of_a_model_move_nothing() {
    for mode in ["--cli", "--tui"] {
        let scenario = Scenario::new()
            .reply(tool_call("terminal", json!({ "command": HOSTILE })))
            .reply(text(EVIL));
        let server = ModelServer::start(scenario).unwrap();
        let program = quiet(
            &server,
            "approvals: {mode: 'off'}\ndisplay: {tool_progress: verbose}\n",
        );
        let terminal = in_mode(&program, mode, 90, 30);
        terminal.wait_for_text(READY, LIMIT).unwrap();
        terminal.send("what was said\r").unwrap();
        terminal.wait_for_text("Model says", LIMIT).unwrap();
        terminal.wait_for_text(READY, LIMIT).unwrap();
        let screen = terminal.screen();
        assert_eq!(screen.alternate(), mode == "--tui", "{screen}");
        assert!(screen.contains("● what was said"), "{screen}");
        assert!(screen.contains("before"), "{screen}");
        assert!(!terminal.title().contains("owned"), "{}", terminal.title());
        assert!(terminal.copied().is_empty(), "{:?}", terminal.copied());
        assert!(!screen.contains("\u{202e}"), "{screen}");
        assert_eq!(
            screen
                .rows()
                .iter()
                .filter(|row| row.contains(READY))
                .count(),
            1,
            "{screen}"
        );
        // What the user copies does reach it.
        terminal.send("/copy\r").unwrap();
        terminal.wait_for_text("Copied ", LIMIT).unwrap();
        let copied = || (terminal.copied().len() == 1).then_some(());
        eventually(LIMIT, "the answer on the clipboard", copied).unwrap();
        leave(&terminal);
    }
}

// CL-3 CL-4
#[test]
fn a_single_answer_moves_nothing_on_a_terminal_and_is_whole_in_a_pipe() {
    for arguments in [
        &["-z", "say it"][..],
        &["chat", "-Q", "-q", "say it"],
        &["chat", "-q", "say it"],
    ] {
        let scenario = Scenario::new().reply(text(EVIL)).reply(text(EVIL));
        let server = ModelServer::start(scenario).unwrap();
        let program = quiet(&server, "");
        let shell = format!(
            "echo before; '{}' \"$@\"; echo left $?",
            env!("CARGO_BIN_EXE_hermes")
        );
        let command = program.home.hermes("/bin/sh").args(["-c", &shell, "sh"]);
        let command = command.args(arguments);
        let terminal = Terminal::spawn(&command, 90, 30).unwrap();
        terminal.wait_exit(LIMIT).unwrap();
        let screen = terminal.screen();
        for shown in ["before", "Model says hithere.", "left 0"] {
            assert!(screen.contains(shown), "{arguments:?}: {screen}");
        }
        assert!(!screen.alternate(), "{arguments:?}: {screen}");
        assert!(!terminal.title().contains("owned"), "{arguments:?}");
        assert!(terminal.copied().is_empty(), "{arguments:?}");
        if arguments.contains(&"-z") || arguments.contains(&"-Q") {
            let piped = program.command(arguments).run().unwrap().ok();
            assert_eq!(piped.stdout, format!("{EVIL}\n"), "{arguments:?}");
        }
    }
}

// CL-18
#[test]
fn lines_of_a_tool_and_of_a_model_move_nothing_at_the_prompt() {
    let scenario = Scenario::new()
        .reply(tool_call("terminal", json!({ "command": HOSTILE })))
        .reply(text(EVIL));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(
        &server,
        "approvals: {mode: 'off'}\ndisplay: {tool_progress: verbose}\n",
    );
    let terminal = Terminal::spawn(&program.command(&["chat", "--plain"]), 90, 40).unwrap();
    terminal.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    terminal.send("what was said\r").unwrap();
    terminal
        .wait_for_text("Model says hithere.", LIMIT)
        .unwrap();
    let screen = terminal.screen();
    assert!(!screen.alternate(), "{screen}");
    // The first thing that was printed is still there, and nothing of a sequence is left.
    for shown in ["Ctrl+D ends.", "what was said", "\nbefore"] {
        assert!(screen.text().contains(shown), "{shown}: {screen}");
    }
    let told = screen.text();
    let printed = told.split_once("\nbefore").unwrap().1;
    assert!(
        !printed.contains("[2J") && !printed.contains("owned"),
        "{screen}"
    );
    assert!(!terminal.title().contains("owned"), "{}", terminal.title());
    assert!(terminal.copied().is_empty(), "{:?}", terminal.copied());
    terminal.send("/exit\r").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
}

// CL-18
#[test]
fn fifty_megabytes_of_a_tool_are_a_few_lines_at_the_prompt() {
    let server = calling("yes 'a line of output that goes on and on' | head -c 52428800");
    let program = quiet(
        &server,
        "approvals: {mode: 'off'}\ndisplay: {tool_progress: verbose}\n",
    );
    let command = program.command(&["chat", "--plain"]).stdin("print it\n");
    let output = command.timeout(4 * LIMIT).run().unwrap().ok();
    let lines = output.stdout.lines().count();
    assert!((200..300).contains(&lines), "{lines}");
    assert!(
        output.stdout.contains(" more lines\n┊ done: run"),
        "{lines}"
    );
    assert!(output.stdout.contains("That was it."), "{lines}");
}

#[test]
fn every_script_has_its_columns_and_a_tiny_terminal_is_enough() {
    let answer = "日本語のテキスト **太字** と 👩\u{200d}👩\u{200d}👧 🇩🇪 ❤\u{fe0f} e\u{301} שלום עולם مرحبا end-of-it";
    for mode in ["--cli", "--tui"] {
        for (columns, rows) in [(20, 5), (40, 12), (100, 30)] {
            let server = ModelServer::start(Scenario::new().reply(text(answer))).unwrap();
            let program = quiet(&server, "");
            let terminal = in_mode(&program, mode, columns, rows);
            terminal.wait_for_text("ask anything", LIMIT).unwrap();
            terminal.send("שלום 日本 👩\u{200d}👩\u{200d}👧\r").unwrap();
            terminal.wait_for_text("end-of-it", LIMIT).unwrap();
            terminal.wait_for_text("ask anything", LIMIT).unwrap();
            let screen = terminal.screen();
            // The composer is one row, and nothing of what was typed is left in it.
            let composers = screen
                .rows()
                .iter()
                .filter(|row| beside(row).starts_with("❯ ask"))
                .count();
            assert_eq!(composers, 1, "{columns}x{rows}\n{screen}");
            terminal.send("x").unwrap();
            let screen = terminal.wait_for(
                |screen| screen.rows().iter().any(|row| beside(row) == "❯ x"),
                LIMIT,
            );
            screen.unwrap();
            terminal.send("\x03").unwrap();
            terminal.wait_for_text("ask anything", LIMIT).unwrap();
            if mode == "--cli" && columns == 100 {
                let seen = terminal.everything().join("\n");
                for part in ["日本語のテキスト 太字", "🇩🇪", "end-of-it"] {
                    assert_eq!(seen.matches(part).count(), 1, "{part}\n{seen}");
                }
            }
            leave(&terminal);
        }
    }
}

#[test]
fn the_prompt_tells_of_tools_that_failed() {
    let scenario = Scenario::new()
        .reply(tool_call(
            "read_file",
            json!({"path": "/nowhere/at/all.txt"}),
        ))
        .reply(text("There is none."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    let terminal = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 40).unwrap();
    terminal.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    terminal.send("read it\r").unwrap();
    terminal.wait_for_text("There is none.", LIMIT).unwrap();
    let screen = terminal.screen();
    assert!(screen.contains("┊ read /nowhere/at/all.txt"), "{screen}");
    assert!(screen.contains("┊ failed: read, 0."), "{screen}");
    terminal.send("/exit\r").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
}
