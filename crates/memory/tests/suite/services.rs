//! mem0, Supermemory, Hindsight and OpenViking as their services see us.

use std::sync::Arc;

use hermes_memory::{Delivery, Errand, Provider, ProviderError};
use hermes_testkit::memory_service::MemoryService;
use serde_json::{Value as Json, json};

use super::external::{Place, asked, scene};

fn start(key: (&str, &str)) -> MemoryService {
    MemoryService::start(Some(key)).unwrap()
}

fn made(place: &Place, name: &str, profile: &str, variables: &[(&str, &str)]) -> Arc<dyn Provider> {
    place.provider(name, profile, variables).unwrap()
}

fn delivery(errand: Errand) -> Delivery {
    Delivery {
        token: "0123456789abcdef".to_owned(),
        doubtful: false,
        scene: scene("/place/tea".as_ref()),
        errand,
    }
}

fn turn() -> Delivery {
    delivery(Errand::Turn {
        user: "Which tea?".to_owned(),
        assistant: "Earl Grey.".to_owned(),
    })
}

fn written() -> Delivery {
    delivery(Errand::Written {
        target: "user".to_owned(),
        content: "Likes tea.".to_owned(),
    })
}

async fn called(provider: &dyn Provider, tool: &str, arguments: Json) -> Json {
    let at = scene("/place/tea".as_ref());
    provider.call(&at, tool, &arguments).await.unwrap()
}

/// Every tool refuses what it cannot understand, without asking anybody.
async fn refuses(provider: &dyn Provider, service: &MemoryService, calls: &[(&str, Json)]) {
    let before = service.lines().len();
    let at = scene("/place/tea".as_ref());
    for (tool, arguments) in calls {
        let told = provider.call(&at, tool, arguments).await.unwrap_err();
        assert!(
            matches!(told, ProviderError::Arguments { .. }),
            "{tool}: {told}"
        );
    }
    assert_eq!(service.lines().len(), before);
    assert_eq!(service.unexpected(), Vec::<String>::new());
}

// LN-39
#[tokio::test]
async fn mem0_on_a_server_of_ones_own() {
    let (place, service) = (Place::new(), start(("x-api-key", "m0-key-123456")));
    service
        .on(
            "POST /search",
            json!({"results": [{"id": "a/b", "memory": "Likes tea.", "score": 0.9}]}),
        )
        .on("POST /memories", json!({"results": []}))
        .on("PUT /memories/*", json!({"message": "ok"}))
        .on("DELETE /memories/*", json!({"message": "ok"}));
    place.write(
        "mem0.json",
        &json!({"host": service.url(), "user_id": "ana"}).to_string(),
    );
    let variables = [
        ("MEM0_API_KEY", "m0-key-123456"),
        ("MEM0_USER_ID", "from-the-variable"),
    ];
    let mem0 = made(&place, "mem0", "default", &variables);
    assert_eq!(
        mem0.recall(&asked("tea?", 1)).await.unwrap().unwrap(),
        "- Likes tea."
    );
    assert_eq!(
        service.asked()[0].body,
        json!({"query": "tea?", "user_id": "ana", "limit": 5})
    );
    mem0.deliver(&turn()).await.unwrap();
    mem0.deliver(&written()).await.unwrap();
    let both = json!([{"role": "user", "content": "Which tea?"}, {"role": "assistant", "content": "Earl Grey."}]);
    assert_eq!(
        service.asked()[1].body,
        json!({
            "messages": both, "user_id": "ana", "agent_id": "hermes", "infer": true,
            "metadata": {"hermes": "0123456789abcdef"},
        })
    );
    let found = called(&*mem0, "mem0_search", json!({"query": "tea", "top_k": 99})).await;
    assert_eq!(found["results"][0]["id"], "a/b");
    assert_eq!(service.asked()[3].body["limit"], 50);
    called(&*mem0, "mem0_add", json!({"content": "Likes tea."})).await;
    called(
        &*mem0,
        "mem0_update",
        json!({"memory_id": "a/b", "content": "Likes coffee."}),
    )
    .await;
    called(&*mem0, "mem0_delete", json!({"memory_id": ".."})).await;
    let lines = service.lines().split_off(4);
    assert_eq!(
        lines,
        [
            "POST /memories",
            "PUT /memories/a%2Fb",
            "DELETE /memories/__"
        ]
    );
    assert_eq!(service.asked()[5].body, json!({"text": "Likes coffee."}));
    assert_eq!(mem0.check().await.unwrap(), "the memories of ana");
    refuses(
        &*mem0,
        &service,
        &[
            ("mem0_add", json!({})),
            ("mem0_update", json!({"memory_id": "x"})),
            ("x", json!({})),
        ],
    )
    .await;
}

