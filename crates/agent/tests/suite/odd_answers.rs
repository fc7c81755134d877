//! Answers that are cut, empty, refused or wrong.

use std::collections::HashSet;
use std::time::Duration;

use hermes_agent::Session;
use hermes_core::{Op, Part, TurnEnd, WireProtocol};
use hermes_testkit::model_server::{
    Answer, Gate, Reply, Scenario, Step, ToolCall, Usage, error, frames, text, tool_call,
};
use serde_json::json;

use super::fixture::{Done, Fixture, Scripted, finish_watching, pass, say, until};
use super::idle::resident;

fn failed(done: &Done) -> &str {
    match &done.why {
        TurnEnd::Failed { message, .. } => message,
        other => panic!("{other:?}"),
    }
}

fn limits(fixture: &Fixture) -> Vec<u64> {
    fixture
        .requests()
        .iter()
        .filter_map(|request| request.expect_json()["max_tokens"].as_u64())
        .collect()
}

// AG-17
#[tokio::test]
async fn an_answer_that_runs_into_its_limit_is_continued_with_more_room() {
    let scenario = Scenario::new()
        .reply(text("The garden has ").finish_reason("length"))
        .reply(text("roses and ").finish_reason("length"))
        .reply(text("tulips."));
    let fixture = Fixture::new(scenario);
    let done = fixture.ask("what grows?").await;
    assert_eq!(done.why, TurnEnd::Done);
    assert_eq!(done.text, "The garden has roses and tulips.");
    assert_eq!(fixture.texts()[1].1, "The garden has roses and tulips.");
    assert_eq!(fixture.rows().len(), 2);
    assert_eq!(limits(&fixture), [8_192, 16_384]);

    let endless = Scenario::new().reply(Step::new(text("la ").finish_reason("length")).repeat());
    let fixture = Fixture::new(endless);
    let done = fixture.ask("sing").await;
    assert_eq!(
        (done.why, done.text.as_str()),
        (TurnEnd::Done, "la la la la ")
    );
    assert_eq!(fixture.requests().len(), 4);
}

// PV-6: some servers end a stream without saying why.
#[tokio::test]
async fn an_answer_that_only_says_it_is_done_is_asked_for_once() {
    let chunk = |text: &str| json!({"choices": [{"index": 0, "delta": {"content": text}}]});
    let stream = [
        chunk("Fo").to_string(),
        chunk("ur.").to_string(),
        "[DONE]".to_owned(),
    ];
    let stream = stream.map(|data| format!("data: {data}\n\n"));
    let fixture = Fixture::new(Scenario::new().reply(frames(stream)));
    let done = fixture.ask("2+2?").await;
    assert_eq!((done.why, done.text.as_str()), (TurnEnd::Done, "Four."));
    assert_eq!(fixture.requests().len(), 1);
    assert_eq!(fixture.texts()[1].1, "Four.");
}

// AG-17
#[tokio::test]
async fn a_call_that_is_cut_off_never_runs_and_is_written_again() {
    let scenario = Scenario::new()
        .reply(
            Answer::default()
                .and_call(ToolCall::new("look", json!({"n": 1})))
                .finish_reason("length"),
        )
        .reply(tool_call("look", json!({"n": 2})))
        .reply(text("Seen."));
    let look = std::sync::Arc::new(Scripted::saying("look", "a tree"));
    let mut fixture = Fixture::new(scenario);
    fixture.tools.push(look.clone());
    assert_eq!(fixture.ask("look").await.text, "Seen.");
    assert_eq!(*look.calls.lock().unwrap(), [json!({"n": 2})]);
    assert_eq!(limits(&fixture)[0], 8_192);
}

