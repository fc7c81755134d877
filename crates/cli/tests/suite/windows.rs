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

fn questions(server: &ModelServer) -> usize {
    let requests = server.requests();
    requests.iter().filter(|it| it.method == "POST").count()
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
    let refusal = error(400).message(said).kind("invalid_request_error");
    let server = ModelServer::start(Scenario::new().reply(Step::new(refusal).repeat())).unwrap();
    let program = Program::new();
    configure(&program, &server);
    let output = program.run(&["-z", "hello"]).code(2);
    assert!(output.stderr.contains("too long"), "{}", output.stderr);
    assert_eq!(questions(&server), 1, "there is nothing to shorten");
    let why = program.run(&["model", "--why", "--json"]).ok().json();
    assert!(why.to_string().contains("9000"), "{why:#}");
    assert!(why.to_string().contains("refusal"), "{why:#}");
}

// AG-13: what stands in the way is the room for the answer, so only that becomes smaller.
#[test]
fn an_answer_that_would_not_fit_is_asked_for_shorter_and_nothing_is_dropped() {
    for (said, asked) in [
        (
            "max_tokens is too large: 20000. This model supports at most 8192 completion tokens.",
            8_192,
        ),
        (
            "This model's maximum context length is 100000 tokens. However, you requested 110000 tokens \
             (90000 in the messages, 20000 in the completion).",
            10_000 - 64,
        ),
    ] {
        let refusal = error(400).message(said).kind("invalid_request_error");
        let scenario = Scenario::new()
            .reply(refusal)
            .reply(Step::new(text("ok")).repeat());
        let server = ModelServer::start(scenario).unwrap();
        let program = Program::new();
        let config = format!(
            "agent: {{api_max_retries: 1}}\n\
             model: {{provider: custom, base_url: '{}', default: scripted, context_length: 100000, max_tokens: 20000}}\n",
            server.base_url()
        );
        program.home.write_config(&config).unwrap();
        assert_eq!(program.run(&["-z", "hello"]).ok().stdout, "ok\n");
        let requests = server.requests();
        let requests: Vec<_> = requests
            .iter()
            .filter(|request| request.method == "POST")
            .map(|request| request.expect_json())
            .collect();
        assert_eq!(requests.len(), 2, "{said}");
        assert_eq!(requests[0]["max_tokens"], 20_000, "{said}");
        assert_eq!(requests[1]["max_tokens"], asked, "{said}");
        assert_eq!(requests[0]["messages"], requests[1]["messages"], "{said}");
    }
}

// AG-13: what cannot be made smaller is not sent again, but another model may take it.
#[test]
fn a_request_that_is_too_large_is_sent_once_to_each_model() {
    let server = ModelServer::start(
        Scenario::new()
            .reply(
                Step::new(error(413).message("too large"))
                    .when_model("scripted")
                    .repeat(),
            )
            .reply(Step::new(text("it fits")).when_model("roomy")),
    )
    .unwrap();
    let program = Program::new();
    configure(&program, &server);
    program.run(&["-z", "hello"]).code(2);
    assert_eq!(questions(&server), 1);
    let fallback = format!(
        "fallback_providers:\n  - {{provider: custom, model: roomy, base_url: '{}'}}\n",
        server.base_url()
    );
    let config = program.home.read("config.yaml").unwrap() + &fallback;
    program.home.write_config(&config).unwrap();
    assert_eq!(program.run(&["-z", "hello"]).ok().stdout, "it fits\n");
    assert_eq!(questions(&server), 3);
}
