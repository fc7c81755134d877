//! What is gone from the files is gone from external memories too, where they can find it again.

use hermes_memory::{Delivery, Errand, Provider};
use hermes_testkit::memory_service::MemoryService;
use serde_json::json;

use super::external::{Place, asked, scene};
use super::honcho;

fn delivery(errand: Errand) -> Delivery {
    Delivery {
        token: "0123456789abcdef".to_owned(),
        doubtful: false,
        scene: scene("/place/tea".as_ref()),
        errand,
    }
}

async fn removed(provider: &dyn Provider, content: &str) {
    let errand = Errand::Removed {
        target: "user".to_owned(),
        content: content.to_owned(),
    };
    provider.deliver(&delivery(errand)).await.unwrap();
}

// LN-37, LN-39
#[tokio::test]
async fn mem0_and_supermemory_remove_what_has_the_very_same_words() {
    let place = Place::new();
    let mem0 = MemoryService::start(Some(("x-api-key", "m0-key-123456"))).unwrap();
    let alike = json!({"results": [
        {"id": "1", "memory": "Likes tea a lot."}, {"id": "2", "memory": "Likes tea."},
    ]});
    mem0.on("POST /search", alike.clone())
        .on("DELETE /memories/*", json!({"message": "ok"}));
    let address = mem0.url();
    let variables = [
        ("MEM0_API_KEY", "m0-key-123456"),
        ("MEM0_HOST", address.as_str()),
    ];
    let provider = place.provider("mem0", "default", &variables).unwrap();
    removed(&*provider, "Likes tea.").await;
    let gone: Vec<String> = mem0.lines().split_off(1);
    assert_eq!(gone, ["DELETE /memories/2"]);

    let key = Some(("authorization", "Bearer sm-key-123456"));
    let service = MemoryService::start(key).unwrap();
    service
        .on("POST /v4/search", alike)
        .on("DELETE /v4/memories", json!({"id": "2", "forgotten": true}));
    let address = service.url();
    let variables = [
        ("SUPERMEMORY_API_KEY", "sm-key-123456"),
        ("SUPERMEMORY_BASE_URL", address.as_str()),
    ];
    let provider = place.provider("supermemory", "default", &variables);
    removed(&*provider.unwrap(), "Likes tea.").await;
    let gone = service.to("DELETE /v4/memories");
    assert_eq!(gone.len(), 1);
    assert_eq!(gone[0].body["id"], "2");
}

// LN-37, LN-39
#[tokio::test]
async fn the_fact_store_forgets_what_the_files_do() {
    let place = Place::new();
    let facts = place.provider("holographic", "default", &[]).unwrap();
    for content in ["Likes tea.", "Likes tea a lot."] {
        let written = Errand::Written {
            target: "user".to_owned(),
            content: content.to_owned(),
        };
        facts.deliver(&delivery(written)).await.unwrap();
    }
    removed(&*facts, "Likes tea.").await;
    let known = facts.recall(&asked("tea?", 1)).await.unwrap().unwrap();
    assert!(known.contains("Likes tea a lot."), "{known}");
    assert_eq!(known.lines().count(), 1, "{known}");
}

// LN-37, LN-38
#[tokio::test]
async fn a_conclusion_does_not_outlive_its_entry() {
    let (place, service) = (Place::new(), honcho::service());
    let alike = json!({"items": [
        {"id": "c1", "content": "Likes tea a lot."}, {"id": "c2", "content": "Likes tea."},
    ]});
    service
        .on("POST /v3/workspaces/*/conclusions/query", alike)
        .on("DELETE /v3/workspaces/*/conclusions/*", json!({}));
    let provider = honcho::honcho(&place, &service, json!({})).unwrap();
    removed(&*provider, "Likes tea.").await;
    let gone = service.to("DELETE /v3/workspaces/*/conclusions/*");
    let gone: Vec<&str> = gone.iter().map(|asked| asked.line.as_str()).collect();
    assert_eq!(gone.len(), 1, "{gone:?}");
    assert!(gone[0].ends_with("/conclusions/c2"), "{gone:?}");
}
