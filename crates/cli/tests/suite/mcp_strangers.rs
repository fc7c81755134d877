//! MCP servers that nobody here wrote. `scripts/setup` installs them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hermes_testkit::model_server::{Scenario, Step, text};
use hermes_testkit::{HermeticCommand, Running, eventually};
use serde_json::{Value as Json, json};

use super::mcp_lab::{LONG, Lab};

/// A program of others written in Python.
#[expect(
    clippy::disallowed_methods,
    reason = "scripts/setup puts them where these variables say"
)]
pub(super) fn python(name: &str) -> String {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let bin = cache.unwrap().join("hermes-tests/strangers/bin");
    bin.join(name).display().to_string()
}

/// The same, after its first start, in which Python compiles all that it needs: on a busy machine that takes longer
/// than a server may take to answer.
fn warmed_up(name: &str) -> String {
    let program = python(name);
    let lab = lab();
    let help = lab.program.home.command(&program).args(["--help"]);
    help.timeout(LONG).run().unwrap().ok();
    program
}

fn lab() -> Lab {
    Lab::new(Scenario::new().reply(Step::new(text("from the model")).repeat()))
}

#[track_caller]
fn added(lab: &Lab, arguments: &[&str]) {
    let all = [&["mcp", "add", "stranger"], arguments].concat();
    let added = lab.program.command(&all).timeout(LONG).run().unwrap();
    let report = added.report();
    assert_eq!(added.code, Some(0), "scripts/setup installs it: {report}");
}

/// Calls a tool and shows what the model would get.
#[track_caller]
fn call(lab: &Lab, tool: &str, arguments: &Json) -> String {
    let arguments = arguments.to_string();
    let asked = [
        "call",
        "stranger",
        tool,
        "--elicit",
        r#"{"String":"Ada","Clarification":"snake"}"#,
        "--args",
        &arguments,
    ];
    let (code, called) = lab.mcp(&asked);
    assert_eq!(code, 0, "{tool}: {called:?}");
    called[0]["answer"].to_string()
}

/// Calls of every tool, and what their answers hold. Two run as tasks, the second with a question in the middle.
fn calls() -> Vec<(&'static str, Json, &'static str)> {
    vec![
        ("echo", json!({"message": "hello"}), "hello"),
        (
            "get-annotated-message",
            json!({"messageType": "error", "includeImage": true}),
            "MEDIA:",
        ),
        ("get-env", json!({}), "PATH"),
        ("get-resource-links", json!({"count": 2}), "demo://"),
        (
            "get-resource-reference",
            json!({"resourceType": "Blob", "resourceId": 2}),
            "demo://",
        ),
        (
            "get-structured-content",
            json!({"location": "Chicago"}),
            "structuredContent",
        ),
        ("get-sum", json!({"a": 2, "b": 40}), "42"),
        ("get-tiny-image", json!({}), "MEDIA:"),
        (
            "gzip-file-as-resource",
            json!({"name": "a.gz", "data": "data:text/plain,words"}),
            "a.gz",
        ),
        ("toggle-simulated-logging", json!({}), "logging"),
        ("toggle-subscriber-updates", json!({}), "updates"),
        (
            "trigger-long-running-operation",
            json!({"duration": 1, "steps": 4}),
            "completed",
        ),
        ("get-roots-list", json!({}), "file://"),
        ("trigger-elicitation-request", json!({}), "Ada"),
        (
            "trigger-url-elicitation",
            json!({"url": "https://example.test/sign-in"}),
            "completed",
        ),
        (
            "trigger-sampling-request",
            json!({"prompt": "say something"}),
            "from the model",
        ),
        (
            "simulate-research-query",
            json!({"topic": "rust"}),
            "Research Report: rust",
        ),
        (
            "simulate-research-query",
            json!({"topic": "python", "ambiguous": true}),
            "Research Report: python (snake)",
        ),
    ]
}

