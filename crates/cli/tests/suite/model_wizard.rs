//! `hermes model` on a terminal: what it asks, what it writes, and when.

use std::process::Command;
use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Scenario, Step, error, json};
use hermes_testkit::pty::{Screen, Terminal};
use serde_json::json;

use super::program::Program;

const KEY: &str = "sk-test-1234567890abcdef";
const LIMIT: Duration = Duration::from_secs(30);

/// Types an answer once its question is on the screen.
fn reply(terminal: &Terminal, question: &str, answer: &str) {
    terminal.wait_for_text(question, LIMIT).unwrap();
    terminal.send(&format!("{answer}\r")).unwrap();
}

/// The keys of the requests for a list or an answer.
fn sent(server: &ModelServer) -> Vec<Option<String>> {
    let all = server.requests().into_iter();
    let asked = all.filter(|request| request.method == "POST" || request.path == "/v1/models");
    asked
        .map(|request| request.header("authorization").map(str::to_owned))
        .collect()
}

// PV-25, PV-26
#[test]
fn the_wizard_switches_and_switching_again_leaves_nothing_behind() {
    let server = ModelServer::start(Scenario::new().models(["big", "small", "smaller"])).unwrap();
    let program = Program::new();
    let config = |rest: &str| {
        format!(
            "model:\n{rest}providers: {{lab: {{base_url: '{}', context_length: 9000}}}}\n",
            server.base_url()
        )
    };
    program
        .home
        .write_config(&config(
            "  provider: custom\n  default: old\n  base_url: http://127.0.0.1:9/v1\n  api_mode: anthropic_messages\n",
        ))
        .unwrap();
    program
        .home
        .write_env(&format!("DEEPSEEK_API_KEY={KEY}\n"))
        .unwrap();
    let wizard = || Terminal::spawn(&program.command(&["model"]), 100, 60).unwrap();
    let terminal = wizard();
    reply(&terminal, "Who shall serve", "custom:lab");
    reply(&terminal, "Which model?", "small");
    // Two have that in their names, one is called so: that one is meant.
    reply(&terminal, "Let small from custom:lab answer", "");
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
    assert_eq!(
        program.home.read("config.yaml").unwrap(),
        config("  provider: custom:lab\n  default: small\n")
    );
    server.stop();
    // The list is shown as it was kept, and a part of a name narrows it down.
    let terminal = wizard();
    reply(&terminal, "Who shall serve", "1");
    terminal.wait_for_text("its last answer,", LIMIT).unwrap();
    reply(&terminal, "Which model?", "smal");
    // The question stands there twice now; the second one is answered.
    let asked_again = |screen: &Screen| screen.text().matches("Which model?").count() == 2;
    terminal.wait_for(asked_again, LIMIT).unwrap();
    terminal.send("2\r").unwrap();
    reply(&terminal, "Let smaller from custom:lab answer", "y");
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
    // Nothing typed is nothing changed.
    let before = program.home.read("config.yaml").unwrap();
    let terminal = wizard();
    reply(&terminal, "Who shall serve", "deepseek");
    reply(&terminal, "Which model?", "deepseek-reasoner");
    reply(&terminal, "Let deepseek-reasoner", "n");
    terminal
        .wait_for_text("Nothing was changed.", LIMIT)
        .unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
    assert_eq!(program.home.read("config.yaml").unwrap(), before);
    assert!(before.contains("default: smaller"), "{before}");
}

