//! What is sent before anybody has said anything: within its budget, and less of it where the window is small.

use hermes_testkit::model_server::{ModelServer, RecordedRequest, Scenario, Step, json, text};
use serde_json::json;

use super::program::Program;

/// Tokens of prompt and tools in a home where nothing was added.
const BUDGET: u64 = 6_000;

// AG-45
#[test]
fn prompt_and_tools_stay_within_their_budget() {
    let program = Program::new();
    let config = "model: {provider: custom, base_url: 'http://127.0.0.1:9/v1', default: m, context_length: 128000}\n";
    program.home.write_config(config).unwrap();
    let size = program.run(&["prompt-size", "--json"]).ok().json();
    let total = size["total"]["tokens"].as_u64().unwrap();
    assert!(total <= BUDGET, "{total}: {size:#}");
    assert!(size["tools"].as_array().unwrap().len() > 10, "{size:#}");
}

/// A server whose model has a window of so many tokens, and what is sent to it with these arguments.
fn sent(window: u32, arguments: &[&str]) -> (RecordedRequest, String) {
    let listing = json!({"data": [{"id": "scripted", "max_model_len": window}]});
    let scenario = Scenario::new()
        .route("GET", "/v1/models", [Step::new(json(listing)).repeat()])
        .reply(Step::new(text("ok")).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = Program::new();
    let base = server.base_url();
    let config = format!("model: {{provider: custom, base_url: '{base}', default: scripted}}\n");
    program.home.write_config(&config).unwrap();
    let asked = program.run(arguments).ok();
    assert_eq!(asked.stdout.trim(), "ok", "{}", asked.stderr);
    let request = server
        .requests()
        .into_iter()
        .find(|request| request.protocol.is_some());
    (request.unwrap(), asked.stderr)
}

fn tools(request: &RecordedRequest) -> Vec<String> {
    let body = request.expect_json();
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let name = |tool: &serde_json::Value| tool["function"]["name"].as_str().unwrap().to_owned();
    tools.iter().map(name).collect()
}

// AG-45, PV-22
#[test]
fn a_small_window_gets_a_few_tools_and_a_short_prompt_and_the_user_is_told() {
    for window in [4_096, 8_192] {
        let (request, told) = sent(window, &["-z", "hello"]);
        assert!(
            told.contains(&format!("a window of {window} tokens")),
            "{told}"
        );
        let few = ["read_file", "search_files", "terminal", "write_file"];
        assert_eq!(tools(&request), few);
        // A rough count: four bytes to a token.
        let tokens = request.body.len() / 4;
        assert!(tokens < 2_000, "{tokens} of {window}");
        let body = String::from_utf8_lossy(&request.body).into_owned();
        assert!(
            body.contains("untrusted_tool_result"),
            "what comes from outside stays no instruction"
        );
    }
    let (request, told) = sent(32_768, &["-z", "hello"]);
    assert!(tools(&request).len() > 10, "{:?}", tools(&request));
    assert_eq!(told, "");
}

// AG-30, AG-45
#[test]
fn toolsets_that_are_named_count_in_a_small_window_too() {
    let (request, told) = sent(8_192, &["-z", "hello", "--toolsets", "todo,file"]);
    let tools = tools(&request);
    for tool in ["todo", "patch", "read_file"] {
        assert!(tools.contains(&tool.to_owned()), "{tool}: {tools:?}");
    }
    assert!(!tools.contains(&"terminal".to_owned()), "{tools:?}");
    assert!(told.contains("the tools you named"), "{told}");
}