/// Every tool, resource and prompt of the server the protocol's authors test clients with.
fn everything(lab: &Lab) {
    let (_, tested) = lab.mcp(&["test", "stranger", "--json"]);
    let offered = tested[0]["tools"].as_array().unwrap();
    let mut offered: Vec<&str> = offered
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let called = calls();
    for (tool, arguments, expected) in &called {
        let answer = call(lab, tool, arguments);
        assert!(answer.contains(expected), "{tool}: {answer}");
    }
    let names: Vec<&str> = called.iter().map(|(tool, ..)| *tool).collect();
    // A look shows what a conversation would have, also what is only for clients with a model.
    assert!(offered.contains(&"trigger-sampling-request"), "{offered:?}");
    offered.retain(|tool| !names.contains(tool));
    assert!(offered.is_empty(), "never called: {offered:?}");
    resources(lab);
    prompts(lab);
}

fn resources(lab: &Lab) {
    let listed = call(lab, "list_resources", &json!({}));
    assert!(listed.contains("architecture.md"), "{listed}");
    let listed: Json = serde_json::from_str(&listed).unwrap();
    let resources = listed["resources"].as_array().unwrap();
    assert!(resources.len() >= 7, "{resources:?}");
    for resource in resources {
        let read = call(lab, "read_resource", &json!({ "uri": resource["uri"] }));
        assert!(read.len() > 100, "{resource}: {read}");
    }
    let blob = json!({ "uri": "demo://resource/dynamic/blob/2" });
    let blob = call(lab, "read_resource", &blob);
    assert!(blob.contains("saved"), "{blob}");
    let dynamic = call(
        lab,
        "read_resource",
        &json!({"uri": "demo://resource/dynamic/text/1"}),
    );
    assert!(dynamic.contains("Resource 1"), "{dynamic}");
}

fn prompts(lab: &Lab) {
    let listed = call(lab, "list_prompts", &json!({}));
    assert!(listed.contains("resource-prompt"), "{listed}");
    for (name, arguments, expected) in [
        ("simple-prompt", json!({}), "prompt"),
        ("args-prompt", json!({"city": "Oslo"}), "Oslo"),
        (
            "completable-prompt",
            json!({"department": "Sales", "name": "David"}),
            "David",
        ),
        (
            "resource-prompt",
            json!({"resourceType": "Text", "resourceId": "1"}),
            "Resource 1",
        ),
    ] {
        let got = call(
            lab,
            "get_prompt",
            &json!({"name": name, "arguments": arguments}),
        );
        assert!(got.contains(expected), "{name}: {got}");
    }
}

// MCP-57, MCP-74, MCP-75, MCP-78, MCP-88
#[test]
fn all_of_server_everything_works_as_a_program() {
    let lab = lab();
    added(
        &lab,
        &["--command", "mcp-server-everything", "--args", "stdio"],
    );
    everything(&lab);
}

// MCP-57, MCP-74, MCP-75, MCP-78, MCP-88
#[test]
fn all_of_server_everything_works_at_an_address() {
    let lab = lab();
    let port = free_port();
    let server = lab.program.home.command("mcp-server-everything");
    let server = server.arg("streamableHttp").env("PORT", port.to_string());
    let _server = listening(&server, port);
    added(&lab, &["--url", &format!("http://127.0.0.1:{port}/mcp")]);
    everything(&lab);
}

