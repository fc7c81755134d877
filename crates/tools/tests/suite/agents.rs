//! Several agents with the same files.

use std::sync::Arc;

use hermes_tools::{FileRegistry, FileServices};
use serde_json::json;

use super::fixture::Bench;

fn services(registry: &Arc<FileRegistry>) -> FileServices {
    FileServices {
        registry: registry.clone(),
        ..FileServices::default()
    }
}

// EX-48
#[tokio::test]
async fn changes_of_others_are_told_most_important_first() {
    let registry = FileRegistry::new();
    let one = Bench::with(services(&registry));
    let two = one.beside("two", services(&registry));
    let path = one.put("f", "a\nb\nc\n");
    let warning = async |bench: &Bench, old: &str, new: &str| {
        let asked = json!({"path": "f", "old_string": old, "new_string": new});
        bench
            .done("patch", asked)
            .await
            .get("_warning")
            .map(ToString::to_string)
    };
    one.done("read_file", json!({"path": "f"})).await;
    two.done("read_file", json!({"path": "f"})).await;
    assert_eq!(warning(&two, "a", "A").await, None);
    let told = warning(&one, "b", "B").await.unwrap();
    assert!(told.contains("another agent"), "{told}");
    // Its own change is no surprise.
    assert_eq!(warning(&one, "B", "BB").await, None);
    std::fs::write(&path, "outside\nc\n").unwrap();
    let told = warning(&one, "outside", "inside").await.unwrap();
    assert!(told.contains("outside after you read it"), "{told}");
    one.done("read_file", json!({"path": "f", "limit": 1}))
        .await;
    let told = warning(&one, "inside", "in").await.unwrap();
    assert!(told.contains("only a part"), "{told}");
    one.put("d/keep", "");
    let moved = one.context.directory.join("d");
    let inner = Bench::with(services(&registry));
    let mut context = inner.context.clone();
    context.directory = moved;
    let inner = Bench { context, ..inner };
    let answer = inner
        .done("write_file", json!({"path": "../g", "content": "x"}))
        .await;
    assert!(
        answer["_warning"]
            .as_str()
            .unwrap()
            .contains("outside the working directory")
    );
}

// EX-48
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn edits_of_one_file_never_lose_each_other() {
    let registry = FileRegistry::new();
    let first = Bench::with(services(&registry));
    let slots: String = (0..40).map(|slot| format!("slot {slot} free\n")).collect();
    first.put("f", slots);
    let mut running = tokio::task::JoinSet::new();
    for agent in 0..4_usize {
        let bench = first.beside(&format!("agent-{agent}"), services(&registry));
        running.spawn(async move {
            for slot in (agent..40).step_by(4) {
                let asked = json!({
                    "path": "f",
                    "old_string": format!("slot {slot} free"),
                    "new_string": format!("slot {slot} taken by {agent}"),
                });
                bench.done("patch", asked).await;
            }
        });
    }
    while let Some(ended) = running.join_next().await {
        ended.unwrap();
    }
    let wanted: String = (0..40)
        .map(|slot| format!("slot {slot} taken by {}\n", slot % 4))
        .collect();
    assert_eq!(first.text("f"), wanted);
}
