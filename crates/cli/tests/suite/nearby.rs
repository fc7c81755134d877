//! Servers nearby: the window a model is loaded with.

use std::time::Duration;

use hermes_testkit::eventually;
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

// PV-12: LM Studio says which efforts a model knows; the others go to the nearest.
#[test]
fn the_effort_for_lm_studio_is_one_that_the_model_knows() {
    let sent = |offered: Value, effort: &str| {
        let listing = json(json!({"models": [{
            "key": "qwen3-8b", "max_context_length": 131072, "loaded_instances": loaded(65536),
            "capabilities": {"reasoning": {"allowed_options": offered}},
        }]}));
        let scenario = Scenario::new()
            .route("GET", "/api/v1/models", [Step::new(listing).repeat()])
            .reply(Step::new(text("ok")).repeat())
            .extra_keys(["think"]);
        let server = ModelServer::start(scenario).unwrap();
        let program = at(
            &server,
            &format!(
                "model: {{provider: lmstudio, default: qwen3-8b}}\nagent: {{reasoning_effort: {effort}}}\n"
            ),
        );
        program.run(&["-z", "hello"]).ok();
        let asked = posted(&server, "/v1/chat/completions");
        asked[0].expect_json().get("reasoning_effort").cloned()
    };
    let switch = || json!(["off", "on"]);
    assert_eq!(sent(switch(), "high"), Some(json!("medium")));
    assert_eq!(sent(switch(), "none"), Some(json!("none")));
    let levels = || json!(["low", "medium", "high"]);
    assert_eq!(sent(levels(), "xhigh"), Some(json!("high")));
    assert_eq!(sent(levels(), "minimal"), Some(json!("low")));
    assert_eq!(sent(levels(), "none"), None, "it cannot be switched off");
}

/// Ollama with a model that says the same whatever it is asked.
fn ollama(windows: [u32; 2]) -> Scenario {
    let lines = [
        json!({"created_at": "a", "message": {"role": "assistant", "content": "it is "}, "done": false}),
        json!({"created_at": "b", "message": {"content": "fine"}, "done": false}),
        json!({"created_at": "c", "message": {"content": ""}, "done": true, "done_reason": "stop",
               "prompt_eval_count": 7, "eval_count": 3}),
    ];
    let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    let answer = bytes(lines.concat()).content_type("application/x-ndjson");
    ollama_with("qwen3", windows).route("POST", "/api/chat", [Step::new(answer).repeat()])
}

