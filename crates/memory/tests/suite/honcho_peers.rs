//! Who is in a session of Honcho, and whom what is said belongs to.

use hermes_memory::{Delivery, Errand, Provider, Question, Scene};
use hermes_testkit::memory_service::MemoryService;
use serde_json::{Value as Json, json};

use super::external::{Place, asked, scene};
use super::honcho::{honcho, service};

const PEERS: &str = "/v3/workspaces/hermes/sessions/tea/peers";

fn by(user: Option<&str>) -> Scene {
    Scene {
        user: user.map(str::to_owned),
        surface: "telegram".to_owned(),
        ..scene("/place/tea".as_ref())
    }
}

async fn tell(honcho: &dyn Provider, user: Option<&str>, errand: Errand) {
    let delivery = Delivery {
        token: "0123456789abcdef".to_owned(),
        doubtful: false,
        scene: by(user),
        errand,
    };
    honcho.deliver(&delivery).await.unwrap();
}

async fn say(honcho: &dyn Provider, user: Option<&str>) {
    let errand = Errand::Turn {
        user: "Which tea?".to_owned(),
        assistant: "Earl Grey.".to_owned(),
    };
    tell(honcho, user, errand).await;
}

/// Who said what was sent, in order.
fn speakers(service: &MemoryService) -> Vec<String> {
    let sent = service.to("POST /v3/workspaces/*/sessions/*/messages");
    let sent = sent
        .iter()
        .map(|asked| &asked.body["messages"][0]["peer_id"]);
    sent.map(|peer| peer.as_str().unwrap().to_owned()).collect()
}

// LN-38
#[tokio::test]
async fn everybody_who_speaks_is_a_peer_and_comes_into_the_session_once() {
    let (place, service) = (Place::new(), service());
    place.write("memories/USER.md", "Is called Ana.");
    let settings = json!({
        "userPeerAliases": {"7": "ana k"}, "runtimePeerPrefix": "tg_",
        "observation": {"user": {"observeOthers": false}},
    });
    let honcho = honcho(&place, &service, settings).unwrap();
    for user in ["7", "8", "7", "8"] {
        say(&*honcho, Some(user)).await;
    }
    assert_eq!(speakers(&service), ["ana-k", "tg_8", "ana-k", "tg_8"]);
    let watched = json!({"observe_me": true, "observe_others": false});
    let made = service.to("POST /v3/workspaces/hermes/sessions");
    assert_eq!(made.len(), 1);
    assert_eq!(made[0].body["peers"]["ana-k"], watched);
    let joined = service.to(&format!("POST {PEERS}"));
    assert_eq!(joined.len(), 1, "{:?}", service.lines());
    assert_eq!(joined[0].body, json!({"tg_8": watched}));
    let uploads = service.to("POST /v3/workspaces/*/sessions/*/messages/upload");
    assert!(uploads.is_empty(), "the files are about neither of them");
    assert_eq!(service.unexpected(), Vec::<String>::new());
}

// LN-38
#[tokio::test]
async fn what_is_known_about_one_user_is_not_told_another() {
    let (place, service) = (Place::new(), service());
    let settings = json!({"contextCadence": 9, "dialecticCadence": 9});
    let honcho = honcho(&place, &service, settings).unwrap();
    for user in [Some("7"), Some("8"), None] {
        let question = Question {
            scene: by(user),
            ..asked("Which tea?", 2)
        };
        honcho.recall(&question).await.unwrap().unwrap();
        let written = Errand::Written {
            target: "user".to_owned(),
            content: "Likes tea".to_owned(),
        };
        tell(&*honcho, user, written).await;
        let arguments = json!({"query": "tea"});
        honcho
            .call(&by(user), "honcho_search", &arguments)
            .await
            .unwrap();
    }
    let contexts = service.to("GET /v3/workspaces/*/sessions/*/context");
    let about = |query: &str| query.split("peer_target=").nth(1).unwrap()[..1].to_owned();
    let summary = |query: &str| query.contains("summary=true");
    let told: Vec<bool> = contexts.iter().map(|asked| summary(&asked.query)).collect();
    assert_eq!(told, [false, false, true], "it tells what others said");
    let contexts: Vec<_> = contexts.iter().map(|asked| about(&asked.query)).collect();
    assert_eq!(contexts, ["7", "8", "u"], "none is spared by another's");
    let chats = service.to("POST /v3/workspaces/*/peers/hermes/chat");
    let chats: Vec<_> = chats.iter().map(|asked| &asked.body["target"]).collect();
    assert_eq!(chats, ["7", "8", "user"]);
    let kept = service.to("POST /v3/workspaces/*/conclusions");
    let kept = kept.iter().map(|asked| &asked.body["conclusions"][0]);
    let kept: Vec<_> = kept.map(|one| &one["observed_id"]).collect();
    assert_eq!(kept, ["7", "8", "user"]);
    for peer in ["7", "8", "user"] {
        let line = format!("POST /v3/workspaces/hermes/peers/{peer}/search");
        assert_eq!(service.to(&line).len(), 1, "{peer}");
    }
}

