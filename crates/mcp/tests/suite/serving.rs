//! Hermes as a server, asked by real clients.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::{Media, MediaSource, Message, Part, Reach, Role, SessionId, SystemClock};
use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings};
use hermes_mcp::{ServeError, ServeParts, ServeTransport, serve};
use hermes_secrets::{RedactorHandle, Secret, SecretName};
use hermes_store::{DecisionOutcome, NewPermission, NewRecord, NewSession, Options, Store};
use http::header::{AUTHORIZATION, ORIGIN};
use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{Peer, RoleClient, RunningService};
use serde_json::{Value as Json, json};
use tokio::net::TcpListener;
use tokio::process::Child;
use tokio_util::sync::CancellationToken;

use super::fixture::{Bench, PATIENCE, at, error, quick};

const TOOLS: [&str; 10] = [
    "attachments_fetch",
    "channels_list",
    "conversation_get",
    "conversations_list",
    "events_poll",
    "events_wait",
    "messages_read",
    "messages_send",
    "permissions_list_open",
    "permissions_respond",
];

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

fn id(text: &str) -> SessionId {
    SessionId::try_from(text.to_owned()).unwrap()
}

/// A conversation with a picture and a long answer, and one from another place.
async fn filled(home: &Path) -> Store {
    let store = open(home);
    let hash = store.blobs().put(b"a picture").unwrap();
    let first = NewSession::new(id("first"), "cli");
    store.create_session(first).await.unwrap();
    let other = NewSession {
        chat_id: Some("42".to_owned()),
        chat_type: Some("dm".to_owned()),
        display_name: Some("Ada".to_owned()),
        ..NewSession::new(id("other"), "telegram")
    };
    store.create_session(other).await.unwrap();
    let picture = Message {
        role: Role::User,
        parts: vec![
            Part::Text {
                text: "what is this?".to_owned(),
            },
            Part::Media(Media {
                mime: "image/png".to_owned(),
                source: MediaSource::Blob(hash),
                name: None,
            }),
        ],
        raw: None,
    };
    let rows = vec![
        NewRecord::from(&picture),
        NewRecord::text(Role::Tool, "not for others"),
        NewRecord::text(Role::Assistant, "a".repeat(3_000)),
    ];
    store.append(&id("first"), rows).await.unwrap();
    let hello = NewRecord::text(Role::User, "hello there");
    store.append(&id("other"), vec![hello]).await.unwrap();
    store
}

