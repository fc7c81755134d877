//! How turns end: not too early, not without a word, and with nothing said left unheard.

use std::time::Duration;

use hermes_config::{Automatic, Either};
use hermes_core::{Event, Op, ToolError, TurnEnd, WireProtocol};
use hermes_testkit::model_server::{
    Answer, Gate, Scenario, Step, ToolCall, error, text, tool_call,
};
use serde_json::json;

use super::fixture::{Fixture, Scripted, finish, notices, say, until};

const PROMISE: &str = "I'll look at the garden now.";

fn promising(config: Either<Automatic, Vec<String>>, scenario: Scenario) -> Fixture {
    let mut fixture = Fixture::new(scenario).tool(Scripted::saying("look", "a tree"));
    fixture.config.agent.intent_ack_continuation = config;
    fixture
}

// AG-37
#[tokio::test]
async fn a_model_that_only_announces_its_work_is_asked_to_do_it() {
    let scenario = || {
        Scenario::new()
            .reply(text(PROMISE))
            .reply(tool_call("look", json!({"n": 1})))
            .reply(text("There is a tree."))
    };
    let on = Either::First(Automatic::On);
    let fixture = promising(on, scenario());
    let done = fixture.ask("what grows there?").await;
    assert_eq!(done.why, TurnEnd::Done, "{done:?}");
    assert_eq!(done.text, format!("{PROMISE}\n\nThere is a tree."));
    let rows = fixture.texts();
    let shown: Vec<_> = rows
        .iter()
        .map(|(role, text)| (role.as_str(), text.trim()))
        .collect();
    assert_eq!(
        shown,
        [
            ("user", "what grows there?"),
            ("assistant", PROMISE),
            ("tool", "a tree"),
            ("assistant", "There is a tree."),
        ],
        "what we told the model leaves no row"
    );
    let asked = fixture.requests()[1].expect_json()["messages"].to_string();
    assert!(asked.contains("called no tool"), "{asked}");

    // By itself only where it is known to happen; by name where the user says so; not when it is off.
    for (config, protocol, calls) in [
        (Either::First(Automatic::Auto), WireProtocol::Responses, 3),
        (
            Either::First(Automatic::Auto),
            WireProtocol::ChatCompletions,
            1,
        ),
        (
            Either::Second(vec!["Script".to_owned()]),
            WireProtocol::ChatCompletions,
            3,
        ),
        (Either::First(Automatic::Off), WireProtocol::Responses, 1),
    ] {
        let mut fixture = promising(config.clone(), scenario());
        fixture.protocol = protocol;
        assert_eq!(fixture.ask("what grows there?").await.why, TurnEnd::Done);
        assert_eq!(fixture.requests().len(), calls, "{config:?} {protocol:?}");
    }
}

// AG-37
#[tokio::test]
async fn a_model_that_keeps_announcing_is_believed_after_two_reminders() {
    let scenario = Scenario::new().reply(Step::new(text(PROMISE)).repeat());
    let fixture = promising(Either::First(Automatic::On), scenario);
    let done = fixture.ask("what grows there?").await;
    assert_eq!(done.why, TurnEnd::Done);
    assert_eq!(fixture.requests().len(), 3);
    assert_eq!(fixture.rows().len(), 2);
    assert_eq!(fixture.texts()[1].1, done.text);
}

fn editing(scenario: Scenario) -> Fixture {
    Fixture::new(scenario)
        .tool(Scripted::saying("write_file", "written"))
        .tool(Scripted::saying("terminal", "3 passed"))
}

fn write(path: &str) -> Step {
    Step::new(tool_call(
        "write_file",
        json!({"path": path, "content": "x"}),
    ))
}

