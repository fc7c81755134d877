//! Ends what we started in somebody's cloud when our process is killed.
//!
//! A vendor's API does not notice that we are gone. So a second process of ours holds one prepared request, the
//! wish, and the end of a pipe from us: when the pipe ends before the wish was taken back, it is sent. The
//! patience of the guard over there covers the rest, such as a machine without power.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hermes_http::{AuthScheme, HttpClient, HttpError, Timeouts};
use hermes_secrets::{ChildName, Origin, Secret, SecretName};
use http::{HeaderName, Method};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, Command};
use tokio::sync::Mutex;
use tokio::time::timeout;
use url::Url;

/// The name under which secrets may be handed to the second process.
const NAME: &str = "hermes-tether";
const MAX_WISH: u64 = 256 << 10;
const MAX_ANSWER: usize = 64 << 10;
/// How long handing a wish over may take.
const HAND_OVER: Duration = Duration::from_secs(5);
/// How often, and how long each time, the wish is tried.
const ATTEMPTS: usize = 6;
const ATTEMPT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(300);

/// How this program is started as the second process.
#[derive(Debug, Clone)]
pub struct TetherProgram {
    /// The program.
    pub program: PathBuf,
    /// What makes it one; it is to call [`tether_main`].
    pub arguments: Vec<String>,
    /// Its whole environment: what it needs to find the same network settings.
    pub environment: Vec<(String, String)>,
}

/// The child that secrets must be open to, so that a wish can carry them.
pub(crate) fn child() -> ChildName {
    ChildName::new(NAME)
}

/// One request, to be sent when we are gone.
#[derive(Serialize, Deserialize)]
pub(crate) struct Wish {
    url: String,
    /// Whether it needs HTTP/2, as gRPC does.
    shared: bool,
    headers: Vec<(String, String)>,
    /// The same for what must not be seen.
    secrets: Vec<(String, String)>,
    body: String,
}

impl Wish {
    /// A `POST` of these bytes.
    pub(crate) fn post(url: &Url, content_type: &str, body: &[u8]) -> Self {
        Self {
            url: url.to_string(),
            shared: false,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            secrets: Vec::new(),
            body: BASE64_STANDARD.encode(body),
        }
    }

    /// Over HTTP/2.
    pub(crate) fn shared(mut self) -> Self {
        self.shared = true;
        self.header("te", "trailers")
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A header with a secret after `prefix`; left out if the secret is not open to the second process.
    pub(crate) fn secret(mut self, name: &str, prefix: &str, secret: &Secret) -> Self {
        if let Ok(value) = secret.expose_to_child(&child()) {
            self.secrets
                .push((name.to_owned(), format!("{prefix}{value}")));
        }
        self
    }
}

/// Our end of the second process, which is started with the first wish.
pub(crate) struct Tether {
    program: TetherProgram,
    pipe: Mutex<Option<ChildStdin>>,
}

impl Tether {
    pub(crate) fn new(program: TetherProgram) -> Self {
        Self {
            program,
            pipe: Mutex::new(None),
        }
    }

    /// Makes this the wish in place of the one before.
    pub(crate) async fn arm(&self, wish: &Wish) -> io::Result<()> {
        let mut line = serde_json::to_vec(wish)?;
        line.push(b'\n');
        let mut pipe = self.pipe.lock().await;
        if let Some(open) = pipe.as_mut()
            && write(open, &line).await.is_ok()
        {
            return Ok(());
        }
        let mut fresh = self.start()?;
        write(&mut fresh, &line).await?;
        *pipe = Some(fresh);
        Ok(())
    }

    /// Takes the wish back and ends the second process.
    pub(crate) async fn release(&self) {
        if let Some(mut pipe) = self.pipe.lock().await.take()
            && let Err(error) = write(&mut pipe, b"null\n").await
        {
            tracing::debug!(%error, "the tether was gone already");
        }
    }

    fn start(&self) -> io::Result<ChildStdin> {
        let mut child = Command::new(&self.program.program)
            .args(&self.program.arguments)
            .env_clear()
            .envs(self.program.environment.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Signals that a terminal sends to our own group are not meant for it.
            .process_group(0)
            .kill_on_drop(false)
            .spawn()?;
        child.stdin.take().ok_or(io::ErrorKind::BrokenPipe.into())
    }
}

async fn write(pipe: &mut ChildStdin, line: &[u8]) -> io::Result<()> {
    timeout(HAND_OVER, async {
        pipe.write_all(line).await?;
        pipe.flush().await
    })
    .await?
}

/// What the second process does: reads wishes from its standard input until that ends, then sends the last one.
pub async fn tether_main(client: &HttpClient) {
    let mut orders = BufReader::new(tokio::io::stdin());
    let mut last: Option<Wish> = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = (&mut orders).take(MAX_WISH);
        match limited.read_until(b'\n', &mut line).await {
            Ok(1..) if line.ends_with(b"\n") => {
                last = serde_json::from_slice(&line).unwrap_or(last);
            }
            Ok(_) | Err(_) => break,
        }
    }
    let Some(wish) = last else { return };
    for _ in 0..ATTEMPTS {
        match send(client, &wish).await {
            Ok(()) => return,
            Err(error) if error.is_transient() => tokio::time::sleep(PAUSE).await,
            Err(_) => return,
        }
    }
}

async fn send(client: &HttpClient, wish: &Wish) -> Result<(), HttpError> {
    let mut request = client
        .request(Method::POST, wish.url.as_str())
        .body(BASE64_STANDARD.decode(&wish.body).unwrap_or_default())
        .timeouts(Timeouts {
            first_byte: ATTEMPT,
            idle: ATTEMPT,
            total: ATTEMPT,
            ..Timeouts::default()
        });
    for (name, value) in &wish.headers {
        if let Ok(name) = name.parse::<HeaderName>() {
            request = request.header(name, value.as_str());
        }
    }
    let origin = wish
        .url
        .parse::<Url>()
        .ok()
        .and_then(|url| Origin::of(&url).ok());
    for (name, value) in &wish.secrets {
        if let (Ok(header), Ok(known), Some(origin)) = (
            name.parse::<HeaderName>(),
            SecretName::new("HERMES_TETHER"),
            &origin,
        ) && let Ok(secret) = Secret::new(known, value.clone(), [origin.clone().into()])
        {
            request = request.auth(&secret, AuthScheme::Header(header));
        }
    }
    if wish.shared {
        request = request.http2();
    }
    let answer = request.send().await?.require_success().await?;
    answer.bytes(MAX_ANSWER).await.map(drop)
}
