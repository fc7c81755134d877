//! What each setting of Honcho changes about what its service is asked.

use std::time::Duration;

use hermes_memory::{Delivery, Errand, External, Provider};
use hermes_testkit::memory_service::MemoryService;
use serde_json::{Value as Json, json};

use super::external::{Place, asked, scene};
use super::honcho::{KEY, honcho, service};

const SESSIONS: &str = "POST /v3/workspaces/*/sessions";
const MESSAGES: &str = "POST /v3/workspaces/*/sessions/*/messages";
const CONTEXT: &str = "GET /v3/workspaces/*/sessions/*/context";
const CHAT: &str = "POST /v3/workspaces/*/peers/*/chat";
/// Long enough for a loaded machine.
const LONG: Duration = Duration::from_secs(20);

fn turn() -> Delivery {
    Delivery {
        token: "0123456789abcdef".to_owned(),
        doubtful: false,
        scene: scene("/place/tea".as_ref()),
        errand: Errand::Turn {
            user: "Which tea?".to_owned(),
            assistant: "Earl Grey.".to_owned(),
        },
    }
}

/// One turn with everything in it: something recalled, a tool called, both sides told.
async fn spoken(provider: &dyn Provider) {
    provider.recall(&asked("Which tea?", 1)).await.unwrap();
    let arguments = json!({"query": "Who is Ana?", "reasoning_level": "max"});
    let at = scene("/place/tea".as_ref());
    provider
        .call(&at, "honcho_reasoning", &arguments)
        .await
        .unwrap();
    provider.deliver(&turn()).await.unwrap();
}

// LN-38
#[tokio::test]
async fn a_setting_shows_in_what_the_service_is_asked() {
    let both = json!({"observe_me": true, "observe_others": true});
    // What of the requests a setting is about.
    let told: fn(&MemoryService) -> Json = |service| json!(service.to(MESSAGES).len());
    let tokens: fn(&MemoryService) -> Json = |service| {
        let query = service.to(CONTEXT).remove(0).query;
        let tokens = query.split('&').find(|part| part.starts_with("tokens="));
        json!(tokens)
    };
    let level: fn(&MemoryService) -> Json =
        |service| service.to(CHAT).pop().unwrap().body["reasoning_level"].clone();
    let named: fn(&MemoryService) -> Json =
        |service| service.to(SESSIONS).remove(0).body["id"].clone();
    let watching: fn(&MemoryService) -> Json =
        |service| service.to(SESSIONS).remove(0).body["peers"].clone();
    for (settings, of, expected) in [
        (json!({}), told, json!(1)),
        (json!({"saveMessages": false}), told, json!(0)),
        (json!({}), tokens, Json::Null),
        (json!({"contextTokens": 321}), tokens, json!("tokens=321")),
        (json!({}), level, json!("max")),
        (json!({"dialecticDynamic": false}), level, json!("low")),
        (json!({}), named, json!("tea")),
        (
            json!({"sessionPeerPrefix": true, "peerName": "ana"}),
            named,
            json!("ana-tea"),
        ),
        (json!({}), watching, json!({"user": both, "hermes": both})),
        (
            json!({"observation": {"ai": {"observeOthers": false}, "user": {"observeMe": false}}}),
            watching,
            json!({
                "user": {"observe_me": false, "observe_others": true},
                "hermes": {"observe_me": true, "observe_others": false},
            }),
        ),
    ] {
        let (place, service) = (Place::new(), service());
        let made = honcho(&place, &service, settings.clone()).unwrap();
        spoken(&*made).await;
        assert_eq!(of(&service), expected, "{settings}");
        assert_eq!(service.unexpected(), Vec::<String>::new());
    }
}

