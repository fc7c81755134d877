//! Questions on the real screen.

use std::time::Duration;

use hermes_testkit::Sshd;
use hermes_testkit::model_server::{Gate, ModelServer, Scenario, Step, text, tool_call};
use hermes_testkit::pty::Terminal;
use serde_json::json;

use super::program::Program;
use super::screen::{LIMIT, READY, clear, leave, open, quiet};

/// The last choice of every question of the agent, which only its panel shows.
const PANEL: &str = "Something else";

/// Keys that come at once were meant for the draft.
fn wait_a_moment() {
    std::thread::sleep(Duration::from_millis(400));
}

/// Types at the pace of somebody who does not stop.
fn type_on(terminal: &Terminal, text: &str) {
    for letter in text.chars() {
        terminal.send(letter.encode_utf8(&mut [0; 4])).unwrap();
        std::thread::sleep(Duration::from_millis(60));
    }
}

// CL-19
#[test]
fn a_draft_that_is_being_typed_allows_nothing() {
    let delete = json!({"command": "rm -r old"});
    let scenario = Scenario::new()
        .reply(Step::new(tool_call("terminal", delete)))
        .reply(text("Left alone."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "approvals: {mode: manual}\n");
    program.home.write_work("old/note.txt", "kept").unwrap();
    let terminal = open(&program, 80, 24);
    terminal.send("tidy up\r").unwrap();
    let mut before = 0;
    while !terminal.screen().contains("Allow once") {
        type_on(&terminal, "z");
        before += 1;
        assert!(before < 500, "{}", terminal.screen());
    }
    type_on(&terminal, " when 1 or 2 or 3 files are left");
    assert!(terminal.screen().contains("Allow once"));
    wait_a_moment();
    terminal.send("\x1b").unwrap();
    let screen = terminal.wait_for_text("Left alone.", LIMIT).unwrap();
    // What was not done does not look like what was.
    assert!(screen.contains("✗ user refused"), "{screen}");
    let draft = format!("{} when 1 or 2 or 3 files are left", "z".repeat(before));
    let end: String = draft.chars().skip(draft.len().saturating_sub(40)).collect();
    terminal.wait_for_text(&end, LIMIT).unwrap();
    let work = program.home.workspace();
    assert!(work.join("old/note.txt").exists());
    clear(&terminal);
    leave(&terminal);
    // It looks the same when the conversation is taken up again.
    let command = program.command(&["chat", "--tui", "--continue"]);
    let command = command.env("TERM", "xterm-256color");
    let terminal = Terminal::spawn(&command, 80, 24).unwrap();
    terminal.wait_for_text("✗ user refused", LIMIT).unwrap();
    leave(&terminal);
}

/// What the last tool answered.
fn result(server: &ModelServer) -> String {
    let last = server.requests().last().unwrap().expect_json().clone();
    let messages = last["messages"].as_array().unwrap().clone();
    let said = messages
        .iter()
        .rfind(|message| message["role"] == "tool")
        .unwrap();
    said["content"].as_str().unwrap().to_owned()
}

fn clarify() -> hermes_testkit::model_server::Answer {
    tool_call(
        "clarify",
        json!({"question": "Which colour?", "choices": ["red", "blue"]}),
    )
}

// CL-19
#[test]
fn a_question_of_the_agent_is_answered_by_number_in_words_or_by_silence() {
    let scenario = Scenario::new()
        .reply(clarify())
        .reply(text("Painted once."))
        .reply(clarify())
        .reply(text("Painted twice."))
        .reply(clarify())
        .reply(text("Painted thrice."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "clarify: {timeout: 3}\n");
    let terminal = open(&program, 60, 12);
    terminal.send("paint\rhalf a thought").unwrap();
    // The card of the call names the question too, and may be there a moment before the panel.
    let screen = terminal.wait_for_text(PANEL, LIMIT).unwrap();
    for word in ["Which colour?", "red", "blue"] {
        assert!(screen.contains(word), "{screen}");
    }
    assert!(!screen.contains("half a thought"), "{screen}");
    wait_a_moment();
    terminal.send("2").unwrap();
    terminal.wait_for_text("Painted once.", LIMIT).unwrap();
    assert!(result(&server).contains("blue"));
    terminal.wait_for_text("❯ half a thought", LIMIT).unwrap();
    clear(&terminal);
    terminal.send("again\r").unwrap();
    terminal.wait_for_text(PANEL, LIMIT).unwrap();
    wait_a_moment();
    // The last choice is what one writes oneself.
    terminal.send("3").unwrap();
    terminal.send("a mild green\r").unwrap();
    terminal.wait_for_text("Painted twice.", LIMIT).unwrap();
    assert!(result(&server).contains("a mild green"));
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal.send("once more\r").unwrap();
    terminal.wait_for_text(PANEL, LIMIT).unwrap();
    // Nobody answers: the panel goes, and the agent goes on.
    terminal.wait_for_text("Painted thrice.", LIMIT).unwrap();
    assert!(!terminal.screen().contains(PANEL), "{}", terminal.screen());
    let said = result(&server);
    assert!(said.contains("nobody answered in time"), "{said}");
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
}

// CL-19
#[test]
fn an_approval_that_nobody_gives_is_refused_in_time() {
    let scenario = Scenario::new()
        .reply(tool_call(
            "terminal",
            json!({"command": "touch made; rm -r gone"}),
        ))
        .reply(text("Left alone."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "approvals: {mode: manual, timeout: 2}\n");
    let terminal = open(&program, 60, 10);
    terminal.send("delete it\r").unwrap();
    // Few rows are enough for what is asked and every answer.
    let screen = terminal.wait_for_text("1 once", LIMIT).unwrap();
    for word in ["Allow this?", "rm -r gone", "always", "deny", "edit"] {
        assert!(screen.contains(word), "{word}: {screen}");
    }
    terminal.wait_for_text("Left alone.", LIMIT).unwrap();
    let screen = terminal.wait_for_text("nobody answered in time", LIMIT);
    assert!(!screen.unwrap().contains("1 once"));
    let said = result(&server);
    assert!(!said.contains("\"exit_code\":0"), "{said}");
    assert!(!program.home.workspace().join("made").exists());
    leave(&terminal);
}

// CL-19
#[test]
fn two_that_ask_at_once_are_answered_one_after_the_other() {
    let asks = |folder: &str, who: &str| {
        Step::new(tool_call(
            "terminal",
            json!({"command": format!("mkdir {folder}; rm -r {folder}")}),
        ))
        .when_user(who)
    };
    let scenario = Scenario::new()
        .reply(asks("first", "one"))
        .reply(asks("second", "two"))
        .reply(Step::new(text("One is done.")).when_user("one"))
        .reply(Step::new(text("Two is done.")).when_user("two"));
    let server = ModelServer::start(scenario.lenient()).unwrap();
    let program = quiet(&server, "approvals: {mode: manual}\n");
    let terminal = open(&program, 80, 24);
    terminal.send("/background one\r").unwrap();
    terminal.wait_for_text("rm -r first", LIMIT).unwrap();
    wait_a_moment();
    // Deny the first: the second one has not come yet. Then both at once.
    terminal.send("\x1b").unwrap();
    terminal.wait_for_text("One is done.", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);

    let (first, second) = (Gate::new(), Gate::new());
    let scenario = Scenario::new()
        .reply(asks("first", "one").held(&first))
        .reply(asks("second", "two").held(&second))
        .reply(Step::new(text("One is done.")).when_user("one"))
        .reply(Step::new(text("Two is done.")).when_user("two"));
    let server = ModelServer::start(scenario.lenient()).unwrap();
    let program = quiet(&server, "approvals: {mode: manual}\n");
    let terminal = open(&program, 80, 24);
    // The second is on its way when the first asks.
    terminal.send("/background two\r").unwrap();
    terminal.wait_for_text("▶ 1", LIMIT).unwrap();
    terminal.send("one\ra draft").unwrap();
    terminal.wait_for_text("❯ a draft", LIMIT).unwrap();
    first.open();
    // Its question is up, not only its call.
    let screen = terminal.wait_for_text("Allow once", LIMIT).unwrap();
    assert!(screen.contains("rm -r first"), "{screen}");
    second.open();
    let screen = terminal.wait_for_text("1 more waits", LIMIT).unwrap();
    assert!(!screen.contains("rm -r second"), "{screen}");
    wait_a_moment();
    terminal.send("1").unwrap();
    terminal.wait_for_text("rm -r second", LIMIT).unwrap();
    terminal.wait_for_text("One is done.", LIMIT).unwrap();
    // The end of one does not take the question of the other away.
    wait_a_moment();
    assert!(
        terminal.screen().contains("Allow once"),
        "{}",
        terminal.screen()
    );
    terminal.send("1").unwrap();
    terminal.wait_for_text("Two is done.", LIMIT).unwrap();
    terminal.wait_for_text("❯ a draft", LIMIT).unwrap();
    clear(&terminal);
    leave(&terminal);
}

/// Every file below a directory in which this stands.
fn holding(directory: &std::path::Path, words: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path, words));
        } else if let Ok(bytes) = std::fs::read(&path) {
            let holds = bytes
                .windows(words.len())
                .any(|part| part == words.as_bytes());
            found.extend(holds.then_some(path));
        }
    }
    found
}

