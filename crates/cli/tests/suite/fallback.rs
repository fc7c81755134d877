//! `hermes fallback` as a user runs it.

use hermes_testkit::model_server::{ModelServer, Scenario, Step, error, text};
use insta::assert_snapshot;
use serde_json::json;

use super::program::Program;

// PV-18
#[test]
fn a_fallback_that_cannot_be_used_is_named_when_a_conversation_starts() {
    let server = ModelServer::start(Scenario::new().reply(Step::new(text("ok")).repeat())).unwrap();
    let program = Program::new();
    program
        .home
        .write_config(&format!(
            "model: {{provider: custom, base_url: '{}', default: scripted, context_length: 100000}}\n\
             fallback_providers: [{{provider: openrouter, model: z-ai/glm-5.2}}]\n",
            server.base_url()
        ))
        .unwrap();
    let output = program.run(&["-z", "hello"]).ok();
    assert_eq!(output.stdout, "ok\n");
    let told = output
        .stderr
        .matches("note: a fallback cannot be used: ")
        .count();
    assert_eq!(told, 1, "{}", output.stderr);
    assert!(
        output.stderr.contains("OPENROUTER_API_KEY"),
        "{}",
        output.stderr
    );
}

// PV-18: the limit and the effort of the model that failed are its own.
#[test]
fn a_fallback_is_asked_for_what_its_own_entry_says() {
    let broke = Step::new(error(402).message("no credit left")).repeat();
    let first = ModelServer::start(Scenario::new().reply(broke).extra_keys(["think"])).unwrap();
    let spare = Scenario::new().reply(Step::new(text("ok")).repeat());
    let second = ModelServer::start(spare.extra_keys(["think"])).unwrap();
    let program = Program::new();
    let asked = |server: &ModelServer| {
        let mut all = server.requests();
        all.retain(|request| {
            request.path.ends_with("/completions") || request.path.ends_with("/messages")
        });
        all.pop().unwrap().expect_json().clone()
    };
    for (path, entry, limit) in [
        ("v1", ", max_tokens: 777", json!(777)),
        ("v1", "", json!(null)),
        ("anthropic", ", max_tokens: 777", json!(777)),
    ] {
        let config = format!(
            "agent: {{reasoning_overrides: {{first: high, second: none}}}}\n\
             model: {{provider: custom, base_url: '{}', default: first, context_length: 100000, max_tokens: 50000}}\n\
             fallback_providers: [{{provider: custom, model: second, base_url: '{}/{path}'{entry}}}]\n\
             auxiliary: {{title_generation: {{enabled: false}}}}\n",
            first.base_url(),
            second.origin(),
        );
        program.home.write_config(&config).unwrap();
        assert_eq!(program.run(&["-z", "hello"]).ok().stdout, "ok\n");
        let (main, spare) = (asked(&first), asked(&second));
        assert_eq!(main["max_tokens"], 50_000);
        assert_eq!(main["reasoning_effort"], "high");
        assert_eq!(spare["max_tokens"], limit, "{path}{entry}");
        if path == "v1" {
            assert_eq!(spare["reasoning_effort"], "none");
        }
    }
}

// PV-32
#[test]
fn entries_and_their_comments_stay_as_the_user_wrote_them() {
    let program = Program::new();
    let spare = "# the other\n- {provider: custom, model: big, base_url: 'http://127.0.0.1:9/v1'} # spare\n";
    let before =
        "# mine\nfallback_providers:\n# the good one\n- provider: xai\n  model: grok-4 # keep\n";
    let behind = "# how it looks\ndisplay: {skin: mono}\n";
    program
        .home
        .write_config(&format!("{before}{spare}{behind}"))
        .unwrap();
    let add = ["fallback", "add", "glm-5.2", "--provider", "openrouter"];
    program.run(&add).ok();
    let added = "- provider: openrouter\n  model: z-ai/glm-5.2\n";
    assert_eq!(
        program.home.read("config.yaml").unwrap(),
        format!("{before}{spare}{added}{behind}")
    );
    program.run(&["fallback", "remove", "3"]).ok();
    assert_eq!(
        program.home.read("config.yaml").unwrap(),
        format!("{before}{spare}{behind}")
    );
    program.run(&["fallback", "remove", "2"]).ok();
    let file = program.home.read("config.yaml").unwrap();
    assert!(file.starts_with(before), "{file}");
    assert!(file.ends_with(behind), "{file}");
    assert!(!file.contains("big"), "{file}");
}

