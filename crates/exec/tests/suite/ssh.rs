//! The machine behind a real SSH server.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_core::SystemRandom;
use hermes_exec::{Backend, BackendConfig, Ending, ExecError, Exit, Input, Place, SshConfig, open};
use hermes_testkit::{Sshd, process};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use super::away::{LONG, launch, read, run, wait_for};

pub(crate) fn config(server: &Sshd) -> SshConfig {
    SshConfig {
        host: "127.0.0.1".to_owned(),
        user: server.user().unwrap(),
        port: server.port(),
        key: Some(server.key()),
        known_hosts: Some(server.known_hosts()),
        program: PathBuf::from("/usr/bin/ssh"),
        environment: Vec::new(),
        sockets: server.path().join("sockets"),
        connect: Duration::from_secs(10),
    }
}

pub(crate) fn backend(config: SshConfig) -> Arc<dyn Backend> {
    open(BackendConfig::Ssh(config), &SystemRandom).unwrap()
}

// EX-25
#[tokio::test(flavor = "multi_thread")]
async fn many_commands_share_one_connection_that_ends_with_its_owner() {
    let server = Sshd::start().unwrap();
    let first = backend(config(&server));
    let second = backend(config(&server));
    for number in 0..10 {
        let (text, exit) = run(&first, &format!("echo {number}; exit {number}")).await;
        assert_eq!((text, exit), (format!("{number}\n"), Exit::Code(number)));
    }
    assert_eq!(server.logins(), 1);
    assert_eq!(run(&second, "echo two").await.0, "two\n");
    assert_eq!(server.logins(), 2);
    first.close().await.unwrap();
    assert_eq!(run(&second, "echo still").await.0, "still\n");
    assert_eq!(server.logins(), 2);
    second.close().await.unwrap();
    assert_eq!(
        std::fs::read_dir(server.path().join("sockets"))
            .unwrap()
            .count(),
        0
    );
    let Place::Away { kind, label } = first.place() else {
        panic!()
    };
    assert_eq!(
        (kind, label),
        ("ssh", format!("{}@127.0.0.1", server.user().unwrap()))
    );
}

// EX-25
#[tokio::test(flavor = "multi_thread")]
async fn more_commands_at_once_than_a_connection_carries_all_run() {
    let server = Sshd::start().unwrap();
    let backend = backend(config(&server));
    let scripts: Vec<String> = (0..16)
        .map(|number| format!("sleep 1; echo {number}"))
        .collect();
    let runs = scripts.iter().map(|script| run(&backend, script));
    let answers = futures_util::future::join_all(runs).await;
    for (number, (text, exit)) in answers.into_iter().enumerate() {
        assert_eq!((text, exit), (format!("{number}\n"), Exit::Code(0)));
    }
    backend.close().await.unwrap();
}

// EX-25, EX-30
#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_said_with_the_next_step_and_nothing_runs_here() {
    let server = Sshd::start().unwrap();
    let good = config(&server);
    let closed = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let marker = server.path().join("marker");
    let cases = [
        (
            SshConfig {
                key: Some(server.wrong_key()),
                ..good.clone()
            },
            "Permission denied",
            "ssh_key",
        ),
        (
            SshConfig {
                port: closed,
                ..good.clone()
            },
            "Connection refused",
            "ssh_port",
        ),
        (
            SshConfig {
                program: server.path().join("no-ssh"),
                ..good.clone()
            },
            "no program",
            "Install",
        ),
        (
            SshConfig {
                sockets: server.path().join("x".repeat(100)),
                ..good.clone()
            },
            "too long",
            "shorter",
        ),
    ];
    for (config, cause, next) in cases {
        let backend = backend(config);
        let launch = launch("none", &format!("touch {}", marker.display()), Input::None);
        let Err(error) = backend.spawn(launch).await else {
            panic!("{cause}")
        };
        let text = error.to_string();
        assert!(
            matches!(error, ExecError::Unavailable { backend: "ssh", .. }),
            "{text}"
        );
        assert!(text.contains(cause) && text.contains(next), "{text}");
    }
    assert!(!marker.exists());
    assert!(
        open(
            BackendConfig::Ssh(SshConfig {
                host: String::new(),
                ..good
            }),
            &SystemRandom
        )
        .is_err()
    );
}