// AG-17: without a limit of ours the provider's own was reached; more room is more than that.
#[tokio::test]
async fn more_room_is_never_less_than_there_was() {
    for protocol in [WireProtocol::Anthropic, WireProtocol::Gemini] {
        let used = Usage {
            completion_tokens: 64_000,
            ..Usage::default()
        };
        let scenario = Scenario::new()
            .reply(text("The garden has ").finish_reason("length").usage(used))
            .reply(text("roses."));
        let mut fixture = Fixture::new(scenario);
        fixture.protocol = protocol;
        assert_eq!(
            fixture.ask("what grows?").await.text,
            "The garden has roses."
        );
        let request = fixture.requests()[1].expect_json().clone();
        let asked = match protocol {
            WireProtocol::Gemini => &request["generationConfig"]["maxOutputTokens"],
            _ => &request["max_tokens"],
        };
        assert!(asked.as_u64() >= Some(64_000), "{protocol:?}: {asked}");
    }
}

// AG-17
#[tokio::test]
async fn calls_that_are_cut_off_are_never_asked_for_twice_in_the_same_way() {
    let cut = || {
        Answer::default()
            .and_call(ToolCall::new("look", json!({"n": 1})))
            .finish_reason("length")
    };
    let fixture = Fixture::new(Scenario::new().reply(Step::new(cut()).repeat()))
        .tool(Scripted::saying("look", "a tree"));
    assert!(failed(&fixture.ask("look").await).contains("none of them was run"));
    let requests = fixture.requests();
    assert_eq!(requests.len(), 5);
    let bodies: HashSet<_> = requests
        .iter()
        .map(|request| request.body.clone())
        .collect();
    assert_eq!(bodies.len(), 5, "each one is different");
}

// AG-13, AG-17: more than the provider gives is not asked for, so the model has to be told.
#[tokio::test]
async fn a_call_that_is_cut_off_below_a_refused_limit_is_asked_for_in_another_way() {
    let refusal = error(400).message(
        "max_tokens is too large: 20000. This model supports at most 8192 completion tokens.",
    );
    let cut = Answer::default()
        .and_call(ToolCall::new("look", json!({"n": 1})))
        .finish_reason("length");
    let scenario = Scenario::new()
        .reply(Step::new(refusal))
        .reply(Step::new(cut).repeat());
    let fixture = Fixture::new(scenario).tool(Scripted::saying("look", "a tree"));
    assert!(failed(&fixture.ask("look").await).contains("none of them was run"));
    let requests = fixture.requests();
    let bodies: HashSet<_> = requests
        .iter()
        .map(|request| request.body.clone())
        .collect();
    assert_eq!(bodies.len(), requests.len(), "each one is different");
    assert_eq!(requests.len(), 6, "five calls and one refusal");
    assert_eq!(limits(&fixture), [8_192; 5]);
}

// AG-18
#[tokio::test]
async fn empty_answers_are_asked_for_again_a_counted_number_of_times() {
    let scenario = Scenario::new()
        .reply(Step::new(text("")).repeat())
        .lenient();
    let fixture = Fixture::new(scenario);
    let done = fixture.ask("hello?").await;
    assert_eq!(done.why, TurnEnd::Empty);
    // The first call and three more, no two alike.
    let bodies: Vec<_> = fixture
        .requests()
        .into_iter()
        .map(|request| request.body)
        .collect();
    assert_eq!(bodies.len(), 4);
    for (index, body) in bodies.iter().enumerate() {
        assert!(
            !bodies[..index].contains(body),
            "request {index} repeats an earlier one"
        );
    }

    let scenario = Scenario::new()
        .reply(tool_call("look", json!({})))
        .reply(text(""))
        .reply(text("A tree."))
        .lenient();
    let fixture = Fixture::new(scenario).tool(Scripted::saying("look", "a tree"));
    assert_eq!(fixture.ask("look").await.text, "A tree.");
    let roles: Vec<_> = fixture.texts().into_iter().map(|(role, _)| role).collect();
    assert_eq!(
        roles,
        ["user", "assistant", "tool", "assistant"],
        "nudges leave no rows"
    );
}

