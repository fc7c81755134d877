//! `kill -9` in the middle of a turn, in the real program, at many moments.

use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Scenario, Step, text, tool_call};
use serde_json::json;

use super::program::Program;

/// Who speaks each of the protocols: the protocol of an own endpoint, or a provider with its variables.
enum Speaker {
    Own(&'static str, &'static str),
    Provider(&'static str, &'static str, &'static str),
}

const SPEAKERS: [Speaker; 5] = [
    Speaker::Own("chat_completions", "/v1"),
    Speaker::Own("codex_responses", "/v1"),
    Speaker::Own("anthropic_messages", "/anthropic"),
    Speaker::Provider(
        "gemini",
        "gemini-3.5-flash",
        "GEMINI_API_KEY=key-1234567890\nGEMINI_BASE_URL=",
    ),
    Speaker::Provider(
        "bedrock",
        "amazon.nova-pro-v1:0",
        "AWS_BEARER_TOKEN_BEDROCK=key-1234567890\nBEDROCK_BASE_URL=",
    ),
];

fn configure(program: &Program, server: &ModelServer, speaker: &Speaker) -> &'static str {
    let origin = server.origin();
    let (mode, config) = match speaker {
        Speaker::Own(mode, path) => (
            *mode,
            format!(
                "custom_providers:\n  - name: lab\n    base_url: {origin}{path}\n    api_mode: {mode}\n    model: scripted\n    context_length: 100000\n\
                 model: {{provider: 'custom:lab', default: scripted}}\n"
            ),
        ),
        Speaker::Provider(id, model, variables) => {
            program
                .home
                .write_env(&format!("{variables}{origin}\n"))
                .unwrap();
            let config =
                format!("model: {{provider: {id}, default: '{model}', context_length: 100000}}\n");
            (*id, config)
        }
    };
    program.home.write_config(&config).unwrap();
    mode
}

// AG-34
#[test]
fn a_killed_turn_is_gone_on_with_and_nothing_acknowledged_is_lost() {
    for speaker in &SPEAKERS {
        let scenario = Scenario::new()
            .reply(Step::new(text("Going on.")).when_user("and now").repeat())
            .reply(
                Step::new(
                    tool_call("todo", json!({}))
                        .and_tool_call("read_file", json!({"path": "/etc/hostname"})),
                )
                .pace(Duration::from_millis(3))
                .repeat(),
            );
        let server = ModelServer::start(scenario).unwrap();
        let program = Program::new();
        let mode = configure(&program, &server, speaker);
        // The first one says which session is meant from here on.
        let started = program.run(&["chat", "-Q", "-q", "and now what?"]).ok();
        let session = started
            .stderr
            .trim()
            .strip_prefix("session_id: ")
            .unwrap()
            .to_owned();
        for trial in 0..12u64 {
            let before = rows(&program, &session);
            let running = program
                .command(&["-z", "work", "--resume", &session, "--max-turns", "1000"])
                .spawn()
                .unwrap();
            let seen = server.requests().len();
            let _ = server.wait_for_requests(seen + 1, Duration::from_secs(10));
            std::thread::sleep(Duration::from_millis(7 * trial));
            running.kill().unwrap();
            let after = rows(&program, &session);
            assert!(
                after.len() > before.len(),
                "{mode} {trial}: the message was kept before it was sent"
            );
            assert_eq!(
                after[..before.len()],
                before,
                "{mode} {trial}: nothing is lost"
            );
            let answer = program.run(&["-z", "and now?", "--resume", &session]).ok();
            assert_eq!(
                answer.stdout, "Going on.\n",
                "{mode} {trial}: {}",
                answer.stderr
            );
        }
        let spoken: Vec<_> = server
            .requests()
            .iter()
            .filter_map(|request| request.protocol)
            .collect();
        assert!(spoken.windows(2).all(|two| two[0] == two[1]), "{mode}");
        let refused: Vec<_> = server
            .requests()
            .into_iter()
            .flat_map(|request| request.violations)
            .collect();
        assert!(refused.is_empty(), "{mode}: {refused:?}");
        let check = program.run(&["sessions", "repair", "--check-only"]);
        assert_eq!(check.code, Some(0), "{}", check.stdout);
    }
}

/// The texts of a session, oldest first.
fn rows(program: &Program, session: &str) -> Vec<String> {
    let shown = program
        .run(&["sessions", "show", session, "--json"])
        .ok()
        .json();
    shown["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| format!("{} {}", message["role"], message["content"]))
        .collect()
}
