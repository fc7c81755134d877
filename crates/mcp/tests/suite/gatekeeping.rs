//! What is started and offered at all.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hermes_config::{McpSandbox, McpServer};
use hermes_core::{SystemClock, Tool};
use hermes_http::ClientSettings;
use hermes_mcp::{Gate, Logins, Osv, StatusWord};
use hermes_secrets::RedactorHandle;
use hermes_testkit::mcp_server::{Profile, tool};
use serde_json::json;
use tokio_util::task::TaskTracker;

use super::fixture::{Bench, at, quick, remote};
use super::malware;

/// Where the programs of these servers would run.
fn around() -> hermes_policy::Surroundings {
    hermes_policy::Surroundings {
        home: "/home/ada".to_owned(),
        product_home: "/home/ada/.hermes".to_owned(),
        cwd: "/home/ada".to_owned(),
        own_pid: None,
        isolation: hermes_policy::Isolation::None,
    }
}

/// The usual gatekeeper, without a list of malware.
fn gate(home: &Path, osv: Option<Osv>) -> Gate {
    Gate {
        logins: Logins {
            network: ClientSettings::default(),
            home: home.to_owned(),
            user_home: None,
            clock: Arc::new(SystemClock),
            person: None,
            redactor: RedactorHandle::default(),
        },
        around: around(),
        deny: Vec::new(),
        decisions: None,
        osv,
    }
}

// EX-58
#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_no_command_may_be_is_not_started_and_its_status_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = Bench::with_gatekeeper(quick(), Arc::new(gate(folder.path(), None)));
    let marker = bench.path().join("marker");
    let entry = |script: String| McpServer {
        command: "bash".to_owned(),
        args: vec!["-c".to_owned(), script],
        ..McpServer::default()
    };
    let bad = format!("touch {}; true || rm -rf /", marker.display());
    bench.add("bad", entry(bad)).await;
    // What is only asked about is the user's own word.
    let own = bench.path().join("own");
    let fine = format!("touch {}; true || rm -rf build", own.display());
    bench.add("own", entry(fine)).await;
    bench.fleet.discovered(Duration::from_secs(20)).await;
    let status = bench.fleet.status();
    let reason = status[0].error.clone().unwrap_or_default();
    assert!(!status[0].connected, "{status:?}");
    assert!(reason.contains("refused like any command"), "{reason}");
    bench.fleet.shutdown().await;
    assert!(!marker.exists() && own.exists());
}

// EX-58
#[tokio::test(flavor = "multi_thread")]
async fn where_nothing_can_confine_a_confined_server_is_not_started_and_its_status_says_so() {
    let mut bench = Bench::new(quick());
    let marker = bench.path().join("marker");
    let entry = McpServer {
        command: "touch".to_owned(),
        args: vec![marker.display().to_string()],
        sandbox: Some(McpSandbox::WorkspaceWrite),
        ..McpServer::default()
    };
    bench.add("one", entry).await;
    bench.fleet.discovered(Duration::from_secs(20)).await;
    let [status] = bench.fleet.status().try_into().unwrap();
    let reason = status.error.unwrap();
    assert!(
        reason.contains("nothing on this machine can confine")
            && reason.contains("mcp_servers.one.sandbox: off"),
        "{reason}"
    );
    bench.fleet.shutdown().await;
    assert!(!marker.exists());
}

// MCP-63
#[tokio::test(flavor = "multi_thread")]
async fn a_planted_server_is_never_started() {
    let mut bench = Bench::new(quick());
    let marker = bench.path().join("marker");
    let script = format!("touch {}; curl -s http://127.0.0.1:9/", marker.display());
    let entry = McpServer {
        command: "/bin/bash".to_owned(),
        args: vec!["-c".to_owned(), script],
        ..McpServer::default()
    };
    bench.add("one", entry).await;
    bench.fleet.discovered(Duration::from_secs(20)).await;
    let [status] = bench.fleet.status().try_into().unwrap();
    assert!(!status.connected && status.tools == 0, "{status:?}");
    let reason = status.error.unwrap();
    assert!(reason.contains("`curl`"), "{reason}");
    bench.fleet.shutdown().await;
    assert!(!marker.exists());
}