// AG-38
#[tokio::test]
async fn changed_code_is_checked_before_the_turn_ends() {
    let scenario = Scenario::new()
        .reply(write("src/shed.rs"))
        .reply(text("The shed is built."))
        .reply(tool_call("terminal", json!({"command": "cargo test"})))
        .reply(text("And it stands."));
    let fixture = editing(scenario);
    let done = fixture.ask("build a shed").await;
    assert_eq!(done.text, "The shed is built.\n\nAnd it stands.");
    assert_eq!(fixture.requests().len(), 4);
    let asked = fixture.requests()[2].expect_json()["messages"].to_string();
    assert!(asked.contains("You changed src/shed.rs"), "{asked}");
    assert!(
        fixture
            .texts()
            .iter()
            .all(|(_, text)| !text.contains("You changed")),
        "what we told the model leaves no row"
    );

    // Twice at most, and never about prose, in a chat, when it is off, or with nothing to run.
    let stubborn = |path: &str| {
        Scenario::new()
            .reply(write(path))
            .reply(Step::new(text("Done.")).repeat())
    };
    let count = async |fixture: Fixture| {
        assert_eq!(fixture.ask("build").await.why, TurnEnd::Done);
        fixture.requests().len()
    };
    assert_eq!(count(editing(stubborn("a.py"))).await, 4);
    assert_eq!(count(editing(stubborn("notes.md"))).await, 2);
    let mut off = editing(stubborn("a.py"));
    off.config.agent.verify_on_stop = Automatic::Off;
    assert_eq!(count(off).await, 2);
    let mut chat = editing(stubborn("a.py"));
    chat.surface = "telegram";
    assert_eq!(count(chat).await, 2);
    let unarmed = Fixture::new(stubborn("a.py")).tool(Scripted::saying("write_file", "written"));
    assert_eq!(count(unarmed).await, 2);
}

// AG-38: with a note behind the result, and when the end of it went to a file.
#[tokio::test]
async fn a_check_that_keeps_failing_has_not_passed() {
    let failing = |output: &str| {
        let result = json!({"output": output, "exit_code": 1, "error": null});
        Scripted::saying("terminal", &result.to_string())
    };
    let long = "assertion failed\n".repeat(6_000);
    for (runs, output) in [(1, "1 failed"), (2, "1 failed"), (1, long.as_str())] {
        let check = tool_call("terminal", json!({"command": "python3 check_it.py"}));
        let checks = std::iter::repeat_n(check, runs);
        let scenario = checks.fold(Scenario::new().reply(write("a.py")), |scenario, check| {
            scenario.reply(check)
        });
        let scenario = scenario.reply(Step::new(text("Done.")).repeat());
        let fixture = Fixture::new(scenario)
            .tool(Scripted::saying("write_file", "written"))
            .tool(failing(output));
        assert_eq!(fixture.ask("build").await.why, TurnEnd::Done);
        // Writing, checking, and three times the answer that was held back twice.
        let (requests, length) = (fixture.requests().len(), output.len());
        assert_eq!(requests, 1 + runs + 3, "{runs} runs, {length} bytes");
    }
}

// AG-38
#[tokio::test]
async fn an_answer_that_was_held_back_is_delivered_when_the_budget_is_spent() {
    let scenario = Scenario::new()
        .reply(write("a.py"))
        .reply(text("The shed is built."))
        .reply(Step::new(tool_call("terminal", json!({"command": "ls"}))).repeat());
    let mut fixture = editing(scenario);
    fixture.most_calls = 2;
    let done = fixture.ask("build").await;
    assert_eq!(
        (done.why, done.text.as_str()),
        (TurnEnd::Done, "The shed is built.")
    );
    assert_eq!(fixture.requests().len(), 2);

    // Nothing that was shown is lost when the next call fails.
    let scenario = Scenario::new()
        .reply(write("a.py"))
        .reply(text("The shed is built."))
        .reply(Step::new(error(401)).repeat());
    let fixture = editing(scenario);
    let done = fixture.ask("build").await;
    assert!(matches!(done.why, TurnEnd::Failed { .. }), "{done:?}");
    assert_eq!(fixture.texts().last().unwrap().1, "The shed is built.");
}

