//! Summaries made before there is need for them.

use std::cell::Cell;

use hermes_core::{Event, Message, Role, TurnEnd};
use hermes_testkit::model_server::{Gate, Scenario, text};

use super::long::{
    MAIN, SMALL, SUMMARY, add, asked, by, is_compacted, is_summary, long, texts, work,
};
use crate::suite::fixture::{Done, Fixture, apart, heard_at_once, learn, say, stop_once, until};

/// Rounds that fill the window by more than two thirds, and rounds that fill it.
const MANY: usize = 14;
const MORE: std::ops::Range<usize> = 14..19;

fn is_summarising(done: &Done) -> bool {
    done.events
        .iter()
        .any(|event| matches!(event, Event::Notice { text } if text.starts_with("Summarising")))
}

fn scenario(gate: &Gate) -> Scenario {
    Scenario::new()
        .reply(by(SMALL, text(SUMMARY)).held(gate).repeat())
        .reply(by(MAIN, text("painted")).repeat())
}

/// Whether a summary is noted with the session.
fn is_noted(fixture: &Fixture) -> bool {
    let notes = fixture.store.compaction_notes(&Fixture::id());
    let notes = apart(|| notes.wait().unwrap());
    notes.is_some_and(|notes| notes["prepared"].is_object())
}

/// A gate that holds nothing back.
fn open() -> Gate {
    let gate = Gate::new();
    gate.open();
    gate
}

// AG-22, AG-39
#[tokio::test]
async fn a_summary_is_prepared_behind_the_conversation_and_used_when_it_is_needed() {
    let gate = Gate::new();
    let (fixture, _) = long(scenario(&gate), MANY);
    let session = fixture.open();
    let done = say(&session, "paint it green").await;
    assert_eq!(done.text, "painted", "nobody waits for it");
    assert!(!is_compacted(&done.events), "{done:?}");
    until("the summary", || asked(&fixture, SMALL).len() == 1).await;
    add(&fixture, &work(MORE));
    gate.open();
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
    let (fixture, _) = long(scenario(&open()), MANY);
    let session = fixture.open();
    assert_eq!(say(&session, "paint it green").await.text, "painted");
    until("the note", || is_noted(&fixture)).await;
    drop(session);
    add(&fixture, &work(MORE));
    let done = fixture.ask("now the roof").await;
    assert!(is_compacted(&done.events), "{done:?}");
    assert_eq!(asked(&fixture, SMALL).len(), 1);
}

// AG-22, AG-39
#[tokio::test]
async fn a_prepared_summary_of_rows_that_were_taken_back_is_not_used() {
    let (fixture, _) = long(scenario(&open()), MANY);
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
    heard_at_once("a summary on its way", async || {
        let (fixture, _) = long(scenario(&Gate::new()), MANY);
        let session = fixture.open();
        assert_eq!(say(&session, "paint it green").await.text, "painted");
        until("the summary", || asked(&fixture, SMALL).len() == 1).await;
        add(&fixture, &work(MORE));
        // It is a row, and then nothing happens any more: the model of the conversation is not asked.
        let looks = Cell::new(0);
        let waits = |done: &Done| {
            if looks.get() == 0
                && !texts(&fixture.rows())
                    .iter()
                    .any(|text| text == "now the roof")
            {
                return false;
            }
            looks.set(looks.get() + 1);
            assert!(done.events.len() <= 1, "{done:?}");
            looks.get() == 20
        };
        let (done, took) = stop_once(&session, "now the roof", waits).await;
        assert_eq!(done.why, TurnEnd::Interrupted, "{done:?}");
        assert_eq!(asked(&fixture, MAIN).len(), 1);
        took
    })
    .await;
}

// AG-35: what a summary that nobody needs yet is noted with holds no secret that is known.
#[tokio::test]
async fn a_known_secret_is_in_no_summary_that_is_prepared() {
    let canary = "canary-7f3a9b2c4d5e6f70";
    let told = format!("{SUMMARY}\nThe key of the shed is {canary}.");
    let scenario = Scenario::new()
        .reply(by(SMALL, text(told)).repeat())
        .reply(by(MAIN, text("painted")).repeat());
    let (fixture, _) = long(scenario, MANY);
    learn(&fixture, canary);
    let session = fixture.open();
    assert_eq!(say(&session, "paint it green").await.text, "painted");
    until("the note", || is_noted(&fixture)).await;
    for name in ["hermes.db", "hermes.db-wal"] {
        let bytes = std::fs::read(fixture.folder.path().join(name)).unwrap_or_default();
        let found = bytes
            .windows(canary.len())
            .any(|part| part == canary.as_bytes());
        assert!(!found, "{name} holds it");
    }
    add(&fixture, &work(MORE));
    let done = say(&session, "now the roof").await;
    assert!(is_compacted(&done.events), "{done:?}");
    assert_eq!(asked(&fixture, SMALL).len(), 1, "the prepared one is used");
    assert!(
        texts(&fixture.rows())
            .iter()
            .any(|text| { text.contains("The key of the shed is") && !text.contains(canary) })
    );
}
