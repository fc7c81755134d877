//! What was said since the last look back.

use std::time::Duration;

use hermes_core::{CallId, Message, Part, Role, SessionId, ToolCall};
use hermes_store::{LearningKind, LearningMark, NewRecord, NewSession, Unread};
use serde_json::json;

use super::fixture::{Fixture, id};

fn unread(fixture: &Fixture) -> Unread {
    fixture.store.unread(&id("one")).wait().unwrap()
}

fn texts(unread: &Unread, mark: LearningMark) -> Vec<&str> {
    let rows = unread.rows.iter();
    let behind = rows.filter(|row| row.is_behind(mark));
    behind.map(|row| row.text.as_str()).collect()
}

/// Notes that everything so far was read.
fn look_back(fixture: &Fixture, kinds: &[LearningKind]) {
    let rows = unread(fixture).rows;
    let to = LearningMark {
        row: rows.iter().map(|row| row.id.0).max().unwrap(),
        at: rows.iter().map(|row| row.timestamp).fold(0.0, f64::max),
    };
    let looked = fixture.store.looked_back(&id("one"), kinds.to_vec(), to);
    looked.wait().unwrap();
}

// AG-26
#[test]
fn rows_of_all_conversations_count_until_they_were_read_for_their_kind() {
    let fixture = Fixture::new();
    let (one, other) = (fixture.session("one"), fixture.session("other"));
    fixture.say(&one, &["first", "yes"]);
    look_back(&fixture, &[LearningKind::Skills]);
    fixture.say(&other, &["second", "yes"]);
    let both = unread(&fixture);
    assert_eq!(texts(&both, both.memory), ["first", "yes", "second", "yes"]);
    assert_eq!(texts(&both, both.skills), ["second", "yes"]);
    look_back(&fixture, &[LearningKind::Memory, LearningKind::Skills]);
    assert_eq!(unread(&fixture).rows, []);
    // A mark never goes back.
    let looked =
        fixture
            .store
            .looked_back(&one, vec![LearningKind::Memory], LearningMark::default());
    looked.wait().unwrap();
    assert_eq!(unread(&fixture).rows, []);
}

// LN-36
#[test]
fn what_one_person_said_is_not_looked_back_on_with_another() {
    let fixture = Fixture::new();
    let of = |name: &str, user: &str| {
        let session = NewSession {
            user_id: Some(user.to_owned()),
            ..NewSession::new(id(name), "telegram")
        };
        fixture.store.create_session(session).wait().unwrap();
        id(name)
    };
    let (mine, ana, bob) = (fixture.session("one"), of("ana", "1"), of("bob", "2"));
    let again = of("ana again", "1");
    for (session, said) in [(&mine, "mine"), (&ana, "ana's"), (&bob, "bob's")] {
        fixture.say(session, &[said, "yes"]);
    }
    fixture.say(&again, &["ana's too", "yes"]);
    let left = |session: &SessionId| {
        let unread = fixture.store.unread(session).wait().unwrap();
        let said = texts(&unread, unread.memory).into_iter();
        said.filter(|text| *text != "yes")
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(left(&mine), ["mine"]);
    assert_eq!(left(&ana), ["ana's", "ana's too"]);
    let last = fixture.store.unread(&again).wait().unwrap();
    let last = last.rows.last().unwrap();
    let to = LearningMark {
        row: last.id.0,
        at: last.timestamp,
    };
    let looked = fixture
        .store
        .looked_back(&again, vec![LearningKind::Memory], to);
    looked.wait().unwrap();
    assert_eq!(left(&ana), Vec::<String>::new());
    assert_eq!(left(&bob), ["bob's"], "others' marks stay where they are");
    assert_eq!(left(&mine), ["mine"]);
}

// AG-26
#[test]
fn a_clock_that_was_wrong_once_does_not_end_the_counting() {
    let fixture = Fixture::new();
    let one = fixture.session("one");
    fixture.say(&one, &["read", "yes"]);
    let rows = unread(&fixture).rows;
    let wrong = LearningMark {
        row: rows[1].id.0,
        at: rows[1].timestamp + 1e9,
    };
    let looked = fixture
        .store
        .looked_back(&one, vec![LearningKind::Memory], wrong);
    looked.wait().unwrap();
    fixture.say(&one, &["later", "yes"]);
    let left = unread(&fixture);
    assert_eq!(texts(&left, left.memory), ["later", "yes"]);
}

// AG-26
#[test]
fn what_was_taken_back_copied_or_said_by_nobody_does_not_count() {
    let fixture = Fixture::new();
    let (store, one) = (&fixture.store, fixture.session("one"));
    fixture.say(&one, &["read", "yes"]);
    look_back(&fixture, &[LearningKind::Memory, LearningKind::Skills]);
    let rows = fixture.say(&one, &["kept", "yes", "taken back", "yes"]);
    store.rewind(&one, rows[2]).wait().unwrap();
    for source in ["cron", "subagent", "tool"] {
        fixture.say(&fixture.session_of(source, source), &["a job", "yes"]);
    }
    // A branch copies what was read and what was not.
    let branch = store.branch(&one, rows[1], id("branch")).wait().unwrap();
    fixture.say(&branch, &["in the branch", "yes"]);
    // So does a shorter conversation, for what lies behind the summary.
    let first = store.history(&branch).wait().unwrap()[0].id;
    let summary = vec![NewRecord::text(Role::User, "a summary")];
    fixture.clock.advance(Duration::from_secs(60));
    assert!(store.compact(&branch, vec![first], summary).wait().unwrap());
    let left = unread(&fixture);
    assert_eq!(
        texts(&left, left.memory),
        ["kept", "yes", "in the branch", "yes", "a summary"]
    );
    // What is a month old is past.
    fixture
        .clock
        .advance(Duration::from_secs(31 * 24 * 60 * 60));
    assert_eq!(unread(&fixture).rows, []);
}

fn add(fixture: &Fixture, session: &SessionId, role: Role, part: Part) {
    let message = Message {
        role,
        parts: vec![part],
        raw: None,
    };
    let added = fixture.store.append(session, vec![(&message).into()]);
    added.wait().unwrap();
}

#[test]
fn calls_and_failures_are_seen_and_long_texts_are_cut_in_the_middle() {
    let fixture = Fixture::new();
    let one = fixture.session("one");
    let long = format!("begin{}end", "x".repeat(10_000));
    add(&fixture, &one, Role::User, Part::Text { text: long });
    let made = ToolCall {
        id: CallId("c-1".to_owned()),
        name: "terminal".to_owned(),
        arguments: json!({"command": "\"failed\":true"}),
    };
    add(&fixture, &one, Role::Assistant, Part::ToolCall(made));
    for (failed, content) in [(true, "no"), (false, "\"failed\":true")] {
        let result = Part::ToolResult {
            call: CallId(format!("c-{failed}")),
            name: "terminal".to_owned(),
            content: content.to_owned(),
            failed,
        };
        add(&fixture, &one, Role::Tool, result);
    }
    let rows = unread(&fixture).rows;
    assert!(rows[0].text.starts_with("begin") && rows[0].text.ends_with("end"));
    assert!(rows[0].text.len() < 5_000);
    assert_eq!(rows[1].calls, ["terminal"]);
    assert_eq!(
        rows.iter().map(|row| row.failed).collect::<Vec<_>>(),
        [false, false, true, false]
    );
}
