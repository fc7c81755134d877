//! From settings, variables, logins and flags to a route.

mod aliases;
mod auxiliary;
mod endpoints;
mod keys;
mod protocols;

use std::path::Path;

use hermes_llm::profile::Profiles;
use hermes_llm::resolve::{Flags, ResolveError, addresses, resolve};

use super::profiles::{Setup, base_of, http_of};

#[derive(Default)]
struct Case {
    config: &'static str,
    variables: &'static [(&'static str, &'static str)],
    logins: &'static [&'static str],
    model: Option<&'static str>,
    provider: Option<&'static str>,
    embedded: bool,
}

/// `provider model`, or the error and its hint.
fn outcome(case: &Case) -> String {
    let setup = Setup::new(case.config, case.variables);
    let logins: Vec<_> = case.logins.iter().map(|&id| id.to_owned()).collect();
    let mut request = setup.request();
    request.logins = &logins;
    request.embedded = case.embedded.then(|| Path::new("/models/smollm2.gguf"));
    request.flags = Flags {
        model: case.model,
        provider: case.provider,
        ..Flags::default()
    };
    match resolve(&request) {
        Ok(resolved) => format!("{} {}", resolved.route.provider, resolved.route.model),
        Err(error) => format!("{error}; {}", error.hint()),
    }
}

fn expect(case: Case, wanted: &str) {
    assert_eq!(
        outcome(&case),
        wanted,
        "{} {:?}",
        case.config,
        case.variables
    );
}

const OPENROUTER: (&str, &str) = ("OPENROUTER_API_KEY", "or-0123456789");
const DEEPSEEK: (&str, &str) = ("DEEPSEEK_API_KEY", "ds-0123456789");
const OPENAI: (&str, &str) = ("OPENAI_API_KEY", "oa-0123456789");
const ANTHROPIC: (&str, &str) = ("ANTHROPIC_API_KEY", "an-0123456789");

// PV-2
#[test]
fn the_flag_beats_the_variable_beats_the_file_beats_auto() {
    let both: &[_] = &[OPENROUTER, DEEPSEEK, ANTHROPIC];
    expect(
        Case {
            config: "model: {provider: deepseek, default: deepseek-chat}",
            variables: both,
            ..Case::default()
        },
        "deepseek deepseek-chat",
    );
    expect(
        Case {
            config: "model: {provider: deepseek, default: deepseek-chat}",
            variables: &[OPENROUTER, ("HERMES_INFERENCE_PROVIDER", "openrouter")],
            ..Case::default()
        },
        "openrouter deepseek/deepseek-chat",
    );
    expect(
        Case {
            config: "model: {provider: deepseek, default: deepseek-chat}",
            variables: both,
            provider: Some("claude"),
            ..Case::default()
        },
        "anthropic claude-sonnet-4-6",
    );
    expect(
        Case {
            config: "model: {provider: deepseek, default: deepseek-chat}",
            variables: both,
            model: Some("anthropic:opus"),
            ..Case::default()
        },
        "anthropic claude-opus-4-6",
    );
    expect(
        Case {
            config: "model: {provider: deepseek}",
            variables: both,
            model: Some("deepseek-reasoner"),
            ..Case::default()
        },
        "deepseek deepseek-reasoner",
    );
}

