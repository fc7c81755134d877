//! `hermes mcp serve`, asked by `hermes mcp call` from another home.

use std::path::Path;
use std::process::Command;

use hermes_testkit::Signal;
use hermes_testkit::model_server::{Scenario, text};
use serde_json::{Value as Json, json};

use super::mcp_lab::{LONG, Lab, served};
use super::program::Program;

const TOKEN: &str = "a-token-for-the-server-of-tests";

/// A home with one conversation in it.
fn talked() -> Lab {
    let lab = Lab::new(Scenario::new().reply(text("an answer worth reading")));
    let asked = lab.program.command(&["-z", "a question worth asking"]);
    asked.timeout(LONG).run().unwrap().ok();
    lab
}

fn added(lab: &Lab, arguments: &[&str]) -> Vec<String> {
    let all: Vec<&str> = ["add", "there"].iter().chain(arguments).copied().collect();
    assert_eq!(lab.mcp(&all).0, 0);
    let (code, tested) = lab.mcp(&["test", "there", "--json"]);
    assert_eq!(code, 0, "{tested:?}");
    let tools = tested[0]["tools"].as_array().unwrap();
    let names = tools.iter().map(|tool| tool["name"].as_str().unwrap());
    names.map(str::to_owned).collect()
}

fn reads_the_conversation(lab: &Lab) {
    let (code, listed) = lab.mcp(&["call", "there", "conversations_list"]);
    assert_eq!(code, 0, "{listed:?}");
    let told = listed[0]["answer"]["result"].as_str().unwrap();
    let told: serde_json::Value = serde_json::from_str(told).unwrap();
    assert_eq!(told["count"], json!(1), "{told}");
    let key = told["conversations"][0]["session_key"].as_str().unwrap();
    let asked = json!({ "session_key": key }).to_string();
    let (code, read) = lab.mcp(&["call", "there", "messages_read", "--args", &asked]);
    assert_eq!(code, 0, "{read:?}");
    let read = read[0]["answer"].to_string();
    assert!(
        read.contains("a question worth asking") && read.contains("an answer worth reading"),
        "{read}"
    );
}

// MCP-79
#[test]
fn other_programs_read_conversations_over_standard_input() {
    let server = talked();
    let client = Lab::new(Scenario::new());
    let home = format!("HERMES_HOME={}", server.program.home.path().display());
    let offered = added(
        &client,
        &[
            "--command",
            env!("CARGO_BIN_EXE_hermes"),
            "--env",
            &home,
            "--args",
            "mcp",
            "serve",
        ],
    );
    assert_eq!(
        offered,
        [
            "conversations_list",
            "conversation_get",
            "messages_read",
            "attachments_fetch",
            "events_poll",
            "events_wait",
            "messages_send",
            "channels_list",
            "permissions_list_open",
            "permissions_respond",
        ]
    );
    reads_the_conversation(&client);
}

// MCP-79
#[test]
fn over_http_only_those_with_the_token_get_in() {
    let server = talked();
    let serve = ["mcp", "serve", "--http", "127.0.0.1:0"];
    let refused = server.program.run(&serve).code(2);
    assert!(
        refused.stderr.contains("HERMES_MCP_TOKEN"),
        "{}",
        refused.stderr
    );
    let guessed = server.program.command(&serve);
    let guessed = guessed.env("HERMES_MCP_TOKEN", "short").run().unwrap();
    guessed.code(2);
    let everywhere = ["mcp", "serve", "--http", "0.0.0.0:0"];
    let everywhere = server.program.command(&everywhere);
    let refused = everywhere.env("HERMES_MCP_TOKEN", TOKEN).run().unwrap();
    assert!(refused.code(2).stderr.contains("tunnel"));

    let running = server
        .program
        .command(&serve)
        .env("HERMES_MCP_TOKEN", TOKEN);
    let running = running.spawn().unwrap();
    let url = running.next_line(LONG).unwrap().unwrap();
    let client = Lab::new(Scenario::new());
    let nobody = client
        .program
        .command(&["mcp", "add", "there", "--url", &url]);
    let refused = nobody.timeout(LONG).run().unwrap().code(1);
    let hint = "--auth header sends a token";
    assert!(refused.stderr.contains(hint), "{}", refused.stderr);
    let add = ["mcp", "add", "there", "--url", &url, "--auth", "header"];
    let add = client.program.command(&add).stdin(format!("{TOKEN}\n"));
    add.timeout(LONG).run().unwrap().ok();
    reads_the_conversation(&client);
    running.signal(Signal::SIGTERM).unwrap();
    let ended = running.wait(LONG).unwrap();
    assert_eq!(ended.code, Some(143), "{}", ended.report());
    assert!(!ended.stderr.contains(TOKEN), "{}", ended.stderr);
}

// MCP-79
#[test]
fn the_token_is_read_from_the_variable_that_is_named() {
    let server = talked();
    let serve = ["mcp", "serve", "--http", "127.0.0.1:0"];
    let serve = [&serve[..], &["--token-env", "NOTES_TOKEN"]].concat();
    let usual = server.program.command(&serve);
    let refused = usual.env("HERMES_MCP_TOKEN", TOKEN).run().unwrap().code(2);
    assert!(
        refused.stderr.contains("NOTES_TOKEN is not set"),
        "{}",
        refused.stderr
    );
    let named = server.program.command(&serve).env("NOTES_TOKEN", TOKEN);
    let other = "the-token-under-its-usual-name";
    let running = named.env("HERMES_MCP_TOKEN", other).spawn().unwrap();
    let url = running.next_line(LONG).unwrap().unwrap();
    let add = ["mcp", "add", "there", "--url", &url, "--auth", "header"];
    let with = |token: &str| {
        let client = Lab::new(Scenario::new());
        let add = client.program.command(&add).stdin(format!("{token}\n"));
        let added = add.timeout(LONG).run().unwrap();
        (client, added)
    };
    assert_ne!(with(other).1.code, Some(0));
    let (client, added) = with(TOKEN);
    added.ok();
    reads_the_conversation(&client);
    running.signal(Signal::SIGTERM).unwrap();
    let ended = running.wait(LONG).unwrap();
    assert_eq!(ended.code, Some(143), "{}", ended.report());
}

// MCP-79
#[test]
fn garbage_on_standard_input_is_passed_over() {
    let program = Program::new();
    let hello = json!({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }});
    let garbage = ["hello", "{\"half\": ", "[1,2", ""].map(str::to_owned);
    let said = [&garbage[..], &[hello.to_string()]].concat();
    let output = served(&program, "", &said, 7).ok();
    let answers: Vec<Json> = output
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("standard output is for the protocol"))
        .collect();
    let answer = answers.iter().find(|answer| answer["id"] == 7);
    let answer = answer.unwrap_or_else(|| panic!("{}", output.report()));
    assert!(answer["result"]["serverInfo"].is_object(), "{answer}");
}

// MCP-79
#[test]
fn the_server_scenarios_of_the_conformance_suite_pass() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/conformance");
    let binary = Path::new(env!("CARGO_BIN_EXE_hermes"));
    let output = Command::new(script)
        .arg("server")
        .env("CONFORMANCE_BINARIES", binary.parent().unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complaints}");
    assert!(said.contains("5 passed, 0 failed"), "{said}");
}
