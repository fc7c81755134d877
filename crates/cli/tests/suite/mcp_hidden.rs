//! Tools of MCP servers that are found instead of shown: they do what they do when they are shown.

use hermes_testkit::model_server::{Answer, Scenario, text, tool_call};
use serde_json::{Value as Json, json};

use super::mcp_lab::{LONG, Lab};

fn called(tool: &str, arguments: Json) -> Answer {
    let arguments = json!({ "name": tool, "arguments": arguments });
    tool_call("tool_call", arguments)
}

// AG-30, MCP-57, MCP-93
#[test]
fn a_tool_that_was_found_is_called_like_one_that_was_shown() {
    let scenario = Scenario::new()
        .reply(tool_call("tool_search", json!({ "query": "echo" })))
        .reply(tool_call(
            "tool_describe",
            json!({ "name": "mcp__lab__echo" }),
        ))
        .reply(called(
            "mcp__lab__echo",
            json!({ "text": "through the back door" }),
        ))
        .reply(called("mcp__lab__shapes", json!({})))
        .reply(called("mcp__lab__write", json!({ "text": "no" })))
        .reply(text("done"));
    let lab = Lab::with_server(scenario, "    trust: untrusted\n    sandbox: 'off'\n");
    let settings = lab.program.home.read("config.yaml").unwrap();
    let settings = settings.replacen("model: {", "model: {supports_vision: true, ", 1);
    lab.program.home.write_config(&settings).unwrap();
    lab.more("tools: {tool_search: {enabled: 'on'}}\n");
    let command = lab.program.command(&["-z", "go"]);
    command.timeout(LONG).run().unwrap().ok();
    let offered = lab.offered(0);
    assert!(offered.contains(&"tool_search".to_owned()), "{offered:?}");
    assert!(
        !offered.iter().any(|name| name.starts_with("mcp_")),
        "{offered:?}"
    );
    let shown = lab.model.requests()[0].expect_json().to_string();
    assert!(shown.contains("from: lab. Search"), "{shown}");
    let results = lab.results();
    assert!(results[0].contains("mcp__lab__echo"), "{results:?}");
    assert!(results[1].contains("The tool echo."), "{results:?}");
    assert!(results[2].contains("through the back door"), "{results:?}");
    assert!(results[3].contains("MEDIA:"), "{results:?}");
    assert!(results[4].contains("nobody gave one"), "{results:?}");
    assert_eq!(lab.lines("calls"), ["echo", "shapes"]);
    let last = lab
        .model
        .requests()
        .last()
        .unwrap()
        .expect_json()
        .to_string();
    assert!(
        last.contains("data:image/png;base64,"),
        "the picture itself: {last}"
    );
}
