//! Files as changes leave them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use hermes_memory::{MemoryError, Operation, Target, Why};
use hermes_store::{JournalFilter, JournalOrigin};

use super::fixture::Fixture;

// LN-1
#[test]
fn entries_are_written_as_the_reference_writes_them() {
    let fixture = Fixture::new();
    assert_eq!(fixture.memory.contents(Target::Memory).unwrap().entries, []);
    assert!(!fixture.path("").exists(), "looking makes nothing");
    fixture.add("likes tea");
    fixture.add("two\nlines");
    let again = fixture.add("likes tea");
    assert_eq!((again.id, again.effect.present), (None, 1));
    assert_eq!(fixture.text(), "likes tea\n§\ntwo\nlines");
    let mode = fs::metadata(fixture.path("MEMORY.md"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(fixture.files(), ["MEMORY.md"], "nothing unfinished is left");
    assert_eq!(again.contents.usage(), "0% — 21/2,200 chars");
    let journal = fixture
        .store
        .journal(JournalFilter::default(), 10)
        .wait()
        .unwrap();
    let noted: Vec<_> = journal.iter().map(|entry| entry.summary.as_str()).collect();
    assert_eq!(noted, ["added: two lines", "added: likes tea"]);
    assert_eq!(journal[0].origin, JournalOrigin::Foreground);
    assert_eq!(journal[0].after.as_deref(), Some("two\nlines"));
}

// LN-4
#[test]
fn an_id_names_an_entry_also_after_its_words_were_replaced() {
    let fixture = Fixture::new();
    fixture.add("likes tea");
    let id = fixture.add("uses tabs").contents.entries[1].id.clone();
    fixture
        .change(&[Operation::replace("tabs", "uses spaces")])
        .unwrap();
    let contents = fixture.memory.contents(Target::Memory).unwrap();
    assert_eq!(
        (
            contents.entries[1].id.as_str(),
            contents.entries[1].text.as_str()
        ),
        (id.as_str(), "uses spaces")
    );
    fixture.change(&[Operation::remove(&id)]).unwrap();
    assert_eq!(fixture.text(), "likes tea");
    // Without what is kept aside ids follow from the words.
    fs::write(fixture.path("MEMORY.md.ids"), "{broken").unwrap();
    let entries = fixture.memory.contents(Target::Memory).unwrap().entries;
    assert_eq!(entries[0].id.len(), 6);
    fixture.add("more");
}

// LN-4
#[test]
fn what_does_not_fit_is_refused_with_what_there_is() {
    let fixture = Fixture::with_limit(65);
    fixture.add("User drinks green tea at home");
    fixture.add("User drinks black tea at work");
    let before = fixture.text();
    let MemoryError::Refused { refusal, contents } =
        fixture.change(&[Operation::add("uses tabs")]).unwrap_err()
    else {
        panic!("there is no room");
    };
    let Why::Full {
        needed,
        limit,
        merge,
    } = refusal.why
    else {
        panic!("{refusal}");
    };
    assert_eq!((needed, limit, contents.size), (73, 65, 61));
    let merge = merge.unwrap();
    assert_eq!(
        merge.ids,
        [
            contents.entries[0].id.clone(),
            contents.entries[1].id.clone()
        ]
    );
    assert_eq!(fixture.text(), before);
    assert_eq!(
        fixture.memory.log(10).unwrap().len(),
        2,
        "what failed is not noted"
    );
}

// LN-1
#[test]
fn a_link_stays_a_link_and_modes_stay() {
    let fixture = Fixture::new();
    let elsewhere = fixture.path("").parent().unwrap().join("notes.md");
    fs::write(&elsewhere, "likes tea").unwrap();
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir_all(fixture.path("")).unwrap();
    symlink(&elsewhere, fixture.path("MEMORY.md")).unwrap();
    fixture.add("uses tabs");
    assert_eq!(
        fs::read_to_string(&elsewhere).unwrap(),
        "likes tea\n§\nuses tabs"
    );
    assert!(
        fs::symlink_metadata(fixture.path("MEMORY.md"))
            .unwrap()
            .is_symlink()
    );
    let mode = fs::metadata(&elsewhere).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

// LN-7
#[test]
fn threads_that_write_at_once_lose_nothing() {
    let fixture = Fixture::with_limit(100_000);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let memory = fixture.memory.clone();
            scope.spawn(move || {
                for number in 0..10 {
                    let text = format!("thread {thread} number {number}");
                    let added = memory.change(
                        Target::Memory,
                        &[Operation::add(text)],
                        JournalOrigin::Foreground,
                        None,
                    );
                    added.unwrap();
                }
            });
        }
    });
    assert_eq!(
        fixture
            .memory
            .contents(Target::Memory)
            .unwrap()
            .entries
            .len(),
        40
    );
    assert_eq!(fixture.memory.log(100).unwrap().len(), 40);
}
