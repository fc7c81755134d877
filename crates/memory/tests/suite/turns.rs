//! Turns are told of once, those a compaction drops not later than then, and those that are taken back not at all.

use hermes_core::{MessageId, SessionId};
use hermes_memory::{Delivery, Errand, Exchange, External, Provider};
use hermes_testkit::memory_service::{Asked, MemoryService};
use serde_json::{Value as Json, json};

use super::external::{Place, SESSION, scene};
use super::honcho;
use super::honcho_settings::emptied;

fn mem0() -> MemoryService {
    let service = MemoryService::start(Some(("x-api-key", "m0-key-123456"))).unwrap();
    service
        .on("POST /search", json!({"results": []}))
        .on("POST /memories", json!({"results": []}))
        .on("DELETE /memories/*", json!({"message": "ok"}));
    service
}

fn kept(place: &Place, service: &MemoryService) -> External {
    let address = service.url();
    let variables = [
        ("MEM0_API_KEY", "m0-key-123456"),
        ("MEM0_HOST", address.as_str()),
    ];
    place.kept(place.provider("mem0", "default", &variables), "mem0")
}

fn openviking(place: &Place, service: &MemoryService) -> External {
    let address = service.url();
    let variables = [("OPENVIKING_ENDPOINT", address.as_str())];
    let provider = place.provider("openviking", "default", &variables);
    place.kept(provider, "openviking")
}

fn first_words(told: &[Asked]) -> Vec<&Json> {
    let messages = told.iter().map(|told| &told.body["messages"][0]["content"]);
    messages.collect()
}

// LN-37: what a compaction drops was heard by then, and nothing is heard twice.
#[tokio::test]
async fn before_a_conversation_is_shortened_only_what_was_never_told_is() {
    let (place, service) = (Place::new(), mem0());
    let at = scene(place.folder.path());
    let turns = ["one", "two", "three"].map(|said| place.turn(said, "so be it"));
    let external = kept(&place, &service);
    external.said(at.clone(), turns[1].clone()).await;
    external.said(at.clone(), turns[1].clone()).await;
    external.shortens(at.clone(), turns.to_vec()).await;
    external.shortens(at.clone(), turns.to_vec()).await;
    let nowhere = Exchange {
        row: MessageId(99),
        ..turns[0].clone()
    };
    external.said(at.clone(), nowhere).await;
    external.close().await;
    // Another program knows as well what was told.
    let later = kept(&place, &service);
    later.shortens(at, turns.to_vec()).await;
    later.close().await;
    let told = service.to("POST /memories");
    assert_eq!(first_words(&told), ["two", "one", "three"]);
    assert_eq!(service.unexpected(), Vec::<String>::new());
}

// LN-37, LN-38, LN-39
#[tokio::test]
async fn what_is_held_back_and_what_waits_for_a_word_goes_before_a_conversation_is_shortened() {
    let (place, service) = (Place::new(), honcho::service());
    let at = scene(place.folder.path());
    let settings = json!({"writeFrequency": "session"});
    let external = place.kept(honcho::honcho(&place, &service, settings), "honcho");
    external.said(at.clone(), place.turn("one", "1")).await;
    external.shortens(at.clone(), Vec::new()).await;
    emptied(&external).await;
    external.close().await;

    let service = MemoryService::start(None).unwrap();
    service
        .on("POST /api/v1/sessions/*/messages/batch", json!({}))
        .on("POST /api/v1/sessions/*/commit", json!({}));
    let external = openviking(&place, &service);
    external.said(at.clone(), place.turn("two", "2")).await;
    external.shortens(at.clone(), Vec::new()).await;
    // Nothing was said since.
    external.shortens(at.clone(), Vec::new()).await;
    external.said(at.clone(), place.turn("three", "3")).await;
    external.ended(at).await;
    external.close().await;
    let lines = service.lines();
    let ends: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.rsplit('/').next())
        .collect();
    assert_eq!(ends, ["batch", "commit", "batch", "commit"]);
}

// LN-37
#[tokio::test]
async fn a_turn_that_is_taken_back_before_it_was_sent_is_never_sent() {
    let (place, service) = (Place::new(), mem0());
    let at = scene(place.folder.path());
    let (one, two) = (place.turn("one", "1"), place.turn("two", "2"));
    service.fail("/memories", 401, usize::MAX);
    let external = kept(&place, &service);
    external.said(at.clone(), one.clone()).await;
    external.said(at.clone(), two.clone()).await;
    external.close().await;
    let later = kept(&place, &service);
    later.taken_back(at.clone(), two).await;
    assert_eq!(later.backlog().await.unwrap().waiting, 1);
    service.mend();
    let before = service.to("POST /memories").len();
    later.said(at, place.turn("three", "3")).await;
    later.close().await;
    assert_eq!(
        first_words(&service.to("POST /memories")[before..]),
        ["one", "three"]
    );
    assert_eq!(service.to("POST /search").len(), 0, "nothing is looked for");
}

