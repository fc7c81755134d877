//! What a request is made of besides the conversation: pictures in words, messages in front, and the
//! files requests are written to.

use hermes_config::ImageInput;
use hermes_core::{Media, MediaSource, Op, TurnEnd};
use hermes_testkit::model_server::{Scenario, Step, error, text};
use serde_json::json;

use super::fixture::{Done, Fixture, finish, learn, notices};
use super::prefix::growing;

const SEER: &str = "seer";

/// Sends a message with a picture.
async fn show(fixture: &Fixture) -> Done {
    let session = fixture.open();
    let source = MediaSource::Blob(fixture.store.blobs().put(b"not really a picture").unwrap());
    assert!(session.send(Op::UserMessage {
        text: "what colour is it?".to_owned(),
        media: vec![Media {
            mime: "image/png".to_owned(),
            source,
            name: Some("shed.png".to_owned()),
        }],
    }));
    finish(&session).await
}

fn seeing() -> Fixture {
    let scenario = Scenario::new()
        .reply(Step::new(text("A green shed.")).when_model(SEER).repeat())
        .reply(Step::new(text("Green.")).repeat());
    let mut fixture = Fixture::new(scenario);
    fixture.helper = Some(SEER);
    fixture
}

fn bodies(fixture: &Fixture, model: &str) -> Vec<String> {
    let of_model = |body: &serde_json::Value| body["model"] == model;
    let requests = fixture.requests();
    let bodies = requests.iter().map(|request| request.expect_json());
    bodies
        .filter(|body| of_model(body))
        .map(ToString::to_string)
        .collect()
}

// AG-40
#[tokio::test]
async fn a_picture_is_put_into_words_for_a_model_that_does_not_take_it() {
    for (mode, blind, described) in [
        (ImageInput::Auto, false, false),
        (ImageInput::Auto, true, true),
        (ImageInput::Text, false, true),
        (ImageInput::Native, false, false),
    ] {
        let mut fixture = seeing();
        fixture.config.agent.image_input_mode = mode;
        fixture.quirks.no_images = blind;
        let done = show(&fixture).await;
        assert_eq!(
            (done.why, done.text.as_str()),
            (TurnEnd::Done, "Green."),
            "{mode:?}"
        );
        let asked = bodies(&fixture, "scripted").remove(0);
        assert_eq!(
            asked.contains("A green shed."),
            described,
            "{mode:?} {blind}: {asked}"
        );
        assert_eq!(
            asked.contains("image_url"),
            !described,
            "{mode:?} {blind}: {asked}"
        );
        let seen = bodies(&fixture, SEER);
        assert_eq!(seen.len(), usize::from(described), "{mode:?} {blind}");
        if let Some(seen) = seen.first() {
            assert!(seen.contains("what colour is it?"), "{seen}");
        }
        let kept = &fixture.texts()[0].1;
        assert_eq!(kept.contains("A green shed."), described, "{kept}");
    }
}

// AG-40
#[tokio::test]
async fn a_picture_that_nobody_can_describe_is_said_to_be_missing() {
    let scenario = Scenario::new()
        .reply(Step::new(error(401)).when_model(SEER).repeat())
        .reply(Step::new(text("I cannot see it.")).repeat());
    let mut fixture = Fixture::new(scenario);
    fixture.helper = Some(SEER);
    fixture.config.agent.image_input_mode = ImageInput::Text;
    let done = show(&fixture).await;
    assert_eq!(done.why, TurnEnd::Done);
    let told = notices(&done).join("\n");
    assert!(
        told.contains("shed.png") && told.contains("auxiliary.vision"),
        "{told}"
    );
    assert!(bodies(&fixture, "scripted")[0].contains("that you cannot see"));
}

// AG-2, AG-41: also with messages of the user's own in front.
#[tokio::test]
async fn messages_of_a_file_stand_in_front_of_every_conversation_and_leave_no_rows() {
    let mut fixture = Fixture::new(Scenario::new().reply(Step::new(text("Yes.")).repeat()));
    let rows = json!([
        {"role": "user", "content": "We speak of sheds."},
        {"role": "assistant", "content": "Of sheds only."},
    ]);
    std::fs::write(fixture.folder.path().join("front.json"), rows.to_string()).unwrap();
    fixture.config.prefill_messages_file = "front.json".to_owned();
    assert_eq!(fixture.ask("is it green?").await.text, "Yes.");
    assert_eq!(fixture.ask("really?").await.text, "Yes.");
    let requests = fixture.requests();
    let messages = requests[0].expect_json()["messages"]
        .as_array()
        .unwrap()
        .clone();
    let said: Vec<_> = messages
        .iter()
        .skip(1)
        .map(|message| &message["content"])
        .collect();
    assert_eq!(
        said,
        ["We speak of sheds.", "Of sheds only.", "is it green?"]
    );
    assert!(requests[1].body.starts_with(growing(&requests[0].body)));
    assert_eq!(fixture.rows().len(), 4);

    fixture.config.prefill_messages_file = "missing.json".to_owned();
    let done = fixture.ask("and now?").await;
    assert_eq!(done.why, TurnEnd::Done);
    assert!(notices(&done)[0].contains("missing.json"), "{done:?}");
}

fn dumps(fixture: &Fixture) -> Vec<String> {
    let folder = std::fs::read_dir(fixture.folder.path().join("dumps"));
    let mut paths: Vec<_> = folder
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let read = |path| std::fs::read_to_string(path).unwrap();
    paths.into_iter().map(read).collect()
}

// AG-35: a dump holds what was asked and no secret, known or of a known shape.
#[tokio::test]
async fn requests_are_written_down_without_secrets_when_asked_for_and_when_they_fail() {
    let (known, shaped) = (
        "correct-horse-battery",
        format!("sk-proj-{}", "a1B2".repeat(12)),
    );
    let scenario = || {
        Scenario::new()
            .reply(Step::new(error(401).message(format!("bad key {known}"))).when_user("fail"))
            .reply(Step::new(text("Yes.")).repeat())
    };
    let question = format!("is {known} or {shaped} green?");
    let quiet = Fixture::new(scenario());
    learn(&quiet, known);
    assert_eq!(quiet.ask(&question).await.text, "Yes.");
    assert!(dumps(&quiet).is_empty(), "nothing failed");
    assert!(matches!(
        quiet.ask("fail").await.why,
        TurnEnd::Failed { .. }
    ));
    let written = dumps(&quiet);
    assert_eq!(written.len(), 1);
    assert!(written[0].contains("\"model\": \"scripted\"") && written[0].contains("fail"));

    let mut all = Fixture::new(scenario());
    all.dump_all = true;
    learn(&all, known);
    assert_eq!(all.ask(&question).await.text, "Yes.");
    assert_eq!(dumps(&all).len(), 1);
    for dump in written.iter().chain(&dumps(&all)) {
        assert!(dump.contains("green?"), "{dump}");
        assert!(!dump.contains(known) && !dump.contains(&shaped), "{dump}");
    }
}
