//! What the server answers when nothing is armed.

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::state::Server;

/// A tool for a list; `annotations` as the protocol has them.
pub fn tool(name: &str, annotations: Json) -> Json {
    json!({
        "name": name,
        "description": format!("The tool {name}"),
        "inputSchema": {
            "type": "object",
            "properties": { "text": { "type": "string" }, "millis": { "type": "integer" } }
        },
        "annotations": annotations,
    })
}

pub(super) fn default_tools() -> Vec<Json> {
    let reads = json!({ "readOnlyHint": true });
    vec![
        tool("echo", json!({})),
        tool("read", reads.clone()),
        tool("wait", reads),
        tool("fail", json!({})),
    ]
}

pub(super) fn notification(method: &str) -> Json {
    json!({ "jsonrpc": "2.0", "method": method })
}

/// The result of a request, or its error.
pub(super) async fn result(server: &Server, method: &str, params: &Json) -> Result<Json, Json> {
    let cursor = params.get("cursor").and_then(Json::as_str);
    match method {
        "initialize" => Ok(json!({
            "protocolVersion": params.get("protocolVersion").cloned().unwrap_or(json!("2025-06-18")),
            "capabilities": server.capabilities(),
            "serverInfo": { "name": "fixture", "version": "1" },
        })),
        "ping" => Ok(json!({})),
        "tools/list" => Ok(paged(server, "tools", server.tools(), cursor)),
        "tools/call" => Ok(call(server, params).await),
        "resources/list" => {
            let one = |number: usize| json!({ "uri": format!("memo://{number}"), "name": format!("memo {number}") });
            Ok(paged(
                server,
                "resources",
                (0..5).map(one).collect(),
                cursor,
            ))
        }
        "resources/read" => Ok(json!({ "contents": [{
            "uri": params.get("uri").cloned().unwrap_or_default(),
            "mimeType": "text/plain",
            "text": "what the memo says",
        }] })),
        "prompts/list" => {
            let one = |number: usize| json!({ "name": format!("prompt {number}") });
            Ok(paged(server, "prompts", (0..3).map(one).collect(), cursor))
        }
        "prompts/get" => Ok(json!({ "messages": [{
            "role": "user", "content": { "type": "text", "text": "do this" },
        }] })),
        other => Err(json!({ "code": -32601, "message": format!("Method not found: {other}") })),
    }
}

fn paged(server: &Server, key: &str, all: Vec<Json>, cursor: Option<&str>) -> Json {
    let size = server.profile.page_size.unwrap_or(all.len().max(1));
    let start: usize = cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
    let page: Vec<Json> = all.iter().skip(start).take(size).cloned().collect();
    let mut result = json!({ key: page });
    if server.profile.endless_list {
        result["nextCursor"] = json!("0");
    } else if server.profile.bottomless_list || start + size < all.len() {
        result["nextCursor"] = json!((start + size).to_string());
    }
    result
}

async fn call(server: &Server, params: &Json) -> Json {
    let arguments = params.get("arguments").cloned().unwrap_or_default();
    let text = arguments.get("text").and_then(Json::as_str).unwrap_or("ok");
    let name = params
        .get("name")
        .and_then(Json::as_str)
        .unwrap_or_default();
    if let Some(millis) = arguments.get("millis").and_then(Json::as_u64) {
        tokio::time::sleep(Duration::from_millis(millis)).await;
    }
    if name == "echo" {
        server.echoed(text);
    }
    let bytes = arguments.get("bytes").and_then(Json::as_u64);
    let long = "x".repeat(usize::try_from(bytes.unwrap_or_default()).unwrap_or_default());
    json!({
        "content": [{ "type": "text", "text": format!("{text}{long}") }],
        "isError": name == "fail",
    })
}
