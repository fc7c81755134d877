//! Questions that calls put to the person: side by side, refused with a reason, unanswered, stopped.

use std::time::{Duration, Instant};

use futures_core::future::BoxFuture;
use hermes_core::{
    Answer, AnsweredBy, Beside, Decider, Effect, Event, Handling, Op, Question, QuestionId,
    QuestionKind, Reach, Tool, ToolContext, ToolOutcome, ToolResult, ToolSpec, TurnEnd,
};
use hermes_testkit::model_server::{Scenario, text, tool_call};
use serde_json::{Value as Json, json};

use super::fixture::{Fixture, finish, say};

/// Asks whether it may, and says what it heard.
pub(super) struct Asking {
    spec: ToolSpec,
    deadline: Duration,
}

impl Asking {
    pub(super) fn new(deadline: Duration) -> Self {
        Self {
            spec: ToolSpec {
                name: "act".to_owned(),
                description: "Acts.".to_owned(),
                parameters: json!({"type": "object", "properties": {"what": {"type": "string"}}}),
                effect: Effect::ReadOnly,
            },
            deadline,
        }
    }
}

impl Tool for Asking {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn handling(&self) -> Handling {
        Handling {
            beside: Beside::Anything,
            ..Handling::default()
        }
    }

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let what = arguments["what"].as_str().unwrap_or_default();
            let question = Question {
                id: QuestionId(0),
                session: context.session.clone(),
                kind: QuestionKind::Approval {
                    action: what.to_owned(),
                    reasons: vec!["is risky".to_owned()],
                    marks: Vec::new(),
                    reach: Reach::Session,
                    editable: false,
                    decider: match arguments["alone"].as_bool() {
                        Some(true) => Decider::Person,
                        _ => Decider::Anyone,
                    },
                },
                deadline: self.deadline,
            };
            let reply = context.asker.ask(question, context.cancel.clone()).await;
            let by = match reply.by {
                AnsweredBy::Runtime => "nobody",
                AnsweredBy::Stopped => "nobody any more",
                AnsweredBy::Program(_) => "a program",
                AnsweredBy::Person(_) | AnsweredBy::Rule(_) => "a person",
            };
            Ok(ToolResult {
                content: format!("{what}: {:?} by {by}", reply.answer),
                media: Vec::new(),
            })
        })
    }
}

/// The next question.
pub(super) async fn asked(session: &hermes_agent::Session) -> (QuestionId, String) {
    loop {
        let event = session.next_event().await.expect("the session goes on");
        if let Event::Ask(Question {
            id,
            kind: QuestionKind::Approval { action, .. },
            ..
        }) = event
        {
            return (id, action);
        }
    }
}

pub(super) fn results(fixture: &Fixture) -> Vec<String> {
    let rows = fixture.texts().into_iter();
    rows.filter(|(role, _)| role == "tool")
        .map(|(_, text)| text)
        .collect()
}

// EX-56
#[tokio::test]
async fn answers_reach_the_question_they_were_given_to_in_any_order_and_carry_reasons() {
    let scenario = Scenario::new()
        .reply(
            tool_call("act", json!({"what": "first"}))
                .and_tool_call("act", json!({"what": "second"})),
        )
        .reply(text("done"));
    let mut fixture = Fixture::new(scenario).tool(Asking::new(Duration::from_secs(60)));
    fixture.attended = true;
    let session = fixture.open();
    session.send(Op::UserMessage {
        text: "go".to_owned(),
        media: Vec::new(),
    });
    let (one, what_one) = asked(&session).await;
    let (two, what_two) = asked(&session).await;
    // They come in the order of the calls.
    assert_eq!((what_one.as_str(), what_two.as_str()), ("first", "second"));
    let no = Answer::Deny {
        reason: Some("not on a Friday".to_owned()),
    };
    for (question, answer) in [(two, no), (one, Answer::AllowSession)] {
        assert!(session.send(Op::Answer { question, answer }));
    }
    let done = finish(&session).await;
    assert_eq!(done.why, TurnEnd::Done);
    let results = results(&fixture);
    assert_eq!(
        results[0],
        format!("first: {:?} by a person", Answer::AllowSession)
    );
    assert!(results[1].starts_with("second: Deny"), "{results:?}");
    assert!(results[1].contains("not on a Friday"), "{results:?}");
}

// AG-7, MCP-75
#[tokio::test]
async fn the_time_of_a_call_stands_still_while_a_person_thinks() {
    let scenario = Scenario::new()
        .reply(tool_call("act", json!({"what": "it"})))
        .reply(text("done"));
    let limit = Handling::default().deadline;
    let mut fixture = Fixture::new(scenario).tool(Asking::new(limit * 10));
    fixture.attended = true;
    let session = fixture.open();
    session.send(Op::UserMessage {
        text: "go".to_owned(),
        media: Vec::new(),
    });
    let (question, _) = asked(&session).await;
    tokio::time::pause();
    tokio::time::advance(limit * 3).await;
    tokio::time::resume();
    // Whoever would have given the call up has done so by now.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let answer = Answer::AllowOnce;
    assert!(session.send(Op::Answer { question, answer }));
    let done = finish(&session).await;
    assert_eq!(done.why, TurnEnd::Done);
    let results = results(&fixture);
    assert_eq!(results[0], "it: AllowOnce by a person", "{results:?}");
}

// EX-56
#[tokio::test]
async fn a_question_nobody_answers_in_time_is_a_no() {
    let scenario = Scenario::new()
        .reply(tool_call("act", json!({"what": "it"})))
        .reply(text("done"));
    let mut fixture = Fixture::new(scenario).tool(Asking::new(Duration::from_millis(200)));
    fixture.attended = true;
    let session = fixture.open();
    let done = say(&session, "go").await;
    assert_eq!(done.why, TurnEnd::Done);
    let results = results(&fixture);
    assert!(results[0].starts_with("it: Deny"), "{results:?}");
    assert!(results[0].ends_with("by nobody"), "{results:?}");
}

// EX-56
#[tokio::test]
async fn a_stop_closes_the_question_and_a_late_answer_does_nothing() {
    let scenario = Scenario::new()
        .reply(tool_call("act", json!({"what": "it"})))
        .reply(text("next"));
    let mut fixture = Fixture::new(scenario).tool(Asking::new(Duration::from_secs(60)));
    fixture.attended = true;
    let session = fixture.open();
    session.send(Op::UserMessage {
        text: "go".to_owned(),
        media: Vec::new(),
    });
    let (question, _) = asked(&session).await;
    let started = Instant::now();
    session.send(Op::Interrupt);
    assert_eq!(finish(&session).await.why, TurnEnd::Interrupted);
    assert!(started.elapsed() < Duration::from_secs(2));
    // Stopping is not letting the time pass.
    let results = results(&fixture);
    assert!(results[0].ends_with("by nobody any more"), "{results:?}");
    let answer = Answer::AllowOnce;
    session.send(Op::Answer { question, answer });
    assert_eq!(say(&session, "and now?").await.text, "next");
}