// PV-32
#[test]
fn the_list_is_added_to_shown_and_emptied() {
    let program = Program::new();
    program
        .home
        .write_config(
            "# keep me\ndisplay: {skin: mono}\nfallback_providers:\n- {provider: xai, model: grok-4, api_key: '${SPARE_KEY}'}\n",
        )
        .unwrap();
    program
        .home
        .write_env("SPARE_KEY=spare-key-1234567890abcd\n")
        .unwrap();
    let output = program
        .run(&["fallback", "add", "glm-5.2", "--provider", "openrouter"])
        .ok();
    assert!(
        output.stderr.contains("OPENROUTER_API_KEY"),
        "{}",
        output.stderr
    );
    let url = "http://127.0.0.1:9/v1/";
    program
        .run(&[
            "fallback",
            "add",
            "big",
            "--provider",
            "custom",
            "--base-url",
            url,
        ])
        .ok();
    let list = program.stdout(&["fallback", "list"]);
    assert_snapshot!(list, @r"
    #  PROVIDER    MODEL         ADDRESS                KEY
    1  xai         grok-4        the provider's own     spar…abcd
    2  openrouter  z-ai/glm-5.2  the provider's own     the provider's own
    3  custom      big           http://127.0.0.1:9/v1  the provider's own
    ");
    let file = program.home.read("config.yaml").unwrap();
    assert!(
        file.starts_with("# keep me\ndisplay: {skin: mono}\n"),
        "{file}"
    );
    assert!(
        file.contains("${SPARE_KEY}") && !file.contains("spare-key"),
        "{file}"
    );
    let twice = program
        .run(&["fallback", "add", "glm-5.2", "--provider", "openrouter"])
        .code(1);
    assert!(twice.stderr.contains("number 2"), "{}", twice.stderr);
    program
        .run(&["fallback", "remove", "openrouter/z-ai/glm-5.2"])
        .ok();
    program.run(&["fallback", "rm", "2"]).ok();
    program.run(&["fallback", "remove", "7"]).code(1);
    let left = program.run(&["fallback", "list", "--json"]).ok().json();
    assert_eq!(left.as_array().unwrap().len(), 1);
    assert_eq!(left[0]["key"], "spar…abcd");
    program.run(&["fallback", "clear"]).ok();
    assert_eq!(
        program.home.read("config.yaml").unwrap(),
        "# keep me\ndisplay: {skin: mono}\n"
    );
    let unknown = program
        .run(&["fallback", "add", "x", "--provider", "openruter"])
        .code(1);
    assert!(
        unknown.stderr.contains("did you mean"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn the_older_key_of_the_reference_is_listed_and_removed() {
    let program = Program::new();
    program
        .home
        .write_config("fallback_model: {provider: xai, model: grok-4}\n")
        .unwrap();
    assert!(program.stdout(&["fallback", "list"]).contains("grok-4"));
    program.run(&["fallback", "remove", "1"]).ok();
    assert!(
        program
            .stdout(&["fallback", "list"])
            .contains("There are no fallbacks")
    );
}

#[test]
fn a_test_says_which_work() {
    let good = ModelServer::start(Scenario::new().reply(text("ok"))).unwrap();
    let bad = ModelServer::start(Scenario::new().reply(Step::new(error(401)).repeat())).unwrap();
    let program = Program::new();
    program
        .home
        .write_config(&format!(
            "providers: {{good: {{base_url: '{}'}}, bad: {{base_url: '{}'}}}}\n\
             fallback_providers:\n- {{provider: 'custom:good', model: big}}\n- {{provider: 'custom:bad', model: big}}\n\
             - {{provider: xai, model: grok-4}}\n",
            good.base_url(),
            bad.base_url()
        ))
        .unwrap();
    let dry = program.run(&["fallback", "test", "--dry-run"]).code(1);
    assert!(
        dry.stdout.contains("works  custom:good/big"),
        "{}",
        dry.stdout
    );
    assert!(good.requests().is_empty(), "nothing was called");
    let output = program.run(&["fallback", "test"]).code(1);
    let lines: Vec<_> = output.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{}", output.stdout);
    assert!(
        lines[0].starts_with("works  custom:good/big: answers"),
        "{}",
        lines[0]
    );
    assert!(
        lines[1].starts_with("fails  custom:bad/big") && lines[1].contains("401"),
        "{}",
        lines[1]
    );
    assert!(lines[2].contains("XAI_API_KEY"), "{}", lines[2]);
    assert_eq!(good.requests().len(), 1);
}

// PV-18 PV-32
#[test]
fn another_model_at_the_address_of_the_first_needs_no_address_of_its_own() {
    let server = ModelServer::start(Scenario::new().reply(Step::new(text("ok")).repeat())).unwrap();
    let program = Program::new();
    let config = format!(
        "model: {{provider: custom, base_url: '{}', api_key: key-of-my-own-1234, default: first, \
         context_length: 100000, extra_headers: {{x-lab: '7'}}}}\n",
        server.base_url()
    );
    program.home.write_config(&config).unwrap();
    let add = ["fallback", "add", "second", "--provider", "custom"];
    assert_eq!(program.run(&add).ok().stderr, "");
    let output = program.run(&["fallback", "test"]).ok();
    assert_eq!(output.stdout, "works  custom/second: answers\n");
    let asked = server.requests().pop().unwrap();
    assert_eq!(asked.expect_json()["model"], "second");
    let key = asked.header("authorization");
    assert_eq!(key, Some("Bearer key-of-my-own-1234"));
    assert_eq!(asked.header("x-lab"), Some("7"));

    // Without that address nobody knows where it is, and the words say where to write it.
    let lost = "fallback_providers: [{provider: custom, model: second}]\n";
    program.home.write_config(lost).unwrap();
    let output = program.run(&["fallback", "test", "--dry-run"]).code(1);
    let hint = "or `base_url` beside the provider in config.yaml";
    assert!(output.stdout.contains(hint), "{}", output.stdout);
}
