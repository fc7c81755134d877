//! Refused tokens: another one is asked for first, and what expires is not a matter of tokens.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::join_all;
use hermes_config::McpServer as Entry;
use hermes_core::{Clock as _, SystemClock};
use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings};
use hermes_mcp::{Authority, OAuth, OAuthParts, OAuthSettings, State};
use hermes_testkit::authorization_server::AuthorizationServer;
use hermes_testkit::mcp_server::{McpServer, Mode, Profile};
use serde_json::json;

use super::fixture::{Bench, at, error, quick, remote};

/// A server and the authorization server that vouches for us there.
struct Pair {
    server: McpServer,
    issuer: AuthorizationServer,
    bench: Bench,
    home: tempfile::TempDir,
}

impl Pair {
    fn token_file(&self) -> PathBuf {
        self.home.path().join("mcp-tokens/one.json")
    }
}

fn refused() -> Mode {
    Mode::Status {
        status: 401,
        body: String::new(),
    }
}

async fn pair(route: &str) -> Pair {
    let Waiting {
        mut pair,
        entry,
        tokens,
    } = waiting(route).await;
    fs::write(pair.token_file(), tokens).unwrap();
    pair.bench.add("one", entry).await;
    pair.bench.ready("one").await;
    pair
}

/// A pair whose server is not there yet, and what a login would leave.
struct Waiting {
    pair: Pair,
    entry: Entry,
    tokens: String,
}

async fn waiting(route: &str) -> Waiting {
    let server = remote(Profile::default());
    let issuer = AuthorizationServer::start().unwrap();
    let home = tempfile::tempdir().unwrap();
    let http = ClientBuilder::new(ClientSettings::default(), AddressPolicy::PublicAndPrivate)
        .build()
        .unwrap();
    issuer.add_client("known", None);
    let (access, refresh) = issuer.grant("known", "read");
    let until = SystemClock.now().as_second() + 3_600;
    let metadata: serde_json::Value = http
        .get(format!("{}/.well-known/oauth-authorization-server", issuer.base()).as_str())
        .send()
        .await
        .unwrap()
        .json(1 << 20)
        .await
        .unwrap();
    let folder = home.path().join("mcp-tokens");
    fs::create_dir_all(&folder).unwrap();
    let tokens = json!({ "access_token": access, "token_type": "Bearer", "expires_in": 3600,
        "refresh_token": refresh, "scope": "read", "expires_at": until as f64 });
    for (name, content) in [
        (
            "one.client.json",
            json!({ "client_id": "known", "redirect_uris": ["http://127.0.0.1:9/callback"],
                "token_endpoint_auth_method": "none" }),
        ),
        ("one.meta.json", metadata),
    ] {
        fs::write(folder.join(name), content.to_string()).unwrap();
    }
    let mut entry = at(server.url(route));
    entry.auth = "oauth".to_owned();
    if route == "/sse" {
        entry.transport = "sse".to_owned();
    }
    let oauth = OAuth::new(OAuthParts {
        settings: OAuthSettings::new("one", &entry, None).unwrap(),
        http,
        home: home.path().to_owned(),
        clock: Arc::new(SystemClock),
        person: None,
    })
    .unwrap();
    let authority: Arc<dyn Authority> = Arc::new(oauth);
    let bench = Bench::with_authority(quick(), Some(authority));
    let pair = Pair {
        server,
        issuer,
        bench,
        home,
    };
    Waiting {
        pair,
        entry,
        tokens: tokens.to_string(),
    }
}

/// The tokens that calls carried, in order.
fn tokens(server: &McpServer) -> Vec<String> {
    let stats = server.stats();
    let calls = stats
        .requests
        .iter()
        .filter(|seen| seen.method.as_deref() == Some("tools/call"));
    calls
        .map(|seen| seen.headers.get("authorization").cloned().unwrap())
        .collect()
}

// MCP-17
// MCP-18
#[tokio::test(flavor = "multi_thread")]
async fn an_expired_session_costs_no_token_and_a_refused_token_does() {
    let Pair {
        server,
        issuer,
        bench,
        home: _home,
    } = pair("/mcp").await;
    server.drop_sessions();
    assert_eq!(bench.echo("x").await, json!({ "result": "x" }));
    assert_eq!(server.stats().initialize, 2);
    assert_eq!(issuer.stats().token_requests, 0);
    let seen = tokens(&server);
    assert!(seen.iter().all(|token| *token == seen[0]));

    server.arm("tools/call", refused(), 1);
    assert_eq!(bench.echo("x").await, json!({ "result": "x" }));
    assert_eq!(issuer.stats().token_requests, 1);
    assert_eq!(server.stats().initialize, 3);
    let seen = tokens(&server);
    assert_ne!(seen.first(), seen.last());
    bench.failures(0).await;
}

