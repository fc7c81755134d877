//! Parts of conversations, what a model sees already, titles that match, and where conversations began.

use hermes_core::{MessageId, Role, SessionId};
use hermes_store::{
    NewRecord, NewSession, Relation, SearchFilter, SearchOrder, StretchLimits, ViewFilter,
};

use super::fixture::{Fixture, id};

fn all() -> ViewFilter {
    ViewFilter {
        roles: Vec::new(),
        with_text: false,
        unseen_by: None,
        characters: 10,
    }
}

fn ids(rows: &[hermes_store::Excerpt]) -> Vec<MessageId> {
    rows.iter().map(|row| row.id).collect()
}

fn child(fixture: &Fixture, name: &str, parent: &SessionId, relation: Relation) -> SessionId {
    let session = NewSession {
        parent: Some((parent.clone(), relation)),
        ..NewSession::new(id(name), "cli")
    };
    fixture.store.create_session(session).wait().unwrap();
    id(name)
}

// LN-23
#[test]
fn a_window_lies_around_its_message_and_counts_the_rest() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let said = fixture.say(
        &session,
        &["a", "b", "c", "a longer text than that", "e", "f", "g"],
    );
    let store = &fixture.store;
    let around = store
        .around(&session, said[3], 2, all())
        .wait()
        .unwrap()
        .unwrap();
    assert_eq!(ids(&around.rows), said[1..6]);
    assert_eq!((around.before, around.after), (1, 1));
    assert_eq!(
        (around.rows[2].text.as_str(), around.rows[2].left_out),
        ("a longer t", 13)
    );
    // The message itself is there whatever the filter says.
    let users = ViewFilter {
        roles: vec!["user".to_owned()],
        ..all()
    };
    let around = store
        .around(&session, said[3], 1, users.clone())
        .wait()
        .unwrap()
        .unwrap();
    assert_eq!(ids(&around.rows), said[2..5]);
    assert_eq!((around.before, around.after), (1, 1));
    let ends = store.ends(&session, 2, 3, all()).wait().unwrap();
    assert_eq!(
        (ids(&ends.first), ids(&ends.last)),
        (said[..2].to_vec(), said[4..].to_vec())
    );
    let ends = store.ends(&session, 3, 3, users).wait().unwrap();
    assert_eq!(
        (ends.first.len(), ends.last.len(), ends.count),
        (3, 1, 4),
        "none of them twice"
    );
    let elsewhere = fixture.session("other");
    assert_eq!(
        store.around(&elsewhere, said[3], 2, all()).wait().unwrap(),
        None
    );
    store.rewind(&session, said[4]).wait().unwrap();
    assert_eq!(
        store.around(&session, said[4], 2, all()).wait().unwrap(),
        None
    );
    assert_eq!(store.session_of(said[4]).wait().unwrap(), None);
    assert_eq!(store.session_of(said[3]).wait().unwrap(), Some(session));
}

// LN-24
#[test]
fn what_a_model_sees_is_left_out_and_what_it_lost_is_found() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let said = fixture.say(
        &session,
        &["the blue shed", "noted", "a blue door", "noted too"],
    );
    let store = &fixture.store;
    let unseen = |by: &SessionId| -> Vec<MessageId> {
        let filter = SearchFilter {
            unseen_by: Some(by.clone()),
            ..SearchFilter::default()
        };
        let found = store
            .search("blue", filter, SearchOrder::Oldest, 10)
            .wait()
            .unwrap();
        found.into_iter().map(|hit| hit.message).collect()
    };
    assert_eq!(unseen(&session), []);
    assert_eq!(unseen(&fixture.session("another")), [said[0], said[2]]);
    let summary = || vec![NewRecord::text(Role::User, "a summary")];
    assert!(
        store
            .compact(&session, said[..2].to_vec(), summary())
            .wait()
            .unwrap()
    );
    assert_eq!(unseen(&session), [said[0]]);
    // In a session of its own: what was carried on is seen, what was left behind is not.
    let old = fixture.session("old");
    let said = fixture.say(&old, &["my blue hat", "noted", "my blue coat", "noted too"]);
    let carried_on = store.compact_into(&old, id("new"), said[..2].to_vec(), summary());
    assert!(carried_on.wait().unwrap());
    let found = unseen(&id("new"));
    assert!(
        found.contains(&said[0]) && !found.contains(&said[2]),
        "{found:?}"
    );
    let view = ViewFilter {
        unseen_by: Some(id("new")),
        ..all()
    };
    let ends = store.ends(&old, 10, 10, view).wait().unwrap();
    assert_eq!(ids(&ends.first), said[..2]);
}