// LN-39
#[tokio::test]
async fn mem0_in_its_cloud() {
    let (place, service) = (
        Place::new(),
        start(("authorization", "Token m0-key-123456")),
    );
    service
        .on(
            "POST /v2/memories/search/",
            json!([{"id": "1", "memory": "Likes tea."}]),
        )
        .on("POST /v1/memories/", json!([]))
        .on("DELETE /v1/memories/*/", Json::Null);
    let url = service.url();
    let variables = [
        ("MEM0_API_KEY", "m0-key-123456"),
        ("MEM0_HOST", url.as_str()),
        ("MEM0_MODE", "cloud"),
    ];
    let mem0 = made(&place, "mem0", "work", &variables);
    assert!(mem0.recall(&asked("tea?", 1)).await.unwrap().is_some());
    assert_eq!(
        service.asked()[0].body,
        json!({"query": "tea?", "filters": {"user_id": "hermes-user_work"}, "top_k": 5})
    );
    mem0.deliver(&turn()).await.unwrap();
    called(&*mem0, "mem0_delete", json!({"memory_id": "1"})).await;
    assert_eq!(
        service.lines().split_off(1),
        ["POST /v1/memories/", "DELETE /v1/memories/1/"]
    );
    assert!(
        place
            .provider("mem0", "default", &[("MEM0_MODE", "moon")])
            .is_err()
    );
    refuses(&*mem0, &service, &[("mem0_search", json!({}))]).await;
}

// LN-39
#[tokio::test]
async fn supermemory_keeps_conversations_under_ids_of_their_own() {
    let (place, service) = (
        Place::new(),
        start(("authorization", "Bearer sm-key-123456")),
    );
    let results =
        json!({"results": [{"id": "m1", "memory": "Drinks Earl Grey.", "similarity": 0.8}]});
    service
        .on(
            "POST /v4/profile",
            json!({"profile": {"static": ["Is called Ana"], "dynamic": ["Moves house"]}, "searchResults": results}),
        )
        .on("POST /v4/search", results.clone())
        .on("POST /v4/conversations", json!({"id": "c"}))
        .on("POST /v3/documents", json!({"id": "d1"}))
        .on("DELETE /v4/memories", json!({"forgotten": true}));
    let url = service.url();
    let variables = [
        ("SUPERMEMORY_API_KEY", "sm-key-123456"),
        ("SUPERMEMORY_BASE_URL", url.as_str()),
    ];
    let memory = made(&place, "supermemory", "work", &variables);
    assert_eq!(
        memory.recall(&asked("tea?", 1)).await.unwrap().unwrap(),
        "Lasting:\n- Is called Ana\n\nLately:\n- Moves house\n\nAbout this:\n- Drinks Earl Grey."
    );
    assert_eq!(
        service.asked()[0].body,
        json!({"containerTag": "hermes_work", "q": "tea?"})
    );
    memory.deliver(&turn()).await.unwrap();
    memory.deliver(&turn()).await.unwrap();
    let told = service.to("POST /v4/conversations");
    assert_eq!(told[0].body, told[1].body, "told twice is told once");
    assert_eq!(
        told[0].body["conversationId"],
        "20260101_000000_abcdef_0123456789abcdef"
    );
    assert_eq!(told[0].body["containerTags"], json!(["hermes_work"]));
    memory.deliver(&written()).await.unwrap();
    assert_eq!(
        service.to("POST /v3/documents")[0].body["customId"],
        "0123456789abcdef"
    );
    let found = called(&*memory, "supermemory_search", json!({"query": "tea"})).await;
    assert_eq!(found["results"][0]["memory"], "Drinks Earl Grey.");
    assert_eq!(
        called(&*memory, "supermemory_store", json!({"content": "x"})).await["id"],
        "d1"
    );
    let forgot = called(&*memory, "supermemory_forget", json!({"query": "tea"})).await;
    assert_eq!(forgot["forgotten"], "m1");
    assert_eq!(
        service.to("DELETE /v4/memories")[0].body,
        json!({"containerTag": "hermes_work", "id": "m1"})
    );
    let profile = called(&*memory, "supermemory_profile", json!({})).await;
    assert!(
        profile["profile"]
            .as_str()
            .unwrap()
            .contains("Is called Ana")
    );
    assert_eq!(memory.check().await.unwrap(), "the tag hermes_work");
    refuses(
        &*memory,
        &service,
        &[
            ("supermemory_forget", json!({})),
            ("supermemory_store", json!({})),
        ],
    )
    .await;
    assert!(place.provider("supermemory", "default", &[]).is_err());
}