// MCP-78
#[test]
fn the_servers_for_times_and_pages_work() {
    let lab = lab();
    added(&lab, &["--command", &warmed_up("mcp-server-time")]);
    let asked =
        json!({"source_timezone": "Europe/Oslo", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    let told = call(&lab, "convert_time", &asked);
    assert!(told.contains("Asia/Tokyo"), "{told}");
    let (code, wrong) = lab.mcp(&[
        "call",
        "stranger",
        "get_current_time",
        "--args",
        r#"{"timezone":"Nowhere/Land"}"#,
    ]);
    assert_eq!(
        (code, wrong[0]["ok"].as_bool()),
        (1, Some(false)),
        "{wrong:?}"
    );
    assert_eq!(lab.mcp(&["remove", "stranger"]).0, 0);

    let fetch = warmed_up("mcp-server-fetch");
    let page = page(
        "<html><head><title>Beans</title></head><body><article><h1>Beans</h1>\
         <p>Water them every other day, and never at noon.</p></article></body></html>",
    );
    // Addresses of this machine are refused unless it is told otherwise.
    for (more, works) in [(&["--allow-private-ips"][..], true), (&[], false)] {
        let mut arguments = vec!["--command", &fetch, "--args", "--ignore-robots-txt"];
        arguments.extend(more);
        added(&lab, &arguments);
        let asked = json!({"url": page.url}).to_string();
        let (code, fetched) = lab.mcp(&["call", "stranger", "fetch", "--args", &asked]);
        let answer = fetched[0]["answer"].to_string();
        assert_eq!(code == 0, works, "{answer}");
        assert_eq!(answer.contains("every other day"), works, "{answer}");
        assert_eq!(lab.mcp(&["remove", "stranger"]).0, 0);
    }
}

/// A page at an address, for as long as this is kept.
struct Page {
    url: String,
    over: Arc<AtomicBool>,
}

fn page(html: &'static str) -> Page {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&over);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            if ends.load(Ordering::Relaxed) {
                return;
            }
            // A client that goes away gets nothing more.
            let _ = served(stream, html);
        }
    });
    Page {
        url: format!("http://{address}/beans"),
        over,
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let address = self
            .url
            .trim_start_matches("http://")
            .trim_end_matches("/beans");
        // One more visitor, so that it notices.
        let _ = std::net::TcpStream::connect(address);
    }
}

fn served(mut stream: std::net::TcpStream, html: &str) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    while lines
        .next()
        .transpose()?
        .is_some_and(|line| !line.is_empty())
    {}
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close";
    let length = html.len();
    write!(stream, "{head}\r\ncontent-length: {length}\r\n\r\n{html}")
}

const FASTMCP: &str = r#"
import sys
from fastmcp import FastMCP

server = FastMCP("fast")

@server.tool
def double(number: int) -> dict:
    """Doubles a number"""
    return {"doubled": number * 2}

@server.tool
def refuse() -> str:
    """Always fails"""
    raise ValueError("not today")

@server.resource("note://one")
def note() -> str:
    return "a note"

server.run(**({"transport": "http", "port": int(sys.argv[1])} if len(sys.argv) > 1 else {}))
"#;

// MCP-78
#[test]
fn a_fastmcp_server_works_on_both_transports() {
    let lab = lab();
    let script = lab.state.join("fast.py");
    std::fs::write(&script, FASTMCP).unwrap();
    let script = script.display().to_string();
    let port = free_port();
    let server = lab.program.home.command(python("python"));
    let server = server.args([&script, &port.to_string()]);
    let _server = listening(&server, port);
    let url = format!("http://127.0.0.1:{port}/mcp");
    let interpreter = python("python");
    for arguments in [
        &["--command", &interpreter, "--args", &script][..],
        &["--url", &url],
    ] {
        added(&lab, arguments);
        let doubled = call(&lab, "double", &json!({"number": 21}));
        assert!(doubled.contains("42"), "{doubled}");
        let note = call(&lab, "read_resource", &json!({"uri": "note://one"}));
        assert!(note.contains("a note"), "{note}");
        let (code, refused) = lab.mcp(&["call", "stranger", "refuse"]);
        assert!(code == 1 && refused[0]["answer"].to_string().contains("not today"));
        assert_eq!(lab.mcp(&["remove", "stranger"]).0, 0);
    }
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Starts a server and waits until it listens.
fn listening(server: &HermeticCommand, port: u16) -> Running {
    let running = server.spawn().unwrap();
    eventually(Duration::from_secs(60), "the server listens", || {
        std::net::TcpStream::connect(("127.0.0.1", port))
            .ok()
            .map(drop)
    })
    .unwrap();
    running
}
