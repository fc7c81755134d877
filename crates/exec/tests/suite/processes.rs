//! Background processes, on real programs.

use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::{Clock, ManualClock, SessionId, SystemClock, SystemRandom};
use hermes_exec::{
    Command, EndReason, Killed, ProcessError, ProcessState, Processes, ProcessesOptions, Shell,
    StartProcess, StartedProcess, Waited,
};
use hermes_secrets::RedactorHandle;
use hermes_store::{NewSession, Options, ProcessEvent, Store};
use hermes_testkit::process::{Process, find_by_env_marker};
use tokio_util::sync::CancellationToken;

use super::local::{Local, PATIENCE, command, run};

pub(crate) fn store(folder: &Path) -> Store {
    Store::open(Options {
        path: folder.join("hermes.db"),
        blobs: folder.join("blobs"),
        clock: Arc::new(SystemClock),
        redactor: RedactorHandle::default(),
        vfs: None,
    })
    .unwrap()
}

pub(crate) fn processes(folder: &Path) -> Processes {
    processes_at(folder, Arc::new(SystemClock))
}

fn processes_at(folder: &Path, clock: Arc<dyn Clock>) -> Processes {
    Processes::new(ProcessesOptions {
        store: store(folder),
        redactor: RedactorHandle::default(),
        masking: hermes_exec::guidance::Masking::default(),
        clock,
        random: Arc::new(SystemRandom),
        logs: folder.join("logs"),
        grace: Duration::from_millis(500),
    })
}

/// The store of a folder, with a conversation that hears of processes.
pub(super) async fn listening(folder: &Path) -> Store {
    let store = store(folder);
    let session = NewSession::new(conversation(), "cli");
    store.create_session(session).await.unwrap();
    store
}

/// What the conversation hears now.
pub(super) async fn hear(store: &Store) -> Vec<ProcessEvent> {
    let passed_on = store
        .pass_on_process_events(&conversation(), 1_000, |_| "told".to_owned())
        .await;
    passed_on
        .unwrap()
        .map(|(_, events)| events)
        .unwrap_or_default()
}

fn conversation() -> SessionId {
    SessionId::try_from("one".to_owned()).unwrap()
}

struct Background {
    local: Local,
    shell: Shell,
    processes: Processes,
}

impl Background {
    fn new() -> Self {
        let local = Local::new();
        Self {
            shell: local.shell(),
            processes: processes(local.path()),
            local,
        }
    }

    async fn request(&self, command: Command) -> StartProcess {
        StartProcess {
            session: "one".to_owned(),
            command: command.text.clone(),
            directory: self.shell.directory(),
            backend: Arc::clone(&self.local.backend),
            launch: self.shell.background(&command).await.unwrap(),
            notify_on_complete: false,
            watch_patterns: Vec::new(),
        }
    }

    async fn start(&self, text: &str) -> StartedProcess {
        let request = self.request(command(text)).await;
        self.processes.start(request).await.unwrap()
    }

    async fn start_notifying(&self, text: &str) -> StartedProcess {
        let request = self.request(command(text)).await;
        let request = StartProcess {
            notify_on_complete: true,
            ..request
        };
        self.processes.start(request).await.unwrap()
    }

    async fn wait(&self, id: &str) -> Waited {
        let never = CancellationToken::new();
        self.processes
            .wait(id, PATIENCE, &never, 2_000)
            .await
            .unwrap()
    }

    /// The output once it contains something.
    async fn output_with(&self, id: &str, wanted: &str) -> String {
        self.output_where(id, |output| output.contains(wanted))
            .await
    }

