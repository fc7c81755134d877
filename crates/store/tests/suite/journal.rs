//! The journal of what was learned.

use std::time::Duration;

use hermes_secrets::{RedactorHandle, Secret, SecretName};
use hermes_store::{JournalEntry, JournalFilter, JournalOrigin, NewJournalEntry};

use super::fixture::Fixture;

fn change(origin: JournalOrigin, subject: &str, after: &str) -> NewJournalEntry {
    NewJournalEntry {
        origin,
        session: Some("s-1".to_owned()),
        subject: subject.to_owned(),
        path: None,
        before: None,
        after: Some(after.to_owned()),
        summary: format!("added: {after}"),
    }
}

fn told(entries: &[JournalEntry]) -> Vec<&str> {
    entries
        .iter()
        .map(|entry| entry.after.as_deref().unwrap_or_default())
        .collect()
}

// LN-4
#[test]
fn changes_are_listed_newest_first_by_origin_and_by_subject() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    for (origin, subject, after) in [
        (JournalOrigin::Foreground, "memory", "tea"),
        (JournalOrigin::User, "user", "Ana"),
        (JournalOrigin::BackgroundReview, "memory", "tabs"),
        (JournalOrigin::Curator, "skill:bake", "bread"),
    ] {
        fixture.clock.advance(Duration::from_secs(1));
        let id = store.append_journal(change(origin, subject, after));
        assert!(id.wait().unwrap() > 0);
    }
    let list = |filter: JournalFilter| store.journal(filter, 10).wait().unwrap();
    let all = list(JournalFilter::default());
    assert_eq!(told(&all), ["bread", "tabs", "Ana", "tea"]);
    assert!(all[0].at > all[3].at);
    assert_eq!(all[1].origin, JournalOrigin::BackgroundReview);
    assert_eq!(all[1].session.as_deref(), Some("s-1"));
    let of = |subject: &str| JournalFilter {
        subject: Some(subject.to_owned()),
        ..JournalFilter::default()
    };
    assert_eq!(told(&list(of("memory"))), ["tabs", "tea"]);
    assert_eq!(told(&list(of("skill:"))), ["bread"]);
    assert_eq!(told(&list(of("skill:b"))), [""; 0]);
    let by_user = JournalFilter {
        origin: Some(JournalOrigin::User),
        ..JournalFilter::default()
    };
    assert_eq!(told(&list(by_user)), ["Ana"]);
    assert_eq!(
        told(&store.journal(JournalFilter::default(), 1).wait().unwrap()),
        ["bread"]
    );

    let id = all[1].id;
    assert!(store.mark_undone(id).wait().unwrap());
    assert!(!store.mark_undone(id).wait().unwrap(), "only once");
    assert!(!store.mark_undone(9_999).wait().unwrap());
    let standing = JournalFilter {
        standing: true,
        ..JournalFilter::default()
    };
    assert_eq!(told(&list(standing)), ["bread", "Ana", "tea"]);
    let reopened = fixture.reopen();
    let undone = reopened.journal_entry(id).wait().unwrap().unwrap();
    assert!(undone.undone_at.is_some());
    assert_eq!(reopened.journal_entry(9_999).wait().unwrap(), None);
}

// LN-4
#[test]
fn known_secrets_stay_out_of_the_journal() {
    let redactor = RedactorHandle::default();
    let name = SecretName::new("API_KEY").unwrap();
    redactor.add(&Secret::new(name, "hunter2-hunter2-hunter2".to_owned(), []).unwrap());
    let fixture = Fixture::with_redactor(redactor);
    let planted = change(
        JournalOrigin::Foreground,
        "memory",
        "the key is hunter2-hunter2-hunter2",
    );
    let id = fixture.store.append_journal(planted).wait().unwrap();
    let entry = fixture.store.journal_entry(id).wait().unwrap().unwrap();
    let whole = format!("{entry:?}");
    assert!(!whole.contains("hunter2"), "{whole}");
    assert!(whole.contains("the key is"), "{whole}");
    assert!(entry.tells_all_of_before(), "there was nothing before");
    // Whoever would put it back is told that this is not what was there.
    for (before, whole) in [("plain", true), ("it is hunter2-hunter2-hunter2", false)] {
        let mut gone = change(JournalOrigin::Foreground, "memory", "");
        gone.before = Some(before.to_owned());
        let id = fixture.store.append_journal(gone).wait().unwrap();
        let entry = fixture.store.journal_entry(id).wait().unwrap().unwrap();
        assert_eq!(entry.tells_all_of_before(), whole, "{before}");
        let shown = serde_json::to_string(&entry).unwrap();
        assert!(!shown.contains("sha256"), "{shown}");
    }
}
