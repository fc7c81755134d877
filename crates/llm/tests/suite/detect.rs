//! Servers on this machine.

use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use hermes_http::{AddressPolicy, BaseUrl, ClientBuilder, ClientSettings, HttpClient};
use hermes_llm::detect::{
    Detected, LocalServer, detect, llama_cpp_window, lm_studio_models, ollama,
};
use hermes_llm::metadata::window_from_listing;
use hermes_llm::nearby::{Reach, prepare};
use hermes_llm::resolve::is_local;
use hermes_llm::{Endpoint, ReasoningStyle, WindowSource};
use serde_json::{Value as Json, json};

use super::profiles::{Setup, runtime};

fn client() -> HttpClient {
    ClientBuilder::new(ClientSettings::default(), AddressPolicy::Any)
        .build()
        .expect("a client")
}

/// Serves fixed answers and asks the question while it does.
fn at<T>(routes: &[(&'static str, Json)], question: impl AsyncFnOnce(BaseUrl) -> T) -> T {
    runtime().block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut router = Router::new();
        for (path, answer) in routes.iter().cloned() {
            let reply = move || async move { axum::Json(answer) };
            router = match path {
                "/api/show" => router.route(path, post(reply)),
                _ => router.route(path, get(reply)),
            };
        }
        let base = format!("http://{address}/v1").parse().expect("a url");
        tokio::select! {
            answer = question(base) => answer,
            ended = axum::serve(listener, router) => panic!("the server ended: {ended:?}"),
        }
    })
}