    /// The output once it is as wanted.
    async fn output_where(&self, id: &str, wanted: impl Fn(&str) -> bool) -> String {
        let mut output = String::new();
        for _ in 0..3_000 {
            output = self.processes.poll(id, 100_000).await.unwrap().output;
            if wanted(&output) {
                return output;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{output:?}");
    }
}

fn exited(exit_code: i32) -> ProcessState {
    ProcessState::Exited {
        exit_code: Some(exit_code),
        reason: EndReason::Exited,
    }
}

#[tokio::test]
async fn a_command_of_a_megabyte_runs_in_the_background() {
    let background = Background::new();
    let text = format!("x='{}'; echo ${{#x}} $# over", "ä".repeat(500_000));
    let started = background.start(&text).await;
    background.output_with(&started.id, "500000 0 over").await;
}

// EX-14
#[tokio::test]
async fn a_server_is_followed_and_ends_with_all_its_children() {
    let background = Background::new();
    let mark = format!("server-{}", std::process::id());
    let text = format!(
        "export MARK={mark}; (trap '' TERM; setsid sleep 999) & \
         (python3 -u -m http.server 0 --bind 127.0.0.1 & wait)"
    );
    let started = background.start(&text).await;
    assert!(started.id.starts_with("proc_") && started.id.len() == 17);
    let said = background.output_with(&started.id, "(http://").await;
    let port = said.split_once(" port ").unwrap().1;
    let port: u16 = port.split(' ').next().unwrap().parse().unwrap();
    TcpStream::connect(("127.0.0.1", port)).unwrap();
    let info = background.processes.poll(&started.id, 1_000).await.unwrap();
    assert_eq!(info.state, ProcessState::Running);
    assert_eq!(info.pid, started.pid);
    let never = CancellationToken::new();
    let waited = background
        .processes
        .wait(&started.id, Duration::from_millis(50), &never, 100)
        .await;
    assert!(matches!(waited, Ok(Waited::TimedOut(_))), "{waited:?}");
    let killed = background.processes.kill(&started.id, 100).await.unwrap();
    let Killed::Killed(info) = killed else {
        panic!("{killed:?}");
    };
    let expected = ProcessState::Exited {
        exit_code: Some(-15),
        reason: EndReason::Killed,
    };
    assert_eq!(info.state, expected);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    hermes_testkit::eventually(PATIENCE, "no orphan is left", || {
        find_by_env_marker("MARK", &mark).is_empty().then_some(())
    })
    .unwrap();
    let again = background.processes.kill(&started.id, 100).await.unwrap();
    assert!(matches!(again, Killed::AlreadyExited(_)));
    let unknown = background.processes.poll("proc_0", 10).await;
    assert!(matches!(unknown, Err(ProcessError::NotFound(_))));
}

// EX-14
#[tokio::test]
async fn output_is_paged_and_the_state_of_the_shell_is_there() {
    let background = Background::new();
    run(
        &background.shell,
        "cd /usr; export A=1; f() { echo from f; }",
    )
    .await;
    let started = background.start("pwd; echo $A; f; seq 10; exit 3").await;
    let waited = background.wait(&started.id).await;
    let Waited::Exited(info) = waited else {
        panic!("{waited:?}");
    };
    assert_eq!(info.state, exited(3));
    let log = background.processes.log(&started.id, 0, 2).await.unwrap();
    assert_eq!((log.text.as_str(), log.total_lines), ("9\n10", 13));
    let log = background.processes.log(&started.id, 1, 2).await.unwrap();
    assert_eq!(log.text, "1\nfrom f");
    let listed = background.processes.list().await.unwrap();
    assert_eq!(listed.len(), 1);
    let kept = std::fs::read_to_string(
        background
            .local
            .path()
            .join("logs")
            .join(format!("{}.log", started.id)),
    );
    assert!(kept.unwrap().starts_with("/usr\n1\nfrom f\n1\n"));
}

// EX-15
#[tokio::test]
async fn a_process_behind_a_pipe_can_be_written_to() {
    let background = Background::new();
    let started = background.start("cat; echo closed").await;
    let id = &started.id;
    assert_eq!(background.processes.write(id, b"one ").await.unwrap(), 4);
    assert_eq!(background.processes.write(id, b"two\n").await.unwrap(), 4);
    background.output_with(id, "one two\n").await;
    background.processes.close_input(id).await.unwrap();
    let waited = background.wait(id).await;
    assert!(
        matches!(&waited, Waited::Exited(info) if info.output == "one two\nclosed\n"),
        "{waited:?}"
    );
    let refused = background.processes.write(id, b"x").await;
    assert!(matches!(refused, Err(ProcessError::NoInput(_))));
}

// EX-15
#[tokio::test]
async fn a_program_on_a_terminal_can_be_talked_to() {
    let background = Background::new();
    let request = background
        .request(Command {
            terminal: Some((30, 120)),
            ..command("python3 -q")
        })
        .await;
    let started = background.processes.start(request).await.unwrap();
    let id = &started.id;
    background.output_with(id, ">>>").await;
    background
        .processes
        .write(id, b"print(6 * 7)\n")
        .await
        .unwrap();
    // The next line is read only after the next prompt.
    let prompted = |output: &str| {
        let after = output.rsplit_once("42");
        after.is_some_and(|(_, rest)| rest.contains(">>>"))
    };
    background.output_where(id, prompted).await;
    background.processes.close_input(id).await.unwrap();
    let waited = background.wait(id).await;
    assert!(
        matches!(&waited, Waited::Exited(info) if info.state == exited(0)),
        "{waited:?}"
    );
}

// EX-16
#[tokio::test]
async fn every_end_is_told_exactly_once_also_of_what_ends_at_once() {
    const COUNT: usize = 1_000;
    let background = Background::new();
    let request = background.request(command("true")).await;
    let environment = request.launch.environment.clone();
    let mut running = tokio::task::JoinSet::new();
    for number in 0..COUNT {
        let mut launch = request.launch.clone();
        launch.argv = vec!["true".to_owned()];
        launch.environment.clone_from(&environment);
        let backend = Arc::clone(&background.local.backend);
        let start = move || StartProcess {
            session: "one".to_owned(),
            command: format!("true {number}"),
            directory: "/".into(),
            backend: Arc::clone(&backend),
            launch: launch.clone(),
            notify_on_complete: true,
            watch_patterns: Vec::new(),
        };
        let processes = background.processes.clone();
        while running.len() >= 16 {
            running.join_next().await.unwrap().unwrap();
        }
        running.spawn(async move {
            let mut changed = processes.changed();
            loop {
                changed.borrow_and_update();
                match processes.start(start()).await {
                    // On a busy machine those before it have not all ended.
                    Err(ProcessError::TooMany(_)) => changed.changed().await.unwrap(),
                    started => return started.unwrap(),
                }
            }
        });
    }
    while let Some(started) = running.join_next().await {
        started.unwrap();
    }
    let mut told = std::collections::BTreeSet::new();
    let mut changed = background.processes.changed();
    let store = listening(background.local.path()).await;
    while told.len() < COUNT {
        changed.borrow_and_update();
        // Two listeners, one of which hears it.
        let (one, other) = tokio::join!(hear(&store), hear(&store));
        if one.is_empty() && other.is_empty() {
            tokio::time::timeout(PATIENCE, changed.changed())
                .await
                .unwrap()
                .unwrap();
        }
        for event in one.into_iter().chain(other) {
            assert_eq!(event.kind, "completion");
            assert!(told.insert(event.process), "told twice");
        }
    }
    assert!(background.processes.events("one").await.unwrap().is_empty());
    assert!(background.processes.events("two").await.unwrap().is_empty());
}

// EX-16
#[tokio::test]
async fn an_end_that_was_seen_is_not_told() {
    let background = Background::new();
    let waited_for = background.start_notifying("echo a").await;
    background.wait(&waited_for.id).await;
    let killed = background.start_notifying("sleep 999").await;
    background.processes.kill(&killed.id, 10).await.unwrap();
    assert!(background.processes.events("one").await.unwrap().is_empty());
    // Looking is not enough.
    let polled = background.start_notifying("echo secret; exit 4").await;
    while background
        .processes
        .poll(&polled.id, 10)
        .await
        .unwrap()
        .state
        == ProcessState::Running
    {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let events = background.processes.events("one").await.unwrap();
    assert_eq!(events.len(), 1);
    let body: serde_json::Value = serde_json::from_str(&events[0].body).unwrap();
    assert_eq!(
        body,
        serde_json::json!({
            "session_id": polled.id,
            "command": "echo secret; exit 4",
            "exit_code": 4,
            "completion_reason": "exited",
            "output": "secret\n",
        })
    );
    background.processes.log(&polled.id, 0, 10).await.unwrap();
    assert!(background.processes.events("one").await.unwrap().is_empty());
}

// EX-17
#[tokio::test]
async fn a_line_that_is_watched_for_is_told() {
    let background = Background::new();
    let request = background
        .request(command("echo starting; echo server ready; cat"))
        .await;
    let request = StartProcess {
        watch_patterns: vec!["ready".to_owned()],
        ..request
    };
    let mut changed = background.processes.changed();
    let started = background.processes.start(request).await.unwrap();
    loop {
        let events = background.processes.events("one").await.unwrap();
        if let Some(event) = events.first() {
            assert_eq!(event.kind, "watch_match");
            assert!(event.body.contains("\"output\":\"server ready\""));
            break;
        }
        tokio::time::timeout(PATIENCE, changed.changed())
            .await
            .unwrap()
            .unwrap();
    }
    let info = background.processes.poll(&started.id, 10).await.unwrap();
    assert!(info.watch_hit && info.watch_patterns == ["ready"]);
    background.processes.kill(&started.id, 10).await.unwrap();
}

// EX-17: neither a prompt nor the last line need end with a line break.
#[tokio::test]
async fn a_line_without_an_end_is_told_when_nothing_follows() {
    let background = Background::new();
    for (number, (text, line)) in [
        ("printf 'all ready? '; cat", "all ready? "),
        ("printf 'fine\\nis ready'", "is ready"),
    ]
    .into_iter()
    .enumerate()
    {
        let request = StartProcess {
            watch_patterns: vec!["ready".to_owned()],
            ..background.request(command(text)).await
        };
        let mut changed = background.processes.changed();
        let started = background.processes.start(request).await.unwrap();
        let event = loop {
            let events = background.processes.events("one").await.unwrap();
            if let Some(event) = events.into_iter().nth(number) {
                break event;
            }
            let waited = tokio::time::timeout(PATIENCE, changed.changed()).await;
            waited.expect("nothing was told").unwrap();
        };
        assert_eq!(event.kind, "watch_match");
        let told: serde_json::Value = serde_json::from_str(&event.body).unwrap();
        assert_eq!(told["output"], line);
        let info = background.processes.poll(&started.id, 10).await.unwrap();
        assert!(info.watch_hit);
        background.processes.kill(&started.id, 10).await.unwrap();
    }
}

/// Processes that repeat what they are told, watched for `hit`, at times that a test sets.
struct Watched {
    background: Background,
    clock: Arc<ManualClock>,
}

impl Watched {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::new(jiff::Timestamp::UNIX_EPOCH));
        let mut background = Background::new();
        background.processes = processes_at(background.local.path(), clock.clone());
        Self { background, clock }
    }

    async fn start(&self) -> String {
        let request = self.background.request(command("cat")).await;
        let request = StartProcess {
            watch_patterns: vec!["hit".to_owned()],
            ..request
        };
        self.background.processes.start(request).await.unwrap().id
    }

    /// Has a process say a line and waits until that was taken in.
    async fn say(&self, id: &str, line: &str) {
        let processes = &self.background.processes;
        let line = format!("{line}\n");
        processes.write(id, line.as_bytes()).await.unwrap();
        self.background.output_with(id, &line).await;
    }

    /// Waits until so many events are rows, and gives their kinds.
    async fn told(&self, count: usize) -> Vec<String> {
        let mut changed = self.background.processes.changed();
        loop {
            let kinds = self.kinds().await;
            if kinds.len() >= count {
                return kinds;
            }
            tokio::time::timeout(PATIENCE, changed.changed())
                .await
                .unwrap()
                .unwrap();
        }
    }

    async fn kinds(&self) -> Vec<String> {
        let events = self.background.processes.events("one").await.unwrap();
        events.into_iter().map(|event| event.kind).collect()
    }
}

// EX-17
#[tokio::test]
async fn a_process_that_prints_too_often_is_only_told_of_at_its_end() {
    let watched = Watched::new();
    let id = watched.start().await;
    for window in 0..3 {
        watched.say(&id, &format!("hit {window} told")).await;
        watched.clock.advance(Duration::from_secs(1));
        watched.say(&id, &format!("hit {window} dropped")).await;
        watched.clock.advance(Duration::from_secs(15));
    }
    watched.say(&id, "hit nobody hears").await;
    let told = [
        "watch_match",
        "watch_match",
        "watch_match",
        "watch_disabled",
    ];
    assert_eq!(watched.told(told.len()).await, told);
    let processes = &watched.background.processes;
    let info = processes.poll(&id, 10).await.unwrap();
    assert!(
        info.notify_on_complete && info.watch_patterns.is_empty(),
        "{info:?}"
    );
    processes.close_input(&id).await.unwrap();
    assert_eq!(watched.told(5).await.last().unwrap(), "completion");
}

// EX-17
#[tokio::test]
async fn all_processes_together_fall_silent_and_are_heard_again() {
    let watched = Watched::new();
    let mut ids = Vec::new();
    for number in 0..17 {
        let id = watched.start().await;
        watched.say(&id, &format!("hit {number}")).await;
        ids.push(id);
    }
    let mut told = vec!["watch_match"; 15];
    told.push("watch_overflow_tripped");
    assert_eq!(watched.told(told.len()).await, told);
    watched.clock.advance(Duration::from_secs(31));
    watched.say(&ids[0], "hit again").await;
    told.extend(["watch_overflow_released", "watch_match"]);
    assert_eq!(watched.told(told.len()).await, told);
    let events = watched.background.processes.events("one").await.unwrap();
    let released: serde_json::Value = serde_json::from_str(&events[16].body).unwrap();
    assert_eq!(released["dropped"], 2, "{released}");
}

#[tokio::test]
async fn an_equal_command_that_runs_is_named_and_sixty_four_are_the_limit() {
    let background = Background::new();
    let first = background.start("sleep 999").await;
    assert_eq!(first.equal_running, None);
    let second = background.start("sleep 999").await;
    assert_eq!(second.equal_running, Some(first.id));
    for _ in 0..62 {
        background.start("sleep 998").await;
    }
    let request = background.request(command("true")).await;
    let refused = background.processes.start(request).await;
    assert!(
        matches!(refused, Err(ProcessError::TooMany(64))),
        "{refused:?}"
    );
    background.processes.kill(&second.id, 10).await.unwrap();
    background.start("true").await;
}

#[tokio::test]
async fn fifty_idle_processes_take_no_time() {
    let background = Background::new();
    let mut pids = Vec::new();
    for number in 0..50 {
        let started = background.start(&format!("exec sleep 99{number}")).await;
        pids.extend(started.pid);
    }
    let warden = parent(pids[0]);
    // What the starts still had to do is over when nothing moves any more.
    let used = || ticks(std::process::id()) + ticks(warden);
    let mut before = used();
    for _ in 0..50 {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let now = used();
        if now == before {
            break;
        }
        before = now;
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    let took = used() - before;
    println!(
        "50 idle processes: {took} ticks in 3 s; warden {} kB",
        resident(warden)
    );
    assert!(took <= 3, "{took} ticks in 3 s");
    assert!(resident(warden) < 12 << 10, "{} kB", resident(warden));
}

fn parent(pid: u32) -> u32 {
    stat(pid)[1].parse().unwrap()
}

/// Time a process has used, in clock ticks.
fn ticks(pid: u32) -> u64 {
    let fields = stat(pid);
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

fn stat(pid: u32) -> Vec<String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = text.rsplit_once(')').unwrap().1;
    fields.split_whitespace().map(str::to_owned).collect()
}

/// Memory a process has to itself, in kB.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1))
        .and_then(|number| number.parse().ok())
        .unwrap()
}

#[tokio::test]
async fn what_cannot_start_leaves_nothing() {
    let background = Background::new();
    let mut request = background.request(command("true")).await;
    request.launch.argv = vec!["/does/not/exist".to_owned()];
    let refused = background.processes.start(request).await;
    assert!(matches!(refused, Err(ProcessError::Exec(_))), "{refused:?}");
    assert!(background.processes.list().await.unwrap().is_empty());
    let left = store(background.local.path()).unended_processes().await;
    assert!(left.unwrap().is_empty());
    assert!(Process::of(std::process::id().cast_signed()).is_some());
}

// EX-13: what is told of a process is masked before it is cut, so that no half of a key is left.
#[tokio::test(flavor = "multi_thread")]
async fn keys_do_not_show_in_anything_that_is_told_of_a_process() {
    let background = Background::new();
    let store = listening(background.local.path()).await;
    let half = "0123456789abcdefghij";
    // Two arguments, so that the command itself does not show it.
    let text = format!(
        "k=ghp_{half}; printf '\\033[31mwatched %s%s\\033[0m\\n' $k {half}; printf '%s%s ' $k {half}; printf 'x%.0s' {{1..1980}}"
    );
    let request = background.request(command(&text)).await;
    let request = StartProcess {
        notify_on_complete: true,
        watch_patterns: vec!["watched".to_owned()],
        ..request
    };
    let id = background.processes.start(request).await.unwrap().id;
    let never = CancellationToken::new();
    let mut said = String::new();
    // A look does not count as having seen the end.
    while background.processes.poll(&id, 0).await.unwrap().state == ProcessState::Running {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    for tail in [1_985, 2_000, 2_010, 10_000] {
        said += &background.processes.poll(&id, tail).await.unwrap().output;
    }
    for event in hear(&store).await {
        let body: serde_json::Value = serde_json::from_str(&event.body).unwrap();
        said += body["output"].as_str().unwrap();
    }
    said += &background.processes.list().await.unwrap()[0].output;
    said += &background.processes.log(&id, 0, 100).await.unwrap().text;
    match background
        .processes
        .wait(&id, PATIENCE, &never, 2_000)
        .await
        .unwrap()
    {
        Waited::Exited(info) => said += &info.output,
        other => panic!("{other:?}"),
    }
    assert!(said.contains("watched [redacted"), "{said}");
    assert!(!said.contains(half) && !said.contains("hij "), "{said}");
    assert!(!said.contains('\u{1b}'));
}

// EX-13: nor do those in the command itself and in what is looked for, in answers, events, rows and the database.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_the_command_or_in_a_pattern_is_masked_too() {
    let background = Background::new();
    let store = listening(background.local.path()).await;
    let key = "ghp_0123456789abcdefghij0123456789abcdefgh";
    let request = background
        .request(command(&format!("echo watched {key}; read line; exit 3")))
        .await;
    let request = StartProcess {
        watch_patterns: vec![format!("watched {key}")],
        notify_on_complete: true,
        ..request
    };
    let id = background.processes.start(request).await.unwrap().id;
    let mut said = String::new();
    loop {
        let info = background.processes.poll(&id, 2_000).await.unwrap();
        if info.watch_hit {
            said += &format!("{info:?}");
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    said += &format!("{:?}", background.processes.list().await.unwrap());
    said += &format!("{:?}", background.processes.log(&id, 0, 100).await.unwrap());
    said += &format!("{:?}", store.unended_processes().await.unwrap());
    said += &format!("{:?}", background.processes.kill(&id, 2_000).await.unwrap());
    said += &format!("{:?}", hear(&store).await);
    assert!(said.matches("watched [redacted").count() >= 6, "{said}");
    assert!(!said.contains("0123456789abcdefghij"), "{said}");
    for name in ["hermes.db", "hermes.db-wal"] {
        let bytes = std::fs::read(background.local.path().join(name)).unwrap_or_default();
        assert!(
            memchr::memmem::find(&bytes, key.as_bytes()).is_none(),
            "{name}"
        );
    }
}
