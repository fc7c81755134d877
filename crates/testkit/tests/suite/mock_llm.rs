//! The mock-llm program, end to end.

use std::time::Duration;

use hermes_testkit::{Signal, TempHome};
use serde_json::{Value, json};

use super::http_client::{ask, chat, send};

const MOCK_LLM: &str = env!("CARGO_BIN_EXE_mock-llm");
const LIMIT: Duration = Duration::from_secs(10);

#[test]
fn echoes_without_a_scenario_and_logs_without_credentials() {
    let home = TempHome::new().unwrap();
    let server = home
        .command(MOCK_LLM)
        .args(["--log", "requests.jsonl"])
        .spawn()
        .unwrap();
    let base_url = server.next_line(LIMIT).unwrap().unwrap();
    let answer = chat(&base_url, &ask("say this")).json();
    assert_eq!(answer["choices"][0]["message"]["content"], "say this");

    server.signal(Signal::SIGTERM).unwrap();
    server.wait(LIMIT).unwrap().ok();
    let log = std::fs::read_to_string(home.workspace().join("requests.jsonl")).unwrap();
    let line: Value = serde_json::from_str(log.trim()).unwrap();
    assert_eq!(line["body"]["messages"][0]["content"], "say this");
    assert_eq!(line["headers"]["authorization"], "[redacted]");
}

#[test]
fn follows_a_scenario_file_until_interrupted() {
    let home = TempHome::new().unwrap();
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/rough-vendor.json");
    let server = home.command(MOCK_LLM).arg(scenario).spawn().unwrap();
    let base_url = server.next_line(LIMIT).unwrap().unwrap();
    assert_eq!(chat(&base_url, &ask("one")).status, 429);
    assert_eq!(chat(&base_url, &ask("two")).status, 503);
    server.signal(Signal::SIGINT).unwrap();
    server.wait(LIMIT).unwrap().ok();
}

#[test]
fn plays_scripted_routes_and_other_protocols_from_a_file() {
    let home = TempHome::new().unwrap();
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/device-login.json");
    let server = home.command(MOCK_LLM).arg(scenario).spawn().unwrap();
    let base_url = server.next_line(LIMIT).unwrap().unwrap();
    let origin = base_url.strip_suffix("/v1").unwrap();
    let poll = |body: &str| send(origin, "POST", "/oauth/token", body);
    assert_eq!(poll("device_code=dc-1").status, 400);
    assert_eq!(poll("device_code=dc-1").json()["access_token"], "at-1");
    assert_eq!(poll("refresh_token=rt-1").json()["access_token"], "at-2");
    let body = json!({
        "model": "scripted",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "think"}],
    });
    let answer = send(origin, "POST", "/v1/messages", &body.to_string()).json();
    assert_eq!(answer["content"][0]["signature"], "seal-1");
    server.signal(Signal::SIGTERM).unwrap();
    server.wait(LIMIT).unwrap().ok();
}

#[test]
fn is_strict_unless_told_otherwise() {
    let home = TempHome::new().unwrap();
    let mut body = ask("hi");
    body["_local"] = true.into();
    for (arguments, status) in [(&[][..], 400), (&["--lenient"][..], 200)] {
        let server = home.command(MOCK_LLM).args(arguments).spawn().unwrap();
        let base_url = server.next_line(LIMIT).unwrap().unwrap();
        assert_eq!(chat(&base_url, &body).status, status);
        server.signal(Signal::SIGTERM).unwrap();
        server.wait(LIMIT).unwrap().ok();
    }
}

#[test]
fn explains_itself_and_its_mistakes() {
    let home = TempHome::new().unwrap();
    let help = home.command(MOCK_LLM).arg("--help").run().unwrap().ok();
    assert!(
        help.stdout.contains("mock-llm [OPTIONS] [SCENARIO]"),
        "{}",
        help.report()
    );
    for word in ["--lenient", "/converse-stream", "Anthropic Messages"] {
        assert!(help.stdout.contains(word), "{}", help.report());
    }
    home.write_work("bad.json", "{\"stpes\": []}").unwrap();
    let bad = home
        .command(MOCK_LLM)
        .arg("bad.json")
        .run()
        .unwrap()
        .code(1);
    assert!(bad.stderr.contains("stpes"), "{}", bad.report());
}
