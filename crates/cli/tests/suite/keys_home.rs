//! Keys and logins that are kept in `auth.json` go to their provider and to nobody else.

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, Scenario, Step, error, text};
use serde_json::{Value, json};

use super::helpers::{LIMIT, asked, chat, leave};
use super::program::Program;

const KEY: &str = "sk-or-v1-canary-aaaaaaaaaaaaaaaa1111";
const OTHER: &str = "sk-other-canary-bbbbbbbbbbbbbbbb2222";

fn server() -> ModelServer {
    let answer = Step::new(text("ok")).repeat();
    ModelServer::start(Scenario::new().lenient().reply(answer)).unwrap()
}

/// Whether a key was part of any request.
fn saw(server: &ModelServer, key: &str) -> bool {
    server.requests().iter().any(|request| {
        let body = String::from_utf8_lossy(&request.body);
        format!("{} {:?} {body}", request.path, request.headers).contains(key)
    })
}

fn with_key(provider: &str, config: &str) -> Program {
    let program = Program::new();
    program.home.write_config(config).unwrap();
    let add = ["auth", "add", provider, "--api-key", KEY, "--label", "kept"];
    program.run(&add).ok();
    program
}

/// Puts rows into `auth.json` as they stand there.
fn write_auth(program: &Program, document: Value) {
    let document = document.to_string();
    program.home.write("auth.json", document).unwrap();
}

// PV-3
#[test]
fn a_kept_key_is_not_sent_to_an_address_that_is_not_its_providers() {
    let stranger = server();
    let config = format!(
        "model: {{provider: openrouter, default: m1, base_url: '{}'}}\n",
        stranger.base_url()
    );
    let program = with_key("openrouter", &config);
    let ways: [&[&str]; 4] = [
        &["-z", "hello"],
        &["model", "--why"],
        &["model", "list", "--provider", "openrouter", "--refresh"],
        &["-z", "hello", "-m", "openrouter:m2"],
    ];
    for way in ways {
        let refused = program.run(way);
        assert_ne!(refused.code, Some(0), "{way:?}: {}", refused.report());
        let said = "the key in auth.json belongs to OpenRouter, not to 127.0.0.1";
        assert!(refused.stderr.contains(said), "{way:?}: {}", refused.stderr);
        let step = "providers.openrouter.base_url";
        assert!(refused.stderr.contains(step), "{way:?}: {}", refused.stderr);
    }
    program.run(&["auth", "list"]).ok();
    assert_eq!(stranger.requests().len(), 0);
}

// PV-3
#[test]
fn a_kept_key_goes_where_the_user_says_that_its_provider_is() {
    // Homes of the reference say the address twice.
    for twice in [false, true] {
        for by_variable in [false, true] {
            let proxy = server();
            let base = proxy.base_url();
            let beside = format!(", base_url: '{base}'");
            let beside = if twice { beside.as_str() } else { "" };
            let entry = format!("providers: {{openrouter: {{base_url: '{base}'}}}}\n");
            let entry = if by_variable { "" } else { entry.as_str() };
            let config = format!("model: {{provider: openrouter, default: m1{beside}}}\n{entry}");
            let program = with_key("openrouter", &config);
            if by_variable {
                let line = format!("OPENROUTER_BASE_URL={base}\n");
                program.home.write_env(&line).unwrap();
            }
            assert_eq!(program.run(&["-z", "hello"]).ok().stdout, "ok\n");
            assert!(saw(&proxy, KEY), "{config}");
        }
    }
}

// PV-3
#[test]
fn a_kept_key_does_not_follow_a_fallback_to_a_stranger() {
    let broken = Scenario::new().reply(Step::new(error(402)).repeat());
    let main = ModelServer::start(broken.lenient()).unwrap();
    let stranger = server();
    let config = format!(
        "model: {{provider: custom, default: m1, base_url: '{}', context_length: 100000}}\n\
         agent: {{api_max_retries: 1}}\n\
         fallback_providers: [{{provider: deepseek, model: deepseek-chat, base_url: '{}'}}]\n",
        main.base_url(),
        stranger.base_url()
    );
    let program = with_key("deepseek", &config);
    let failed = program.run(&["-z", "hello"]).code(2);
    let said =
        "a fallback cannot be used: the key in auth.json belongs to DeepSeek, not to 127.0.0.1";
    assert!(failed.stderr.contains(said), "{}", failed.stderr);
    assert_eq!(stranger.requests().len(), 0);
}

// PV-3
#[test]
fn a_kept_key_does_not_follow_a_helper_task_to_a_stranger() {
    let (main, stranger) = (server(), server());
    let config = format!(
        "model: {{provider: custom, default: m1, base_url: '{}', context_length: 100000}}\n\
         auxiliary: {{title_generation: {{provider: openrouter, model: m2, base_url: '{}'}}}}\n",
        main.base_url(),
        stranger.base_url()
    );
    let program = with_key("openrouter", &config);
    let screen = chat(&program);
    screen.send("hello\r").unwrap();
    screen
        .wait_for_text("auxiliary.title_generation cannot be used", LIMIT)
        .unwrap();
    let titled = || (asked(&main).len() == 2).then_some(());
    eventually(LIMIT, "a title", titled).unwrap();
    leave(&screen);
    assert_eq!(stranger.requests().len(), 0);
    assert!(!saw(&main, KEY));
}

