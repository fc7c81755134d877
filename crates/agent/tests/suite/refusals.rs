//! Answers that are refused or say nothing: another model is asked, or the turn ends with a reason.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::{Event, Op, TurnEnd, WireProtocol};
use hermes_testkit::model_server::{
    Answer, Gate, Scenario, Step, ToolCall, error, text, tool_call,
};
use serde_json::json;

use super::fixture::{Done, Fixture, Scripted, finish_watching, notices, pass};

const PROTOCOLS: [WireProtocol; 5] = [
    WireProtocol::ChatCompletions,
    WireProtocol::Responses,
    WireProtocol::Anthropic,
    WireProtocol::Gemini,
    WireProtocol::Converse,
];

/// The word that a vendor ends a refused answer with, where it is not the usual one.
fn refusal(protocol: WireProtocol) -> Answer {
    Answer::default().finish_reason(match protocol {
        WireProtocol::Gemini => "SAFETY",
        _ => "content_filter",
    })
}

/// A conversation with a model that answers like this, and one to turn to that speaks.
fn with_spare(protocol: WireProtocol, answer: Answer) -> Fixture {
    let scenario = Scenario::new()
        .reply(Step::new(answer).when_model("scripted").repeat())
        .reply(
            Step::new(text("From the other."))
                .when_model("spare")
                .repeat(),
        );
    let mut fixture = Fixture::new(scenario);
    fixture.protocol = protocol;
    fixture.fallbacks = vec![fixture.route_to(&fixture.server, "spare")];
    fixture
}

fn asked(fixture: &Fixture, model: &str) -> usize {
    let of_model = |body: &str| body.contains(&format!("\"model\":\"{model}\""));
    let requests = fixture.requests();
    let all = requests.iter().map(|request| {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        of_model(&body) || request.path.contains(&format!("/{model}"))
    });
    all.filter(|of_model| *of_model).count()
}

/// What was said about a change of the model.
fn changes(done: &Done) -> Vec<(&str, &str)> {
    let changed = done.events.iter().filter_map(|event| match event {
        Event::RouteChanged { model, reason, .. } => Some((model.as_str(), reason.as_str())),
        _ => None,
    });
    changed.collect()
}

// AG-14: a refusal is never asked for twice of the same model.
#[tokio::test]
async fn another_model_answers_what_the_first_one_refuses() {
    for protocol in PROTOCOLS {
        let fixture = with_spare(protocol, refusal(protocol));
        let done = fixture.ask("tell me").await;
        assert_eq!(done.text, "From the other.", "{protocol:?}: {done:?}");
        assert_eq!(done.why, TurnEnd::Done);
        assert_eq!(asked(&fixture, "scripted"), 1, "{protocol:?}");
        assert_eq!(asked(&fixture, "spare"), 1, "{protocol:?}");
        let [(model, reason)] = changes(&done)[..] else {
            panic!("{protocol:?}: the switch is said once: {done:?}");
        };
        assert_eq!(model, "spare");
        assert!(reason.contains("refused to answer"), "{reason}");
    }
}

// AG-12
#[tokio::test]
async fn a_refusal_without_another_model_fails_and_is_not_tried_again() {
    for protocol in PROTOCOLS {
        let mut fixture =
            Fixture::new(Scenario::new().reply(Step::new(refusal(protocol)).repeat()));
        fixture.protocol = protocol;
        let done = fixture.ask("tell me").await;
        let TurnEnd::Failed { message, hint } = &done.why else {
            panic!("{protocol:?}: {done:?}");
        };
        assert_eq!(
            message, "lab/scripted refused to answer this",
            "{protocol:?}"
        );
        let hint = hint.as_deref().unwrap_or_default();
        assert!(hint.contains("another model"), "{hint}");
        assert_eq!(fixture.requests().len(), 1, "{protocol:?}");
        assert_eq!(done.text, "");
    }
}

