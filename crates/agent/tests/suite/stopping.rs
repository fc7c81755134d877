//! Stop means stop: in every phase, at once, with a history the next turn can go on from.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_agent::Pages;
use hermes_core::{Beside, Event, Role, ToolResult, TurnEnd};
use hermes_llm::{Course, Endpoint, Route};
use hermes_store::{NewRecord, NewSession};
use hermes_testkit::model_server::{Gate, Scenario, Step, error, text, tool_call};
use serde_json::json;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::fixture::{Done, Fixture, Scripted, apart, heard_at_once, say, stop_once};

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
#[derive(Default)]
struct SilentWeb {
    asked: AtomicBool,
}

impl Pages for SilentWeb {
    fn read<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<String, String>> {
        self.asked.store(true, Ordering::SeqCst);
        Box::pin(std::future::pending())
    }
}

// AG-8: a message whose references are being read when it is stopped is kept as it was typed.
#[tokio::test]
async fn a_turn_stops_while_it_reads_what_a_message_refers_to() {
    heard_at_once("references", async || {
        let scenario = Scenario::new().reply(Step::new(text("Here again.")).repeat());
        let mut fixture = Fixture::new(scenario);
        let web = Arc::new(SilentWeb::default());
        fixture.pages = web.clone();
        let session = fixture.open();
        let typed = "read @url:https://example.org/x please";
        let asked = |_: &Done| web.asked.load(Ordering::SeqCst);
        let (done, took) = stop_once(&session, typed, asked).await;
        assert_eq!(done.why, TurnEnd::Interrupted);
        assert_eq!(fixture.texts()[0].1, typed);
        assert!(fixture.requests().is_empty());
        assert_eq!(say(&session, "again").await.text, "Here again.");
        took
    })
    .await;
}

fn is_started(event: &Event) -> bool {
    matches!(event, Event::ToolStarted { .. })
}