// PV-25
#[test]
fn a_saved_endpoint_can_be_removed_and_nothing_of_it_is_left() {
    let config = "# mine\n\
        model: {provider: 'custom:lab', default: m1, context_length: 9000}\n\
        providers:\n  lab: {base_url: 'http://127.0.0.1:9/v1'}\n  shed: {base_url: 'http://127.0.0.1:8/v1'}\n\
        custom_providers:\n  - {name: Attic, base_url: 'http://127.0.0.1:7/v1'}\n  \
        - {name: cellar, base_url: 'http://127.0.0.1:6/v1'}\n";
    let program = Program::new();
    program.home.write_config(config).unwrap();
    let add = ["auth", "add", "custom:lab", "--api-key", KEY];
    program.run(&add).ok();
    let wizard = || Terminal::spawn(&program.command(&["model"]), 100, 60).unwrap();
    let number = |terminal: &Terminal| {
        let screen = terminal
            .wait_for_text("Who shall serve", LIMIT)
            .unwrap()
            .text();
        let line = screen
            .lines()
            .find(|line| line.contains("Remove an endpoint"))
            .unwrap();
        line.split_whitespace().next().unwrap().to_owned()
    };
    // A no leaves it.
    let terminal = wizard();
    let removal = number(&terminal);
    terminal.send(&format!("{removal}\r")).unwrap();
    reply(&terminal, "Which one shall be removed?", "attic");
    reply(&terminal, "Remove attic and the keys", "");
    let again = |screen: &Screen| screen.text().matches("Who shall serve").count() == 2;
    terminal.wait_for(again, LIMIT).unwrap();
    assert_eq!(program.home.read("config.yaml").unwrap(), config);
    terminal.send(&format!("{removal}\r")).unwrap();
    let again = |screen: &Screen| screen.text().matches("Which one shall").count() == 2;
    terminal.wait_for(again, LIMIT).unwrap();
    terminal.send("attic\r").unwrap();
    let again = |screen: &Screen| screen.text().matches("Remove attic").count() == 2;
    terminal.wait_for(again, LIMIT).unwrap();
    terminal.send("y\r").unwrap();
    terminal.wait_for_text("attic is removed.", LIMIT).unwrap();
    let again = |screen: &Screen| screen.text().matches("Who shall serve").count() == 3;
    terminal.wait_for(again, LIMIT).unwrap();
    terminal.send("\r").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
    let kept = program.home.read("config.yaml").unwrap();
    assert!(kept.starts_with("# mine\n"), "{kept}");
    assert!(!kept.contains("Attic") && kept.contains("cellar"), "{kept}");
    // The one in use takes its key and the route along.
    let removed = program.run(&["model", "remove", "lab", "--yes"]).ok();
    assert!(
        removed.stdout.contains("lab is removed."),
        "{}",
        removed.stdout
    );
    assert!(removed.stdout.contains("Its key"), "{}", removed.stdout);
    assert!(
        removed.stdout.contains("No model is chosen any more"),
        "{}",
        removed.stdout
    );
    let kept = program.home.read("config.yaml").unwrap();
    assert!(!kept.contains("lab") && !kept.contains("9000"), "{kept}");
    assert!(kept.contains("shed") && kept.contains("cellar"), "{kept}");
    assert!(!program.home.read("auth.json").unwrap().contains(KEY));
    // Nobody can be asked here, and what is not there cannot go.
    let asked = program.run(&["model", "remove", "shed"]).code(2);
    assert!(asked.stderr.contains("--yes"), "{}", asked.stderr);
    for name in ["lab", "deepseek"] {
        let missing = program.run(&["model", "remove", name, "--yes"]);
        assert_ne!(missing.code, Some(0), "{name}");
        assert!(
            missing.stderr.contains("hermes model list"),
            "{}",
            missing.stderr
        );
    }
}

// PV-25
#[test]
fn a_provider_without_a_key_is_asked_for_one_and_nothing_is_kept_before_the_end() {
    let server = ModelServer::start(Scenario::echo().models(["big", "small"])).unwrap();
    let program = Program::new();
    let profile = format!(
        "id: acme\nname: Acme\nbase_url: {}\nsignup: https://acme.example/keys\nkey_env: [ACME_API_KEY]\n\
         protocol: chat_completions\n",
        server.base_url()
    );
    let place = "plugins/model-providers/acme/profile.yaml";
    program.home.write(place, profile).unwrap();
    let old = "model: {provider: custom, default: old, base_url: 'http://127.0.0.1:9/v1', api_mode: anthropic_messages}\n";
    program.home.write_config(old).unwrap();
    let wizard = || {
        let terminal = Terminal::spawn(&program.command(&["model"]), 120, 90).unwrap();
        reply(&terminal, "Who shall serve", "acme");
        let where_from = "Acme needs a key. Keys are made at https://acme.example/keys";
        terminal.wait_for_text(where_from, LIMIT).unwrap();
        terminal
    };
    let untouched = || {
        assert_eq!(program.home.read("config.yaml").unwrap(), old);
        assert!(!program.home.path().join("auth.json").exists());
    };
    // An empty line leaves everything as it is and says so.
    let terminal = wizard();
    reply(&terminal, "Key (it is not shown", "");
    let screen = terminal
        .wait_for_text("Nothing was changed.", LIMIT)
        .unwrap();
    let screen = screen.text();
    assert!(screen.contains("hermes auth add acme"), "{screen}");
    assert!(screen.contains("ACME_API_KEY"), "{screen}");
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
    untouched();
    // Killed before the last answer.
    let terminal = wizard();
    reply(&terminal, "Key (it is not shown", KEY);
    reply(&terminal, "Which model?", "big");
    terminal.wait_for_text("Let big from acme", LIMIT).unwrap();
    let kill = ["-9", &terminal.pid().to_string()];
    assert!(Command::new("kill").args(kill).status().unwrap().success());
    terminal.wait_exit(LIMIT).unwrap();
    untouched();
    // A key that cannot work is asked for again; the other one is used at once, and kept at the end.
    let terminal = wizard();
    reply(&terminal, "Key (it is not shown", "two words");
    terminal.wait_for_text("has a space", LIMIT).unwrap();
    // What is typed before the question stands there again is thrown away.
    let again = |screen: &Screen| screen.text().matches("Key (it is not shown").count() == 2;
    terminal.wait_for(again, LIMIT).unwrap();
    terminal.send(&format!("{KEY}\r")).unwrap();
    reply(&terminal, "Which model?", "big");
    reply(&terminal, "Let big from acme", "");
    let screen = terminal
        .wait_for_text("answers from now on.", LIMIT)
        .unwrap();
    assert!(!screen.text().contains(KEY), "{}", screen.text());
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
    let config = program.home.read("config.yaml").unwrap();
    assert_eq!(config, "model: {provider: acme, default: big}\n");
    assert_eq!(program.run(&["-z", "hello"]).ok().stdout.trim(), "hello");
    let bearer = Some(format!("Bearer {KEY}"));
    assert!(sent(&server).iter().all(|key| *key == bearer));
}

