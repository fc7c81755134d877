//! What the end of a turn says that was answered: what is kept, whatever was shown on the way.

use hermes_core::{Op, TurnEnd, WireProtocol};
use hermes_testkit::model_server::{Gate, Scenario, Step, text, tool_call};
use serde_json::json;

use super::fixture::{Fixture, Scripted, finish, say, until};

const VOID: &str = "Let me look at the list first.";

fn with_look(scenario: Scenario) -> Fixture {
    Fixture::new(scenario).tool(Scripted::saying("look", "a tree"))
}

// AG-16, AG-17: an attempt that was thrown away was shown, and is no part of the answer.
#[tokio::test]
async fn what_was_thrown_away_is_no_part_of_the_answer() {
    let call = || text(VOID).and_tool_call("look", json!({"n": 12_345}));
    let broken = Step::new(call()).chunk_chars(40).close_after(3);
    let cut = Step::new(call().finish_reason("length"));
    for (name, thrown_away) in [("broken", broken), ("cut", cut)] {
        let scenario = Scenario::new()
            .reply(thrown_away)
            .reply(text("The answer is 4."));
        let fixture = with_look(scenario);
        let done = fixture.ask("how many?").await;
        assert_eq!(done.why, TurnEnd::Done, "{name}: {done:?}");
        assert!(done.text.starts_with(VOID), "{name}: {}", done.text);
        assert_eq!(done.answer, "The answer is 4.", "{name}");
        assert_eq!(fixture.texts().pop().unwrap().1, done.answer, "{name}");
    }
    let scenario = Scenario::new()
        .reply(text("Looking. to=functions.look {}"))
        .reply(text("The answer is 4."));
    let mut fixture = with_look(scenario);
    fixture.protocol = WireProtocol::Responses;
    assert_eq!(fixture.ask("how many?").await.answer, "The answer is 4.");
}

// AG-1, AG-17
#[tokio::test]
async fn the_answer_is_all_that_follows_the_last_call() {
    let scenario = Scenario::new()
        .reply(tool_call("look", json!({"n": 1})).text("I look."))
        .reply(text("There is ").finish_reason("length"))
        .reply(text("a tree.\n"));
    let fixture = with_look(scenario);
    let session = fixture.open();
    let done = say(&session, "look").await;
    assert_eq!(done.answer, "There is a tree.");
    // Nobody is asked anything when a turn is taken back.
    assert!(session.send(Op::Undo { turns: 1 }));
    let done = finish(&session).await;
    assert_eq!((done.why, done.answer.as_str()), (TurnEnd::Done, ""));
}

// AG-8: what was said before a stop, and no word of ours.
#[tokio::test]
async fn a_turn_that_was_stopped_has_answered_what_came() {
    let gate = Gate::new();
    let scenario = Scenario::new().reply(Step::new(text("Never said.")).held(&gate));
    let fixture = Fixture::new(scenario);
    let session = fixture.open();
    let stopping = async {
        until("the call", || !fixture.requests().is_empty()).await;
        assert!(session.send(Op::Interrupt));
    };
    let (done, ()) = tokio::join!(say(&session, "speak"), stopping);
    assert_eq!((done.why, done.answer.as_str()), (TurnEnd::Interrupted, ""));
}
