//! Titles of conversations.

use hermes_agent::SessionSpec;
use hermes_core::SessionId;
use hermes_testkit::model_server::{Scenario, Step, text};

use super::fixture::{Fixture, apart, say};

// AG-28
#[tokio::test]
async fn a_title_is_given_once_and_never_replaced() {
    let scenario = Scenario::new()
        .reply(
            Step::new(text("\"A Walk in the Garden.\""))
                .when_no_tools()
                .when_body("You name conversations")
                .repeat(),
        )
        .reply(Step::new(text("Roses.")).repeat());
    let mut fixture = Fixture::new(scenario);
    fixture.titles = true;
    let engine = fixture.engine();
    let session = engine.open(fixture.spec());
    say(&session, "what grows here?").await;
    drop(session);
    engine.settle().await;
    let title = || {
        apart(|| {
            fixture
                .store
                .session(&Fixture::id())
                .wait()
                .unwrap()
                .unwrap()
                .title
        })
    };
    assert_eq!(title().as_deref(), Some("A Walk in the Garden"));
    apart(|| fixture.store.rename(&Fixture::id(), "Mine").wait().unwrap());
    let engine = fixture.engine();
    let session = engine.open(fixture.spec());
    say(&session, "and there?").await;
    drop(session);
    engine.settle().await;
    assert_eq!(title().as_deref(), Some("Mine"));
}

// AG-28
#[tokio::test]
async fn conversations_about_the_same_get_the_same_title_with_a_number() {
    let scenario = Scenario::new()
        .reply(
            Step::new(text("A Walk in the Garden"))
                .when_body("You name conversations")
                .repeat(),
        )
        .reply(Step::new(text("Roses.")).repeat());
    let mut fixture = Fixture::new(scenario);
    fixture.titles = true;
    let mut titles = Vec::new();
    for id in [
        "20260101_000000_aaaaaa",
        "20260101_000000_bbbbbb",
        "20260101_000000_cccccc",
    ] {
        let id = SessionId::try_from(id.to_owned()).unwrap();
        let engine = fixture.engine();
        let session = engine.open(SessionSpec {
            id: id.clone(),
            ..fixture.spec()
        });
        say(&session, "what grows here?").await;
        drop(session);
        engine.settle().await;
        let row = apart(|| fixture.store.session(&id).wait().unwrap());
        titles.extend(row.unwrap().title);
    }
    assert_eq!(
        titles,
        [
            "A Walk in the Garden",
            "A Walk in the Garden #2",
            "A Walk in the Garden #3"
        ]
    );
}

// AG-28
#[tokio::test]
async fn a_title_has_at_most_eighty_characters_and_is_asked_for_once() {
    let long = "the roses of the garden behind the house ".repeat(10);
    let scenario = Scenario::new()
        .reply(
            Step::new(text(long))
                .when_body("You name conversations")
                .repeat(),
        )
        .reply(Step::new(text("Roses.")).repeat());
    let mut fixture = Fixture::new(scenario);
    fixture.titles = true;
    for question in ["what grows here?", "and there?"] {
        let engine = fixture.engine();
        let session = engine.open(fixture.spec());
        say(&session, question).await;
        drop(session);
        engine.settle().await;
    }
    let session = apart(|| fixture.store.session(&Fixture::id()).wait().unwrap());
    let title = session.unwrap().title.unwrap();
    assert!(
        title.starts_with("the roses") && title.chars().count() <= 80,
        "{title}"
    );
    let asked = |request: &&hermes_testkit::model_server::RecordedRequest| {
        String::from_utf8_lossy(&request.body).contains("You name conversations")
    };
    assert_eq!(fixture.requests().iter().filter(asked).count(), 1);
}