/// A phase of a turn: its name, what the model says, and how it shows that the phase has begun.
type Phase = (&'static str, fn() -> Step, fn(&Fixture, &Done) -> bool);

const PHASES: [Phase; 4] = [
    (
        "first byte",
        || Step::new(text("x")).held(&Gate::new()),
        |fixture, _| fixture.requests().len() == 1,
    ),
    (
        "mid-stream",
        || {
            Step::new(text("a long answer that stops"))
                .chunk_chars(4)
                .hang_after(3)
        },
        |_, done| done.text.starts_with("a long"),
    ),
    (
        "backoff",
        || Step::new(error(503)),
        |_, done| {
            let waiting = |event: &Event| matches!(event, Event::Notice { .. });
            done.events.iter().any(waiting)
        },
    ),
    (
        "tool",
        || Step::new(tool_call("slow", json!({"n": 1}))),
        |_, done| done.events.iter().any(is_started),
    ),
];

// AG-8
#[tokio::test]
async fn a_turn_stops_in_every_phase_and_the_next_one_works() {
    for (phase, step, begun) in PHASES {
        heard_at_once(phase, async || {
            let scenario = Scenario::new()
                .reply(Step::new(text("Here again.")).when_user("again").repeat())
                .reply(step().repeat());
            let fixture = Fixture::new(scenario).tool(hanging_tool());
            let (done, took) = stop_once(&fixture.open(), "go", |done| begun(&fixture, done)).await;
            assert_eq!(done.why, TurnEnd::Interrupted, "{phase}: {done:?}");
            if phase == "mid-stream" {
                assert!(
                    fixture.texts()[1].1.starts_with("a long"),
                    "what was said is kept"
                );
            }
            // The server is strict: an illegal history would be refused.
            let again = fixture.ask("again").await;
            assert_eq!(again.text, "Here again.", "{phase}: {again:?}");
            took
        })
        .await;
    }
}

// AG-8, AG-34: what was typed is a row before tools are waited for, and a stop does not wait for them.
#[tokio::test]
async fn a_turn_stops_while_its_tools_come_up() {
    heard_at_once("tools", async || {
        let mut fixture = Fixture::new(Scenario::new().reply(text("Here again.")));
        fixture.late_tools = true;
        let awaited = |_: &Done| fixture.awaited_tools.load(Ordering::SeqCst);
        let (done, took) = stop_once(&fixture.open(), "go", awaited).await;
        assert_eq!(done.why, TurnEnd::Interrupted, "{done:?}");
        assert_eq!(fixture.texts()[0].1, "go");
        assert!(fixture.requests().is_empty());
        fixture.late_tools = false;
        assert_eq!(fixture.ask("again").await.text, "Here again.");
        took
    })
    .await;
}

// AG-8: it is left behind after a fifth of a second, and the model is told.
#[tokio::test]
async fn a_tool_that_does_not_listen_holds_up_no_stop() {
    for beside in [Beside::Nothing, Beside::Anything] {
        heard_at_once("a deaf tool", async || {
            let both = tool_call("deaf", json!({"n": 1})).and_tool_call("deaf", json!({"n": 2}));
            let scenario = Scenario::new()
                .reply(Step::new(text("Here again.")).when_user("again").repeat())
                .reply(both);
            let deaf = Scripted::new("deaf", |_, _| Box::pin(std::future::pending()));
            let fixture = Fixture::new(scenario).tool(deaf.beside(beside));
            let begun = |done: &Done| done.events.iter().any(is_started);
            let (done, took) = stop_once(&fixture.open(), "go", begun).await;
            assert_eq!(done.why, TurnEnd::Interrupted, "{beside:?}: {done:?}");
            let texts = fixture.texts();
            let stopped = texts
                .iter()
                .filter(|(role, text)| role == "tool" && text.contains("the user stopped"))
                .count();
            assert_eq!(stopped, 2, "{beside:?}: {texts:?}");
            assert_eq!(fixture.ask("again").await.text, "Here again.", "{beside:?}");
            took
        })
        .await;
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

/// How many sockets of this machine are connected to a listener, or about to be.
fn connections(listener: &TcpListener) -> usize {
    let port = listener.local_addr().unwrap().port();
    let there = format!("0100007F:{port:04X}");
    let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let far = sockets
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2));
    far.filter(|far| *far == there).count()
}

// AG-8
#[tokio::test]
async fn a_turn_stops_while_it_is_still_connecting_and_the_next_one_works() {
    let (full, _waiting) = full_house().await;
    let deaf = TcpListener::bind("127.0.0.1:0").await.unwrap();
    for (phase, listener) in [("connecting", &full), ("never accepted", &deaf)] {
        heard_at_once(phase, async || {
            let fixture = Fixture::new(Scenario::new().reply(text("Here again.")));
            let mut spec = fixture.spec();
            spec.course = Course::new(route_to(&fixture, listener), []);
            let session = fixture.engine().open(spec);
            let before = connections(listener);
            let connecting = |_: &Done| connections(listener) > before;
            let (done, took) = stop_once(&session, "go", connecting).await;
            assert_eq!(done.why, TurnEnd::Interrupted, "{phase}: {done:?}");
            assert_eq!(fixture.ask("again").await.text, "Here again.", "{phase}");
            took
        })
        .await;
    }
}

// AG-8
#[tokio::test]
async fn a_compaction_stops_too_and_leaves_the_history_alone() {
    heard_at_once("a compaction", async || {
        let scenario = Scenario::new()
            .reply(Step::new(text("x")).held(&Gate::new()).when_call(1))
            .reply(Step::new(text("## Goal\nGo on.")).repeat());
        let mut fixture = Fixture::new(scenario);
        too_long(&mut fixture);
        let asked = |_: &Done| !fixture.requests().is_empty();
        let (done, took) = stop_once(&fixture.open(), "go", asked).await;
        assert_eq!(done.why, TurnEnd::Interrupted, "{done:?}");
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
        took
    })
    .await;
}
