//! Endpoints of the user's own, and chains of models.

use std::time::Duration;

use hermes_core::WireProtocol;
use hermes_llm::resolve::{Credential, Flags, KeySource, ResolveError, fallbacks, resolve};

use crate::suite::profiles::{Setup, base_of, http_of};

const AS_MAP: &str = "
model: {provider: 'custom:my-lab', default: ''}
providers:
  my-lab:
    name: My Lab
    ENTRY
";
const AS_LIST: &str = "
model: {provider: My Lab, default: ''}
custom_providers:
  - name: My Lab
    ENTRY
";

// PV-20
#[test]
fn both_shapes_have_one_order_of_keys() {
    let variables = &[
        ("LAB_KEY", "named-0123456789"),
        ("EXAMPLE_API_KEY", "scoped-0123456789"),
    ];
    for shape in [AS_MAP, AS_LIST] {
        let of = |entry: &str, flag: Option<&'static str>| {
            let address = "base_url: https://api.example.com/v1\n    model: big\n    ";
            let config = shape.replace("ENTRY", &format!("{address}{entry}"));
            let setup = Setup::new(&config, variables);
            let mut request = setup.request();
            request.flags = Flags {
                api_key: flag,
                ..Flags::default()
            };
            let resolved = resolve(&request).map_err(|error| error.to_string())?;
            assert_eq!(resolved.route.label(), "custom:my-lab/big");
            match resolved.key {
                Credential::Key { from, .. } => Ok(from),
                other => panic!("no key: {other:?}"),
            }
        };
        let variable = |name: &str| Ok(KeySource::Variable(name.to_owned()));
        let both = "key_env: LAB_KEY\n    api_key: written-0123456789";
        assert_eq!(of(both, Some("flag-0123456789")), Ok(KeySource::Flag));
        assert_eq!(of(both, None), variable("LAB_KEY"));
        assert_eq!(of("api_key_env: LAB_KEY", None), variable("LAB_KEY"));
        assert_eq!(of("keyEnv: LAB_KEY", None), variable("LAB_KEY"));
        let written = of("key_env: GONE\n    api_key: written-0123456789", None);
        assert_eq!(
            written,
            Ok(KeySource::Setting("providers.my-lab.api_key".to_owned()))
        );
        assert_eq!(of("", None), variable("EXAMPLE_API_KEY"));
        assert_eq!(
            of("key_env: GONE", None),
            Err("My Lab needs a key".to_owned())
        );
    }
}

// PV-20
#[test]
fn everything_an_endpoint_says_reaches_the_route() {
    let setup = Setup::new(
        "
providers:
  lab:
    url: http://localhost:8123/api?tenant=7
    transport: anthropic_messages
    default_model: big
    context_length: 50000
    max_output_tokens: 900
    request_timeout_seconds: 77
    stale_timeout_seconds: 33
    extra_body: {mode: fast}
    extra_headers: {X-Team: red}
    models:
      big: {context_length: 60000, supports_vision: false, timeout_seconds: 88}
model: {provider: lab}
",
        &[],
    );
    let resolved = setup.resolve();
    let (route, address) = (&resolved.route, http_of(&resolved));
    assert_eq!(route.label(), "custom:lab/big");
    assert_eq!(base_of(&resolved), "http://127.0.0.1:8123/api");
    assert_eq!(address.query, [("tenant".to_owned(), "7".to_owned())]);
    assert_eq!(address.protocol, WireProtocol::Anthropic);
    assert!(address.local);
    assert_eq!(route.limits.window, 60_000);
    assert_eq!(route.limits.output, Some(900));
    assert_eq!(route.patience.total, Some(Duration::from_secs(88)));
    assert_eq!(route.patience.stale, Some(Duration::from_secs(33)));
    assert_eq!(route.quirks.extra_body["mode"], "fast");
    assert!(route.quirks.no_images);
    let team = address.headers.iter().find(|(name, _)| name == "x-team");
    assert_eq!(team.map(|(_, value)| value.as_str()), Some("red"));
    assert!(matches!(resolved.key, Credential::None));
}

#[test]
fn a_built_in_name_is_shadowed_only_behind_custom() {
    let config = "
providers:
  deepseek: {base_url: 'http://10.0.0.1/v1', key_env: LAB_KEY, model: mine}
";
    let variables = &[("LAB_KEY", "lab-0123456789")];
    let setup = Setup::new(config, variables);
    for (typed, label) in [
        ("deepseek:deepseek-chat", "deepseek/deepseek-chat"),
        ("custom:deepseek:other", "custom:deepseek/other"),
        ("custom:deepseek", "custom:deepseek/mine"),
    ] {
        let mut request = setup.request();
        request.flags.model = Some(typed);
        let resolved = resolve(&request).expect(typed);
        assert_eq!(resolved.route.label(), label);
        assert_eq!(base_of(&resolved), "http://10.0.0.1/v1");
    }
    let local = Setup::new(
        "providers: {local: {base_url: 'http://127.0.0.1:9/v1', model: m}}\nmodel: {provider: local}",
        &[],
    );
    assert_eq!(local.resolve().route.label(), "custom:local/m");
}

