//! What `hermes model list` makes of the lists of single providers.

use hermes_testkit::model_server::{ModelServer, Scenario, Step, error, json as reply, text};
use serde_json::{Value as Json, json};

use super::program::Program;

fn listing(path: &str, body: Json) -> ModelServer {
    let scenario = Scenario::new().route("GET", path, [Step::new(reply(body)).repeat()]);
    ModelServer::start(scenario).unwrap()
}

fn listed(program: &Program, provider: &str) -> Vec<String> {
    let list = [
        "model",
        "list",
        "--provider",
        provider,
        "--refresh",
        "--json",
    ];
    let document = program.run(&list).ok().json();
    assert_eq!(document["source"], "the provider", "{document:#}");
    let models = document["models"].as_array().unwrap().iter();
    models
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

// PV-26, PV-28
#[test]
fn the_models_of_openrouter_are_listed_without_a_key_and_without_those_that_use_no_tools() {
    let server = listing(
        "/v1/models",
        json!({"data": [
            {"id": "a/with-tools", "supported_parameters": ["max_tokens", "tools"]},
            {"id": "b/without", "supported_parameters": ["max_tokens"]},
            {"id": "c/unknown"},
        ]}),
    );
    let program = Program::new();
    let address = format!("OPENROUTER_BASE_URL={}\n", server.base_url());
    program.home.write_env(&address).unwrap();
    assert_eq!(
        listed(&program, "openrouter"),
        ["a/with-tools", "c/unknown"]
    );
    assert_eq!(server.requests()[0].header("authorization"), None);
    // One that is there is sent.
    let key = "OPENROUTER_API_KEY=sk-or-1234567890";
    program
        .home
        .write_env(&format!("{address}{key}\n"))
        .unwrap();
    assert_eq!(listed(&program, "openrouter").len(), 2);
    assert_eq!(
        server.requests()[1].header("authorization"),
        Some("Bearer sk-or-1234567890")
    );
}

// PV-26: another account may have other models.
#[test]
fn a_list_is_kept_for_the_key_it_was_asked_with() {
    let server = listing("/v1/models", json!({"data": [{"id": "talker"}]}));
    let program = Program::new();
    let source = |key: &str| {
        let base = server.base_url();
        let variables = format!("DEEPINFRA_API_KEY={key}\nDEEPINFRA_BASE_URL={base}\n");
        program.home.write_env(&variables).unwrap();
        let list = ["model", "list", "--provider", "deepinfra", "--json"];
        let source = program.run(&list).ok().json()["source"].clone();
        source.as_str().unwrap().to_owned()
    };
    let (one, other) = ("key-one-1234567890", "key-two-1234567890");
    assert_eq!(source(one), "the provider");
    assert!(source(one).starts_with("its last answer"));
    assert_eq!(source(other), "the provider");
    assert!(source(other).starts_with("its last answer"));
    assert_eq!(server.requests().len(), 2);
    let kept = program.home.read("cache/models/deepinfra.json").unwrap();
    assert!(!kept.contains(other), "{kept}");
}

// PV-26
#[test]
fn the_models_of_deepinfra_are_those_to_talk_to() {
    let server = listing(
        "/v1/models",
        json!({"data": [
            {"id": "talker", "metadata": {"tags": ["chat", "vision"]}},
            {"id": "painter", "metadata": {"tags": ["image"]}},
            {"id": "plain", "metadata": {"context_length": 4096}},
        ]}),
    );
    let program = Program::new();
    program
        .home
        .write_env(&format!(
            "DEEPINFRA_API_KEY=key-1234567890\nDEEPINFRA_BASE_URL={}\n",
            server.base_url()
        ))
        .unwrap();
    assert_eq!(listed(&program, "deepinfra"), ["plain", "talker"]);
}

const MODELS: &str = "/foundation-models";
const PROFILES: &str = "/inference-profiles";

fn amazon(profiles: Step) -> ModelServer {
    let model = |id: &str, maker: &str, more: Json| {
        let mut entry = json!({
            "modelId": id, "providerName": maker, "outputModalities": ["TEXT"],
            "responseStreamingSupported": true, "inferenceTypesSupported": ["ON_DEMAND"],
            "modelLifecycle": {"status": "ACTIVE"},
        });
        entry
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        entry
    };
    let models = json!({"modelSummaries": [
        model("amazon.nova-pro-v1:0", "Amazon", json!({})),
        model("amazon.old", "Amazon", json!({"modelLifecycle": {"status": "LEGACY"}})),
        model("amazon.painter", "Amazon", json!({"outputModalities": ["IMAGE"]})),
        model("amazon.whole", "Amazon", json!({"responseStreamingSupported": false})),
        model("anthropic.claude-x", "Anthropic", json!({"inferenceTypesSupported": ["INFERENCE_PROFILE"]})),
    ]});
    let scenario = Scenario::new()
        .route("GET", MODELS, [Step::new(reply(models)).repeat()])
        .route("GET", PROFILES, [profiles.repeat()])
        .reply(Step::new(text("ok")).repeat());
    ModelServer::start(scenario).unwrap()
}

fn bedrock(server: &ModelServer, keys: &str, config: &str) -> Program {
    let program = Program::new();
    let place = format!(
        "BEDROCK_BASE_URL={}\nAWS_REGION=eu-west-1\n",
        server.origin()
    );
    program.home.write_env(&format!("{place}{keys}")).unwrap();
    program.home.write_config(config).unwrap();
    program
}

// PV-26
#[test]
fn the_models_of_an_account_of_aws_are_those_that_can_be_called_and_stream_text() {
    let profiles = json!({"inferenceProfileSummaries": [
        {"inferenceProfileId": "eu.anthropic.claude-x", "status": "ACTIVE"},
        {"inferenceProfileId": "eu.meta.gone", "status": "INACTIVE"},
    ]});
    let server = amazon(Step::new(reply(profiles)));
    let pair = "AWS_ACCESS_KEY_ID=AKIDLIST\nAWS_SECRET_ACCESS_KEY=secret-of-the-list\n";
    let program = bedrock(&server, pair, "");
    assert_eq!(
        listed(&program, "bedrock"),
        ["amazon.nova-pro-v1:0", "eu.anthropic.claude-x"]
    );
    for request in server.requests() {
        let signed = request
            .header("authorization")
            .unwrap_or_default()
            .to_owned();
        assert!(signed.contains("Credential=AKIDLIST/"), "{signed}");
        assert!(
            signed.contains("/eu-west-1/bedrock/aws4_request"),
            "{signed}"
        );
        assert!(!signed.contains("secret-of-the-list"));
    }
    let only = "bedrock: {discovery: {provider_filter: [anthropic]}}\n";
    let program = bedrock(&server, pair, only);
    assert_eq!(listed(&program, "bedrock"), ["eu.anthropic.claude-x"]);
    let asked = server.requests().len();
    let program = bedrock(&server, pair, "bedrock: {discovery: {enabled: false}}\n");
    let output = program
        .run(&["model", "list", "--provider", "bedrock"])
        .ok();
    assert!(
        output.stderr.contains("bedrock.discovery.enabled"),
        "{}",
        output.stderr
    );
    assert_eq!(server.requests().len(), asked, "nobody was asked");
}

// PV-26
#[test]
fn who_may_not_list_profiles_still_sees_models_and_a_refusal_is_said() {
    let server = amazon(Step::new(error(403)));
    let program = bedrock(&server, "AWS_BEARER_TOKEN_BEDROCK=bearer-1234567890\n", "");
    assert_eq!(listed(&program, "bedrock"), ["amazon.nova-pro-v1:0"]);
    let bearer = Some("Bearer bearer-1234567890");
    assert_eq!(server.requests()[0].header("authorization"), bearer);
    let refusing = Scenario::new().route("GET", MODELS, [Step::new(error(403)).repeat()]);
    let server = ModelServer::start(refusing).unwrap();
    let program = bedrock(&server, "AWS_BEARER_TOKEN_BEDROCK=bearer-1234567890\n", "");
    let output = program
        .run(&["model", "list", "--provider", "bedrock"])
        .ok();
    assert!(
        output.stdout.contains("amazon.nova-pro-v1:0"),
        "{}",
        output.stdout
    );
    assert!(output.stderr.contains("403"), "{}", output.stderr);
}

// PV-28
#[test]
fn variables_decide_about_the_cache_of_openrouter() {
    let scenario = Scenario::new()
        .reply(Step::new(text("ok")).repeat())
        .extra_keys(["session_id", "reasoning"]);
    let server = ModelServer::start(scenario).unwrap();
    let program = Program::new();
    program
        .home
        .write_env(&format!(
            "OPENROUTER_API_KEY=sk-or-1234567890\nOPENROUTER_BASE_URL={}\n",
            server.base_url()
        ))
        .unwrap();
    program
        .home
        .write_config("model: {provider: openrouter, default: z-ai/glm-5.2}\n")
        .unwrap();
    for (variable, expected) in [
        (None, Some("300")),
        (Some(("HERMES_OPENROUTER_CACHE_TTL", "45")), Some("45")),
        (Some(("HERMES_OPENROUTER_CACHE", "false")), None),
    ] {
        let mut command = program.command(&["-z", "hello"]);
        if let Some((name, value)) = variable {
            command = command.env(name, value);
        }
        command.run().unwrap().ok();
        let sent = server.requests().pop().unwrap();
        assert_eq!(
            sent.header("x-openrouter-cache-ttl"),
            expected,
            "{variable:?}"
        );
        let on = sent.header("x-openrouter-cache").is_some();
        assert_eq!(on, expected.is_some());
    }
}

// PV-22, AG-25
#[test]
fn what_a_list_says_about_windows_and_prices_is_kept_and_used() {
    let listing = json!({"data": [{"id": "x-ai/grok-4-fast", "context_length": 2_000_000,
        "pricing": {"prompt": "0.0000002", "completion": "0.0000005"}}]});
    let server = self::listing("/v1/models", listing);
    let program = Program::new();
    let lab = format!(
        "providers: {{lab: {{base_url: '{}', model: big}}}}\n",
        server.base_url()
    );
    program.home.write_config(&lab).unwrap();
    program
        .run(&["model", "list", "--provider", "custom:lab"])
        .ok();
    let kept = program.home.read("cache/models/custom_lab.json").unwrap();
    let kept: Json = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["facts"]["x-ai/grok-4-fast"]["window"], 2_000_000);
    assert_eq!(kept["facts"]["x-ai/grok-4-fast"]["price"]["output"], 0.5);

    // The same answer, as if it had come from far away.
    let mut far = kept;
    far["address"] = json!("https://openrouter.ai/api/v1");
    program
        .home
        .write("cache/models/openrouter.json", far.to_string())
        .unwrap();
    let config = "model: {provider: openrouter, default: x-ai/grok-4-fast}\n";
    program.home.write_config(config).unwrap();
    let why = program
        .command(&["model", "--why"])
        .env("OPENROUTER_API_KEY", "or-0123456789")
        .run()
        .unwrap()
        .ok();
    assert!(why.stdout.contains("2000000"), "{}", why.stdout);
    assert!(
        why.stdout.contains("reported by the server"),
        "{}",
        why.stdout
    );
}

