//! Shortening a conversation, and the lease that makes it one process's work.

use std::time::Duration;

use hermes_core::Role;
use hermes_store::{NewRecord, Relation, Visibility};
use serde_json::json;

use super::fixture::{Fixture, id};

fn summary() -> Vec<NewRecord> {
    vec![NewRecord::text(Role::User, "what happened so far")]
}

// AG-22
#[test]
fn a_summary_takes_the_place_of_what_it_replaces() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let ids = fixture.say(&session, &["q1", "a1", "q2", "a2", "q3", "a3", "q4"]);
    let replaced = vec![ids[2], ids[3], ids[5]];
    assert!(
        fixture
            .store
            .compact(&session, replaced.clone(), summary())
            .wait()
            .unwrap()
    );
    assert_eq!(
        fixture.texts(&session),
        ["q1", "a1", "what happened so far", "q3", "q4"]
    );
    for (word, times) in [("q2", 1), ("a3", 1), ("q3", 1), ("q1", 1)] {
        assert_eq!(fixture.found(word).len(), times, "{word} is found once");
    }
    let rows = fixture.store.all_records(&session).wait().unwrap();
    for row in rows.iter().filter(|row| replaced.contains(&row.id)) {
        assert_eq!(row.visibility, Visibility::Compacted);
    }
    let row = fixture.store.session(&session).wait().unwrap().unwrap();
    assert_eq!(row.message_count, 5);
}

// AG-22
#[test]
fn a_conversation_can_go_on_in_a_session_of_its_own() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let ids = fixture.say(&session, &["q1", "a1", "q2", "a2", "q3"]);
    fixture.store.rename(&session, "Shed").wait().unwrap();
    let replaced = vec![ids[1], ids[2]];
    let shorten = |child| {
        let made = fixture
            .store
            .compact_into(&session, id(child), replaced.clone(), summary());
        made.wait().unwrap()
    };
    assert!(shorten("t"));
    assert_eq!(
        fixture.texts(&id("t")),
        ["q1", "what happened so far", "a2", "q3"]
    );
    assert_eq!(fixture.texts(&session).len(), 5, "the old one stays");
    let old = fixture.store.session(&session).wait().unwrap().unwrap();
    assert_eq!(old.end_reason.as_deref(), Some("compression"));
    let new = fixture.store.session(&id("t")).wait().unwrap().unwrap();
    assert_eq!(new.title.as_deref(), Some("Shed #2"));
    assert_eq!(new.relation, Some(Relation::Compaction));
    let tip = fixture.store.resolve("s").wait().unwrap();
    assert_eq!(tip, id("t"), "resuming follows it");
    fixture.store.rewind(&session, ids[2]).wait().unwrap();
    assert!(!shorten("u"), "its rows are gone");
    assert_eq!(fixture.store.session(&id("u")).wait().unwrap(), None);
}

// AG-24
#[test]
fn rows_that_are_gone_are_not_replaced_a_second_time() {
    let fixture = Fixture::new();
    let other = fixture.reopen();
    let session = fixture.session("s");
    let ids = fixture.say(&session, &["q1", "a1", "q2", "a2"]);
    let replaced = ids[..2].to_vec();
    assert!(
        other
            .compact(&session, replaced.clone(), summary())
            .wait()
            .unwrap()
    );
    assert!(
        !fixture
            .store
            .compact(&session, replaced, summary())
            .wait()
            .unwrap()
    );
    assert!(
        !fixture
            .store
            .compact(&session, Vec::new(), summary())
            .wait()
            .unwrap()
    );
    assert_eq!(
        fixture.texts(&session),
        ["what happened so far", "q2", "a2"]
    );
}

// AG-24
#[test]
fn a_lease_has_one_holder_until_it_is_given_back_or_runs_out() {
    let fixture = Fixture::new();
    let other = fixture.reopen();
    let life = Duration::from_secs(300);
    let take = |holder: &str| {
        fixture
            .store
            .take_lease("work", holder, life)
            .wait()
            .unwrap()
    };
    let take_elsewhere = |holder: &str| other.take_lease("work", holder, life).wait().unwrap();
    assert!(take("a"));
    assert!(!take_elsewhere("b"));
    assert!(other.take_lease("other work", "b", life).wait().unwrap());
    fixture.clock.advance(Duration::from_secs(200));
    assert!(take("a"), "the holder renews it");
    fixture.clock.advance(Duration::from_secs(200));
    assert!(!take_elsewhere("b"));
    other.release_lease("work", "b").wait().unwrap();
    assert!(!take_elsewhere("b"), "only the holder gives it back");
    fixture.clock.advance(Duration::from_secs(100));
    assert!(take_elsewhere("b"), "the time of the first holder is up");
    assert!(!take("a"));
    other.release_lease("work", "b").wait().unwrap();
    assert!(take("a"));
}

#[test]
fn notes_about_compaction_are_kept_with_the_session() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let notes = |name: &str| fixture.store.compaction_notes(&id(name)).wait().unwrap();
    assert_eq!(notes("s"), None);
    let wanted = json!({"count": 1});
    fixture
        .store
        .set_compaction_notes(&session, &wanted)
        .wait()
        .unwrap();
    assert_eq!(notes("s"), Some(wanted.clone()));
    assert!(
        fixture
            .store
            .set_compaction_notes(&id("none"), &wanted)
            .wait()
            .is_err()
    );
    assert_eq!(notes("none"), None);
}
