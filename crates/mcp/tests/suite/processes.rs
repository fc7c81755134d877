//! Programs of servers: none is left behind, and never two of one server.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_core::future::BoxFuture;
use hermes_exec::{Backend, ExecError, Launch, Place, Process as Program};
use hermes_mcp::{Authority, Gatekeeper, RecoveryPolicy, Server, State, View};
use hermes_testkit::process::{Process, descendants};
use nix::sys::signal::Signal;
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::breaker::end;
use super::fixture::{Bench, PATIENCE, context, error, quick, read};

/// The processes of these ids that still run.
fn alive(pids: &[String]) -> Vec<String> {
    pids.iter()
        .filter(|pid| Process::of(pid.parse().unwrap()).is_some())
        .cloned()
        .collect()
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

// MCP-46
#[tokio::test(flavor = "multi_thread")]
async fn a_handshake_that_hangs_ends_in_time_with_its_program() {
    let policy = RecoveryPolicy {
        connect_timeout: Duration::from_millis(100),
        child_grace: Duration::from_millis(50),
        first_connect_retries: 49,
        backoff_first: Duration::from_millis(1),
        backoff_cap: Duration::from_millis(1),
        ..quick()
    };
    let mut bench = Bench::new(policy);
    let program = bench.program("one", "");
    std::fs::write(bench.state("one").join("hang"), "").unwrap();
    bench.add("one", program).await;
    bench
        .until("one", "some attempts", |view| view.failed_attempts >= 3)
        .await;
    let before = descriptors();
    let view = bench
        .handle("one")
        .wait_for(PATIENCE * 4, |view| view.state == State::Parked)
        .await;
    assert_eq!(view.failed_attempts, 50, "{view:?}");
    let error = view.last_error.unwrap();
    assert!(error.starts_with("no answer within"), "{error}");
    let starts = bench.lines("one", "starts");
    // On a busy machine a program may be ended before it has noted its start.
    assert!(starts.len() <= 50);
    assert_eq!(alive(&starts), Vec::<String>::new());
    assert!(bench.lines("one", "overlaps").is_empty());
    assert!(descriptors() <= before + 8, "{before} -> {}", descriptors());
}

// MCP-47
#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_leaves_no_process_behind() {
    let mut bench = Bench::new(quick());
    bench.add("one", bench.program("one", "grandchild")).await;
    bench.ready("one").await;
    let mut pids = bench.lines("one", "starts");
    pids.extend(bench.lines("one", "grandchildren"));
    assert_eq!(alive(&pids).len(), 2);
    bench.fleet.shutdown().await;
    assert_eq!(alive(&pids), Vec::<String>::new());
}

/// What the end of an agent may take, however it came.
const FIVE_SECONDS: Duration = Duration::from_secs(5);
/// What the end of an agent may take when its server does not go.
const AT_ONCE: Duration = Duration::from_secs(1);
/// On a machine that is busy with something else only the quickest round says anything.
const ROUNDS: usize = 3;

/// An agent with one server, whose program has started another.
struct Agent {
    agent: std::process::Child,
    pids: Vec<String>,
    _folder: tempfile::TempDir,
}

impl Agent {
    fn start(faults: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut agent = Command::new(env!("CARGO_BIN_EXE_mcp-agent"))
            .arg("agent")
            .arg(folder.path())
            .arg(env!("CARGO_BIN_EXE_mcp-stdio"))
            .arg(faults)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = std::io::BufReader::new(agent.stdout.take().unwrap());
        let mut line = String::new();
        std::io::BufRead::read_line(&mut out, &mut line).unwrap();
        assert_eq!(line, "ready\n");
        let lines = |file: &str| -> Vec<String> {
            let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
            text.lines().map(str::to_owned).collect()
        };
        let mut pids = lines("starts");
        pids.extend(lines("grandchildren"));
        assert_eq!(alive(&pids).len(), 2);
        Self {
            agent,
            pids,
            _folder: folder,
        }
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.agent.id()).unwrap()
    }

    /// Kills the agent, and answers how long its server was there after that.
    fn kill(mut self) -> Duration {
        self.agent.kill().unwrap();
        let killed = Instant::now();
        self.agent.wait().unwrap();
        self.gone();
        killed.elapsed()
    }

    /// Ends the agent, and answers how long it took to end and how long its server was there after that.
    fn leave(mut self) -> (Duration, Duration) {
        let begun = Instant::now();
        drop(self.agent.stdin.take());
        assert!(self.agent.wait().unwrap().success());
        let left = begun.elapsed();
        self.gone();
        (left, begun.elapsed() - left)
    }

    fn gone(&self) {
        hermes_testkit::eventually(PATIENCE, "everything has ended", || {
            alive(&self.pids).is_empty().then_some(())
        })
        .unwrap();
    }
}