fn found(routes: &[(&'static str, Json)]) -> Option<Detected> {
    at(routes, async |base| detect(&client(), &base).await)
}

fn lm_studio() -> Json {
    json!({"models": [{
        "key": "qwen3-8b",
        "max_context_length": 131072,
        "loaded_instances": [{"id": "x", "config": {"context_length": 65536}}],
        "capabilities": {"reasoning": {"allowed_options": ["off", "on"]}},
    }]})
}

// PV-23
#[test]
fn each_server_is_known_by_its_own_answers() {
    let listing = json!({"data": [{"id": "m1", "max_model_len": 8192}]});
    let tags = json!({"models": [{"name": "qwen3:8b"}, {"name": "llama3:latest"}]});
    let detected = found(&[("/api/tags", tags.clone())]).expect("Ollama");
    assert_eq!(detected.server, LocalServer::Ollama);
    assert_eq!(detected.models, ["qwen3:8b", "llama3:latest"]);

    let both = [("/api/v1/models", lm_studio()), ("/api/tags", tags)];
    let detected = found(&both).expect("LM Studio");
    assert_eq!(
        (detected.server, detected.models),
        (LocalServer::LmStudio, vec!["qwen3-8b".to_owned()])
    );

    let props = json!({"default_generation_settings": {"n_ctx": 16384}, "total_slots": 1});
    let routes = [("/props", props), ("/v1/models", listing.clone())];
    let detected = found(&routes).expect("llama.cpp");
    assert_eq!(detected.server, LocalServer::LlamaCpp);
    assert_eq!(
        (detected.window, detected.models),
        (Some(16384), vec!["m1".to_owned()])
    );

    let routes = [
        ("/version", json!({"version": "0.11"})),
        ("/v1/models", listing.clone()),
    ];
    let detected = found(&routes).expect("vLLM");
    assert_eq!(
        (detected.server, detected.server.name()),
        (LocalServer::Vllm, "vLLM")
    );
    assert_eq!(window_from_listing(&listing, "m1"), Some(8192));

    assert_eq!(found(&[("/v1/models", listing)]), None);
}

// PV-23
#[test]
fn a_window_that_ollama_does_not_apply_is_reported() {
    let routes = [
        (
            "/api/show",
            json!({
                "parameters": "stop \"<x>\"\nnum_ctx   32768\n",
                "model_info": {"general.name": "q", "qwen3.context_length": 131072},
                "capabilities": ["completion", "tools", "thinking"],
            }),
        ),
        (
            "/api/ps",
            json!({"models": [{"name": "qwen3:latest", "context_length": 4096}]}),
        ),
    ];
    let about = at(&routes, async |base| {
        ollama(&client(), &base, "qwen3").await
    });
    let about = about.expect("an answer");
    assert_eq!(about.set_window, Some(32768));
    assert_eq!(about.max_window, Some(131072));
    assert_eq!(about.loaded_window, Some(4096));
    assert!(about.capabilities.contains(&"tools".to_owned()));
    assert_eq!(about.mismatch(4096), None);
    let said = about.mismatch(65536).expect("a mismatch");
    assert!(said.contains("4096") && said.contains("65536"), "{said}");
}

// PV-23
#[test]
fn a_port_where_nobody_answers_is_given_up_at_once() {
    // The listener takes connections and never answers; the second address is closed.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let silent = listener.local_addr().expect("an address");
    let closed = std::net::TcpListener::bind("127.0.0.1:0")
        .and_then(|gone| gone.local_addr())
        .expect("an address");
    for address in [silent, closed] {
        let base: BaseUrl = format!("http://{address}").parse().expect("a url");
        let start = std::time::Instant::now();
        assert_eq!(runtime().block_on(detect(&client(), &base)), None);
        assert!(
            start.elapsed() < Duration::from_secs(4),
            "{:?}",
            start.elapsed()
        );
    }
}

#[test]
fn answers_are_read_without_a_server_too() {
    let models = lm_studio_models(&lm_studio()).expect("models");
    let [model] = models.as_slice() else {
        panic!("one model: {models:?}");
    };
    assert_eq!(model.loaded_window, Some(65536));
    assert_eq!(model.max_window, Some(131072));
    assert_eq!(model.efforts, ["off", "on"]);
    assert_eq!(lm_studio_models(&json!({"models": [{"name": "x"}]})), None);
    assert_eq!(
        llama_cpp_window(&json!({"default_generation_settings": {}, "n_ctx": 512})),
        Some(512)
    );
    assert_eq!(llama_cpp_window(&json!({})), None);
}

// PV-23: what is nearby needs no key and is waited for longer.
#[test]
fn nearby_is_this_machine_and_its_own_network() {
    let near = |host: &str| is_local(&format!("http://{host}/v1").parse().unwrap());
    for host in [
        "127.0.0.1:8080",
        "localhost",
        "box.localhost",
        "[::1]:1234",
        "10.1.2.3",
        "172.16.0.9",
        "192.168.1.5",
        "169.254.3.4",
        "100.64.0.7",
        "100.127.255.254",
        "[fd00::1]",
        "[fe80::1]",
        "[::ffff:192.168.1.5]",
        "workstation:11434",
        "host.docker.internal:11434",
        "host.containers.internal",
        "host.lima.internal",
    ] {
        assert!(near(host), "{host}");
    }
    for host in [
        "api.example.com",
        "8.8.8.8",
        "172.32.0.1",
        "100.128.0.1",
        "[2001:db8::1]",
        "[::ffff:8.8.8.8]",
        "docker.internal.example.com",
        "evil-docker.internal.test",
    ] {
        assert!(!near(host), "{host}");
    }
}

// PV-1, PV-12, PV-23: the models of Ollama Cloud differ in what they can do, and are asked about it.
#[test]
fn a_hosted_model_of_ollama_is_asked_for_thoughts_only_where_it_thinks() {
    let prepared = |abilities: &[&str], window: &str| {
        let config = format!("model: {{provider: ollama-cloud, default: qwen3{window}}}");
        let setup = Setup::new(&config, &[("OLLAMA_API_KEY", "key-0123456789")]);
        let mut route = setup.resolve().route;
        let show = json!({"model_info": {"q.context_length": 70_000}, "capabilities": abilities});
        at(&[("/api/show", show)], async |base| {
            if let Endpoint::Http(address) = &mut route.endpoint {
                address.base = base;
            }
            prepare(&client(), route, None, Reach::Look).await.route
        })
    };
    let thinks = prepared(&["completion", "tools", "thinking"], "");
    assert!(matches!(
        thinks.quirks.reasoning,
        ReasoningStyle::Effort { .. }
    ));
    assert!(!thinks.quirks.no_tools && thinks.quirks.no_images);
    let found = (thinks.limits.window, thinks.limits.window_from);
    assert_eq!(found, (70_000, WindowSource::Endpoint));
    // It stays on the interface that everybody speaks.
    assert_eq!(thinks.quirks.ollama_window, None);

    let plain = prepared(&["completion", "vision"], ", context_length: 9000");
    assert_eq!(plain.quirks.reasoning, ReasoningStyle::Omit);
    assert!(plain.quirks.no_tools && !plain.quirks.no_images);
    assert_eq!(plain.limits.window, 9_000);
}