// PV-25, PV-3
#[test]
fn an_endpoint_is_asked_for_its_address_its_key_and_its_models() {
    let first = ModelServer::start(Scenario::echo().models(["big", "small"])).unwrap();
    let second = ModelServer::start(Scenario::echo().route(
        "GET",
        "/v1/models",
        [Step::new(error(500)).repeat()],
    ))
    .unwrap();
    let program = Program::new();
    let before = "model: {provider: custom, default: old, base_url: 'http://127.0.0.1:9/v1', api_key: own-key-1234567890, api_mode: anthropic_messages, max_tokens: 9}\n";
    program.home.write_config(before).unwrap();
    let guessed = ("How many tokens does", "");
    let run = |address: &str, key: &str, model: &str, further: &[(&str, &str)]| {
        let terminal = Terminal::spawn(&program.command(&["model"]), 120, 90).unwrap();
        reply(&terminal, "Who shall serve", "custom");
        reply(&terminal, "Address of the API", "no address");
        terminal.wait_for_text("it is not a URL", LIMIT).unwrap();
        terminal.send(&format!("{address}\r")).unwrap();
        reply(&terminal, "Key (it is not shown", key);
        reply(&terminal, "Which model?", model);
        for (question, answer) in further {
            reply(&terminal, question, answer);
        }
        reply(&terminal, "answer from now on?", "");
        let screen = terminal
            .wait_for_text("answers from now on.", LIMIT)
            .unwrap();
        assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
        let config = program.home.read("config.yaml").unwrap();
        let name = if model == "1" { "big" } else { model };
        let whole = format!("model: {{provider: custom, default: {name}, base_url: {address}}}\n");
        assert_eq!(config, whole);
        assert_eq!(program.run(&["-z", "hello"]).ok().stdout.trim(), "hello");
        screen.text()
    };
    run(&first.base_url(), KEY, "1", &[guessed]);
    let bearer = Some(format!("Bearer {KEY}"));
    assert!(
        sent(&first).iter().all(|key| *key == bearer),
        "{:?}",
        sent(&first)
    );
    // One that has no list of models is no obstacle, and no key of another reaches it.
    let spoken = ("Does it speak the protocol of Anthropic?", "n");
    let screen = run(&second.base_url(), "", "typed", &[spoken, guessed]);
    assert!(
        screen.contains("There is no list of its models."),
        "{screen}"
    );
    assert!(screen.contains("500"), "{screen}");
    assert!(
        sent(&second).iter().all(Option::is_none),
        "{:?}",
        sent(&second)
    );
    // Back to the first: its key is still there, and another takes its place.
    run(&first.base_url(), "", "small", &[guessed]);
    assert!(sent(&first).iter().all(|key| *key == bearer));
    let other = "sk-other-1234567890abcdef";
    run(&first.base_url(), other, "small", &[guessed]);
    let last = sent(&first).last().cloned().flatten();
    assert_eq!(last, Some(format!("Bearer {other}")));
    let kept = program.home.read("auth.json").unwrap();
    assert!(kept.contains(other) && !kept.contains(KEY), "{kept}");
}

