//! What was sent once stays the beginning of all that is sent later, so that providers find it in their caches.

use hermes_testkit::model_server::{ModelServer, Scenario, text, tool_call};
use serde_json::json;

use super::program::Program;
use super::speakers::{SPEAKERS, configure};

/// A marker says where a cache should end. It moves along with the conversation and is no part of it.
const MARKER: &str = r#","cache_control":{"type":"ephemeral"}"#;

// AG-2
#[test]
fn a_request_begins_with_the_bytes_of_the_one_before_in_every_protocol_and_process() {
    for speaker in &SPEAKERS {
        let look = || tool_call("read_file", json!({"path": "/etc/hostname", "limit": 3}));
        let both = tool_call("todo", json!({})).and_tool_call("read_file", json!({"path": "ü"}));
        let scenario = Scenario::new()
            .reply(look())
            .reply(text("And the steps.").and_tool_call("todo", json!({})))
            .reply(text("First."))
            .reply(both)
            .reply(text("Second."))
            .reply(text("Third."));
        let server = ModelServer::start(scenario).unwrap();
        let program = Program::new();
        let mode = configure(&program, &server, speaker, 100_000);
        program
            .home
            .write("SOUL.md", "You are a gardener.")
            .unwrap();
        let started = program.run(&["chat", "-Q", "-q", "one"]).ok();
        let session = started.stderr.trim().strip_prefix("session_id: ").unwrap();
        // Each of these is a process of its own, and the prompt would read otherwise by now.
        program.home.write("SOUL.md", "You are a smith.").unwrap();
        for question in ["two", "three"] {
            let arguments = ["chat", "-Q", "-q", question, "--resume", session];
            program.run(&arguments).ok();
        }
        server.assert_done();
        let bodies: Vec<String> = server
            .requests()
            .into_iter()
            .filter(|request| request.protocol.is_some())
            .map(|request| String::from_utf8(request.body).unwrap().replace(MARKER, ""))
            .collect();
        assert_eq!(bodies.len(), 6, "{mode}");
        assert!(bodies[0].contains("You are a gardener."), "{mode}");
        assert!(bodies[0].contains("read_file"), "{mode}");
        for pair in bodies.windows(2) {
            // All but the brackets that close the conversation and the body.
            let (growing, _) = pair[0].rsplit_once(']').unwrap();
            assert!(
                pair[1].starts_with(growing),
                "{mode}\n{growing}\n{}",
                pair[1]
            );
        }
    }
}
