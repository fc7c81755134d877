//! What the server knows: sessions, what is armed, what it has seen.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use tokio::sync::{Notify, mpsc, oneshot};

use super::answer::{default_tools, notification};

/// Messages that may wait on one event stream.
const QUEUE: usize = 64;

static SESSIONS: AtomicU64 = AtomicU64::new(1);
static EVENTS: AtomicU64 = AtomicU64::new(1);

/// What kind of server it is.
#[derive(Debug, Clone)]
pub struct Profile {
    /// Announces tools.
    pub tools: bool,
    /// Announces resources.
    pub resources: bool,
    /// Announces prompts.
    pub prompts: bool,
    /// Gives out session ids.
    pub sessions: bool,
    /// Answers with event streams instead of plain JSON.
    pub streams: bool,
    /// Answers with event streams whose events have ids: who was cut off asks for the rest. That request counts as the
    /// method `resume`.
    pub resumable: bool,
    /// How long a session lives without requests.
    pub session_life: Option<Duration>,
    /// How long `initialize` takes from the second time on.
    pub slow_return: Duration,
    /// How long the end of a session takes.
    pub slow_goodbye: Duration,
    /// The token every request must carry; can be changed later.
    pub token: Option<String>,
    /// Entries on one page of a list; all when absent.
    pub page_size: Option<usize>,
    /// Every page of a list names the same next page.
    pub endless_list: bool,
    /// Every page of a list names another next page, without end.
    pub bottomless_list: bool,
    /// Where `/moved` leads.
    pub moved_to: Option<String>,
    /// Requests that are kept for looking at.
    pub kept_requests: usize,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            tools: true,
            resources: true,
            prompts: true,
            sessions: true,
            streams: false,
            resumable: false,
            session_life: None,
            slow_return: Duration::ZERO,
            slow_goodbye: Duration::ZERO,
            token: None,
            page_size: None,
            endless_list: false,
            bottomless_list: false,
            moved_to: None,
            kept_requests: 100_000,
        }
    }
}

/// How a request goes wrong.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "mode", rename_all = "snake_case")]
pub enum Mode {
    /// Answered with an error of the protocol.
    Error {
        /// Its code.
        code: i64,
        /// Its text.
        message: String,
    },
    /// Answered with an HTTP status.
    Status {
        /// The status.
        status: u16,
        /// The body.
        body: String,
    },
    /// Answered late; at once when everything is disarmed meanwhile.
    Hold {
        /// After this many milliseconds.
        millis: u64,
        /// With this error instead of an answer.
        then: Option<String>,
    },
    /// Asks the user something on the stream of the answer, and answers with what came back.
    Ask {
        /// What, in the terms of the protocol.
        question: Json,
    },
    /// The answer breaks off.
    Cut,
    /// The answer breaks off, and all sessions are forgotten.
    Lose,
    /// The answer is of the right kind, but no message. What was asked is done all the same.
    Garbage,
    /// The connection is reset before there is an answer. What was asked is done all the same.
    Reset,
}

/// One request.
#[derive(Debug, Clone, Serialize)]
pub struct Seen {
    /// The HTTP method and path.
    pub line: String,
    /// The method of the protocol, if the body was a message.
    pub method: Option<String>,
    /// The tool or prompt it was about.
    pub name: Option<String>,
    /// The headers, in lower case.
    pub headers: BTreeMap<String, String>,
}

/// Counts since the start.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Stats {
    /// Handshakes.
    pub initialize: usize,
    /// Tool calls.
    pub calls: usize,
    /// Requests by method.
    pub methods: BTreeMap<String, usize>,
    /// Requests being answered.
    pub in_flight: usize,
    /// Most requests of `tools/call` that were being answered at once.
    pub most_calls_at_once: usize,
    /// Every request, up to as many as the profile says.
    pub requests: Vec<Seen>,
    /// Texts of the tool `echo`, which stands for tools that change something, that came more than once.
    pub doubled: Vec<String>,
}

