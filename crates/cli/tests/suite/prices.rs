//! Changing to a model that costs much.

use hermes_testkit::model_server::{ModelServer, Scenario, text};
use hermes_testkit::pty::{Screen, Terminal};

use super::program::Program;
use super::screen::{LIMIT, READY, leave, open, quiet};

const DEAR: &str = "/model claude-opus-4-1 --provider anthropic";
const USUAL: &str = "/model claude-sonnet-4-5 --provider anthropic";

fn program(server: &ModelServer) -> Program {
    let program = quiet(server, "");
    let key = "ANTHROPIC_API_KEY=key-1234567890\n";
    program.home.write_env(key).unwrap();
    program
}

// CL-19 CL-21
#[test]
fn a_dear_model_is_confirmed_at_the_prompt_and_no_flag_is_part_of_its_name() {
    let server = ModelServer::start(Scenario::new().reply(text("Still me."))).unwrap();
    let program = program(&server);
    let terminal = Terminal::spawn(&program.command(&["chat", "--plain"]), 140, 50).unwrap();
    let say = |line: &str, shown: &str| {
        terminal.send(&format!("{line}\r")).unwrap();
        terminal.wait_for_text(shown, LIMIT).unwrap();
    };
    terminal.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    say("/model claude-opus-4-1 --globl", "did you mean --global?");
    say(
        "/model x --provider",
        "--provider needs the id of a provider",
    );
    say(DEAR, "Change to claude-opus-4-1?");
    let screen = terminal.screen();
    assert!(screen.contains("$15.00 for a million tokens in and $75.00 out"));
    say("n", "Nothing was changed.");
    say("hello", "Still me.");
    // Who has agreed in advance is not asked, nor who pays as much already.
    say(&format!("{DEAR} --yes"), "claude-opus-4-1 from anthropic");
    say(USUAL, "claude-sonnet-4-5 from anthropic");
    say(DEAR, "; claude-sonnet-4-5 costs $3.00 and $15.00");
    terminal.send("y\r").unwrap();
    let twice = |screen: &Screen| screen.text().matches("opus-4-1 from anthropic").count() == 2;
    terminal.wait_for(twice, LIMIT).unwrap();
    terminal.send("/exit\r").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
    let asked = terminal.everything().join("\n");
    assert_eq!(asked.matches("Change to").count(), 2, "{asked}");
    let config = program.home.read("config.yaml").unwrap();
    assert!(!config.contains("claude"), "{config}");
    server.assert_done();
}

// CL-19 CL-21
#[test]
fn a_dear_model_is_confirmed_in_a_panel_on_the_screen() {
    let server = ModelServer::start(Scenario::new().reply(text("Still me."))).unwrap();
    let program = program(&server);
    let terminal = open(&program, 110, 40);
    terminal.send(&format!("{DEAR} --global\r")).unwrap();
    let screen = terminal.wait_for_text("Change to claude-opus-4-1", LIMIT);
    assert!(screen.unwrap().contains("$75.00 out"));
    terminal.send("\x1b").unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal.send("hello\r").unwrap();
    terminal.wait_for_text("Still me.", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    let config = program.home.read("config.yaml").unwrap();
    assert!(!config.contains("claude"), "{config}");
    terminal.send(&format!("{DEAR}\r")).unwrap();
    terminal.wait_for_text("1 Yes, this time", LIMIT).unwrap();
    terminal.send("1").unwrap();
    terminal.wait_for_text("chosen by the user", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
    server.assert_done();
}
