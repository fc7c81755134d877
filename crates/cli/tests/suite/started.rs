//! What a conversation is started with, and what is said before the first word.

use hermes_testkit::model_server::{ModelServer, Scenario, text, tool_call};
use hermes_testkit::pty::Terminal;
use serde_json::json;

use super::screen::{LIMIT, READY, leave, quiet};

const SKILL: &str = "---\nname: brew\ndescription: Brews tea.\n---\n\nBoil water first.\n";

// CL-5 CL-21
#[test]
fn what_should_be_known_is_said_at_the_start_and_the_hint_about_leftovers_once() {
    let server = ModelServer::start(Scenario::new()).unwrap();
    let program = quiet(&server, "security: {redact_secrets: false}\n");
    program.home.write("skills/brew/SKILL.md", SKILL).unwrap();
    std::fs::create_dir(program.home.user_home().join(".openclaw")).unwrap();
    let said = |arguments: &[&str]| {
        let command = program.command(arguments).env("TERM", "xterm-256color");
        let terminal = Terminal::spawn(&command, 120, 60).unwrap();
        terminal.wait_for_text(READY, LIMIT).unwrap();
        terminal.wait_for_text("redact_secrets", LIMIT).unwrap();
        let said = terminal.everything().join("\n");
        leave(&terminal);
        said
    };
    let first = said(&["chat", "-s", "brew"]);
    for part in [
        "⚠ Warning: security.redact_secrets is off",
        "OpenClaw was used here",
        "Skills in front of this conversation: brew.",
    ] {
        assert!(first.contains(part), "no {part}\n{first}");
    }
    let second = said(&["chat"]);
    assert!(
        second.contains("security.redact_secrets is off"),
        "{second}"
    );
    assert!(
        !second.contains("OpenClaw") && !second.contains("Skills in front"),
        "{second}"
    );
    // A line at a time the same is said.
    let command = program
        .command(&["chat", "--plain", "-s", "brew"])
        .stdin("");
    let output = command.run().unwrap().ok();
    assert!(
        output
            .stderr
            .contains("in front of this conversation: brew"),
        "{}",
        output.report()
    );
    assert!(!output.stderr.contains("OpenClaw"), "{}", output.report());
}

