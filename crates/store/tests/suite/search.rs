//! What search finds, and what it must not find.

use proptest::prelude::*;

use hermes_core::{Media, MediaSource, Message, Part, Role};
use hermes_store::{NewRecord, SearchFilter, SearchOrder};

use super::fixture::Fixture;

/// Every query must find exactly the texts it is paired with, by position.
#[track_caller]
fn check(texts: &[&str], cases: &[(&str, &[usize])]) {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let ids = fixture.say(&session, texts);
    for (query, expected) in cases {
        let mut found: Vec<usize> = fixture
            .found(query)
            .into_iter()
            .map(|found| ids.iter().position(|id| *id == found).unwrap())
            .collect();
        found.sort_unstable();
        assert_eq!(found, *expected, "query: {query}");
    }
}

// LN-16
#[test]
fn finds_words_phrases_prefixes_and_identifiers() {
    check(
        &[
            "Deploy the gateway with docker-compose on port 8080",
            "The function parse_config_file reads config.yaml",
            "a gateway to deploy: with care",
            "Version v1.2.3 fixed foo-bar, not foo bar baz",
            "Crème brûlée für die Straße",
        ],
        &[
            ("gateway", &[0, 2]),
            ("\"deploy the gateway\"", &[0]),
            ("gate*", &[0, 2]),
            ("docker-compose", &[0]),
            ("parse_config_file", &[1]),
            ("parse_config", &[1]),
            ("config.yaml", &[1]),
            ("v1.2.3", &[3]),
            ("foo-bar", &[3]),
            ("creme BRULEE", &[4]),
            ("strasse", &[4]),
            ("docker NOT gateway", &[]),
            ("docker OR brûlée", &[0, 4]),
            ("gateway AND port", &[0]),
            ("gateway NOT port", &[2]),
            ("absent", &[]),
        ],
    );
}

// LN-17
#[test]
fn finds_short_words_in_scripts_without_spaces() {
    check(
        &[
            "我昨天在北京大学学习了三个小时",
            "用Docker部署服务很方便",
            "東京タワーに行きました。カメラを忘れた",
            "서울에서 회의를 했습니다",
            "北海道の大学",
            "我喜欢茶",
            "ภาษาไทยไม่มีช่องว่าง",
        ],
        &[
            ("北京", &[0]),
            ("大学", &[0, 4]),
            ("北京大学", &[0]),
            ("茶", &[5]),
            ("我", &[0, 5]),
            ("部署", &[1]),
            ("docker", &[1]),
            ("Docker部署", &[1]),
            ("Docker 部署", &[1]),
            ("東京", &[2]),
            ("タワー", &[2]),
            ("カメ", &[2]),
            ("서울", &[3]),
            ("회의", &[3]),
            ("京大", &[0]),
            ("ไทย", &[6]),
        ],
    );
}

// LN-16
#[test]
fn settles_for_part_of_the_words_only_when_nothing_has_them_all() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let ids = fixture.say(
        &session,
        &["the red balloon", "a blue balloon", "the zebra crossed"],
    );
    assert_eq!(
        fixture.found("zebra balloon parade").first(),
        Some(&ids[2]),
        "the rare word tells most"
    );
}

// LN-16
#[test]
fn recent_messages_win_between_equals() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let old = fixture.say(&session, &["release checklist for the parser"])[0];
    fixture
        .clock
        .advance(std::time::Duration::from_secs(200 * 86_400));
    let new = fixture.say(&session, &["release checklist for the parser"])[0];
    assert_eq!(fixture.found("release checklist"), [new, old]);
}

// LN-19
#[test]
fn taken_back_messages_are_gone_and_compacted_ones_stay() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let ids = fixture.say(
        &session,
        &[
            "alpha question",
            "alpha answer",
            "beta question",
            "beta answer",
        ],
    );
    fixture.store.rewind(&session, ids[2]).wait().unwrap();
    assert_eq!(fixture.found("beta"), []);
    assert_eq!(fixture.found("alpha").len(), 2);
    let summary = vec![NewRecord::text(Role::Assistant, "summary of it")];
    fixture
        .store
        .compact(&session, ids[..2].to_vec(), summary)
        .wait()
        .unwrap();
    assert_eq!(
        fixture.found("alpha").len(),
        2,
        "compacted text is still found"
    );
    assert_eq!(fixture.texts(&session), ["summary of it"]);
}

// LN-18
#[test]
fn messages_with_pictures_are_found_by_their_words() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let picture = vec![7_u8; 2 * 1024 * 1024];
    let before = fixture.store.stats().wait().unwrap().database_bytes;
    let hash = fixture.store.blobs().put(&picture).unwrap();
    let message = Message {
        role: Role::User,
        parts: vec![
            Part::Text {
                text: "what is on this photograph?".to_owned(),
            },
            Part::Media(Media {
                mime: "image/png".to_owned(),
                source: MediaSource::Blob(hash.clone()),
                name: None,
            }),
        ],
        raw: None,
    };
    let id = fixture
        .store
        .append(&session, vec![NewRecord::from(&message)])
        .wait()
        .unwrap()[0];
    assert_eq!(fixture.found("photograph"), [id]);
    let grown = fixture.store.stats().wait().unwrap().database_bytes - before;
    assert!(grown < 5 * 1024, "the database grew by {grown} bytes");
    let stored = fixture.store.history(&session).wait().unwrap().remove(0);
    assert_eq!(stored.to_message(), message);
    assert_eq!(fixture.store.blobs().get(&hash).unwrap(), picture);
}