// LN-23
#[test]
fn everything_that_hangs_together_has_one_root() {
    let fixture = Fixture::new();
    let root = fixture.session("root");
    let next = child(&fixture, "next", &root, Relation::Compaction);
    let branch = child(&fixture, "branch", &next, Relation::Branch);
    let delegate = child(&fixture, "delegate", &branch, Relation::Delegate);
    let other = fixture.session("other");
    let asked = vec![delegate, branch, root.clone(), other.clone()];
    let roots = fixture.store.roots(asked).wait().unwrap();
    assert_eq!(roots, [root.clone(), root.clone(), root, other]);
    // Sessions that are each other's parents still have one, and it is the same for all of them.
    fixture.sql("UPDATE sessions SET parent_session_id = 'branch' WHERE id = 'root'");
    let asked = vec![id("delegate"), id("next"), id("root")];
    let roots = fixture.store.roots(asked).wait().unwrap();
    assert_eq!(roots, [id("branch"), id("branch"), id("branch")]);
}

// LN-23
#[test]
fn titles_match_in_any_spelling_and_the_very_title_comes_first() {
    let fixture = Fixture::new();
    let names = [("a", "cli"), ("b", "cli"), ("c", "cli"), ("d", "tool")];
    let titles = [
        "Café Plans",
        "More Café plans for May",
        "Roof",
        "Cafe plans again",
    ];
    for ((name, source), title) in names.into_iter().zip(titles) {
        let session = fixture.session_of(name, source);
        fixture.say(&session, &["x"]);
        fixture.store.rename(&session, title).wait().unwrap();
    }
    let hidden = || vec!["tool".to_owned()];
    let found = |query: &str| -> Vec<String> {
        let found = fixture.store.titled(query, hidden(), 5).wait().unwrap();
        found
            .into_iter()
            .map(|session| session.id.to_string())
            .collect()
    };
    assert_eq!(found("cafe PLANS"), ["a", "b"]);
    assert_eq!(found("may"), ["b"]);
    assert!(found("plans NOT may NOT cafe").is_empty());
    assert!(found("").is_empty());
}

// LN-25
#[test]
fn a_stretch_goes_as_far_as_it_may_and_cuts_the_output_of_tools() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let tool = |text: String| NewRecord {
        role: "tool".to_owned(),
        content: Some(text),
        tool_name: Some("terminal".to_owned()),
        ..NewRecord::default()
    };
    let said = fixture.say(&session, &["first", "second", "third"]);
    let long = format!("{}{}", "a".repeat(400), "z".repeat(400));
    let rows = vec![tool(long), tool("b".repeat(500))];
    fixture.store.append(&session, rows).wait().unwrap();
    let limits = |characters| StretchLimits {
        characters,
        tool_output: 500,
    };
    let store = &fixture.store;
    let stretch = store
        .stretch(&session, Some(said[1]), limits(10_000))
        .wait()
        .unwrap();
    let stretch = stretch.unwrap();
    assert_eq!((stretch.rows.len(), stretch.at), (5, 1));
    let cut = format!("{} … {}", "a".repeat(250), "z".repeat(250));
    assert_eq!(stretch.rows[3].text, cut);
    assert_eq!(stretch.rows[4].text.len(), 500);
    let short = store
        .stretch(&session, Some(said[2]), limits(5))
        .wait()
        .unwrap()
        .unwrap();
    assert_eq!((short.rows.len(), short.at), (3, 1));
    let whole = store
        .stretch(&session, None, limits(10_000))
        .wait()
        .unwrap()
        .unwrap();
    assert_eq!((whole.rows.len(), whole.at), (5, 0));
    let empty = fixture.session("empty");
    assert_eq!(store.stretch(&empty, None, limits(5)).wait().unwrap(), None);
}
