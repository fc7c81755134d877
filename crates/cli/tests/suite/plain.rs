//! A line at a time: from a pipe, and on a terminal that can do nothing else.

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, Scenario, Step, error, text, tool_call};
use hermes_testkit::pty::Terminal;
use serde_json::json;

use super::screen::{LIMIT, last_said, quiet};
use super::screen_paste::PNG;

// CL-18
#[test]
fn lines_of_a_pipe_run_as_if_typed_and_what_needs_a_yes_is_denied() {
    let scenario = Scenario::new()
        .reply(text("Good day."))
        .reply(tool_call(
            "terminal",
            json!({"command": "touch made; rm -r old"}),
        ))
        .reply(text("Left alone."))
        .reply(text("Is that so?"));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "approvals: {mode: manual}\n");
    program.home.write_work("old/note.txt", "kept").unwrap();
    for flags in [&["chat", "--plain"][..], &["--plain"]] {
        let command = program.command(flags);
        let nothing = command.stdin("").run().unwrap().ok();
        assert!(!nothing.stdout.contains("error"), "{}", nothing.report());
    }
    // The `y` was written before anything was asked: it is the next message, and no answer.
    let command = program.command(&["chat", "--plain"]);
    let command = command.stdin("hello\n/status\ndelete it\ny\n/new\n");
    let output = command.run().unwrap().ok();
    let mut rest = output.stdout.as_str();
    for shown in [
        "Good day.",
        "approvals",
        "Left alone.",
        "Is that so?",
        "Nothing was changed.",
    ] {
        let found = rest.split_once(shown);
        rest = found
            .unwrap_or_else(|| panic!("no {shown}\n{}", output.report()))
            .1;
    }
    assert!(!output.stdout.contains("\n> "), "{}", output.stdout);
    // Nobody refused it, and nobody was asked: the model is told that the runtime did.
    let told = server.requests()[2].expect_json().to_string();
    assert!(told.contains("the runtime did"), "{told}");
    assert!(!told.contains("user refused"), "{told}");
    assert!(!output.stdout.contains("May I"), "{}", output.stdout);
    let work = program.home.workspace();
    assert!(!work.join("made").exists() && work.join("old/note.txt").exists());
    server.assert_done();
}

// CL-4
#[test]
fn without_plain_a_pipe_holds_one_question_and_an_empty_one_is_told_what_takes_lines() {
    let server = ModelServer::start(Scenario::new().reply(text("Both."))).unwrap();
    let program = quiet(&server, "");
    let lines = program.command(&["chat"]).stdin("one\ntwo\n").run();
    assert!(lines.unwrap().ok().stdout.contains("Both."));
    let asked = server.requests();
    let asked = asked[0].expect_json();
    assert_eq!(asked["messages"][1]["content"], "one\ntwo");
    let refused = program.command(&["chat"]).stdin("").run().unwrap();
    let refused = refused.code(2);
    assert!(
        refused.stderr.contains("hermes chat --plain"),
        "{}",
        refused.report()
    );
}

// CL-18
#[test]
fn a_pipe_may_be_told_to_go_ahead_where_nobody_can_be_asked() {
    let delete = json!({"command": "touch made; rm -r old"});
    let scenario = Scenario::new()
        .reply(tool_call("terminal", delete))
        .reply(text("Deleted."));
    let server = ModelServer::start(scenario).unwrap();
    let settings = "approvals: {mode: manual, headless_mode: approve}\n";
    let program = quiet(&server, settings);
    program.home.write_work("old/note.txt", "gone").unwrap();
    let command = program.command(&["--plain"]).stdin("delete it\n");
    command.run().unwrap().ok();
    assert!(!program.home.workspace().join("old").exists());
    server.assert_done();
}

