//! Servers nearby are known by what they say, wherever they listen.

use hermes_testkit::model_server::{ModelServer, Scenario, Step, json, text};
use serde_json::{Value, json};

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

fn window(server: &ModelServer) -> Value {
    let program = Program::new();
    let config = format!(
        "model: {{provider: custom, default: m, base_url: '{}'}}\n",
        server.base_url()
    );
    program.home.write_config(&config).unwrap();
    let why = program.run(&["model", "--why", "--json"]).ok().json();
    why["window"]["tokens"].clone()
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
