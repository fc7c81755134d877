//! What is remembered about servers between runs.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hermes_config::McpServer;
use hermes_core::{Effect, SystemClock};
use hermes_mcp::{Catalog, Memory, RecoveryPolicy, RemoteTool, Server, State};
use hermes_secrets::RedactorHandle;
use hermes_store::{Options, Store};
use hermes_testkit::mcp_server::{Mode, Profile};
use serde_json::json;

use super::fixture::{Bench, PATIENCE, at, quick, remote};

pub(super) fn memory(home: &Path) -> Memory {
    Memory::new(open(home))
}

fn open(home: &Path) -> Store {
    Store::open(Options {
        path: home.join("hermes.db"),
        blobs: home.join("blobs"),
        clock: Arc::new(SystemClock),
        redactor: RedactorHandle::default(),
        vfs: None,
    })
    .unwrap()
}

fn server(command: &str) -> Server {
    let settings = McpServer {
        command: command.to_owned(),
        ..McpServer::default()
    };
    Server::new("s", settings)
}

fn catalog(description: &str) -> Arc<Catalog> {
    let tool = |name: &str, description: &str| RemoteTool {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        schema: json!({ "type": "object", "properties": { "a": { "type": "string" } } }),
        effect: Effect::Idempotent,
        needs_task: false,
    };
    Arc::new(Catalog {
        tools: vec![tool("one", description), tool("two", "the same")],
        resources: true,
        prompts: false,
        tasks: true,
        cut: None,
    })
}

// MCP-76
#[tokio::test]
async fn tools_are_known_before_their_server_is_connected() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(memory(home.path()).recall(&server("x")).await, None);
    memory(home.path()).note(&server("x"), &catalog("d")).await;
    let next = memory(home.path());
    let recalled = next.recall(&server("x")).await;
    assert_eq!(recalled.as_ref(), Some(&*catalog("d")));
    // Other settings may mean other tools.
    assert_eq!(next.recall(&server("y")).await, None);
    next.forget("s").await.unwrap();
    assert_eq!(next.recall(&server("x")).await, None);
}

// MCP-76
#[tokio::test]
async fn a_remembered_server_lets_the_first_question_go_ahead_until_it_is_wanted() {
    let home = tempfile::tempdir().unwrap();
    let memory = memory(home.path());
    let server = remote(Profile::default());
    let never = RecoveryPolicy {
        head_start: Duration::from_secs(3600),
        ..quick()
    };
    // What was never seen is connected at once.
    let mut first = Bench::remembering(never.clone(), memory.clone());
    first.add("one", at(server.url("/mcp"))).await;
    first.ready("one").await;
    let entry = Server::new("one", at(server.url("/mcp")));
    while memory.recall(&entry).await.is_none() {
        tokio::task::yield_now().await;
    }
    first.fleet.shutdown().await;
    let before = server.stats().of("initialize");
    assert!(before > 0);

    let mut next = Bench::remembering(never, memory.clone());
    next.add("one", at(server.url("/mcp"))).await;
    next.until("one", "remembered", |view| !view.catalog.tools.is_empty())
        .await;
    assert!(next.names().contains(&"mcp__one__echo".to_owned()));
    assert_eq!(next.view("one").state, State::Connecting { failures: 0 });
    assert_eq!(server.stats().of("initialize"), before);
    // The first call makes the connection and does not wait for its turn.
    assert_eq!(next.echo("hello").await["result"], "hello");
    assert_eq!(server.stats().of("initialize"), before + 1);

    // Who wants to know how things stand does not wait either.
    let mut last = Bench::remembering(
        RecoveryPolicy {
            head_start: Duration::from_secs(3600),
            ..quick()
        },
        memory,
    );
    last.add("one", at(server.url("/mcp"))).await;
    last.fleet.discovered(PATIENCE).await;
    assert!(last.view("one").is_ready());
}

// MCP-76
#[tokio::test]
async fn a_call_waits_for_the_first_connection_as_long_as_that_may_take() {
    let home = tempfile::tempdir().unwrap();
    let memory = memory(home.path());
    let server = remote(Profile::default());
    let mut first = Bench::remembering(quick(), memory.clone());
    first.add("one", at(server.url("/mcp"))).await;
    first.ready("one").await;
    let entry = Server::new("one", at(server.url("/mcp")));
    while memory.recall(&entry).await.is_none() {
        tokio::task::yield_now().await;
    }
    first.fleet.shutdown().await;

    // Slower than a lost session may be missed, and well within what a start may take.
    let slow = Mode::Hold {
        millis: 1_500,
        then: None,
    };
    server.arm("initialize", slow, 1);
    let policy = RecoveryPolicy {
        absent_session_wait: Duration::from_millis(50),
        ..quick()
    };
    let mut next = Bench::remembering(policy, memory);
    next.add("one", at(server.url("/mcp"))).await;
    next.until("one", "remembered", |view| !view.catalog.tools.is_empty())
        .await;
    assert_eq!(next.echo("hello").await["result"], "hello");
}

// MCP-62, MCP-98
#[tokio::test]
async fn a_tool_that_describes_itself_differently_is_named_until_somebody_heard_of_it() {
    let home = tempfile::tempdir().unwrap();
    let first = memory(home.path());
    assert!(first.note(&server("x"), &catalog("d")).await.is_empty());
    assert!(first.note(&server("x"), &catalog("d")).await.is_empty());
    drop(first);
    let other = catalog("something else");
    for _ in 0..2 {
        // Nobody was told in the first of these runs.
        let next = memory(home.path());
        let changed = next.note(&server("x"), &other).await;
        assert_eq!(changed.names().collect::<Vec<_>>(), ["one"]);
    }
    let next = memory(home.path());
    let changed = next.note(&server("x"), &other).await;
    next.accept("s", &changed).await.unwrap();
    assert!(next.note(&server("x"), &other).await.is_empty());
    // One that says it only reads, and then does not, is another tool.
    let mut bolder = Catalog::clone(&other);
    bolder.tools[1].effect = Effect::Mutating;
    let changed = next.note(&server("x"), &Arc::new(bolder)).await;
    assert_eq!(changed.names().collect::<Vec<_>>(), ["two"]);
}

// MCP-98
#[tokio::test]
async fn what_an_earlier_version_remembered_of_tools_is_no_change() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    // It knew nothing of what a call may change, and had no mark of its kind.
    let old = "00".repeat(32);
    let pins = vec![("one".to_owned(), old.clone()), ("two".to_owned(), old)];
    store.accept_mcp_tools("s", pins).await.unwrap();
    let memory = Memory::new(store);
    assert!(memory.note(&server("x"), &catalog("d")).await.is_empty());
    let changed = memory.note(&server("x"), &catalog("e")).await;
    assert_eq!(changed.names().collect::<Vec<_>>(), ["one"]);
}