#[test]
fn local_servers_have_their_usual_places() {
    for (config, base) in [
        (
            "model: {provider: ollama, default: m}",
            "http://127.0.0.1:11434/v1",
        ),
        (
            "model: {provider: vllm, default: m}",
            "http://127.0.0.1:8000/v1",
        ),
        (
            "model: {provider: lmstudio, default: m}",
            "http://127.0.0.1:1234/v1",
        ),
        (
            "model: {provider: lmstudio, default: m, base_url: 'http://localhost:9999'}",
            "http://127.0.0.1:9999/v1",
        ),
        (
            "model: {provider: ollama, default: m, base_url: 'http://gpu-box:11434'}",
            "http://gpu-box:11434/v1",
        ),
    ] {
        let resolved = Setup::new(config, &[]).resolve();
        assert_eq!(base_of(&resolved), base);
        assert!(resolved.route.is_local());
    }
    let asked = "model: {provider: ollama, default: m, ollama_num_ctx: 65536}";
    let resolved = Setup::new(asked, &[]).resolve();
    assert_eq!(
        resolved.route.quirks.extra_body["options"]["num_ctx"],
        65536
    );
    assert_eq!(resolved.route.limits.window, 65536);
}

// PV-2
#[test]
fn what_is_set_for_one_local_server_says_nothing_about_another() {
    let ollama = "{provider: ollama, default: qwen3, base_url: 'http://gpu-box:11434', \
                  api_key: ol-0123456789, context_length: 9000}";
    let nameless = "{provider: custom, default: qwen3, base_url: 'http://gpu-box:9'}";
    for (model, provider, wanted) in [
        (ollama, "vllm", Ok("http://127.0.0.1:8000/v1")),
        (ollama, "llamacpp", Ok("http://127.0.0.1:8080/v1")),
        (ollama, "Ollama", Ok("http://gpu-box:11434/v1")),
        (ollama, "custom", Err("no address")),
        (nameless, "ollama", Ok("http://127.0.0.1:11434/v1")),
        (nameless, "custom", Ok("http://gpu-box:9/v1")),
    ] {
        let setup = Setup::new(&format!("model: {model}"), &[]);
        let mut request = setup.request();
        request.flags.provider = Some(provider);
        request.flags.model = Some("qwen3");
        let is_same = matches!(wanted, Ok(base) if base.contains("gpu-box"));
        match (resolve(&request), wanted) {
            (Ok(found), Ok(base)) => {
                assert_eq!(base_of(&found), base, "{provider}");
                assert_eq!(found.route.provider, provider.to_lowercase());
                let has_key = matches!(found.key, Credential::Key { .. });
                assert_eq!(has_key, is_same && model == ollama, "{provider}");
                assert_eq!(found.route.limits.window == 9_000, has_key, "{provider}");
            }
            (Err(error), Err(words)) => assert!(error.to_string().contains(words), "{error}"),
            (found, wanted) => panic!("{provider}: {found:?} in place of {wanted:?}"),
        }
    }
}

