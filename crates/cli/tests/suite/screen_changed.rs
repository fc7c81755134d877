//! Commands that are changed before they run, on the screen and at the prompt.

use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Scenario, text, tool_call};
use hermes_testkit::pty::{Screen, Terminal};
use serde_json::{Value as Json, json};

use super::program::Program;
use super::screen::{LIMIT, READY, clear, leave, open, quiet};

const ASKED: &str = "touch made; rm -r gone";

/// A model that wants one command run, and a home that asks about it.
fn set_up(more: &str) -> (ModelServer, Program) {
    let scenario = Scenario::new()
        .reply(tool_call("terminal", json!({ "command": ASKED })))
        .reply(text("That was it."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, more);
    (server, program)
}

/// Chooses to change the command in the panel, whatever number that has.
fn edit(terminal: &Terminal) {
    let screen = terminal.wait_for_text("Allow once", LIMIT).unwrap();
    // Keys that come at once were meant for the draft.
    std::thread::sleep(Duration::from_millis(400));
    let rows = screen.rows();
    let row = rows.iter().find(|row| row.contains("Change it")).unwrap();
    let number: String = row.chars().filter(char::is_ascii_digit).collect();
    terminal.send(&number).unwrap();
    terminal.wait_for_text("Enter runs it", LIMIT).unwrap();
}

/// The row in which the command is being changed.
fn written(screen: &Screen) -> String {
    let rows = screen.rows();
    let row = rows.into_iter().find(|row| row.starts_with('›'));
    row.unwrap_or_default()
}

/// Writes another command in place of the one that is there.
fn write(terminal: &Terminal, command: &str) {
    terminal.send("\x15").unwrap();
    terminal
        .wait_for(|screen| written(screen).trim() == "›", LIMIT)
        .unwrap();
    terminal.send(command).unwrap();
    terminal.wait_for_text(command, LIMIT).unwrap();
    terminal.send("\r").unwrap();
}

/// What the model was told about its command.
fn told(server: &ModelServer) -> Json {
    let last = server.requests().last().unwrap().expect_json().clone();
    let messages = last["messages"].as_array().unwrap();
    let said = messages.iter().rfind(|one| one["role"] == "tool").unwrap();
    serde_json::from_str(said["content"].as_str().unwrap()).unwrap()
}

fn decisions(program: &Program) -> Vec<Json> {
    let log = program.run(&["policy", "log", "--json"]).ok();
    let log: Json = serde_json::from_str(&log.stdout).unwrap();
    log["decisions"].as_array().unwrap().clone()
}

fn exists(program: &Program, name: &str) -> bool {
    program.home.workspace().join(name).exists()
}

// CL-19
#[test]
fn a_command_is_changed_in_the_panel_judged_again_run_and_recorded() {
    let (server, program) = set_up("approvals: {mode: manual}\n");
    let terminal = open(&program, 80, 24);
    terminal.send("delete it\rhalf a thought").unwrap();
    edit(&terminal);
    // What was asked for stands there to be changed, and the draft waits.
    let screen = terminal.screen();
    assert_eq!(written(&screen).trim(), format!("› {ASKED}"));
    assert!(!screen.contains("half a thought"), "{screen}");
    write(&terminal, "touch other");
    terminal.wait_for_text("That was it.", LIMIT).unwrap();
    let seen = terminal.everything().join("\n");
    assert!(
        seen.contains("Changed and allowed once: touch other"),
        "{seen}"
    );
    assert!(exists(&program, "other") && !exists(&program, "made"));
    let told = told(&server);
    assert_eq!(told["exit_code"], 0, "{told}");
    let note = told["approval"].as_str().unwrap();
    assert!(note.contains("user changed the command"), "{note}");
    assert!(note.contains("touch other"), "{note}");
    let decisions = decisions(&program);
    assert_eq!(decisions.len(), 1, "{decisions:?}");
    assert_eq!(decisions[0]["action"], "touch other");
    assert_eq!(decisions[0]["decided_by"], "user");
    assert_eq!(decisions[0]["outcome"], "once");
    let reason = decisions[0]["reason"].as_str().unwrap();
    assert!(reason.contains(ASKED), "{reason}");
    terminal.wait_for_text("❯ half a thought", LIMIT).unwrap();
    clear(&terminal);
    leave(&terminal);
}

// CL-19
#[test]
fn what_is_forbidden_stays_forbidden_whoever_writes_it() {
    let (server, program) = set_up("approvals: {mode: manual, deny: ['touch forbidden*']}\n");
    let terminal = open(&program, 80, 24);
    terminal.send("delete it\r").unwrap();
    edit(&terminal);
    write(&terminal, "touch forbidden");
    terminal.wait_for_text("That was it.", LIMIT).unwrap();
    assert!(!exists(&program, "forbidden") && !exists(&program, "made"));
    let told = told(&server);
    assert_eq!(told["status"], "blocked", "{told}");
    let error = told["error"].as_str().unwrap();
    assert!(
        error.contains("changed the command to: touch forbidden"),
        "{error}"
    );
    let decisions = decisions(&program);
    assert_eq!(decisions[0]["outcome"], "refused", "{decisions:?}");
    assert_eq!(decisions[0]["action"], "touch forbidden");
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
}

// CL-19
#[test]
fn a_change_is_asked_about_again_only_for_what_nobody_was_told() {
    let (server, program) = set_up("approvals: {mode: manual}\n");
    let terminal = open(&program, 80, 24);
    terminal.send("delete it\r").unwrap();
    edit(&terminal);
    // It forces a push as well, which the first question did not say.
    write(&terminal, "rm -r gone2; git push --force");
    edit(&terminal);
    terminal
        .send("\x15mkdir gone2; rm -r gone2; touch other\r")
        .unwrap();
    terminal.wait_for_text("That was it.", LIMIT).unwrap();
    assert!(exists(&program, "other") && !exists(&program, "gone2"));
    let note = told(&server)["approval"].as_str().unwrap().to_owned();
    assert!(note.contains("touch other"), "{note}");
    let decisions = decisions(&program);
    assert_eq!(decisions.len(), 1, "{decisions:?}");
    let reason = decisions[0]["reason"].as_str().unwrap();
    assert!(reason.contains(ASKED), "what the model wanted: {reason}");
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
}

// CL-19
#[test]
fn the_prompt_takes_another_command_too() {
    let (server, program) = set_up("approvals: {mode: manual}\n");
    let terminal = Terminal::spawn(&program.command(&["chat", "--plain"]), 100, 40).unwrap();
    terminal.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    terminal.send("delete it\r").unwrap();
    terminal
        .wait_for_text("e COMMAND = run that instead", LIMIT)
        .unwrap();
    terminal.send("e touch other\r").unwrap();
    terminal.wait_for_text("That was it.", LIMIT).unwrap();
    assert!(exists(&program, "other") && !exists(&program, "made"));
    let note = told(&server)["approval"].as_str().unwrap().to_owned();
    assert!(note.contains("user changed the command"), "{note}");
    assert_eq!(decisions(&program)[0]["decided_by"], "user");
    terminal.send("/exit\r").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
}
