//! The reference's databases, of several versions, brought over.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use hermes_store::{Listing, ReferenceImport, StoreError, Visibility};
use serde_json::Value as Json;

use super::fixture::{Fixture, id};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/reference/state")
}

fn expected(name: &str) -> Json {
    serde_json::from_slice(&std::fs::read(fixtures().join("expected").join(name)).unwrap()).unwrap()
}

/// A database of the reference, made from its text form.
fn database(fixture: &Fixture, version: u32) -> PathBuf {
    let path = fixture.path("state.db");
    let sql = std::fs::read_to_string(fixtures().join(format!("v{version}.sql"))).unwrap();
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch(&sql)
        .unwrap();
    path
}

fn import(fixture: &Fixture, path: &Path) -> ReferenceImport {
    fixture
        .store
        .import_reference(path, |_| ControlFlow::Continue(()))
        .unwrap()
}

fn count(path: &Path, table: &str) -> u64 {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection
        .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
            row.get(0)
        })
        .unwrap()
}

// LN-11
#[test]
fn every_known_schema_comes_over_completely() {
    for version in [6, 11, 14, 22, 23] {
        let fixture = Fixture::new();
        let path = database(&fixture, version);
        let bytes = std::fs::read(&path).unwrap();
        let imported = import(&fixture, &path);
        assert_eq!(imported.schema_version, version);
        assert_eq!(
            imported.sessions_new,
            count(&path, "sessions"),
            "schema {version}"
        );
        assert_eq!(
            imported.messages,
            count(&path, "messages"),
            "schema {version}"
        );
        let stats = fixture.store.stats().wait().unwrap();
        assert_eq!(
            (stats.sessions, stats.messages),
            (imported.sessions_new, imported.messages)
        );
        let check = fixture.store.check().wait().unwrap();
        assert!(check.is_clean(), "schema {version}: {check:?}");
        assert_eq!(
            std::fs::read(&path).unwrap(),
            bytes,
            "the source is as it was"
        );
    }
}

// LN-11
#[test]
fn reading_leaves_no_file_beside_the_source() {
    let fixture = Fixture::new();
    let folder = fixture.path("theirs");
    std::fs::create_dir(&folder).unwrap();
    std::fs::copy(fixtures().join("v22.db"), folder.join("state.db")).unwrap();
    import(&fixture, &folder.join("state.db"));
    let names: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["state.db"]);
}