// CL-2 CL-3
#[test]
fn a_source_an_id_and_more_words_are_asked_for_with_flags() {
    let answers = ["One.", "Two.", "Three.", "Four."];
    let scenario = answers
        .map(text)
        .into_iter()
        .fold(Scenario::new(), Scenario::reply);
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    let quiet_run = program.run(&["chat", "-Q", "-q", "hello"]).ok();
    assert_eq!(
        quiet_run.stderr.lines().count(),
        1,
        "{}",
        quiet_run.report()
    );
    let output = program.run(&[
        "chat",
        "-Q",
        "-q",
        "hello",
        "--source",
        "tool",
        "--pass-session-id",
        "-v",
    ]);
    let output = output.ok();
    assert_eq!(output.stdout, "Two.\n");
    for said in [" DEBUG [", "a turn begins", "a turn has ended"] {
        assert!(output.stderr.contains(said), "{}", output.report());
    }
    let id = output.stderr.split_once("session_id: ").unwrap().1.trim();
    let requests = server.requests();
    let told = |at: usize| requests[at].expect_json()["messages"][0].to_string();
    assert!(!told(0).contains("The id of this session"));
    assert!(told(1).contains(&format!("The id of this session is {id}.")));
    // What tools asked for is out of the way, and there for whoever looks for it.
    let list = |more: &[&str]| {
        let arguments = [&["sessions", "list", "--json"], more].concat();
        program
            .run(&arguments)
            .ok()
            .json()
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(list(&[]), 1);
    assert_eq!(list(&["--source", "tool"]), 1);
    let refused = program
        .run(&["chat", "-q", "x", "--source", "two words"])
        .code(2);
    assert!(
        refused.stderr.contains("a source has"),
        "{}",
        refused.report()
    );
    // Who starts the program for somebody else may say it with a variable; the command line goes before it.
    let named = |value: &str, more: &[&str]| {
        let arguments = [&["-z", "hello"], more].concat();
        let command = program.command(&arguments);
        command.env("HERMES_SESSION_SOURCE", value).run().unwrap()
    };
    named("robot", &[]).ok();
    named("robot", &["--source", "lab"]).ok();
    assert_eq!(
        (list(&["--source", "robot"]), list(&["--source", "lab"])),
        (1, 1)
    );
    let refused = named("two words", &[]).code(2);
    assert!(
        refused
            .stderr
            .contains("HERMES_SESSION_SOURCE cannot be used"),
        "{}",
        refused.report()
    );
    server.assert_done();
}

// EX-50
#[test]
fn checkpoints_are_taken_in_one_conversation_without_being_switched_on() {
    let write = |content: &str| {
        tool_call(
            "write_file",
            json!({"path": "plan.txt", "content": content}),
        )
    };
    let scenario = Scenario::new()
        .reply(write("first\n"))
        .reply(text("Written."))
        .reply(write("second\n"))
        .reply(text("Written again."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    program
        .shell("git init -q . && echo before > plan.txt")
        .ok();
    let taken = || {
        let listed = program.run(&["checkpoints", "list", "--json"]).ok().json();
        listed["checkpoints"].as_array().unwrap().len()
    };
    program.run(&["chat", "-q", "write"]).ok();
    assert_eq!(taken(), 0);
    program.run(&["chat", "--checkpoints", "-q", "write"]).ok();
    assert_eq!(taken(), 1);
    server.assert_done();
    // In another conversation only the files go back: there is nothing else to take back.
    let back = program.command(&["chat", "--plain", "--checkpoints"]);
    let back = back.stdin("/rollback 1\n").run().unwrap().ok();
    assert!(!back.stdout.contains("error"), "{}", back.stdout);
    let plan = std::fs::read_to_string(program.home.workspace().join("plan.txt"));
    assert_eq!(plan.unwrap(), "first\n");
}

// CL-2
#[test]
fn flags_mean_the_same_before_and_behind_the_command() {
    let scenario = Scenario::new().reply(text("One.")).reply(text("Two."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    let flags = ["-m", "another", "--source", "lab", "--pass-session-id"];
    let question = ["-Q", "-q", "hello"];
    let before = [&flags[..], &["chat"], &question].concat();
    let behind = [&["chat"], &question[..], &flags].concat();
    program.run(&before).ok();
    program.run(&behind).ok();
    for request in server
        .requests()
        .iter()
        .filter(|one| one.protocol.is_some())
    {
        let body = request.expect_json();
        assert_eq!(body["model"], "another", "{body}");
        assert!(
            body["messages"][0]
                .to_string()
                .contains("The id of this session")
        );
    }
    let listed = program.run(&["sessions", "list", "--source", "lab", "--json"]);
    assert_eq!(listed.ok().json().as_array().unwrap().len(), 2);
    // Nothing is known of this model, so the server is asked about it too.
    assert_eq!(server.unused_steps(), 0);
}

// CL-41
#[test]
fn settings_that_are_relied_on_and_have_no_effect_are_named_before_the_first_word() {
    let server = ModelServer::start(Scenario::new()).unwrap();
    let program = quiet(
        &server,
        "hooks: {pre_tool_call: [{matcher: terminal, command: /bin/false}]}\n\
         secrets: {bitwarden: {enabled: true}}\nworktree: true\nprivacy: {redact_pii: true}\n\
         kanban: {auto_decompose: false}\n",
    );
    let start = || {
        let command = program.command(&["chat", "--plain"]).stdin("");
        let output = command.run().unwrap().ok();
        format!("{}{}", output.stdout, output.stderr)
    };
    let said = start();
    for part in [
        "hooks has no effect until hooks are run",
        "secrets has no effect until password managers are asked",
        "worktree has no effect until Hermes makes worktrees",
        "privacy.redact_pii has no effect until there is a gateway",
    ] {
        assert_eq!(said.matches(part).count(), 1, "{part}\n{said}");
    }
    assert!(!said.contains("kanban"), "{said}");
    for key in ["hooks", "secrets", "worktree", "privacy"] {
        program.run(&["config", "unset", key]).ok();
    }
    let said = start();
    assert!(!said.contains("has no effect"), "{said}");
}