// AG-12: a filter that struck in the middle leaves nothing that should be run.
#[tokio::test]
async fn a_refused_answer_runs_none_of_its_calls() {
    let half = text("I will look. ")
        .and_call(ToolCall::new("look", json!({"n": 1})))
        .finish_reason("content_filter");
    let alone = Fixture::new(Scenario::new().reply(Step::new(half.clone()).repeat()));
    for (mut fixture, failed) in [
        (alone, true),
        (with_spare(WireProtocol::ChatCompletions, half), false),
    ] {
        let look = Arc::new(Scripted::saying("look", "a tree"));
        fixture.tools.push(look.clone());
        let done = fixture.ask("look").await;
        assert_eq!(
            matches!(done.why, TurnEnd::Failed { .. }),
            failed,
            "{done:?}"
        );
        assert!(look.calls.lock().unwrap().is_empty(), "nothing runs");
        assert_eq!(asked(&fixture, "scripted"), 1);
        let calls = fixture.rows().iter().any(|row| row.role == "tool");
        assert!(!calls, "{:?}", fixture.texts());
    }
}

// AG-12, AG-14: half an answer is none, however it began.
#[tokio::test]
async fn an_answer_that_a_filter_cut_is_not_passed_off_as_whole() {
    const HALF: &str = "The recipe begins with two";
    for protocol in PROTOCOLS {
        let half = || refusal(protocol).text(HALF);
        let fixture = with_spare(protocol, half());
        let done = fixture.ask("tell me").await;
        assert_eq!(done.why, TurnEnd::Done, "{protocol:?}: {done:?}");
        assert_eq!(done.answer, "From the other.", "{protocol:?}");
        assert_eq!(asked(&fixture, "scripted"), 1, "{protocol:?}");
        assert_eq!(changes(&done).len(), 1, "{protocol:?}: {done:?}");
        let rows = fixture.texts();
        assert_eq!(rows.len(), 2, "{protocol:?}: {rows:?}");
        assert_eq!(rows[1].1, "From the other.", "{protocol:?}");

        let mut alone = Fixture::new(Scenario::new().reply(Step::new(half()).repeat()));
        alone.protocol = protocol;
        let done = alone.ask("tell me").await;
        let TurnEnd::Failed { message, hint } = &done.why else {
            panic!("{protocol:?}: {done:?}");
        };
        assert!(
            message.contains("lab/scripted refused to go on"),
            "{protocol:?}: {message}"
        );
        assert!(hint.is_some());
        assert_eq!(alone.requests().len(), 1, "{protocol:?}");
        assert_eq!(alone.texts()[1].1, HALF, "what was shown is kept");
    }
}

// AG-10, AG-14: the summary at the end of a budget is an answer like any other.
#[tokio::test]
async fn a_summary_that_is_refused_is_asked_for_of_another_model() {
    let cut = text("So far I").finish_reason("content_filter");
    let scenario = Scenario::new()
        .reply(tool_call("look", json!({"n": 1})))
        .reply(Step::new(cut).when_model("scripted"))
        .reply(Step::new(text("<think>hm</think>I looked.")).when_model("spare"));
    let mut fixture = Fixture::new(scenario).tool(Scripted::saying("look", "a tree"));
    fixture.fallbacks = vec![fixture.route_to(&fixture.server, "spare")];
    fixture.most_calls = 1;
    let done = fixture.ask("look for ever").await;
    assert_eq!(
        (&done.why, done.answer.as_str()),
        (&TurnEnd::Budget, "I looked.")
    );
    assert_eq!(fixture.texts().last().unwrap().1, "I looked.");
    let last = fixture.requests().pop().unwrap().expect_json()["messages"].to_string();
    assert_eq!(last.matches("limit of model calls").count(), 1, "{last}");
}

// AG-18
#[tokio::test]
async fn another_model_answers_where_the_first_one_says_nothing() {
    let fixture = with_spare(WireProtocol::ChatCompletions, text(""));
    let done = fixture.ask("hello?").await;
    assert_eq!(done.text, "From the other.", "{done:?}");
    // The first call and three more, then the other model.
    assert_eq!(
        (asked(&fixture, "scripted"), asked(&fixture, "spare")),
        (4, 1)
    );
    let changed = changes(&done);
    assert!(
        matches!(changed[..], [("spare", reason)] if reason.contains("answered nothing")),
        "{changed:?}"
    );
    // The other one is asked what the user asked, without our reminders.
    let last = fixture.requests().pop().unwrap().expect_json()["messages"].clone();
    assert_eq!(last.as_array().map(|all| all.len()), Some(2), "{last}");
    // One that fails in another way is not silent: it says why.
    let scenario = Scenario::new()
        .reply(Step::new(text("")).when_model("scripted").repeat())
        .reply(Step::new(error(401)).when_model("spare").repeat());
    let mut fixture = Fixture::new(scenario);
    fixture.fallbacks = vec![fixture.route_to(&fixture.server, "spare")];
    let done = fixture.ask("hello?").await;
    assert!(matches!(done.why, TurnEnd::Failed { .. }), "{done:?}");
}