/// The server of a home in a process of its own, and a client of it.
async fn started(home: &Path) -> (Child, RunningService<RoleClient, ()>) {
    let mut child = tokio::process::Command::new(env!("CARGO_BIN_EXE_mcp-agent"))
        .args(["serve", &home.display().to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let client = ().serve((output, input)).await.unwrap();
    (child, client)
}

async fn call(client: &Peer<RoleClient>, tool: &'static str, arguments: Json) -> Json {
    let arguments = arguments.as_object().unwrap().clone();
    let request = CallToolRequestParams::new(tool).with_arguments(arguments);
    let answer = tokio::time::timeout(PATIENCE, client.call_tool(request));
    let answer = serde_json::to_value(answer.await.unwrap().unwrap()).unwrap();
    let text = answer["content"][0]["text"].as_str().unwrap();
    serde_json::from_str(text).unwrap()
}

// MCP-79
#[tokio::test(flavor = "multi_thread")]
async fn a_program_reads_conversations_over_standard_input() {
    let home = tempfile::tempdir().unwrap();
    let store = filled(home.path()).await;
    let (mut child, client) = started(home.path()).await;

    let mut names: Vec<String> = client
        .list_all_tools()
        .await
        .unwrap()
        .into_iter()
        .map(|tool| tool.name.into_owned())
        .collect();
    names.sort();
    assert_eq!(names, TOOLS);

    let listed = call(&client, "conversations_list", json!({})).await;
    assert_eq!(listed["count"], 2, "{listed}");
    let listed = call(&client, "conversations_list", json!({ "platform": "cli" })).await;
    assert_eq!(listed["conversations"][0]["session_key"], "first");
    let search = json!({ "search": "HELLO", "limit": "many" });
    let listed = call(&client, "conversations_list", search).await;
    assert_eq!(listed["conversations"][0]["session_key"], "other");
    assert_eq!(listed["count"], 1);

    let key = json!({ "session_key": "first" });
    let got = call(&client, "conversation_get", key.clone()).await;
    assert_eq!(got["platform"], "cli", "{got}");
    let absent = call(&client, "conversation_get", json!({ "session_key": "x" })).await;
    assert!(error(&absent).contains("no conversation"), "{absent}");

    let read = call(&client, "messages_read", key).await;
    let messages = read["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2, "tools are left out: {read}");
    assert_eq!(messages[0]["content"], "what is this?");
    assert_eq!(messages[1]["content"].as_str().unwrap().len(), 2_000);
    let last = json!({ "session_key": "first", "limit": 0 });
    let last = call(&client, "messages_read", last).await;
    assert_eq!(
        (&last["count"], &last["total_in_session"]),
        (&json!(1), &json!(2))
    );

    let message = json!({ "session_key": "first", "message_id": messages[0]["id"] });
    let found = call(&client, "attachments_fetch", message).await;
    let path = found["attachments"][0]["path"].as_str().unwrap();
    assert_eq!(std::fs::read(path).unwrap(), b"a picture");
    let elsewhere = json!({ "session_key": "other", "message_id": messages[0]["id"] });
    let elsewhere = call(&client, "attachments_fetch", elsewhere).await;
    assert!(error(&elsewhere).contains("no message"), "{elsewhere}");

    // Where conversations were held, before and after the gateway noted what it knows.
    let ada = json!({
        "target": "telegram:42", "platform": "telegram", "name": "Ada", "chat_type": "dm",
    });
    let channels = call(&client, "channels_list", json!({})).await;
    assert_eq!(channels, json!({ "count": 1, "channels": [ada] }));
    let noted = home.path().join("channel_directory.json");
    let listed = json!({ "platforms": {
        "discord": [{ "id": "7", "name": "general", "type": "channel" }],
        "telegram": [{ "id": 42, "name": "Ada L.", "type": "dm" }, { "id": -9, "name": "team", "type": "group" }],
    } });
    std::fs::write(&noted, listed.to_string()).unwrap();
    let channels = call(&client, "channels_list", json!({})).await;
    let targets = |channels: &Json| -> Vec<String> {
        let all = channels["channels"].as_array().unwrap().iter();
        all.map(|one| one["target"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        targets(&channels),
        ["discord:7", "telegram:42", "telegram:-9"]
    );
    assert_eq!(channels["channels"][1]["name"], "Ada L.");
    let one = call(&client, "channels_list", json!({ "platform": "Discord" })).await;
    assert_eq!(targets(&one), ["discord:7"]);
    std::fs::write(&noted, "{ torn").unwrap();
    let channels = call(&client, "channels_list", json!({})).await;
    assert_eq!(targets(&channels), ["telegram:42"]);

    // Nothing leaves without the gateway, and the client is told so.
    let hello = json!({ "target": "telegram:42", "message": "hello" });
    let unsent = call(&client, "messages_send", hello).await;
    let why = error(&unsent);
    assert!(
        why.contains("telegram:42") && why.contains("no gateway is running"),
        "{unsent}"
    );
    let nowhere = json!({ "target": "telegram", "message": "hello" });
    let nowhere = call(&client, "messages_send", nowhere).await;
    assert!(error(&nowhere).contains("platform:id"), "{nowhere}");
    let silent = call(&client, "messages_send", json!({ "target": "a:b" })).await;
    assert!(error(&silent).contains("message is missing"), "{silent}");

    // What another process writes while somebody waits.
    let nothing = call(&client, "events_wait", json!({ "timeout_ms": 0 })).await;
    assert_eq!(nothing["event"], Json::Null);
    let waiting = json!({ "session_key": "first", "timeout_ms": 300_000 });
    let (event, ()) = tokio::join!(call(&client, "events_wait", waiting), async {
        for session in ["other", "first"] {
            let news = NewRecord::text(Role::User, "n".repeat(600));
            store.append(&id(session), vec![news]).await.unwrap();
        }
    });
    assert_eq!(event["event"]["session_key"], "first", "{event}");
    assert_eq!(event["event"]["cursor"], 2);
    assert_eq!(event["event"]["content"].as_str().unwrap().len(), 500);
    let polled = call(&client, "events_poll", json!({ "limit": 1 })).await;
    assert_eq!(polled["events"][0]["session_key"], "other");
    assert_eq!(polled["next_cursor"], 1);
    let polled = call(&client, "events_poll", json!({ "after_cursor": "2" })).await;
    assert_eq!(
        (&polled["events"], &polled["next_cursor"]),
        (&json!([]), &json!(2))
    );

    client.cancel().await.unwrap();
    let ended = tokio::time::timeout(PATIENCE, child.wait()).await.unwrap();
    assert!(ended.unwrap().success());
}

/// A question of a session, as its process puts it on the board.
fn delete(number: i64, reach: Reach, life: Duration) -> NewPermission {
    NewPermission {
        id: number,
        session: id("other"),
        action: "rm -r build".to_owned(),
        reasons: vec!["deletes files".to_owned()],
        reach,
        life,
    }
}

/// Takes the answer to a question as its session does; who gave it.
async fn heard(store: &Store, id: i64) -> String {
    loop {
        let row = store.permission(id).await.unwrap().unwrap();
        if let Some((answer, by)) = row.answer {
            store.end_permission(id, Some(answer)).await.unwrap();
            return by;
        }
        tokio::task::yield_now().await;
    }
}

// MCP-79
#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_yes_is_listed_answered_and_told_as_events() {
    let home = tempfile::tempdir().unwrap();
    let store = filled(home.path()).await;
    let (_child, client) = started(home.path()).await;
    let none = call(&client, "permissions_list_open", json!({})).await;
    assert_eq!(none, json!({ "count": 0, "approvals": [] }));

    let number = 7;
    let waiting = call(&client, "events_wait", json!({ "timeout_ms": 300_000 }));
    let asking = store.ask_permission(delete(number, Reach::Always, PATIENCE));
    let (event, asked) = tokio::join!(waiting, asking);
    asked.unwrap();
    let event = &event["event"];
    assert_eq!(event["type"], "approval_requested", "{event}");
    assert_eq!(event["session_key"], "other");
    assert_eq!(event["content"], "rm -r build");
    let listed = call(&client, "permissions_list_open", json!({})).await;
    let open = &listed["approvals"][0];
    assert_eq!(open["id"], number.to_string(), "{listed}");
    assert_eq!(open["action"], "rm -r build");
    assert_eq!(open["reasons"], json!(["deletes files"]));
    let all = json!(["allow-once", "allow-always", "deny"]);
    assert_eq!(open["decisions"], all);

    let respond = |number: i64, decision: &str| {
        let answer = json!({ "id": number.to_string(), "decision": decision });
        call(&client, "permissions_respond", answer)
    };
    let wrong = respond(number, "perhaps").await;
    assert!(error(&wrong).contains("allow-once"), "{wrong}");
    let unknown = respond(number + 7, "deny").await;
    assert!(error(&unknown).contains("no open approval"), "{unknown}");
    // The session hears it; only then the client is told that it did.
    let (answered, by) = tokio::join!(respond(number, "allow-always"), heard(&store, number));
    assert_eq!(answered["resolved"], true, "{answered}");
    assert!(by.ends_with("through hermes mcp serve"), "{by}");
    let row = store.permission(number).await.unwrap().unwrap();
    assert_eq!(row.outcome, Some(DecisionOutcome::Always));
    let after = json!({ "after_cursor": event["cursor"], "timeout_ms": 300_000 });
    let event = call(&client, "events_wait", after).await;
    assert_eq!(event["event"]["type"], "approval_resolved", "{event}");
    assert_eq!(event["event"]["decision"], "allow-always");
    let told = event["event"]["cursor"].clone();
    let again = respond(number, "deny").await;
    assert!(error(&again).contains("not open any more"), "{again}");

    // What may be allowed this once only, and a session that does not listen.
    let once = 8;
    let asking = store.ask_permission(delete(once, Reach::Once, PATIENCE * 10));
    asking.await.unwrap();
    let later = json!({ "after_cursor": told, "timeout_ms": 300_000 });
    let asked = call(&client, "events_wait", later).await;
    assert_eq!(asked["event"]["type"], "approval_requested", "{asked}");
    let too_far = respond(once, "allow-always").await;
    assert!(error(&too_far).contains("allow-once, deny"), "{too_far}");
    let unheard = respond(once, "allow-once").await;
    assert!(
        error(&unheard).contains("the session that asked is gone"),
        "{unheard}"
    );
    // Whatever was said, nothing is decided before the session says so.
    store.wait_for_permission(once).await.unwrap();
    let polled = json!({ "after_cursor": asked["event"]["cursor"] });
    let polled = call(&client, "events_poll", polled).await;
    assert_eq!(polled["events"], json!([]), "{polled}");
    let ended = store.end_permission(once, Some(DecisionOutcome::Refused));
    ended.await.unwrap();
    let later = json!({ "after_cursor": asked["event"]["cursor"], "timeout_ms": 300_000 });
    let ended = call(&client, "events_wait", later).await;
    assert_eq!(ended["event"]["type"], "approval_resolved", "{ended}");
    assert_eq!(ended["event"]["decision"], "deny");
    let over = 9;
    let asking = store.ask_permission(delete(over, Reach::Once, Duration::ZERO));
    asking.await.unwrap();
    let late = respond(over, "allow-once").await;
    assert!(error(&late).contains("not open any more"), "{late}");
    let none = call(&client, "permissions_list_open", json!({})).await;
    assert_eq!(none["count"], 0, "{none}");
}

// MCP-79
#[tokio::test(flavor = "multi_thread")]
async fn messages_are_told_while_approvals_cannot_be_read() {
    let home = tempfile::tempdir().unwrap();
    let store = filled(home.path()).await;
    let (_child, client) = started(home.path()).await;
    let database = home.path().join("hermes.db");
    let away = std::process::Command::new("sqlite3")
        .arg(database)
        .arg("ALTER TABLE permissions RENAME TO away")
        .status();
    assert!(away.unwrap().success());
    let waiting = call(&client, "events_wait", json!({ "timeout_ms": 20_000 }));
    let (event, ()) = tokio::join!(waiting, async {
        let news = NewRecord::text(Role::User, "hello");
        store.append(&id("first"), vec![news]).await.unwrap();
    });
    assert_eq!(event["event"]["type"], "message", "{event}");
}

// MCP-79
#[tokio::test(flavor = "multi_thread")]
async fn over_the_network_it_answers_whoever_shows_the_token() {
    let home = tempfile::tempdir().unwrap();
    let store = filled(home.path()).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let token = "a-token-of-tests".to_owned();
    let token = Secret::builder(SecretName::new("TOKEN").unwrap(), token)
        .build()
        .unwrap();
    let cancel = CancellationToken::new();
    let transport = ServeTransport::Http { listener, token };
    let channels = home.path().join("channel_directory.json");
    let parts = ServeParts {
        store: store.clone(),
        channels,
    };
    let serving = serve(parts, transport, cancel.clone());
    let asking = async {
        let http = ClientBuilder::new(ClientSettings::default(), AddressPolicy::PublicAndPrivate)
            .build()
            .unwrap();
        for shown in [
            None,
            Some("Bearer a-token-of-test"),
            Some("Basic a-token-of-tests"),
        ] {
            let mut request = http.post(url.as_str()).json(&json!({}));
            if let Some(shown) = shown {
                request = request.header(AUTHORIZATION, shown);
            }
            assert_eq!(
                request.send().await.unwrap().status().as_u16(),
                401,
                "{shown:?}"
            );
        }
        // A page in a browser, which somebody talked into knowing the token.
        let page = http
            .post(url.as_str())
            .header(AUTHORIZATION, "Bearer a-token-of-tests")
            .header(ORIGIN, "http://example.com")
            .json(&json!({}));
        assert_eq!(page.send().await.unwrap().status().as_u16(), 403);

        let mut bench = Bench::new(quick());
        let mut entry = at(url.clone());
        entry.headers = BTreeMap::from([(
            "Authorization".to_owned(),
            "Bearer a-token-of-tests".to_owned(),
        )]);
        bench.add("one", entry).await;
        bench.ready("one").await;
        let listed = bench.call("conversations_list", json!({})).await;
        let text = listed["result"].as_str().unwrap();
        assert!(text.contains("\"first\""), "{listed}");
        // An approval is answered here as it is over standard input.
        let asking = store.ask_permission(delete(7, Reach::Once, PATIENCE));
        asking.await.unwrap();
        let answer = json!({ "id": "7", "decision": "deny" });
        let answering = bench.call("permissions_respond", answer);
        let (answered, by) = tokio::join!(answering, heard(&store, 7));
        assert!(by.ends_with("through hermes mcp serve"), "{by}");
        let text = answered["result"].as_str().unwrap();
        assert!(text.contains("\"resolved\":true"), "{answered}");
        cancel.cancel();
    };
    let (served, ()) = tokio::join!(tokio::time::timeout(PATIENCE, serving), asking);
    served.unwrap().unwrap();
}

// MCP-79
#[tokio::test(flavor = "multi_thread")]
async fn other_machines_are_not_served() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let token = Secret::builder(SecretName::new("TOKEN").unwrap(), "token".to_owned())
        .build()
        .unwrap();
    let transport = ServeTransport::Http { listener, token };
    let channels = home.path().join("channel_directory.json");
    let parts = ServeParts { store, channels };
    let refused = serve(parts, transport, CancellationToken::new());
    let refused = tokio::time::timeout(Duration::from_secs(30), refused).await;
    assert!(matches!(refused.unwrap(), Err(ServeError::NotLoopback(_))));
}
