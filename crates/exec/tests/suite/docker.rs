//! Containers of a real engine.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_core::{SystemClock, SystemRandom};
use hermes_exec::{Backend, BackendConfig, DockerConfig, Ending, Exit, Input, Leases, Offer, open};
use hermes_testkit::{Dockerd, process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

use super::away::{
    FIVE_SECONDS, ROUNDS, bytes_go_through, is_unavailable, launch, run, terminals_work, wait_for,
};

pub(crate) fn config(engine: &Dockerd, folder: &Path) -> DockerConfig {
    DockerConfig {
        engine: engine.address(),
        image: engine.image().to_owned(),
        directory: "/root".to_owned(),
        task: "default".to_owned(),
        profile: "main".to_owned(),
        cpus: 1.5,
        memory_mb: 256,
        disk_mb: 1024,
        persistent: true,
        across_processes: true,
        reaper: true,
        lifetime: Duration::from_secs(300),
        network: false,
        run_as: None,
        workspace: None,
        volumes: Vec::new(),
        offers: Vec::new().into(),
        environment: BTreeMap::from([("SHOWN".to_owned(), "yes".to_owned())]),
        forwarded: vec![("FORWARDED".to_owned(), "quietly".to_owned())],
        arguments: Vec::new(),
        sandboxes: folder.join("sandboxes"),
        clock: Arc::new(SystemClock),
    }
}

pub(crate) fn backend(config: DockerConfig) -> Arc<dyn Backend> {
    open(BackendConfig::Docker(config), &SystemRandom).unwrap()
}

pub(crate) fn inspect(engine: &Dockerd) -> Value {
    let id = engine
        .docker(&["ps", "-aq", "--filter", "label=hermes-agent=1"])
        .unwrap();
    assert_eq!(id.lines().count(), 1, "{id}");
    let text = engine.docker(&["inspect", &id]).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()[0].take()
}

// EX-20
#[tokio::test(flavor = "multi_thread")]
async fn a_container_is_made_as_the_settings_say() {
    let (engine, folder) = (Dockerd::start().unwrap(), tempfile::tempdir().unwrap());
    let offered = folder.path().join("skill");
    std::fs::write(&offered, "read me").unwrap();
    let config = DockerConfig {
        task: "a task/1".to_owned(),
        offers: vec![Offer {
            from: offered,
            to: concat!("/root", "/.hermes/skill").to_owned(),
        }]
        .into(),
        volumes: vec![format!("{}:/data", folder.path().display())],
        arguments: vec![
            "--hostname=box".to_owned(),
            "--shm-size".to_owned(),
            "1m".to_owned(),
        ],
        ..config(&engine, folder.path())
    };
    let backend = backend(config);
    let (text, exit) = run(&backend, "pwd; echo $SHOWN $FORWARDED; cat .hermes/skill; hostname; touch .hermes/skill 2>/dev/null; echo $?; bash -c 'echo $BASHPID >/workspace/file'").await;
    assert_eq!(
        (text.as_str(), exit),
        ("/root\nyes quietly\nread mebox\n1\n", Exit::Code(0))
    );
    let container = inspect(&engine);
    let (host, inner) = (&container["HostConfig"], &container["Config"]);
    let name = container["Name"].as_str().unwrap();
    assert!(name.len() == 16 && name.starts_with("/hermes-"), "{name}");
    let labels = &inner["Labels"];
    assert_eq!(labels["hermes-agent"], "1");
    assert_eq!(labels["hermes-task-id"], "atask1");
    assert_eq!(labels["hermes-profile"], "main");
    let main = inner["Cmd"].as_array().unwrap();
    assert_eq!(main[..2], [json!("/bin/sh"), json!("-c")]);
    assert_eq!(main[3..], ["hermes", "300", "30", "60"].map(Value::from));
    assert_eq!(inner["WorkingDir"], "/root");
    assert!(!container.to_string().contains("quietly"));
    assert_eq!(host["CapDrop"], json!(["ALL"]));
    assert_eq!(
        host["CapAdd"],
        json!(["DAC_OVERRIDE", "CHOWN", "FOWNER", "SETUID", "SETGID"])
    );
    assert_eq!(host["SecurityOpt"], json!(["no-new-privileges"]));
    assert_eq!(host["Init"], true);
    assert_eq!(host["NanoCpus"], 1_500_000_000);
    assert_eq!(host["Memory"], 256 << 20);
    assert_eq!(host["PidsLimit"], 256);
    assert_eq!(host["NetworkMode"], "none");
    assert_eq!(host["ShmSize"], 1 << 20);
    assert_eq!(host["Tmpfs"]["/tmp"], "size=512m,mode=1777,nosuid,exec");
    assert_eq!(
        host["Tmpfs"]["/var/tmp"],
        "size=256m,mode=1777,noexec,nosuid"
    );
    assert_eq!(host["Tmpfs"]["/run"], "size=64m,noexec,nosuid");
    let base = folder.path().join("sandboxes/docker/atask1");
    let binds = host["Binds"].to_string();
    for bind in [
        format!("{}:/root", base.join("home").display()),
        format!("{}:/workspace", base.join("workspace").display()),
        format!("{}:/data", folder.path().display()),
    ] {
        assert!(binds.contains(&bind), "{binds}");
    }
    assert!(binds.contains(concat!("/root", "/.hermes/skill:ro")));
    assert!(base.join("workspace/file").exists());
    // Left for the next process.
    backend.close().await.unwrap();
    assert_eq!(inspect(&engine)["State"]["Running"], true);
}

// EX-20
#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_kept_is_in_memory_and_goes_with_the_backend() {
    let (engine, folder) = (Dockerd::start().unwrap(), tempfile::tempdir().unwrap());
    let config = DockerConfig {
        persistent: false,
        run_as: Some((1234, 1235)),
        workspace: Some(folder.path().to_owned()),
        directory: "/tmp".to_owned(),
        ..config(&engine, folder.path())
    };
    let backend = backend(config);
    assert_eq!(
        run(
            &backend,
            "id -u; id -g; cd /root; touch own; ls /root /workspace"
        )
        .await
        .0,
        "1234\n1235\n/root:\nown\n\n/workspace:\nsandboxes\n"
    );
    let container = inspect(&engine);
    let host = &container["HostConfig"];
    assert_eq!(host["CapAdd"], json!(["DAC_OVERRIDE", "CHOWN", "FOWNER"]));
    assert_eq!(host["Tmpfs"]["/root"], "size=1g,exec,uid=1234,gid=1235");
    assert_eq!(host["Tmpfs"]["/home"], "size=1g,exec,uid=1234,gid=1235");
    assert_eq!(host["Tmpfs"]["/workspace"], Value::Null);
    assert_eq!(container["Config"]["User"], "1234:1235");
    backend.close().await.unwrap();
    assert_eq!(engine.docker(&["ps", "-aq"]).unwrap(), "");
    assert!(
        Leases::new(&folder.path().join("sandboxes"))
            .all()
            .unwrap()
            .is_empty()
    );
}

