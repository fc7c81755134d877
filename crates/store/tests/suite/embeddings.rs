//! Vectors of messages: made bit by bit, found by likeness, gone with their messages.

use hermes_core::MessageId;
use hermes_store::{NewRecord, SearchFilter, Unembedded};

use super::fixture::Fixture;

const MODEL: &str = "small:1";

/// Makes the vectors that are missing, as `meaning` has them, and answers which were asked for.
fn fill(fixture: &Fixture, model: &str, meaning: impl Fn(&str) -> Vec<f32>) -> Vec<MessageId> {
    let mut asked = Vec::new();
    loop {
        let Unembedded { texts, reach } = fixture.store.unembedded(model, 2).wait().unwrap();
        let Some(reach) = reach else { return asked };
        asked.extend(texts.iter().map(|(id, _)| *id));
        let vectors = texts
            .iter()
            .map(|(id, text)| (*id, meaning(text)))
            .collect();
        let kept = fixture.store.keep_embeddings(model, reach, vectors);
        kept.wait().unwrap();
    }
}

/// Cars and roofs; everything else means nothing.
fn meaning(text: &str) -> Vec<f32> {
    let has = |words: &[&str]| f32::from(u8::from(words.iter().any(|word| text.contains(word))));
    let parts = [has(&["car", "vehicle"]), has(&["roof", "shingles"]), 0.0];
    let length = parts.iter().map(|part| part * part).sum::<f32>().sqrt();
    parts.iter().map(|part| part / length.max(1.0)).collect()
}

fn alike(fixture: &Fixture, vector: [f32; 3], filter: SearchFilter) -> Vec<MessageId> {
    let found = fixture
        .store
        .search_alike(MODEL, vector.to_vec(), "car", filter, 10);
    found
        .wait()
        .unwrap()
        .into_iter()
        .map(|hit| hit.message)
        .collect()
}

#[test]
fn what_was_said_last_is_looked_at_first_and_nothing_twice() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let old = fixture.say(&session, &["one", "two", "three", "", "five"]);
    assert_eq!(fixture.store.embeddings_missing(MODEL).wait().unwrap(), 4);
    let first = fixture.store.unembedded(MODEL, 2).wait().unwrap();
    let ids: Vec<_> = first.texts.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, [old[4], old[2]], "newest first, empty ones left out");
    let vectors = first
        .texts
        .iter()
        .map(|(id, text)| (*id, meaning(text)))
        .collect();
    let kept = fixture
        .store
        .keep_embeddings(MODEL, first.reach.unwrap(), vectors);
    kept.wait().unwrap();
    assert_eq!(fixture.store.embeddings_missing(MODEL).wait().unwrap(), 2);
    // What is said meanwhile comes before the rest of the past.
    let new = fixture.say(&session, &["six", "seven", "eight"]);
    let rest = fill(&fixture, MODEL, meaning);
    assert_eq!(rest, [new[0], new[1], new[2], old[1], old[0]]);
    assert_eq!(fixture.store.embeddings_missing(MODEL).wait().unwrap(), 0);
    assert!(fill(&fixture, MODEL, meaning).is_empty());
    // Another process that opens the file knows as much.
    let again = fixture.reopen().unembedded(MODEL, 2).wait().unwrap();
    assert_eq!(again.reach, None);
}

#[test]
fn the_output_of_tools_and_what_was_taken_back_have_no_vectors() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let ids = fixture.say(&session, &["my car", "noted", "my roof", "noted too"]);
    let tool = NewRecord {
        role: "tool".to_owned(),
        content: Some("a car in a listing".to_owned()),
        ..NewRecord::default()
    };
    fixture.store.append(&session, vec![tool]).wait().unwrap();
    fixture.store.rewind(&session, ids[2]).wait().unwrap();
    assert_eq!(fill(&fixture, MODEL, meaning), [ids[1], ids[0]]);
}

#[test]
fn the_likest_come_first_within_the_filter() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.session("one"), fixture.session_of("two", "cron"));
    let mut ids = fixture.say(
        &one,
        &["my car", "a car under a roof", "only shingles", "hm"],
    );
    ids.extend(fixture.say(&two, &["the vehicle"]));
    fill(&fixture, MODEL, meaning);
    let car = [1.0, 0.0, 0.0];
    assert_eq!(
        alike(&fixture, car, SearchFilter::default()),
        [ids[4], ids[0], ids[1]]
    );
    let hidden = SearchFilter {
        hidden_sources: vec!["cron".to_owned()],
        roles: vec!["user".to_owned()],
        ..SearchFilter::default()
    };
    assert_eq!(alike(&fixture, car, hidden), [ids[0]]);
    // A vector of another size, or of another model, is like nothing.
    let store = &fixture.store;
    let found = store.search_alike(MODEL, vec![1.0], "car", SearchFilter::default(), 9);
    assert!(found.wait().unwrap().is_empty());
    let found = store.search_alike("other:2", car.to_vec(), "car", SearchFilter::default(), 9);
    assert!(found.wait().unwrap().is_empty());
    // With the message goes its vector.
    store.delete_session(&two).wait().unwrap();
    assert_eq!(
        alike(&fixture, car, SearchFilter::default()),
        [ids[0], ids[1]]
    );
    assert!(store.check().wait().unwrap().is_clean());
}

#[test]
fn another_model_begins_anew_and_replaces_the_vectors() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let ids = fixture.say(&session, &["my car", "a roof"]);
    fill(&fixture, MODEL, meaning);
    assert_eq!(fill(&fixture, "other:2", |_| vec![1.0]), [ids[1], ids[0]]);
    assert!(alike(&fixture, [1.0, 0.0, 0.0], SearchFilter::default()).is_empty());
    // And back again: the first model's are gone, which it knows.
    assert_eq!(fill(&fixture, MODEL, meaning), [ids[1], ids[0]]);
    assert_eq!(
        alike(&fixture, [1.0, 0.0, 0.0], SearchFilter::default()),
        [ids[0]]
    );
}

#[test]
fn a_message_deleted_while_its_vector_is_made_is_passed_over() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    fixture.say(&session, &["my car"]);
    let next = fixture.store.unembedded(MODEL, 2).wait().unwrap();
    fixture.store.delete_session(&session).wait().unwrap();
    let vectors = next
        .texts
        .iter()
        .map(|(id, text)| (*id, meaning(text)))
        .collect();
    let kept = fixture
        .store
        .keep_embeddings(MODEL, next.reach.unwrap(), vectors);
    kept.wait().unwrap();
    assert!(fixture.store.check().wait().unwrap().is_clean());
}
