//! A request begins with the bytes of the one before it, so that providers find it in their caches.

use hermes_core::{Message, Role, TurnEnd, WireProtocol};
use hermes_testkit::model_server::{Scenario, Step, error, text, tool_call};
use serde_json::json;

use super::fixture::{Fixture, Scripted, learn, say};

const PROTOCOLS: [WireProtocol; 5] = [
    WireProtocol::ChatCompletions,
    WireProtocol::Responses,
    WireProtocol::Anthropic,
    WireProtocol::Gemini,
    WireProtocol::Converse,
];

/// The part of a body that grows, without the bracket that closes it.
pub(crate) fn growing(body: &[u8]) -> &[u8] {
    let end = body.iter().rposition(|byte| *byte == b']').unwrap();
    &body[..end]
}

// AG-2
#[tokio::test]
async fn a_request_begins_with_the_bytes_of_the_one_before_also_after_a_restart() {
    for protocol in PROTOCOLS {
        keeps_its_beginning(protocol).await;
    }
}

async fn keeps_its_beginning(protocol: WireProtocol) {
    let scenario = Scenario::new()
        .reply(tool_call("look", json!({"n": 1, "a": "ü"})))
        .reply(tool_call("fail", json!({})))
        .reply(text("First."))
        .reply(text("Second."))
        .reply(text("Third."));
    let mut fixture = Fixture::new(scenario)
        .tool(Scripted::saying("look", "  a tree \n"))
        .tool(Scripted::new("fail", |_, _| {
            Box::pin(async {
                Err(hermes_core::ToolError::ForModel {
                    message: "no".to_owned(),
                })
            })
        }));
    fixture.protocol = protocol;
    std::fs::write(fixture.folder.path().join("SOUL.md"), "You are a gardener.").unwrap();
    let session = fixture.open();
    say(&session, "one").await;
    say(&session, "two").await;
    drop(session);
    std::fs::write(
        fixture.folder.path().join("SOUL.md"),
        "You are somebody else.",
    )
    .unwrap();
    fixture.ask("three").await;
    assert_eq!(growing_requests(&fixture).len(), 5);
}

// AG-2, AG-20: also with thinking that only its issuer can read, over several turns and after a restart.
#[tokio::test]
async fn thinking_is_sent_back_in_the_same_bytes_round_after_round() {
    for protocol in PROTOCOLS {
        let round = |n: u32| {
            tool_call("look", json!({ "n": n }))
                .reasoning(format!("round {n}"))
                .signature("c2VhbA==")
        };
        let scenario = Scenario::new()
            .reply(round(1))
            .reply(round(2))
            .reply(round(3))
            .reply(text("Done.").reasoning("enough").signature("c2VhbA=="))
            .reply(round(4))
            .reply(text("Again."))
            .reply(text("The end."));
        let mut fixture = Fixture::new(scenario).tool(Scripted::saying("look", "a tree"));
        fixture.protocol = protocol;
        let session = fixture.open();
        assert_eq!(say(&session, "look around").await.text, "Done.");
        assert_eq!(say(&session, "and again").await.text, "Again.");
        drop(session);
        assert_eq!(fixture.ask("is that all?").await.text, "The end.");
        let bodies = growing_requests(&fixture);
        assert_eq!(bodies.len(), 7, "{protocol:?}");
        // Chat completions have no place for it.
        let kept = protocol != WireProtocol::ChatCompletions;
        for body in [&bodies[3], &bodies[6]] {
            let sealed = String::from_utf8_lossy(body).contains("c2VhbA==");
            assert_eq!(sealed, kept, "{protocol:?}");
        }
    }
}

