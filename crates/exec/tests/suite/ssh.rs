//! The machine behind a real SSH server.

use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::SystemRandom;
use hermes_exec::{Backend, BackendConfig, Exit, Place, SshConfig, open};
use hermes_testkit::Sshd;

use super::away::{
    FIVE_SECONDS, a_tree_ends, begun, bytes_go_through, is_unavailable, nobody,
    nothing_outlives_us, run, terminals_work, time_until_gone, wait_for,
};
use super::local::carriers;

pub(crate) fn config(server: &Sshd) -> SshConfig {
    SshConfig {
        host: "127.0.0.1".to_owned(),
        user: server.user().unwrap(),
        port: server.port(),
        key: Some(server.key()),
        known_hosts: Some(server.known_hosts()),
        program: PathBuf::from("/usr/bin/ssh"),
        carriers: carriers(Vec::new()),
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
    let (_closed, nobody) = nobody();
    let marker = server.path().join("marker");
    // Whoever made the directory for sockets before us could put one there in the place of ours.
    let open_to_all = server.path().join("open");
    let link = server.path().join("link");
    std::fs::create_dir(&open_to_all).unwrap();
    let everybody = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(&open_to_all, everybody).unwrap();
    let private = std::fs::DirBuilder::new()
        .mode(0o700)
        .create(server.path().join("private"));
    private.unwrap();
    std::os::unix::fs::symlink("private", &link).unwrap();
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
                port: nobody.port(),
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
        (
            SshConfig {
                sockets: open_to_all,
                ..good.clone()
            },
            "is open to other users",
            "TMPDIR",
        ),
        (
            SshConfig {
                sockets: link,
                ..good.clone()
            },
            "is a link",
            "TMPDIR",
        ),
    ];
    for (config, cause, next) in cases {
        is_unavailable(&backend(config), "ssh", cause, next, &marker).await;
    }
    if nix::unistd::geteuid().is_root() {
        let foreign = server.path().join("private");
        std::os::unix::fs::chown(&foreign, Some(65_534), Some(65_534)).unwrap();
        let config = SshConfig {
            sockets: foreign,
            ..good.clone()
        };
        let cause = "belongs to another user";
        is_unavailable(&backend(config), "ssh", cause, "TMPDIR", &marker).await;
    }
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
    a_tree_ends(&backend, &format!("ssh-tree-{}", server.port())).await;
    backend.close().await.unwrap();
}

// EX-23
#[tokio::test(flavor = "multi_thread")]
async fn nothing_runs_over_there_five_seconds_after_our_process_was_killed() {
    let server = Sshd::start().unwrap();
    let port = server.port().to_string();
    let user = server.user().unwrap();
    let (key, known) = (server.key(), server.known_hosts());
    let sockets = server.path().join("sockets");
    let arguments = [
        "ssh".as_ref(),
        port.as_ref(),
        user.as_ref(),
        key.as_os_str(),
        known.as_os_str(),
        sockets.as_os_str(),
    ];
    nothing_outlives_us(&arguments, &format!("ssh-killed-{port}")).await;
    let server = Arc::new(server);
    let watched = Arc::clone(&server);
    wait_for("no connection", move || watched.connections() == 0).await;
}

// EX-23
#[tokio::test(flavor = "multi_thread")]
async fn the_client_ends_with_us_when_we_are_killed() {
    let server = Sshd::start().unwrap();
    let port = server.port().to_string();
    let user = server.user().unwrap();
    let (key, known) = (server.key(), server.known_hosts());
    let sockets = server.path().join("sockets");
    let named = sockets.display().to_string();
    let arguments = [
        "ssh".as_ref(),
        port.as_ref(),
        user.as_ref(),
        key.as_os_str(),
        known.as_os_str(),
        sockets.as_os_str(),
    ];
    // As it is, and while the other side does not answer: then no end of a connection is heard.
    for held in [false, true] {
        let runner = begun(&arguments, "echo up; sleep 961");
        assert!(carrying(&named) >= 2);
        if held {
            server.hold().unwrap();
        }
        let took = time_until_gone(runner, {
            let named = named.clone();
            move || carrying(&named) == 0
        })
        .await;
        if held {
            server.go_on().unwrap();
        }
        assert!(took < FIVE_SECONDS, "{took:?}");
    }
}

/// How many clients use this directory for their sockets.
fn carrying(sockets: &str) -> usize {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let clients = all.filter(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        line.starts_with("/usr/bin/ssh\0") && line.contains(sockets)
    });
    clients.count()
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_and_terminals_go_through_unchanged() {
    let server = Sshd::start().unwrap();
    let backend = backend(config(&server));
    bytes_go_through(&backend, 3_000_000).await;
    terminals_work(&backend).await;
    backend.close().await.unwrap();
}
