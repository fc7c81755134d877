//! Many servers, faults at random, calls all the while; and afterwards whether every promise was kept.
//!
//! The measuring program runs the same file with more of everything.

#[path = "chaos/victim.rs"]
mod victim;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use futures_core::future::BoxFuture;
use hermes_core::{
    Answer, AnsweredBy, Asker, Question, Random as _, Reply, SeededRandom, SessionId, SystemClock,
    SystemRandom,
};
use hermes_exec::{LocalBackend, LocalOptions, WardenProgram};
use hermes_http::ClientSettings;
use hermes_mcp::{
    Authority, Borders, Caller, Fleet, Gatekeeper, Handle, Operation, RecoveryPolicy, Server,
    Shelf, ShelfFolders, Surroundings, View,
};
use hermes_secrets::RedactorHandle;
use serde_json::{Map, json};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use victim::Victim;

/// Most calls under way at once; more are begun when some have ended.
const MOST_AT_ONCE: usize = 4_000;
/// How long everything may take to be well again before it is given up.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is tried.
pub(crate) struct Rig {
    /// The program that starts servers, and its argument.
    pub(crate) warden: (PathBuf, String),
    /// The server that is a program.
    pub(crate) program: PathBuf,
    pub(crate) servers: usize,
    pub(crate) faults: usize,
    /// Longest pause between two faults, in milliseconds.
    pub(crate) pause: u64,
    /// Calls begun each second, whatever becomes of those before.
    pub(crate) rate: u32,
    pub(crate) seed: u64,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) calls: usize,
    pub(crate) answered: usize,
    /// Calls begun each second, on average.
    pub(crate) rate: f64,
    /// The slowest call, and how long one may take by the policy.
    pub(crate) slowest: Duration,
    pub(crate) call_limit: Duration,
    /// Changes that were made more than once.
    pub(crate) doubled: Vec<String>,
    /// Servers that did not come back.
    pub(crate) lost: Vec<String>,
    /// How long the last one took, and how long it may take by the policy.
    pub(crate) back_after: Duration,
    pub(crate) back_limit: Duration,
    /// Programs that ran while another of the same server did, and programs left behind.
    pub(crate) overlaps: usize,
    pub(crate) orphans: usize,
    /// Open files and KiB of memory, before and after.
    pub(crate) descriptors: (usize, usize),
    pub(crate) memory: (u64, u64),
}

/// The policy of the servers: all times short, the structure as it is.
fn policy() -> RecoveryPolicy {
    RecoveryPolicy {
        call_timeout: Duration::from_secs(1),
        connect_timeout: Duration::from_secs(3),
        first_connect_retries: 1,
        reconnect_retries: 2,
        backoff_first: Duration::from_millis(20),
        backoff_cap: Duration::from_millis(200),
        parked_probe: Duration::from_secs(2),
        breaker_cooldown: Duration::from_millis(300),
        fresh_session_wait: Duration::from_secs(1),
        absent_session_wait: Duration::from_millis(200),
        wake_wait: Duration::from_secs(1),
        keepalive_interval: Duration::from_millis(500),
        keepalive_floor: Duration::from_millis(100),
        keepalive_timeout: Duration::from_secs(1),
        child_grace: Duration::from_millis(500),
        call_reconnect_window: Duration::from_secs(2),
        ..RecoveryPolicy::default()
    }
}

struct Open;

impl Gatekeeper for Open {
    fn authority(&self, _: &Server) -> Option<Arc<dyn Authority>> {
        None
    }

    fn clear<'a>(&'a self, _: &'a Server) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }
}

impl Asker for Open {
    fn ask(&self, _: Question, _: CancellationToken) -> BoxFuture<'_, Reply> {
        Box::pin(async {
            Reply {
                answer: Answer::no(),
                by: AnsweredBy::Runtime,
            }
        })
    }
}