// AG-2, AG-35: what the model says is masked before it is sent back for the first time, so that it stays as it was;
// what a tool executes is what the model wrote.
#[tokio::test]
async fn a_secret_that_the_model_says_is_masked_from_the_next_request_on() {
    let canary = "canary-7f3a9b2c4d5e6f70";
    let shaped = "sk-proj-abcdEFGH1234ijklMNOP5678qrstUVWX";
    for protocol in PROTOCOLS {
        let key = format!("The key is {canary}, and a new one would be {shaped}.");
        let scenario = Scenario::new()
            .reply(text(&key).and_tool_call("look", json!({"key": canary, "new": shaped})))
            .reply(text(&key))
            .reply(text("Again."))
            .reply(text("The end."));
        let (told, heard) = std::sync::mpsc::channel();
        let look = Scripted::new("look", move |arguments, _| {
            told.send(arguments).unwrap();
            Box::pin(async {
                Ok(hermes_core::ToolResult {
                    content: "a tree".to_owned(),
                    media: Vec::new(),
                })
            })
        });
        let mut fixture = Fixture::new(scenario).tool(look);
        fixture.protocol = protocol;
        learn(&fixture, canary);
        let session = fixture.open();
        say(&session, "what is it?").await;
        let executed = heard.try_recv().unwrap();
        assert_eq!(
            executed,
            json!({"key": canary, "new": shaped}),
            "{protocol:?}"
        );
        say(&session, "again").await;
        drop(session);
        fixture.ask("is that all?").await;
        for body in growing_requests(&fixture) {
            let body = String::from_utf8_lossy(&body).into_owned();
            assert!(!body.contains(canary), "{protocol:?}: {body}");
            // A model writes its next call by the last one.
            assert!(body.matches(shaped).count() <= 1, "{protocol:?}: {body}");
        }
        let rows: Vec<_> = fixture.texts().into_iter().map(|(_, said)| said).collect();
        let kept = rows.join("\n");
        assert!(!kept.contains(canary) && !kept.contains(shaped), "{kept}");
        assert_eq!(kept.matches("[redacted:LAB_API_KEY]").count(), 2, "{kept}");
    }
}

// AG-2: a question that failed, or was cut off by a kill, stays as it was sent; what is said next is a message of its
// own.
#[tokio::test]
async fn a_question_without_an_answer_is_not_joined_with_the_next() {
    for protocol in PROTOCOLS {
        let scenario = Scenario::new()
            .reply(text("First."))
            .reply(Step::new(error(401)).when_user("two").repeat())
            .reply(text("Third."))
            .reply(text("Fifth."));
        let mut fixture = Fixture::new(scenario);
        fixture.protocol = protocol;
        fixture.ask("one").await;
        let failed = fixture.ask("two").await;
        assert!(matches!(failed.why, TurnEnd::Failed { .. }), "{failed:?}");
        assert_eq!(fixture.ask("three").await.text, "Third.");
        // As a kill leaves it.
        let killed = Message::text(Role::User, "four");
        let kept = fixture.store.append(&Fixture::id(), vec![(&killed).into()]);
        kept.await.unwrap();
        assert_eq!(fixture.ask("five").await.text, "Fifth.");
        growing_requests(&fixture);
        let said: Vec<_> = fixture.texts().into_iter().map(|(_, said)| said).collect();
        let cut_off = "[This was cut off before an answer.]";
        let expected = [
            "one", "First.", "two", cut_off, "three", "Third.", "four", cut_off, "five", "Fifth.",
        ];
        assert_eq!(said, expected, "{protocol:?}");
    }
}

/// The bodies of all requests, each of which begins with the one before and is taken by a strict vendor.
#[track_caller]
fn growing_requests(fixture: &Fixture) -> Vec<Vec<u8>> {
    let protocol = fixture.protocol;
    let bodies: Vec<_> = fixture
        .requests()
        .into_iter()
        .inspect(|request| assert!(request.violations.is_empty(), "{request:?}"))
        .map(|request| request.body)
        .collect();
    for body in &bodies {
        assert!(
            body.ends_with(b"]}"),
            "{protocol:?}: the conversation is last"
        );
    }
    for pair in bodies.windows(2) {
        let (before, after) = (growing(&pair[0]), &pair[1]);
        assert!(
            after.starts_with(before),
            "{protocol:?}\n{}\n{}",
            String::from_utf8_lossy(before),
            String::from_utf8_lossy(after)
        );
    }
    bodies
}
