//! Servers that say too much, or too little.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_core::ToolContext;
use hermes_mcp::RecoveryPolicy;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::fixture::{Bench, PATIENCE, Screen, context, error, quick, read};

/// More than anybody reads.
const FLOOD: usize = 100 << 20;
/// How much memory reading it may cost: the largest answer, and what is made of it.
const ROOM: usize = 80 << 20;

/// The most memory this process has used.
fn most_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let kilobytes = line.trim().strip_suffix(" kB").unwrap();
    kilobytes.trim().parse::<usize>().unwrap() << 10
}

/// Calls a tool whose answer is a flood, and looks at what became of it.
async fn survives_a_flood(bench: &Bench) {
    bench.ready("one").await;
    let (begun, before) = (Instant::now(), most_memory());
    for tool in ["read", "echo"] {
        let answer = bench.call(tool, json!({ "bytes": FLOOD })).await;
        let text = error(&answer);
        assert!(text.contains("16777216 bytes"), "{text}");
        // What was asked is done all the same.
        assert_eq!(
            answer["outcome_unknown"] == json!(true),
            tool == "echo",
            "{answer}"
        );
    }
    let grown = most_memory() - before;
    assert!(grown < ROOM, "{} MiB", grown >> 20);
    assert!(begun.elapsed() < PATIENCE * 2);
    let answer = bench.call("read", json!({ "text": "x" })).await;
    assert_eq!(answer, json!({ "result": "x" }));
    assert_eq!(bench.view("one").generation, 1, "the session has survived");
}

// MCP-83
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_from_a_program_fails_the_call_with_the_limit_it_broke() {
    let mut bench = Bench::new(quick());
    bench.add("one", bench.program("one", "")).await;
    survives_a_flood(&bench).await;
}

// MCP-83
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_from_an_address_fails_the_call_with_the_limit_it_broke() {
    for streams in [false, true] {
        let (url, _running) = flooding(streams).await;
        let bench = Bench::connected(quick(), url).await;
        survives_a_flood(&bench).await;
    }
}

// MCP-59, MCP-83
#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_is_too_large_is_cut() {
    let mut bench = Bench::new(quick());
    bench.add("one", bench.program("one", "heavy")).await;
    bench.ready("one").await;
    // Each entry has a little more than a mebibyte.
    let names = ["tool0", "tool1", "tool2"].map(|name| format!("mcp__one__{name}"));
    assert_eq!(bench.names(), names);
}

// MCP-84
#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_time_is_over_says_how_far_it_was() {
    let policy = RecoveryPolicy {
        call_timeout: Duration::from_secs(2),
        ..quick()
    };
    let mut bench = Bench::new(policy);
    bench.add("one", bench.program("one", "")).await;
    bench.ready("one").await;
    let slow = json!({ "progress": "half\nway", "millis": 60_000 });
    let screen = Arc::new(Screen::default());
    let context = ToolContext {
        host: screen.clone(),
        ..context(CancellationToken::new())
    };
    let outcome = bench.tool("mcp__one__wait").call(slow, &context).await;
    let text = error(&read(outcome));
    assert_eq!(screen.shown(), ["\"1 of 4 half way\"\n"]);
    assert!(text.contains("it last said \"1 of 4 half way\""), "{text}");
    let text = error(&bench.call("wait", json!({ "millis": 60_000 })).await);
    assert!(text.ends_with("no answer within 2 s"), "{text}");
}

/// A server whose answers are as long as they are asked to be, without ever being in memory as a whole.
async fn flooding(streams: bool) -> (String, JoinSet<()>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut running = JoinSet::new();
    running.spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            connections.spawn(async move {
                let mut stream = BufReader::new(stream);
                // The client goes away in the middle of a flood.
                while let Ok(Some(())) = serve(&mut stream, streams).await {}
            });
        }
    });
    (format!("http://127.0.0.1:{port}/mcp"), running)
}

/// Answers one request; `None` when there is none.
async fn serve(stream: &mut BufReader<TcpStream>, streams: bool) -> std::io::Result<Option<()>> {
    let (mut length, mut first) = (0, String::new());
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let line = line.trim().to_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
        if first.is_empty() {
            first = line;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let message: Json = serde_json::from_slice(&body).unwrap_or_default();
    let empty = |status: &str| format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
    if !first.starts_with("post") {
        stream.write_all(empty("405 No").as_bytes()).await?;
        return Ok(Some(()));
    }
    let Some(id) = message.get("id") else {
        stream.write_all(empty("202 Accepted").as_bytes()).await?;
        return Ok(Some(()));
    };
    let params = &message["params"];
    let tool = |name: &str, read_only: bool| {
        json!({
            "name": name, "inputSchema": { "type": "object" },
            "annotations": { "readOnlyHint": read_only },
        })
    };
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "flood", "version": "1" },
        }),
        "tools/list" => json!({ "tools": [tool("read", true), tool("echo", false)] }),
        "tools/call" => {
            let text = params["arguments"]["text"].as_str().unwrap_or_default();
            json!({ "content": [{ "type": "text", "text": format!("{text}@") }] })
        }
        _ => json!({}),
    };
    let flood = params["arguments"]["bytes"].as_u64().unwrap_or_default();
    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
    let (kind, before, after) = match streams {
        true => ("text/event-stream", "data: ", "\n\n"),
        false => ("application/json", "", ""),
    };
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    let (start, end) = answer.split_once('@').unwrap_or((&answer, ""));
    stream.write_all(before.as_bytes()).await?;
    stream.write_all(start.as_bytes()).await?;
    let chunk = vec![b'x'; 1 << 16];
    for _ in 0..usize::try_from(flood).unwrap() / chunk.len() {
        stream.write_all(&chunk).await?;
    }
    stream.write_all(end.as_bytes()).await?;
    stream.write_all(after.as_bytes()).await?;
    stream.flush().await?;
    stream.shutdown().await?;
    Ok(None)
}