// LN-39
#[tokio::test]
async fn hindsight_retains_recalls_and_reflects() {
    let (place, service) = (
        Place::new(),
        start(("authorization", "Bearer hs-key-123456")),
    );
    service
        .on("GET /health", json!({"status": "healthy"}))
        .on(
            "POST /v1/default/banks/*/memories",
            json!({"success": true}),
        )
        .on(
            "POST /v1/default/banks/*/memories/recall",
            json!({"results": [{"id": "1", "text": "Ana likes tea.", "type": "world"}]}),
        )
        .on(
            "POST /v1/default/banks/*/reflect",
            json!({"text": "Tea, surely."}),
        );
    let file = json!({"api_url": service.url(), "bank_id": "ana's bank", "budget": "high"});
    place.write("hindsight/config.json", &file.to_string());
    let memory = made(
        &place,
        "hindsight",
        "default",
        &[("HINDSIGHT_API_KEY", "hs-key-123456")],
    );
    assert_eq!(
        memory.recall(&asked("tea?", 1)).await.unwrap().unwrap(),
        "- Ana likes tea."
    );
    let first = &service.asked()[0];
    assert_eq!(
        first.line,
        "POST /v1/default/banks/ana%27s%20bank/memories/recall"
    );
    assert_eq!(
        first.body,
        json!({"query": "tea?", "budget": "high", "max_tokens": 2048})
    );
    memory.deliver(&turn()).await.unwrap();
    memory.deliver(&written()).await.unwrap();
    let kept = service.to("POST /v1/default/banks/*/memories");
    let item = &kept[0].body["items"][0];
    assert_eq!(item["content"], "User: Which tea?\n\nAssistant: Earl Grey.");
    assert_eq!(
        item["document_id"],
        "20260101_000000_abcdef-0123456789abcdef"
    );
    assert_eq!(kept[1].body["items"][0]["content"], "Likes tea.");
    assert_eq!(
        called(&*memory, "hindsight_reflect", json!({"query": "tea?"})).await["answer"],
        "Tea, surely."
    );
    assert_eq!(
        called(&*memory, "hindsight_recall", json!({"query": "tea?"})).await["count"],
        1
    );
    called(&*memory, "hindsight_retain", json!({"content": "x"})).await;
    assert!(memory.check().await.unwrap().contains("ana's bank"));
    refuses(
        &*memory,
        &service,
        &[
            ("hindsight_reflect", json!({})),
            ("hindsight_retain", json!({})),
        ],
    )
    .await;
    let wrong = json!({"budget": "endless", "mode": "local"});
    place.write("hindsight/config.json", &wrong.to_string());
    assert!(place.provider("hindsight", "default", &[]).is_err());
}

