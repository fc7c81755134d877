//! Questions of MCP servers to models: which model is asked, how, and whose account it is on.

use hermes_testkit::model_server::{ModelServer, Scenario, Step, text, tool_call};
use hermes_testkit::pty::Terminal;
use serde_json::{Value as Json, json};

use super::mcp_lab::{LONG, Lab};

/// The smallest picture there is.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn change(lab: &Lab, from: &str, to: &str) {
    let settings = lab.program.home.read("config.yaml").unwrap();
    assert!(settings.contains(from), "{settings}");
    let settings = settings.replacen(from, to, 1);
    lab.program.home.write_config(&settings).unwrap();
}

/// What a model was asked, without looks at its server.
fn asked_of(server: &ModelServer) -> Vec<Json> {
    let mut all = server.requests();
    all.retain(|request| request.path.ends_with("/chat/completions"));
    all.iter()
        .map(|request| request.expect_json().clone())
        .collect()
}

// MCP-74, MCP-95
#[test]
fn the_settings_say_which_model_servers_ask_and_how() {
    let lab = Lab::with_server(Scenario::new(), "");
    let helper = Scenario::new().reply(text("from the helper"));
    let helper = ModelServer::start(helper.extra_keys(["marker"])).unwrap();
    let mcp = "mcp: {provider: 'custom:helper', model: small, reasoning_effort: high, extra_body: {marker: 7}}";
    change(&lab, "auxiliary: {", &format!("auxiliary: {{{mcp}, "));
    lab.more(&format!(
        "providers:\n  helper: {{base_url: '{}', api_key: helper-key-1234567890}}\n",
        helper.base_url()
    ));
    let (code, asked) = lab.mcp(&["call", "lab", "sample"]);
    assert_eq!(code, 0, "{asked:?}");
    assert!(
        asked[0]["answer"]["result"]
            .as_str()
            .unwrap()
            .contains("from the helper"),
        "{asked:?}"
    );
    let body = asked_of(&helper)[0].clone();
    assert_eq!(body["model"], "small");
    assert_eq!(body["reasoning_effort"], "high");
    assert_eq!(body["marker"], 7);
    assert_eq!(asked_of(&lab.model).len(), 0);
}

// MCP-74, MCP-95
#[test]
fn a_server_asks_the_model_of_the_conversation_and_on_its_account() {
    let turn = |scenario: Scenario, number: usize| {
        scenario
            .reply(tool_call("mcp__lab__sample", json!({})))
            .reply(text("for the server"))
            .reply(text(format!("answered {number}")))
    };
    let lab = Lab::with_server(turn(turn(Scenario::new(), 1), 2), "");
    lab.more(&format!(
        "providers: {{spare: {{base_url: '{}', api_key: spare-key-1234567890, context_length: 100000}}}}\n",
        lab.model.base_url()
    ));
    let screen = Terminal::spawn(&lab.program.command(&["chat", "--plain"]), 120, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends", LONG).unwrap();
    screen.send("one\r").unwrap();
    screen.wait_for_text("answered 1", LONG).unwrap();
    screen.send("/new now\r").unwrap();
    screen
        .wait_for_text("This is a new conversation", LONG)
        .unwrap();
    screen.send("/model custom:spare:another\r").unwrap();
    screen
        .wait_for_text("another from custom:spare", LONG)
        .unwrap();
    screen.send("two\r").unwrap();
    screen.wait_for_text("answered 2", LONG).unwrap();
    let models: Vec<Json> = asked_of(&lab.model)
        .iter()
        .map(|body| body["model"].clone())
        .collect();
    let before = ["scripted"; 3];
    assert_eq!(models, [before, ["another"; 3]].concat());
    // Two calls of the second conversation, and the one it led to.
    screen.send("/usage\r").unwrap();
    let booked = |screen: &hermes_testkit::pty::Screen| {
        let text = screen.text();
        let mut lines = text.lines().filter(|line| line.contains("model calls"));
        lines.any(|line| line.trim_end().ends_with(" 3"))
    };
    screen.wait_for(booked, LONG).unwrap();
    screen.send("/exit\r").unwrap();
    screen.wait_exit(LONG).unwrap();
}

// MCP-74, MCP-95
#[test]
fn a_picture_in_a_question_reaches_a_model_that_can_see_or_the_server_hears_why_not() {
    let lab = Lab::with_server(
        Scenario::new().reply(Step::new(text("a red dot")).repeat()),
        "",
    );
    let asked = |content: Json| {
        let args = json!({ "content": content }).to_string();
        let (code, asked) = lab.mcp(&["call", "lab", "sample", "--args", &args]);
        assert_eq!(code, 0, "{asked:?}");
        asked[0]["answer"]["result"].as_str().unwrap().to_owned()
    };
    let picture = json!({ "type": "image", "data": PICTURE, "mimeType": "image/png" });
    change(&lab, "model: {", "model: {supports_vision: false, ");
    let refused = asked(picture.clone());
    assert!(
        refused.contains("-1") && refused.contains("can see"),
        "{refused}"
    );
    let sound = json!({ "type": "audio", "data": "SUQz", "mimeType": "audio/mpeg" });
    let refused = asked(sound);
    assert!(
        refused.contains("-1") && refused.contains("audio"),
        "{refused}"
    );
    assert_eq!(asked_of(&lab.model).len(), 0, "nothing is asked instead");
    change(&lab, "supports_vision: false", "supports_vision: true");
    assert!(asked(picture).contains("a red dot"));
    let body = asked_of(&lab.model)[0].to_string();
    assert!(body.contains(PICTURE), "{body}");
}