// MCP-64
#[tokio::test(flavor = "multi_thread")]
async fn malware_is_not_started_and_other_packages_are() {
    let tasks = TaskTracker::new();
    let (_list, url) = malware::start(&tasks).await;
    let folder = tempfile::tempdir().unwrap();
    let osv = malware::osv(url, None, Arc::new(SystemClock));
    let gate = gate(folder.path(), Some(osv));
    let mut bench = Bench::with_gatekeeper(quick(), Arc::new(gate));
    // A stand-in for the program that would fetch the package.
    let npx = folder.path().join("npx");
    std::fs::write(&npx, "#!/bin/sh\ntouch \"$0.$2\"\nexit 1\n").unwrap();
    std::fs::set_permissions(&npx, std::fs::Permissions::from_mode(0o755)).unwrap();
    let entry = |package: &str| McpServer {
        command: npx.display().to_string(),
        args: vec!["-y".to_owned(), package.to_owned()],
        ..McpServer::default()
    };
    bench.add("bad", entry("evil@1.0.0")).await;
    bench.add("good", entry("fine")).await;
    bench.fleet.discovered(Duration::from_secs(30)).await;
    let status = bench.fleet.status();
    let reason = status[0].error.clone().unwrap_or_default();
    assert!(reason.contains("MAL-2026-1"), "{status:?}");
    assert_ne!(status[0].status, StatusWord::Connected);
    bench.fleet.shutdown().await;
    assert!(!folder.path().join("npx.evil@1.0.0").exists());
    assert!(folder.path().join("npx.fine").exists());
}

// MCP-55 MCP-56
#[tokio::test(flavor = "multi_thread")]
async fn tools_whose_names_read_alike_can_all_be_called() {
    let server = remote(Profile::default());
    let long = "n".repeat(100);
    let raw = ["x-y", "x_y", "x.y", long.as_str(), "list_resources"];
    let mut tools: Vec<_> = raw.iter().map(|name| tool(name, json!({}))).collect();
    tools[0]["inputSchema"] = json!({
        "definitions": { "A": { "type": "string" } },
        "properties": { "text": { "anyOf": [{ "$ref": "#/definitions/A" }, { "type": "null" }] } },
        "required": ["text", "gone"]
    });
    server.set_tools(tools);
    let mut bench = Bench::new(quick());
    bench.add("one", at(server.url("/mcp"))).await;
    bench.ready("one").await;
    let offered = bench.fleet.tools();
    let names: Vec<&str> = offered
        .iter()
        .map(|tool| tool.spec().name.as_str())
        .collect();
    // Five of the server and four of our own.
    assert_eq!(names.len(), 9, "{names:?}");
    assert!(names.iter().all(|name| name.len() <= 64), "{names:?}");
    assert!(names.contains(&"mcp__one__list_resources") && names.contains(&"mcp__one__x_y"));
    let hashed = offered
        .iter()
        .find(|tool| tool.spec().description.contains("x-y"))
        .unwrap();
    assert_eq!(
        hashed.spec().parameters,
        json!({
            "properties": { "text": { "nullable": true, "$ref": "#/$defs/A" } },
            "required": ["text"],
            "$defs": { "A": { "type": "string" } },
            "type": "object"
        })
    );
    let own = |tool: &&Arc<dyn Tool>| tool.spec().description.starts_with("The tool");
    let own: Vec<_> = offered.iter().filter(own).collect();
    assert_eq!(own.len(), raw.len());
    for tool in own {
        let name = tool.spec().name.trim_start_matches("mcp__one__");
        bench.call(name, json!({ "text": "hello" })).await;
        let requests = server.stats().requests.into_iter();
        let reached = requests.filter_map(|seen| seen.name).next_back().unwrap();
        let described = format!("The tool {reached}");
        assert_eq!(tool.spec().description, described, "{name}");
    }
}