// PV-26
#[test]
fn an_endpoint_that_is_not_to_be_asked_shows_the_models_that_are_named() {
    let server = listing("/v1/models", json!({"data": [{"id": "hidden"}]}));
    let program = Program::new();
    let config = format!(
        "providers: {{lab: {{base_url: '{}', models: [big, small], discover_models: false}}}}\n",
        server.base_url()
    );
    program.home.write_config(&config).unwrap();
    let list = ["model", "list", "--provider", "custom:lab", "--refresh"];
    let output = program.run(&list).ok();
    assert_eq!(output.stdout, "big\nsmall\n");
    assert!(
        output.stderr.contains("discover_models"),
        "{}",
        output.stderr
    );
    assert!(server.requests().is_empty());
}

// PV-26, PV-33: what an agent cannot work with is not offered, and can be asked for all the same.
#[test]
fn models_that_a_provider_is_not_known_for_are_left_out_of_its_list() {
    let data = json!({"data": [{"id": "big"}, {"id": "Hermes-4-405B"}, {"id": "lab/hermes-4"}]});
    let server = listing("/v1/models", data);
    let program = Program::new();
    let profile = format!(
        "id: acme\nname: Acme\nbase_url: {}\nkey: optional\nprotocol: chat_completions\nunlisted: ['hermes*']\n",
        server.base_url()
    );
    let place = "plugins/model-providers/acme/profile.yaml";
    program.home.write(place, profile).unwrap();
    let listed = program.stdout(&["model", "list", "--provider", "acme"]);
    assert_eq!(listed, "big\nlab/hermes-4\n");
    let named = ["model", "--why", "--json", "-m", "acme:Hermes-4-405B"];
    assert_eq!(program.run(&named).ok().json()["model"], "Hermes-4-405B");
}
