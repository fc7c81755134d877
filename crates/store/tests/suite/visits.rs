//! Looks at another home's database that leave no trace.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use hermes_core::Role;
use hermes_store::{NewRecord, SearchFilter, SearchOrder, Store, StoreError, Visit};
use tempfile::TempDir;

use super::fixture::{Fixture, Place, id};

/// Every file of a folder with its size, its time and its bytes.
fn listing(folder: &Path) -> BTreeMap<String, (u64, SystemTime, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let files = entries.map(|entry| {
        let found = entry.metadata().unwrap();
        let bytes = fs::read(entry.path()).unwrap_or_default();
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, (found.len(), found.modified().unwrap(), bytes))
    });
    files.collect()
}

/// What a visit finds, after which the folder must be as it was.
#[track_caller]
fn found(place: &Place, query: &str) -> Vec<String> {
    let folder = &place.folder;
    let before = listing(folder);
    let touched = fs::metadata(folder).unwrap().modified().unwrap();
    let snippets = {
        let visit = Visit::open(place.options()).unwrap();
        let filter = SearchFilter::default();
        let hits = visit
            .store()
            .search(query, filter, SearchOrder::Relevance, 10);
        let snippets = hits.wait().unwrap().into_iter().map(|hit| hit.snippet);
        assert!(visit.undisturbed());
        snippets.collect()
    };
    assert!(listing(folder) == before, "{:?}", listing(folder).keys());
    assert_eq!(fs::metadata(folder).unwrap().modified().unwrap(), touched);
    snippets
}

#[track_caller]
fn refused(place: &Place) -> StoreError {
    let folder = &place.folder;
    let before = listing(folder);
    let error = Visit::open(place.options()).err().unwrap();
    assert!(listing(folder) == before, "{:?}", listing(folder).keys());
    error
}

/// A store that was closed as it should be: nothing lies beside the file.
fn closed() -> (Place, TempDir) {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    fixture.say(&session, &["the red door"]);
    let (place, folder) = fixture.close();
    assert!(!place.path("hermes.db-wal").exists());
    (place, folder)
}

// LN-40
#[test]
fn a_file_that_nobody_has_open_is_read_and_left_alone() {
    let (place, _folder) = closed();
    assert_eq!(found(&place, "red"), ["the >>>red<<< door"]);
}

// LN-40
#[test]
fn a_file_in_use_is_read_with_what_is_in_its_log() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    fixture.say(&session, &["the red door"]);
    let place = fixture.place();
    let log = fs::metadata(place.path("hermes.db-wal")).unwrap();
    assert!(log.len() > 0);
    // Connections of one process share their memory whatever they ask for, so that nothing is touched shows only
    // between two: the tests of the binary do that.
    let count = || {
        let visit = Visit::open(place.options()).unwrap();
        let filter = SearchFilter::default();
        let hits = visit.store().search("red", filter, SearchOrder::Newest, 10);
        assert!(visit.undisturbed());
        hits.wait().unwrap().len()
    };
    assert_eq!(count(), 1);
    // What is written later is seen by the next visit.
    fixture.say(&session, &["the red roof"]);
    assert_eq!(count(), 2);
}

// LN-40
#[test]
fn what_a_killed_program_left_is_read_without_tidying_up() {
    let alive = Fixture::new();
    let session = alive.session("s");
    alive.say(&session, &["the red door"]);
    let (left, _folder) = Fixture::new().close();
    for name in ["hermes.db", "hermes.db-wal", "hermes.db-shm"] {
        fs::copy(alive.path(name), left.path(name)).unwrap();
    }
    assert_eq!(found(&left, "red"), ["the >>>red<<< door"]);
    // Without its shared memory the log can only be read by making some, which a visit does not do.
    fs::remove_file(left.path("hermes.db-shm")).unwrap();
    let error = refused(&left);
    assert!(matches!(error, StoreError::Unfinished { .. }), "{error}");
    assert!(error.hint().is_some());
}

// LN-40
#[test]
fn nothing_is_made_where_nothing_is_and_nothing_is_upgraded() {
    let (place, _folder) = Fixture::new().close();
    fs::remove_file(place.path("hermes.db")).unwrap();
    assert!(matches!(refused(&place), StoreError::NoDatabase { .. }));
    let (place, _folder) = closed();
    for (version, told) in [(1, "schema 1,"), (99, "schema 99,")] {
        place.sql(&format!("PRAGMA user_version = {version}"));
        let error = refused(&place).to_string();
        assert!(error.contains(told), "{error}");
    }
    fs::write(place.path("hermes.db"), "no database at all, only words").unwrap();
    assert!(matches!(refused(&place), StoreError::NotADatabase { .. }));
}

// LN-40
#[test]
fn somebody_who_begins_to_write_meanwhile_is_noticed() {
    let (place, _folder) = closed();
    let visit = Visit::open(place.options()).unwrap();
    assert!(visit.undisturbed());
    let theirs = Store::open(place.options()).unwrap();
    let row = NewRecord::text(Role::User, "more");
    theirs.append(&id("s"), vec![row]).wait().unwrap();
    assert!(!visit.undisturbed());
    // What asks for a change is refused.
    let refused = visit.store().end_session(&id("s"), "x").wait();
    assert!(
        matches!(refused, Err(StoreError::ReadOnly { .. })),
        "{refused:?}"
    );
}