fn within_five_seconds(round: impl Fn() -> Duration) {
    let mut took = Vec::new();
    for _ in 0..ROUNDS {
        took.push(round());
        if took.last().is_some_and(|time| *time < FIVE_SECONDS) {
            return;
        }
    }
    panic!("{took:?}");
}

// MCP-91
#[test]
fn a_program_that_ignores_being_asked_holds_nothing_up_and_is_ended_behind_it() {
    let mut took = Vec::new();
    for _ in 0..ROUNDS {
        let (left, gone) = Agent::start("stubborn grandchild").leave();
        took.push((left, gone));
        if left < AT_ONCE && gone < FIVE_SECONDS {
            return;
        }
    }
    panic!("{took:?}");
}

// MCP-48
#[test]
fn a_killed_agent_leaves_no_server_behind() {
    within_five_seconds(|| Agent::start("grandchild").kill());
}

// MCP-48
#[test]
fn an_agent_killed_together_with_what_starts_its_servers_leaves_none_either() {
    within_five_seconds(|| {
        let agent = Agent::start("grandchild");
        let mut wardens: Vec<Process> = descendants(agent.pid())
            .into_iter()
            .filter(|process| {
                let line = std::fs::read(format!("/proc/{}/cmdline", process.pid));
                line.is_ok_and(|line| String::from_utf8_lossy(&line).contains("warden"))
            })
            .collect();
        assert!(wardens.len() >= 2, "{wardens:?}");
        wardens.sort_by_key(|warden| warden.start_time);
        let signal = |pid, signal| {
            nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), signal).unwrap();
        };
        // It must not start another one meanwhile.
        signal(agent.pid(), Signal::SIGSTOP);
        signal(wardens[0].pid, Signal::SIGKILL);
        agent.kill()
    });
}

// MCP-49
#[tokio::test(flavor = "multi_thread")]
async fn there_are_never_two_programs_of_one_server() {
    let mut bench = Bench::new(quick());
    bench.add("one", bench.program("one", "grandchild")).await;
    for generation in 1..=6 {
        let view = bench
            .until("one", "the next session", |view| {
                view.is_ready() && view.generation == generation
            })
            .await;
        // In turn: killed from outside, and replaced while it runs.
        if generation % 2 == 0 {
            end(view.pid.unwrap());
        } else {
            bench.handle("one").reconnect().await;
        }
    }
    bench
        .until("one", "the last session", |view| {
            view.is_ready() && view.generation == 7
        })
        .await;
    assert_eq!(bench.lines("one", "starts").len(), 7);
    assert_eq!(bench.lines("one", "overlaps"), Vec::<String>::new());
    let gone = &bench.lines("one", "grandchildren")[..6];
    assert_eq!(alive(gone), Vec::<String>::new());
}

/// Starts programs as it is told to, but keeps the first one to itself until it is let go.
struct Laggard {
    local: Arc<dyn Backend>,
    /// How many programs were asked for.
    asked: watch::Sender<usize>,
    let_go: CancellationToken,
}

impl Backend for Laggard {
    fn place(&self) -> Place {
        self.local.place()
    }

    fn scratch(&self) -> PathBuf {
        self.local.scratch()
    }

    fn spawn(&self, launch: Launch) -> BoxFuture<'_, Result<Program, ExecError>> {
        Box::pin(async move {
            self.asked.send_modify(|asked| *asked += 1);
            let started = self.local.spawn(launch).await;
            self.let_go.cancelled().await;
            started
        })
    }

    fn close(&self) -> BoxFuture<'_, Result<(), ExecError>> {
        self.local.close()
    }
}

// MCP-49
#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_comes_too_late_is_ended_before_the_next_one() {
    let policy = RecoveryPolicy {
        connect_timeout: Duration::from_secs(1),
        // A busy machine may need some.
        first_connect_retries: 50,
        ..quick()
    };
    let (asked, mut seen) = watch::channel(0);
    let let_go = CancellationToken::new();
    let gate = let_go.clone();
    let mut bench = Bench::starting_through(policy, |local| {
        Arc::new(Laggard {
            local,
            asked,
            let_go: gate,
        })
    });
    bench.add("one", bench.program("one", "stays")).await;
    seen.wait_for(|asked| *asked == 1).await.unwrap();
    // Long after the time for it is over.
    let second = tokio::time::timeout(Duration::from_secs(3), seen.wait_for(|asked| *asked > 1));
    assert!(second.await.is_err(), "two programs are started at once");
    assert_eq!(bench.view("one").failed_attempts, 0);
    let_go.cancel();
    bench.ready("one").await;
    assert_eq!(bench.lines("one", "overlaps"), Vec::<String>::new());
    bench.fleet.shutdown().await;
    assert_eq!(alive(&bench.lines("one", "starts")), Vec::<String>::new());
}