// LN-37, LN-39
#[tokio::test]
async fn a_turn_that_was_sent_is_forgotten_where_the_service_can() {
    let (place, service) = (Place::new(), mem0());
    let at = scene(place.folder.path());
    let external = kept(&place, &service);
    let turn = place.turn("I like tea.", "Noted.");
    external
        .taken_back(at.clone(), place.turn("zero", "0"))
        .await;
    external.said(at.clone(), turn.clone()).await;
    external.close().await;
    let told = service.to("POST /memories");
    let mark = told[0].body["metadata"]["hermes"].clone();
    let found = json!({"results": [
        {"id": "1", "memory": "Likes tea.", "metadata": {"hermes": mark}},
        {"id": "2", "memory": "Likes tea.", "metadata": {"hermes": "of another turn"}},
        {"id": "3", "memory": "Likes tea.", "metadata": null},
    ]});
    service.on("POST /search", found);
    let later = kept(&place, &service);
    later.taken_back(at.clone(), turn).await;
    later.close().await;
    assert_eq!(
        service.lines().split_off(1),
        ["POST /search", "DELETE /memories/1", "POST /search"]
    );
    assert_eq!(later.backlog().await.unwrap().waiting, 0);
}

fn taken_back() -> Delivery {
    Delivery {
        token: "fedcba9876543210".to_owned(),
        doubtful: false,
        scene: scene("/place/tea".as_ref()),
        errand: Errand::TakenBack {
            turn: "0123456789abcdef".to_owned(),
            user: "I like tea.".to_owned(),
            assistant: "Noted.".to_owned(),
        },
    }
}

async fn forgets(provider: &dyn Provider) {
    assert!(provider.manner().forgets);
    provider.deliver(&taken_back()).await.unwrap();
}

// LN-37, LN-39
#[tokio::test]
async fn hindsight_and_supermemory_remove_the_document_of_the_turn_also_when_it_comes_late() {
    let place = Place::new();
    for (name, address, key, line) in [
        (
            "hindsight",
            "HINDSIGHT_API_URL",
            "HINDSIGHT_API_KEY",
            format!("DELETE /v1/default/banks/hermes/documents/{SESSION}-0123456789abcdef"),
        ),
        (
            "supermemory",
            "SUPERMEMORY_BASE_URL",
            "SUPERMEMORY_API_KEY",
            format!("DELETE /v3/documents/{SESSION}_0123456789abcdef"),
        ),
    ] {
        let key_header = Some(("authorization", "Bearer key-123456"));
        let service = MemoryService::start(key_header).unwrap();
        service.on(&line, Json::Null);
        // The service has not taken it in yet.
        service.fail("/documents/", 404, 1);
        let url = service.url();
        let variables = [(address, url.as_str()), (key, "key-123456")];
        let provider = place.provider(name, "default", &variables).unwrap();
        forgets(&*provider).await;
        assert_eq!(service.lines(), [line.clone(), line], "{name}");
    }
}

// LN-37, LN-38, LN-39
#[tokio::test]
async fn openviking_is_asked_in_words_and_honcho_and_the_fact_store_are_left_alone() {
    let (place, service) = (Place::new(), MemoryService::start(None).unwrap());
    service.on("POST /api/v1/sessions/*/messages/batch", json!({}));
    let url = service.url();
    let variables = [("OPENVIKING_ENDPOINT", url.as_str())];
    let provider = place.provider("openviking", "default", &variables).unwrap();
    forgets(&*provider).await;
    let text = &service.asked()[0].body["messages"][0]["parts"][0]["text"];
    let text = text.as_str().unwrap();
    assert!(
        text.contains("took this back") && text.contains("I like tea."),
        "{text}"
    );

    let service = honcho::service();
    let honcho = honcho::honcho(&place, &service, json!({})).unwrap();
    let facts = place.provider("holographic", "default", &[]).unwrap();
    for provider in [honcho, facts] {
        assert!(!provider.manner().forgets);
        provider.deliver(&taken_back()).await.unwrap();
    }
    assert_eq!(service.lines(), Vec::<String>::new());
}

// LN-37
#[tokio::test]
async fn a_branch_does_not_take_back_what_its_origin_still_says() {
    let (place, service) = (Place::new(), mem0());
    let at = scene(place.folder.path());
    let external = kept(&place, &service);
    let turn = place.turn("one", "1");
    external.said(at.clone(), turn.clone()).await;
    let session = |name: &str| SessionId::try_from(name.to_owned()).unwrap();
    let (origin, branch) = (session(SESSION), session("20260101_000001_abcdef"));
    let last = place.store.history(&origin).await.unwrap().pop().unwrap();
    let branched = place.store.branch(&origin, last.id, branch.clone());
    branched.await.unwrap();
    let copy = Exchange {
        row: place.store.history(&branch).await.unwrap()[0].id,
        ..turn
    };
    external.shortens(at.clone(), vec![copy.clone()]).await;
    external.taken_back(at, copy).await;
    external.close().await;
    assert_eq!(
        service.lines(),
        ["POST /memories"],
        "nothing is told or taken back"
    );
}
