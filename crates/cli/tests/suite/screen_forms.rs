//! Forms of MCP servers on the real screen and at the prompt.

use std::time::Duration;

use hermes_testkit::model_server::{Scenario, text, tool_call};
use hermes_testkit::pty::Terminal;
use serde_json::{Value as Json, json};

use super::mcp_lab::{LONG, Lab};
use super::screen::{READY, clear, leave, open};

/// A server that asks for one value of each kind.
fn lab(times: usize) -> Lab {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "title": "City", "description": "where it is", "minLength": 2, "maxLength": 20},
            "days": {"type": "integer", "title": "Days", "minimum": 1, "maximum": 14},
            "rain": {"type": "boolean", "title": "Rain", "default": false},
            "scale": {"type": "string", "title": "Scale", "enum": ["c", "f"], "enumNames": ["Celsius", "Fahrenheit"]},
        },
        "required": ["city", "days", "scale"],
    });
    let mut scenario = Scenario::new();
    for turn in 0..times {
        let ask = json!({ "message": "Which weather?", "schema": schema });
        scenario = scenario
            .reply(tool_call("mcp__lab__ask", ask))
            .reply(text(format!("Turn {turn} is over.")));
    }
    Lab::with_server(scenario, "")
}

/// What the server heard, as its tool told the model.
fn heard(lab: &Lab) -> Json {
    let results = lab.results();
    let last = results.last().unwrap();
    // What comes from outside may stand between two marks.
    let (start, end) = (last.find('{').unwrap(), last.rfind('}').unwrap());
    let result: Json = serde_json::from_str(&last[start..=end]).unwrap();
    let text = result["result"]
        .as_str()
        .unwrap_or_else(|| panic!("{result}"));
    serde_json::from_str(text).unwrap()
}

/// Keys that come at once were meant for the draft.
fn wait_a_moment() {
    std::thread::sleep(Duration::from_millis(400));
}

// MCP-75 CL-19
#[test]
fn a_form_of_a_server_is_filled_in_declined_or_put_away_in_one_panel() {
    let lab = lab(3);
    let terminal = open(&lab.program, 80, 24);
    terminal.send("weather\ra draft").unwrap();
    let screen = terminal.wait_for_text("MCP server lab asks", LONG).unwrap();
    for word in [
        "Which weather?",
        "City*",
        "Days*",
        "Rain",
        "Scale*",
        "Send",
        "Decline",
    ] {
        assert!(screen.contains(word), "{word}: {screen}");
    }
    assert!(!screen.contains("a draft"), "{screen}");
    wait_a_moment();
    // Days are too many and there is no scale: it is said where, and nothing is sent.
    terminal.send("Bonn\t99\t ").unwrap();
    terminal.wait_for_text("[x] yes", LONG).unwrap();
    terminal.send("\t\t\r").unwrap();
    terminal
        .wait_for_text("Days must be at most 14", LONG)
        .unwrap();
    terminal.send("\x7f\x7f3\t\t\x1b[C").unwrap();
    terminal.wait_for_text("‹ Celsius ›", LONG).unwrap();
    terminal.send("\x1b[C").unwrap();
    terminal.wait_for_text("‹ Fahrenheit ›", LONG).unwrap();
    // Back and forth with Shift+Tab.
    terminal.send("\x1b[Z\x1b[Z").unwrap();
    terminal.send("\t\t\t\r").unwrap();
    terminal.wait_for_text("Turn 0 is over.", LONG).unwrap();
    let content = json!({"city": "Bonn", "days": 3, "rain": true, "scale": "f"});
    assert_eq!(heard(&lab), json!({"action": "accept", "content": content}));
    let seen = terminal.everything().join("\n");
    assert!(seen.contains("MCP server lab asks: filled in"), "{seen}");
    terminal.wait_for_text("❯ a draft", LONG).unwrap();
    clear(&terminal);
    terminal.send("decline\r").unwrap();
    terminal.wait_for_text("Decline", LONG).unwrap();
    wait_a_moment();
    terminal.send("\x1b[Z\r").unwrap();
    terminal.wait_for_text("Turn 1 is over.", LONG).unwrap();
    assert_eq!(heard(&lab)["action"], "decline");
    terminal.wait_for_text(READY, LONG).unwrap();
    terminal.send("put away\r").unwrap();
    terminal.wait_for_text("Decline", LONG).unwrap();
    wait_a_moment();
    terminal.send("\x1b").unwrap();
    terminal.wait_for_text("Turn 2 is over.", LONG).unwrap();
    assert_eq!(heard(&lab)["action"], "cancel");
    terminal.wait_for_text(READY, LONG).unwrap();
    leave(&terminal);
}

// MCP-75
#[test]
fn a_form_of_a_server_is_filled_in_a_line_at_a_time_at_the_prompt() {
    let lab = lab(1);
    let terminal = Terminal::spawn(&lab.program.command(&["chat", "--plain"]), 100, 50).unwrap();
    terminal.wait_for_text("Ctrl+D ends.", LONG).unwrap();
    terminal.send("weather\r").unwrap();
    for (question, answer) in [
        ("City (words)", "B\r"),
        ("City needs at least 2 characters", "Bonn\r"),
        ("Days (a whole number)", "3\r"),
        ("Rain (yes or no, or nothing) [no]", "\r"),
        ("2. Fahrenheit", "2\r"),
    ] {
        terminal.wait_for_text(question, LONG).unwrap();
        terminal.send(answer).unwrap();
    }
    terminal.wait_for_text("Turn 0 is over.", LONG).unwrap();
    let content = json!({"city": "Bonn", "days": 3, "rain": false, "scale": "f"});
    assert_eq!(heard(&lab), json!({"action": "accept", "content": content}));
    terminal.send("/exit\r").unwrap();
    assert_eq!(terminal.wait_exit(LONG).unwrap().code, 0);
}
