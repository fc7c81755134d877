//! A key goes to its own origin and nowhere else.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use hermes_llm::profile::Profiles;
use hermes_llm::resolve::{Credential, KeySource, ResolveError, Resolved, resolve};
use hermes_secrets::Origin;
use hermes_testkit::model_server::{ModelServer, Scenario};

use crate::suite::profiles::{Setup, ask, base_of, runtime};

fn all_canaries() -> Vec<(String, String)> {
    let mut canaries = Vec::new();
    for id in Profiles::built_in() {
        let profile = Profiles::new(None)
            .get(id)
            .expect("it parses")
            .expect("it is there");
        for name in &profile.key_env {
            canaries.push((name.clone(), format!("canary-{name}-0123456789")));
        }
    }
    canaries
}

fn secret(resolved: &Resolved) -> &hermes_secrets::Secret {
    match &resolved.key {
        Credential::Key { secret, .. } => secret,
        other => panic!("no key: {other:?}"),
    }
}

// PV-3
#[test]
fn with_every_key_set_each_provider_gets_its_own_and_binds_it() {
    let canaries = all_canaries();
    let mut variables: Vec<_> = canaries
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    variables.push((
        "AZURE_FOUNDRY_BASE_URL",
        "https://x.openai.azure.com/openai/v1",
    ));
    for id in Profiles::built_in() {
        let profile = Profiles::new(None)
            .get(id)
            .expect("it parses")
            .expect("it is there");
        let Some(first) = profile.key_env.first() else {
            continue;
        };
        let setup = Setup::new(
            &format!("model: {{provider: {id}, default: m1}}"),
            &variables,
        );
        let resolved = setup.resolve();
        let secret = secret(&resolved);
        let own: Origin = base_of(&resolved).parse().expect("an origin");
        let canary = format!("canary-{first}-0123456789");
        assert_eq!(
            secret.expose_for(&own).expect("its own origin"),
            canary,
            "{id}"
        );
        for other in [
            "https://openrouter.ai",
            "https://api.deepseek.com",
            "https://evil.test",
        ] {
            let other: Origin = other.parse().expect("an origin");
            assert!(
                other == own || secret.expose_for(&other).is_err(),
                "{id} {other}"
            );
        }
        let shown = format!("{resolved:?}");
        assert!(!shown.contains("canary-"), "{id} shows its key");
    }
}

// PV-3
#[test]
fn a_redirect_to_another_host_does_not_take_the_key_along() {
    let other = ModelServer::start(Scenario::echo().lenient()).expect("a server");
    let target = format!("{}/v1/chat/completions", other.origin());
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let base = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut head = [0_u8; 4096];
        let read = stream.read(&mut head).expect("a request");
        let answer = format!(
            "HTTP/1.1 307 Temporary Redirect\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n"
        );
        stream.write_all(answer.as_bytes()).expect("an answer");
        String::from_utf8_lossy(&head[..read]).into_owned()
    });
    let setup = Setup::new(
        "model: {provider: deepseek}",
        &[
            ("DEEPSEEK_API_KEY", "canary-0123456789"),
            ("DEEPSEEK_BASE_URL", &base),
        ],
    );
    runtime().block_on(ask(setup.resolve()));
    let first = answering.join().expect("the first server");
    assert!(first.contains("canary-0123456789"), "{first}");
    for request in other.requests() {
        let all = format!(
            "{:?} {}",
            request.headers,
            String::from_utf8_lossy(&request.body)
        );
        assert!(!all.contains("canary-"), "{all}");
    }
}

