//! What is remembered about servers between runs.

use std::path::Path;
use std::sync::Arc;

use hermes_config::McpServer;
use hermes_core::{Effect, SystemClock};
use hermes_mcp::{Catalog, Memory, RemoteTool, Server};
use hermes_secrets::RedactorHandle;
use hermes_store::{Options, Store};
use serde_json::json;

fn memory(home: &Path) -> Memory {
    Memory::new(
        Store::open(Options {
            path: home.join("hermes.db"),
            blobs: home.join("blobs"),
            clock: Arc::new(SystemClock),
            redactor: RedactorHandle::default(),
            vfs: None,
        })
        .unwrap(),
    )
}

fn server(command: &str) -> Server {
    let settings = McpServer {
        command: command.to_owned(),
        ..McpServer::default()
    };
    Server::new("s", settings)
}

fn catalog(description: &str) -> Catalog {
    let tool = |name: &str, description: &str| RemoteTool {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        schema: json!({ "type": "object", "properties": { "a": { "type": "string" } } }),
        effect: Effect::Idempotent,
    };
    Catalog {
        tools: vec![tool("one", description), tool("two", "the same")],
        resources: true,
        prompts: false,
    }
}

// MCP-76
#[tokio::test]
async fn tools_are_known_before_their_server_is_connected() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(memory(home.path()).recall(&server("x")).await, None);
    memory(home.path()).note(&server("x"), &catalog("d")).await;
    let next = memory(home.path());
    assert_eq!(next.recall(&server("x")).await, Some(catalog("d")));
    // Other settings may mean other tools.
    assert_eq!(next.recall(&server("y")).await, None);
    next.forget("s").await.unwrap();
    assert_eq!(next.recall(&server("x")).await, None);
}

// MCP-62
#[tokio::test]
async fn a_tool_that_describes_itself_differently_is_named_once() {
    let home = tempfile::tempdir().unwrap();
    let first = memory(home.path());
    assert!(first.note(&server("x"), &catalog("d")).await.is_empty());
    assert!(first.note(&server("x"), &catalog("d")).await.is_empty());
    drop(first);
    let next = memory(home.path());
    assert_eq!(
        next.note(&server("x"), &catalog("something else")).await,
        ["one"]
    );
    assert!(
        next.note(&server("x"), &catalog("something else"))
            .await
            .is_empty()
    );
}