// AG-18
#[tokio::test]
async fn thinking_without_an_answer_is_asked_to_speak() {
    let scenario = Scenario::new()
        .reply(Answer::default().reasoning("Hm, hm."))
        .reply(text("Four."))
        .lenient();
    let fixture = Fixture::new(scenario);
    assert_eq!(fixture.ask("two and two?").await.text, "Four.");
    let bodies: Vec<_> = fixture
        .requests()
        .into_iter()
        .map(|request| request.body)
        .collect();
    assert!(bodies.len() == 2 && bodies[0] != bodies[1]);
    for said in [
        "<think>two and two</think>\n\nFour.",
        "Four<think>two and two</think>.",
    ] {
        let pieces = Step::new(text(said)).chunk_chars(3);
        let fixture = Fixture::new(Scenario::new().reply(pieces));
        assert_eq!(fixture.ask("two and two?").await.text, "Four.", "{said}");
        assert_eq!(fixture.texts()[1].1, "Four.", "{said}");
    }
    assert_eq!(fixture.texts()[1].1, "Four.");
}

// AG-19
#[tokio::test]
async fn wrong_names_and_arguments_are_mended_refused_and_counted() {
    let scenario = Scenario::new()
        .reply(tool_call("LookTool", json!({"n": "7"})).and_tool_call("fly", json!({})))
        .reply(text("ok"));
    let look = std::sync::Arc::new(Scripted::saying("look", "a tree"));
    let mut fixture = Fixture::new(scenario);
    fixture.tools.push(look.clone());
    fixture.ask("go").await;
    assert_eq!(*look.calls.lock().unwrap(), [json!({"n": 7})]);
    let texts = fixture.texts();
    assert!(
        texts
            .iter()
            .any(|(_, text)| text.contains("there is no tool named fly")),
        "{texts:?}"
    );

    let scenario = Scenario::new().reply(Step::new(tool_call("fly", json!({}))).repeat());
    let fixture = Fixture::new(scenario).tool(Scripted::saying("look", "a tree"));
    let done = fixture.ask("go").await;
    assert!(failed(&done).contains("tools that do not exist"));
    assert_eq!(fixture.requests().len(), 3);

    let scenario = Scenario::new()
        .reply(tool_call("look", json!({"n": 1})).and_tool_call("look", json!({"n": 1})))
        .reply(text("ok"));
    let look = std::sync::Arc::new(Scripted::saying("look", "a tree"));
    let mut fixture = Fixture::new(scenario);
    fixture.tools.push(look.clone());
    fixture.ask("go").await;
    assert_eq!(
        look.calls.lock().unwrap().len(),
        1,
        "a doubled call runs once"
    );
}

/// An answer with calls whose arguments are these very texts.
fn calls(arguments: &[&str]) -> Reply {
    let calls: Vec<_> = (0..)
        .zip(arguments)
        .map(|(index, arguments)| {
            json!({
                "index": index, "id": format!("call_{index}"), "type": "function",
                "function": {"name": "look", "arguments": arguments},
            })
        })
        .collect();
    let chunk = |delta: serde_json::Value, finish: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        let chunk = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
            "model": "scripted", "choices": [choice],
        });
        format!("data: {chunk}")
    };
    frames([
        chunk(json!({"role": "assistant", "tool_calls": calls}), None),
        chunk(json!({}), Some("tool_calls")),
        "data: [DONE]".to_owned(),
    ])
}

const BROKEN: &str = r#"{"n" 1 2}"#;

