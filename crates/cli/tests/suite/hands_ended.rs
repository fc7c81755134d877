//! What is left of confined commands when the program is killed or stopped in their middle: nothing.

use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Scenario, Step, text, tool_call};
use hermes_testkit::process::find_by_env_marker;
use hermes_testkit::{Signal, eventually};
use serde_json::json;

use super::chat::with_model;

const PATIENCE: Duration = Duration::from_secs(60);
/// Nothing may outlive us longer.
const FIVE_SECONDS: Duration = Duration::from_secs(5);

/// Starts a command that does much to get away, ends the program by a signal and waits until everything is gone.
fn nothing_is_left(mark: &str, background: bool, signal: Signal) {
    let mark = format!("{mark}-{}", std::process::id());
    let command = format!(
        "MARK={mark} bash -c '(trap \"\" TERM HUP; setsid sleep 999) & (setsid sh -c \"sleep 998 & sleep 997\" &); \
         (trap \"\" TERM INT; while :; do sleep 1; done) & wait'"
    );
    let scenario = Scenario::new()
        .reply(tool_call(
            "terminal",
            json!({"command": command, "background": background, "timeout": 600}),
        ))
        .reply(Step::new(text("late")).delay(Duration::from_secs(600)));
    let server = ModelServer::start(scenario.lenient()).unwrap();
    let program = with_model(&server.base_url());
    // Only the way it is confined is of interest, not what is asked about.
    let flags = ["-z", "go", "--yolo"];
    let running = program.command(&flags).spawn().unwrap();
    eventually(PATIENCE, "all of it runs", || {
        (find_by_env_marker("MARK", &mark).len() >= 5).then_some(())
    })
    .unwrap();
    running.signal(signal).unwrap();
    eventually(FIVE_SECONDS, "nothing is left", || {
        find_by_env_marker("MARK", &mark).is_empty().then_some(())
    })
    .unwrap();
    running.wait(PATIENCE).unwrap();
}

// EX-5
#[test]
fn a_killed_program_leaves_nothing_of_a_confined_command() {
    nothing_is_left("killed-front", false, Signal::SIGKILL);
}

// EX-14, EX-18
#[test]
fn a_killed_program_leaves_nothing_of_a_confined_background_process() {
    nothing_is_left("killed-behind", true, Signal::SIGKILL);
}

// EX-6
#[test]
fn a_stopped_program_leaves_nothing_of_a_confined_command() {
    nothing_is_left("stopped-front", false, Signal::SIGINT);
}

// EX-6
#[test]
fn a_stopped_program_leaves_nothing_of_a_confined_background_process() {
    nothing_is_left("stopped-behind", true, Signal::SIGTERM);
}