// AG-18: twice it is asked to say what it thought, three times to answer at all.
#[tokio::test]
async fn thinking_without_end_is_asked_for_a_counted_number_of_times() {
    let thinking = Step::new(Answer::default().reasoning("Hm, hm.")).repeat();
    let fixture = Fixture::new(Scenario::new().reply(thinking).lenient());
    let done = fixture.ask("two and two?").await;
    assert_eq!(done.why, TurnEnd::Empty);
    assert_eq!(done.text, "");
    let requests = fixture.requests();
    let bodies: HashSet<_> = requests.iter().map(|request| &request.body).collect();
    assert_eq!((requests.len(), bodies.len()), (6, 6), "no two alike");
    let reminders = |words: &str| {
        let last = requests[5].expect_json()["messages"].to_string();
        last.matches(words).count()
    };
    assert_eq!(reminders("thought about it but said nothing"), 2);
    assert_eq!(reminders("Your last answer was empty"), 3);
    let roles: Vec<_> = fixture.texts().into_iter().map(|(role, _)| role).collect();
    assert_eq!(roles, ["user", "assistant"], "reminders leave no rows");
    let closing = fixture.texts().pop().unwrap().1;
    assert_eq!(closing, "[This was cut off before an answer.]");
}

// AG-18: what was said beside calls that only kept something is the answer, unless one of them failed, something else
// was called, or it only announced work.
#[tokio::test]
async fn an_answer_beside_calls_that_keep_something_needs_no_other() {
    let said = "Roses grow here.";
    for (said, calls, result, expected) in [
        (said, vec!["memory"], "kept", 2),
        (said, vec!["memory", "skill_manage"], "kept", 2),
        (
            said,
            vec!["memory"],
            r#"{"success":false,"error":"full"}"#,
            3,
        ),
        (said, vec!["memory", "todo"], "kept", 3),
        ("Let me check the garden.", vec!["memory"], "kept", 3),
    ] {
        let answer = calls.iter().fold(text(said), |answer, name| {
            answer.and_tool_call(*name, json!({}))
        });
        let scenario = Scenario::new()
            .reply(answer)
            .reply(text(""))
            .reply(text("Roses, as I said."))
            .lenient();
        let fixture = Fixture::new(scenario)
            .tool(Scripted::saying("memory", result))
            .tool(Scripted::saying("skill_manage", result))
            .tool(Scripted::saying("todo", result));
        let done = fixture.ask("what grows here?").await;
        assert_eq!(done.why, TurnEnd::Done, "{calls:?} {said}: {done:?}");
        assert_eq!(fixture.requests().len(), expected, "{calls:?} {said}");
        let last = fixture.texts().pop().unwrap();
        let answer = if expected == 2 {
            said
        } else {
            "Roses, as I said."
        };
        assert_eq!(last, ("assistant".to_owned(), answer.to_owned()));
    }
}

// AG-15: every half minute, on a clock that this test moves.
#[tokio::test]
async fn who_waits_is_told_for_how_long_nothing_has_come_and_how_long_it_may_last() {
    let gate = Gate::new();
    let late = Step::new(text("Here.")).held(&gate);
    let mut fixture = Fixture::new(Scenario::new().reply(late));
    fixture.stale = Some(Duration::from_secs(120));
    let session = fixture.open();
    assert!(session.send(Op::UserMessage {
        text: "hello?".to_owned(),
        media: Vec::new(),
    }));
    let mut passed = 0;
    let done = finish_watching(&session, async |done| match notices(done).len() {
        2 => gate.open(),
        told if told == passed && !fixture.requests().is_empty() => {
            passed += 1;
            pass(Duration::from_secs(31)).await;
        }
        _ => {}
    })
    .await;
    assert_eq!(done.text, "Here.");
    assert_eq!(
        notices(&done),
        [
            "nothing has come for 30 s; connecting anew in 90 s",
            "nothing has come for 60 s; connecting anew in 60 s",
        ]
    );
}
