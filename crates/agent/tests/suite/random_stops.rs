//! A thousand stops at random moments of every phase, in all protocols: silence at once, and a history that
//! can be gone on from.

use std::time::{Duration, Instant};

use hermes_agent::Session;
use hermes_core::{Event, Op, Random, SeededRandom, ToolResult, TurnEnd, WireProtocol};
use hermes_llm::Course;
use hermes_testkit::model_server::{ModelServer, Scenario, Step, error, text, tool_call};
use serde_json::json;

use super::fixture::{Done, Fixture, Scripted, finish, say, stop_once};
use super::stopping::{full_house, route_to, too_long};

/// How soon a turn that is stopped has nothing more to say.
const SILENT_WITHIN: Duration = Duration::from_millis(300);

const PROTOCOLS: [WireProtocol; 5] = [
    WireProtocol::ChatCompletions,
    WireProtocol::Responses,
    WireProtocol::Anthropic,
    WireProtocol::Gemini,
    WireProtocol::Converse,
];

fn work() -> Scripted {
    Scripted::new("work", |_, _| {
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(3)).await;
            Ok(ToolResult {
                content: "worked".to_owned(),
                media: Vec::new(),
            })
        })
    })
}

fn fixture(protocol: WireProtocol, scenario: Scenario) -> Fixture {
    let mut fixture = Fixture::new(scenario).tool(work());
    fixture.protocol = protocol;
    fixture.most_calls = 50;
    fixture
}

/// Stops a turn after a while and says how long it took to end.
async fn stop(session: &Session, wait: Duration) -> (Done, Duration) {
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

/// Stops so many turns of a session, each at another moment.
async fn trials(session: &Session, count: u32, random: &SeededRandom, place: &str) {
    for trial in 0..count {
        let wait = Duration::from_micros(random.below(40_000));
        let (done, took) = stop(session, wait).await;
        let place = format!("{place} {trial} after {wait:?}");
        assert_eq!(done.why, TurnEnd::Interrupted, "{place}: {done:?}");
        assert!(took < SILENT_WITHIN, "{place}: {took:?}");
        // Nothing of an earlier turn comes late.
        let first = done.events.first();
        assert!(
            matches!(
                first,
                Some(Event::TurnStarted { .. } | Event::TurnFinished { .. })
            ),
            "{place}: {first:?}"
        );
        let late = tokio::time::timeout(Duration::from_millis(3), session.next_event()).await;
        assert!(late.is_err(), "{place}: {late:?} follows the end");
    }
}

/// Stops a turn when its first request has come in, whenever that is: the random moments may all be earlier.
async fn stop_when_asked(fixture: &Fixture, session: &Session, place: &str) {
    let asked = |_: &Done| !fixture.requests().is_empty();
    let (done, took) = stop_once(session, "go", asked).await;
    assert_eq!(done.why, TurnEnd::Interrupted, "{place}: {done:?}");
    assert!(took < SILENT_WITHIN, "{place}: {took:?}");
}

/// A turn of another session over the same rows, with a model that takes legal histories only.
async fn goes_on(fixture: &mut Fixture, place: &str) {
    let scenario = Scenario::new()
        .reply(Step::new(text("## Goal\nGo on.")).when_no_tools().repeat())
        .reply(Step::new(text("Fine.")).repeat());
    fixture.server = ModelServer::start(scenario).unwrap();
    let checked = fixture.ask("check").await;
    assert_eq!(checked.text, "Fine.", "{place}: {checked:?}");
    legal(fixture, place);
}

fn legal(fixture: &Fixture, place: &str) {
    let requests = fixture.requests().into_iter();
    let refused: Vec<_> = requests.flat_map(|request| request.violations).collect();
    assert!(refused.is_empty(), "{place}: {refused:?}");
}

// AG-8: words, calls and tools; 700 of the thousand.
#[tokio::test]
async fn random_stops_leave_legal_histories_in_all_protocols() {
    let random = SeededRandom::new(41);
    for protocol in PROTOCOLS {
        let place = format!("{protocol:?}");
        let both = tool_call("work", json!({"n": 1})).and_tool_call("work", json!({"n": 2}));
        let more = text("some words and a call").and_tool_call("work", json!({"n": 3}));
        let scenario = Scenario::new()
            .reply(Step::new(text("Fine.")).when_user("check").repeat())
            .reply(Step::new(both).pace(Duration::from_millis(2)).when_call(1))
            .reply(Step::new(more).pace(Duration::from_millis(1)).repeat());
        let fixture = fixture(protocol, scenario);
        let session = fixture.open();
        trials(&session, 140, &random, &place).await;
        let checked = say(&session, "check").await;
        assert_eq!(checked.text, "Fine.", "{place}: {checked:?}");
        legal(&fixture, &place);
    }
}

// AG-8: waiting to try again; 100 of the thousand.
#[tokio::test]
async fn random_stops_end_the_wait_for_another_try() {
    let random = SeededRandom::new(42);
    for protocol in PROTOCOLS {
        let place = format!("backoff, {protocol:?}");
        let mut fixture = fixture(
            protocol,
            Scenario::new().reply(Step::new(error(503)).repeat()),
        );
        let session = fixture.open();
        stop_when_asked(&fixture, &session, &place).await;
        trials(&session, 19, &random, &place).await;
        drop(session);
        goes_on(&mut fixture, &place).await;
    }
}

// AG-8: connecting; 100 of the thousand.
#[tokio::test]
async fn random_stops_end_the_wait_for_a_connection() {
    let random = SeededRandom::new(43);
    let (full, _waiting) = full_house().await;
    for protocol in PROTOCOLS {
        let place = format!("connecting, {protocol:?}");
        let mut fixture = fixture(protocol, Scenario::new());
        let mut spec = fixture.spec();
        spec.course = Course::new(route_to(&fixture, &full), []);
        let session = fixture.engine().open(spec);
        trials(&session, 20, &random, &place).await;
        drop(session);
        goes_on(&mut fixture, &place).await;
    }
}

// AG-8: a summary being written; 100 of the thousand.
#[tokio::test]
async fn random_stops_end_a_summary() {
    let random = SeededRandom::new(44);
    for protocol in PROTOCOLS {
        let place = format!("compaction, {protocol:?}");
        let never = Step::new(text("never")).delay(Duration::from_secs(20));
        let mut fixture = fixture(protocol, Scenario::new().reply(never.repeat()));
        too_long(&mut fixture);
        let before = fixture.rows().len();
        let session = fixture.open();
        stop_when_asked(&fixture, &session, &place).await;
        trials(&session, 19, &random, &place).await;
        let rows = fixture.rows();
        assert!(rows.len() >= before, "{place}: rows are gone");
        drop(session);
        goes_on(&mut fixture, &place).await;
    }
}
