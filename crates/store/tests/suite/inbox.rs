//! What waits to be said.

use hermes_core::{InboxId, Media, MediaSource, Op, Role, SessionId};
use hermes_store::{MOST_IN_INBOX, NewRecord, Store, StoreError};

use super::fixture::{Fixture, id};

fn message(text: &str) -> Op {
    Op::UserMessage {
        text: text.to_owned(),
        media: Vec::new(),
    }
}

fn remark(text: &str) -> Op {
    Op::Steer {
        text: text.to_owned(),
    }
}

fn enqueue(fixture: &Fixture, session: &SessionId, op: &Op) -> InboxId {
    fixture.store.enqueue(session, op).wait().unwrap()
}

fn waiting(store: &Store, session: &SessionId) -> Vec<Op> {
    let waiting = store.waiting(session).wait().unwrap();
    waiting.into_iter().map(|one| one.op).collect()
}

fn said(store: &Store, session: &SessionId) -> Vec<String> {
    let rows = store.history(session).wait().unwrap();
    rows.into_iter().filter_map(|row| row.content).collect()
}

/// What kinds of rows there are in all.
fn kinds(fixture: &Fixture) -> Vec<String> {
    let connection = rusqlite::Connection::open(fixture.path("hermes.db")).unwrap();
    let mut query = connection
        .prepare("SELECT kind FROM inbox ORDER BY id")
        .unwrap();
    let rows = query.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn records(text: &str) -> Vec<NewRecord> {
    vec![NewRecord::text(Role::User, text)]
}

// AG-34
#[test]
fn what_waits_is_there_for_the_next_process_in_its_order_until_it_is_taken_back() {
    let fixture = Fixture::new();
    let (one, other) = (fixture.session("one"), fixture.session("other"));
    let skills = Op::UseSkills {
        skills: vec!["bake".to_owned()],
        instruction: String::new(),
        text: "a cake".to_owned(),
        media: Vec::new(),
    };
    let first = enqueue(&fixture, &one, &message("first"));
    enqueue(&fixture, &one, &skills);
    enqueue(&fixture, &one, &remark("mind the gap"));
    enqueue(&fixture, &other, &message("elsewhere"));
    let next = fixture.reopen();
    let all = [message("first"), skills, remark("mind the gap")];
    assert_eq!(waiting(&next, &one), all);
    assert_eq!(next.withdraw(vec![first]).wait().unwrap(), 1);
    assert_eq!(next.withdraw(vec![first]).wait().unwrap(), 0);
    assert_eq!(waiting(&fixture.store, &one), all[1..]);
    assert_eq!(waiting(&fixture.store, &other), [message("elsewhere")]);
    assert_eq!(kinds(&fixture), ["message", "remark", "message"]);
}

// AG-34: the row that goes and the message that comes are one step, for whoever is first.
#[test]
fn what_waits_becomes_a_message_exactly_once() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let rows = vec![
        enqueue(&fixture, &session, &message("first")),
        enqueue(&fixture, &session, &message("second")),
    ];
    let take = |rows: &[InboxId], session: &SessionId, text: &str| {
        let taken = fixture
            .store
            .take_up(rows.to_vec(), session, None, records(text));
        taken.wait()
    };
    // A step that fails in the middle changes nothing.
    assert!(take(&rows, &id("nowhere"), "first").is_err());
    assert_eq!(waiting(&fixture.store, &session).len(), 2);
    assert_eq!(
        take(&rows[..1], &session, "first").unwrap().unwrap().len(),
        1
    );
    assert_eq!(said(&fixture.reopen(), &session), ["first"]);
    assert_eq!(waiting(&fixture.reopen(), &session), [message("second")]);
    // Who comes too late for one of them says none: the other one waits on.
    assert_eq!(take(&rows, &session, "first second").unwrap(), None);
    assert_eq!(said(&fixture.store, &session), ["first"]);
    assert_eq!(waiting(&fixture.store, &session), [message("second")]);
}

// AG-34
#[test]
fn what_waits_can_take_the_place_of_the_last_row() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let rows = fixture.say(&session, &["go", "half an answer"]);
    let waits = enqueue(&fixture, &session, &remark("mind the gap"));
    let both = vec![
        NewRecord::text(Role::User, "mind the gap"),
        NewRecord::text(Role::Assistant, "half an answer"),
    ];
    let taken = fixture
        .store
        .take_up(vec![waits], &session, Some(rows[1]), both);
    assert_eq!(taken.wait().unwrap().unwrap().len(), 2);
    let now = said(&fixture.store, &session);
    assert_eq!(now, ["go", "mind the gap", "half an answer"]);
    assert_eq!(waiting(&fixture.store, &session), []);
}

// AG-34
#[test]
fn what_waits_goes_where_the_conversation_goes_on_and_ends_with_it() {
    let fixture = Fixture::new();
    let (old, new) = (fixture.session("old"), id("new"));
    let rows = fixture.say(&old, &["long", "longer"]);
    enqueue(&fixture, &old, &message("first"));
    let shorter = records("what was said");
    let compacted = fixture.store.compact_into(&old, new.clone(), rows, shorter);
    assert!(compacted.wait().unwrap());
    // Who has not heard of it yet still speaks to the old one.
    enqueue(&fixture, &old, &message("second"));
    assert_eq!(waiting(&fixture.store, &old), []);
    let both = [message("first"), message("second")];
    assert_eq!(waiting(&fixture.store, &new), both);
    fixture.store.delete_session(&new).wait().unwrap();
    assert_eq!(kinds(&fixture), [""; 0]);
    let nowhere = fixture.store.enqueue(&id("nowhere"), &message("hello"));
    let refused = nowhere.wait().unwrap_err();
    assert!(matches!(refused, StoreError::NoSuchSession { .. }));
}

// AG-34
#[test]
fn only_so_much_waits_and_its_pictures_are_kept() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let hash = fixture.store.blobs().put(b"a picture").unwrap();
    let picture = Media {
        mime: "image/png".to_owned(),
        source: MediaSource::Blob(hash.clone()),
        name: Some("tree.png".to_owned()),
    };
    let shown = Op::UserMessage {
        text: "look".to_owned(),
        media: vec![picture],
    };
    let first = enqueue(&fixture, &session, &shown);
    let removed = || fixture.store.optimize().wait().unwrap().blobs_removed;
    assert_eq!(removed(), 0);
    assert_eq!(waiting(&fixture.store, &session), [shown]);
    for _ in 1..MOST_IN_INBOX {
        enqueue(&fixture, &session, &message("more"));
    }
    let full = fixture.store.enqueue(&session, &message("too much"));
    let full = full.wait().unwrap_err();
    assert!(matches!(full, StoreError::InboxFull { .. }), "{full}");
    assert!(full.hint().is_some());
    fixture.store.withdraw(vec![first]).wait().unwrap();
    assert_eq!(removed(), 1);
    assert!(!fixture.store.blobs().contains(&hash));
}
