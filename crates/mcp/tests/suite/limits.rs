//! Servers that say too much, or too little.

use std::net::Ipv4Addr;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_core::ToolContext;
use hermes_mcp::RecoveryPolicy;
use hermes_testkit::mcp_server::{Mode, Profile};
use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::fixture::{Bench, PATIENCE, Screen, at, context, error, quick, read, remote};
use super::offers::filter;

/// More than anybody reads.
pub(crate) const FLOOD: usize = 100 << 20;
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

// MCP-83
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_cannot_be_read_fails_its_call_at_once_and_nothing_else() {
    let mut bench = Bench::new(quick());
    bench.add("one", bench.program("one", "")).await;
    bench.ready("one").await;
    for tool in ["read", "echo"] {
        let begun = Instant::now();
        let answer = bench.call(tool, json!({ "raw": "{\"content\": [}" })).await;
        let text = error(&answer);
        assert!(text.contains("not a message of the protocol"), "{text}");
        assert_eq!(
            answer["outcome_unknown"] == json!(true),
            tool == "echo",
            "{answer}"
        );
        assert!(begun.elapsed() < PATIENCE);
    }
    // Half a character is a sign that is missing, and no reason to lose the others.
    let raw = r#"{"content": [{"type": "text", "text": "cut here \ud83c"}]}"#;
    let answer = bench.call("read", json!({ "raw": raw })).await;
    assert_eq!(answer, json!({ "result": "cut here \u{fffd}" }));
    assert_eq!(bench.view("one").generation, 1, "the session has survived");
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
    // Nobody is left to wonder where the others are.
    let warning = bench.fleet.status()[0].warning.clone().unwrap_or_default();
    assert!(warning.contains("4194304 bytes"), "{warning}");
    assert!(
        warning.contains("mcp_servers.one.tools.include"),
        "{warning}"
    );
    let lacks = &bench.fleet.unavailable()[0];
    assert!(lacks.partly && lacks.why == warning, "{lacks:?}");
    // What nobody wants does not count.
    let mut chosen = bench.program("two", "heavy");
    chosen.tools = filter("include: [tool8]\n");
    bench.add("two", chosen).await;
    bench.ready("two").await;
    assert_eq!(bench.names()[3..], ["mcp__two__tool8"]);
    assert_eq!(bench.fleet.status()[1].warning, None);
}

// MCP-59, MCP-83
#[tokio::test(flavor = "multi_thread")]
async fn lists_without_an_end_are_cut_and_the_model_is_told() {
    let server = remote(Profile {
        page_size: Some(1),
        bottomless_list: true,
        ..Profile::default()
    });
    let bench = Bench::connected(quick(), server.url("/mcp")).await;
    // A filter would not help: what is not wanted is read all the same.
    let warning = bench.fleet.status()[0].warning.clone().unwrap_or_default();
    assert!(
        warning.contains("more than 50 pages") && warning.contains("out of reach"),
        "{warning}"
    );
    assert!(!warning.contains("tools.include"), "{warning}");
    for (tool, key, count) in [
        ("list_resources", "resources", 5),
        ("list_prompts", "prompts", 3),
    ] {
        let answer = bench.call(tool, json!({})).await;
        assert_eq!(answer[key].as_array().unwrap().len(), count, "{answer}");
        assert_eq!(
            answer["truncated"],
            json!("the server's list has more than 50 pages; the rest is left out")
        );
    }
    let whole = remote(Profile::default());
    let bench = Bench::connected(quick(), whole.url("/mcp")).await;
    let answer = bench.call("list_resources", json!({})).await;
    assert_eq!(answer.get("truncated"), None, "{answer}");
}

// MCP-59
#[tokio::test(flavor = "multi_thread")]
async fn all_pages_of_a_list_share_the_time_of_one_call() {
    let server = remote(Profile {
        page_size: Some(1),
        ..Profile::default()
    });
    let policy = RecoveryPolicy {
        call_timeout: Duration::from_secs(2),
        ..quick()
    };
    let bench = Bench::connected(policy, server.url("/mcp")).await;
    let slow = Mode::Hold {
        millis: 900,
        then: None,
    };
    server.arm("resources/list", slow, 5);
    let text = error(&bench.call("list_resources", json!({})).await);
    assert!(text.ends_with("Timeout: no answer within 2 s"), "{text}");
    server.disarm();
    let answer = bench.call("list_resources", json!({})).await;
    assert_eq!(answer["resources"].as_array().unwrap().len(), 5);
}

