//! `hermes auth` as a user runs it.

use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Scenario, Step, error, json as document, text};
use hermes_testkit::pty::Terminal;
use insta::assert_snapshot;
use serde_json::json;

use super::program::Program;

const FIRST: &str = "sk-or-v1-aaaaaaaaaaaaaaaaaaaaaaaa1111";
const SECOND: &str = "sk-or-v1-bbbbbbbbbbbbbbbbbbbbbbbb2222";

// PV-32
#[test]
fn keys_are_added_listed_masked_and_removed() {
    let program = Program::new();
    program
        .home
        .write_env("XAI_API_KEY=xai-cccccccccccccccccccc3333\n")
        .unwrap();
    let added = program.stdout(&[
        "auth",
        "add",
        "openrouter",
        "--api-key",
        FIRST,
        "--label",
        "work",
    ]);
    let piped = program
        .command(&["auth", "add", "openrouter", "--label", "home"])
        .stdin(format!("{SECOND}\n"))
        .run()
        .unwrap()
        .ok();
    let list = program.stdout(&["auth", "list"]);
    assert_snapshot!(list, @r"
    PROVIDER    #  LABEL        KIND  KEY        FROM             CALLS  STATE
    openrouter  1  work         key   sk-o…1111  manual           0      good
    openrouter  2  home         key   sk-o…2222  manual           0      good
    xai         1  XAI_API_KEY  key   xai-…3333  env:XAI_API_KEY  0      good
    ");
    let json = program.run(&["auth", "list", "openrouter", "--json"]).ok();
    assert_eq!(json.json()[0]["entries"][1]["label"], "home");
    for text in [&added, &piped.stdout, &list, &json.stdout] {
        assert!(!text.contains(FIRST) && !text.contains(SECOND), "{text}");
    }
    assert_eq!(program.home.mode("auth.json").unwrap() & 0o777, 0o600);

    let again = program
        .run(&["auth", "add", "openrouter", "--api-key", FIRST])
        .code(1);
    assert!(
        again.stderr.contains("as work") && !again.stderr.contains(FIRST),
        "{}",
        again.stderr
    );
    program.run(&["auth", "remove", "openrouter", "home"]).ok();
    program.run(&["auth", "remove", "openrouter", "1"]).ok();
    let gone = program.run(&["auth", "remove", "openrouter", "1"]).code(1);
    assert!(
        gone.stderr.contains("hermes auth list openrouter"),
        "{}",
        gone.stderr
    );
    let elsewhere = program.run(&["auth", "remove", "xai", "1"]).code(1);
    assert!(
        elsewhere.stderr.contains("env:XAI_API_KEY"),
        "{}",
        elsewhere.stderr
    );
    assert!(
        program
            .stdout(&["auth", "list", "openrouter"])
            .contains("There are no keys")
    );
}

// PV-32
#[test]
fn a_refused_key_rests_until_it_is_reset() {
    let server = ModelServer::start(Scenario::new().reply(Step::new(error(401)).repeat())).unwrap();
    let program = Program::new();
    program
        .home
        .write_config(&format!(
            "model: {{provider: 'custom:lab'}}\nagent: {{api_max_retries: 1}}\n\
             providers: {{lab: {{base_url: '{}', model: big}}}}\n",
            server.base_url()
        ))
        .unwrap();
    program
        .run(&["auth", "add", "lab", "--api-key", FIRST, "--label", "mine"])
        .ok();
    program.run(&["auth", "status", "lab"]).ok();
    program.run(&["-z", "Hello"]).code(2);
    let status = program.run(&["auth", "status", "lab"]).code(1);
    assert!(status.stdout.contains("after 401"), "{}", status.report());
    let reset = program.stdout(&["auth", "reset", "lab"]);
    assert!(reset.contains("1 credential is used again"), "{reset}");
    program.run(&["auth", "status", "lab"]).ok();
}

#[test]
fn a_key_in_the_settings_is_shown_masked() {
    let program = Program::new();
    program
        .home
        .write_config("model: {default: big, provider: custom, base_url: 'http://127.0.0.1:9/v1', api_key: own-key-1234567890abcd}\n")
        .unwrap();
    let status = program.stdout(&["auth", "status", "custom"]);
    assert!(
        status.contains("own-…abcd") && status.contains("model.api_key"),
        "{status}"
    );
}

// PV-32
#[test]
fn a_typed_key_is_not_shown() {
    let program = Program::new();
    let limit = Duration::from_secs(20);
    let terminal =
        Terminal::spawn(&program.command(&["auth", "add", "openrouter"]), 120, 20).unwrap();
    terminal.wait_for_text("Key for OpenRouter", limit).unwrap();
    terminal.send(&format!("{FIRST}\r")).unwrap();
    let screen = terminal.wait_for_text("added, number 1", limit).unwrap();
    assert!(!screen.text().contains("aaaaaaaa"), "{}", screen.text());
    assert_eq!(terminal.wait_exit(limit).unwrap().code, 0);
}

#[test]
fn what_cannot_be_added_is_refused() {
    let program = Program::new();
    for (arguments, words) in [
        (
            &["auth", "add", "openruter", "--api-key", FIRST][..],
            "did you mean openrouter",
        ),
        (
            &["auth", "add", "local", "--api-key", FIRST],
            "needs no key",
        ),
        (&["auth", "add", "codex", "--api-key", FIRST], "not offered"),
        (
            &["auth", "add", "deepseek", "--type", "oauth"],
            "hermes auth add deepseek",
        ),
        (
            &["auth", "add", "deepseek", "--api-key", "two words"],
            "space",
        ),
        (&["auth", "add", "deepseek", "--api-key", ""], "empty"),
    ] {
        let output = program.run(arguments).code(2);
        assert!(
            output.stderr.contains(words),
            "no {words} in {}",
            output.stderr
        );
        assert!(!output.stderr.contains(FIRST), "{}", output.stderr);
    }
    let output = program
        .command(&["auth", "add", "deepseek"])
        .stdin("")
        .run()
        .unwrap()
        .code(2);
    assert!(
        output.stderr.contains("there is no key"),
        "{}",
        output.stderr
    );
    assert!(program.home.read("auth.json").is_err());
}

#[test]
fn signing_in_shows_the_page_and_keeps_the_login() {
    let start = json!({
        "device_code": "device-secret-123456",
        "user_code": "ABCD-EFGH",
        "verification_uri": "https://portal.example/device",
        "expires_in": 600,
        "interval": 1,
    });
    let token = json!({
        "access_token": "token-secret-aaaaaaaaaaaaaaaa",
        "refresh_token": "refresh-secret-bbbbbbbbbbbb",
        "expires_in": 36000,
        "token_type": "Bearer",
    });
    let pending = error(400).body(json!({"error": "authorization_pending"}));
    let server = ModelServer::start(
        Scenario::new()
            .route("POST", "/api/oauth/device/code", [document(start)])
            .route(
                "POST",
                "/api/oauth/token",
                [Step::new(pending), Step::new(document(token))],
            ),
    )
    .unwrap();
    let program = Program::new();
    let output = program
        .run(&["auth", "add", "nous", "--portal-url", &server.origin()])
        .ok();
    assert!(
        output.stderr.contains("https://portal.example/device"),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains("ABCD-EFGH"), "{}", output.stderr);
    let list = program.stdout(&["auth", "list"]);
    assert!(list.contains("nous") && list.contains("login"), "{list}");
    for secret in ["device-secret", "token-secret-a", "refresh-secret"] {
        let said = format!("{}{}{list}", output.stdout, output.stderr);
        assert!(!said.contains(secret), "{said}");
    }
    let why = program.stdout(&["model", "--why"]);
    assert!(
        why.contains("nous") && why.contains("the stored login"),
        "{why}"
    );
    program.run(&["auth", "logout", "nous"]).ok();
    program.run(&["auth", "logout", "nous"]).code(1);
    program
        .run(&[
            "auth",
            "add",
            "nous",
            "--portal-url",
            "http://portal.example",
        ])
        .code(2);
}

// PV-3, PV-14, PV-33
#[test]
fn a_provider_in_a_file_signs_in_at_its_own_place_and_its_token_goes_nowhere_else() {
    let start = json!({
        "device_code": "device-secret-123456", "user_code": "ACME-CODE", "expires_in": 600, "interval": 1,
        "verification_uri": "https://acme.example/device",
    });
    let token = json!({
        "access_token": "acme-secret-aaaaaaaaaaaaaaaa", "refresh_token": "acme-refresh-bbbbbbbbbb",
        "expires_in": 36000, "token_type": "Bearer",
    });
    let acme = ModelServer::start(
        Scenario::new()
            .route("POST", "/oauth/device", [document(start)])
            .route("POST", "/oauth/token", [document(token)])
            .reply(text("signed in")),
    )
    .unwrap();
    let portal = ModelServer::start(Scenario::new()).unwrap();
    let program = Program::new();
    let origin = acme.origin();
    let profile = format!(
        "id: acme\nname: Acme\nbase_url: {origin}/v1\nprotocol: chat_completions\ndefault_model: scripted\n\
         key: login\noauth:\n  device_authorization_endpoint: {origin}/oauth/device\n  \
         token_endpoint: {origin}/oauth/token\n  client_id: hermes-of-acme\n"
    );
    let place = "plugins/model-providers/acme/profile.yaml";
    program.home.write(place, profile).unwrap();
    let run = |arguments: &[&str]| {
        let command = program.command(arguments);
        let command = command.env("HERMES_PORTAL_BASE_URL", portal.origin());
        command.run().unwrap()
    };
    let said = run(&["auth", "add", "acme"]).ok().stderr;
    assert!(said.contains("https://acme.example/device"), "{said}");
    let answer = run(&["-z", "hello", "--provider", "acme"]).ok();
    assert_eq!(answer.stdout, "signed in\n");
    run(&["auth", "add", "acme", "--portal-url", &portal.origin()]).code(2);
    assert!(portal.requests().is_empty(), "nobody asked Nous");
    let requests = acme.requests();
    let asked = String::from_utf8_lossy(&requests[0].body).into_owned();
    assert!(asked.contains("client_id=hermes-of-acme"), "{asked}");
    let sent = requests.last().unwrap().header("authorization").unwrap();
    assert_eq!(sent, "Bearer acme-secret-aaaaaaaaaaaaaaaa");

    // Without a place to sign in at, nobody is signed in anywhere.
    let without = "id: acme\nname: Acme\nbase_url: https://acme.test/v1\nkey: login\n";
    program.home.write(place, without).unwrap();
    let refused = run(&["auth", "add", "acme"]);
    assert_ne!(refused.code, Some(0));
    assert!(refused.stderr.contains("oauth"), "{}", refused.stderr);
    assert!(portal.requests().is_empty());
}
