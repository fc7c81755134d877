//! Servers nearby: the window a model is loaded with.

use std::time::Duration;

use hermes_testkit::model_server::{
    ModelServer, RecordedRequest, Scenario, Step, bytes, error, json, text,
};
use hermes_testkit::pty::Terminal;
use serde_json::{Value, json};

use super::program::Program;

/// LM Studio with one model: as it is loaded at first, and after it was asked to load it.
fn lm_studio(first: Value, later: Value) -> Scenario {
    let listing = |instances: Value| {
        json(json!({"models": [{
            "key": "qwen3-8b", "max_context_length": 131072, "loaded_instances": instances,
        }]}))
    };
    Scenario::new()
        .route(
            "GET",
            "/api/v1/models",
            [
                Step::new(listing(first)),
                Step::new(listing(later)).repeat(),
            ],
        )
        .route(
            "POST",
            "/api/v1/models/load",
            [Step::new(json(json!({"status": "loaded"}))).repeat()],
        )
        .reply(Step::new(text("ok")).repeat())
}

fn loaded(window: u32) -> Value {
    json!([{"id": "a", "config": {"context_length": window}}])
}

fn at(server: &ModelServer, model: &str) -> Program {
    let program = Program::new();
    program.home.write_config(model).unwrap();
    program
        .home
        .write_env(&format!(
            "LM_BASE_URL={}\nLM_API_KEY=lm-key-1234567890\n",
            server.base_url()
        ))
        .unwrap();
    program
}

fn posted(server: &ModelServer, path: &str) -> Vec<RecordedRequest> {
    let all = server.requests().into_iter();
    all.filter(|request| request.method == "POST" && request.path == path)
        .collect()
}

// PV-24
#[test]
fn lm_studio_loads_the_model_with_the_window_that_is_needed() {
    let server = ModelServer::start(lm_studio(loaded(4096), loaded(65536))).unwrap();
    let program = at(&server, "model: {provider: lmstudio, default: qwen3-8b}\n");
    let asked = program.run(&["-z", "hello"]).ok();
    assert_eq!((asked.stdout.trim(), asked.stderr.as_str()), ("ok", ""));
    let loads = posted(&server, "/api/v1/models/load");
    assert_eq!(loads.len(), 1);
    assert_eq!(
        loads[0].json,
        Some(json!({"model": "qwen3-8b", "context_length": 65536}))
    );
    assert_eq!(
        loads[0].header("authorization"),
        Some("Bearer lm-key-1234567890")
    );
    // It is loaded now: nothing is left to do, and the settings' own wish is asked for too.
    program.run(&["-z", "hello"]).ok();
    assert_eq!(posted(&server, "/api/v1/models/load").len(), 1);
    program
        .run(&["config", "set", "model.context_length", "100000"])
        .ok();
    let asked = program.run(&["-z", "hello"]).ok();
    let loads = posted(&server, "/api/v1/models/load");
    assert_eq!(loads[1].json.as_ref().unwrap()["context_length"], 100_000);
    assert!(asked.stderr.contains("65536"), "{}", asked.stderr);
}

// PV-24
#[test]
fn lm_studio_loads_by_itself_when_so_configured() {
    let server = ModelServer::start(lm_studio(json!([]), json!([]))).unwrap();
    let program = at(
        &server,
        "model: {provider: lmstudio, default: qwen3-8b, lmstudio_load_mode: jit}\n",
    );
    let asked = program.run(&["-z", "hello"]).ok();
    assert_eq!((asked.stdout.trim(), asked.stderr.as_str()), ("ok", ""));
    assert_eq!(posted(&server, "/api/v1/models/load").len(), 0);
}

/// Ollama with one model, which it runs with a window of its own choice at first.
fn ollama(windows: [u32; 2]) -> Scenario {
    let running =
        |window: u32| json(json!({"models": [{"name": "qwen3:latest", "context_length": window}]}));
    let lines = [
        json!({"created_at": "a", "message": {"role": "assistant", "content": "it is "}, "done": false}),
        json!({"created_at": "b", "message": {"content": "fine"}, "done": false}),
        json!({"created_at": "c", "message": {"content": ""}, "done": true, "done_reason": "stop",
               "prompt_eval_count": 7, "eval_count": 3}),
    ];
    let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    let answer = bytes(lines.concat()).content_type("application/x-ndjson");
    Scenario::new()
        .route(
            "POST",
            "/api/show",
            [Step::new(json(json!({
                "model_info": {"qwen3.context_length": 40960},
                "capabilities": ["completion", "tools"],
            })))
            .repeat()],
        )
        .route(
            "GET",
            "/api/ps",
            [
                Step::new(running(windows[0])),
                Step::new(running(windows[1])).repeat(),
            ],
        )
        .route(
            "POST",
            "/api/generate",
            [Step::new(json(json!({"done": true, "done_reason": "load"}))).repeat()],
        )
        .route("POST", "/api/chat", [Step::new(answer).repeat()])
}