// PV-2
#[test]
fn auto_takes_the_provider_that_has_a_key_and_knows_the_model() {
    let auto = |config, variables, wanted| {
        expect(
            Case {
                config,
                variables,
                ..Case::default()
            },
            wanted,
        );
    };
    auto("", &[OPENROUTER, DEEPSEEK], "openrouter z-ai/glm-5.2");
    auto("", &[DEEPSEEK], "deepseek deepseek-chat");
    // An OpenAI key opens OpenAI and nothing else.
    auto("", &[OPENAI], "openai-api gpt-5.5");
    auto(
        "",
        &[DEEPSEEK, ("OPENROUTER_API_KEY", "changeme")],
        "deepseek deepseek-chat",
    );
    auto(
        "",
        &[DEEPSEEK, ("OPENROUTER_API_KEY", "abc")],
        "deepseek deepseek-chat",
    );
    auto(
        "model: claude-opus-4-6",
        &[OPENROUTER, ANTHROPIC],
        "anthropic claude-opus-4-6",
    );
    auto(
        "model: anthropic/claude-opus-4.6",
        &[OPENROUTER, ANTHROPIC],
        "openrouter anthropic/claude-opus-4.6",
    );
    auto(
        "model: claude-opus-4-6",
        &[OPENROUTER],
        "openrouter anthropic/claude-opus-4.6",
    );
    auto(
        "providers: {deepseek: {enabled: false}}",
        &[DEEPSEEK, ANTHROPIC],
        "anthropic claude-sonnet-4-6",
    );
    auto("", &AWS, "bedrock us.anthropic.claude-sonnet-4-6");
    auto(
        "providers: {lab: {base_url: 'http://10.0.0.7:8000/v1', model: big}}",
        &[],
        "custom:lab big",
    );
    auto(
        "model: {base_url: 'https://api.deepseek.com/v1', default: deepseek-chat}",
        &[DEEPSEEK, OPENROUTER],
        "deepseek deepseek-chat",
    );
    auto(
        "model: {base_url: 'http://localhost:9000/v1', default: m1}",
        &[DEEPSEEK],
        "custom m1",
    );
}

// PV-2
#[test]
fn without_a_key_comes_the_login_then_the_model_inside_then_the_way_out() {
    expect(
        Case {
            variables: &[DEEPSEEK],
            logins: &["nous"],
            ..Case::default()
        },
        "deepseek deepseek-chat",
    );
    // A key that is stored counts like one that is set.
    expect(
        Case {
            variables: &[DEEPSEEK],
            logins: &["openrouter"],
            ..Case::default()
        },
        "openrouter z-ai/glm-5.2",
    );
    expect(
        Case {
            variables: &[OPENROUTER],
            logins: &["deepseek"],
            model: Some("deepseek-chat"),
            ..Case::default()
        },
        "deepseek deepseek-chat",
    );
    expect(
        Case {
            logins: &["nous"],
            embedded: true,
            ..Case::default()
        },
        "nous z-ai/glm-5.2",
    );
    expect(
        Case {
            embedded: true,
            ..Case::default()
        },
        "local smollm2",
    );
    expect(
        Case::default(),
        "no model is set up; set OPENROUTER_API_KEY in .env (get one at https://openrouter.ai/keys), \
         or run `hermes model pull smollm2` for a model that needs no key",
    );
}

const AWS: [(&str, &str); 2] = [
    ("AWS_ACCESS_KEY_ID", "AKIA0123456789"),
    ("AWS_SECRET_ACCESS_KEY", "0123456789"),
];

// PV-2: key pairs of AWS are often there for other programs.
#[test]
fn a_login_counts_before_a_key_pair_of_aws_and_behind_a_key() {
    expect(
        Case {
            variables: &AWS,
            logins: &["nous"],
            ..Case::default()
        },
        "nous z-ai/glm-5.2",
    );
    expect(
        Case {
            config: "providers: {lab: {base_url: 'http://10.0.0.7:8000/v1', model: big}}",
            variables: &AWS,
            ..Case::default()
        },
        "custom:lab big",
    );
    // A web identity and a profile are as good as a pair in variables, and better than the model inside.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("credentials");
    let section = "[work]\naws_access_key_id=AKIAWORK\naws_secret_access_key=work-0123456789\n";
    std::fs::write(&file, section).unwrap();
    let file = file.display().to_string();
    let provider = |variables: &[(&str, &str)], logins: &[String]| {
        let setup = Setup::new("", variables);
        let mut request = setup.request();
        request.logins = logins;
        request.embedded = Some(Path::new("/models/smollm2.gguf"));
        let route = resolve(&request).expect("a route").route;
        let why = route.why.iter().find(|why| why.part == "provider");
        (route.provider, why.expect("an explanation").from.clone())
    };
    let profile = [
        ("AWS_SHARED_CREDENTIALS_FILE", file.as_str()),
        ("AWS_PROFILE", "work"),
    ];
    assert_eq!(provider(&profile, &[]).0, "bedrock");
    let identity = [
        ("AWS_WEB_IDENTITY_TOKEN_FILE", "/run/token"),
        ("AWS_ROLE_ARN", "arn:aws:iam::1:role/r"),
    ];
    assert_eq!(provider(&identity, &[]).0, "bedrock");
    let broken = [("AWS_PROFILE", "missing")];
    assert_eq!(provider(&broken, &[]).0, "local");
    // A key that counts before a login is said to.
    let (chosen, from) = provider(&[DEEPSEEK], &["nous".to_owned()]);
    assert_eq!(chosen, "deepseek");
    assert!(
        from.ends_with("DEEPSEEK_API_KEY, which counts before the login of nous"),
        "{from}"
    );
}