// MCP-26; seed: test_circuit_breaker_cleared_on_reconnect
#[tokio::test(flavor = "multi_thread")]
async fn a_second_refusal_asks_for_a_login_and_counts_as_the_first_failure() {
    let Pair {
        server,
        issuer: _issuer,
        bench,
        home: _home,
    } = pair("/mcp").await;
    // Two failures from before, which the new session makes forgotten.
    let internal = Mode::Error {
        code: -32603,
        message: "no".to_owned(),
    };
    server.arm("tools/call", internal, 2);
    for _ in 0..2 {
        assert!(error(&bench.echo("x").await).contains("MCP call failed"));
    }
    bench.failures(2).await;
    server.arm("tools/call", refused(), 2);
    let answer = bench.echo("x").await;
    assert_eq!(answer["needs_reauth"], json!(true), "{answer}");
    assert_eq!(answer["server"], json!("one"));
    assert!(error(&answer).contains("hermes mcp login one"), "{answer}");
    bench.failures(1).await;
    assert_eq!(server.stats().initialize, 2);
}

// MCP-81
#[tokio::test(flavor = "multi_thread")]
async fn ten_calls_with_a_refused_token_cost_one_renewal_and_one_session() {
    let Pair {
        server,
        issuer,
        bench,
        home: _home,
    } = pair("/mcp").await;
    // All of them have been refused before the new token is there.
    issuer.switch(|switches| switches.token_delay_ms = 2_000);
    server.arm("tools/call", refused(), 10);
    let calls = (0..10).map(|number| {
        let bench = &bench;
        async move { bench.echo(&number.to_string()).await }
    });
    for (number, answer) in join_all(calls).await.into_iter().enumerate() {
        assert_eq!(answer, json!({ "result": number.to_string() }));
    }
    assert_eq!(issuer.stats().token_requests, 1);
    let stats = server.stats();
    assert_eq!((stats.initialize, stats.calls), (2, 20));
}

// MCP-80
#[tokio::test(flavor = "multi_thread")]
async fn the_older_transport_carries_tokens_and_recovers_too() {
    let Pair {
        server,
        issuer,
        bench,
        home: _home,
    } = pair("/sse").await;
    assert_eq!(bench.echo("x").await, json!({ "result": "x" }));
    server.drop_sessions();
    assert_eq!(bench.echo("y").await, json!({ "result": "y" }));
    assert_eq!(server.stats().initialize, 2);
    assert_eq!(issuer.stats().token_requests, 0);
    // A refused token is replaced, and the call made again with the new one.
    server.arm("tools/call", refused(), 1);
    assert_eq!(bench.echo("z").await, json!({ "result": "z" }));
    assert_eq!(issuer.stats().token_requests, 1);
    let carried = tokens(&server);
    assert!(carried.iter().all(|token| token.starts_with("Bearer ")));
    let [.., refused, last] = carried.as_slice() else {
        panic!("{carried:?}");
    };
    assert_ne!(refused, last);
    bench.failures(0).await;
}

// MCP-31, MCP-69, MCP-70
#[tokio::test(flavor = "multi_thread")]
async fn a_login_elsewhere_brings_the_server_that_waits_for_it() {
    let Waiting {
        mut pair,
        entry,
        tokens,
    } = waiting("/mcp").await;
    pair.bench.add("one", entry).await;
    pair.bench
        .until("one", "waiting for a login", |view| {
            view.state == State::NeedsAuth
        })
        .await;
    assert!(pair.bench.names().is_empty());
    assert_eq!(pair.server.stats().initialize, 0);
    // Nobody calls, and it would be tried by itself only in five minutes.
    let signed_in = pair.home.path().join("mcp-tokens/new");
    fs::write(&signed_in, tokens).unwrap();
    fs::rename(&signed_in, pair.token_file()).unwrap();
    pair.bench.ready("one").await;
    assert_eq!(pair.bench.echo("x").await, json!({ "result": "x" }));
    assert_eq!(pair.issuer.stats().token_requests, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_lets_nobody_in_waits_and_comes_back() {
    let server = remote(Profile {
        token: Some("good".to_owned()),
        ..Profile::default()
    });
    let mut bench = Bench::new(quick());
    bench.add("one", at(server.url("/mcp"))).await;
    let view = bench
        .until("one", "waiting for a login", |view| {
            view.state == State::NeedsAuth
        })
        .await;
    assert!(view.next_try.is_some());
    let why = bench.fleet.unavailable()[0].why.clone();
    assert!(why.contains("give mcp_servers.one a header"), "{why}");
    server.set_token(None);
    bench.handle("one").reconnect().await;
    bench.ready("one").await;
    assert_eq!(bench.echo("x").await, json!({ "result": "x" }));
}

// MCP-86
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_header_is_named_instead_of_a_login() {
    let server = remote(Profile::default());
    let mut bench = Bench::new(quick());
    for (value, words) in [
        ("Bearer stale", "mcp_servers.one.headers sends as X-Key"),
        ("Bearer ${MY_KEY}", "set MY_KEY, which headers.X-Key"),
    ] {
        let mut one = at(server.url("/mcp"));
        one.headers.insert("X-Key".to_owned(), value.to_owned());
        bench.add("one", one).await;
        bench.ready("one").await;
        server.arm("tools/call", refused(), 1);
        let answer = bench.echo("x").await;
        assert_eq!(answer["needs_reauth"], json!(true), "{answer}");
        let text = error(&answer);
        assert!(
            text.contains(words) && !text.contains("mcp login"),
            "{text}"
        );
    }
}