impl Stats {
    /// How many requests of a method there were.
    pub fn of(&self, method: &str) -> usize {
        self.methods.get(method).copied().unwrap_or(0)
    }
}

pub(super) struct Server {
    pub(super) profile: Profile,
    inner: Mutex<Inner>,
    let_go: Notify,
}

struct Inner {
    stats: Stats,
    calls_at_once: usize,
    /// Hashes of the texts that were echoed.
    echoed: HashSet<u64>,
    armed: Vec<(String, Mode, usize)>,
    sessions: HashMap<String, Instant>,
    /// Who waits for what a user says.
    asking: Option<oneshot::Sender<Json>>,
    /// The event streams of sessions.
    streams: HashMap<String, mpsc::Sender<Json>>,
    /// What is left to say on streams that can be asked for again, once that is known.
    unsaid: HashMap<String, Option<Json>>,
    down: bool,
    tools: Vec<Json>,
    token: Option<String>,
}

impl Server {
    pub(super) fn new(profile: Profile) -> Self {
        let token = profile.token.clone();
        Self {
            profile,
            let_go: Notify::new(),
            inner: Mutex::new(Inner {
                token,
                stats: Stats::default(),
                calls_at_once: 0,
                echoed: HashSet::new(),
                armed: Vec::new(),
                sessions: HashMap::new(),
                asking: None,
                streams: HashMap::new(),
                unsaid: HashMap::new(),
                down: false,
                tools: default_tools(),
            }),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn arm(&self, method: &str, mode: Mode, count: usize) {
        self.inner().armed.push((method.to_owned(), mode, count));
    }

    pub(super) fn disarm(&self) {
        self.inner().armed.clear();
        self.let_go.notify_waiters();
    }

    /// A question is put to the user; ends with what comes back.
    pub(super) fn ask(&self) -> oneshot::Receiver<Json> {
        let (sender, receiver) = oneshot::channel();
        self.inner().asking = Some(sender);
        receiver
    }

    /// What came back.
    pub(super) fn told(&self, reply: Json) {
        if let Some(asking) = self.inner().asking.take() {
            // The request may have been given up meanwhile.
            let _ = asking.send(reply);
        }
    }

    /// Holds a request up for a while, or until nothing is armed any more.
    pub(super) async fn hold(&self, limit: Duration) {
        // Over its time or let go: the request goes on either way.
        let _ = tokio::time::timeout(limit, self.let_go.notified()).await;
    }

    pub(super) fn drop_sessions(&self) {
        let mut inner = self.inner();
        inner.sessions.clear();
        inner.streams.clear();
        inner.unsaid.clear();
    }

    /// Opens a stream that can be asked for again by the id of its first event.
    pub(super) fn begin(&self) -> String {
        let id = EVENTS.fetch_add(1, Ordering::Relaxed).to_string();
        self.inner().unsaid.insert(id.clone(), None);
        id
    }

    /// Keeps what was not said on such a stream, unless it is forgotten.
    pub(super) fn unsaid(&self, id: &str, answer: Json) {
        if let Some(unsaid) = self.inner().unsaid.get_mut(id) {
            *unsaid = Some(answer);
        }
    }

    /// All was said.
    pub(super) fn said(&self, id: &str) {
        self.inner().unsaid.remove(id);
    }

    /// What is left to say on a stream, if that is known already; nothing for one that nobody knows.
    pub(super) fn rest(&self, id: &str) -> Option<Option<Json>> {
        self.inner().unsaid.get(id).cloned()
    }

    pub(super) fn set_down(&self, down: bool) {
        self.inner().down = down;
        if down {
            self.inner().streams.clear();
        }
    }

    pub(super) fn is_down(&self) -> bool {
        self.inner().down
    }

    pub(super) fn token(&self) -> Option<String> {
        self.inner().token.clone()
    }

    pub(super) fn set_token(&self, token: Option<String>) {
        self.inner().token = token;
    }

    pub(super) fn set_tools(&self, tools: Vec<Json>) {
        let mut inner = self.inner();
        inner.tools = tools;
        for stream in inner.streams.values() {
            let _ = stream.try_send(notification("notifications/tools/list_changed"));
        }
    }

    pub(super) fn stats(&self) -> Stats {
        self.inner().stats.clone()
    }

    pub(super) fn see(&self, seen: Seen) {
        let mut inner = self.inner();
        if inner.stats.requests.len() < self.profile.kept_requests {
            inner.stats.requests.push(seen);
        }
    }

    /// Something was changed, and must not be changed once more.
    pub(super) fn echoed(&self, text: &str) {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let mut inner = self.inner();
        if !inner.echoed.insert(hasher.finish()) {
            inner.stats.doubled.push(text.to_owned());
        }
    }

    /// Counts a message and answers what is armed for it.
    pub(super) fn count(&self, method: &str) -> Option<Mode> {
        let mut inner = self.inner();
        *inner.stats.methods.entry(method.to_owned()).or_default() += 1;
        match method {
            "initialize" => inner.stats.initialize += 1,
            "tools/call" => inner.stats.calls += 1,
            _ => {}
        }
        let place = inner
            .armed
            .iter()
            .position(|(armed, _, left)| *left > 0 && (armed == method || armed == "*"))?;
        let (_, mode, left) = &mut inner.armed[place];
        *left -= 1;
        Some(mode.clone())
    }

    pub(super) fn working(&self, method: &str) -> Working<'_> {
        let mut inner = self.inner();
        inner.stats.in_flight += 1;
        let is_call = method == "tools/call";
        if is_call {
            inner.calls_at_once += 1;
            inner.stats.most_calls_at_once =
                inner.stats.most_calls_at_once.max(inner.calls_at_once);
        }
        Working {
            server: self,
            is_call,
        }
    }

    /// A new session.
    pub(super) fn open(&self) -> String {
        // No two servers of a process share an id, or one could be mistaken for the other.
        let number = SESSIONS.fetch_add(1, Ordering::Relaxed);
        let id = format!("session-{}-{number}", std::process::id());
        let mut inner = self.inner();
        inner.sessions.insert(id.clone(), Instant::now());
        id
    }

    /// Whether the session is known; it lives on from now.
    pub(super) fn knows(&self, id: &str) -> bool {
        let life = self.profile.session_life;
        let mut inner = self.inner();
        let Some(used) = inner.sessions.get_mut(id) else {
            return false;
        };
        if life.is_some_and(|life| used.elapsed() > life) {
            inner.sessions.remove(id);
            return false;
        }
        *used = Instant::now();
        true
    }

    pub(super) fn close(&self, id: &str) {
        let mut inner = self.inner();
        inner.sessions.remove(id);
        inner.streams.remove(id);
    }

    /// The stream on which a session hears what it did not ask for.
    pub(super) fn listen(&self, id: &str) -> mpsc::Receiver<Json> {
        let (sender, receiver) = mpsc::channel(QUEUE);
        self.inner().streams.insert(id.to_owned(), sender);
        receiver
    }

    /// Where a session listens.
    pub(super) fn stream(&self, id: &str) -> Option<mpsc::Sender<Json>> {
        self.inner().streams.get(id).cloned()
    }

    pub(super) fn tools(&self) -> Vec<Json> {
        self.inner().tools.clone()
    }

    pub(super) fn capabilities(&self) -> Json {
        let mut all = json!({});
        for (key, has) in [
            ("tools", self.profile.tools),
            ("resources", self.profile.resources),
            ("prompts", self.profile.prompts),
        ] {
            if has {
                all[key] = json!({ "listChanged": true });
            }
        }
        all
    }
}

/// A request being answered.
pub(super) struct Working<'a> {
    server: &'a Server,
    is_call: bool,
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        let mut inner = self.server.inner();
        inner.stats.in_flight -= 1;
        if self.is_call {
            inner.calls_at_once -= 1;
        }
    }
}