// EX-21, EX-22
#[tokio::test(flavor = "multi_thread")]
async fn a_container_is_found_again_restarted_and_replaced_when_made_differently_or_gone() {
    let (engine, folder) = (Dockerd::start().unwrap(), tempfile::tempdir().unwrap());
    let config = config(&engine, folder.path());
    let first = backend(config.clone());
    run(&first, "echo kept >/tmp/here").await;
    let id = inspect(&engine)["Id"].clone();
    let second = backend(config.clone());
    assert_eq!(run(&second, "cat /tmp/here").await.0, "kept\n");
    first.close().await.unwrap();
    assert_eq!(run(&second, "cat /tmp/here").await.0, "kept\n");

    // Stopped behind our back, then removed behind our back.
    engine
        .docker(&["stop", "-t", "1", id.as_str().unwrap()])
        .unwrap();
    assert_eq!(run(&second, "echo back").await.0, "back\n");
    assert_eq!(inspect(&engine)["Id"], id);
    engine.docker(&["rm", "-f", id.as_str().unwrap()]).unwrap();
    assert_eq!(run(&second, "echo new").await.0, "new\n");
    let next = inspect(&engine)["Id"].clone();
    assert_ne!(next, id);
    second.close().await.unwrap();

    // Another image or limit means another container.
    engine
        .docker(&["tag", engine.image(), "hermes-test:2"])
        .unwrap();
    let changed = backend(DockerConfig {
        image: "hermes-test:2".to_owned(),
        memory_mb: 128,
        ..config
    });
    assert_eq!(run(&changed, "echo other").await.0, "other\n");
    let container = inspect(&engine);
    assert_ne!(container["Id"], next);
    assert_eq!(container["Config"]["Image"], "hermes-test:2");
    assert_eq!(container["HostConfig"]["Memory"], 128 << 20);
}

// EX-24
#[tokio::test(flavor = "multi_thread")]
async fn a_container_without_network_has_none_even_if_one_with_network_is_there() {
    let (engine, folder) = (Dockerd::start().unwrap(), tempfile::tempdir().unwrap());
    let config = config(&engine, folder.path());
    engine
        .docker(&[
            "run",
            "-d",
            "--network=host",
            "--label",
            "hermes-agent=1",
            "--label",
            "hermes-task-id=default",
            "--label",
            "hermes-profile=main",
            engine.image(),
            "sleep",
            "infinity",
        ])
        .unwrap();
    let outside = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = outside.local_addr().unwrap().port();
    let offline = DockerConfig {
        arguments: vec!["--network=host".to_owned()],
        ..config.clone()
    };
    for config in [config, offline] {
        let backend = backend(config);
        let (text, _) = run(
            &backend,
            &format!("ls /sys/class/net; nc -w 2 127.0.0.1 {port} </dev/null && echo reached"),
        )
        .await;
        assert_eq!(
            text.lines()
                .filter(|line| !line.starts_with("nc:"))
                .collect::<Vec<_>>(),
            ["lo"]
        );
        assert_eq!(inspect(&engine)["HostConfig"]["NetworkMode"], "none");
        backend.close().await.unwrap();
    }
}

