//! What setting up finds by itself: keys around the program, servers on this machine, the model inside.

use std::os::unix::fs::PermissionsExt as _;

use hermes_testkit::Sshd;
use hermes_testkit::model_server::{ModelServer, Scenario, Step, error, json};
use hermes_testkit::pty::Terminal;
use serde_json::json;

use super::program::Program;
use super::setup::{KEY, LIMIT, ends, open, pick, reply};

// CL-12
#[test]
fn a_key_around_the_program_is_found_and_copied_nowhere() {
    let program = Program::new();
    let with_key = |arguments: &[&str]| {
        let command = program.command(arguments);
        let command = command
            .env("TERM", "xterm-256color")
            .env("DEEPSEEK_API_KEY", KEY);
        Terminal::spawn(&command, 120, 90).unwrap()
    };
    // It is enough for a conversation: nothing is asked.
    let terminal = with_key(&["chat"]);
    terminal.wait_for_text("ask anything", LIMIT).unwrap();
    terminal.send("\x04").unwrap();
    ends(&terminal, 0);
    let terminal = with_key(&["setup", "--quick"]);
    pick(&terminal, "Which model shall answer?", "DEEPSEEK_API_KEY");
    terminal.wait_for_text("hermes to talk", LIMIT).unwrap();
    ends(&terminal, 0);
    let config = program.home.read("config.yaml").unwrap();
    assert!(config.contains("provider: deepseek"), "{config}");
    assert!(!config.contains(KEY), "{config}");
    assert!(!program.home.path().join("auth.json").exists());
}

// CL-12
#[test]
fn a_server_on_this_machine_is_found_and_offered_with_its_model() {
    let tags = json(json!({"models": [{"name": "qwen3:8b"}, {"name": "llama3:latest"}]}));
    let scenario = Scenario::new()
        .route("GET", "/api/tags", [Step::new(tags).repeat()])
        .route("GET", "/api/v1/models", [Step::new(error(404)).repeat()]);
    let server = ModelServer::start(scenario.lenient()).unwrap();
    let program = Program::new();
    // Where Ollama listens is a matter of its profile.
    let profile = format!(
        "id: custom\nname: Your own endpoint\nabout: Any server\naliases: [ollama]\n\
         places: {{ollama: '{}'}}\ndefault_path: /v1\nkey: optional\nauto: false\n",
        server.base_url()
    );
    let place = "plugins/model-providers/custom/profile.yaml";
    program.home.write(place, profile).unwrap();
    let terminal = open(&program, &["setup", "--quick"]);
    let found = "qwen3:8b from Ollama, on this machine";
    pick(&terminal, "Which model shall answer?", found);
    let screen = terminal.wait_for_text("hermes to talk", LIMIT).unwrap();
    assert!(screen.contains("qwen3:8b from ollama"), "{screen}");
    ends(&terminal, 0);
    assert_eq!(
        program.home.read("config.yaml").unwrap(),
        "model:\n  provider: ollama\n  default: qwen3:8b\n"
    );
    let why = program.run(&["model", "--why", "--json"]).ok().json();
    assert_eq!(why["address"], server.base_url(), "{why:#}");
}

// CL-12
#[test]
fn the_model_inside_the_program_is_offered_and_nothing_is_written_before_it_is_there() {
    let program = Program::new();
    // It is fetched with pip, which is not there.
    let command = program.command(&["chat"]).env("TERM", "xterm-256color");
    let command = command.env("PATH", "/nowhere");
    let terminal = Terminal::spawn(&command, 120, 90).unwrap();
    let offer = "A tiny model inside the program";
    pick(&terminal, "Which model shall answer?", offer);
    let screen = terminal.wait_for_text("pip", LIMIT).unwrap();
    assert!(screen.contains("smollm2 from local"), "{screen}");
    ends(&terminal, 1);
    assert!(!program.home.path().join("config.yaml").exists());
}

// CL-12
#[test]
fn a_machine_is_tried_over_ssh_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let server = Sshd::start_at(&folder.path().join("user")).unwrap();
    // The client keeps host keys in the real home of its user, which is none of ours.
    let ssh = folder.path().join("ssh");
    let known = server.known_hosts().display().to_string();
    let script = format!("#!/bin/sh\nexec /usr/bin/ssh -o UserKnownHostsFile={known} \"$@\"\n");
    std::fs::write(&ssh, script).unwrap();
    std::fs::set_permissions(&ssh, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let program = Program::new();
    for (key, answered) in [
        (server.wrong_key(), "It does not work yet: "),
        (server.key(), "The machine answers and lets commands in."),
    ] {
        let command = program.command(&["setup", "terminal"]);
        let command = command.env("TERM", "xterm-256color").env("PATH", &path);
        let terminal = Terminal::spawn(&command, 140, 60).unwrap();
        pick(&terminal, "Where shall commands run?", "over SSH");
        reply(&terminal, "Name or address of the machine?", "127.0.0.1");
        reply(&terminal, "User there?", &server.user().unwrap());
        reply(&terminal, "Port?", &server.port().to_string());
        reply(
            &terminal,
            "File of the private key?",
            &key.display().to_string(),
        );
        reply(&terminal, "Try the connection now?", "");
        terminal.wait_for_text(answered, LIMIT).unwrap();
        assert!(!program.home.path().join("config.yaml").exists());
        reply(&terminal, "Write it? [Y/n]", "n");
        ends(&terminal, 0);
    }
}
