//! What is typed into programs that run behind a conversation, over several turns of it.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Scenario, ServerOptions, text, tool_call};
use hermes_testkit::pty::Terminal;
use serde_json::{Value as Json, json};

use super::chat::with_model;
use super::hands::results_in;
use super::program::Program;

const LIMIT: Duration = Duration::from_secs(60);

/// A text that is typed, and what a person says who is asked about it.
struct Text {
    action: &'static str,
    data: &'static str,
    answer: Option<&'static str>,
}

fn write(data: &'static str) -> Text {
    Text {
        action: "write",
        data,
        answer: None,
    }
}

fn submit(data: &'static str, answer: Option<&'static str>) -> Text {
    Text {
        action: "submit",
        data,
        answer,
    }
}

/// Starts `bash` behind a conversation, has each text typed into it in a turn of its own, and says what came of
/// each.
fn typed(more: &str, flags: &[&str], prepare: impl FnOnce(&Program), texts: &[Text]) -> Vec<Json> {
    let start = json!({"command": "exec bash", "background": true});
    let first = Scenario::new()
        .reply(tool_call("terminal", start))
        .reply(text("turn-0"));
    let server = ModelServer::start(first).unwrap();
    let address = server.base_url();
    let program = with_model(&address);
    let settings = program.home.read("config.yaml").unwrap();
    let quiet = "auxiliary: {title_generation: {enabled: false}}\n";
    let more = more.replace("HOME", &program.home.path().display().to_string());
    let settings = format!("{settings}{quiet}{more}");
    program.home.write_config(&settings).unwrap();
    prepare(&program);
    let command = program.command(&["chat", "--plain"]).args(flags);
    let screen = Terminal::spawn(&command, 120, 60).unwrap();
    let say = |line: &str, shown: &str| {
        screen.send(&format!("{line}\r")).unwrap();
        screen.wait_for_text(shown, LIMIT).unwrap();
    };
    screen.wait_for_text("Ctrl+D ends", LIMIT).unwrap();
    say("start", "turn-0");
    let results = results_in(server.requests().last().unwrap().expect_json());
    let id = results[0]["session_id"].as_str().unwrap().to_owned();
    // Only now is it known what the process is called.
    let mut scenario = Scenario::new();
    for (turn, text_typed) in texts.iter().enumerate() {
        let Text { action, data, .. } = text_typed;
        let call = json!({"action": action, "session_id": id, "data": data});
        scenario = scenario
            .reply(tool_call("process", call))
            .reply(text(format!("turn-{}", turn + 1)));
    }
    server.stop();
    let port = address.rsplit([':', '/']).nth(1).unwrap().parse().unwrap();
    let options = ServerOptions { port, log: None };
    let server = ModelServer::start_with(scenario, options).unwrap();
    for (turn, text_typed) in texts.iter().enumerate() {
        let done = format!("turn-{}", turn + 1);
        match text_typed.answer {
            None => say("type", &done),
            Some(answer) => {
                say("type", "May I do this?");
                say(answer, &done);
            }
        }
    }
    screen.send("/exit\r").unwrap();
    screen.wait_exit(LIMIT).unwrap();
    let last = results_in(server.requests().last().unwrap().expect_json());
    last[1..].to_vec()
}

fn statuses(results: &[Json]) -> Vec<&str> {
    let all = results.iter();
    all.map(|result| result["status"].as_str().unwrap_or_default())
        .collect()
}

// EX-52, EX-58: what never runs does not run in pieces either, though a turn lies between them.
#[test]
fn what_was_typed_in_an_earlier_turn_counts() {
    let texts = [write("rm -r"), submit("f /", None), submit("f gone", None)];
    let results = typed("", &["--yolo"], |_| {}, &texts);
    assert_eq!(statuses(&results), ["ok", "blocked", "ok"], "{results:?}");
    let told = results[1]["error"].as_str().unwrap();
    assert!(told.contains("never runs"), "{told}");
}

// EX-58, EX-59: the scanner sees what a shell is told line by line, and nothing that is not read as commands.
#[test]
fn the_scanner_looks_at_what_is_typed_into_a_shell() {
    let scanner = |program: &Program| {
        let body = "#!/bin/sh\nfor word; do :; done\n\
                    case \"$word\" in *'curl look-alike'*) exit 1 ;; esac\nexit 0\n";
        program.home.write("scanner", body).unwrap();
        let path = program.home.path().join("scanner");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    let settings = "security:\n  tirith_path: HOME/scanner\n  tirith_timeout: 60\n  tirith_fail_open: false\n\
                    approvals: {mode: manual}\n";
    let texts = [
        write("cu"),
        submit("rl look-alike", Some("n")),
        submit("rl --version", None),
    ];
    let results = typed(settings, &[], scanner, &texts);
    assert_eq!(statuses(&results), ["ok", "blocked", "ok"], "{results:?}");
}
