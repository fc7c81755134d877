//! `process`, on processes of a real machine.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_core::future::BoxFuture;
use hermes_core::{Answer, AnsweredBy, Asker, Question, Reply, RunMode, Tool, ToolContext};
use hermes_exec::{Backend, Granted};
use hermes_policy::confine::Surroundings;
use hermes_policy::{Confinement, Mode, Network};
use hermes_testkit::Sshd;
use hermes_tools::{Confined, LazyConfined, Limits, Process, Terminal, Workplace};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::away;
use super::fixture::context;

/// Both tools of a session, where one wait takes three seconds at most.
struct Desk {
    terminal: Terminal,
    process: Process,
    context: ToolContext,
    backend: Arc<dyn Backend>,
    place: Arc<Workplace>,
    _folder: tempfile::TempDir,
    _server: Sshd,
}

impl Desk {
    fn new() -> Self {
        Self::with(|| Confined::Not("the place itself".to_owned()))
    }

    fn with(confined: fn() -> Confined) -> Self {
        let server = Sshd::start().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let backend = away::ssh(&server, &server.user().unwrap());
        let place = Arc::new(Workplace {
            limits: Limits {
                usual: Duration::from_secs(3),
                most: Duration::from_secs(60),
            },
            confinement: LazyConfined::new(Arc::new(confined), Granted::default()),
            ..away::workplace(&backend, "/tmp", folder.path())
        });
        Self {
            terminal: Terminal::new(place.clone()),
            process: Process::new(place.clone()),
            place,
            context: context("one", Path::new("/")),
            backend,
            _folder: folder,
            _server: server,
        }
    }

