//! Profiles the user puts into the home.

use hermes_llm::profile::{Profile, ProfileError, Profiles};
use hermes_testkit::model_server::{ModelServer, Scenario};

use super::{Setup, ask, runtime};

fn put(setup: &Setup, id: &str, text: &str) {
    let directory = setup.home.path().join("plugins/model-providers").join(id);
    std::fs::create_dir_all(&directory).expect("a directory");
    std::fs::write(directory.join("profile.yaml"), text).expect("a profile");
}

// PV-33
#[test]
fn a_file_in_the_home_adds_a_provider_and_replaces_a_built_in_one() {
    let server = ModelServer::start(Scenario::echo().lenient()).expect("a server");
    let setup = Setup::new(
        "model: {provider: lab, default: big}",
        &[("LAB_KEY", "canary-lab-0123456789")],
    );
    let text = format!(
        "id: acme\nname: Acme\naliases: [lab]\nbase_url: {}/v7\nkey_env: [LAB_KEY]\n\
         quirks: {{reasoning: {{effort: {{levels: [low, high], default: low}}}}}}\n",
        server.origin()
    );
    put(&setup, "acme", &text);
    put(
        &setup,
        "deepseek",
        "id: deepseek\nname: Mine\nbase_url: https://mine.test\n",
    );
    runtime().block_on(ask(setup.resolve()));
    let seen = server.requests().pop().expect("a request");
    assert_eq!(seen.path, "/v7/chat/completions");
    assert_eq!(
        seen.header("authorization"),
        Some("Bearer canary-lab-0123456789")
    );
    assert_eq!(seen.expect_json()["reasoning_effort"], "low");
    let replaced = setup
        .profiles
        .get("deepseek")
        .expect("it parses")
        .expect("it is there");
    assert_eq!(replaced.name, "Mine");
    let all = setup.profiles.all().expect("all parse");
    assert_eq!(all.len(), Profiles::built_in().count() + 1);
}

// PV-33
#[test]
fn a_mistake_in_a_profile_is_named_with_file_line_and_key() {
    let cases = [
        (
            "id: a\nname: A\nbase_ulr: x\n",
            "line 3: base_ulr: unknown key; did you mean `base_url`?",
        ),
        (
            "id: a\nname: A\nquirks:\n  cache: blokcs\n",
            "line 4: quirks.cache: unknown variant `blokcs`, expected one of `automatic`, `blocks`, `envelope`",
        ),
        (
            "id: a\nname: A\nrules:\n  - models: [x]\n    quirks:\n      reasoning: {effort: {level: [low]}}\n",
            "line 6: quirks.reasoning.effort.level: unknown key; did you mean `levels`?",
        ),
        (
            "id: a\nname: A\nquirks:\n  reasoning: {object: {defautl: low}}\n",
            "line 4: quirks.reasoning.object.defautl: unknown field `defautl`, expected `default`",
        ),
        (
            "id: a\nname: A\nmax_tokens: many\n",
            "line 3: max_tokens: invalid type: string \"many\", expected u32",
        ),
        (
            "id: a\nname: A\nkey: login\n",
            "`key: login` needs an `oauth` section",
        ),
        (
            "id: a\nname: A\nkey: login\noauth:\n  device_authorization_endpoint: http://a.test/device\n  \
             token_endpoint: https://a.test/token\n  client_id: me\n",
            "oauth: http://a.test/device is neither https nor on this machine",
        ),
        (
            "id: a\nname: A\noauth:\n  device_authorization_endpoint: https://a.test/device\n  \
             token_endpoint: https://a.test/token\n  client_id: me\n",
            "`oauth` is only used with `key: login`",
        ),
        ("name: A\n", "`id` is missing"),
        ("id: [\n", "line 1, column 5: unclosed bracket"),
    ];
    for (text, message) in cases {
        let error = Profile::parse(text, "profile.yaml")
            .expect_err(text)
            .to_string();
        let ok = error.starts_with("profile.yaml") && error.contains(message);
        assert!(ok, "{text:?} gives {error:?}");
    }
    let setup = Setup::new("", &[]);
    put(&setup, "one", "id: two\nname: Two\n");
    let error = setup.profiles.get("one").expect_err("the wrong directory");
    assert!(matches!(error, ProfileError::Misplaced { .. }), "{error}");
}

// PV-1
#[test]
fn the_portal_offers_no_models_that_only_talk() {
    let nous = super::profile("nous");
    for (model, offered) in [
        ("Hermes-4-405B", false),
        ("nousresearch/hermes-4-70b", false),
        ("z-ai/glm-5.2", true),
        ("lab/hermes-like", true),
    ] {
        assert_eq!(nous.offers(model), offered, "{model}");
    }
}
