//! Answers that came before the last calls, with nothing behind them.

use hermes_testkit::model_server::{Scenario, text};
use serde_json::json;

use super::chat::served;

// AG-18, CL-3
#[test]
fn what_was_said_beside_a_note_to_itself_is_printed_as_the_answer() {
    let fact = json!({"action": "add", "target": "memory", "content": "Roses grow in the garden."});
    let answer = text("Roses grow there.").and_tool_call("memory", fact);
    for command in [&["-z"][..], &["chat", "-Q", "-q"]] {
        let scenario = Scenario::new().reply(answer.clone()).reply(text(""));
        let (server, program) = served(scenario.lenient());
        let output = program.run(&[command, &["what grows?"]].concat()).ok();
        assert_eq!(output.stdout, "Roses grow there.\n", "{}", output.stderr);
        let asked = server.requests();
        let asked = asked.iter().filter(|request| request.protocol.is_some());
        assert_eq!(asked.count(), 2, "{command:?}");
        let kept = program.home.read("memories/MEMORY.md").unwrap();
        assert!(kept.contains("Roses grow in the garden."), "{kept}");
    }
}