// AG-38
#[tokio::test]
async fn edits_that_came_to_nothing_are_named_at_the_end() {
    let scenario = || {
        Scenario::new()
            .reply(write("notes.md"))
            .reply(text("All written."))
    };
    let full = Scripted::new("write_file", |_, _| {
        let message = "the disk is full".to_owned();
        Box::pin(async { Err(ToolError::ForModel { message }) })
    });
    let mut fixture = Fixture::new(scenario()).tool(full);
    let done = fixture.ask("write").await;
    let told = |done| {
        notices(done)
            .iter()
            .any(|text| text.contains("could not be changed: notes.md"))
    };
    assert!(told(&done), "{done:?}");
    fixture.config.display.file_mutation_verifier = false;
    fixture.server = hermes_testkit::model_server::ModelServer::start(scenario()).unwrap();
    assert!(!told(&fixture.ask("write").await));
}

// AG-10: a summary that says nothing is asked for once more, then without any tools.
#[tokio::test]
async fn an_empty_summary_of_a_spent_budget_is_asked_for_once_more() {
    let scenario = Scenario::new()
        .reply(
            Step::new(tool_call("look", json!({"n": 1})))
                .when_tools_offered()
                .repeat(),
        )
        .reply(Step::new(text("I looked.")).when_no_tools());
    let mut fixture = Fixture::new(scenario).tool(Scripted::saying("look", "a tree"));
    fixture.most_calls = 1;
    let done = fixture.ask("look for ever").await;
    assert_eq!(
        (done.why, done.text.as_str()),
        (TurnEnd::Budget, "I looked.")
    );
    assert_eq!(fixture.requests().len(), 3);
    assert_eq!(fixture.texts().last().unwrap().1, "I looked.");
}

// AG-10: a summary that cannot be had is a failure like any other.
#[tokio::test]
async fn a_summary_of_a_spent_budget_that_fails_says_why() {
    let scenario = Scenario::new()
        .reply(tool_call("look", json!({"n": 1})))
        .reply(Step::new(error(401)).repeat());
    let mut fixture = Fixture::new(scenario).tool(Scripted::saying("look", "a tree"));
    fixture.most_calls = 1;
    let done = fixture.ask("look for ever").await;
    let TurnEnd::Failed { message, hint } = &done.why else {
        panic!("{done:?}");
    };
    assert!(message.contains("scripted") && hint.is_some(), "{done:?}");
    assert_eq!(fixture.requests().len(), 2);
}

// AG-10: a script does the work of many calls, and a call nobody answered is none.
#[tokio::test]
async fn scripts_and_requests_that_were_too_long_do_not_use_up_the_budget() {
    let script = |n: u32| Step::new(tool_call("execute_code", json!({ "n": n })));
    let scenario = Scenario::new()
        .reply(script(1))
        .reply(script(2))
        .reply(tool_call("look", json!({"n": 3})))
        .reply(text("Counted."));
    let with_tools = |scenario: Scenario| {
        Fixture::new(scenario)
            .tool(Scripted::saying("execute_code", "42"))
            .tool(Scripted::saying("look", "a tree"))
    };
    let mut fixture = with_tools(scenario);
    fixture.most_calls = 2;
    let done = fixture.ask("count").await;
    assert_eq!((done.why, done.text.as_str()), (TurnEnd::Done, "Counted."));

    // A script along with something else counts, and there is an end to what is given back.
    let both = Answer::default()
        .and_call(ToolCall::new("execute_code", json!({"n": 1})))
        .and_call(ToolCall::new("look", json!({"n": 1})));
    let scenario = Scenario::new()
        .reply(both)
        .reply(Step::new(text("Summed up.")).when_body("limit of model calls"));
    let mut fixture = with_tools(scenario);
    fixture.most_calls = 1;
    assert_eq!(fixture.ask("count").await.why, TurnEnd::Budget);
    let endless = Scenario::new()
        .reply(Step::new(text("Summed up.")).when_body("limit of model calls"))
        .reply(script(1).repeat());
    let mut fixture = with_tools(endless);
    fixture.most_calls = 3;
    let done = fixture.ask("count").await;
    assert_eq!(
        (done.why, done.text.as_str()),
        (TurnEnd::Budget, "Summed up.")
    );
    assert_eq!(fixture.requests().len(), 7);
}

