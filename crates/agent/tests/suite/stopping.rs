//! Stop means stop: in every phase, at once, with a history the next turn can go on from.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_core::future::BoxFuture;
use hermes_agent::{Pages, Session};
use hermes_core::{Beside, Event, Op, Role, ToolResult, TurnEnd};
use hermes_llm::{Course, Endpoint, Route};
use hermes_store::{NewRecord, NewSession};
use hermes_testkit::model_server::{Scenario, Step, error, text, tool_call};
use serde_json::json;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::fixture::{Done, Fixture, Scripted, apart, finish, say};

/// Stops a turn after a while and says how long it took to end.
async fn stop_after(fixture: &Fixture, wait: Duration) -> (Done, Duration) {
    stop(&fixture.open(), wait).await
}

pub(super) async fn stop(session: &Session, wait: Duration) -> (Done, Duration) {
    session.send(Op::UserMessage {
        text: "go".to_owned(),
        media: Vec::new(),
    });
    let stopping = async {
        tokio::time::sleep(wait).await;
        session.send(Op::Interrupt);
        Instant::now()
    };
    let (done, stopped) = tokio::join!(finish(session), stopping);
    (done, stopped.elapsed())
}

fn hanging_tool() -> Scripted {
    Scripted::new("slow", |_, context| {
        Box::pin(async move {
            tokio::select! {
                () = context.cancel.cancelled() => Err(hermes_core::ToolError::Cancelled),
                () = tokio::time::sleep(Duration::from_secs(20)) => Ok(ToolResult {
                    content: "late".to_owned(),
                    media: Vec::new(),
                }),
            }
        })
    })
}

/// A web that never answers.
struct SilentWeb;

impl Pages for SilentWeb {
    fn read<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(std::future::pending())
    }
}

// AG-8: a message whose references are being read when it is stopped is kept as it was typed.
#[tokio::test]
async fn a_turn_stops_while_it_reads_what_a_message_refers_to() {
    let scenario = Scenario::new().reply(Step::new(text("Here again.")).repeat());
    let mut fixture = Fixture::new(scenario);
    fixture.pages = Arc::new(SilentWeb);
    let session = fixture.open();
    let typed = "read @url:https://example.org/x please";
    session.send(Op::UserMessage {
        text: typed.to_owned(),
        media: Vec::new(),
    });
    let stopping = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        session.send(Op::Interrupt);
        Instant::now()
    };
    let (done, stopped) = tokio::join!(finish(&session), stopping);
    assert_eq!(done.why, TurnEnd::Interrupted);
    assert!(stopped.elapsed() < Duration::from_secs(2));
    assert_eq!(fixture.texts()[0].1, typed);
    assert!(fixture.requests().is_empty());
    assert_eq!(say(&session, "again").await.text, "Here again.");
}

// AG-8
#[tokio::test]
async fn a_turn_stops_in_every_phase_and_the_next_one_works() {
    let later = || Step::new(text("Here again.")).when_user("again").repeat();
    let phases: Vec<(&str, Scenario)> = vec![
        (
            "first byte",
            Scenario::new()
                .reply(later())
                .reply(Step::new(text("x")).delay(Duration::from_secs(20)).repeat()),
        ),
        (
            "mid-stream",
            Scenario::new().reply(later()).reply(
                Step::new(text("a long answer that stops"))
                    .chunk_chars(4)
                    .hang_after(3)
                    .repeat(),
            ),
        ),
        (
            "backoff",
            Scenario::new()
                .reply(later())
                .reply(Step::new(error(503)).repeat()),
        ),
        (
            "tool",
            Scenario::new()
                .reply(later())
                .reply(Step::new(tool_call("slow", json!({"n": 1}))).repeat()),
        ),
    ];
    for (phase, scenario) in phases {
        let fixture = Fixture::new(scenario).tool(hanging_tool());
        let (done, took) = stop_after(&fixture, Duration::from_millis(250)).await;
        assert_eq!(done.why, TurnEnd::Interrupted, "{phase}: {done:?}");
        assert!(took < Duration::from_millis(300), "{phase}: {took:?}");
        if phase == "mid-stream" {
            assert!(
                fixture.texts()[1].1.starts_with("a long"),
                "what was said is kept"
            );
        }
        // The server is strict: an illegal history would be refused.
        let again = fixture.ask("again").await;
        assert_eq!(again.text, "Here again.", "{phase}: {again:?}");
    }
}

// AG-8, AG-34: what was typed is a row before tools are waited for, and a stop does not wait for them.
#[tokio::test]
async fn a_turn_stops_while_its_tools_come_up() {
    let mut fixture = Fixture::new(Scenario::new().reply(text("Here again.")));
    fixture.late_tools = true;
    let (done, took) = stop_after(&fixture, Duration::from_millis(250)).await;
    assert_eq!(done.why, TurnEnd::Interrupted, "{done:?}");
    assert!(took < Duration::from_millis(300), "{took:?}");
    assert_eq!(fixture.texts()[0].1, "go");
    assert!(fixture.requests().is_empty());
    fixture.late_tools = false;
    assert_eq!(fixture.ask("again").await.text, "Here again.");
}