/// Calls all servers at random until told to stop.
struct Load {
    handles: Vec<Handle>,
    random: SeededRandom,
    rate: u32,
    over: CancellationToken,
}

/// What came of the calls.
#[derive(Default)]
struct Calls {
    begun: usize,
    answered: usize,
    slowest: Duration,
}

impl Calls {
    fn note(&mut self, ended: (bool, Duration)) {
        self.answered += usize::from(ended.0);
        self.slowest = self.slowest.max(ended.1);
    }
}

impl Load {
    /// Begins calls at an even pace, and catches up when the machine was too busy to.
    async fn run(self) -> anyhow::Result<(Calls, f64)> {
        let mut calls = Calls::default();
        let mut running = JoinSet::new();
        let mut pace = tokio::time::interval(Duration::from_secs(1) / self.rate.max(1));
        pace.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let started = Instant::now();
        loop {
            tokio::select! {
                biased;
                () = self.over.cancelled() => break,
                Some(ended) = running.join_next() => calls.note(ended?),
                _ = pace.tick(), if running.len() < MOST_AT_ONCE => {
                    running.spawn(self.one(calls.begun)?);
                    calls.begun += 1;
                }
            }
        }
        let rate = calls.begun as f64 / started.elapsed().as_secs_f64();
        while let Some(ended) = running.join_next().await {
            calls.note(ended?);
        }
        Ok((calls, rate))
    }

    /// One call: whether it was answered, and how long it took.
    fn one(&self, number: usize) -> anyhow::Result<impl Future<Output = (bool, Duration)> + use<>> {
        let count = u64::try_from(self.handles.len())?;
        let place = usize::try_from(self.random.below(count))?;
        let handle = self.handles.get(place).context("no such server")?.clone();
        let changes = self.random.below(2) == 0;
        Ok(async move {
            let started = Instant::now();
            // A call that hangs is one that took this long.
            let called = tokio::time::timeout(PATIENCE, call(&handle, changes, number)).await;
            (matches!(called, Ok(true)), started.elapsed())
        })
    }
}

async fn call(handle: &Handle, changes: bool, number: usize) -> bool {
    let Ok(session) = SessionId::try_from("chaos".to_owned()) else {
        return false;
    };
    let text = json!(format!("text {number}"));
    let operation = Operation::CallTool {
        name: if changes { "echo" } else { "read" }.to_owned(),
        arguments: Map::from_iter([("text".to_owned(), text)]),
        repeatable: !changes,
    };
    let caller = Caller {
        session,
        asker: Arc::new(Open),
        cancel: CancellationToken::new(),
        progress: None,
    };
    handle.call(operation, caller).await.is_ok()
}

fn fleet(rig: &Rig, home: &Path, policy: RecoveryPolicy) -> Fleet {
    Fleet::new(Surroundings {
        policy,
        backend: Arc::new(LocalBackend::new(LocalOptions {
            warden: WardenProgram {
                program: rig.warden.0.clone(),
                arguments: vec![rig.warden.1.clone()],
                grace: Duration::from_millis(500),
            },
            scratch: home.join("scratch"),
            confiner: None,
        })),
        network: ClientSettings::default(),
        redactor: RedactorHandle::default(),
        home: home.to_owned(),
        user_home: None,
        directory: home.to_owned(),
        environment: [("PATH", "/usr/bin:/bin")].into_iter().collect(),
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
        borders: Borders::default(),
        gatekeeper: Arc::new(Open),
        shelf: Arc::new(Shelf::new(ShelfFolders::of_home(home), None)),
        memory: None,
        decisions: None,
        patience: PATIENCE,
        sampler: None,
        reserved: Vec::new(),
        blocked: Vec::new(),
    })
}

