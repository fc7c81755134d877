//! Titles, continuations, branches, delegates and what resume means.

use std::time::Duration;

use hermes_core::Role;
use hermes_store::{BACKGROUND, Listing, NewRecord, NewSession, Relation, StoreError};

use super::fixture::{Fixture, id};

fn child(
    fixture: &Fixture,
    name: &str,
    parent: &str,
    relation: Relation,
) -> hermes_core::SessionId {
    let session = NewSession {
        parent: Some((id(parent), relation)),
        ..NewSession::new(id(name), "cli")
    };
    fixture.store.create_session(session).wait().unwrap();
    id(name)
}

// LN-20
#[test]
fn resume_follows_a_rotated_conversation_to_its_end() {
    let fixture = Fixture::new();
    let root = fixture.session("20260101_090000_aaaaaa");
    fixture.say(&root, &["first question"]);
    fixture.store.rename(&root, "Big plan").wait().unwrap();
    fixture
        .store
        .end_session(&root, "compression")
        .wait()
        .unwrap();
    let second = child(
        &fixture,
        "20260101_100000_bbbbbb",
        root.as_str(),
        Relation::Compaction,
    );
    fixture.say(&second, &["second part"]);
    fixture
        .store
        .end_session(&second, "compression")
        .wait()
        .unwrap();
    let third = child(
        &fixture,
        "20260101_110000_cccccc",
        second.as_str(),
        Relation::Compaction,
    );
    fixture.say(&third, &["third part"]);
    let resolve = |wanted: &str| fixture.store.resolve(wanted).wait().unwrap();
    assert_eq!(resolve(root.as_str()), third, "by id");
    assert_eq!(resolve("20260101_09"), third, "by the start of an id");
    assert_eq!(resolve("Big plan"), third, "by title");
    assert_eq!(
        fixture.store.resolve_exact("Big plan").wait().unwrap(),
        root
    );
    assert_eq!(
        fixture.store.lineage(&second).wait().unwrap(),
        [root.clone(), second, third.clone()]
    );
    let listed = fixture
        .store
        .list(Listing {
            limit: 10,
            ..Listing::default()
        })
        .wait()
        .unwrap();
    assert_eq!(listed.len(), 1, "one conversation, one line");
    assert_eq!((&listed[0].session.id, &listed[0].root), (&third, &root));
    assert_eq!(listed[0].preview, "first question");
}

// LN-20
#[test]
fn branches_are_listed_and_delegates_are_not() {
    let fixture = Fixture::new();
    let root = fixture.session("root");
    let ids = fixture.say(&root, &["one", "two", "three", "four"]);
    let branch = fixture
        .store
        .branch(&root, ids[1], id("copy"))
        .wait()
        .unwrap();
    child(&fixture, "helper", "root", Relation::Delegate);
    assert_eq!(fixture.texts(&branch), ["one", "two"]);
    assert_eq!(fixture.texts(&root).len(), 4, "the original is as it was");
    let listed = fixture
        .store
        .list(Listing {
            limit: 10,
            ..Listing::default()
        })
        .wait()
        .unwrap();
    let names: Vec<_> = listed
        .iter()
        .map(|listed| listed.session.id.as_str())
        .collect();
    assert_eq!(names, ["root", "copy"]);
    assert_eq!(
        fixture.store.resolve("root").wait().unwrap(),
        root,
        "a branch is no continuation"
    );
}

// CL-22, CL-37
#[test]
fn the_latest_conversation_is_one_that_a_person_has() {
    let fixture = Fixture::new();
    let said = |name: &str, source: &str| {
        fixture.clock.advance(Duration::from_secs(1));
        let session = fixture.session_of(name, source);
        fixture.say(&session, &["q", "a"]);
        session
    };
    let person = said("person", "cli");
    let tool = said("program", "tool");
    let aside = said(&format!("{BACKGROUND}120000_abcdef"), "cli");
    let latest = |source| fixture.store.latest(source).wait().unwrap();
    assert_eq!(latest(None), Some(person.clone()));
    assert_eq!(latest(Some("cli")), Some(person));
    assert_eq!(latest(Some("tool")), Some(tool));
    // By its name it is found all the same.
    let named = fixture.store.resolve(aside.as_str()).wait().unwrap();
    assert_eq!(named, aside);
}

// LN-20
#[test]
fn compaction_in_place_keeps_the_id_and_the_latest_messages() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let ids = fixture.say(&session, &["q1", "a1", "q2", "a2", "q3", "a3"]);
    let summary = || vec![NewRecord::text(Role::Assistant, "what happened so far")];
    fixture
        .store
        .compact(&session, ids[..4].to_vec(), summary())
        .wait()
        .unwrap();
    assert_eq!(
        fixture.texts(&session),
        ["what happened so far", "q3", "a3"]
    );
    let ids = fixture.say(&session, &["q4", "a4"]);
    let history = fixture.store.history(&session).wait().unwrap();
    let through = history.iter().map(|row| row.id).filter(|id| *id <= ids[0]);
    fixture
        .store
        .compact(&session, through.collect(), summary())
        .wait()
        .unwrap();
    assert_eq!(fixture.texts(&session), ["what happened so far", "a4"]);
    assert_eq!(
        fixture
            .store
            .session(&session)
            .wait()
            .unwrap()
            .unwrap()
            .message_count,
        2
    );
    for word in ["q1", "a2", "q3", "q4"] {
        assert_eq!(fixture.found(word).len(), 1, "{word} is found once");
    }
}