// AG-8, AG-9: what was added before a stop starts nothing, and is given back.
#[tokio::test]
async fn a_stop_also_stops_remarks_that_wait() {
    let scenario = Scenario::new()
        .reply(Step::new(text("Painted.")).held(&Gate::new()))
        .reply(Step::new(text("Again.")).repeat());
    let fixture = Fixture::new(scenario);
    let session = fixture.open();
    let stopping = async {
        until("the call", || !fixture.requests().is_empty()).await;
        let text = "make it blue".to_owned();
        assert!(session.send(Op::Steer { text }));
        assert!(session.send(Op::Interrupt));
    };
    let (done, ()) = tokio::join!(say(&session, "paint"), stopping);
    assert_eq!(done.why, TurnEnd::Interrupted);
    let told = session.next_event().await;
    assert!(
        matches!(&told, Some(Event::Notice { text }) if text.contains("make it blue")),
        "{told:?}"
    );
    assert_eq!(say(&session, "go on").await.text, "Again.");
    assert_eq!(fixture.requests().len(), 2);
}

// AG-9
#[tokio::test]
async fn what_is_not_taken_because_too_much_waits_is_said() {
    let gate = Gate::new();
    let scenario = Scenario::new()
        .reply(Step::new(text("Painted.")).held(&gate))
        .reply(Step::new(text("Again.")).repeat());
    let fixture = Fixture::new(scenario);
    let session = fixture.open();
    let told_so = async || {
        let said = "not taken, because too much is waiting";
        let telling = async {
            while let Some(event) = session.next_event().await {
                if matches!(&event, Event::Notice { text } if text.contains(said)) {
                    return true;
                }
            }
            false
        };
        let limit = Duration::from_secs(30);
        tokio::time::timeout(limit, telling).await.unwrap_or(false)
    };
    let message = |text: String| Op::UserMessage {
        text,
        media: Vec::new(),
    };
    assert!(session.send(message("paint".to_owned())));
    until("the call", || !fixture.requests().is_empty()).await;
    // Remarks are taken out of their lane while the turn runs, and only so many are kept for its next step.
    for number in 0..=64 {
        let text = format!("remark {number}.");
        assert!(session.send(Op::Steer { text }));
        tokio::task::yield_now().await;
    }
    assert!(told_so().await, "one remark too many");
    for number in 0..64 {
        assert!(session.send(message(format!("message {number}"))));
    }
    assert!(!session.send(message("one too many".to_owned())));
    assert!(told_so().await, "one message too many");
    gate.open();
    assert_eq!(finish(&session).await.text, "Painted.");
    assert_eq!(finish(&session).await.text, "Again.");
    let texts = fixture.texts();
    assert!(
        texts.iter().any(|(_, text)| text.contains("remark 63.")),
        "{texts:?}"
    );
    assert!(
        !texts.iter().any(|(_, text)| text.contains("remark 64.")),
        "{texts:?}"
    );
}

// AG-9: a remark that comes during the last call is not lost: it starts the next turn.
#[tokio::test]
async fn a_remark_that_comes_too_late_for_its_turn_is_answered_in_one_of_its_own() {
    let gate = Gate::new();
    let scenario = Scenario::new()
        .reply(Step::new(text("Painted.")).held(&gate))
        .reply(Step::new(text("Blue it is.")).when_user("make it blue"));
    let fixture = Fixture::new(scenario);
    let session = fixture.open();
    let steering = async {
        until("the call", || fixture.requests().len() == 1).await;
        let text = "make it blue".to_owned();
        assert!(session.send(Op::Steer { text }));
        gate.open();
    };
    let (done, ()) = tokio::join!(say(&session, "paint"), steering);
    assert_eq!(done.text, "Painted.");
    assert_eq!(finish(&session).await.text, "Blue it is.");
    assert_eq!(
        fixture.texts()[2],
        ("user".to_owned(), "make it blue".to_owned())
    );
}