// MCP-83
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_on_the_older_transport_fails_one_call_and_not_the_session() {
    let server = remote(Profile::default());
    let mut bench = Bench::new(quick());
    let mut old = at(server.url("/sse"));
    old.transport = "sse".to_owned();
    bench.add("one", old).await;
    bench.ready("one").await;
    let answer = bench.call("echo", json!({ "bytes": 17 << 20 })).await;
    assert!(
        error(&answer).contains("16777216 bytes"),
        "{}",
        error(&answer)
    );
    assert_eq!(bench.echo("y").await, json!({ "result": "y" }));
    assert_eq!(bench.view("one").generation, 1, "the session has survived");
}

// MCP-84: the time of a call is measured on the clock of the runtime, which this test moves.
#[tokio::test]
async fn a_call_whose_time_is_over_says_how_far_it_was() {
    const LIMIT: Duration = Duration::from_secs(50);
    let policy = RecoveryPolicy {
        call_timeout: LIMIT,
        ..quick()
    };
    let mut bench = Bench::new(policy.clone());
    bench.add("one", bench.program("one", "")).await;
    bench.ready("one").await;
    let tool = bench.tool("mcp__one__wait");
    for message in [Some("half\nway"), None] {
        let screen = Arc::new(Screen::default());
        let context = ToolContext {
            host: screen.clone(),
            ..context(CancellationToken::new())
        };
        let slow = json!({ "progress": message, "millis": 60_000 });
        let mut call = pin!(tool.call(slow, &context));
        let moment = Duration::from_millis(50);
        while timeout(moment, call.as_mut()).await.is_err() {
            if message.is_none() || !screen.shown().is_empty() {
                tokio::time::pause();
                tokio::time::advance(LIMIT).await;
                tokio::time::resume();
                break;
            }
        }
        let text = error(&read(call.await));
        assert!(text.contains("no answer within 50 s"), "{text}");
        if message.is_some() {
            assert_eq!(screen.shown(), ["\"1 of 4 half way\"\n"]);
            assert!(text.ends_with("it last said \"1 of 4 half way\""), "{text}");
        } else {
            assert!(!text.contains("last said"), "{text}");
        }
    }
}

/// A server whose answers are as long as they are asked to be, without ever being in memory as a whole.
pub(crate) async fn flooding(streams: bool) -> (String, JoinSet<()>) {
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

/// The first line of a request, and what it says; `None` when there is none.
async fn asked(stream: &mut BufReader<TcpStream>) -> std::io::Result<Option<(String, Json)>> {
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
    let message = serde_json::from_slice(&body).unwrap_or_default();
    Ok(Some((first, message)))
}

/// Answers one request; `None` when there is none.
async fn serve(stream: &mut BufReader<TcpStream>, streams: bool) -> std::io::Result<Option<()>> {
    let Some((first, message)) = asked(stream).await? else {
        return Ok(None);
    };
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

// MCP-45, MCP-90
#[tokio::test(flavor = "multi_thread")]
async fn tools_that_always_change_are_read_less_and_less_often() {
    let policy = RecoveryPolicy {
        refresh_pause: Duration::from_secs(1),
        backoff_cap: Duration::from_secs(60),
        ..quick()
    };
    let mut bench = Bench::new(policy);
    let server = bench.program("one", "restless");
    bench.add("one", server).await;
    bench.ready("one").await;
    let began = Instant::now();
    let until = async |count: usize| {
        let lists = || {
            let requests = bench.lines("one", "requests");
            requests.iter().filter(|line| *line == "tools/list").count()
        };
        while lists() < count {
            assert!(began.elapsed() < PATIENCE);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    // The first is part of the connection, the second is at once, and then each wait is twice the last. By the
    // third everybody has heard of the connection itself.
    until(3).await;
    let changes = *bench.fleet.changes().borrow();
    until(5).await;
    // By the server's own watch; how long a busy machine takes to hand a request over is not waited for twice.
    let times: Vec<u64> = (bench.lines("one", "times").iter())
        .filter_map(|line| line.strip_prefix("tools/list ")?.parse().ok())
        .collect();
    let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    for (gap, wait) in gaps[1..4].iter().zip([1_000, 2_000, 4_000]) {
        assert!(*gap >= wait / 2, "{gaps:?}");
    }
    // Nothing was new, so nobody is told of anything.
    assert_eq!(*bench.fleet.changes().borrow(), changes);
}
