//! How large a model's window is, and where that is known from.

use hermes_testkit::model_server::{ModelServer, Scenario, Step, error, json, text};
use serde_json::json;

use super::program::Program;

fn configure(program: &Program, server: &ModelServer) {
    let config = format!(
        "agent: {{api_max_retries: 1}}\nmodel: {{provider: custom, base_url: '{}', default: scripted}}\n",
        server.base_url()
    );
    program.home.write_config(&config).unwrap();
}

// PV-22
#[test]
fn a_server_nearby_is_asked_how_large_its_window_is() {
    let listing = json!({"data": [{"id": "scripted", "max_model_len": 8192}]});
    let scenario = Scenario::new()
        .route("GET", "/v1/models", [Step::new(json(listing)).repeat()])
        .reply(Step::new(text("ok")).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = Program::new();
    configure(&program, &server);
    // 40,000 characters: more than half of that window, less than half of a guess.
    let notes = program.home.workspace().join("notes.txt");
    std::fs::write(&notes, "word ".repeat(8_000)).unwrap();
    let ask = |command: &[&str]| {
        let command = program.command(command);
        command
            .current_dir(program.home.workspace())
            .run()
            .unwrap()
            .ok()
    };
    let refused = ask(&["-z", "see @file:notes.txt"]);
    assert!(refused.stderr.contains("notes.txt"), "{}", refused.stderr);
    let sent = |index: usize| {
        let asked: Vec<_> = server
            .requests()
            .into_iter()
            .filter(|request| request.method == "POST")
            .collect();
        asked[index].body.len()
    };
    assert!(sent(0) < 20_000, "it was left out: {}", sent(0));
    program
        .run(&["config", "set", "model.context_length", "128000"])
        .ok();
    let before = server.requests().len();
    ask(&["-z", "see @file:notes.txt"]);
    assert!(sent(1) > 40_000, "what the user says counts more");
    assert_eq!(
        server.requests().len(),
        before + 1,
        "and nobody else is asked"
    );
}

// AG-13, PV-22
#[test]
fn a_window_that_a_refusal_names_is_remembered() {
    let said = "This model's maximum context length is 9000 tokens. However, your messages resulted in 12000 tokens.";
    let scenario = Scenario::new()
        .reply(error(400).message(said).kind("invalid_request_error"))
        .reply(Step::new(text("ok")).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = Program::new();
    configure(&program, &server);
    program.run(&["-z", "hello"]);
    let why = program.run(&["model", "--why", "--json"]).ok().json();
    assert!(why.to_string().contains("9000"), "{why:#}");
    assert!(why.to_string().contains("refusal"), "{why:#}");
}