// EX-23
#[tokio::test(flavor = "multi_thread")]
async fn a_tree_ends_over_there_when_it_is_told_to() {
    let server = Sshd::start().unwrap();
    let backend = backend(config(&server));
    let mark = server.port().to_string();
    let mut tree = launch(
        "tree",
        "trap '' TERM; setsid sleep 976 & (nohup sleep 976 &); echo up; wait",
        Input::None,
    );
    tree.environment.push(("TREE".to_owned(), mark.clone()));
    let process = backend.spawn(tree).await.unwrap();
    let mut lines = BufReader::new(process.output).lines();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "up");
    let tree = mark.clone();
    wait_for("the tree", move || {
        process::find_by_env_marker("TREE", &tree).len() >= 3
    })
    .await;
    process.control.end(Ending::Terminate).await.unwrap();
    process.control.end(Ending::Kill).await.unwrap();
    assert_eq!(process.exit.await.unwrap(), Exit::Code(137));
    wait_for("silence", move || {
        process::find_by_env_marker("TREE", &mark).is_empty()
    })
    .await;
    backend.close().await.unwrap();
}

// EX-23
#[tokio::test(flavor = "multi_thread")]
async fn nothing_runs_over_there_five_seconds_after_our_process_was_killed() {
    let server = Sshd::start().unwrap();
    let mark = server.port().to_string();
    let script =
        format!("export TREE={mark}; trap '' TERM HUP; setsid sleep 975 & echo up; sleep 975");
    let mut runner = Command::new(env!("CARGO_BIN_EXE_remote-runner"))
        .args(["ssh", &mark, &server.user().unwrap()])
        .args([
            server.key(),
            server.known_hosts(),
            server.path().join("sockets"),
        ])
        .arg(script)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(runner.stdout.take().unwrap()),
        &mut line,
    )
    .unwrap();
    assert_eq!(line, "up\n");
    let tree = mark.clone();
    wait_for("the tree", move || {
        process::find_by_env_marker("TREE", &tree).len() == 2
    })
    .await;
    runner.kill().unwrap();
    runner.wait().unwrap();
    let killed = Instant::now();
    wait_for("silence", move || {
        process::find_by_env_marker("TREE", &mark).is_empty()
    })
    .await;
    assert!(
        killed.elapsed() < Duration::from_secs(5),
        "{:?}",
        killed.elapsed()
    );
    // The client goes with it.
    let server = Arc::new(server);
    let watched = Arc::clone(&server);
    wait_for("no connection", move || watched.connections() == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_has_its_size_and_learns_a_new_one() {
    let server = Sshd::start().unwrap();
    let backend = backend(config(&server));
    let script = "tty >/dev/null && stty size; trap 'stty size; exit 4' WINCH; echo ready; while :; do sleep 0.05; done";
    let mut terminal = launch(
        "term",
        script,
        Input::Terminal {
            rows: 31,
            columns: 97,
        },
    );
    terminal.argv[0] = "bash".to_owned();
    let mut process = backend.spawn(terminal).await.unwrap();
    let mut seen = String::new();
    let mut buffer = [0; 256];
    while !seen.contains("ready") {
        let count = tokio::time::timeout(LONG, process.output.read(&mut buffer))
            .await
            .unwrap()
            .unwrap();
        seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    assert_eq!(seen.replace('\r', ""), "31 97\nready\n");
    process.control.resize(40, 120).await.unwrap();
    assert_eq!(read(&mut process).await.replace('\r', ""), "40 120\n");
    assert_eq!(process.exit.await.unwrap(), Exit::Code(4));

    let mut typed = backend
        .spawn(launch(
            "typed",
            "read line; echo got $line",
            Input::Terminal {
                rows: 24,
                columns: 80,
            },
        ))
        .await
        .unwrap();
    typed
        .input
        .as_mut()
        .unwrap()
        .write_all(b"words\r")
        .await
        .unwrap();
    assert!(read(&mut typed).await.contains("got words"));
    backend.close().await.unwrap();
}
