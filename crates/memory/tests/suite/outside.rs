//! Files that something else edits.

use std::fs;
use std::os::unix::fs::symlink;

use hermes_memory::{MemoryError, Operation, Target};

use super::fixture::Fixture;

// LN-8
#[test]
fn a_file_in_another_form_is_copied_and_left_alone_whatever_is_asked() {
    for edited in [
        "likes tea\n§\n\n# My notes\n- one\n- two\n",
        "likes tea\r\n§\r\nuses tabs",
        "likes tea\n§\nlikes tea",
        "likes tea\n§\n§\nuses tabs",
        "  likes tea",
        "\u{feff}\nlikes tea\n§\n",
    ] {
        let fixture = Fixture::new();
        fixture.add("likes tea");
        fixture.write(edited);
        for operations in [
            vec![Operation::add("new")],
            vec![Operation::replace("tea", "likes coffee")],
            vec![Operation::remove("tea")],
            vec![Operation::add("x"), Operation::remove("tea")],
        ] {
            let error = fixture.change(&operations).unwrap_err();
            let hint = error.hint();
            let MemoryError::Drifted { backup, .. } = error else {
                panic!("{edited:?}: {error}");
            };
            assert_eq!(fs::read_to_string(backup).unwrap(), edited);
            assert!(hint.contains("hermes memory tidy memory"), "{hint}");
        }
        assert_eq!(fixture.text(), edited);
        let copies = ["MEMORY.md", "MEMORY.md.bak.1782907200"];
        assert_eq!(
            fixture.files(),
            copies,
            "one copy of the same bytes is enough"
        );
    }
}

// LN-8
#[test]
fn bytes_that_are_no_text_are_left_alone() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.path("")).unwrap();
    fs::write(fixture.path("MEMORY.md"), b"caf\xe9").unwrap();
    assert!(matches!(
        fixture.change(&[Operation::add("new")]),
        Err(MemoryError::Drifted { .. })
    ));
    assert_eq!(fs::read(fixture.path("MEMORY.md")).unwrap(), b"caf\xe9");
}

// LN-8
#[test]
fn a_link_to_a_file_that_is_not_there_yet_stays_a_link() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.path("synced")).unwrap();
    symlink("second", fixture.path("MEMORY.md")).unwrap();
    symlink("synced/notes.md", fixture.path("second")).unwrap();
    fixture.add("likes tea");
    for link in ["MEMORY.md", "second"] {
        assert!(fixture.path(link).is_symlink(), "{link}");
    }
    assert_eq!(fixture.text(), "likes tea");
    fixture.add("uses tabs");
    let written = fs::read_to_string(fixture.path("synced/notes.md"));
    assert_eq!(written.unwrap(), "likes tea\n§\nuses tabs");

    // Nothing is put in the place of a link that leads nowhere.
    let lost = Fixture::new();
    fs::create_dir_all(lost.path("")).unwrap();
    symlink("unmounted/notes.md", lost.path("MEMORY.md")).unwrap();
    let error = lost.change(&[Operation::add("likes tea")]).unwrap_err();
    assert!(matches!(error, MemoryError::Write { .. }), "{error}");
    assert!(error.hint().contains("if it is a link"), "{}", error.hint());
    let left = fs::read_link(lost.path("MEMORY.md")).unwrap();
    assert_eq!(left.to_str(), Some("unmounted/notes.md"));
}

// LN-8
#[test]
fn an_edit_that_keeps_to_the_form_is_welcome() {
    let fixture = Fixture::new();
    fixture.add("likes tea");
    fixture.write("by hand\n§\nlikes green tea");
    fixture.add("new");
    assert_eq!(fixture.text(), "by hand\n§\nlikes green tea\n§\nnew");
    fixture.write("\n");
    fixture.add("again");
    assert_eq!(fixture.text(), "again");
}

// LN-8: what editors do to the end of a file by themselves.
#[test]
fn a_last_line_that_is_ended_is_welcome_and_nothing_of_the_text_is_lost() {
    for end in ["\n", "\r\n", "\n\n", " \n"] {
        let fixture = Fixture::new();
        fixture.add("likes tea");
        let edited = "likes tea\n§\n# My notes\n- one\n\n- two";
        fixture.write(&format!("{edited}{end}"));
        fixture.add("new");
        assert_eq!(fixture.text(), format!("{edited}\n§\nnew"), "{end:?}");
        assert_eq!(fixture.files(), ["MEMORY.md"], "{end:?}: no copy is needed");
    }
}

// LN-8
#[test]
fn an_entry_that_alone_is_too_long_is_somebody_elses_unless_the_limit_was_lowered() {
    let mut fixture = Fixture::with_limit(40);
    let long = "x".repeat(50);
    fixture.write(&long);
    assert!(matches!(
        fixture.change(&[Operation::remove("xx")]),
        Err(MemoryError::Drifted { .. })
    ));
    fixture.limit(100);
    fixture.add("short");
    fixture.limit(40);
    fixture.change(&[Operation::remove("xx")]).unwrap();
    assert_eq!(fixture.text(), "short");
}

// LN-8
#[test]
fn a_file_is_taken_over_when_that_is_asked_for() {
    let fixture = Fixture::new();
    let edited = "likes tea\n§\n§\nlikes tea\n§\nuses tabs\n\n";
    fixture.write(edited);
    let tidied = fixture.memory.tidy(Target::Memory).unwrap();
    assert_eq!(fixture.text(), "likes tea\n§\nuses tabs");
    assert_eq!(fs::read_to_string(tidied.backup.unwrap()).unwrap(), edited);
    assert!(!tidied.contents.drifted);
    fixture.add("new");
    assert_eq!(fixture.memory.tidy(Target::Memory).unwrap().backup, None);
}
