//! What happens when the file is not what it should be.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hermes_store::{KeepCopy, StoreError, repair};

use super::fixture::Fixture;

fn open(fixture: &Fixture, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
    fs::write(fixture.path(name), bytes).unwrap();
    let mut options = fixture.options();
    options.path = fixture.path(name);
    hermes_store::Store::open(options).map(drop)
}

/// What is called like a file and something more.
fn beside(path: &std::path::Path) -> Vec<String> {
    let name = path.file_name().unwrap().to_str().unwrap();
    let entries = fs::read_dir(path.parent().unwrap()).unwrap();
    let mut found: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|found| found.starts_with(name) && found != name)
        .collect();
    found.sort();
    found
}

#[test]
fn refuses_files_that_are_not_ours_and_leaves_them_alone() {
    let fixture = Fixture::new();
    let text = b"this is a letter, not a database, and it is long enough to be sure".repeat(20);
    assert!(matches!(
        open(&fixture, "letter.db", &text),
        Err(StoreError::NotADatabase { .. })
    ));
    assert_eq!(fs::read(fixture.path("letter.db")).unwrap(), text);
    let foreign = fixture.path("foreign.db");
    rusqlite::Connection::open(&foreign)
        .unwrap()
        .execute_batch("CREATE TABLE other (x)")
        .unwrap();
    let before = fs::read(&foreign).unwrap();
    assert!(matches!(
        open(&fixture, "foreign.db", &before),
        Err(StoreError::Foreign { .. })
    ));
    assert_eq!(fs::read(&foreign).unwrap(), before);
}

#[test]
fn refuses_a_newer_schema() {
    let fixture = Fixture::new();
    fixture.sql("PRAGMA user_version = 99");
    let error = hermes_store::Store::open(fixture.options())
        .map(drop)
        .unwrap_err();
    assert!(
        matches!(error, StoreError::TooNew { found: 99, .. }),
        "{error}"
    );
    assert!(error.hint().is_some());
}

// LN-14
#[test]
fn falls_back_to_a_rollback_journal_only_where_no_log_was_begun() {
    let fixture = Fixture::new();
    // This VFS cannot share memory between processes, like some network mounts.
    let without_shared_memory = |name: &str| {
        let mut options = fixture.options();
        options.path = fixture.path(name);
        options.vfs = Some("unix-dotfile".to_owned());
        hermes_store::Store::open(options)
    };
    let store = without_shared_memory("fresh.db").unwrap();
    assert_eq!(
        store.stats().wait().unwrap().sessions,
        0,
        "a fresh file works without a log"
    );
    drop(store);
    assert_eq!(journal_mode(&fixture, "fresh.db"), "delete");
    // hermes.db was opened with a log: going on without one could lose what the log holds.
    let before = fs::read(fixture.path("hermes.db")).unwrap();
    assert!(without_shared_memory("hermes.db").is_err());
    assert_eq!(fs::read(fixture.path("hermes.db")).unwrap(), before);
    assert_eq!(journal_mode(&fixture, "hermes.db"), "wal");
}

fn journal_mode(fixture: &Fixture, name: &str) -> String {
    // Bytes 18 and 19 of the header say whether the file was last written with a log.
    let header = fs::read(fixture.path(name)).unwrap();
    if header[18] == 2 {
        "wal".to_owned()
    } else {
        "delete".to_owned()
    }
}

// LN-11
#[test]
fn standard_tools_read_the_rows() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    fixture.say(&session, &["hello there"]);
    let shell = |sql: &str| {
        let output = std::process::Command::new("sqlite3")
            .arg(fixture.path("hermes.db"))
            .arg(sql)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let rows =
        "SELECT s.source, m.role, m.content FROM messages m JOIN sessions s ON s.id = m.session_id";
    assert_eq!(shell(rows), "cli|user|hello there\n");
    assert_eq!(shell("PRAGMA foreign_key_check"), "");
}

