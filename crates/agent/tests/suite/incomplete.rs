//! Answers that the provider left incomplete.

use hermes_core::{TurnEnd, WireProtocol};
use hermes_testkit::model_server::{Reply, Scenario, Step, frames, text};
use serde_json::{Value as Json, json};

use super::fixture::Fixture;

/// Events of an answer that ends as incomplete for a reason of its own.
fn incomplete(items: &[Json]) -> Reply {
    let mut events = vec![json!({"type": "response.created", "response": {"id": "r"}})];
    events.extend(items.iter().enumerate().map(
        |(place, item)| json!({"type": "response.output_item.done", "output_index": place, "item": item}),
    ));
    events.push(json!({
        "type": "response.incomplete",
        "response": {"id": "r", "status": "incomplete", "output": []},
    }));
    frames(events.into_iter().map(|event| format!("data: {event}\n\n")))
}

fn spoken(id: &str, text: &str) -> Json {
    json!({"type": "message", "id": id, "role": "assistant", "status": "incomplete",
        "content": [{"type": "output_text", "text": text}]})
}

// AG-17, PV-7
#[tokio::test]
async fn an_answer_that_the_provider_left_incomplete_is_kept_and_gone_on_with() {
    let thought =
        json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "sealed", "summary": []});
    let scenario = Scenario::new()
        .reply(incomplete(&[
            thought.clone(),
            spoken("msg_1", "First I looked."),
        ]))
        .reply(incomplete(&[thought]))
        .reply(text("It is a tree."));
    let mut fixture = Fixture::new(scenario);
    fixture.protocol = WireProtocol::Responses;
    let done = fixture.ask("what is it?").await;
    assert_eq!(done.why, TurnEnd::Done);
    let kept: Vec<String> = fixture.texts().into_iter().map(|(_, text)| text).collect();
    assert_eq!(kept, ["what is it?", "First I looked.", "It is a tree."]);
    let requests = fixture.requests();
    let input = |nth: usize| {
        requests[nth].expect_json()["input"]
            .as_array()
            .unwrap()
            .clone()
    };
    // What was said is sent back as it came, with nothing behind it.
    let second = input(1);
    assert_eq!(second.last().unwrap()["id"], "msg_1");
    assert_eq!(second[second.len() - 2]["encrypted_content"], "sealed");
    // Thinking alone cannot be sent back: only then somebody has to say something.
    let third = input(2);
    assert_eq!(third[..second.len()], second[..]);
    assert_eq!(third.last().unwrap()["role"], "user");
    assert_eq!(third.len(), second.len() + 1);

    let endless =
        Scenario::new().reply(Step::new(incomplete(&[spoken("msg_1", "More.")])).repeat());
    let mut fixture = Fixture::new(endless);
    fixture.protocol = WireProtocol::Responses;
    assert_eq!(fixture.ask("go on for ever").await.why, TurnEnd::Done);
    assert_eq!(fixture.requests().len(), 3, "the first and two more");
}

// AG-17
#[tokio::test]
async fn a_call_that_was_only_written_down_is_no_answer() {
    let scenario = Scenario::new()
        .reply(text("Looking. to=functions.read_file {\"path\": \"a\"}"))
        .reply(text("It is a tree."));
    let mut fixture = Fixture::new(scenario);
    fixture.protocol = WireProtocol::Responses;
    assert_eq!(fixture.ask("what is it?").await.why, TurnEnd::Done);
    let kept: Vec<String> = fixture.texts().into_iter().map(|(_, text)| text).collect();
    assert_eq!(kept, ["what is it?", "It is a tree."]);
}

// AG-16
#[tokio::test]
async fn an_answer_that_keeps_breaking_off_is_kept_and_called_what_it_is() {
    let broken = Step::new(text("half of it")).close_after(2).repeat();
    let fixture = Fixture::new(Scenario::new().reply(broken));
    let done = fixture.ask("all of it, please").await;
    let TurnEnd::Failed { message, hint } = &done.why else {
        panic!("{done:?}");
    };
    assert!(message.contains("broke off"), "{message}");
    assert!(hint.is_some());
    assert!(!fixture.texts()[1].1.is_empty(), "what came is a row");
}

/// A piece of an answer, and then a limit in place of the rest.
fn limited_behind(piece: &str) -> Step {
    let text = json!({"choices": [{"index": 0, "delta": {"content": piece}}]});
    let limit = json!({"error": {"message": "too many roses at once", "code": 429}});
    Step::new(frames([text, limit].map(|event| format!("data: {event}"))))
}

// AG-16
#[tokio::test]
async fn another_model_goes_on_with_what_a_limit_broke_off() {
    let scenario = Scenario::new()
        .reply(limited_behind("The garden has ").when_model("scripted"))
        .reply(Step::new(text("roses and tulips.")).when_model("spare"));
    let mut fixture = Fixture::new(scenario);
    fixture.fallbacks = vec![fixture.route_to(&fixture.server, "spare")];
    let done = fixture.ask("what grows?").await;
    assert_eq!(done.why, TurnEnd::Done);
    assert_eq!(done.text, "The garden has roses and tulips.");
    assert_eq!(fixture.texts()[1].1, done.text);
    assert_eq!(fixture.rows().len(), 2);
    let requests = fixture.requests();
    assert_eq!(requests.len(), 2);
    assert!(
        requests[1]
            .expect_json()
            .to_string()
            .contains("The garden has")
    );
}

// AG-12, AG-16
#[tokio::test]
async fn what_broke_an_answer_off_for_good_is_told_in_the_words_of_the_provider() {
    let mut fixture = Fixture::new(Scenario::new().reply(limited_behind("The garden has ")));
    fixture.attempts = 1;
    let done = fixture.ask("what grows?").await;
    let TurnEnd::Failed { message, hint } = &done.why else {
        panic!("{done:?}");
    };
    for words in ["limits us", "too many roses at once", "is kept"] {
        assert!(message.contains(words), "{message}");
    }
    let hint = hint.as_deref().unwrap_or_default();
    assert!(
        hint.contains("hermes auth add") && hint.contains("`go on`"),
        "{hint}"
    );
    assert_eq!(fixture.texts()[1].1.trim(), "The garden has");
    assert_eq!(fixture.requests().len(), 1);
}

// AG-16
#[tokio::test]
async fn a_model_that_goes_on_with_its_last_words_is_not_heard_twice() {
    let broken = Step::new(text("The garden has roses and tulips in it."))
        .chunk_chars(8)
        .close_after(4);
    let again =
        Step::new(text("The garden has roses and tulips in it, and a pond.")).chunk_chars(5);
    let fixture = Fixture::new(Scenario::new().reply(broken).reply(again.repeat()));
    let done = fixture.ask("what grows?").await;
    assert_eq!(done.why, TurnEnd::Done);
    assert_eq!(
        done.text,
        "The garden has roses and tulips in it, and a pond."
    );
    assert_eq!(fixture.texts()[1].1, done.text);
    assert_eq!(fixture.rows().len(), 2);
}
