//! The client under the protocol's own conformance suite: `mcp-conformance FOLDER URL`.
//!
//! Connects as an agent would, calls every tool once and leaves. What a scenario is and what it hands
//! over (a registered client, a key) comes in two variables of the suite. A browser is `curl`, and a
//! person who is asked something accepts what is suggested. `FOLDER` is where the homes of the runs go.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_config::{Layer, McpServer, Node, Reader, Setting as _, Value};
use hermes_core::{
    Answer, AnsweredBy, Asker, Question, Reply, SessionId, SystemClock, SystemRandom,
};
use hermes_exec::{LocalBackend, LocalOptions, WardenProgram};
use hermes_http::ClientSettings;
use hermes_mcp::{
    Borders, Browser, Caller, Fleet, Gate, Logins, Operation, Person, RecoveryPolicy, RemoteTool,
    Server, Shelf, ShelfFolders, Surroundings,
};
use hermes_secrets::RedactorHandle;
use serde_json::{Map, Value as Json, json};
use tokio_util::sync::CancellationToken;
use url::Url;

/// How long the connection may take, within the time of one scenario.
const CONNECT: Duration = Duration::from_secs(20);
const BROWSER: &str = "curl --silent --location --output /dev/null --max-time 20 %s";
/// The address of the document that describes the client, by which the suite knows one.
const CLIENT_DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

struct Willing;

impl Person for Willing {
    fn show(&self, _: &str, _: &Url, _: bool) {}

    fn say(&self, _: &str) {}

    fn line(&self) -> BoxFuture<'_, String> {
        Box::pin(std::future::pending())
    }
}

impl Asker for Willing {
    fn ask(&self, _: Question, _: CancellationToken) -> BoxFuture<'_, Reply> {
        Box::pin(async {
            Reply {
                answer: Answer::Text(String::new()),
                by: AnsweredBy::Person("conformance".to_owned()),
            }
        })
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the environment is how the suite steers this program"
)]
fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("FOLDER is missing")?);
    let url = arguments.next().ok_or("URL is missing")?;
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Json = serde_json::from_str(&context).unwrap_or_default();
    let home = folder.join(std::process::id().to_string());
    std::fs::create_dir_all(&home)?;
    let entry = entry(&url, &scenario, &context, &home)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(run(entry, &home))
}

/// The entry of the server, with what the scenario hands over.
fn entry(
    url: &str,
    scenario: &str,
    context: &Json,
    home: &Path,
) -> Result<McpServer, Box<dyn Error>> {
    let given = |key: &str| context[key].as_str().filter(|text| !text.is_empty());
    let mut oauth = Map::new();
    let mut set = |key: &str, value: Json| oauth.insert(key.to_owned(), value);
    if scenario.contains("cimd") {
        set("client_metadata_url", json!(CLIENT_DOCUMENT));
    }
    if scenario.contains("client-credentials") {
        set("grant_type", json!("client_credentials"));
    }
    for key in ["client_id", "client_secret"] {
        if let Some(value) = given(key) {
            set(key, json!(value));
        }
    }
    if let Some(key) = given("private_key_pem") {
        let path = home.join("key.pem");
        std::fs::write(&path, key)?;
        set("private_key_path", json!(path));
    }
    if let Some(token) = given("idp_id_token") {
        let idp = json!({
            "issuer": given("idp_issuer").unwrap_or_default(),
            "token_endpoint": given("idp_token_endpoint").unwrap_or_default(),
            "client_id": given("idp_client_id").unwrap_or_default(),
            "id_token": token,
        });
        set("idp", idp);
    }
    let mut entry = json!({ "url": url });
    if scenario.starts_with("auth/") {
        entry["auth"] = json!("oauth");
        entry["oauth"] = Json::Object(oauth);
    }
    let node = Node::new(Value::from_json(entry), Layer::File);
    Ok(McpServer::read(&node, &mut Reader::default()).ok_or("the entry is not one")?)
}

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

fn fleet(home: &Path) -> Fleet {
    let redactor = RedactorHandle::default();
    Fleet::new(Surroundings {
        policy: RecoveryPolicy::default(),
        backend: Arc::new(LocalBackend::new(LocalOptions {
            // Nothing is started here.
            warden: WardenProgram {
                program: PathBuf::from("/bin/false"),
                arguments: Vec::new(),
                grace: Duration::from_millis(500),
            },
            scratch: home.join("scratch"),
            confiner: None,
        })),
        network: ClientSettings::default(),
        redactor: redactor.clone(),
        home: home.to_owned(),
        user_home: None,
        directory: home.to_owned(),
        environment: [("PATH", "/usr/bin:/bin")].into_iter().collect(),
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
        borders: Borders::default(),
        gatekeeper: Arc::new(Gate {
            logins: Logins {
                network: ClientSettings::default(),
                home: home.to_owned(),
                user_home: None,
                clock: Arc::new(SystemClock),
                person: Some((
                    Arc::new(Willing),
                    Browser::new(&[("BROWSER", BROWSER)].into_iter().collect()),
                )),
                redactor,
            },
            around: around(),
            deny: Vec::new(),
            decisions: None,
            osv: None,
        }),
        shelf: Arc::new(Shelf::new(ShelfFolders::of_home(home), None)),
        memory: None,
        decisions: None,
        patience: Duration::from_secs(30),
        sampler: None,
        reserved: Vec::new(),
        blocked: Vec::new(),
    })
}

async fn run(entry: McpServer, home: &Path) -> Result<(), Box<dyn Error>> {
    let fleet = fleet(home);
    fleet.apply([Server::new("s", entry)]).await;
    fleet.discovered(CONNECT).await;
    let handle = fleet.handle("s").ok_or("there is no server")?;
    let mut failed = None;
    for tool in &handle.view().catalog.tools {
        let operation = Operation::CallTool {
            name: tool.name.clone(),
            arguments: arguments(tool),
            repeatable: false,
        };
        let caller = Caller {
            session: SessionId::try_from("s".to_owned())?,
            asker: Arc::new(Willing),
            cancel: CancellationToken::new(),
            progress: None,
        };
        failed = handle.call(operation, caller).await.err().or(failed);
    }
    let ready = handle.view().is_ready();
    fleet.shutdown().await;
    match failed {
        Some(trouble) => Err(format!("{trouble:?}").into()),
        None if ready => Ok(()),
        None => Err("the server was not reached".into()),
    }
}

/// Something of the right type for everything a tool wants.
fn arguments(tool: &RemoteTool) -> Map<String, Json> {
    let properties = tool.schema["properties"].as_object().into_iter().flatten();
    let fitting = |schema: &Json| match schema["type"].as_str() {
        Some("number" | "integer") => json!(2),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("text"),
    };
    properties
        .map(|(name, schema)| (name.clone(), fitting(schema)))
        .collect()
}