// LN-38
#[tokio::test]
async fn variables_and_the_file_of_all_programs_are_heeded() {
    let (place, service) = (Place::new(), service());
    // What no profile says is taken from the file that all programs with Honcho share.
    let file = json!({
        "baseUrl": service.url(), "apiKey": KEY, "peerName": "ana",
        "hosts": {"desk": {"peerName": "boss"}},
    });
    place.write("user/.honcho/config.json", &file.to_string());
    for (host, workspace, user) in [(None, "hermes", "ana"), (Some("desk"), "desk", "boss")] {
        let variables: Vec<_> = host
            .map(|host| ("HERMES_HONCHO_HOST", host))
            .into_iter()
            .collect();
        let made = place.provider("honcho", "default", &variables).unwrap();
        made.deliver(&turn()).await.unwrap();
        let sent = service.to(&format!(
            "POST /v3/workspaces/{workspace}/sessions/tea/messages"
        ));
        assert_eq!(sent.len(), 1, "{:?}", service.lines());
        assert_eq!(sent[0].body["messages"][0]["peer_id"], user);
    }
    // How long an answer may take; half a minute where nothing is said.
    service.hang("POST /v3/workspaces");
    let hasty = [("HONCHO_TIMEOUT", "0.1")];
    let made = place.provider("honcho", "default", &hasty).unwrap();
    let checked = tokio::time::timeout(LONG, made.check()).await;
    assert!(checked.expect("it waits no longer than it may").is_err());
}

/// Waits until nothing waits to be sent.
pub(crate) async fn emptied(external: &External) {
    let emptied = async {
        while external.backlog().await.unwrap().waiting > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, emptied)
        .await
        .expect("it is sent");
}

// LN-38
#[tokio::test]
async fn what_was_said_is_sent_as_often_as_the_settings_want() {
    let at = scene("/place/tea".as_ref());
    for (often, before, at_once) in [
        (json!("turn"), 1, true),
        (json!(2), 2, true),
        (json!("session"), 2, false),
    ] {
        let (place, service) = (Place::new(), service());
        let settings = json!({"writeFrequency": often});
        let external = place.kept(honcho(&place, &service, settings), "honcho");
        let mut numbers = 1..;
        // Takes longer than sending would: the same service is asked several times.
        let mut nothing_is_sent = async || {
            for number in numbers.by_ref().take(5) {
                external.recall(asked("Which tea?", number)).await;
            }
            assert_eq!(service.to(MESSAGES).len(), 0, "{often}");
        };
        for _ in 0..before {
            nothing_is_sent().await;
            external
                .said(at.clone(), place.turn("Which tea?", "Earl Grey."))
                .await;
        }
        if !at_once {
            nothing_is_sent().await;
            external.ended(at.clone()).await;
        }
        emptied(&external).await;
        assert_eq!(service.to(MESSAGES).len(), before, "{often}");
        external.close().await;
    }
}

// LN-38
#[tokio::test]
async fn a_session_is_made_when_a_conversation_begins_where_that_is_wanted() {
    for (wanted, expected) in [(false, 0), (true, 1)] {
        let (place, service) = (Place::new(), service());
        let settings = json!({"recallMode": "tools", "initOnSessionStart": wanted});
        let external = place.kept(honcho(&place, &service, settings), "honcho");
        for number in 1..=2 {
            external.recall(asked("Which tea?", number)).await;
        }
        external.close().await;
        assert_eq!(service.to(SESSIONS).len(), expected, "{wanted}");
        assert_eq!(service.to(MESSAGES).len(), 0);
    }
    // Where it fails, the conversation goes on and hears nothing of it.
    let (place, service) = (Place::new(), service());
    let asks = json!({"recallMode": "hybrid", "initOnSessionStart": true});
    let asks = honcho(&place, &service, asks).unwrap();
    assert!(
        !asks.manner().begins,
        "its first question makes the session"
    );
    service.fail("POST /v3/workspaces", 500, usize::MAX);
    let settings = json!({"recallMode": "tools", "initOnSessionStart": true});
    let external = place.kept(honcho(&place, &service, settings), "honcho");
    let recalled = external.recall(asked("Which tea?", 1)).await;
    assert_eq!((recalled.text, recalled.notice), (None, None));
    external.close().await;
}