// PV-18
#[test]
fn every_entry_of_the_chain_is_a_whole_route_of_its_own() {
    let setup = Setup::new(
        "
model: {provider: deepseek, default: deepseek-chat, extra_headers: {X-Main: '1'}}
providers:
  lab: {base_url: 'http://10.0.0.1/v1', extra_headers: {X-Lab: '1'}}
fallback_providers:
  - {provider: claude, model: claude-opus-4.6, max_tokens: 777}
  - {provider: custom, model: m1, base_url: 'http://10.0.0.2/api', api_mode: anthropic_messages, key_env: SPARE_KEY}
  - {provider: lab, model: m2, extra_headers: {X-Spare: '2'}}
  - {provider: anthropic, model: claude-opus-4-6}
  - {provider: deepseek, model: deepseek-chat}
  - {provider: zai, model: glm-5.2}
fallback_model: {provider: lab, model: m2}
",
        &[
            ("DEEPSEEK_API_KEY", "ds-0123456789"),
            ("ANTHROPIC_API_KEY", "an-0123456789"),
            ("SPARE_KEY", "sp-0123456789"),
        ],
    );
    let chain = fallbacks(&setup.request());
    let labels: Vec<_> = chain
        .iter()
        .map(|next| match next {
            Ok(next) => next.route.label(),
            Err(error) => error.to_string(),
        })
        .collect();
    assert_eq!(
        labels,
        [
            "anthropic/claude-opus-4-6",
            "custom/m1",
            "custom:lab/m2",
            "Z.AI needs a key"
        ]
    );
    let Ok([claude, plain, lab]) =
        <[_; 3]>::try_from(chain.into_iter().filter_map(Result::ok).collect::<Vec<_>>())
    else {
        panic!("three routes");
    };
    assert_eq!(http_of(&claude).protocol, WireProtocol::Anthropic);
    assert_eq!(claude.route.limits.output, Some(777));
    assert!(
        http_of(&claude).headers.is_empty(),
        "the main model's headers stay with it"
    );
    assert_eq!(http_of(&plain).protocol, WireProtocol::Anthropic);
    assert_eq!(base_of(&plain), "http://10.0.0.2/api");
    let from = KeySource::Variable("SPARE_KEY".to_owned());
    assert!(matches!(&plain.key, Credential::Key { from: found, .. } if *found == from));
    let headers = http_of(&lab).headers.iter();
    let headers: Vec<_> = headers
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(headers, [("x-lab", "1"), ("x-spare", "2")]);
    assert!(
        http_of(&plain).headers.is_empty(),
        "those of an entry stay with it"
    );
    assert_eq!(lab.route.limits.output, None);
}

// PV-28
#[test]
fn settings_of_openrouter_and_bedrock_reach_the_request() {
    let setup = Setup::new(
        "
model: {provider: openrouter, default: openrouter/pareto-code}
provider_routing: {sort: throughput, only: [a], data_collection: deny}
openrouter: {response_cache_ttl: 60}
",
        &[("OPENROUTER_API_KEY", "or-0123456789")],
    );
    let resolved = setup.resolve();
    let body = serde_json::Value::Object(resolved.route.quirks.extra_body.clone());
    assert_eq!(
        body["provider"],
        serde_json::json!({"only": ["a"], "sort": "throughput", "data_collection": "deny"})
    );
    assert_eq!(body["plugins"][0]["min_coding_score"], 0.65);
    let headers = &http_of(&resolved).headers;
    let has = |name: &str, value: &str| headers.iter().any(|(n, v)| n == name && v == value);
    assert!(has("x-openrouter-cache", "true") && has("x-openrouter-cache-ttl", "60"));
    assert!(has("x-title", "Hermes Agent"));

    let setup = Setup::new(
        "
model: {provider: aws}
bedrock: {region: eu-west-1, guardrail: {guardrail_identifier: g1, guardrail_version: '2'}}
",
        &[
            ("AWS_ACCESS_KEY_ID", "AKIA0123456789"),
            ("AWS_SECRET_ACCESS_KEY", "aws-0123456789"),
            ("AWS_SESSION_TOKEN", "session-0123456789"),
        ],
    );
    let resolved = setup.resolve();
    assert_eq!(
        base_of(&resolved),
        "https://bedrock-runtime.eu-west-1.amazonaws.com"
    );
    let guardrail = &resolved.route.quirks.extra_body["guardrailConfig"];
    assert_eq!(guardrail["guardrailIdentifier"], "g1");
    let Credential::Key { secret, .. } = &resolved.key else {
        panic!("no key pair: {:?}", resolved.key);
    };
    let origin = base_of(&resolved).parse().expect("an origin");
    assert_eq!(
        secret.expose_for(&origin).expect("its own origin"),
        "AKIA0123456789\naws-0123456789\nsession-0123456789"
    );
    let why = resolved.route.why.iter().find(|why| why.part == "key");
    assert_eq!(why.map(|why| why.value.as_str()), Some("***"));
}

#[test]
fn what_is_not_built_in_is_said() {
    let keys = [
        ("OPENAI_API_KEY", "oa-0123456789"),
        ("DEEPSEEK_API_KEY", "ds-0123456789"),
    ];
    for setting in ["api_mode", "openai_runtime"] {
        let config =
            format!("model: {{provider: openai, default: gpt-5.5, {setting}: codex_app_server}}");
        let setup = Setup::new(&config, &keys);
        let error = resolve(&setup.request()).expect_err("not built in");
        assert!(matches!(error, ResolveError::Unsupported { .. }), "{error}");
        assert!(error.hint().contains(setting), "{}", error.hint());
    }
    // It never meant the models of others.
    let config = "model: {provider: deepseek, openai_runtime: codex_app_server}";
    let resolved = Setup::new(config, &keys).resolve();
    assert_eq!(resolved.route.label(), "deepseek/deepseek-chat");
}