/// Hurts and watches.
#[expect(clippy::too_many_lines, reason = "one story: hurt, mended, counted")]
pub(crate) async fn run(rig: &Rig) -> anyhow::Result<Report> {
    let folder = tempfile::tempdir()?;
    let policy = policy();
    let fleet = fleet(rig, folder.path(), policy.clone());
    let mut victims = Vec::new();
    let mut servers = Vec::new();
    for number in 0..rig.servers {
        let (victim, entry) = Victim::new(number, rig, folder.path())?;
        victims.push(victim);
        servers.push(Server::new(format!("s{number}"), entry));
    }
    fleet.apply(servers).await;
    let names = 0..rig.servers;
    let handles: Option<Vec<Handle>> = names.map(|one| fleet.handle(&format!("s{one}"))).collect();
    let handles = handles.context("a server is missing")?;
    all_ready(&handles).await;
    let mut report = Report {
        // Two attempts; before them a wait for the program, between them a look and a wait for a session.
        call_limit: 2 * policy.call_timeout
            + policy.wake_wait
            + policy.keepalive_timeout
            + policy.fresh_session_wait,
        back_limit: policy.parked_probe + policy.connect_timeout,
        ..Report::default()
    };
    let over = CancellationToken::new();
    let mut load = JoinSet::new();
    load.spawn(
        Load {
            handles: handles.clone(),
            random: SeededRandom::new(rig.seed),
            rate: rig.rate,
            over: over.clone(),
        }
        .run(),
    );
    let random = SeededRandom::new(rig.seed + 1);
    // What a first round leaves behind, such as threads and pooled connections, is not growth.
    let first = rig.faults / 5;
    for number in 0..rig.faults {
        if number == first {
            victims.iter().for_each(Victim::mend);
            all_ready(&handles).await;
            (report.descriptors.0, report.memory.0) = (descriptors()?, memory()?);
        }
        let place = usize::try_from(random.below(u64::try_from(victims.len())?))?;
        let victim = victims.get_mut(place).context("no such server")?;
        // Half of the time the last fault is over when the next one comes.
        if random.below(2) == 0 {
            victim.mend();
        }
        victim.hurt(&random)?;
        tokio::time::sleep(Duration::from_millis(random.below(rig.pause))).await;
    }
    victims.iter().for_each(Victim::mend);
    let mended = Instant::now();
    let back = all_ready(&handles).await;
    report.back_after = mended.elapsed();
    for (handle, ready) in handles.iter().zip(back) {
        if !ready || !answers(handle).await {
            let lost = format!("{}: {:?}", handle.name(), handle.view());
            report.lost.push(lost);
        }
    }
    over.cancel();
    let ended = load.join_next().await.context("no calls")?;
    let (calls, rate) = ended??;
    (report.descriptors.1, report.memory.1) = (descriptors()?, memory()?);
    (report.calls, report.answered, report.rate) = (calls.begun, calls.answered, rate);
    report.slowest = calls.slowest;
    fleet.shutdown().await;
    let deadline = Instant::now() + PATIENCE;
    report.orphans = loop {
        let left = victims.iter().map(Victim::orphans).sum();
        if left == 0 || Instant::now() > deadline {
            break left;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    report.doubled = victims.iter().flat_map(Victim::doubled).collect();
    report.overlaps = victims.iter().map(Victim::overlaps).sum();
    Ok(report)
}

/// Waits for all, and says which made it.
async fn all_ready(handles: &[Handle]) -> Vec<bool> {
    let deadline = Instant::now() + PATIENCE;
    let mut ready = Vec::new();
    for handle in handles {
        let left = deadline.saturating_duration_since(Instant::now());
        ready.push(handle.wait_for(left, View::is_ready).await.is_ready());
    }
    ready
}

/// Whether a server answers, sooner or later: a session that has expired may have to be found out first.
async fn answers(handle: &Handle) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if call(handle, false, 0).await {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

fn descriptors() -> anyhow::Result<usize> {
    Ok(std::fs::read_dir("/proc/self/fd")?.count())
}

/// The KiB of memory that are ours.
fn memory() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.context("no memory figure")?.parse()?)
}