// MCP-50
// MCP-51
#[tokio::test(flavor = "multi_thread")]
async fn a_noisy_program_is_understood_and_its_words_are_logged() {
    let mut bench = Bench::new(quick());
    bench.add("one", bench.program("one", "noise")).await;
    let pid = bench.ready("one").await.pid.unwrap();
    assert_eq!(bench.echo("x").await, json!({ "result": "x" }));
    let log = bench.path().join("logs/mcp-stderr.log");
    let text = hermes_testkit::eventually(PATIENCE, "the log is written", || {
        let text = std::fs::read_to_string(&log).ok()?;
        text.contains("[one] noise on standard error")
            .then_some(text)
    })
    .unwrap();
    assert!(text.contains("starting MCP server 'one'"), "{text}");
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    let environment = String::from_utf8_lossy(&environment).into_owned();
    assert!(environment.contains("SX_STATE="));
    assert!(!environment.contains("A_SECRET"), "{environment}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_program_is_named() {
    let policy = RecoveryPolicy {
        first_connect_retries: 0,
        ..quick()
    };
    let mut bench = Bench::new(policy);
    let mut server = bench.program("one", "");
    server.command = "no-such-program-anywhere".to_owned();
    bench.add("one", server).await;
    let view = bench
        .until("one", "an error", |view| view.last_error.is_some())
        .await;
    let error = view.last_error.unwrap();
    assert!(
        error.starts_with("it could not be connected: \"")
            && error.contains("no-such-program-anywhere was not found"),
        "{error}"
    );
}

/// Looks at every program for a while before it lets it start.
struct Careful(Duration);

impl Gatekeeper for Careful {
    fn authority(&self, _: &Server) -> Option<Arc<dyn Authority>> {
        None
    }

    fn clear<'a>(&'a self, _: &'a Server) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async {
            tokio::time::sleep(self.0).await;
            Ok(())
        })
    }
}

// MCP-46
#[tokio::test(flavor = "multi_thread")]
async fn looking_at_a_program_does_not_take_the_time_of_its_start() {
    let policy = RecoveryPolicy {
        connect_timeout: Duration::from_secs(3),
        ..quick()
    };
    let careful = Careful(Duration::from_secs(4));
    let mut bench = Bench::with_gatekeeper(policy, Arc::new(careful));
    bench.add("one", bench.program("one", "")).await;
    let view = bench.until("one", "settled", View::is_settled).await;
    assert!(view.is_ready() && view.failed_attempts == 0, "{view:?}");
}

// MCP-28, MCP-90
#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_keeps_ending_is_started_less_and_less_often() {
    let policy = RecoveryPolicy {
        backoff_first: Duration::from_millis(100),
        backoff_cap: Duration::from_secs(60),
        ..quick()
    };
    let mut bench = Bench::new(policy);
    let server = bench.program("one", "brief");
    bench.add("one", server).await;
    bench
        .until("one", "the first session", |view| view.generation == 1)
        .await;
    let began = Instant::now();
    bench
        .until("one", "the fourth session", |view| view.generation == 4)
        .await;
    let waits = Duration::from_millis(100 + 200 + 400);
    assert!(began.elapsed() >= waits, "{:?}", began.elapsed());
    // It is never given up, and whoever looks sees when it is tried again.
    let view = bench
        .until("one", "waiting", |view| view.next_try.is_some())
        .await;
    assert_eq!(view.state, State::Reconnecting { failures: 1 });
}

// MCP-24
#[tokio::test(flavor = "multi_thread")]
async fn whoever_calls_a_server_that_is_down_hears_why_and_until_when() {
    let policy = RecoveryPolicy {
        reconnect_retries: 0,
        ..quick()
    };
    let mut bench = Bench::new(policy);
    let server = bench.program("one", "");
    bench.add("one", server).await;
    let pid = bench.ready("one").await.pid.unwrap();
    let tool = bench.tool("mcp__one__echo");
    std::fs::write(bench.state("one").join("broken"), "").unwrap();
    end(pid);
    bench.parked("one").await;
    let around = context(CancellationToken::new());
    let answer = read(tool.call(json!({ "text": "x" }), &around).await);
    let told = error(&answer);
    // The reason is in our words, the time is that of the next look.
    for part in [
        "reconnect",
        "(the connection was lost)",
        "hermes mcp test one",
    ] {
        assert!(told.contains(part), "{told}");
    }
    assert!(told.contains("~300s") || told.contains("~299s"), "{told}");
}