fn with_window(server: &ModelServer, window: u32) -> Program {
    let base = server.base_url();
    at(
        server,
        &format!(
            "model: {{provider: custom, base_url: '{base}', default: qwen3, ollama_num_ctx: {window}}}\n"
        ),
    )
}

// PV-23
#[test]
fn the_window_wanted_of_ollama_reaches_it_in_every_request() {
    let server = ModelServer::start(ollama([4096, 32768])).unwrap();
    let program = with_window(&server, 32768);
    let asked = program.run(&["-z", "how is it?"]).ok();
    assert_eq!(
        (asked.stdout.trim(), asked.stderr.as_str()),
        ("it is fine", "")
    );
    let load = posted(&server, "/api/generate");
    assert_eq!(load[0].json.as_ref().unwrap()["options"]["num_ctx"], 32768);
    let chats = posted(&server, "/api/chat");
    let body = chats[0].json.as_ref().unwrap();
    assert_eq!(body["options"]["num_ctx"], 32768);
    assert_eq!(body["stream"], true);
    assert!(
        body["tools"]
            .as_array()
            .is_some_and(|tools| !tools.is_empty())
    );
    assert!(posted(&server, "/v1/chat/completions").is_empty());
    let why = program.run(&["model", "--why", "--json"]).ok().json();
    assert_eq!(why["window"]["tokens"], 32768, "{why:#}");
}

// PV-23
#[test]
fn a_window_that_ollama_does_not_give_is_reported_and_believed() {
    let server = ModelServer::start(ollama([4096, 4096])).unwrap();
    let program = with_window(&server, 32768);
    let asked = program.run(&["-z", "how is it?"]).ok();
    assert!(
        asked.stderr.contains("a window of 4096 tokens, not 32768"),
        "{}",
        asked.stderr
    );
}

// PV-22
#[test]
fn why_asks_a_server_nearby_for_its_window_and_changes_nothing() {
    let server = ModelServer::start(lm_studio(loaded(8192), loaded(8192))).unwrap();
    let program = at(&server, "model: {provider: lmstudio, default: qwen3-8b}\n");
    let why = program.stdout(&["model", "--why"]);
    assert!(
        why.contains("8192") && why.contains("reported by the server"),
        "{why}"
    );
    assert_eq!(posted(&server, "/api/v1/models/load").len(), 0);
}

// PV-22, PV-24
#[test]
fn a_fallback_nearby_and_a_model_chosen_on_the_way_are_made_ready_too() {
    let bad = ModelServer::start(Scenario::new().reply(Step::new(error(401)).repeat())).unwrap();
    let near = ModelServer::start(lm_studio(loaded(8192), loaded(8192))).unwrap();
    let program = at(
        &near,
        &format!(
            "model: {{provider: custom, base_url: '{}', default: big, api_key: key-1234567890}}\n\
             agent: {{api_max_retries: 1}}\n\
             fallback_providers: [{{provider: lmstudio, model: qwen3-8b}}]\n",
            bad.base_url()
        ),
    );
    let limit = Duration::from_secs(30);
    let terminal = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 60).unwrap();
    terminal.wait_for_text("Ctrl+D ends", limit).unwrap();
    // It was looked at and not loaded: it may never be needed.
    assert_eq!(posted(&near, "/api/v1/models/load").len(), 0);
    terminal.send("Hello\r").unwrap();
    terminal
        .wait_for_text("qwen3-8b answers now", limit)
        .unwrap();
    terminal.wait_for_text("ok", limit).unwrap();
    terminal.send("/status\r").unwrap();
    terminal.wait_for_text("8192 tokens", limit).unwrap();
    terminal.send("/model lmstudio:qwen3-8b\r").unwrap();
    terminal
        .wait_for_text("loads qwen3-8b with a window of 65536", limit)
        .unwrap();
    // It does not give that much, which is said here too.
    terminal.wait_for_text("it runs with 8192", limit).unwrap();
    terminal
        .wait_for_text("qwen3-8b from lmstudio", limit)
        .unwrap();
    let loads = posted(&near, "/api/v1/models/load");
    assert_eq!(loads[0].json.as_ref().unwrap()["context_length"], 65536);
    terminal.send("/exit\r").unwrap();
    assert_eq!(terminal.wait_exit(limit).unwrap().code, 0);
}
