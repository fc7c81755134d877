//! What background processes tell a conversation.

use hermes_core::{Event, TurnEnd};
use hermes_store::{ProcessEnd, ProcessRow};
use hermes_testkit::model_server::{Scenario, text};

use super::fixture::{Fixture, finish, notices, say};

async fn process(fixture: &Fixture, id: &str, session: &str) {
    let row = ProcessRow {
        id: id.to_owned(),
        session: session.to_owned(),
        command: "make all".to_owned(),
        directory: "/".to_owned(),
        place: "host".to_owned(),
        owner: "somebody".to_owned(),
        process: None,
        log: String::new(),
        notify: true,
        started_at: 0.0,
    };
    fixture.store.add_process(row).await.unwrap();
}

async fn ends(fixture: &Fixture, id: &str) {
    let end = ProcessEnd {
        exit_code: Some(2),
        reason: "exited".to_owned(),
    };
    let body = r#"{"command":"make all","exit_code":2,"completion_reason":"exited","output":"error: no rule to make the target"}"#;
    assert!(
        fixture
            .store
            .end_process(id, end, Some(body.to_owned()))
            .await
            .unwrap()
    );
    fixture.news.send_modify(|count| *count += 1);
}

// EX-16
#[tokio::test]
async fn the_end_of_a_process_begins_a_turn_of_its_own_once() {
    let fixture = Fixture::new(
        Scenario::new()
            .reply(text("Started."))
            .reply(text("It failed.")),
    );
    let session = fixture.open();
    say(&session, "build it").await;
    process(&fixture, "proc_1", Fixture::id().as_str()).await;
    process(&fixture, "proc_2", "another conversation").await;
    ends(&fixture, "proc_2").await;
    ends(&fixture, "proc_1").await;
    let done = finish(&session).await;
    assert_eq!(
        (done.text.as_str(), done.why.clone()),
        ("It failed.", TurnEnd::Done)
    );
    assert_eq!(notices(&done), ["proc_1 ended with exit code 2: make all"]);
    let texts = fixture.texts();
    assert_eq!(texts.len(), 4, "{texts:?}");
    let (role, told) = &texts[2];
    assert_eq!(role, "user");
    assert!(told.starts_with("[IMPORTANT: "), "{told}");
    assert!(
        told.contains("proc_1 ended with exit code 2: make all"),
        "{told}"
    );
    assert!(
        told.contains("<untrusted_tool_result source=\"proc_1\">"),
        "{told}"
    );
    assert!(!told.contains("proc_2"), "{told}");
    // The next change finds nothing new, so nothing is said and nobody is asked.
    fixture.news.send_modify(|count| *count += 1);
    drop(session);
    assert_eq!(fixture.requests().len(), 2);
}

// EX-16, EX-18
#[tokio::test]
async fn what_happened_while_nobody_listened_is_told_at_the_next_opening() {
    let fixture = Fixture::new(Scenario::new().reply(text("Started.")).reply(text("Seen.")));
    fixture.ask("build it").await;
    process(&fixture, "proc_1", Fixture::id().as_str()).await;
    ends(&fixture, "proc_1").await;
    let session = fixture.open();
    let done = finish(&session).await;
    assert_eq!(done.text, "Seen.");
    assert!(matches!(
        done.events.first(),
        Some(Event::TurnStarted { .. })
    ));
    assert_eq!(fixture.texts().len(), 4);
}

// EX-16
#[tokio::test]
async fn a_session_that_answers_once_hears_it_with_its_message() {
    let fixture = Fixture::new(Scenario::new().reply(text("Started.")).reply(text("Both.")));
    fixture.ask("build it").await;
    process(&fixture, "proc_1", Fixture::id().as_str()).await;
    ends(&fixture, "proc_1").await;
    let mut spec = fixture.spec();
    spec.lasting = false;
    let session = fixture.engine().open(spec);
    let done = say(&session, "and now?").await;
    assert_eq!(done.text, "Both.");
    let texts = fixture.texts();
    assert_eq!(texts.len(), 5, "{texts:?}");
    assert!(texts[2].1.contains("proc_1 ended"), "{texts:?}");
    assert_eq!(texts[3].1, "and now?");
}
