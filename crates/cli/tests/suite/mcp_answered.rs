//! Approvals that wait at a terminal and are answered by another program through `hermes mcp serve`.

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, Scenario, text, tool_call};
use hermes_testkit::pty::Terminal;
use serde_json::{Value as Json, json};

use super::hands_let_out::Outside;
use super::mcp_lab::{LONG, Lab};
use super::program::Program;
use super::screen::{LIMIT, leave, open, quiet};

/// A model that wants to delete something, and then says that it is done.
fn deleting() -> (ModelServer, Program) {
    let command = json!({"command": "mkdir -p build && rm -rf build && touch done"});
    let scenario = Scenario::new()
        .reply(tool_call("terminal", command))
        .reply(text("so be it"));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "approvals: {mode: manual, timeout: 600}\n");
    (server, program)
}

/// Another home whose server `there` is `hermes mcp serve` of this one.
fn client_of(program: &Program) -> Lab {
    let client = Lab::new(Scenario::new());
    let home = format!("HERMES_HOME={}", program.home.path().display());
    let hermes = env!("CARGO_BIN_EXE_hermes");
    let add = ["add", "there", "--command", hermes, "--env", &home];
    let add = [&add[..], &["--args", "mcp", "serve"]].concat();
    assert_eq!(client.mcp(&add).0, 0);
    client
}

fn asked(client: &Lab, tool: &str, arguments: &Json) -> Json {
    let arguments = arguments.to_string();
    let (_, said) = client.mcp(&["call", "there", tool, "--args", &arguments]);
    let answer = &said[0]["answer"];
    let text = answer["result"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"));
    serde_json::from_str(text).unwrap()
}

/// Answers the one approval that is open.
fn respond(client: &Lab, decision: &str) {
    let open = eventually(LONG, "an approval is open", || {
        let listed = asked(client, "permissions_list_open", &json!({}));
        (listed["count"] == 1).then(|| listed["approvals"][0].clone())
    });
    let open = open.unwrap();
    let action = open["action"].as_str().unwrap();
    assert!(action.contains("rm -rf build"), "{open}");
    assert!(!open["reasons"].as_array().unwrap().is_empty(), "{open}");
    let answer = json!({ "id": open["id"], "decision": decision });
    let answered = asked(client, "permissions_respond", &answer);
    assert_eq!(answered["resolved"], true, "{answered}");
    // The next one may be open already.
    let listed = asked(client, "permissions_list_open", &json!({}));
    let mut left = listed["approvals"].as_array().unwrap().iter();
    assert!(left.all(|one| one["id"] != open["id"]), "{listed}");
}

// MCP-79
#[test]
fn a_yes_from_another_program_takes_the_panel_away_and_the_command_runs() {
    let (_server, program) = deleting();
    let client = client_of(&program);
    let terminal = open(&program, 100, 30);
    terminal.send("delete it\r").unwrap();
    terminal.wait_for_text("Allow this?", LIMIT).unwrap();
    respond(&client, "allow-once");
    let screen = terminal.wait_for_text("so be it", LIMIT).unwrap();
    assert!(!screen.contains("Allow this?"), "{screen}");
    let how = terminal.wait_for_text("through hermes mcp serve", LIMIT);
    how.unwrap();
    assert!(program.home.workspace().join("done").exists());
    leave(&terminal);
    // Who allowed it is on record.
    let log = program.run(&["policy", "log"]).ok().stdout;
    assert!(log.contains("through hermes mcp serve"), "{log}");
}

// MCP-79
#[test]
fn a_no_from_another_program_ends_the_question_at_the_plain_prompt() {
    let (server, program) = deleting();
    let client = client_of(&program);
    let terminal = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 60).unwrap();
    terminal.wait_for_text("Ctrl+D ends.", LONG).unwrap();
    terminal.send("delete it\r").unwrap();
    terminal.wait_for_text("May I do this?", LONG).unwrap();
    respond(&client, "deny");
    terminal.wait_for_text("refused by", LONG).unwrap();
    terminal.wait_for_text("so be it", LONG).unwrap();
    assert!(!program.home.workspace().join("done").exists());
    let told = server.requests().last().unwrap().expect_json()["messages"].to_string();
    assert!(told.contains("blocked"), "{told}");
    leave(&terminal);
}