// LN-39
#[tokio::test]
async fn openviking_is_told_turns_and_commits_at_the_end() {
    let (place, service) = (Place::new(), start(("x-api-key", "ov-key-123456")));
    let found = json!({"status": "ok", "result": {
        "memories": [{"uri": "viking://user/ana/memories/tea", "abstract": "Likes tea.", "score": 0.9}],
        "resources": [{"uri": "viking://resources/a", "abstract": "About tea.", "score": 0.5}],
    }});
    service
        .on("GET /health", json!({"status": "ok"}))
        .on("POST /api/v1/search/find", found)
        .on(
            "POST /api/v1/sessions/*/messages/batch",
            json!({"status": "ok"}),
        )
        .on("POST /api/v1/sessions/*/commit", json!({"status": "ok"}))
        .on(
            "POST /api/v1/resources",
            json!({"result": {"root_uri": "viking://resources/page"}}),
        )
        .on("DELETE /api/v1/fs", json!({"status": "ok"}));
    for path in [
        "content/read",
        "content/abstract",
        "content/overview",
        "fs/ls",
        "fs/tree",
        "fs/stat",
    ] {
        service.on(
            &format!("GET /api/v1/{path}"),
            json!({"status": "ok", "result": path}),
        );
    }
    let url = service.url();
    let variables = [
        ("OPENVIKING_ENDPOINT", url.as_str()),
        ("OPENVIKING_API_KEY", "ov-key-123456"),
        ("OPENVIKING_ACCOUNT", "acme"),
        ("OPENVIKING_USER", "ana"),
    ];
    let memory = made(&place, "openviking", "work", &variables);
    assert!(memory.manner().ends);
    assert_eq!(
        memory.recall(&asked("tea?", 1)).await.unwrap().unwrap(),
        "- Likes tea. (viking://user/ana/memories/tea)\n- About tea. (viking://resources/a)"
    );
    let first = &service.asked()[0];
    let headers = [
        "x-openviking-account",
        "x-openviking-user",
        "x-openviking-agent",
    ];
    assert_eq!(
        headers.map(|name| first.header(name)),
        [Some("acme"), Some("ana"), Some("hermes_work")]
    );
    memory.deliver(&turn()).await.unwrap();
    memory.deliver(&delivery(Errand::Ended)).await.unwrap();
    let session = "/api/v1/sessions/20260101_000000_abcdef";
    assert_eq!(
        service.lines().split_off(1),
        [
            format!("POST {session}/messages/batch"),
            format!("POST {session}/commit")
        ]
    );
    assert_eq!(
        service.asked()[1].body["messages"][1],
        json!({"role": "assistant", "parts": [{"type": "text", "text": "Earl Grey."}]})
    );
    for (tool, arguments, result) in [
        (
            "viking_read",
            json!({"uri": "viking://a"}),
            "content/overview",
        ),
        (
            "viking_read",
            json!({"uri": "viking://a", "level": "full"}),
            "content/read",
        ),
        ("viking_browse", json!({}), "fs/ls"),
        (
            "viking_browse",
            json!({"uri": "viking://a", "view": "tree"}),
            "fs/tree",
        ),
    ] {
        assert_eq!(called(&*memory, tool, arguments).await["result"], result);
    }
    called(
        &*memory,
        "viking_search",
        json!({"query": "tea", "scope": "viking://resources"}),
    )
    .await;
    assert_eq!(
        service.asked().last().unwrap().body["target_uri"],
        "viking://resources"
    );
    called(
        &*memory,
        "viking_remember",
        json!({"content": "Likes tea."}),
    )
    .await;
    called(
        &*memory,
        "viking_forget",
        json!({"uri": "viking://user/ana/memories/tea"}),
    )
    .await;
    let gone = service.asked().pop().unwrap();
    assert_eq!(
        gone.query,
        "uri=viking%3A%2F%2Fuser%2Fana%2Fmemories%2Ftea&recursive=true"
    );
    let added = called(
        &*memory,
        "viking_add_resource",
        json!({"url": "https://example.com"}),
    )
    .await;
    assert_eq!(added["uri"], "viking://resources/page");
    assert_eq!(memory.check().await.unwrap(), "a tree at viking://");
    refuses(
        &*memory,
        &service,
        &[
            ("viking_forget", json!({"uri": "viking:///"})),
            ("viking_read", json!({"uri": "/etc/passwd"})),
            ("viking_add_resource", json!({"url": "file:///etc/passwd"})),
            ("viking_add_resource", json!({"url": "/etc/passwd"})),
            ("viking_add_resource", json!({"url": "notes.md"})),
        ],
    )
    .await;
}

// LN-37, LN-39
#[tokio::test]
async fn a_web_page_at_the_address_is_no_memory() {
    let place = Place::new();
    for (name, address, more) in [
        ("mem0", "MEM0_HOST", vec![]),
        ("openviking", "OPENVIKING_ENDPOINT", vec![]),
        ("hindsight", "HINDSIGHT_API_URL", vec![]),
        ("honcho", "HONCHO_BASE_URL", vec![]),
        (
            "supermemory",
            "SUPERMEMORY_BASE_URL",
            vec![("SUPERMEMORY_API_KEY", "sm-key-123")],
        ),
    ] {
        let service = MemoryService::start(None).unwrap();
        service.show_a_page("", usize::MAX);
        let url = service.url();
        let mut variables = more;
        variables.push((address, url.as_str()));
        let memory = made(&place, name, "default", &variables);
        let told = memory.check().await.unwrap_err();
        assert!(matches!(told, ProviderError::Page { .. }), "{name}: {told}");
        assert!(told.hint().contains("address"), "{}", told.hint());
        let told = memory.recall(&asked("Which tea?", 1)).await.unwrap_err();
        assert!(matches!(told, ProviderError::Page { .. }), "{name}: {told}");
        // What it should learn waits until somebody has mended the address.
        let told = memory.deliver(&turn()).await.unwrap_err();
        assert!(told.is_passing() && !told.leaves_doubt(), "{name}: {told}");
    }
}