    async fn start(&self, command: &str, pty: bool) -> String {
        let asked = json!({"command": command, "background": true, "pty": pty});
        let answer = self.terminal.call(asked, &self.context).await.unwrap();
        let answer: Json = serde_json::from_str(&answer.content).unwrap();
        let id = answer["session_id"].as_str();
        id.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    async fn act(&self, action: &str, id: &str, more: Json) -> Json {
        let mut asked = json!({"action": action, "session_id": id});
        for (name, value) in more.as_object().unwrap() {
            asked[name] = value.clone();
        }
        let answer = self.process.call(asked, &self.context).await.unwrap();
        serde_json::from_str(&answer.content).unwrap()
    }

    /// The answer to `poll` once the output contains something.
    async fn polled(&self, id: &str, wanted: &str) -> Json {
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            let answer = self.act("poll", id, json!({})).await;
            let seen = answer["output_preview"].as_str().unwrap_or_default();
            if seen.contains(wanted) {
                return answer;
            }
            assert!(Instant::now() < until, "no {wanted:?} in {answer}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

fn keys(answer: &Json) -> Vec<&str> {
    answer
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

// EX-14, EX-15
#[tokio::test(flavor = "multi_thread")]
async fn a_process_is_written_to_read_waited_for_and_closed() {
    let desk = Desk::new();
    let id = desk.start("cat", false).await;
    let wrote = desk.act("write", &id, json!({"data": "one\ntwo "})).await;
    assert_eq!(wrote, json!({"status": "ok", "bytes_written": 8}));
    let wrote = desk.act("submit", &id, json!({"data": "words"})).await;
    assert_eq!(wrote, json!({"status": "ok", "bytes_written": 6}));
    let polled = desk.polled(&id, "two words\n").await;
    assert_eq!(
        keys(&polled),
        [
            "session_id",
            "command",
            "status",
            "pid",
            "uptime_seconds",
            "output_preview"
        ]
    );
    assert_eq!(
        (&polled["status"], &polled["command"]),
        (&json!("running"), &json!("cat"))
    );

    // A wait that is too long is cut, and says so.
    let asked = Instant::now();
    let waited = desk.act("wait", &id, json!({"timeout": 100})).await;
    assert!(asked.elapsed() >= Duration::from_secs(3), "{waited}");
    assert!(asked.elapsed() < Duration::from_secs(30), "{waited}");
    assert_eq!(waited["status"], "timeout");
    let note = waited["timeout_note"].as_str().unwrap();
    assert!(
        note.contains("still runs after 3 s") && note.contains("3 s at most"),
        "{note}"
    );
    let waited = desk.act("wait", &id, json!({"timeout": 1})).await;
    assert_eq!(waited["timeout_note"], "it still runs after 1 s");

    assert_eq!(
        desk.act("close", &id, json!({})).await,
        json!({"status": "ok"})
    );
    let ended = desk.act("wait", &id, json!({})).await;
    assert_eq!(
        (&ended["status"], &ended["exit_code"]),
        (&json!("exited"), &json!(0))
    );
    assert_eq!(ended["completion_reason"], "exited");
    assert_eq!(ended["termination_source"], "process");
    assert_eq!(ended["output"], "one\ntwo words\n");
    let polled = desk.act("poll", &id, json!({})).await;
    assert_eq!(polled["status"], "exited");
    assert_eq!(polled["termination_source"], "process");
    let again = desk.act("kill", &id, json!({})).await;
    assert_eq!(again["status"], "already_exited");
    let refused = desk.act("write", &id, json!({"data": "x"})).await;
    assert_eq!(refused["status"], "error", "{refused}");
    let unknown = desk.act("poll", "proc_000000000000", json!({})).await;
    assert_eq!(unknown["status"], "not_found");
    desk.backend.close().await.unwrap();
}

// EX-14
#[tokio::test(flavor = "multi_thread")]
async fn a_log_is_paged_and_a_tree_is_killed() {
    let desk = Desk::new();
    let id = desk
        .start(
            "seq 300; trap '' TERM; sleep 61841 & echo over; sleep 61842",
            false,
        )
        .await;
    desk.polled(&id, "over").await;
    let log = desk.act("log", &id, json!({})).await;
    assert_eq!(
        (&log["total_lines"], &log["showing"]),
        (&json!(301), &json!("lines 102 to 301 of 301"))
    );
    assert!(
        log["output"].as_str().unwrap().starts_with("102\n"),
        "{log}"
    );
    let page = desk.act("log", &id, json!({"offset": 1, "limit": 2})).await;
    assert_eq!(
        (&page["output"], &page["showing"]),
        (&json!("2\n3"), &json!("lines 2 to 3 of 301"))
    );
    let killed = desk.act("kill", &id, json!({})).await;
    assert_eq!(
        (&killed["status"], &killed["exit_code"]),
        (&json!("killed"), &json!(-15))
    );
    assert_eq!(killed["completion_reason"], "killed");
    assert_eq!(killed["termination_source"], "hermes");
    for seconds in [61_841, 61_842] {
        let line = format!("sleep\0{seconds}\0");
        let left = std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
            std::fs::read(entry.path().join("cmdline")).is_ok_and(|found| found == line.as_bytes())
        });
        assert!(!left, "{seconds} is still there");
    }
    desk.backend.close().await.unwrap();
}

// EX-15
#[tokio::test(flavor = "multi_thread")]
async fn a_program_on_a_terminal_is_spoken_to() {
    let desk = Desk::new();
    let id = desk.start("python3 -i -q", true).await;
    desk.polled(&id, ">>>").await;
    desk.act("submit", &id, json!({"data": "print(6 * 7, 'is it')"}))
        .await;
    desk.polled(&id, "42 is it").await;
    desk.act("submit", &id, json!({"data": "exit()"})).await;
    let ended = desk.act("wait", &id, json!({})).await;
    assert_eq!(ended["status"], "exited", "{ended}");
    desk.backend.close().await.unwrap();
}

// EX-52, EX-58: a shell runs what is typed into it.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_into_a_shell_passes_the_rules_for_commands() {
    let mut desk = Desk::new();
    desk.context.mode = RunMode::Manual;
    desk.context.attended = false;
    let id = desk.start("cd /tmp && exec bash", false).await;
    let typed = async |action: &str, data: &str| {
        let answer = desk.act(action, &id, json!({ "data": data })).await;
        let told = answer["error"].as_str().unwrap_or_default().to_owned();
        (answer["status"].as_str().unwrap().to_owned(), told)
    };
    let (status, told) = typed("submit", "rm -rf /").await;
    assert!(status == "blocked" && told.contains("never runs"), "{told}");
    let (status, told) = typed("submit", "mkdir d && rm -r d").await;
    assert!(
        status == "blocked" && told.contains("No person refused it"),
        "{told}"
    );
    // Nor does it in pieces, and what was not let through was not typed.
    assert_eq!(typed("write", "ki").await.0, "ok");
    let (status, told) = typed("submit", "ll -9 -1").await;
    assert!(status == "blocked" && told.contains("never runs"), "{told}");
    assert_eq!(typed("submit", "").await.0, "ok");
    assert_eq!(typed("submit", "echo $((40+2)) are left").await.0, "ok");
    desk.polled(&id, "42 are left").await;
    desk.act("kill", &id, json!({})).await;
    desk.backend.close().await.unwrap();
}

// EX-52, EX-58: what was typed stays with the process, whoever typed it; the tool is made anew for every turn.
#[tokio::test(flavor = "multi_thread")]
async fn what_another_tool_typed_before_counts() {
    let mut desk = Desk::new();
    desk.context.mode = RunMode::Manual;
    desk.context.attended = false;
    let id = desk.start("exec bash", false).await;
    let wrote = desk.act("write", &id, json!({"data": "r"})).await;
    assert_eq!(wrote["status"], "ok", "{wrote}");
    let place = desk.place.clone();
    let other = context("two", Path::new("/"));
    for context in [&desk.context, &other] {
        let asked = json!({"action": "submit", "session_id": id, "data": "m -rf /"});
        let answer = Process::new(place.clone())
            .call(asked, context)
            .await
            .unwrap();
        let answer: Json = serde_json::from_str(&answer.content).unwrap();
        assert_eq!(answer["status"], "blocked", "{answer}");
        assert!(
            answer["error"].as_str().unwrap().contains("never runs"),
            "{answer}"
        );
    }
    desk.act("kill", &id, json!({})).await;
    // Nor is the beginning of a line forgotten because much follows it.
    let id = desk.start("exec bash", false).await;
    let spaces = format!("echo {}", " ".repeat(40 << 10));
    for _ in 0..2 {
        let wrote = desk.act("write", &id, json!({ "data": spaces })).await;
        assert_eq!(wrote["status"], "ok", "{wrote}");
    }
    let ends = desk.act("submit", &id, json!({"data": "x"})).await;
    assert_eq!(ends["status"], "blocked", "{ends}");
    let told = ends["error"].as_str().unwrap();
    assert!(told.contains("No person refused it"), "{told}");
    desk.act("kill", &id, json!({})).await;
    desk.backend.close().await.unwrap();
}

// EX-14: a script of a megabyte is not repeated in every answer about it.
#[tokio::test(flavor = "multi_thread")]
async fn a_command_of_a_megabyte_is_told_by_its_beginning() {
    let desk = Desk::new();
    let command = format!("echo begun; : '{}'", "x".repeat(1 << 20));
    let id = desk.start(&command, false).await;
    desk.polled(&id, "begun").await;
    for action in ["poll", "log", "wait", "kill"] {
        let answer = desk.act(action, &id, json!({})).await;
        let told = answer["command"].as_str().unwrap();
        assert!(told.starts_with("echo begun; : 'xxx"), "{action}");
        assert_eq!(told.len(), 1_000, "{action}");
    }
    desk.backend.close().await.unwrap();
}

/// Somebody who always says the same, and counts.
struct Person {
    answer: Answer,
    by: AnsweredBy,
    asked: AtomicUsize,
}

impl Asker for Person {
    fn ask(&self, _: Question, _: CancellationToken) -> BoxFuture<'_, Reply> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Box::pin(async {
            Reply {
                answer: self.answer.clone(),
                by: self.by.clone(),
            }
        })
    }
}