// PV-3
#[test]
fn a_key_from_the_environment_does_not_follow_a_foreign_address() {
    let config = "model: {provider: openrouter, default: m1, base_url: 'https://evil.test/v1'}";
    let setup = Setup::new(config, &[("OPENROUTER_API_KEY", "or-0123456789")]);
    let error = resolve(&setup.request()).expect_err("a foreign address");
    assert!(matches!(error, ResolveError::ForeignKey { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "the key in OPENROUTER_API_KEY belongs to OpenRouter, not to evil.test"
    );
    for (config, variables) in [
        (
            "model: {provider: openrouter, default: m1}\nproviders: {openrouter: {base_url: 'https://proxy.test/v1'}}",
            vec![("OPENROUTER_API_KEY", "or-0123456789")],
        ),
        (
            "model: {provider: openrouter, default: m1}",
            vec![
                ("OPENROUTER_API_KEY", "or-0123456789"),
                ("OPENROUTER_BASE_URL", "https://proxy.test/v1"),
            ],
        ),
    ] {
        let resolved = Setup::new(config, &variables).resolve();
        assert_eq!(base_of(&resolved), "https://proxy.test/v1");
        let own: Origin = "https://proxy.test".parse().expect("an origin");
        assert!(secret(&resolved).expose_for(&own).is_ok());
    }
}

// PV-3
#[test]
fn a_key_goes_to_the_origin_of_its_provider_not_to_its_host() {
    let variables = &[
        ("GROQ_API_KEY", "groq-0123456789"),
        ("OPENAI_API_KEY", "oa-0123456789"),
        ("AWS_BEARER_TOKEN_BEDROCK", "aws-0123456789"),
    ];
    for (provider, url) in [
        ("openai-api", "http://api.openai.com/v1"),
        ("openai-api", "https://api.openai.com:8443/v1"),
        ("custom", "http://api.openai.com/v1"),
        ("custom", "https://api.openai.com:8443/v1"),
        ("custom", "http://api.groq.com/openai/v1"),
        ("bedrock", "http://bedrock-runtime.eu-west-1.amazonaws.com"),
    ] {
        let config = format!("model: {{provider: {provider}, default: m1, base_url: '{url}'}}");
        let setup = Setup::new(&config, variables);
        let error = resolve(&setup.request()).expect_err(url);
        let is_unsafe = matches!(error, ResolveError::UnsafePlace { .. });
        assert!(is_unsafe, "{provider} {url}: {error}");
        assert!(error.hint().contains("https://"), "{}", error.hint());
        // Who says it beside the address has said it.
        let config = config.replace('}', ", api_key: own-0123456789}");
        let resolved = Setup::new(&config, variables).resolve();
        let origin = url.parse().expect("an origin");
        assert!(secret(&resolved).expose_for(&origin).is_ok(), "{url}");
    }
    let bucket = "https://bedrock-runtime.s3.amazonaws.com";
    let config = format!("model: {{provider: bedrock, default: m1, base_url: '{bucket}'}}");
    let error = resolve(&Setup::new(&config, variables).request()).expect_err("a bucket");
    assert!(matches!(error, ResolveError::ForeignKey { .. }), "{error}");
}

#[test]
fn variables_are_scoped_by_the_host_of_an_endpoint() {
    let variables = &[
        ("GROQ_API_KEY", "groq-0123456789"),
        ("OPENAI_API_KEY", "oa-0123456789"),
        ("OLLAMA_API_KEY", "ol-0123456789"),
        ("EXAMPLE_API_KEY", "ex-0123456789"),
    ];
    for (url, variable) in [
        ("https://api.groq.com/openai/v1", Some("GROQ_API_KEY")),
        ("https://llm.example.co.uk/v1", Some("EXAMPLE_API_KEY")),
        ("https://api.openai.com/v1", Some("OPENAI_API_KEY")),
        ("https://openai.evil.test/v1", None),
        ("https://ollama.com/v1", Some("OLLAMA_API_KEY")),
        ("http://127.0.0.1:11434/v1", None),
        ("http://ollama:11434/v1", None),
    ] {
        let config = format!("model: {{provider: custom, default: m1, base_url: '{url}'}}");
        let resolved = Setup::new(&config, variables).resolve();
        let found = match &resolved.key {
            Credential::Key {
                from: KeySource::Variable(name),
                ..
            } => Some(name.as_str()),
            _ => None,
        };
        assert_eq!(found, variable, "{url}");
    }
}

#[test]
fn keys_of_the_wrong_kind_are_refused_with_the_reason() {
    for (provider, variable, key, said) in [
        (
            "anthropic",
            "ANTHROPIC_API_KEY",
            "sk-ant-oat01-0123456789",
            "subscription token",
        ),
        ("kimi", "KIMI_API_KEY", "sk-kimi-0123456789", "coding plan"),
    ] {
        let config = format!("model: {{provider: {provider}}}");
        let setup = Setup::new(&config, &[(variable, key)]);
        let error = resolve(&setup.request()).expect_err("a key of the wrong kind");
        assert!(error.to_string().contains(said), "{error}");
        assert!(!error.to_string().contains("0123456789"), "{error}");
    }
}