// MCP-79: a question that its own person answers is over for everybody.
#[test]
fn an_answer_at_the_terminal_closes_the_question_for_others() {
    let (_server, program) = deleting();
    let client = client_of(&program);
    let terminal = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 60).unwrap();
    terminal.wait_for_text("Ctrl+D ends.", LONG).unwrap();
    terminal.send("delete it\r").unwrap();
    terminal.wait_for_text("May I do this?", LONG).unwrap();
    let open = eventually(LONG, "an approval is open", || {
        let listed = asked(&client, "permissions_list_open", &json!({}));
        (listed["count"] == 1).then(|| listed["approvals"][0]["id"].clone())
    });
    terminal.send("n\r").unwrap();
    terminal.wait_for_text("so be it", LONG).unwrap();
    let late = json!({ "id": open.unwrap(), "decision": "allow-once" });
    let (code, said) = client.mcp(&[
        "call",
        "there",
        "permissions_respond",
        "--args",
        &late.to_string(),
    ]);
    assert_eq!(code, 1, "{said:?}");
    let said = said[0]["answer"].to_string();
    assert!(said.contains("not open any more"), "{said}");
    assert!(!program.home.workspace().join("done").exists());
    leave(&terminal);
}

// EX-68, MCP-79: a program can allow a command, and cannot let it out of the sandbox.
#[test]
fn no_program_lets_a_command_out_of_the_sandbox() {
    let outside = Outside::new("answered");
    let path = outside.0.display();
    let command = format!("mkdir -p build && rm -rf build && echo made > {path}");
    let scenario = Scenario::new()
        .reply(tool_call("terminal", json!({ "command": command })))
        .reply(text("so be it"));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "approvals: {mode: manual, timeout: 600}\n");
    let client = client_of(&program);
    let terminal = Terminal::spawn(&program.command(&["chat", "--plain"]), 160, 60).unwrap();
    terminal.wait_for_text("Ctrl+D ends.", LONG).unwrap();
    terminal.send("delete it\r").unwrap();
    terminal.wait_for_text("May I do this?", LONG).unwrap();
    respond(&client, "allow-once");
    terminal
        .wait_for_text("refused by the sandbox", LONG)
        .unwrap();
    // The person is asked, and nobody else.
    let listed = asked(&client, "permissions_list_open", &json!({}));
    assert_eq!(listed["count"], 0, "{listed}");
    terminal.send("n\r").unwrap();
    terminal.wait_for_text("so be it", LONG).unwrap();
    assert!(!outside.0.exists());
    leave(&terminal);
    let log = program.run(&["policy", "log"]).ok().stdout;
    assert!(log.contains("outside-sandbox"), "{log}");
}

// CL-19, MCP-79: what was typed for one question is no answer to the next.
#[test]
fn half_a_yes_for_a_question_that_is_over_does_not_allow_the_next_one() {
    let delete = |file: &str| {
        let command = format!("mkdir -p build && rm -rf build && touch {file}");
        tool_call("terminal", json!({ "command": command }))
    };
    let scenario = Scenario::new()
        .reply(delete("one"))
        .reply(delete("two"))
        .reply(text("so be it"));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "approvals: {mode: manual, timeout: 600}\n");
    let client = client_of(&program);
    let terminal = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 60).unwrap();
    terminal.wait_for_text("Ctrl+D ends.", LONG).unwrap();
    terminal.send("delete it\r").unwrap();
    terminal.wait_for_text("touch one", LONG).unwrap();
    terminal.wait_for_text("? ", LONG).unwrap();
    terminal.send("y").unwrap();
    terminal.wait_for_text("? y", LONG).unwrap();
    respond(&client, "deny");
    terminal.wait_for_text("touch two", LONG).unwrap();
    let shown = || {
        terminal
            .screen()
            .text()
            .trim_end()
            .ends_with('?')
            .then_some(())
    };
    eventually(LONG, "the second question is shown", shown).unwrap();
    terminal.send("\r").unwrap();
    terminal.wait_for_text("so be it", LONG).unwrap();
    for file in ["one", "two"] {
        assert!(!program.home.workspace().join(file).exists(), "{file}");
    }
    leave(&terminal);
}