#[test]
fn filters_by_source_and_role() {
    let fixture = Fixture::new();
    let chat = fixture.session_of("chat", "telegram");
    let job = fixture.session_of("job", "cron");
    let said = fixture.say(&chat, &["report please", "report follows"]);
    let ran = fixture.say(&job, &["report run"]);
    let search = |filter: SearchFilter| -> Vec<_> {
        let hits = fixture
            .store
            .search("report", filter, SearchOrder::Newest, 10)
            .wait()
            .unwrap();
        hits.into_iter().map(|hit| hit.message).collect()
    };
    let only = |source: &str| SearchFilter {
        sources: vec![source.to_owned()],
        ..SearchFilter::default()
    };
    assert_eq!(search(only("cron")), [ran[0]]);
    assert_eq!(search(only("telegram")), [said[1], said[0]]);
    let users = SearchFilter {
        roles: vec!["user".to_owned()],
        ..SearchFilter::default()
    };
    assert_eq!(search(users), [ran[0], said[0]]);
    let hidden = SearchFilter {
        hidden_sources: vec!["cron".to_owned()],
        ..SearchFilter::default()
    };
    assert_eq!(search(hidden), [said[1], said[0]]);
    // Relevance puts the job behind the chats although it is newer.
    assert_eq!(fixture.found("report").last(), Some(&ran[0]));
}

// LN-15
#[test]
fn a_lost_index_is_noticed_and_rebuilt_from_the_messages() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let ids = fixture.say(&session, &["needle one", "北京 needle", "!!!"]);
    assert!(fixture.store.check().wait().unwrap().is_clean());
    fixture.sql("DELETE FROM search WHERE rowid = 1; INSERT INTO search (rowid, terms) VALUES (999, 'ghost');");
    let check = fixture.store.check().wait().unwrap();
    assert_eq!((check.unindexed, check.stale), (1, 1));
    assert_eq!(fixture.store.reindex().wait().unwrap(), 2);
    assert!(fixture.store.check().wait().unwrap().is_clean());
    let mut found = fixture.found("needle");
    found.sort_unstable();
    assert_eq!(found, ids[..2]);
}

// LN-15
#[test]
fn deleting_a_session_removes_it_from_search() {
    let fixture = Fixture::new();
    let (keep, gone) = (fixture.session("keep"), fixture.session("gone"));
    let kept = fixture.say(&keep, &["shared word"]);
    fixture.say(&gone, &["shared word"]);
    fixture.store.delete_session(&gone).wait().unwrap();
    assert_eq!(fixture.found("shared"), kept);
    assert!(fixture.store.check().wait().unwrap().is_clean());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    // LN-16
    #[test]
    fn no_query_is_an_error(queries in prop::collection::vec(r#"[\PC"'*()^:+{}&|!~\-]{0,40}"#, 1250)) {
        let fixture = Fixture::new();
        let session = fixture.session("s");
        fixture.say(&session, &["some text to look through", "還有 一些 文字 and more"]);
        for query in queries {
            fixture.found(&query);
            fixture.found(&format!("some {query} OR NOT \"{query}"));
        }
    }
}

// LN-16
#[test]
fn tool_results_are_found_by_the_name_of_the_tool() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let row = NewRecord {
        tool_name: Some("read_file".to_owned()),
        ..NewRecord::text(Role::Tool, "some content")
    };
    let id = fixture.store.append(&session, vec![row]).wait().unwrap()[0];
    assert_eq!(fixture.found("read_file"), [id]);
    assert!(fixture.store.check().wait().unwrap().is_clean());
    fixture.store.reindex().wait().unwrap();
    assert_eq!(fixture.found("read_file content"), [id]);
}

// LN-16
#[test]
fn an_old_phrase_is_found_behind_any_number_of_messages_with_its_words() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let old = fixture.say(
        &session,
        &[
            "there was an old server in the cellar",
            "set OLD_SERVER first",
            "快递到达服务器",
        ],
    );
    let apart = vec!["the server is old"; 12_500];
    let dense = vec!["服务，到达，务器，达服"; 12_500];
    fixture.say(&session, &apart);
    fixture.say(&session, &apart);
    fixture.say(&session, &dense);
    fixture.say(&session, &dense);
    for (query, expected) in [
        ("\"old server\"", &old[..2]),
        ("old_server", &old[..2]),
        ("\"server in the cellar\"", &old[..1]),
        ("到达服务器", &old[2..]),
    ] {
        let hits = fixture
            .store
            .search(query, SearchFilter::default(), SearchOrder::Newest, 5)
            .wait()
            .unwrap();
        assert!(!hits.stopped_early, "{query}");
        let found: Vec<_> = hits.into_iter().rev().map(|hit| hit.message).collect();
        assert_eq!(found, expected, "{query}");
    }
}
