//! Summaries made before there is need for them.

use std::time::{Duration, Instant};

use hermes_core::{Event, Message, Op, Role, TurnEnd};
use hermes_testkit::model_server::{Scenario, text};

use super::long::{
    MAIN, SMALL, SUMMARY, add, asked, by, is_compacted, is_summary, long, texts, work,
};
use crate::suite::fixture::{Done, Fixture, apart, finish, say};

/// Rounds that fill the window by more than two thirds, and rounds that fill it.
const MANY: usize = 14;
const MORE: std::ops::Range<usize> = 14..19;

fn is_summarising(done: &Done) -> bool {
    done.events
        .iter()
        .any(|event| matches!(event, Event::Notice { text } if text.starts_with("Summarising")))
}

fn scenario(wait: Duration) -> Scenario {
    Scenario::new()
        .reply(by(SMALL, text(SUMMARY)).delay(wait).repeat())
        .reply(by(MAIN, text("painted")).repeat())
}

// AG-22, AG-39
#[tokio::test]
async fn a_summary_is_prepared_behind_the_conversation_and_used_when_it_is_needed() {
    let (fixture, _) = long(scenario(Duration::from_millis(400)), MANY);
    let session = fixture.open();
    let start = Instant::now();
    let done = say(&session, "paint it green").await;
    assert_eq!(done.text, "painted");
    assert!(
        start.elapsed() < Duration::from_millis(400),
        "nobody waits for it"
    );
    assert!(!is_compacted(&done.events), "{done:?}");
    add(&fixture, &work(MORE));
    let done = say(&session, "now the roof").await;
    assert!(is_compacted(&done.events), "{done:?}");
    assert!(!is_summarising(&done), "{done:?}");
    assert_eq!(asked(&fixture, SMALL).len(), 1);
    let rows = fixture.rows();
    let shown = texts(&rows);
    assert_eq!(rows.iter().filter(|row| is_summary(row)).count(), 1);
    for kept in ["paint it green", "plank14", "plank18", "now the roof"] {
        let found = shown.iter().filter(|text| text.starts_with(kept)).count();
        assert_eq!(found, 1, "{kept}: what came after it was made stays");
    }
    assert!(!shown.iter().any(|text| text.starts_with("plank3")));
    let last = asked(&fixture, MAIN).pop().unwrap();
    assert!(last.violations.is_empty(), "{:?}", last.violations);
}

// AG-22, AG-39
#[tokio::test]
async fn a_prepared_summary_outlives_the_program() {
    let (fixture, _) = long(scenario(Duration::ZERO), MANY);
    let session = fixture.open();
    assert_eq!(say(&session, "paint it green").await.text, "painted");
    let noted = || {
        let notes = apart(|| {
            fixture
                .store
                .compaction_notes(&Fixture::id())
                .wait()
                .unwrap()
        });
        notes.is_some_and(|notes| notes["prepared"].is_object())
    };
    let waiting = async {
        while !noted() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let noted = tokio::time::timeout(Duration::from_secs(10), waiting).await;
    noted.expect("the summary is noted");
    drop(session);
    add(&fixture, &work(MORE));
    let done = fixture.ask("now the roof").await;
    assert!(is_compacted(&done.events), "{done:?}");
    assert_eq!(asked(&fixture, SMALL).len(), 1);
}

// AG-22, AG-39
#[tokio::test]
async fn a_prepared_summary_of_rows_that_were_taken_back_is_not_used() {
    let (fixture, _) = long(scenario(Duration::ZERO), MANY);
    let session = fixture.open();
    assert_eq!(say(&session, "paint it green").await.text, "painted");
    let shed = fixture.rows()[2].id;
    let taken = apart(|| fixture.store.rewind(&Fixture::id(), shed).wait().unwrap());
    assert!(taken > MANY, "{taken}");
    add(&fixture, &[Message::text(Role::User, "build a fence")]);
    add(&fixture, &work(20..40));
    let done = say(&session, "now the roof").await;
    assert!(is_compacted(&done.events), "{done:?}");
    assert!(is_summarising(&done));
    let summarised = asked(&fixture, SMALL)[1].expect_json().to_string();
    assert!(
        summarised.contains("plank25")
            && !summarised.contains("plank5 ")
            && !summarised.contains("shed"),
        "{summarised}"
    );
}

// AG-8
#[tokio::test]
async fn waiting_for_a_summary_on_its_way_can_be_stopped() {
    let (fixture, _) = long(scenario(Duration::from_secs(20)), MANY);
    let session = fixture.open();
    assert_eq!(say(&session, "paint it green").await.text, "painted");
    add(&fixture, &work(MORE));
    let stopping = async {
        assert!(session.send(Op::UserMessage {
            text: "now the roof".to_owned(),
            media: Vec::new(),
        }));
        tokio::time::sleep(Duration::from_millis(250)).await;
        assert!(session.send(Op::Interrupt));
        Instant::now()
    };
    let (done, stopped) = tokio::join!(finish(&session), stopping);
    assert_eq!(done.why, TurnEnd::Interrupted, "{done:?}");
    assert!(stopped.elapsed() < Duration::from_millis(300));
}