// EX-68: what ended behind the conversation because of its sandbox is asked about when its end is seen, once.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_the_sandbox_refused_something_is_asked_about_once() {
    let you = || AnsweredBy::Person("you".to_owned());
    let robot = || AnsweredBy::Program("robot".to_owned());
    for (answer, by, out) in [
        (Answer::AllowOnce, you(), true),
        (Answer::no(), you(), false),
        // What may answer in a person's place is no person.
        (Answer::AllowOnce, robot(), false),
        (Answer::AllowAlways, robot(), false),
    ] {
        let mut desk = Desk::with(|| {
            let around = Surroundings::default();
            let made = Confinement::for_workspace(Mode::WorkspaceWrite, &around, Network::On);
            Confined::By(Arc::new(made), "workspace-write".to_owned())
        });
        let person = Arc::new(Person {
            answer,
            by,
            asked: AtomicUsize::default(),
        });
        desk.context.asker = person.clone();
        // The second time it finds what the first one left, and goes on.
        let folder = tempfile::tempdir().unwrap();
        let command = format!(
            "cd '{}' && [ -e tried ] && exec cat; : >tried; echo './x: Read-only file system'; exit 1",
            folder.path().display()
        );
        let id = desk.start(&command, false).await;
        let ended = desk.act("wait", &id, json!({})).await;
        assert_eq!(ended["exit_code"], 1, "{ended}");
        assert!(ended["sandbox_note"].is_string(), "{ended}");
        assert_eq!(person.asked.load(Ordering::SeqCst), 1);
        let again = desk.act("poll", &id, json!({})).await;
        assert_eq!(again.get("sandbox_note"), None, "{again}");
        assert_eq!(person.asked.load(Ordering::SeqCst), 1);
        match ended["restarted_as"].as_str() {
            Some(next) => {
                assert!(out && next != id, "{ended}");
                let polled = desk.act("poll", next, json!({})).await;
                assert_eq!(polled["status"], "running", "{polled}");
                desk.act("kill", next, json!({})).await;
            }
            None => assert!(!out, "{ended}"),
        }
        desk.backend.close().await.unwrap();
    }
}
