//! Taking changes back.

use std::fs;

use hermes_memory::{MemoryError, Operation, Target};
use hermes_secrets::{Secret, SecretName};
use hermes_store::{JournalOrigin, NewJournalEntry};

use super::fixture::Fixture;

// LN-4
#[test]
fn every_change_can_be_taken_back_and_that_too() {
    let fixture = Fixture::new();
    fixture.add("likes tea");
    let replaced = fixture
        .change(&[Operation::replace("tea", "likes coffee")])
        .unwrap();
    fixture
        .change(&[Operation::remove("coffee"), Operation::add("uses tabs")])
        .unwrap();
    assert_eq!(fixture.text(), "uses tabs");
    let memory = &fixture.memory;
    let undone = memory.undo(None).unwrap();
    assert_eq!(fixture.text(), "likes coffee");
    assert_eq!(
        (undone.restored.as_slice(), undone.removed.as_slice()),
        (
            &["likes coffee".to_owned()][..],
            &["uses tabs".to_owned()][..]
        )
    );
    let second = memory.undo(None).unwrap();
    assert_eq!(
        (fixture.text().as_str(), Some(second.id)),
        ("likes tea", replaced.id)
    );
    assert!(matches!(
        memory.undo(replaced.id),
        Err(MemoryError::UndoneAlready { .. })
    ));
    // What was taken back comes again by taking that back.
    let taking_back = memory.log(1).unwrap()[0].id;
    memory.undo(Some(taking_back)).unwrap();
    assert_eq!(fixture.text(), "likes coffee");
    assert!(matches!(
        memory.undo(Some(4_711)),
        Err(MemoryError::NoSuchChange { .. })
    ));
}

// LN-4
#[test]
fn only_the_entries_of_a_change_are_touched() {
    let fixture = Fixture::new();
    let first = fixture.add("likes tea").id;
    fixture.add("uses tabs");
    // By hand, in the usual form.
    fixture.write("by hand\n§\nuses tabs\n§\nlikes tea");
    fixture.memory.undo(first).unwrap();
    assert_eq!(fixture.text(), "by hand\n§\nuses tabs");
    let replaced = fixture
        .change(&[Operation::replace("tabs", "uses spaces")])
        .unwrap()
        .id;
    fixture
        .change(&[Operation::replace("spaces", "uses both")])
        .unwrap();
    assert!(matches!(
        fixture.memory.undo(replaced),
        Err(MemoryError::Overtaken { .. })
    ));
    assert_eq!(fixture.text(), "by hand\n§\nuses both");
}

// LN-4
#[test]
fn what_does_not_fit_does_not_come_back_and_nothing_is_left_to_take_back_at_last() {
    let fixture = Fixture::with_limit(20);
    let first = fixture.add("0123456789").id;
    let removed = fixture.change(&[Operation::remove("0123")]).unwrap().id;
    fixture.add("abcdefghijklmnop");
    assert!(matches!(
        fixture.memory.undo(removed),
        Err(MemoryError::Refused { .. })
    ));
    fixture.memory.undo(None).unwrap();
    fixture.memory.undo(None).unwrap();
    assert_eq!(fixture.text(), "0123456789");
    let last = fixture.memory.undo(None).unwrap();
    assert_eq!((Some(last.id), fixture.text().as_str()), (first, ""));
    assert!(matches!(
        fixture.memory.undo(None),
        Err(MemoryError::NothingToUndo)
    ));
}

// LN-4
#[test]
fn an_entry_with_a_secret_is_found_although_the_journal_masks_it() {
    let fixture = Fixture::new();
    let name = SecretName::new("TEA_SHOP_TOKEN").unwrap();
    let secret = Secret::new(name, "zq81Xw0c7Lk25Tn9Vb4R".to_owned(), []).unwrap();
    fixture.redactor.add(&secret);
    fixture.add("likes tea");
    fixture.add("The shop word is zq81Xw0c7Lk25Tn9Vb4R");
    let undone = fixture.memory.undo(None).unwrap();
    assert_eq!(
        (undone.removed.len(), fixture.text().as_str()),
        (1, "likes tea")
    );
}

// LN-4
#[test]
fn a_reset_can_be_taken_back() {
    let fixture = Fixture::new();
    fixture.add("likes tea");
    fixture.add("uses tabs");
    let reset = fixture.memory.reset(Target::Memory).unwrap();
    assert_eq!(
        (reset.removed, reset.backup, fixture.text().as_str()),
        (2, None, "")
    );
    assert_eq!(fixture.memory.reset(Target::Memory).unwrap().removed, 0);
    fixture.memory.undo(None).unwrap();
    assert_eq!(fixture.text(), "likes tea\n§\nuses tabs");
    fixture.write("odd form\n§\n");
    let reset = fixture.memory.reset(Target::Memory).unwrap();
    assert_eq!(
        fs::read_to_string(reset.backup.unwrap()).unwrap(),
        "odd form\n§\n"
    );
}

/// What a kill between the journal and the file leaves: a row, and the new bytes beside the file.
fn half_done(fixture: &Fixture, before: Option<&str>, after: Option<&str>) -> i64 {
    fs::write(fixture.path(".mem_MEMORY.md_4711_0.tmp"), "half").unwrap();
    let entry = NewJournalEntry {
        origin: JournalOrigin::Foreground,
        session: None,
        subject: "memory".to_owned(),
        path: None,
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
        summary: "never happened".to_owned(),
    };
    fixture.store.append_journal(entry).wait().unwrap()
}

// LN-4
#[test]
fn a_change_that_a_kill_stopped_before_its_file_is_gone_on_from() {
    for (before, after) in [
        (None, Some("new")),
        (Some("uses tabs"), None),
        (Some("uses tabs"), Some("uses spaces")),
    ] {
        let fixture = Fixture::new();
        fixture.add("likes tea");
        fixture.add("uses tabs");
        let id = half_done(&fixture, before, after);
        let undone = fixture.memory.undo(Some(id)).unwrap();
        assert_eq!((undone.restored.len(), undone.removed.len()), (0, 0));
        assert_eq!(fixture.text(), "likes tea\n§\nuses tabs");
        fixture.add("goes on");
        assert_eq!(fixture.text(), "likes tea\n§\nuses tabs\n§\ngoes on");
        assert_eq!(
            fixture.files(),
            ["MEMORY.md"],
            "what was left unfinished is gone"
        );
    }
}
