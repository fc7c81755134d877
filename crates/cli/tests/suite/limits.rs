//! Variables that say how long to wait and how often to ask again.

use std::time::{Duration, Instant};

use hermes_testkit::Output;
use hermes_testkit::mcp_server::{McpServer, Mode, Profile};
use hermes_testkit::model_server::{ModelServer, Scenario, Step, text, tool_call};
use serde_json::json;

use super::chat::with_model;
use super::mcp_lab::Lab;
use super::program::Program;

/// What hangs hangs longer than this.
const LONG: Duration = Duration::from_secs(300);
/// What is limited to a second ends well before.
const SOON: Duration = Duration::from_secs(60);

fn ask(program: &Program, variables: &[(&str, &str)]) -> Output {
    let mut command = program.command(&["-z", "hello"]);
    for (name, value) in variables {
        command = command.env(name, value);
    }
    let started = Instant::now();
    let output = command.run().unwrap();
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    output
}

fn calls(server: &ModelServer) -> usize {
    let all = server.requests().into_iter();
    all.filter(|request| request.path.ends_with("/chat/completions"))
        .count()
}

// AG-16
#[test]
fn an_answer_that_breaks_off_is_asked_for_as_often_as_is_said() {
    for (retries, expected) in [("0", 1), ("1", 2)] {
        let silent = Step::new(text("never")).hang_after(0).repeat();
        let server = ModelServer::start(Scenario::new().reply(silent)).unwrap();
        let program = with_model(&server.base_url());
        let limits = [
            ("HERMES_STREAM_READ_TIMEOUT", "1"),
            ("HERMES_STREAM_RETRIES", retries),
        ];
        ask(&program, &limits).code(2);
        assert_eq!(calls(&server), expected);
    }
}

// AG-15
#[test]
fn a_connection_that_carries_nothing_is_given_up_after_the_time_that_is_said() {
    let silent = Step::new(text("a few words")).hang_after(1).repeat();
    let server = ModelServer::start(Scenario::new().reply(silent)).unwrap();
    let program = with_model(&server.base_url());
    let limits = [
        ("HERMES_STREAM_READ_TIMEOUT", "1"),
        ("HERMES_STREAM_RETRIES", "0"),
    ];
    let output = ask(&program, &limits).code(2);
    assert!(output.stderr.contains("error: "), "{}", output.stderr);
    assert_eq!(calls(&server), 1);
}

// AG-15
#[test]
fn an_answer_that_comes_as_a_whole_is_waited_for_as_long_as_is_said() {
    let late = Step::new(text("late")).delay(LONG).repeat();
    let server = ModelServer::start(Scenario::new().reply(late)).unwrap();
    let program = Program::new();
    let profile = format!(
        "id: acme\nname: Acme\nbase_url: {}\nkey: optional\nprotocol: chat_completions\nquirks: {{no_streaming: true}}\n",
        server.base_url()
    );
    let place = "plugins/model-providers/acme/profile.yaml";
    program.home.write(place, profile).unwrap();
    program
        .home
        .write_config("model: {provider: acme, default: big, context_length: 100000}\n")
        .unwrap();
    let limits = [
        ("HERMES_API_CALL_STALE_TIMEOUT", "1"),
        ("HERMES_STREAM_STALE_TIMEOUT", "200"),
        ("HERMES_STREAM_RETRIES", "0"),
    ];
    ask(&program, &limits).code(2);
    assert_eq!(calls(&server), 1);
}

// AG-7
#[test]
fn tools_side_by_side_have_one_deadline_together() {
    let server = McpServer::start(Profile::default()).unwrap();
    let two = tool_call("mcp__far__echo", json!({"text": "a"}))
        .and_tool_call("mcp__far__echo", json!({"text": "b"}));
    let lab = Lab::new(Scenario::new().reply(two).reply(text("done")));
    let url = server.url("/mcp");
    lab.more(&format!(
        "mcp_discovery_timeout: 60\nmcp_servers:\n  far:\n    url: '{url}'\n    supports_parallel_tool_calls: true\n"
    ));
    let hold = Mode::Hold {
        millis: 240_000,
        then: None,
    };
    server.arm("tools/call", hold, 2);
    let output = ask(&lab.program, &[("HERMES_CONCURRENT_TOOL_TIMEOUT_S", "1")]).ok();
    assert_eq!(output.stdout.trim(), "done");
    let requests = lab.model.requests();
    let last = requests.last().unwrap().expect_json()["messages"].to_string();
    assert_eq!(last.matches("[TOOL_ERROR]").count(), 2, "{last}");
}

// PV-14
#[test]
fn the_place_to_sign_in_can_be_named_by_a_variable() {
    let server = ModelServer::start(Scenario::new()).unwrap();
    let program = Program::new();
    let sign_in = program
        .command(&["auth", "add", "nous"])
        .env("HERMES_PORTAL_BASE_URL", server.origin());
    sign_in.run().unwrap().code(1);
    let asked = server.requests();
    assert_eq!(asked[0].path, "/api/oauth/device/code");
}

#[test]
fn a_limit_that_is_no_number_is_named() {
    let program = with_model("http://127.0.0.1:9/v1");
    for (name, value) in [
        ("HERMES_STREAM_RETRIES", "some"),
        ("HERMES_STREAM_READ_TIMEOUT", "soon"),
        ("HERMES_CONCURRENT_TOOL_TIMEOUT_S", "inf"),
    ] {
        let output = ask(&program, &[(name, value)]).code(2);
        assert!(output.stderr.contains(name), "{}", output.stderr);
        assert!(output.stderr.contains("hint: "), "{}", output.stderr);
    }
}
