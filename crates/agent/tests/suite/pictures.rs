//! Pictures that tools give.

use hermes_core::{Media, MediaSource, ToolResult, TurnEnd, WireProtocol};
use hermes_testkit::model_server::{Scenario, Step, error, text, tool_call};
use serde_json::json;

use super::fixture::{Fixture, Scripted, say};

const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\nno more than this";
/// The same for the wire.
const ENCODED: &str = "iVBORw0KGgpubyBtb3JlIHRoYW4gdGhpcw==";

/// A fixture with a tool that gives a picture.
fn showing(scenario: Scenario) -> Fixture {
    let fixture = Fixture::new(scenario);
    let hash = fixture.store.blobs().put(PICTURE).unwrap();
    fixture.tool(Scripted::new("snap", move |_, _| {
        let media = vec![Media {
            mime: "image/png".to_owned(),
            source: MediaSource::Blob(hash.clone()),
            name: Some("screen.png".to_owned()),
        }];
        Box::pin(async move {
            Ok(ToolResult {
                content: "taken".to_owned(),
                media,
            })
        })
    }))
}

fn bodies(fixture: &Fixture) -> Vec<String> {
    let all = fixture.requests().into_iter();
    all.map(|request| request.expect_json().to_string())
        .collect()
}

// AG-40
#[tokio::test]
async fn a_picture_of_a_tool_reaches_the_model_in_every_protocol_and_stays() {
    for protocol in [
        WireProtocol::ChatCompletions,
        WireProtocol::Responses,
        WireProtocol::Anthropic,
        WireProtocol::Gemini,
        WireProtocol::Converse,
    ] {
        let scenario = Scenario::new()
            .reply(tool_call("snap", json!({})))
            .reply(text("A desk."))
            .reply(text("Still a desk."));
        let mut fixture = showing(scenario);
        fixture.protocol = protocol;
        assert_eq!(fixture.ask("look").await.text, "A desk.", "{protocol:?}");
        // As after a restart.
        assert_eq!(
            fixture.ask("again").await.text,
            "Still a desk.",
            "{protocol:?}"
        );
        let sent = bodies(&fixture);
        assert!(!sent[0].contains(ENCODED), "{protocol:?}");
        assert!(sent[1].contains(ENCODED), "{protocol:?}: {}", sent[1]);
        assert!(sent[2].contains(ENCODED), "{protocol:?}");
        assert!(sent[2].contains("taken"), "{protocol:?}");
        fixture.server.assert_done();
    }
}

// AG-40
#[tokio::test]
async fn a_picture_of_a_tool_that_is_refused_is_shown_elsewhere_and_that_is_remembered() {
    let refusal = json!({"error": {
        "message": "messages[3]: tool message content must be a string", "type": "invalid_request_error",
    }});
    let scenario = Scenario::new()
        .reply(tool_call("snap", json!({})))
        .reply(Step::new(error(400).body(refusal)))
        .reply(text("A desk."))
        .reply(text("Still a desk."));
    let fixture = showing(scenario);
    let session = fixture.open();
    let done = say(&session, "look").await;
    assert_eq!((done.why, done.text.as_str()), (TurnEnd::Done, "A desk."));
    say(&session, "again").await;
    fixture.server.assert_done();
    let behind: Vec<bool> = fixture
        .requests()
        .iter()
        .skip(1)
        .map(|request| {
            let messages = request.expect_json()["messages"]
                .as_array()
                .unwrap()
                .clone();
            let of_role = |role: &str| {
                let mut all = messages.iter().filter(|message| message["role"] == role);
                all.any(|message| message["content"].to_string().contains(ENCODED))
            };
            assert_ne!(of_role("tool"), of_role("user"));
            of_role("user")
        })
        .collect();
    assert_eq!(behind, [false, true, true]);
}

// AG-40
#[tokio::test]
async fn a_model_that_does_not_see_gets_words_for_the_picture_of_a_tool() {
    let scenario = Scenario::new()
        .reply(
            Step::new(text("A desk with a lamp."))
                .when_model("seer")
                .repeat(),
        )
        .reply(tool_call("snap", json!({})))
        .reply(text("I see."));
    let mut fixture = showing(scenario);
    fixture.helper = Some("seer");
    fixture.quirks.no_images = true;
    assert_eq!(fixture.ask("look").await.text, "I see.");
    let sent = bodies(&fixture).pop().unwrap();
    assert!(sent.contains("A desk with a lamp."), "{sent}");
    assert!(!sent.contains(ENCODED), "{sent}");
}