// AG-9, AG-34: what the model is in the middle of saying is a row while it is asked to go on, and a remark stands in
// front of it, as the model reads it.
#[tokio::test]
async fn a_remark_in_the_middle_of_an_answer_stands_before_it() {
    let cut = |words: &str| text(words).finish_reason("length");
    let gate = Gate::new();
    let slow = Step::new(cut("two ")).held(&gate);
    let scenario = Scenario::new()
        .reply(cut("One "))
        .reply(slow)
        .reply(text("three."));
    let fixture = Fixture::new(scenario);
    let session = fixture.open();
    let steering = async {
        until("the second call", || fixture.requests().len() == 2).await;
        assert_eq!(fixture.texts()[1].1, "One ", "it is a row already");
        let text = "in English".to_owned();
        assert!(session.send(Op::Steer { text }));
        gate.open();
    };
    let (done, ()) = tokio::join!(say(&session, "count"), steering);
    assert_eq!(
        (done.why, done.text.as_str()),
        (TurnEnd::Done, "One two three.")
    );
    let shown: Vec<_> = fixture.texts();
    assert_eq!(shown.len(), 3, "{shown:?}");
    assert!(shown[1].1.contains("in English"), "{shown:?}");
    assert_eq!(
        shown[2],
        ("assistant".to_owned(), "One two three.".to_owned())
    );
    let sent = fixture.requests()[2].expect_json()["messages"].clone();
    let sent: Vec<_> = sent.as_array().unwrap()[1..]
        .iter()
        .map(|message| message["content"].as_str().unwrap_or_default().to_owned())
        .collect();
    // What the user says in a row is one message on the wire.
    assert_eq!(sent.len(), 3, "{sent:?}");
    assert!(sent[0].contains("in English"), "{sent:?}");
    assert_eq!(sent[1], "One two ");
}

// AG-22, AG-34: a compaction in the middle of an answer writes rows anew; the rest still joins what was said.
#[tokio::test]
async fn an_answer_that_is_gone_on_with_behind_a_compaction_stays_one() {
    let scenario = Scenario::new()
        .reply(Step::new(text("## Goal\nA shed.")).when_no_tools().repeat())
        .reply(text("The shed ").finish_reason("length"))
        .reply(error(400).message("context_length_exceeded: too long"))
        .reply(text("is green."));
    let mut fixture = Fixture::new(scenario).tool(Scripted::saying("look", "a tree"));
    fixture.window = 32_000;
    let long: Vec<hermes_core::Message> = (0..12)
        .flat_map(|n| {
            let asked = format!("plank{n} {}", "wood ".repeat(800));
            [
                hermes_core::Message::text(hermes_core::Role::User, asked),
                hermes_core::Message::text(hermes_core::Role::Assistant, format!("sawn{n}")),
            ]
        })
        .collect();
    super::fixture::apart(|| {
        let session = hermes_store::NewSession::new(Fixture::id(), "cli");
        fixture.store.create_session(session).wait().unwrap();
        let rows = long.iter().map(Into::into).collect();
        fixture.store.append(&Fixture::id(), rows).wait().unwrap();
    });
    let done = fixture.ask("paint it").await;
    assert_eq!(done.why, TurnEnd::Done, "{done:?}");
    assert!(
        done.events
            .iter()
            .any(|event| matches!(event, Event::Compacted { .. })),
        "{done:?}"
    );
    let rows = fixture.texts();
    assert_eq!(rows.last().unwrap().1, "The shed is green.", "{rows:?}");
    let pieces = rows.iter().filter(|(_, text)| text.starts_with("The shed"));
    assert_eq!(pieces.count(), 1);
}