// LN-20, CL-5
#[test]
fn lists_and_resumes_what_the_reference_does() {
    let fixture = Fixture::new();
    import(&fixture, &database(&fixture, 22));
    let golden = expected("store.json");
    let wanted: Vec<_> = golden["list_sessions_rich"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    let listed = fixture
        .store
        .list(Listing {
            limit: 100,
            ..Listing::default()
        })
        .wait()
        .unwrap();
    let ids: Vec<_> = listed
        .iter()
        .map(|listed| listed.session.id.as_str())
        .collect();
    let wanted_ids: Vec<_> = wanted
        .iter()
        .map(|row| row["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, wanted_ids);
    for (listed, wanted) in listed.iter().zip(wanted) {
        assert_eq!(listed.session.title.as_deref(), wanted["title"].as_str());
        assert_eq!(listed.session.source, wanted["source"]);
        // Theirs still counts messages that were taken back.
        let rewound = listed.session.id.as_str() == "20250616_021320_5ee5ee";
        let count = if rewound {
            4
        } else {
            wanted["message_count"].as_u64().unwrap()
        };
        assert_eq!(listed.session.message_count, count, "{}", listed.session.id);
        if let Some(root) = wanted["_lineage_root_id"].as_str() {
            assert_eq!(listed.root.as_str(), root);
        }
    }
}

// LN-16, LN-17, CL-5
#[test]
fn finds_what_the_reference_finds() {
    let fixture = Fixture::new();
    import(&fixture, &database(&fixture, 22));
    let golden = expected("store.json");
    // Left out: hits inside the JSON of tool calls, which we do not index, and the queries its own
    // parser trips over (a lone NOT, pictures hidden behind NUL).
    for query in [
        "zebras",
        "giraffes",
        "regret",
        "stripes OR necks",
        "\"long necks\"",
        "chat-send",
        "my-app.config.ts",
        "snake_case_name",
        "天気",
        "今日の天気",
        "大規模言語モデル",
        "검색",
        "café",
        "cafe",
        "Refactor",
        "pixel",
        "dict content",
        "",
        "*",
        "AND",
    ] {
        let hits = golden["search_messages"][query].as_array().unwrap();
        let mut wanted: Vec<_> = hits.iter().map(|hit| hit["id"].as_i64().unwrap()).collect();
        let mut found: Vec<_> = fixture.found(query).into_iter().map(|id| id.0).collect();
        wanted.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, wanted, "{query}");
    }
}

// LN-20, LN-21, CL-5
#[test]
fn resolves_ids_and_titles_as_the_reference_does() {
    let fixture = Fixture::new();
    import(&fixture, &database(&fixture, 22));
    let golden = expected("store.json");
    let pairs = |name: &str| golden[name].as_object().unwrap().clone();
    for (wanted, tip) in pairs("resolve_resume") {
        let found = fixture.store.resolve(&wanted).wait().unwrap();
        assert_eq!(Some(found.as_str()), tip.as_str(), "{wanted}");
    }
    for (wanted, expected) in pairs("resolve_by_title")
        .into_iter()
        .chain(pairs("resolve_id"))
    {
        let found = fixture.store.resolve_exact(&wanted).wait().ok();
        assert_eq!(
            found.as_ref().map(|id| id.as_str()),
            expected.as_str(),
            "{wanted}"
        );
    }
    for (title, next) in pairs("next_title") {
        assert_eq!(
            fixture.store.next_title(&title).wait().unwrap(),
            next.as_str().unwrap(),
            "{title}"
        );
    }
    for (session, chain) in pairs("lineage") {
        let found = fixture.store.lineage(&id(&session)).wait().unwrap();
        let found: Vec<_> = found.iter().map(|id| id.as_str()).collect();
        let chain: Vec<_> = chain
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Json::as_str)
            .collect();
        assert_eq!(found, chain, "{session}");
    }
}

// LN-19
#[test]
fn flags_of_compacted_and_rewound_messages_come_over() {
    let fixture = Fixture::new();
    import(&fixture, &database(&fixture, 22));
    let states = |session: &str| -> Vec<Visibility> {
        let rows = fixture.store.all_records(&id(session)).wait().unwrap();
        rows.into_iter().map(|row| row.visibility).collect()
    };
    assert!(states("20250615_204000_c0ffee").contains(&Visibility::Compacted));
    assert!(states("20250616_021320_5ee5ee").contains(&Visibility::Rewound));
}

// LN-11
#[test]
fn a_second_import_brings_only_what_is_new_or_changed() {
    let fixture = Fixture::new();
    let path = database(&fixture, 22);
    let first = import(&fixture, &path);
    let again = import(&fixture, &path);
    assert_eq!(
        (again.sessions_new, again.sessions_changed, again.messages),
        (0, 0, 0)
    );
    let theirs = rusqlite::Connection::open(&path).unwrap();
    theirs
        .execute_batch(
            "INSERT INTO messages (session_id, role, content, timestamp) \
               VALUES ('20250615_150640_a1b2c3', 'user', 'one more thing about pangolins', 1750100000.5);
             UPDATE sessions SET title = 'Renamed there' WHERE id = '20250615_150640_a1b2c3';
             UPDATE messages SET active = 0 WHERE id = (SELECT min(id) FROM messages WHERE session_id = '20250616_164000_100006');
             INSERT INTO sessions (id, source, started_at) VALUES ('20260101_000000_ffffff', 'cli', 1767225600.0);",
        )
        .unwrap();
    drop(theirs);
    let third = import(&fixture, &path);
    assert_eq!(
        (third.sessions_new, third.sessions_changed, third.messages),
        (1, 2, 1)
    );
    assert_eq!(fixture.found("pangolins").len(), 1);
    let renamed = fixture
        .store
        .session(&id("20250615_150640_a1b2c3"))
        .wait()
        .unwrap()
        .unwrap();
    assert_eq!(renamed.title.as_deref(), Some("Renamed there"));
    let hidden = fixture
        .store
        .all_records(&id("20250616_164000_100006"))
        .wait()
        .unwrap();
    assert_eq!(hidden[0].visibility, Visibility::Rewound);
    assert_eq!(
        fixture.store.stats().wait().unwrap().messages,
        first.messages + 1
    );
}

// LN-11
#[test]
fn a_session_continued_here_keeps_what_was_added() {
    let fixture = Fixture::new();
    let path = database(&fixture, 22);
    import(&fixture, &path);
    let session = id("20250615_150640_a1b2c3");
    let before = fixture.texts(&session).len();
    fixture.say(&session, &["continued with the new program"]);
    fixture.store.rename(&session, "Mine now").wait().unwrap();
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("UPDATE sessions SET title = 'Theirs' WHERE id = '20250615_150640_a1b2c3'")
        .unwrap();
    import(&fixture, &path);
    assert_eq!(fixture.texts(&session).len(), before + 1);
    assert_eq!(
        fixture
            .store
            .session(&session)
            .wait()
            .unwrap()
            .unwrap()
            .title
            .as_deref(),
        Some("Mine now")
    );
}

// LN-11, LN-13
#[test]
fn an_import_that_was_stopped_goes_on_where_it_stopped() {
    let fixture = Fixture::new();
    let path = fixture.path("state.db");
    one_long_session(&path, 1700);
    let stopped = fixture
        .store
        .import_reference(&path, |_| ControlFlow::Break(()))
        .unwrap();
    assert!(stopped.stopped);
    assert_eq!(stopped.messages, 500);
    let rest = import(&fixture, &path);
    assert_eq!(rest.messages, 1200);
    assert_eq!(
        fixture.texts(&id("s")).len(),
        1700,
        "nothing doubled, nothing lost"
    );
    assert!(fixture.store.check().wait().unwrap().is_clean());
}

// LN-11: the front goes on while the import runs, and dropping it only puts the rest off.
#[test]
fn an_import_in_the_background_holds_nobody_up() {
    const MESSAGES: usize = 30_000;
    let fixture = Fixture::new();
    let path = fixture.path("state.db");
    one_long_session(&path, MESSAGES);
    let running = fixture
        .store
        .import_in_background(path.clone())
        .expect("a thread");
    let mine = id("20260101_000000_abcdef");
    let new = hermes_store::NewSession::new(mine.clone(), "cli");
    fixture.store.create_session(new).wait().unwrap();
    for number in 0..20 {
        let row = hermes_store::NewRecord::text(hermes_core::Role::User, format!("mine {number}"));
        fixture.store.append(&mine, vec![row]).wait().unwrap();
    }
    assert_eq!(fixture.texts(&mine).len(), 20);
    assert!(!running.is_finished(), "the rows above did not wait for it");
    assert!(running.progress().messages_done < MESSAGES as u64);
    drop(running);

    let before = fixture.texts(&id("s")).len();
    assert!(before < MESSAGES, "dropping it stops it: {before}");
    let rest = fixture
        .store
        .import_in_background(path)
        .expect("a thread")
        .wait()
        .unwrap();
    assert_eq!(rest.messages as usize, MESSAGES - before);
    assert_eq!(fixture.texts(&id("s")).len(), MESSAGES);
}

fn one_long_session(path: &Path, messages: usize) {
    rusqlite::Connection::open(path)
        .unwrap()
        .execute_batch(&format!(
            "CREATE TABLE schema_version (version INTEGER); INSERT INTO schema_version VALUES (22);
             CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, parent_session_id TEXT, model_config TEXT, started_at REAL, title TEXT);
             CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL, active INT DEFAULT 1, compacted INT DEFAULT 0);
             INSERT INTO sessions VALUES ('s', 'cli', NULL, NULL, 1.0, NULL);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {messages})
             INSERT INTO messages SELECT i, 's', 'user', 'message ' || i, i * 1.0, 1, 0 FROM n;"
        ))
        .unwrap();
}