/// A conversation whose commands run where `sudo` really wants a password; here it may be had for nothing.
struct Typist {
    terminal: Terminal,
    program: Program,
    _machine: Sshd,
    _folder: tempfile::TempDir,
}

fn typist(server: &ModelServer, user: &str, password: &str, approvals: &str) -> Typist {
    let machine = Sshd::start_with_sudoer(user, password).unwrap();
    let settings = format!(
        "approvals: {{{approvals}}}\nlogging: {{level: DEBUG}}\n\
         terminal: {{backend: ssh, ssh_host: 127.0.0.1, ssh_user: {user}, ssh_port: {}, ssh_key: {}}}\n",
        machine.port(),
        machine.key().display()
    );
    let program = quiet(server, &settings);
    // The client keeps host keys in the real home of its user, which is none of ours.
    let folder = tempfile::tempdir().unwrap();
    let ssh = folder.path().join("ssh");
    let known = machine.known_hosts().display().to_string();
    let script = format!("#!/bin/sh\nexec /usr/bin/ssh -o UserKnownHostsFile={known} \"$@\"\n");
    std::fs::write(&ssh, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&ssh, mode).unwrap();
    let search = format!("{}:/usr/local/bin:/usr/bin:/bin", folder.path().display());
    let command = program
        .command(&["chat"])
        .env("TERM", "xterm-256color")
        .env("PATH", search);
    let terminal = Terminal::spawn(&command, 60, 10).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    Typist {
        terminal,
        program,
        _machine: machine,
        _folder: folder,
    }
}