// PV-2
#[test]
fn a_mistake_is_one_line_and_a_next_step() {
    let named = |provider, wanted| {
        expect(
            Case {
                provider: Some(provider),
                config: "providers: {zai: {enabled: false}}",
                ..Case::default()
            },
            wanted,
        );
    };
    named(
        "deepseek",
        "DeepSeek needs a key; set DEEPSEEK_API_KEY in .env; get one at https://platform.deepseek.com/api_keys",
    );
    named(
        "nous",
        "you are not signed in to Nous Portal; run `hermes auth add nous`",
    );
    named(
        "deepsek",
        "there is no provider `deepsek`; did you mean `deepseek`?",
    );
    named(
        "glm",
        "the provider `zai` is switched off by `providers.zai.enabled`; set `providers.zai.enabled` to true, or choose another",
    );
    named(
        "codex",
        "the provider `codex` is not offered: a ChatGPT subscription answers OpenAI's own programs only; \
         use `openai-api` with a key; see docs/providers.md for what is offered",
    );
    named(
        "local",
        "the built-in model has not been downloaded; run `hermes model pull smollm2`",
    );
    named(
        "custom",
        "no model is named for Your own endpoint; name one with --model or `model.default`",
    );
    named(
        "azure",
        "no model is named for Azure Foundry; name one with --model or `model.default`",
    );
    let setup = Setup::new(
        "model: {provider: custom, default: m, base_url: 'ftp://x'}",
        &[],
    );
    let error = resolve(&setup.request()).expect_err("a wrong address");
    assert!(matches!(error, ResolveError::BadAddress { .. }), "{error}");
    let setup = Setup::new("model: {provider: azure, default: gpt-5.5}", &[]);
    let error = resolve(&setup.request()).expect_err("no address");
    assert_eq!(
        error.hint(),
        "set AZURE_FOUNDRY_BASE_URL in .env, or `base_url` beside the provider in config.yaml"
    );
}

// PV-2
#[test]
fn the_explanation_names_every_part_and_its_origin_and_no_key() {
    let setup = Setup::new(
        "model:\n  provider: kimi\n  default: kimi-k2.5\n",
        &[("KIMI_API_KEY", "sk-abcdefghijklmnopqrstuvwxyz")],
    );
    let lines: Vec<_> = setup
        .resolve()
        .route
        .why
        .iter()
        .map(|why| format!("{}: {} ({})", why.part, why.value, why.from))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    provider: kimi-coding (config.yaml, line 2: model.provider)
    model: kimi-k2.5 (config.yaml, line 3: model.default)
    address: https://api.moonshot.ai/v1 (the profile)
    protocol: chat completions (the provider)
    key: sk-a…wxyz (environment: KIMI_API_KEY)
    window: 262144 (known for this family of models)
    ");
}