// LN-22
#[test]
fn a_session_deleted_here_does_not_come_back() {
    let fixture = Fixture::new();
    let path = database(&fixture, 22);
    assert!(fixture.store.import_is_due(&path).unwrap());
    import(&fixture, &path);
    assert!(
        !fixture.store.import_is_due(&path).unwrap(),
        "nothing changed"
    );
    let session = id("20250615_150640_a1b2c3");
    fixture.store.delete_session(&session).wait().unwrap();
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch(
            "UPDATE sessions SET title = 'Still here' WHERE id = '20250615_150640_a1b2c3'",
        )
        .unwrap();
    assert!(fixture.store.import_is_due(&path).unwrap());
    import(&fixture, &path);
    assert_eq!(fixture.store.session(&session).wait().unwrap(), None);
    assert!(fixture.store.check().wait().unwrap().is_clean());
}

#[test]
fn other_files_are_refused_with_a_reason() {
    let fixture = Fixture::new();
    let refuse = |path: &Path| {
        fixture
            .store
            .import_reference(path, |_| ControlFlow::Continue(()))
            .unwrap_err()
    };
    assert!(matches!(
        refuse(&fixture.path("absent.db")),
        StoreError::BadImport { .. }
    ));
    std::fs::write(
        fixture.path("text.db"),
        "not a database at all, only some words".repeat(50),
    )
    .unwrap();
    assert!(matches!(
        refuse(&fixture.path("text.db")),
        StoreError::NotADatabase { .. }
    ));
    let other = fixture.path("other.db");
    rusqlite::Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE x (y)")
        .unwrap();
    assert!(matches!(refuse(&other), StoreError::BadImport { .. }));
}

// LN-13
#[test]
fn a_lost_record_of_the_import_doubles_nothing() {
    let fixture = Fixture::new();
    let path = database(&fixture, 22);
    import(&fixture, &path);
    let before = fixture.store.stats().wait().unwrap().messages;
    fixture.sql("PRAGMA foreign_keys = OFF; DELETE FROM imported_sessions; UPDATE sessions SET import_id = NULL; DELETE FROM imports;");
    let theirs = rusqlite::Connection::open(&path).unwrap();
    theirs
        .execute_batch(
            "INSERT INTO messages (session_id, role, content, timestamp) \
               VALUES ('20250615_150640_a1b2c3', 'user', 'a late word about okapis', 1750100000.5)",
        )
        .unwrap();
    drop(theirs);
    import(&fixture, &path);
    assert_eq!(fixture.store.stats().wait().unwrap().messages, before + 1);
    assert_eq!(fixture.found("okapis").len(), 1);
}