fn with_sudo() -> ModelServer {
    let scenario = Scenario::new()
        .reply(tool_call("terminal", json!({"command": "sudo id -un"})))
        .reply(text("Done."));
    ModelServer::start(scenario).unwrap()
}

// CL-19 EX-11
#[test]
fn a_password_is_typed_unseen_and_reaches_only_sudo() {
    let password = "hunter2-horse-staple";
    let server = with_sudo();
    let typist = typist(&server, "hermes-typist", password, "mode: 'off'");
    let terminal = &typist.terminal;
    terminal.send("who am I?\r").unwrap();
    terminal.wait_for_text("uses sudo", LIMIT).unwrap();
    wait_a_moment();
    terminal.send(password).unwrap();
    let dots = "•".repeat(password.len());
    terminal.wait_for_text(&dots, LIMIT).unwrap();
    terminal.send("\r").unwrap();
    terminal.wait_for_text("Done.", LIMIT).unwrap();
    let said = result(&server);
    // Some lecture first.
    assert!(said.contains("root\""), "{said}");
    let everything = terminal.everything().join("\n");
    assert!(!everything.contains(password), "{everything}");
    leave(terminal);
    for request in server.requests() {
        assert!(!request.expect_json().to_string().contains(password));
    }
    // Neither the store nor a log nor the history of lines has it.
    assert_eq!(
        holding(&typist.program.home.path(), password),
        Vec::<std::path::PathBuf>::new()
    );
}

// CL-19 EX-11
#[test]
fn a_password_that_nobody_types_lets_the_turn_go_on_without_it() {
    let server = with_sudo();
    let typist = typist(
        &server,
        "hermes-nobody",
        "never-typed",
        "mode: 'off', timeout: 3",
    );
    let terminal = &typist.terminal;
    terminal.send("who am I?\r").unwrap();
    terminal.wait_for_text("uses sudo", LIMIT).unwrap();
    terminal.wait_for_text("Not given in time", LIMIT).unwrap();
    terminal.wait_for_text("Done.", LIMIT).unwrap();
    // The command ran, `sudo` refused, and the model is told so.
    let said: serde_json::Value = serde_json::from_str(&result(&server)).unwrap();
    assert_eq!(said["exit_code"], 1, "{said}");
    assert!(said["output"].as_str().unwrap().contains("sudo:"), "{said}");
    leave(terminal);
}

// CL-19
#[test]
fn the_time_to_answer_runs_out_while_another_answer_streams() {
    // More than a minute of it: it never ends before the time to answer does.
    let words: String = (0..20_000).map(|number| format!("w{number:05} ")).collect();
    let front = Step::new(text(words))
        .when_user("tell me")
        .chunk_chars(12)
        .pace(Duration::from_millis(8));
    let risky = tool_call("terminal", json!({"command": "mkdir gone; rm -r gone"}));
    let scenario = Scenario::new()
        .reply(front)
        .reply(Step::new(risky).when_user("clear up"))
        .reply(Step::new(text("Left as it was.")).repeat());
    let server = ModelServer::start(scenario.lenient()).unwrap();
    let program = quiet(&server, "approvals: {mode: manual, timeout: 2}\n");
    let terminal = open(&program, 80, 24);
    terminal.send("tell me\r").unwrap();
    terminal.wait_for_text("w00010", LIMIT).unwrap();
    terminal.send("/background clear up\r").unwrap();
    terminal.wait_for_text("Allow once", LIMIT).unwrap();
    let told = "Not allowed, nobody answered in time";
    hermes_testkit::eventually(LIMIT, told, || {
        let seen = terminal.everything().join("\n");
        seen.contains(told).then_some(())
    })
    .unwrap();
    let screen = terminal.screen();
    assert!(
        screen.contains("a message stops"),
        "still streaming: {screen}"
    );
    assert!(!screen.contains("Allow once"), "{screen}");
    terminal.send("\x03\x03").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
}