// LN-38
#[tokio::test]
async fn ids_that_look_alike_stay_two_people_and_all_may_be_one() {
    let (place, service) = (Place::new(), service());
    let apart = honcho(&place, &service, json!({})).unwrap();
    for user in ["@ana:a.org", "@ana:a-org"] {
        say(&*apart, Some(user)).await;
    }
    let names = speakers(&service);
    assert!(names[0].starts_with("-ana-a-org-"), "{names:?}");
    assert_ne!(names[0], names[1]);
    let settings = json!({"pinUserPeer": true, "peerName": "ana"});
    let pinned = honcho(&place, &service, settings).unwrap();
    for user in [Some("7"), Some("8"), None] {
        say(&*pinned, user).await;
    }
    assert_eq!(speakers(&service)[2..], ["ana", "ana", "ana"]);
    assert_eq!(service.unexpected(), Vec::<String>::new());
}

// LN-38
#[tokio::test]
async fn names_that_were_given_up_leave_the_session_and_nobody_else_does() {
    let (place, service) = (Place::new(), service());
    let there = |names: &[&str]| {
        let items: Vec<Json> = names.iter().map(|name| json!({"id": name})).collect();
        service.on(
            "GET /v3/workspaces/*/sessions/*/peers",
            json!({"items": items}),
        );
    };
    let bodies = |line: String| {
        let found = service.to(&line).into_iter();
        found.map(|asked| asked.body).collect::<Vec<_>>()
    };
    // Someone who has a name of their own now is not in it by number too.
    there(&["7", "8", "ana", "hermes"]);
    let settings = json!({"userPeerAliases": {"7": "ana"}});
    let shared = honcho(&place, &service, settings).unwrap();
    for user in [Some("7"), Some("7"), Some("8"), None] {
        say(&*shared, user).await;
    }
    assert_eq!(bodies(format!("DELETE {PEERS}")), [json!(["7"])]);
    assert_eq!(bodies(format!("PUT {PEERS}")), Vec::<Json>::new());
    // The session of one conversation with one person is theirs alone.
    let settings = json!({"sessionStrategy": "per-session", "peerName": "ana"});
    let alone = honcho(&place, &service, settings).unwrap();
    say(&*alone, None).await;
    say(&*alone, None).await;
    let both = json!({"observe_me": true, "observe_others": true});
    let own = "/v3/workspaces/hermes/sessions/20260101_000000_abcdef/peers";
    assert_eq!(
        bodies(format!("PUT {own}")),
        [json!({"ana": both, "hermes": both})]
    );
    assert_eq!(bodies(format!("GET {own}")).len(), 1, "once");
    // What cannot be looked at does not hold up what was said.
    service.fail(
        "GET /v3/workspaces/hermes/sessions/20260101_000000_abcdef/peers",
        500,
        9,
    );
    let settings = json!({"sessionStrategy": "per-session"});
    let troubled = honcho(&place, &service, settings).unwrap();
    say(&*troubled, None).await;
    assert_eq!(service.unexpected(), Vec::<String>::new());
}

// LN-38
#[tokio::test]
async fn the_model_is_told_who_is_in_the_session() {
    let (place, service) = (Place::new(), service());
    let honcho = honcho(&place, &service, json!({})).unwrap();
    let at = by(Some("7"));
    let known = honcho
        .call(&at, "honcho_context", &json!({}))
        .await
        .unwrap();
    assert_eq!(known["peer"], "7");
    assert_eq!(known["in_session"], json!(["user", "hermes"]));
    assert!(!known.to_string().contains("Earlier in this session"));
    // Whom else the agent knows is nobody's business here but their own.
    let before = service.lines().len();
    for (tool, peer) in [
        ("honcho_context", "8"),
        ("honcho_profile", "8"),
        ("honcho_search", "all"),
        ("honcho_reasoning", "user-8"),
        ("honcho_conclude", "8"),
    ] {
        let arguments = json!({"peer": peer, "query": "tea", "conclusion": "Likes tea"});
        let told = honcho.call(&at, tool, &arguments).await.unwrap_err();
        assert!(told.to_string().contains("peer is user or ai"), "{told}");
    }
    assert_eq!(service.lines().len(), before);
    let about = json!({"peer": "ai"});
    honcho.call(&at, "honcho_context", &about).await.unwrap();
    let alone = json!({"peer": "8"});
    honcho
        .call(&by(None), "honcho_context", &alone)
        .await
        .unwrap();
}
