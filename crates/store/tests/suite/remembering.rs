//! Facts, and what an external memory is still to be told.

use hermes_store::{FactFilter, KeepCopy, MOST_DELIVERIES, NewFact, repair};

use super::fixture::Fixture;

fn fact(content: &str, entities: &[&str]) -> NewFact {
    NewFact {
        content: content.to_owned(),
        category: "general".to_owned(),
        tags: "drink".to_owned(),
        entities: entities.iter().map(|name| (*name).to_owned()).collect(),
        trust: 0.5,
    }
}

fn few() -> FactFilter {
    FactFilter {
        most: 10,
        ..FactFilter::default()
    }
}

// LN-37
#[test]
fn what_waits_is_bounded_and_says_whether_it_was_begun() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let all = 0..MOST_DELIVERIES + 5;
    let queued: Vec<_> = all
        .map(|number| store.queue_memory_delivery("mem0", number.to_string()))
        .collect();
    let gone = queued.into_iter().map(|one| one.wait().unwrap());
    assert_eq!(gone.sum::<u64>(), 5);
    store
        .queue_memory_delivery("honcho", "other".to_owned())
        .wait()
        .unwrap();
    let backlog = store.memory_backlog("mem0").wait().unwrap();
    assert_eq!(backlog.waiting, MOST_DELIVERIES as u64);
    let begin = || {
        store
            .begin_memory_delivery("mem0", 0)
            .wait()
            .unwrap()
            .unwrap()
    };
    let first = begin();
    assert_eq!((first.body.as_str(), first.begun), ("5", false));
    // Another process finds it as a killed one left it.
    let other = fixture.reopen();
    let again = other
        .begin_memory_delivery("mem0", 0)
        .wait()
        .unwrap()
        .unwrap();
    assert_eq!((again.id, again.begun), (first.id, true));
    store.put_memory_delivery_back(first.id).wait().unwrap();
    let back = begin();
    assert_eq!((back.begun, back.attempts), (false, 1));
    store.doubt_memory_delivery(first.id).wait().unwrap();
    assert_eq!((begin().begun, begin().attempts), (true, 2));
    store.end_memory_delivery(first.id).wait().unwrap();
    assert_eq!(begin().body, "6");
    assert!(!store.memory_is_marked("files").wait().unwrap());
    store.mark_memory("files").wait().unwrap();
    store.mark_memory("files").wait().unwrap();
    assert!(store.memory_is_marked("files").wait().unwrap());
}

// LN-39
#[test]
fn facts_survive_a_repair_and_are_found_again() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    store
        .add_fact(fact("Ana drinks tea.", &["Ana"]))
        .wait()
        .unwrap();
    store.add_fact(fact("Gone.", &["Ana"])).wait().unwrap();
    store.remove_fact(2).wait().unwrap();
    fixture.sql("INSERT INTO facts_search (facts_search) VALUES ('delete-all')");
    assert_eq!(store.search_facts("tea", few()).wait().unwrap().len(), 0);
    // A poor index of messages makes all of them anew.
    fixture.sql("INSERT INTO search (rowid, terms) VALUES (99, 'stale')");
    let path = fixture.path("hermes.db");
    let options = fixture.options();
    drop(fixture.store);
    repair(&path, "1", KeepCopy::No).unwrap();
    let store = hermes_store::Store::open(options).unwrap();
    let found = store.search_facts("TEA drink", few()).wait().unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].entities, ["ana"]);
    assert_eq!(store.facts_about("ANA", few()).wait().unwrap().len(), 1);
}

// LN-39
#[test]
fn facts_of_the_reference_are_brought_over_and_its_file_is_left_as_it_is() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let file = fixture.path("memory_store.db");
    assert_eq!(store.import_facts(&file).unwrap(), None, "there is none");
    let theirs = rusqlite::Connection::open(&file).unwrap();
    theirs
        .execute_batch(
            "CREATE TABLE facts (fact_id INTEGER PRIMARY KEY, content TEXT NOT NULL UNIQUE, category TEXT, tags TEXT,
               trust_score REAL, retrieval_count INTEGER, helpful_count INTEGER, created_at TIMESTAMP,
               updated_at TIMESTAMP, hrr_vector BLOB);
             CREATE TABLE entities (entity_id INTEGER PRIMARY KEY, name TEXT NOT NULL);
             CREATE TABLE fact_entities (fact_id INTEGER, entity_id INTEGER);
             INSERT INTO facts VALUES (4, 'Ana drinks tea.', 'user_pref', 'drink', 0.8, 7, 2,
               '2026-01-02 03:04:05', '2026-01-03 00:00:00', x'00');
             INSERT INTO facts VALUES (5, 'Bob is here.', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
             INSERT INTO facts VALUES (6, 'Known.', 'general', '', 0.1, 0, 0, NULL, NULL, NULL);
             INSERT INTO entities VALUES (1, 'Ana'), (2, 'Bob');
             INSERT INTO fact_entities VALUES (4, 1), (5, 2);",
        )
        .unwrap();
    drop(theirs);
    store.add_fact(fact("Known.", &[])).wait().unwrap();
    let before = std::fs::read(&file).unwrap();
    assert_eq!(store.import_facts(&file).unwrap(), Some(2));
    assert_eq!(store.import_facts(&file).unwrap(), Some(0), "only once");
    assert_eq!(std::fs::read(&file).unwrap(), before);
    assert!(!fixture.path("memory_store.db-wal").exists());
    let found = store.search_facts("tea", few()).wait().unwrap();
    let tea = &found[0];
    assert_eq!(
        (tea.trust, tea.recalled, tea.helpful, tea.category.as_str()),
        (0.8, 7, 2, "user_pref")
    );
    assert_eq!(
        (tea.created_at, tea.updated_at),
        (1_767_323_045.0, 1_767_398_400.0)
    );
    assert_eq!(tea.entities, ["ana"]);
    let bob = store.facts_about("bob", few()).wait().unwrap();
    assert_eq!((bob[0].trust, bob[0].category.as_str()), (0.5, "general"));
    let known = store.search_facts("known", few()).wait().unwrap();
    assert_eq!(known[0].trust, 0.5, "what is here stays as it is");
    std::fs::write(&file, "no database at all").unwrap();
    let refused = store.import_facts(&file).unwrap_err();
    assert!(refused.to_string().contains("memory_store.db"), "{refused}");
}