// PV-3
#[test]
fn a_login_does_not_follow_an_address_to_a_stranger() {
    let stranger = server();
    let program = Program::new();
    let config = format!(
        "model: {{provider: nous, default: m1, base_url: '{}'}}\n",
        stranger.base_url()
    );
    program.home.write_config(&config).unwrap();
    let login = json!({
        "access_token": KEY, "refresh_token": OTHER, "expires_at": "2099-01-01T00:00:00Z",
    });
    write_auth(
        &program,
        json!({"version": 1, "active_provider": "nous", "providers": {"nous": login}}),
    );
    for way in [&["-z", "hello"][..], &["model", "--why"]] {
        let refused = program.run(way);
        assert_ne!(refused.code, Some(0), "{way:?}: {}", refused.report());
        let said = "belongs to Nous Portal, not to 127.0.0.1";
        assert!(refused.stderr.contains(said), "{way:?}: {}", refused.stderr);
    }
    assert_eq!(stranger.requests().len(), 0);
}

// PV-3
#[test]
fn a_key_of_the_settings_that_is_refused_elsewhere_is_not_replaced_by_a_kept_one() {
    let refusing = Scenario::new().reply(Step::new(error(401)).repeat());
    let stranger = ModelServer::start(refusing.lenient()).unwrap();
    let config = format!(
        "model: {{provider: openrouter, default: m1, base_url: '{}', api_key: {OTHER}}}\n",
        stranger.base_url()
    );
    let program = with_key("openrouter", &config);
    program.run(&["-z", "hello"]).code(2);
    assert!(saw(&stranger, OTHER));
    assert!(!saw(&stranger, KEY));
}

// PV-3
#[test]
fn a_kept_key_with_an_address_of_its_own_goes_there_and_nowhere_else() {
    let (own, stranger) = (server(), server());
    let row = json!({
        "id": "a", "label": "kept", "auth_type": "api_key", "source": "manual", "priority": 0,
        "access_token": KEY, "base_url": own.base_url(),
    });
    let program = Program::new();
    write_auth(
        &program,
        json!({"version": 1, "credential_pool": {"openrouter": [row]}}),
    );
    let config = |server: &ModelServer| {
        let base = server.base_url();
        let text = format!("model: {{provider: openrouter, default: m1, base_url: '{base}'}}\n");
        program.home.write_config(&text).unwrap();
    };
    config(&own);
    assert_eq!(program.run(&["-z", "hello"]).ok().stdout, "ok\n");
    assert!(saw(&own, KEY));
    config(&stranger);
    program.run(&["-z", "hello"]).code(2);
    assert_eq!(stranger.requests().len(), 0);
}

// PV-3
#[test]
fn a_key_added_for_an_endpoint_without_a_name_stays_at_its_address() {
    let (own, stranger) = (server(), server());
    let config = |server: &ModelServer| {
        let base = server.base_url();
        format!(
            "model: {{provider: custom, default: m1, base_url: '{base}', context_length: 100000}}\n"
        )
    };
    let program = with_key("custom", &config(&own));
    assert_eq!(program.run(&["-z", "hello"]).ok().stdout, "ok\n");
    assert!(saw(&own, KEY));
    // Another address may do without a key, and gets none.
    program.home.write_config(&config(&stranger)).unwrap();
    assert_eq!(program.run(&["-z", "hello"]).ok().stdout, "ok\n");
    assert!(!saw(&stranger, KEY));

    // A server with a usual place has an address.
    let add = ["auth", "add", "ollama", "--api-key", OTHER];
    let usual = Program::new();
    usual.run(&add).ok();
    let kept = usual.home.read("auth.json").unwrap();
    assert!(kept.contains("http://127.0.0.1:11434/v1"), "{kept}");
    let homeless = Program::new();
    let refused = homeless
        .run(&["auth", "add", "custom", "--api-key", KEY])
        .code(1);
    assert!(
        refused.stderr.contains("has no address"),
        "{}",
        refused.stderr
    );
}

// PV-3
#[test]
fn a_key_written_for_a_provider_does_not_follow_an_address_beside_the_model() {
    let stranger = server();
    let entries = [
        ("openrouter", format!("openrouter: {{api_key: {KEY}}}")),
        ("openrouter", "openrouter: {key_env: LAB_KEY}".to_owned()),
        (
            "custom:lab",
            format!("lab: {{base_url: 'https://lab.example/v1', api_key: {KEY}}}"),
        ),
    ];
    for (provider, entry) in entries {
        let program = Program::new();
        let base = stranger.base_url();
        let config = format!(
            "model: {{provider: '{provider}', default: m1, base_url: '{base}'}}\nproviders: {{{entry}}}\n"
        );
        program.home.write_config(&config).unwrap();
        program.home.write_env(&format!("LAB_KEY={KEY}\n")).unwrap();
        let refused = program.run(&["-z", "hello"]).code(2);
        assert!(
            refused.stderr.contains("not to 127.0.0.1"),
            "{}",
            refused.stderr
        );
        assert!(!refused.stderr.contains(KEY), "{}", refused.stderr);
    }
    assert_eq!(stranger.requests().len(), 0);
}