/// Ollama with one model, which it runs with a window of its own choice at first.
fn ollama_with(model: &str, windows: [u32; 2]) -> Scenario {
    let name = format!("{model}:latest");
    let running = |window: u32| json(json!({"models": [{"name": name, "context_length": window}]}));
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

/// What Ollama streams: a message, and that it is done.
fn streamed(message: &Value) -> Step {
    let lines = [
        json!({"created_at": "a", "message": message, "done": false}),
        json!({"created_at": "b", "message": {"content": ""}, "done": true, "done_reason": "stop"}),
    ];
    let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    Step::new(bytes(lines.concat()).content_type("application/x-ndjson"))
}

// AG-17: Ollama calls answers of GLM done that it has cut off behind the results of tools.
#[test]
fn an_answer_of_glm_that_ends_in_the_middle_of_a_sentence_is_gone_on_with() {
    let words = |text: &str| streamed(&json!({"role": "assistant", "content": text}));
    let call = json!({"function": {"name": "todo", "arguments": {}}});
    let call = json!({"role": "assistant", "content": "", "tool_calls": [call]});
    for (model, answer, asked) in [
        ("glm-4.6", "The list holds three items.\n", 3),
        ("qwen3", "The list holds three\n", 2),
    ] {
        let steps = [
            streamed(&call),
            words("The list holds three"),
            words(" items."),
        ];
        let scenario = ollama_with(model, [32768, 32768]).route("POST", "/api/chat", steps);
        let server = ModelServer::start(scenario).unwrap();
        let program = with_window(&server, 32768);
        program.run(&["config", "set", "model.default", model]).ok();
        let output = program.run(&["-z", "what is on the list?"]).ok();
        assert_eq!(output.stdout, answer, "{model}: {}", output.stderr);
        assert_eq!(posted(&server, "/api/chat").len(), asked, "{model}");
    }
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
    assert_eq!(
        near.requests().len(),
        0,
        "nobody is asked before there is a message"
    );
    terminal.send("Hello\r").unwrap();
    terminal
        .wait_for_text("qwen3-8b answers now", limit)
        .unwrap();
    terminal.wait_for_text("ok", limit).unwrap();
    // It was looked at and not loaded: it might never have been needed.
    assert_eq!(posted(&near, "/api/v1/models/load").len(), 0);
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

// PV-24 CL-31: what is written to standard error would stand in the middle of the screen.
#[test]
fn loading_a_model_is_told_on_the_screen_and_leaves_it_whole() {
    let listing = json(json!({"models": [{
        "key": "qwen3-8b", "max_context_length": 131072, "loaded_instances": loaded(4096),
    }]}));
    let load = json(json!({"status": "loaded"}));
    let scenario = Scenario::new()
        .route("GET", "/api/v1/models", [Step::new(listing).repeat()])
        .route(
            "POST",
            "/api/v1/models/load",
            [Step::new(load).delay(Duration::from_secs(2)).repeat()],
        )
        .reply(Step::new(text("All is well.")).repeat());
    for mode in ["--cli", "--tui"] {
        let server = ModelServer::start(scenario.clone()).unwrap();
        let program = at(&server, "model: {provider: lmstudio, default: qwen3-8b}\n");
        let command = program.command(&["chat", mode]);
        let command = command.env("TERM", "xterm-256color");
        let terminal = Terminal::spawn(&command, 110, 30).unwrap();
        let limit = Duration::from_secs(60);
        let loads = "LM Studio loads qwen3-8b";
        terminal.wait_for_text("ask anything", limit).unwrap();
        assert_eq!(
            server.requests().len(),
            0,
            "{mode}: no message is there yet"
        );
        terminal.send("hello\r").unwrap();
        terminal.wait_for_text(loads, limit).unwrap();
        terminal.wait_for_text("All is well.", limit).unwrap();
        terminal.wait_for_text("ask anything", limit).unwrap();
        let before = terminal.everything().join("\n").matches(loads).count();
        terminal
            .send("/model qwen3-8b --provider lmstudio\r")
            .unwrap();
        terminal
            .wait_for_text("qwen3-8b from lmstudio answers now", limit)
            .unwrap();
        terminal.wait_for_text("ask anything", limit).unwrap();
        let seen = terminal.everything().join("\n");
        assert_eq!(seen.matches(loads).count(), before + 1, "{mode}: {seen}");
        assert_eq!(seen.matches("ask anything").count(), 1, "{mode}: {seen}");
        terminal.send("\x04").unwrap();
        assert_eq!(terminal.wait_exit(limit).unwrap().code, 0);
    }
}

// PV-24 AG-8: a stop does not wait for a model that is being loaded, and loses nothing.
#[test]
fn a_message_is_kept_when_it_is_stopped_while_the_model_is_loaded() {
    let listing = json(json!({"models": [{
        "key": "qwen3-8b", "max_context_length": 131072, "loaded_instances": loaded(4096),
    }]}));
    let load = Step::new(json(json!({"status": "loaded"}))).delay(Duration::from_secs(60));
    let scenario = Scenario::new()
        .route("GET", "/api/v1/models", [Step::new(listing).repeat()])
        .route("POST", "/api/v1/models/load", [load.repeat()]);
    let server = ModelServer::start(scenario).unwrap();
    let program = at(&server, "model: {provider: lmstudio, default: qwen3-8b}\n");
    let limit = Duration::from_secs(30);
    let terminal = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 40).unwrap();
    terminal.wait_for_text("Ctrl+D ends", limit).unwrap();
    terminal.send("plant a tree\r").unwrap();
    terminal.wait_for_text("LM Studio loads", limit).unwrap();
    terminal.send("\x03").unwrap();
    terminal.wait_for_text("[stopped]", limit).unwrap();
    terminal.send("/exit\r").unwrap();
    assert_eq!(terminal.wait_exit(limit).unwrap().code, 0);
    assert_eq!(posted(&server, "/v1/chat/completions").len(), 0);
    let found = program.stdout(&["sessions", "search", "tree"]);
    assert!(found.contains("plant a"), "{found}");
}

// AG-34, PV-24: what was typed is a row before anybody is asked about the model, in a conversation that begins and
// in one that goes on.
#[test]
fn a_message_is_kept_when_the_program_is_killed_while_the_model_is_loaded() {
    let listing = json(json!({"models": [{
        "key": "qwen3-8b", "max_context_length": 131072, "loaded_instances": loaded(4096),
    }]}));
    let load = Step::new(json(json!({"status": "loaded"}))).delay(Duration::from_secs(60));
    let scenario = Scenario::new()
        .route("GET", "/api/v1/models", [Step::new(listing).repeat()])
        .route("POST", "/api/v1/models/load", [load.repeat()])
        .reply(Step::new(text("All is well.")).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = at(&server, "model: {provider: lmstudio, default: qwen3-8b}\n");
    let limit = Duration::from_secs(30);
    let killed = |arguments: &[&str], loads: usize| {
        let running = program.command(arguments).spawn().unwrap();
        eventually(limit, "the model is loaded", || {
            (posted(&server, "/api/v1/models/load").len() >= loads).then_some(())
        })
        .unwrap();
        running.kill().unwrap();
    };
    killed(&["-z", "plant a tree"], 1);
    let listed = program.run(&["sessions", "list", "--json"]).ok().json();
    let session = listed[0]["session_id"].as_str().unwrap().to_owned();
    killed(&["-z", "water it", "--resume", &session], 2);
    program
        .run(&["config", "set", "model.lmstudio_load_mode", "jit"])
        .ok();
    let answer = program.run(&["-z", "and now?", "--resume", &session]).ok();
    assert_eq!(answer.stdout.trim(), "All is well.", "{}", answer.stderr);
    let shown = program
        .run(&["sessions", "show", &session, "--json"])
        .ok()
        .json();
    let messages = shown["messages"].as_array().unwrap();
    let said: Vec<&str> = messages
        .iter()
        .filter_map(|message| message["content"].as_str())
        .collect();
    let cut_off = "[This was cut off before an answer.]";
    assert_eq!(
        said,
        [
            "plant a tree",
            cut_off,
            "water it",
            cut_off,
            "and now?",
            "All is well."
        ]
    );
    let asked = posted(&server, "/v1/chat/completions");
    assert_eq!(asked.len(), 1, "nobody answered before");
    assert!(asked[0].violations.is_empty(), "{:?}", asked[0].violations);
}

// AG-34, PV-22: so it is while a server is asked how large the window of its model is.
#[test]
fn a_message_is_kept_when_the_program_is_killed_while_the_window_is_asked_for() {
    let listing = json(json!({"models": []}));
    let silence = Step::new(listing).delay(Duration::from_secs(60)).repeat();
    let scenario = Scenario::new().route("GET", "/api/v1/models", [silence]);
    let server = ModelServer::start(scenario).unwrap();
    let program = at(&server, "model: {provider: lmstudio, default: qwen3-8b}\n");
    let running = program.command(&["-z", "plant a tree"]).spawn().unwrap();
    let limit = Duration::from_secs(30);
    let asked = server.wait_for_requests(1, limit).unwrap();
    running.kill().unwrap();
    assert_eq!(asked[0].path, "/api/v1/models");
    let found = program.stdout(&["sessions", "search", "tree"]);
    assert!(found.contains("plant a"), "{found}");
    assert_eq!(posted(&server, "/v1/chat/completions").len(), 0);
}
