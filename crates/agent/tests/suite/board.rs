//! Questions that other processes see and may answer: which ones, for how long, and who is heard.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use hermes_agent::Session;
use hermes_core::{Answer, Clock as _, Event, ManualClock, Op, SessionId, SystemClock, TurnEnd};
use hermes_store::{DecisionOutcome, Options, PERMISSION_LIFE, Permission, Store};
use hermes_testkit::model_server::{Scenario, Step, text, tool_call};
use serde_json::json;

use super::fixture::{Fixture, finish};
use super::questions::{Asking, asked, results};

/// Long enough that a question is not over by itself.
const LONG: Duration = Duration::from_secs(60);

fn attended(scenario: Scenario) -> Fixture {
    let mut fixture = Fixture::new(scenario).tool(Asking::new(LONG));
    fixture.attended = true;
    fixture
}

/// One call that asks, and the end.
fn acting() -> Scenario {
    Scenario::new()
        .reply(tool_call("act", json!({"what": "it"})))
        .reply(text("done"))
}

fn go(session: &Session) {
    let text = "go".to_owned();
    let media = Vec::new();
    assert!(session.send(Op::UserMessage { text, media }));
}

/// What is on the board, once it is as it should be.
async fn board(store: &Store, met: impl Fn(&[Permission]) -> bool) -> Vec<Permission> {
    let looking = async {
        loop {
            let open = store.open_permissions().await.unwrap();
            if met(&open) {
                return open;
            }
            tokio::task::yield_now().await;
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(30), looking).await;
    found.expect("the board is as it should be")
}

/// How a question ended; nothing when nobody answered it.
async fn ended(store: &Store, id: i64) -> Option<DecisionOutcome> {
    let looking = async {
        loop {
            let row = store.permission(id).await.unwrap().unwrap();
            if !row.is_waited_for {
                return row.outcome;
            }
            tokio::task::yield_now().await;
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(30), looking).await;
    found.expect("the question ends")
}

// EX-68, MCP-79
#[tokio::test]
async fn what_only_the_person_may_allow_is_shown_to_nobody_else() {
    let scenario = Scenario::new()
        .reply(
            tool_call("act", json!({"what": "leave", "alone": true}))
                .and_tool_call("act", json!({"what": "delete"})),
        )
        .reply(text("done"));
    let fixture = attended(scenario);
    let others = fixture.other_store();
    let session = fixture.open();
    go(&session);
    let (leave, _) = asked(&session).await;
    asked(&session).await;
    let open = board(&others, |open| !open.is_empty()).await;
    let seen: Vec<&str> = open.iter().map(|one| one.action.as_str()).collect();
    assert_eq!(seen, ["delete"]);
    let yes = others.answer_permission(open[0].id, DecisionOutcome::Once, "robot");
    assert!(yes.await.unwrap());
    let outcome = ended(&others, open[0].id).await;
    assert_eq!(outcome, Some(DecisionOutcome::Once));
    board(&others, <[Permission]>::is_empty).await;
    let answer = Answer::AllowOnce;
    let question = leave;
    assert!(session.send(Op::Answer { question, answer }));
    let done = finish(&session).await;
    assert_eq!(done.why, TurnEnd::Done);
    let told = done.events.iter().any(
        |event| matches!(event, Event::Answered { how, .. } if how.as_str() == "allowed by robot"),
    );
    assert!(told, "{:?}", done.events);
    let results = results(&fixture);
    assert_eq!(results[0], "leave: AllowOnce by a person");
    assert_eq!(results[1], "delete: AllowOnce by a program");
}

// MCP-79
#[tokio::test]
async fn a_question_that_is_answered_at_once_is_not_left_on_the_board() {
    // The person is faster than what is written; of several one is, in any case.
    let what = |number: u32| json!({ "what": number.to_string() });
    let calls = (1..8).fold(tool_call("act", what(0)), |calls, number| {
        calls.and_tool_call("act", what(number))
    });
    let scenario = Scenario::new().reply(calls).reply(text("done"));
    let fixture = attended(scenario);
    let session = fixture.open();
    go(&session);
    for _ in 0..8 {
        let (question, _) = asked(&session).await;
        let answer = Answer::AllowOnce;
        assert!(session.send(Op::Answer { question, answer }));
    }
    assert_eq!(finish(&session).await.why, TurnEnd::Done);
    // What the turn wrote last came after what takes the questions down.
    let left = fixture.store.open_permissions().await.unwrap();
    assert!(left.is_empty(), "{left:?}");
}

// MCP-79
#[tokio::test]
async fn a_stopped_turn_takes_its_question_down() {
    let fixture = attended(acting());
    let others = fixture.other_store();
    let session = fixture.open();
    go(&session);
    asked(&session).await;
    let open = board(&others, |open| open.len() == 1).await;
    session.send(Op::Interrupt);
    assert_eq!(finish(&session).await.why, TurnEnd::Interrupted);
    // Nobody said no.
    assert_eq!(ended(&others, open[0].id).await, None);
    let late = others.answer_permission(open[0].id, DecisionOutcome::Once, "robot");
    assert!(!late.await.unwrap());
}

// MCP-79
#[tokio::test]
async fn when_both_answer_at_once_the_person_is_heard() {
    let fixture = attended(acting());
    let others = fixture.other_store();
    let session = fixture.open();
    go(&session);
    let (question, _) = asked(&session).await;
    let open = board(&others, |open| open.len() == 1).await;
    let yes = others.answer_permission(open[0].id, DecisionOutcome::Always, "robot");
    assert!(yes.await.unwrap());
    let answer = Answer::no();
    assert!(session.send(Op::Answer { question, answer }));
    assert_eq!(finish(&session).await.why, TurnEnd::Done);
    let results = results(&fixture);
    assert!(results[0].starts_with("it: Deny"), "{results:?}");
    assert!(results[0].ends_with("by a person"), "{results:?}");
    let outcome = ended(&others, open[0].id).await;
    assert_eq!(outcome, Some(DecisionOutcome::Refused));
}

// MCP-79
#[tokio::test]
async fn two_sessions_that_ask_at_once_hear_their_own_answers() {
    let scenario = Scenario::new()
        .reply(Step::new(tool_call("act", json!({"what": "it"}))).when_last("go"))
        .reply(Step::new(tool_call("act", json!({"what": "it"}))).when_last("go"))
        .reply(Step::new(text("done")).repeat());
    let fixture = attended(scenario);
    let others = fixture.other_store();
    let engine = fixture.engine();
    let one = engine.open(fixture.spec());
    let mut spec = fixture.spec();
    spec.id = SessionId::try_from("another".to_owned()).unwrap();
    let two = engine.open(spec);
    for session in [&one, &two] {
        go(session);
        asked(session).await;
    }
    let open = board(&others, |open| open.len() == 2).await;
    for asked in &open {
        let answer = match asked.session.as_str() {
            "another" => DecisionOutcome::Refused,
            _ => DecisionOutcome::Session,
        };
        let answered = others.answer_permission(asked.id, answer, "robot");
        assert!(answered.await.unwrap());
    }
    for (session, how) in [(&one, "allowed for this session"), (&two, "refused")] {
        let done = finish(session).await;
        let wanted = format!("{how} by robot");
        let told = done
            .events
            .iter()
            .any(|event| matches!(event, Event::Answered { how, .. } if *how == wanted));
        assert!(told, "{:?}", done.events);
    }
    board(&others, <[Permission]>::is_empty).await;
}

// MCP-79: the question of a killed session is open for nobody, so a living one says that it lives.
#[tokio::test]
async fn a_session_says_again_and_again_that_it_waits() {
    let fixture = attended(acting());
    let clock = Arc::new(ManualClock::new(SystemClock.now()));
    let store = Store::open(Options {
        path: fixture.folder.path().join("hermes.db"),
        blobs: fixture.folder.path().join("blobs"),
        clock: clock.clone(),
        redactor: fixture.redactor.clone(),
        vfs: None,
    });
    let store = store.unwrap();
    let session = fixture.engine_over(&store, 7).open(fixture.spec());
    go(&session);
    asked(&session).await;
    board(&store, |open| open.len() == 1).await;
    clock.advance(PERMISSION_LIFE);
    assert!(store.open_permissions().await.unwrap().is_empty());
    tokio::time::pause();
    tokio::time::advance(PERMISSION_LIFE).await;
    tokio::time::resume();
    let open = board(&store, |open| open.len() == 1).await;
    let yes = store.answer_permission(open[0].id, DecisionOutcome::Once, "robot");
    assert!(yes.await.unwrap());
    assert_eq!(finish(&session).await.why, TurnEnd::Done);
}

// MCP-79
#[tokio::test]
async fn a_board_that_cannot_be_read_for_a_while_is_looked_at_again() {
    let fixture = attended(acting());
    let others = fixture.other_store();
    let session = fixture.open();
    go(&session);
    asked(&session).await;
    let open = board(&others, |open| open.len() == 1).await;
    let database = fixture.folder.path().join("hermes.db");
    let sql = |sql: &str| {
        let done = Command::new("sqlite3").arg(&database).arg(sql).status();
        assert!(done.unwrap().success());
    };
    sql("ALTER TABLE permissions RENAME TO away");
    // The session has looked meanwhile, more than once.
    tokio::time::sleep(Duration::from_millis(700)).await;
    sql("ALTER TABLE away RENAME TO permissions");
    let yes = others.answer_permission(open[0].id, DecisionOutcome::Once, "robot");
    assert!(yes.await.unwrap());
    assert_eq!(finish(&session).await.why, TurnEnd::Done);
    assert_eq!(results(&fixture)[0], "it: AllowOnce by a program");
}
