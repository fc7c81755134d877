//! `hermes mcp serve`, asked by `hermes mcp call` from another home.

use hermes_testkit::Signal;
use hermes_testkit::model_server::{Scenario, text};
use serde_json::json;

use super::mcp_lab::{LONG, Lab};
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
            "channels_list",
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
    assert_eq!(client.mcp(&["add", "there", "--url", &url]).0, 1);
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
fn garbage_on_standard_input_is_passed_over() {
    let program = Program::new();
    let command = program.command(&["mcp", "serve"]).stdin("hello\n");
    let output = command.timeout(LONG).run().unwrap().ok();
    let line = output.stdout.lines().next();
    assert!(
        line.is_none_or(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()),
        "standard output is for the protocol: {}",
        output.report()
    );
}