// PV-21
#[test]
fn the_model_inside_ends_by_itself_and_a_file_of_ones_own_as_it_likes() {
    let limit = |config: &str| {
        let setup = Setup::new(config, &[]);
        let mut request = setup.request();
        request.embedded = Some(Path::new("/models/smollm2.gguf"));
        resolve(&request).expect("a route").route.limits.output
    };
    assert_eq!(limit(""), Some(512));
    assert_eq!(limit("model: {provider: local}"), Some(512));
    assert_eq!(
        limit("model: {provider: local, max_tokens: 2000}"),
        Some(2_000)
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.gguf");
    std::fs::write(&file, "").unwrap();
    let own = format!("model: {{provider: local, default: '{}'}}", file.display());
    assert_eq!(limit(&own), None);
}

// PV-2
#[test]
fn an_address_of_a_provider_leads_to_it_also_where_two_share_a_host() {
    let profiles = Profiles::new(None);
    let mut seen = 0;
    for profile in profiles.all().expect("profiles parse") {
        let bases = profile.bases.iter().chain(&profile.base_url);
        for base in bases.filter(|base| !profile.hosts.is_empty() && !base.contains('{')) {
            assert_eq!(owner(base), profile.id, "{base}");
            seen += 1;
        }
    }
    assert!(seen > 25, "{seen}");
    for (url, id) in [
        ("https://opencode.ai/zen", "opencode-zen"),
        ("https://opencode.ai/zen/v2", "opencode-zen"),
        ("https://opencode.ai", "opencode-zen"),
        ("https://opencode.ai/zen/go", "opencode-go"),
        ("https://opencode.ai/zen/go/v1/", "opencode-go"),
        (
            "https://coding.dashscope.aliyuncs.com/v1",
            "alibaba-coding-plan",
        ),
        ("https://opencode.ai.evil.test/zen/v1", "custom"),
    ] {
        assert_eq!(owner(url), id, "{url}");
    }
}

/// The provider that is chosen because of an address.
fn owner(url: &str) -> String {
    let names = Profiles::new(None).key_names();
    let keys: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), "key-0123456789"))
        .collect();
    let setup = Setup::new(&format!("model: {{base_url: '{url}', default: m1}}"), &keys);
    let mut request = setup.request();
    let logins = ["nous".to_owned()];
    request.logins = &logins;
    match resolve(&request) {
        Ok(resolved) => resolved.route.provider,
        Err(error) => panic!("{url}: {error}"),
    }
}

// PV-31
#[test]
fn the_addresses_of_a_provider_are_wherever_it_may_be_asked() {
    let of = |config: &str, name: &str, variables: &[(&str, &str)]| {
        let setup = Setup::new(config, variables);
        let found = addresses(&setup.request(), name);
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        found
    };
    let lab = "model: {provider: deep-seek, base_url: 'https://lab.test/v1'}";
    let usual = "https://api.deepseek.com/v1";
    assert_eq!(of("", "deepseek", &[]), [usual]);
    assert_eq!(of(lab, "deepseek", &[]), ["https://lab.test/v1", usual]);
    assert_eq!(of(lab, "anthropic", &[]), ["https://api.anthropic.com/"]);
    let moved = [("DEEPSEEK_BASE_URL", "https://proxy.test/v1")];
    assert_eq!(of("", "deepseek", &moved), ["https://proxy.test/v1"]);
    assert_eq!(of("", "zai", &[]).len(), 5);
    assert_eq!(of(lab, "nobody", &[]), [""; 0]);
}

#[test]
fn what_belongs_to_the_configured_provider_does_not_follow_to_another() {
    let setup = Setup::new(
        "model:\n  provider: custom\n  default: m1\n  base_url: http://10.1.2.3/v1\n  api_mode: anthropic_messages\n  \
         api_key: lab-0123456789\n  context_length: 9000\n",
        &[DEEPSEEK],
    );
    let mut request = setup.request();
    request.flags.provider = Some("deepseek");
    let switched = resolve(&request).expect("a route");
    assert_eq!(base_of(&switched), "https://api.deepseek.com/v1");
    assert_eq!(switched.route.model, "deepseek-chat");
    assert_ne!(switched.route.limits.window, 9000);
    let stays = setup.resolve();
    assert_eq!(base_of(&stays), "http://10.1.2.3/v1");
    assert!(http_of(&stays).local);
    assert_eq!(stays.route.limits.window, 9000);
}

#[test]
fn what_is_said_of_a_model_without_a_name_holds_for_the_one_that_is_chosen() {
    let window = |config: &str| {
        let setup = Setup::new(config, &[]);
        let mut request = setup.request();
        request.flags.model = Some("m2");
        resolve(&request).expect("a route").route.limits.window
    };
    let about = "provider: custom, base_url: 'http://10.1.2.3/v1', context_length: 9000";
    assert_eq!(window(&format!("model: {{{about}}}")), 9_000);
    let other = window(&format!("model: {{{about}, default: m1}}"));
    assert_ne!(other, 9_000);
}