// EX-23
#[tokio::test(flavor = "multi_thread")]
async fn a_tree_inside_ends_when_it_is_told_to_and_when_we_are_killed() {
    let (engine, folder) = (Dockerd::start().unwrap(), tempfile::tempdir().unwrap());
    let backend = backend(config(&engine, folder.path()));
    // So long sleeps only what this test started.
    let slept = format!("sleep {}", 1_000_000 + std::process::id());
    let tree = "trap '' TERM HUP; setsid sleep 965 & (nohup sleep 965 >/dev/null 2>&1 &); env -i sleep 965 & (env -i setsid sleep 965 >/dev/null 2>&1 </dev/null &); echo up; while :; do wait; done";
    let tree = &tree.replace("sleep 965", &slept);
    let mut process = backend
        .spawn(launch("tree", tree, Input::None))
        .await
        .unwrap();
    let mut lines = BufReader::new(&mut process.output).lines();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "up");
    let count = format!("ps -o args | grep -c '[s]{}'", &slept[1..]);
    let inside = async || run(&backend, &count).await.0;
    assert_ne!(inside().await, "0\n");
    process.control.end(Ending::Kill).await.unwrap();
    assert_eq!(process.exit.await.unwrap(), Exit::Code(137));
    assert_eq!(inside().await, "0\n");

    // On a machine that is busy with something else only the quickest says anything.
    let mut took = Vec::new();
    while took.len() < ROUNDS as usize && took.iter().all(|time| *time >= FIVE_SECONDS) {
        let mut runner = Command::new(env!("CARGO_BIN_EXE_remote-runner"))
            .arg(env!("CARGO_BIN_EXE_hermes-warden"))
            .args(["docker", &engine.address(), engine.image()])
            .arg(folder.path().join("sandboxes"))
            .arg(tree)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let output = runner.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).unwrap();
        assert_eq!(line, "up\n");
        // The container itself is left for others, so its processes are looked for from outside.
        let wanted = format!("({slept})");
        let sleeping = move || {
            let all = process::descendants(1);
            let found = all.iter().filter(|one| one.to_string().contains(&wanted));
            found.count()
        };
        let standing = sleeping.clone();
        wait_for("the tree", move || standing() >= 3).await;
        let killed = Instant::now();
        runner.kill().unwrap();
        runner.wait().unwrap();
        wait_for("silence", move || sleeping() == 0).await;
        took.push(killed.elapsed());
    }
    assert!(took.iter().any(|time| *time < FIVE_SECONDS), "{took:?}");
}

// EX-20, EX-30
#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_said_with_the_next_step_and_nothing_runs_here() {
    let (engine, folder) = (Dockerd::start().unwrap(), tempfile::tempdir().unwrap());
    let good = config(&engine, folder.path());
    let marker = folder.path().join("marker");
    let nowhere = format!("unix://{}/no.sock", folder.path().display());
    let cases = [
        (
            DockerConfig {
                engine: nowhere,
                ..good.clone()
            },
            "no.sock",
            "Start Docker",
        ),
        (
            DockerConfig {
                engine: "tcp://127.0.0.1:1".to_owned(),
                ..good.clone()
            },
            "local socket",
            "DOCKER_HOST",
        ),
        (
            DockerConfig {
                image: "127.0.0.1:1/none:1".to_owned(),
                ..good.clone()
            },
            "127.0.0.1:1/none:1",
            "docker pull",
        ),
        (
            DockerConfig {
                arguments: vec!["--rm".to_owned()],
                ..good.clone()
            },
            "--rm",
            "docker_extra_args",
        ),
        (
            DockerConfig {
                arguments: vec!["--runtime=none".to_owned()],
                ..good.clone()
            },
            "none",
            "docker_",
        ),
    ];
    for (config, cause, next) in cases {
        is_unavailable(&backend(config), "docker", cause, next, &marker).await;
    }
    assert_eq!(
        engine.docker(&["ps", "-aq"]).unwrap(),
        "",
        "half-made containers are left"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_terminals_and_sizes_go_through_unchanged() {
    let (engine, folder) = (Dockerd::start().unwrap(), tempfile::tempdir().unwrap());
    let backend = backend(config(&engine, folder.path()));
    bytes_go_through(&backend, 3_000_000).await;
    terminals_work(&backend).await;
}