// AG-19
#[tokio::test]
async fn arguments_that_are_no_json_are_asked_for_again_and_then_refused_with_the_rest() {
    let bad = || Step::new(calls(&[r#"{"n": 7}"#, BROKEN]));
    let look = std::sync::Arc::new(Scripted::saying("look", "a tree"));
    let scenario = Scenario::new()
        .reply(bad())
        .reply(bad())
        .reply(bad())
        .reply(text("I give up."));
    let mut fixture = Fixture::new(scenario);
    fixture.tools.push(look.clone());
    assert_eq!(fixture.ask("go").await.text, "I give up.");
    let requests = fixture.requests();
    assert_eq!(requests.len(), 4);
    for (request, nudges) in requests.iter().zip([0, 1, 2, 0]) {
        let body = request.expect_json().to_string();
        assert_eq!(
            body.matches("were not valid JSON").count(),
            nudges,
            "{body}"
        );
    }
    assert_eq!(look.calls.lock().unwrap().len(), 0, "nothing of it was run");
    let results: Vec<_> = fixture
        .texts()
        .into_iter()
        .filter_map(|(role, text)| (role == "tool").then_some(text))
        .collect();
    assert!(
        results[0].contains("another call of the same answer was malformed"),
        "{results:?}"
    );
    assert!(
        results[1].contains("the arguments are not valid JSON"),
        "{results:?}"
    );
    assert_eq!(results.len(), 2);

    // Who gets it right when asked again loses nothing, and leaves no trace of it.
    let scenario = Scenario::new()
        .reply(bad())
        .reply(Step::new(calls(&[r#"{"n": 7}"#, "{'n': 8,}"])))
        .reply(text("ok"));
    let look = std::sync::Arc::new(Scripted::saying("look", "a tree"));
    let mut fixture = Fixture::new(scenario);
    fixture.tools.push(look.clone());
    assert_eq!(fixture.ask("go").await.text, "ok");
    assert_eq!(
        *look.calls.lock().unwrap(),
        [json!({"n": 7}), json!({"n": 8})]
    );
    assert_eq!(fixture.requests().len(), 3);
    let roles: Vec<_> = fixture.texts().into_iter().map(|(role, _)| role).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "assistant"]);
}

// AG-19, AG-17
#[tokio::test]
async fn arguments_that_stop_in_the_middle_never_run_and_are_written_again() {
    let cut = || Step::new(calls(&[r#"{"n": 7}"#, r#"{"path": "/a/b"#]));
    let look = std::sync::Arc::new(Scripted::saying("look", "a tree"));
    let scenario = Scenario::new()
        .reply(cut())
        .reply(tool_call("look", json!({"n": 9})))
        .reply(text("ok"));
    let mut fixture = Fixture::new(scenario);
    fixture.tools.push(look.clone());
    assert_eq!(fixture.ask("go").await.text, "ok");
    assert_eq!(*look.calls.lock().unwrap(), [json!({"n": 9})]);
    assert_eq!(limits(&fixture)[0], 8_192, "it had more room");

    let mut fixture = Fixture::new(Scenario::new().reply(cut().repeat()));
    fixture.tools.push(look.clone());
    let done = fixture.ask("go").await;
    assert!(failed(&done).contains("none of them was run"), "{done:?}");
    assert_eq!(fixture.requests().len(), 5);
    assert_eq!(look.calls.lock().unwrap().len(), 1);
}

// AG-33, EX-70
#[tokio::test]
async fn a_model_that_goes_round_in_circles_is_warned_and_stopped() {
    let scenario = Scenario::new().reply(Step::new(tool_call("bad", json!({"n": 1}))).repeat());
    let bad = Scripted::new("bad", |_, _| {
        Box::pin(async {
            Err(hermes_core::ToolError::ForModel {
                message: "no such thing".to_owned(),
            })
        })
    });
    let mut fixture = Fixture::new(scenario).tool(bad);
    fixture.config.tool_loop_guardrails.hard_stop_enabled = true;
    let done = fixture.ask("go").await;
    assert!(failed(&done).contains("round in circles"), "{done:?}");
    assert_eq!(fixture.requests().len(), 5);
    let warned = fixture
        .texts()
        .iter()
        .filter(|(_, text)| text.contains("[Note:"))
        .count();
    assert!(warned >= 3);
    let texts = fixture.texts();
    let stopped = texts.iter().find_map(|(_, text)| {
        let told: serde_json::Value = serde_json::from_str(text).ok()?;
        told["error"].is_string().then(|| told["guardrail"].clone())
    });
    let stopped = stopped.unwrap();
    assert_eq!(stopped["code"], "exact_failure", "{stopped}");
    assert_eq!(
        (&stopped["tool_name"], &stopped["count"]),
        (&json!("bad"), &json!(5))
    );
}

// AG-33, EX-70
#[tokio::test]
async fn one_tool_that_keeps_failing_and_a_look_that_shows_nothing_new_stop_a_turn_too() {
    // Other arguments every time: only the tool is the same.
    let failing = (0..20).fold(Scenario::new(), |scenario, n| {
        scenario.reply(tool_call("bad", json!({ "n": n })))
    });
    let bad = Scripted::new("bad", |_, _| {
        Box::pin(async {
            Err(hermes_core::ToolError::ForModel {
                message: "no such thing".to_owned(),
            })
        })
    });
    let looking = Scenario::new().reply(Step::new(tool_call("look", json!({"n": 1}))).repeat());
    let look = Scripted::saying("look", "a tree").read_only();
    for (scenario, tool, requests) in [(failing, bad, 8), (looking, look, 5)] {
        let mut fixture = Fixture::new(scenario).tool(tool);
        fixture.config.tool_loop_guardrails.hard_stop_enabled = true;
        let done = fixture.ask("go").await;
        assert!(failed(&done).contains("round in circles"), "{done:?}");
        assert_eq!(fixture.requests().len(), requests);
    }
}

// AG-33: what the guard stops has a result for every call.
#[tokio::test]
async fn a_stopped_circle_leaves_no_call_open() {
    let both = tool_call("bad", json!({"n": 1})).and_tool_call("look", json!({"n": 2}));
    let scenario = Scenario::new().reply(Step::new(both).repeat());
    let bad = Scripted::saying("bad", r#"{"output":"","exit_code":7}"#);
    let mut fixture = Fixture::new(scenario)
        .tool(bad)
        .tool(Scripted::saying("look", "a tree"));
    fixture.config.tool_loop_guardrails.hard_stop_enabled = true;
    let done = fixture.ask("go").await;
    assert!(failed(&done).contains("round in circles"), "{done:?}");
    let (calls, results) = fixture.rows().iter().fold((0, 0), |(calls, results), row| {
        let message = row.to_message();
        let answered = message.parts.iter();
        let answered = answered.filter(|part| matches!(part, Part::ToolResult { .. }));
        (
            calls + message.tool_calls().count(),
            results + answered.count(),
        )
    });
    assert_eq!(calls, results);
    let texts = fixture.texts();
    assert!(
        texts
            .iter()
            .any(|(_, text)| text.contains("not started: the turn went round")),
        "{texts:?}"
    );
}

// AG-31, EX-69
#[tokio::test]
async fn results_that_are_too_long_go_to_files() {
    let scenario = Scenario::new()
        .reply(
            tool_call("big", json!({"n": 1}))
                .and_tool_call("big", json!({"n": 2}))
                .and_tool_call("big", json!({"n": 3})),
        )
        .reply(text("ok"));
    let big = format!("{}the very end", "x".repeat(1_000_000));
    let fixture = Fixture::new(scenario).tool(Scripted::saying("big", &big));
    let before = resident();
    fixture.ask("go").await;
    let body = fixture.requests()[1].body.len();
    assert!(body < 30_000, "{body}");
    let grown = resident().saturating_sub(before);
    assert!(grown < 64 * 1024 * 1024, "{grown} bytes more in use");
    let folder = fixture
        .folder
        .path()
        .join("spill")
        .join(Fixture::id().as_str());
    let kept: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(kept.len(), 1, "the same text is kept once");
    // Nothing of it is lost, and the model sees how it begins and where the rest is.
    assert_eq!(std::fs::read_to_string(&kept[0]).unwrap(), big);
    let told = fixture.requests()[1].expect_json().to_string();
    let name = kept[0].file_name().unwrap().to_str().unwrap();
    assert_eq!(told.matches(name).count(), 3, "{told}");
    assert!(told.contains(&"x".repeat(500)), "{told}");
    assert_eq!(told.matches("<persisted-output>").count(), 3, "{told}");
}

// AG-16
#[tokio::test]
async fn a_stream_that_breaks_in_a_call_is_repeated_silently_and_the_tool_runs_once() {
    let call = || tool_call("look", json!({"n": 12_345}));
    let scenario = Scenario::new()
        .reply(Step::new(call()).chunk_chars(2).close_after(4))
        .reply(call())
        .reply(text("A tree."));
    let tool = std::sync::Arc::new(Scripted::saying("look", "a tree"));
    let mut fixture = Fixture::new(scenario);
    fixture.tools.push(tool.clone());
    let done = fixture.ask("look").await;
    assert_eq!((&done.why, done.text.as_str()), (&TurnEnd::Done, "A tree."));
    assert_eq!(*tool.calls.lock().unwrap(), [json!({"n": 12_345})]);
    assert!(super::fixture::notices(&done).is_empty());
    fixture.server.assert_done();
}

// AG-16
#[tokio::test]
async fn a_stream_that_breaks_in_the_text_is_continued_without_repetition() {
    let scenario = Scenario::new()
        .reply(
            Step::new(text("The garden has roses and tulips."))
                .chunk_chars(8)
                .close_after(3),
        )
        .reply(Step::new(text("and the rest.")).repeat());
    let fixture = Fixture::new(scenario);
    let done = fixture.ask("what grows?").await;
    assert_eq!(done.why, TurnEnd::Done);
    assert!(done.text.starts_with("The garden has"), "{}", done.text);
    assert_eq!(done.text.matches("The garden").count(), 1);
    assert!(done.text.ends_with("and the rest."));
    assert_eq!(fixture.texts()[1].1, done.text);
}

// AG-14
#[tokio::test]
async fn another_model_answers_when_the_first_cannot() {
    for status in [401, 402, 404] {
        let scenario = Scenario::new()
            .reply(Step::new(error(status)).when_model("scripted").repeat())
            .reply(
                Step::new(text("From the other."))
                    .when_model("spare")
                    .repeat(),
            );
        let mut fixture = Fixture::new(scenario);
        fixture.fallbacks = vec![fixture.route_to(&fixture.server, "spare")];
        let done = fixture.ask("hi").await;
        assert_eq!(done.text, "From the other.", "{status}: {done:?}");
        let changed = done.events.iter().any(|event| {
            matches!(event, hermes_core::Event::RouteChanged { model, .. } if model == "spare")
        });
        assert!(changed, "the switch is said aloud");
    }
}

/// The silence a stream may keep in these tests, on a clock that they move.
const STALE: Duration = Duration::from_secs(5);

/// Says something. Of the requests that come, numbered from 1, these hang: as soon as one of them has come, and its
/// words if it has any, the time it is given passes.
async fn say_stalling(
    fixture: &Fixture,
    session: &Session,
    text: &str,
    hanging: &[(usize, Hangs)],
) -> Done {
    assert!(session.send(Op::UserMessage {
        text: text.to_owned(),
        media: Vec::new(),
    }));
    let (mut passed, mut said) = (0, 0);
    finish_watching(session, async |done| {
        let number = fixture.requests().len();
        let hangs = hanging.iter().find(|(hanging, _)| *hanging == number);
        let Some((_, hangs)) = hangs.filter(|_| number > passed) else {
            return;
        };
        if *hangs == Silently || done.text.len() > said {
            (passed, said) = (number, done.text.len());
            pass(STALE).await;
        }
    })
    .await
}

#[derive(PartialEq)]
enum Hangs {
    Silently,
    AfterWords,
}
use Hangs::{AfterWords, Silently};

// AG-15
#[tokio::test]
async fn a_stream_that_goes_silent_is_left_and_its_late_words_are_never_shown() {
    let gate = Gate::new();
    let scenario = Scenario::new()
        .reply(Step::new(text("too late")).held(&gate))
        .reply(text("In time."));
    let mut fixture = Fixture::new(scenario);
    fixture.stale = Some(STALE);
    let session = fixture.open();
    let late = async {
        until("the second try", || fixture.requests().len() == 2).await;
        gate.open();
    };
    let saying = say_stalling(&fixture, &session, "hurry", &[(1, Silently)]);
    let (done, ()) = tokio::join!(saying, late);
    assert_eq!((done.why, done.text.as_str()), (TurnEnd::Done, "In time."));
    assert_eq!(fixture.texts()[1].1, "In time.");

    // Silence behind words: they are kept, and the answer goes on from there.
    let scenario = Scenario::new()
        .reply(
            Step::new(text("The first half, "))
                .chunk_chars(12)
                .hang_after(2),
        )
        .reply(text("and the second."));
    let mut fixture = Fixture::new(scenario);
    fixture.stale = Some(STALE);
    let session = fixture.open();
    let done = say_stalling(&fixture, &session, "tell", &[(1, AfterWords)]).await;
    assert_eq!(done.why, TurnEnd::Done);
    assert!(
        done.text.starts_with("The first") && done.text.ends_with("and the second."),
        "{}",
        done.text
    );
}

/// Answers that say a little, each something else, and then go silent.
fn half_said() -> Scenario {
    let said = ["one and", "two and", "three and", "four and"];
    said.into_iter().fold(Scenario::new(), |scenario, words| {
        scenario.reply(Step::new(text(words)).chunk_chars(4).hang_after(3))
    })
}

/// A call that is never answered.
fn silence() -> Step {
    Step::new(text("never")).held(&Gate::new())
}

/// A session whose route has stalled four times: words that came are kept and gone on from.
async fn after_four_stalls(fixture: &Fixture) -> Session {
    let session = fixture.open();
    let hanging = [1, 2, 3, 4].map(|number| (number, AfterWords));
    let done = say_stalling(fixture, &session, "first", &hanging).await;
    assert!(failed(&done).contains("broke off"), "{done:?}");
    assert_eq!(fixture.requests().len(), 4);
    session
}

// AG-15: five stalls in a row, and the route is given up at once; an answer starts the count again.
#[tokio::test]
async fn a_route_that_keeps_stalling_is_given_up_without_another_try() {
    let scenario = half_said()
        .reply(silence())
        .reply(text("Awake."))
        .reply(silence())
        .reply(text("Still awake."));
    let mut fixture = Fixture::new(scenario);
    fixture.stale = Some(STALE);
    let session = after_four_stalls(&fixture).await;
    // The fifth is the last: no wait, no second try.
    let done = say_stalling(&fixture, &session, "second", &[(5, Silently)]).await;
    assert!(!failed(&done).is_empty());
    assert_eq!(fixture.requests().len(), 5);
    // And nothing more is sent in this session.
    let done = say(&session, "third").await;
    assert!(failed(&done).contains("5 times in a row"), "{done:?}");
    assert_eq!(fixture.requests().len(), 5);
    let session = fixture.open();
    assert_eq!(say(&session, "once more").await.text, "Awake.");
    // Once something was answered, one stall is just a stall.
    let done = say_stalling(&fixture, &session, "fourth", &[(7, Silently)]).await;
    assert_eq!(done.text, "Still awake.");
}

// AG-15: also in later turns.
#[tokio::test]
async fn a_route_that_keeps_stalling_is_left_for_another() {
    let scenario = half_said()
        .reply(silence().when_model("scripted").repeat())
        .reply(
            Step::new(text("From the other."))
                .when_model("spare")
                .repeat(),
        );
    let mut fixture = Fixture::new(scenario);
    fixture.stale = Some(STALE);
    fixture.fallbacks = vec![fixture.route_to(&fixture.server, "spare")];
    let session = after_four_stalls(&fixture).await;
    let done = say_stalling(&fixture, &session, "second", &[(5, Silently)]).await;
    assert_eq!(done.text, "From the other.");
    assert_eq!(fixture.requests().len(), 6, "one more stall was enough");
    // The first one is not gone back to: its streak is full.
    assert_eq!(say(&session, "third").await.text, "From the other.");
    let asked: Vec<_> = fixture
        .requests()
        .iter()
        .map(|request| request.expect_json()["model"].clone())
        .collect();
    assert_eq!(asked[5..], ["spare", "spare"]);
}
