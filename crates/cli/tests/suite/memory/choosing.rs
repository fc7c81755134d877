//! Choosing an external memory, looking at it and leaving it.

use std::time::Duration;

use hermes_testkit::model_server::{Scenario, text};
use hermes_testkit::pty::Terminal;
use serde_json::json;

use super::approval::say;
use super::external::{KEY, home, mem0, variables};
use crate::suite::program::Program;

const LIMIT: Duration = Duration::from_secs(60);

// LN-39
#[test]
fn setup_tries_what_it_is_told_before_it_writes_it_down() {
    let (program, service) = (Program::new(), mem0());
    let setup = |arguments: &[&str], key: &str| {
        let mut all = vec!["memory", "setup"];
        all.extend(arguments);
        program
            .command(&all)
            .stdin(format!("{key}\n"))
            .run()
            .unwrap()
    };
    let url = service.url();
    let refused = setup(&["mem0", "--address", &url], "a-wrong-key-123");
    let refused = refused.code(1);
    assert!(
        refused.stderr.contains("does not accept the key"),
        "{}",
        refused.report()
    );
    assert!(!refused.stderr.contains("a-wrong-key-123"));
    assert!(program.home.read(".env").is_err() && program.home.read("config.yaml").is_err());
    for (arguments, told) in [
        (vec!["memo"], "there is no external memory called memo"),
        (vec![], "nobody can be asked"),
        (
            vec!["holographic", "--address", "http://x"],
            "has no address",
        ),
    ] {
        let refused = setup(&arguments, "");
        assert!(
            refused.stderr.contains(told) && refused.stderr.contains("hint: "),
            "{}",
            refused.report()
        );
    }
    let done = setup(&["mem0", "--address", &url], KEY).ok();
    assert!(
        done.stdout
            .contains("mem0 answers: the memories of hermes-user."),
        "{}",
        done.stdout
    );
    assert!(!done.stdout.contains(KEY) && !done.stderr.contains(KEY));
    let written = program.home.read(".env").unwrap();
    assert!(written.contains(KEY) && written.contains(&url), "{written}");
    assert_eq!(program.home.mode(".env").unwrap() & 0o77, 0);
    let status = program.run(&["memory", "status", "--json"]).ok().json();
    assert_eq!(status["provider"], "mem0");
    let tools = json!(["mem0_search", "mem0_add", "mem0_update", "mem0_delete"]);
    assert_eq!(
        (&status["external"]["ready"], &status["external"]["tools"]),
        (&json!(true), &tools)
    );
    let off = program.run(&["memory", "off", "--json"]).ok().json();
    assert_eq!(off, json!({"was": "mem0"}));
    assert_eq!(
        program.run(&["memory", "off", "--json"]).ok().json(),
        json!({"was": null})
    );
    let status = program.run(&["memory", "status", "--json"]).ok().json();
    assert_eq!(status["external"], json!(null));
}

// LN-39
#[test]
fn the_wizard_asks_hides_the_key_and_can_be_left() {
    let (program, service) = (Program::new(), mem0());
    let wizard = || Terminal::spawn(&program.command(&["memory", "setup"]), 120, 60).unwrap();
    let left = wizard();
    left.wait_for_text("Which one?", LIMIT).unwrap();
    left.send("\r").unwrap();
    left.wait_for_text("Nothing was changed.", LIMIT).unwrap();
    assert_eq!(left.wait_exit(LIMIT).unwrap().code, 0);
    assert!(program.home.read("config.yaml").is_err());
    let asked = wizard();
    asked.wait_for_text("Which one?", LIMIT).unwrap();
    asked.send("mem0\r").unwrap();
    asked.wait_for_text("Its address", LIMIT).unwrap();
    asked.send(&format!("{}\r", service.url())).unwrap();
    asked.wait_for_text("Its key", LIMIT).unwrap();
    asked.send(&format!("{KEY}\r")).unwrap();
    asked
        .wait_for_text("is used from the next conversation on", LIMIT)
        .unwrap();
    assert!(!asked.everything().join("\n").contains(KEY));
    assert_eq!(asked.wait_exit(LIMIT).unwrap().code, 0);
    assert!(
        program
            .home
            .read("config.yaml")
            .unwrap()
            .contains("provider: mem0")
    );
}

// LN-39
#[test]
fn doctor_and_the_slash_command_say_how_it_stands() {
    let service = mem0();
    let (_server, program) = home(
        Scenario::new().reply(text("ok")),
        "mem0",
        &variables(&service),
    );
    let finding = || {
        let report = program.run(&["doctor", "--json"]).json();
        let findings = report["findings"].as_array().unwrap().clone();
        findings
            .into_iter()
            .find(|one| one["about"] == "memory")
            .unwrap()
    };
    assert_eq!(finding()["standing"], "good");
    service.fail("/search", 401, usize::MAX);
    let bad = finding();
    assert_eq!(bad["standing"], "bad");
    assert!(
        bad["text"]
            .as_str()
            .unwrap()
            .contains("does not accept the key"),
        "{bad}"
    );
    let screen = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 100).unwrap();
    screen.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    say(
        &screen,
        "/memory",
        "External memory: mem0 (nothing waits to be sent)",
    );
    screen.send("/exit\r").unwrap();
    screen.wait_exit(LIMIT).unwrap();
    let size = program.run(&["prompt-size", "--json"]).ok().json();
    assert!(size.to_string().contains("mem0_search"), "{size}");
}
