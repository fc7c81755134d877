//! Which tools are offered, and how they may run.

use std::collections::BTreeSet;

use hermes_config::{McpTools, Setting};
use hermes_core::{Beside, Effect};
use hermes_mcp::RecoveryPolicy;
use hermes_testkit::mcp_server::{Profile, tool};
use serde_json::json;

use super::fixture::{Bench, at, quick, remote};

pub(crate) fn filter(yaml: &str) -> Option<McpTools> {
    let node = hermes_config::parse(yaml, hermes_config::Layer::File).unwrap();
    McpTools::read(&node, &mut hermes_config::Reader::default())
}

async fn offered(profile: Profile, yaml: Option<&str>) -> Vec<String> {
    let server = remote(profile);
    let mut bench = Bench::new(quick());
    let mut entry = at(server.url("/mcp"));
    entry.tools = yaml.and_then(filter);
    bench.add("one", entry).await;
    bench.ready("one").await;
    let names = bench.names();
    let short = |name: &String| name.trim_start_matches("mcp__one__").to_owned();
    names.iter().map(short).collect()
}

// MCP-53
#[tokio::test(flavor = "multi_thread")]
async fn tools_are_chosen_by_the_servers_own_names() {
    let bare = Profile {
        resources: false,
        prompts: false,
        ..Profile::default()
    };
    let all = ["echo", "fail", "read", "wait"];
    assert_eq!(offered(bare.clone(), None).await, all);
    let one = offered(bare.clone(), Some("include: [echo]\nexclude: [echo]\n")).await;
    assert_eq!(one, ["echo"]);
    let three = offered(bare.clone(), Some("exclude: fail\n")).await;
    assert_eq!(three, ["echo", "read", "wait"]);
    assert!(offered(bare, Some("include: []\n")).await.is_empty());
}

// MCP-54
#[tokio::test(flavor = "multi_thread")]
async fn our_own_tools_need_a_capability_and_a_yes() {
    let only = |tools, resources, prompts| Profile {
        tools,
        resources,
        prompts,
        ..Profile::default()
    };
    assert_eq!(
        offered(only(true, false, false), None).await,
        ["echo", "fail", "read", "wait"]
    );
    assert_eq!(
        offered(only(false, true, false), None).await,
        ["list_resources", "read_resource"]
    );
    assert_eq!(
        offered(only(false, false, true), None).await,
        ["get_prompt", "list_prompts"]
    );
    let refused = offered(
        only(false, true, true),
        Some("resources: false\nprompts: no\n"),
    )
    .await;
    assert!(refused.is_empty(), "{refused:?}");
}

// MCP-54
#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_tools_is_not_asked_for_them() {
    let server = remote(Profile {
        tools: false,
        ..Profile::default()
    });
    let _bench = Bench::connected(quick(), server.url("/mcp")).await;
    assert_eq!(server.stats().of("tools/list"), 0);
}

// MCP-59
#[tokio::test(flavor = "multi_thread")]
async fn lists_are_read_page_by_page_up_to_a_limit() {
    let server = remote(Profile {
        page_size: Some(2),
        ..Profile::default()
    });
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    assert_eq!(server.stats().of("tools/list"), 2);
    assert_eq!(bench.view("one").catalog.tools.len(), 4);
    let listed = bench.call("list_resources", json!({})).await;
    assert_eq!(listed["resources"].as_array().unwrap().len(), 5);
    assert_eq!(server.stats().of("resources/list"), 3);

    let endless = remote(Profile {
        endless_list: true,
        ..Profile::default()
    });
    let bench = Bench::connected(quick(), endless.url("/mcp")).await;
    // The second page leads to itself, which is noticed.
    assert_eq!(endless.stats().of("tools/list"), 2);
    assert!(bench.view("one").is_ready());
    let catalog = bench.view("one").catalog;
    let names: BTreeSet<_> = catalog.tools.iter().map(|tool| &tool.name).collect();
    assert_eq!(names.len(), catalog.tools.len(), "a tool is listed twice");

    let many = remote(Profile {
        page_size: Some(1),
        ..Profile::default()
    });
    many.set_tools(
        (0..80)
            .map(|number| tool(&format!("t{number}"), json!({})))
            .collect(),
    );
    let bench = Bench::connected(quick(), many.url("/mcp")).await;
    assert_eq!(many.stats().of("tools/list"), 50);
    assert_eq!(bench.view("one").catalog.tools.len(), 50);
    let few = RecoveryPolicy {
        list_items: 10,
        ..quick()
    };
    let bench = Bench::connected(few, many.url("/mcp")).await;
    assert_eq!(bench.view("one").catalog.tools.len(), 10);
}

// MCP-60
#[tokio::test(flavor = "multi_thread")]
async fn calls_run_side_by_side_where_the_settings_say_so() {
    let server = remote(Profile::default());
    let mut bench = Bench::new(quick());
    let mut parallel = at(server.url("/mcp"));
    parallel.supports_parallel_tool_calls = true;
    bench.add("one", parallel).await;
    bench.add("two", at(server.url("/mcp"))).await;
    bench.ready("one").await;
    bench.ready("two").await;
    // The engine runs only what says so side by side.
    assert_eq!(
        bench.tool("mcp__one__wait").handling().beside,
        Beside::Anything
    );
    assert_eq!(
        bench.tool("mcp__two__wait").handling().beside,
        Beside::Nothing
    );
    assert_eq!(bench.tool("mcp__one__wait").spec().effect, Effect::ReadOnly);
    assert!(bench.tool("mcp__one__wait").handling().untrusted);
    let slow = || bench.call("wait", json!({ "millis": 1_500, "text": "w" }));
    let (one, two) = tokio::join!(slow(), slow());
    assert_eq!((&one, &two), (&json!({ "result": "w" }), &one));
    assert_eq!(server.stats().most_calls_at_once, 2);
}

// MCP-55
#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_would_take_the_name_of_another_is_not_offered() {
    let server = remote(Profile {
        resources: false,
        prompts: false,
        ..Profile::default()
    });
    let mut bench = Bench::beside(quick(), &["mcp__one__echo", "read"]);
    bench.add("one", at(server.url("/mcp"))).await;
    bench.ready("one").await;
    // Only the whole name counts: a server's tool may be called like one of ours.
    let others = ["mcp__one__fail", "mcp__one__read", "mcp__one__wait"];
    assert_eq!(bench.names(), others);
    let read = bench.call_at("one", "read", json!({ "text": "x" })).await;
    assert_eq!(read, json!({ "result": "x" }));
}