// AG-8: it is left behind after a fifth of a second, and the model is told.
#[tokio::test]
async fn a_tool_that_does_not_listen_holds_up_no_stop() {
    for beside in [Beside::Nothing, Beside::Anything] {
        let both = tool_call("deaf", json!({"n": 1})).and_tool_call("deaf", json!({"n": 2}));
        let scenario = Scenario::new()
            .reply(Step::new(text("Here again.")).when_user("again").repeat())
            .reply(both);
        let deaf = Scripted::new("deaf", |_, _| Box::pin(std::future::pending()));
        let fixture = Fixture::new(scenario).tool(deaf.beside(beside));
        let (done, took) = stop_after(&fixture, Duration::from_millis(250)).await;
        assert_eq!(done.why, TurnEnd::Interrupted, "{beside:?}: {done:?}");
        assert!(took < Duration::from_secs(1), "{beside:?}: {took:?}");
        let texts = fixture.texts();
        let stopped = texts
            .iter()
            .filter(|(role, text)| role == "tool" && text.contains("the user stopped"))
            .count();
        assert_eq!(stopped, 2, "{beside:?}: {texts:?}");
        assert_eq!(fixture.ask("again").await.text, "Here again.", "{beside:?}");
    }
}

/// An address that takes no connection any more: what is in its queue is never accepted.
pub(super) async fn full_house() -> (TcpListener, Vec<TcpStream>) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    while let Ok(Ok(stream)) =
        tokio::time::timeout(Duration::from_millis(100), TcpStream::connect(address)).await
    {
        waiting.push(stream);
    }
    (listener, waiting)
}

/// The route of a conversation, leading to a listener of our own.
pub(super) fn route_to(fixture: &Fixture, listener: &TcpListener) -> Arc<Route> {
    let mut route = Route::clone(&fixture.route_to(&fixture.server, "scripted"));
    let Endpoint::Http(address) = &mut route.endpoint else {
        panic!("{:?}", route.endpoint);
    };
    let place = format!("http://{}/v1", listener.local_addr().unwrap());
    address.base = place.parse().unwrap();
    Arc::new(route)
}

/// A conversation that is too long for its window.
pub(super) fn too_long(fixture: &mut Fixture) {
    fixture.window = 16_000;
    apart(|| {
        let session = NewSession::new(Fixture::id(), "cli");
        fixture.store.create_session(session).wait().unwrap();
        let rows = (0..60)
            .map(|number| {
                let role = if number % 2 == 0 {
                    Role::User
                } else {
                    Role::Assistant
                };
                NewRecord::text(role, format!("message {number} ") + &"word ".repeat(250))
            })
            .collect();
        fixture.store.append(&Fixture::id(), rows).wait().unwrap();
    });
}

// AG-8
#[tokio::test]
async fn a_turn_stops_while_it_is_still_connecting_and_the_next_one_works() {
    let (full, _waiting) = full_house().await;
    let deaf = TcpListener::bind("127.0.0.1:0").await.unwrap();
    for (phase, listener) in [("connecting", &full), ("never accepted", &deaf)] {
        let fixture = Fixture::new(Scenario::new().reply(text("Here again.")));
        let mut spec = fixture.spec();
        spec.course = Course::new(route_to(&fixture, listener), []);
        let session = fixture.engine().open(spec);
        let (done, took) = stop(&session, Duration::from_millis(250)).await;
        assert_eq!(done.why, TurnEnd::Interrupted, "{phase}: {done:?}");
        assert!(took < Duration::from_millis(300), "{phase}: {took:?}");
        assert_eq!(fixture.ask("again").await.text, "Here again.", "{phase}");
    }
}

// AG-8
#[tokio::test]
async fn a_compaction_stops_too_and_leaves_the_history_alone() {
    let scenario = Scenario::new()
        .reply(
            Step::new(text("x"))
                .delay(Duration::from_secs(20))
                .when_call(1),
        )
        .reply(Step::new(text("## Goal\nGo on.")).repeat());
    let mut fixture = Fixture::new(scenario);
    too_long(&mut fixture);
    let (done, took) = stop_after(&fixture, Duration::from_millis(250)).await;
    assert_eq!(done.why, TurnEnd::Interrupted, "{done:?}");
    assert!(took < Duration::from_millis(300), "{took:?}");
    assert_eq!(fixture.server.requests().len(), 1, "it was summarising");
    // What was there, the message and the note that it was stopped.
    assert_eq!(fixture.rows().len(), 62);
    let again = fixture.ask("again").await;
    assert_eq!(again.why, TurnEnd::Done, "{again:?}");
    let compacted = again
        .events
        .iter()
        .any(|event| matches!(event, Event::Compacted { .. }));
    assert!(compacted, "the next turn does it");
}