// PV-25
#[test]
fn an_endpoint_is_found_with_and_without_v1_and_asked_about_what_it_does_not_say() {
    let list = json!({"data": [{"id": "big"}]});
    let below = |path: &str| {
        let listed = Step::new(json(list.clone())).repeat();
        let missing = Step::new(error(404)).repeat();
        let (with, without) = (format!("{path}/v1/models"), format!("{path}/models"));
        (listed, missing, with, without)
    };
    let (listed, missing, with, without) = below("/api");
    let versioned = Scenario::new()
        .route("GET", with, [listed])
        .route("GET", without, [missing]);
    let (listed, missing, with, without) = below("/plain");
    let plain = Scenario::new()
        .route("GET", without, [listed])
        .route("GET", with, [missing]);
    let nobody = ["/odd/models", "/odd/v1/models"]
        .into_iter()
        .fold(Scenario::new(), |scenario, path| {
            scenario.route("GET", path, [Step::new(error(404)).repeat()])
        });
    let run = |scenario: Scenario, typed: &str, answers: &[(&str, &str)]| {
        let server = ModelServer::start(scenario).unwrap();
        let program = Program::new();
        let terminal = Terminal::spawn(&program.command(&["model"]), 120, 90).unwrap();
        reply(&terminal, "Who shall serve", "custom");
        let address = format!("{}{typed}", server.origin());
        reply(&terminal, "Address of the API", &address);
        reply(&terminal, "Key (it is not shown", "");
        for (question, answer) in answers {
            reply(&terminal, question, answer);
        }
        reply(&terminal, "answer from now on?", "");
        assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
        let config = program.home.read("config.yaml").unwrap();
        config.replace(&server.origin(), "ORIGIN")
    };
    let model = ("Which model?", "big");
    let window = ("How many tokens does big hold?", "70_000");
    assert_eq!(
        run(versioned, "/api", &[model, window]),
        "model:\n  provider: custom\n  default: big\n  base_url: ORIGIN/api/v1\n  context_length: 70000\n"
    );
    let guessed = ("How many tokens does big hold?", "");
    assert_eq!(
        run(plain, "/plain/v1", &[model, guessed]),
        "model:\n  provider: custom\n  default: big\n  base_url: ORIGIN/plain\n"
    );
    let spoken = ("Does it speak the protocol of Anthropic?", "y");
    assert_eq!(
        run(nobody, "/odd", &[model, spoken, guessed]),
        "model:\n  provider: custom\n  default: big\n  base_url: ORIGIN/odd\n  api_mode: anthropic_messages\n"
    );
}

// PV-25
#[test]
fn an_address_alone_says_who_serves() {
    let server = ModelServer::start(Scenario::echo()).unwrap();
    let program = Program::new();
    program
        .home
        .write_config("model: {provider: deepseek, default: deepseek-chat, max_tokens: 9}\n")
        .unwrap();
    program
        .home
        .write_env("DEEPSEEK_API_KEY=sk-deep-1234567890abcdef\n")
        .unwrap();
    let base = server.base_url();
    let set = ["model", "set", "big", "--base-url", &base, "--api-key", KEY];
    let said = program.run(&set).ok().stdout;
    assert!(!said.contains(KEY), "{said}");
    let config = program.home.read("config.yaml").unwrap();
    assert!(
        !config.contains("deepseek") && !config.contains("max_tokens"),
        "{config}"
    );
    assert!(!config.contains(KEY), "{config}");
    assert_eq!(program.run(&["-z", "hello"]).ok().stdout.trim(), "hello");
    let bearer = Some(format!("Bearer {KEY}"));
    assert!(sent(&server).iter().all(|key| *key == bearer));
}

// PV-25
#[test]
fn each_server_on_this_machine_is_found_whichever_of_them_answers_now() {
    let servers = [
        (
            "/props",
            json!({"default_generation_settings": {"n_ctx": 9_000}}),
        ),
        ("/version", json!({"version": "0.8"})),
    ]
    .map(|(path, answer)| {
        // Each is known by what nobody else has.
        let scenario = Scenario::new()
            .models(["m"])
            .route("GET", "/api/v1/models", [Step::new(error(404)).repeat()])
            .route("GET", path, [Step::new(json(answer)).repeat()]);
        ModelServer::start(scenario.lenient()).unwrap()
    });
    let program = Program::new();
    let [llama, vllm] = servers.each_ref().map(ModelServer::base_url);
    // Where they listen is a matter of the profile.
    let profile = format!(
        "id: custom\nname: Your own endpoint\nabout: Any server\naliases: [llamacpp, vllm]\n\
         places: {{llamacpp: '{llama}', vllm: '{vllm}'}}\ndefault_path: /v1\nkey: optional\nauto: false\n",
    );
    let place = "plugins/model-providers/custom/profile.yaml";
    program.home.write(place, profile).unwrap();
    let config = format!("model: {{provider: llamacpp, default: m, base_url: '{llama}'}}\n");
    program.home.write_config(&config).unwrap();
    let terminal = Terminal::spawn(&program.command(&["model"]), 120, 60).unwrap();
    let screen = terminal.wait_for_text("Who shall serve", LIMIT).unwrap();
    for name in ["(llamacpp)", "(vllm)"] {
        assert!(screen.contains(name), "{screen}");
    }
    terminal.send("\r").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
}