#[test]
fn the_database_and_its_log_are_for_their_owner_only() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    fixture.say(&session, &["private words"]);
    let hash = fixture.store.blobs().put(b"a private picture").unwrap();
    let picture = format!("blobs/{}/{hash}", &hash[..2]);
    for name in ["hermes.db", "hermes.db-wal", "hermes.db-shm", &picture] {
        let mode = fs::metadata(fixture.path(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn closing_finishes_the_work_and_leaves_one_file() {
    let fixture = Fixture::new();
    let mut options = fixture.options();
    options.path = fixture.path("other.db");
    let store = hermes_store::Store::open(options).unwrap();
    let session = hermes_core::SessionId::try_from("s".to_owned()).unwrap();
    let created = store.create_session(hermes_store::NewSession::new(session.clone(), "cli"));
    let row = hermes_store::NewRecord::text(hermes_core::Role::User, "asked for before the end");
    let added = store.append(&session, vec![row]);
    drop(store);
    created.wait().unwrap();
    added.wait().unwrap();
    for side in ["-wal", "-shm"] {
        assert!(
            !fixture.path(&format!("other.db{side}")).exists(),
            "{side} is left"
        );
    }
}

// LN-13
#[test]
fn repair_saves_the_rows_of_a_damaged_file_and_keeps_it() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let texts: Vec<String> = (0..2000)
        .map(|n| format!("message number {n} with some length to it"))
        .collect();
    fixture.say(
        &session,
        &texts.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    let read = hermes_store::LearningMark { row: 7, at: 7.0 };
    let kinds = vec![hermes_store::LearningKind::Memory];
    let looked = fixture.store.looked_back(&session, kinds, read);
    looked.wait().unwrap();
    let path = fixture.path("damaged.db");
    hermes_store::copy_database(&fixture.path("hermes.db"), &path, |_, _| {}).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8192].fill(0x5a);
    fs::write(&path, bytes).unwrap();
    assert!(!hermes_store::is_sound(&path).unwrap());
    let repaired = repair(&path, "1", KeepCopy::Yes).unwrap();
    assert_eq!(repaired.kept, Some(fixture.path("damaged.db.damaged-1")));
    assert_eq!(
        beside(&path),
        ["damaged.db.damaged-1"],
        "one copy is enough"
    );
    let mut options = fixture.options();
    options.path = path.clone();
    let store = hermes_store::Store::open(options).unwrap();
    assert!(store.check().wait().unwrap().is_clean());
    let kept = store.history(&session).wait().unwrap().len();
    assert!(kept > 1700, "only {kept} of 2000 rows were saved");
    assert_eq!(store.unread(&session).wait().unwrap().memory, read);
    assert!(hermes_store::is_sound(&path).unwrap());
}

// LN-13
#[test]
fn repair_reads_a_file_that_lost_its_end_or_its_sessions() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let texts: Vec<String> = (0..2000)
        .map(|n| format!("message number {n} with some length to it"))
        .collect();
    fixture.say(
        &session,
        &texts.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    let open = |path: &std::path::Path| {
        let mut options = fixture.options();
        options.path = path.to_owned();
        hermes_store::Store::open(options).unwrap()
    };
    let shorter = fixture.path("shorter.db");
    hermes_store::copy_database(&fixture.path("hermes.db"), &shorter, |_, _| {}).unwrap();
    let length = fs::metadata(&shorter).unwrap().len();
    fs::File::options()
        .write(true)
        .open(&shorter)
        .unwrap()
        .set_len(length - 4096)
        .unwrap();
    repair(&shorter, "1", KeepCopy::Yes).unwrap();
    let kept = open(&shorter).history(&session).wait().unwrap().len();
    assert!(kept > 1900, "{kept} of 2000 rows were saved");
    // Without its session a message is still a message.
    let orphaned = fixture.path("orphaned.db");
    hermes_store::copy_database(&fixture.path("hermes.db"), &orphaned, |_, _| {}).unwrap();
    let connection = rusqlite::Connection::open(&orphaned).unwrap();
    let page: i64 = connection
        .query_row(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'sessions'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    drop(connection);
    let mut bytes = fs::read(&orphaned).unwrap();
    let start = (usize::try_from(page).unwrap() - 1) * 4096;
    bytes[start..start + 4096].fill(0x5a);
    fs::write(&orphaned, bytes).unwrap();
    repair(&orphaned, "1", KeepCopy::Yes).unwrap();
    let store = open(&orphaned);
    assert_eq!(store.history(&session).wait().unwrap().len(), 2000);
    assert!(store.check().wait().unwrap().is_clean());
}

// LN-13
#[test]
fn repair_copies_a_file_only_when_it_changes_it() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    fixture.say(&session, &["some words"]);
    let path = fixture.path("copy.db");
    hermes_store::copy_database(&fixture.path("hermes.db"), &path, |_, _| {}).unwrap();
    let sound = repair(&path, "1", KeepCopy::Yes).unwrap();
    assert!(sound.found.unwrap().is_clean());
    assert!(beside(&path).is_empty(), "{:?}", beside(&path));
    let spoil = || {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection
            .execute("INSERT INTO search (search) VALUES ('delete-all')", [])
            .unwrap();
    };
    spoil();
    let mended = repair(&path, "2", KeepCopy::Yes).unwrap();
    assert_eq!(mended.copy, Some(fixture.path("copy.db.before-repair-2")));
    assert_eq!(beside(&path), ["copy.db.before-repair-2"]);
    let mode = fs::metadata(mended.copy.unwrap()).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    spoil();
    let mended = repair(&path, "3", KeepCopy::No).unwrap();
    assert_eq!((mended.reindexed, mended.copy), (1, None));
    assert_eq!(beside(&path), ["copy.db.before-repair-2"]);
}
