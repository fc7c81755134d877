//! Servers nearby are known by what they say, wherever they listen.

use hermes_testkit::model_server::{ModelServer, Scenario, Step, bytes, error, json, text};
use serde_json::{Value, json};

use super::chat::one_message;
use super::program::Program;

/// A server with one model, whose list says whom it belongs to.
fn server(owner: &str, more: &Value, routes: &[(&str, &str, Value)]) -> ModelServer {
    let mut entry = json!({"id": "m", "object": "model", "owned_by": owner});
    if let (Some(entry), Some(more)) = (entry.as_object_mut(), more.as_object()) {
        entry.extend(more.clone());
    }
    let listing = json!({"object": "list", "data": [entry]});
    let mut scenario = Scenario::new().route("GET", "/v1/models", [step(listing)]);
    for (method, path, answer) in routes {
        scenario = scenario.route(*method, *path, [step(answer.clone())]);
    }
    let answers = scenario.reply(Step::new(text("ok")).repeat());
    ModelServer::start(answers).unwrap()
}

fn step(answer: Value) -> Step {
    Step::new(json(answer)).repeat()
}

fn program(server: &ModelServer) -> Program {
    let program = Program::new();
    let config = format!(
        "model: {{provider: custom, default: m, base_url: '{}'}}\n\
         auxiliary: {{title_generation: {{enabled: false}}}}\n",
        server.base_url()
    );
    program.home.write_config(&config).unwrap();
    program
}

fn why(program: &Program) -> Value {
    let why = program.run(&["model", "--why", "--json"]).ok().json();
    why["window"].clone()
}

fn window(server: &ModelServer) -> Value {
    why(&program(server))["tokens"].clone()
}

// PV-22, PV-23
#[test]
fn each_server_is_asked_in_its_own_way_on_any_port() {
    // llama.cpp lists the window the model was made for; the one there is stands elsewhere.
    let props = json!({"default_generation_settings": {"n_ctx": 20_000}});
    let trained = json!({"meta": {"n_ctx_train": 131_072}});
    let llama = server("llamacpp", &trained, &[("GET", "/props", props.clone())]);
    assert_eq!(window(&llama), 20_000);
    // One that does not put its name on the list is known by an interface of its own.
    let nameless = server("me", &trained, &[("GET", "/props", props)]);
    assert_eq!(window(&nameless), 20_000);

    let vllm = server("vllm", &json!({"max_model_len": 24_000}), &[]);
    assert_eq!(window(&vllm), 24_000);

    let studio = json!({"models": [{"key": "m", "max_context_length": 131_072,
        "loaded_instances": [{"id": "a", "config": {"context_length": 28_000}}]}]});
    let studio = [("GET", "/api/v1/models", studio)];
    assert_eq!(
        window(&server("organization_owner", &json!({}), &studio)),
        28_000
    );

    let show = json!({"model_info": {"x.context_length": 30_000}, "capabilities": ["tools"]});
    let version = ("GET", "/api/version", json!({"version": "0.12.0"}));
    let ollama = [("POST", "/api/show", show), version];
    for owner in ["library", "somebody"] {
        assert_eq!(window(&server(owner, &json!({}), &ollama)), 30_000);
    }
    // Nobody we know: the list is all there is.
    let other = server("me", &json!({"context_length": 26_000}), &[]);
    assert_eq!(window(&other), 26_000);
}

/// Ollama with a model that can do this, and an answer of its own interface.
fn ollama(abilities: &[&str], chat: Step) -> ModelServer {
    let show = json!({"model_info": {"x.context_length": 40_000}, "capabilities": abilities});
    let entry = json!({"id": "m", "object": "model", "owned_by": "library"});
    let scenario = Scenario::new()
        .route("GET", "/v1/models", [step(json!({"data": [entry]}))])
        .route("POST", "/api/show", [step(show)])
        .route("GET", "/api/ps", [step(json!({"models": []}))])
        .route("POST", "/api/generate", [step(json!({"done": true}))])
        .route("POST", "/api/chat", [chat, spoken()]);
    ModelServer::start(scenario).unwrap()
}

/// What Ollama says when a model has answered.
fn spoken() -> Step {
    let line = json!({"created_at": "a", "message": {"role": "assistant", "content": "fine"},
        "done": true, "done_reason": "stop"});
    Step::new(bytes(format!("{line}\n")).content_type("application/x-ndjson")).repeat()
}

fn chats(server: &ModelServer) -> Vec<Value> {
    let all = server.requests().into_iter();
    let chats = all.filter(|request| request.path == "/api/chat");
    chats.filter_map(|request| request.json).collect()
}