// CL-18
#[test]
fn bytes_that_are_no_text_end_nothing_and_a_message_without_an_answer_is_an_exit_code() {
    let scenario = Scenario::new()
        .reply(text("First."))
        .reply(text("Second."))
        .reply(error(401))
        .reply(text("Fourth."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    let lines = b"one\ncaf\xe9 latin\n".to_vec();
    let output = program.command(&["--plain"]).stdin(lines).run().unwrap();
    let output = output.ok();
    assert!(output.stdout.contains("Second."), "{}", output.report());
    assert_eq!(last_said(&server), "caf\u{fffd} latin");
    let command = program.command(&["--plain"]).stdin("three\nfour\n");
    let output = command.run().unwrap().code(1);
    assert!(output.stdout.contains("error: "), "{}", output.report());
    assert!(output.stdout.contains("Fourth."), "{}", output.report());
    server.assert_done();
}

// CL-18
#[test]
fn a_line_that_is_too_long_is_named_and_the_ones_around_it_are_answered() {
    let scenario = Scenario::new().reply(text("First.")).reply(text("Third."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    let long = "a".repeat(10 * 1024 * 1024 + 1);
    let lines = format!("one\n{long}\nthree\n");
    let output = program.command(&["--plain"]).stdin(lines).run().unwrap();
    let output = output.code(1);
    let named = "error: a line of more than 10485760 bytes was left out";
    assert!(output.stdout.contains(named), "{}", output.report());
    assert!(output.stdout.contains("\nhint: "), "{}", output.report());
    assert!(output.stdout.contains("Third."), "{}", output.report());
    assert_eq!(last_said(&server), "three");
    server.assert_done();
}

// CL-18
#[test]
fn a_call_that_did_not_work_says_so() {
    let scenario = Scenario::new()
        .reply(tool_call(
            "terminal",
            json!({"command": "ls /nonexistent; seq 9000; exit 3"}),
        ))
        .reply(tool_call("terminal", json!({"command": "rm -r old"})))
        .reply(text("Neither."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "approvals: {mode: manual}\n");
    let command = program.command(&["--plain"]).stdin("try\n");
    let output = command.run().unwrap().ok();
    let failed: Vec<&str> = output
        .stdout
        .lines()
        .filter(|line| line.starts_with("┊ failed: run"))
        .collect();
    assert_eq!(failed.len(), 2, "{}", output.report());
    assert!(failed[0].ends_with(": exit 3"), "{failed:?}");
    assert!(failed[1].contains("was not run"), "{failed:?}");
}

// CL-35
#[test]
fn a_message_of_several_lines_is_written_with_backslashes_or_pasted() {
    let scenario = Scenario::new().reply(text("First.")).reply(text("Second."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    let terminal = Terminal::spawn(&program.command(&["--plain"]), 100, 30).unwrap();
    terminal.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    terminal.send("one\\\r").unwrap();
    terminal.send("two\r").unwrap();
    terminal.wait_for_text("First.", LIMIT).unwrap();
    assert_eq!(last_said(&server), "one\ntwo");
    terminal.send("three\rfour\rfive\r").unwrap();
    terminal.wait_for_text("Second.", LIMIT).unwrap();
    assert_eq!(last_said(&server), "three\nfour\nfive");
    terminal.send("\x04").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
    server.assert_done();
}

// CL-18
#[test]
fn a_dumb_terminal_gets_lines_without_colours() {
    let server = ModelServer::start(Scenario::new().reply(text("Good day."))).unwrap();
    let program = quiet(&server, "");
    let command = program.command(&["chat"]).env("TERM", "dumb");
    let terminal = Terminal::spawn(&command, 100, 30).unwrap();
    let screen = terminal.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    let rows = screen.rows();
    let row = rows.iter().position(|row| row.starts_with("Hermes, with"));
    let row = u16::try_from(row.unwrap()).unwrap();
    assert!(!screen.cell(row, 0).unwrap().bold, "{screen}");
    assert!(!screen.alternate() && !screen.cursor_hidden(), "{screen}");
    terminal.send("hello\r").unwrap();
    terminal.wait_for_text("Good day.", LIMIT).unwrap();
    terminal
        .wait_for(
            |screen| {
                screen
                    .rows()
                    .iter()
                    .rfind(|row| !row.is_empty())
                    .is_some_and(|row| row.starts_with('>'))
            },
            LIMIT,
        )
        .unwrap();
    terminal.send("\x04").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
}

// CL-18
#[test]
fn calls_are_told_with_what_they_do_how_long_they_took_and_what_they_changed() {
    let scenario = Scenario::new()
        .reply(tool_call(
            "terminal",
            json!({"command": "echo first; echo second"}),
        ))
        .reply(tool_call(
            "write_file",
            json!({"path": "plan.txt", "content": "new line\n"}),
        ))
        .reply(text("Written."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    program.home.write_work("plan.txt", "old line\n").unwrap();
    let command = program.command(&["chat", "--plain"]);
    let output = command.stdin("do it\n").run().unwrap().ok();
    let mut rest = output.stdout.as_str();
    for shown in [
        "┊ run echo first; echo second\n",
        "┊ done: run, ",
        "┊ write plan.txt\n",
        "┊ done: write, ",
        "-old line\n+new line\n",
        "Written.",
    ] {
        let found = rest.split_once(shown);
        rest = found
            .unwrap_or_else(|| panic!("no {shown}\n{}", output.report()))
            .1;
    }
    server.assert_done();
}

// CL-17
#[test]
fn a_line_that_begins_with_the_path_of_a_picture_takes_it_along() {
    let answers = (1..=4).map(|number| text(format!("Answer {number}.")));
    let scenario = answers.fold(Scenario::new(), Scenario::reply);
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    program.home.write_work("here.png", PNG).unwrap();
    program.home.write_work("my shot.png", PNG).unwrap();
    program.home.write_work("notes.txt", "words").unwrap();
    let work = program.home.workspace();
    let lines = format!(
        "{}/here.png what is it?\n'my shot.png' and this?\n./notes.txt and this?\ngone.png?\n",
        work.display()
    );
    let command = program.command(&["chat", "--plain"]).stdin(lines);
    let output = command.run().unwrap().ok();
    assert!(
        output.stdout.contains("[with the picture here.png]\n"),
        "{}",
        output.stdout
    );
    let pictures: Vec<usize> = server
        .requests()
        .iter()
        .map(|request| String::from_utf8_lossy(&request.body).into_owned())
        .filter(|body| body.contains("what is it?"))
        .map(|body| body.matches("data:image/png;base64,").count())
        .collect();
    assert_eq!(pictures[..4], [1, 2, 2, 2], "{}", output.stdout);
}

// CL-18
#[test]
fn a_remark_reaches_the_agent_while_it_works_and_a_queued_message_waits() {
    let waits = "while [ ! -e go ]; do sleep 0.1; done; echo gone on";
    let scenario = Scenario::new()
        .reply(tool_call("terminal", json!({"command": waits})))
        .reply(Step::new(text("I mind it.")).when_body("mind the gap"))
        .reply(Step::new(text("Then that.")).when_last("and then this"));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "approvals: {mode: off}\n");
    let terminal = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 40).unwrap();
    terminal.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    terminal.send("wait for it\r").unwrap();
    terminal.wait_for_text("┊ run while", LIMIT).unwrap();
    terminal.send("/queue and then this\r").unwrap();
    terminal
        .wait_for_text("once this is answered]", LIMIT)
        .unwrap();
    terminal.send("/steer mind the gap\r").unwrap();
    terminal
        .wait_for_text("before its next step]", LIMIT)
        .unwrap();
    program.home.write_work("go", "").unwrap();
    terminal.wait_for_text("I mind it.", LIMIT).unwrap();
    terminal.wait_for_text("Then that.", LIMIT).unwrap();
    // At rest there is nothing to wait for.
    terminal.send("/queue\r").unwrap();
    terminal.wait_for_text("hint: /queue TEXT", LIMIT).unwrap();
    terminal.send("/exit\r").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
    server.assert_done();
}

// CL-21
#[test]
fn what_cannot_be_done_says_what_to_do_instead() {
    let server = ModelServer::start(Scenario::new()).unwrap();
    let program = quiet(&server, "");
    let said = |typed: &str, code: i32| {
        let command = program.command(&["chat", "--plain"]);
        command.stdin(typed).run().unwrap().code(code).stdout
    };
    // Only what asks for an answer and gets none fails as a whole.
    for (typed, code, what, hint) in [
        (
            "/retry\n",
            1,
            "no message to answer again",
            "say something first",
        ),
        ("/undo\n", 0, "nothing to take back", "/history"),
        (
            "/rollback\n",
            0,
            "no checkpoints are taken",
            "--checkpoints",
        ),
    ] {
        let out = said(typed, code);
        let told = out.split_once("error: ").map(|(_, told)| told);
        let told = told.unwrap_or_else(|| panic!("{typed}: {out}"));
        assert!(told.contains(what), "{typed}: {out}");
        let next = told.split_once("hint: ").map(|(_, next)| next);
        assert!(
            next.is_some_and(|next| next.contains(hint)),
            "{typed}: {out}"
        );
    }
    let config = program.home.read("config.yaml").unwrap();
    let config = format!("{config}checkpoints: {{enabled: true}}\n");
    program.home.write_config(&config).unwrap();
    program.shell("git init -q .").ok();
    let out = said("/rollback 77\n", 0);
    assert!(out.contains("error: there is no checkpoint 77"), "{out}");
    assert!(out.contains("hint: /rollback without a number"), "{out}");
}

/// An MCP server that notes that it is used, and that its input has ended; then it takes its time.
const SLOW_TO_LEAVE: &str = r#"
import json, pathlib, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
here = pathlib.Path(__file__).parent
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        version = asked["params"]["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "slow", "version": "1"}}
    else:
        result = {"tools": []}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
    if asked["method"] == "tools/list":
        (here / "up").touch()
(here / "leaving").touch()
time.sleep(60)
"#;

// CL-18
#[test]
fn what_is_typed_while_it_leaves_is_for_the_next_program() {
    let server = ModelServer::start(Scenario::new()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = folder.join("slow.py");
    std::fs::write(&script, SLOW_TO_LEAVE).unwrap();
    let settings = format!(
        "mcp_servers:\n  slow: {{command: python3, args: ['{}']}}\n",
        script.display()
    );
    let program = quiet(&server, &settings);
    let command = program.home.command("/bin/bash");
    let command = command
        .args(["-c", "$H; IFS= read -r line; echo \"next: <$line>\""])
        .env(
            "H",
            format!("{} chat --plain", env!("CARGO_BIN_EXE_hermes")),
        );
    let terminal = Terminal::spawn(&command, 80, 20).unwrap();
    terminal.wait_for_text("Ctrl+D ends", LIMIT).unwrap();
    let there = |name: &str| {
        eventually(LIMIT, name, || folder.join(name).exists().then_some(())).unwrap();
    };
    there("up");
    terminal.send("/exit\r").unwrap();
    there("leaving");
    terminal.send("for later\r").unwrap();
    terminal.wait_for_text("next: <for later>", LIMIT).unwrap();
}