// LN-20
#[test]
fn rewind_hides_from_a_user_message_on_and_counts() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let ids = fixture.say(&session, &["q1", "a1", "q2", "a2"]);
    assert_eq!(
        fixture.store.rewind(&session, ids[1]).wait().unwrap(),
        0,
        "only to a user message"
    );
    assert_eq!(fixture.store.rewind(&session, ids[2]).wait().unwrap(), 2);
    assert_eq!(fixture.texts(&session), ["q1", "a1"]);
    assert_eq!(
        fixture.store.all_records(&session).wait().unwrap().len(),
        4,
        "nothing is deleted"
    );
    let row = fixture.store.session(&session).wait().unwrap().unwrap();
    assert_eq!((row.rewind_count, row.message_count), (1, 2));
}

// LN-20, AG-34: there is no moment at which it is taken back and not there again.
#[test]
fn a_message_is_taken_back_and_said_again_in_one_step() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let ids = fixture.say(&session, &["q1", "a1", "q2", "a2"]);
    let record = NewRecord::text(Role::User, "q2");
    let again = fixture.store.say_again(&session, ids[2], record).wait();
    assert_eq!(again.unwrap().len(), 1);
    assert_eq!(fixture.texts(&session), ["q1", "a1", "q2"]);
    let row = fixture.store.session(&session).wait().unwrap().unwrap();
    assert_eq!((row.rewind_count, row.message_count), (1, 3));
}

#[test]
fn a_short_form_that_fits_several_sessions_is_refused_with_the_candidates() {
    let fixture = Fixture::new();
    fixture.session("20260101_a");
    fixture.session("20260101_b");
    let error = fixture.store.resolve("20260101").wait().unwrap_err();
    assert!(matches!(&error, StoreError::Ambiguous { candidates, .. } if candidates.len() == 2));
    assert!(matches!(
        fixture.store.resolve("nothing").wait(),
        Err(StoreError::NoSuchSession { .. })
    ));
}

// LN-21
#[test]
fn titles_are_cleaned_unique_and_numbered() {
    let fixture = Fixture::new();
    let (a, b, c) = (
        fixture.session("a"),
        fixture.session("b"),
        fixture.session("c"),
    );
    let rename = |session, title: &str| fixture.store.rename(session, title).wait();
    assert_eq!(
        rename(&a, "  My\u{200b}  \u{7}trip\n plan ").unwrap(),
        "My trip plan"
    );
    assert!(
        matches!(rename(&b, "My trip plan"), Err(StoreError::TitleTaken { owner, .. }) if owner == "a")
    );
    assert!(matches!(
        rename(&b, &"x".repeat(101)),
        Err(StoreError::BadTitle { length: 101 })
    ));
    assert!(matches!(
        rename(&b, " \u{200b} "),
        Err(StoreError::BadTitle { length: 0 })
    ));
    assert_eq!(
        fixture.store.next_title("My trip plan").wait().unwrap(),
        "My trip plan #2"
    );
    rename(&b, "My trip plan #2").unwrap();
    assert_eq!(
        fixture.store.next_title("My trip plan #2").wait().unwrap(),
        "My trip plan #3"
    );
    assert_eq!(fixture.store.next_title("Fresh").wait().unwrap(), "Fresh");
    assert_eq!(
        fixture.store.resolve("My trip plan").wait().unwrap(),
        b,
        "the newest of the line"
    );
    assert!(fixture.store.title_once(&c, "First title").wait().unwrap());
    assert!(
        !fixture.store.title_once(&c, "Second title").wait().unwrap(),
        "given once"
    );
    assert_eq!(
        fixture
            .store
            .session(&c)
            .wait()
            .unwrap()
            .unwrap()
            .title
            .as_deref(),
        Some("First title")
    );
}

// LN-21
#[test]
fn a_continuation_takes_the_title_over_from_the_hidden_part() {
    let fixture = Fixture::new();
    let root = fixture.session("root");
    fixture.store.rename(&root, "Plan").wait().unwrap();
    let next = child(&fixture, "next", "root", Relation::Compaction);
    fixture.store.rename(&next, "Plan").wait().unwrap();
    assert_eq!(
        fixture.store.session(&root).wait().unwrap().unwrap().title,
        None
    );
}

#[test]
fn sessions_in_a_circle_of_parents_are_still_listed() {
    let fixture = Fixture::new();
    for name in ["a", "b", "d", "e", "single"] {
        fixture.session(name);
    }
    let tail = child(&fixture, "tail", "a", Relation::Compaction);
    fixture.sql(
        "UPDATE sessions SET parent_session_id = 'b', relation = 'compaction' WHERE id = 'a';
         UPDATE sessions SET parent_session_id = 'a', relation = 'compaction' WHERE id = 'b';
         UPDATE sessions SET parent_session_id = 'e', relation = 'delegate' WHERE id = 'd';
         UPDATE sessions SET parent_session_id = 'd', relation = 'delegate' WHERE id = 'e';
         UPDATE sessions SET ended_at = 2, end_reason = 'compression' WHERE id = 'b';",
    );
    let listing = Listing {
        limit: 10,
        ..Listing::default()
    };
    let listed = fixture.store.list(listing).wait().unwrap();
    let mut shown: Vec<_> = listed.iter().map(|row| row.session.id.as_str()).collect();
    shown.sort_unstable();
    assert_eq!(shown, ["a", "b", "d", "e", "single", "tail"]);
    for name in ["a", "b"] {
        let found = fixture.store.resolve(name).wait().unwrap();
        assert_eq!(found, id(name), "a circle leads nowhere else");
    }
    assert_eq!(fixture.store.resolve("tail").wait().unwrap(), tail);
}