// PV-23
#[test]
fn a_model_of_ollama_is_asked_only_for_what_it_can_do() {
    let asked = |abilities: &[&str], flags: &[&str]| {
        let server = ollama(abilities, spoken());
        let program = program(&server);
        let picture = b"\x89PNG\r\n\x1a\nnot really";
        program.home.write_work("rose.png", picture).unwrap();
        let output = program
            .run(&[&["chat", "-Q", "-q", "hello"], flags].concat())
            .ok();
        assert_eq!(output.stdout, "fine\n");
        (chats(&server).remove(0), output.stderr)
    };
    let is_told_of_tools = |body: &Value| body["messages"][0].to_string().contains("tool");
    let (body, told) = asked(&["completion", "tools", "vision"], &["--image", "rose.png"]);
    assert!(body["tools"].is_array() && is_told_of_tools(&body));
    assert!(!told.contains("cannot call tools"), "{told}");
    assert!(body["messages"][1]["images"].is_array(), "{body:#}");

    let (body, told) = asked(&["completion"], &["--image", "rose.png"]);
    assert!(body.get("tools").is_none(), "{body:#}");
    assert!(!is_told_of_tools(&body), "{body:#}");
    assert!(told.contains("m cannot call tools"), "{told}");
    assert!(body["messages"][1].get("images").is_none(), "{body:#}");

    // Older versions say nothing about it.
    let (body, _) = asked(&[], &[]);
    assert!(body["tools"].is_array(), "{body:#}");
}

// PV-11, PV-23
#[test]
fn a_model_that_turns_tools_down_is_asked_without_them() {
    let refused = "registry.ollama.ai/library/m does not support tools";
    let no = || Step::new(error(400).body(json!({"error": refused})));
    let server = ollama(&[], no());
    let output = program(&server).run(&["-z", "hello"]).ok();
    assert_eq!(output.stdout, "fine\n");
    let said = &output.stderr;
    assert!(
        said.contains("without tools") && said.contains(refused),
        "{said}"
    );
    let offered = |body: &Value| body.get("tools").is_some();
    let offered: Vec<bool> = chats(&server).iter().map(offered).collect();
    assert_eq!(offered, [true, false]);
}

// PV-22, PV-23
#[test]
fn a_window_that_was_learned_gives_way_to_what_a_server_nearby_says_today() {
    let remember = |server: &ModelServer| {
        let program = program(server);
        let entry = format!("context_lengths:\n  m@{}: 8192\n", server.base_url());
        let file = "context_length_cache.yaml";
        program.home.write(file, entry).unwrap();
        program
    };
    let props = json!({"default_generation_settings": {"n_ctx": 65_536}});
    let llama = server("llamacpp", &json!({}), &[("GET", "/props", props)]);
    let today = json!({"tokens": 65_536, "from": "reported by the server"});
    assert_eq!(why(&remember(&llama)), today);
    let vllm = server("vllm", &json!({"max_model_len": 4_000}), &[]);
    assert_eq!(why(&remember(&vllm))["tokens"], 4_000);
    // One that says nothing is remembered.
    let silent = server("me", &json!({}), &[]);
    let learned = json!({"tokens": 8_192, "from": "learned from a refusal"});
    assert_eq!(why(&remember(&silent)), learned);

    // Ollama is still known, and told how large the window has to be.
    let server = ollama(&["completion", "tools"], spoken());
    let program = remember(&server);
    assert_eq!(program.run(&["-z", "hello"]).ok().stdout, "fine\n");
    assert_eq!(chats(&server)[0]["options"]["num_ctx"], 40_000);
}

fn with_models(names: &[&str]) -> ModelServer {
    let scenario = Scenario::new().models(names.iter().copied());
    ModelServer::start(scenario.reply(Step::new(text("Here I am.")).repeat())).unwrap()
}

fn asked_for(server: &ModelServer) -> Value {
    let mut requests = server.requests().into_iter().rev();
    let asked = requests.find(|request| request.protocol.is_some()).unwrap();
    asked.expect_json()["model"].clone()
}

// PV-2
#[test]
fn the_only_model_of_a_server_nearby_needs_no_name() {
    let program = Program::new();
    let configure = |server: &ModelServer| {
        let base = server.base_url();
        let config = format!("model: {{base_url: '{base}', context_length: 100000}}\n");
        program.home.write_config(&config).unwrap();
    };
    let lone = with_models(&["lone"]);
    configure(&lone);
    assert_eq!(program.run(&["-z", "hello"]).ok().stdout, "Here I am.\n");
    assert_eq!(asked_for(&lone), "lone");
    let why = program.run(&["model", "--why", "--json"]).ok().json();
    assert_eq!(why["model"], "lone");
    let why = why["why"].to_string();
    assert!(why.contains("the only one the server has"), "{why}");

    // Among several nobody but the user chooses.
    for names in [&["one", "two"][..], &[]] {
        let server = with_models(names);
        configure(&server);
        let output = program.run(&["-z", "hello"]).code(2);
        one_message(&output, &["no model is named", "--model"]);
    }
}

// PV-4
#[test]
fn an_endpoint_can_be_changed_to_without_a_name_of_its_model() {
    let lone = with_models(&["lone"]);
    let program = Program::new();
    let config = format!(
        "model: {{provider: 'custom:lab', default: other, context_length: 100000}}\n\
         auxiliary: {{title_generation: {{enabled: false}}}}\n\
         providers: {{lab: {{base_url: '{}', context_length: 100000}}}}\n",
        lone.base_url()
    );
    program.home.write_config(&config).unwrap();
    for (typed, asked) in [
        ("/model custom", "lone"),
        ("/model custom:lab:third", "third"),
        // The settings name one for it.
        ("/model custom:lab", "other"),
    ] {
        let command = program.command(&["chat", "--plain"]);
        let output = command.stdin(format!("{typed}\nhello\n")).run().unwrap();
        let output = output.ok().stdout;
        assert!(output.contains("Here I am."), "{output}");
        assert_eq!(asked_for(&lone), asked, "{typed}");
    }
}
