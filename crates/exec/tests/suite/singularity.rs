//! Apptainer, as a script that writes down its words and runs the rest here.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_core::{SystemClock, SystemRandom};
use hermes_exec::{
    Backend, BackendConfig, ExecError, Exit, Input, Leases, Offer, SingularityConfig, open,
};

use super::away::{launch, run};

const RECORDER: &str = r#"#!/bin/bash
printf '%s\n' "$*" >>"$RECORD"
case $1 in
build) [ -z "$NO_BUILD" ] || { echo 'no network' >&2; exit 1; }; : >"$2" ;;
exec) shift; while [ "${1#instance:}" = "$1" ]; do shift; done; shift; exec "$@" ;;
esac
"#;

fn config(folder: &Path, no_build: &str) -> SingularityConfig {
    let program = folder.join("apptainer");
    std::fs::write(&program, RECORDER).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    SingularityConfig {
        programs: vec![folder.join("none"), program],
        environment: vec![
            variable("PATH", "/usr/bin:/bin"),
            variable("RECORD", folder.join("record").to_str().unwrap()),
            variable("NO_BUILD", no_build),
        ],
        image: "docker://debian:12".to_owned(),
        directory: "/root".to_owned(),
        task: "a/task".to_owned(),
        cpus: 2.0,
        memory_mb: 512,
        persistent: true,
        offers: vec![Offer {
            from: PathBuf::from("/skills"),
            to: concat!("/root", "/.hermes/skills").to_owned(),
        }],
        scratch: folder.join("scratch"),
        sandboxes: folder.join("sandboxes"),
        clock: Arc::new(SystemClock),
    }
}

fn backend(config: SingularityConfig) -> Arc<dyn Backend> {
    open(BackendConfig::Singularity(config), &SystemRandom).unwrap()
}

/// What was recorded, with the random part of names left out and nothing about the guard's text.
fn record(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("record")).unwrap();
    let name = text
        .split_whitespace()
        .find_map(|word| word.strip_prefix("hermes_"))
        .unwrap();
    let text = text
        .replace(name, "NAME")
        .replace(folder.to_str().unwrap(), "DIR");
    text.lines()
        .map(|line| line.split(" /bin/sh").next().unwrap().to_owned())
        .collect()
}

// EX-29
#[tokio::test(flavor = "multi_thread")]
async fn an_instance_is_started_used_and_stopped_with_the_right_words() {
    let folder = tempfile::tempdir().unwrap();
    let backend = backend(config(folder.path(), ""));
    assert_eq!(
        run(&backend, "echo one; exit 5").await,
        ("one\n".to_owned(), Exit::Code(5))
    );
    assert_eq!(run(&backend, "echo two").await.0, "two\n");
    let leases = Leases::new(&folder.path().join("sandboxes"));
    assert_eq!(leases.all().unwrap().len(), 1);
    backend.close().await.unwrap();
    assert!(leases.all().unwrap().is_empty());
    let lines = record(folder.path());
    let build = &lines[1];
    assert!(
        build.starts_with("build DIR/scratch/hermes-images/")
            && build.ends_with("docker://debian:12"),
        "{build}"
    );
    let image = "DIR/scratch/hermes-images/";
    let start = &lines[2];
    let flags = concat!(
        "instance start --containall --no-home --overlay DIR/scratch/hermes-overlays/overlay-a_task ",
        "--bind /skills:/root",
        "/.hermes/skills:ro --memory 512M --cpus 2 "
    );
    assert!(start.starts_with(flags), "{start}");
    assert!(
        start.contains(image) && start.ends_with(".sif hermes_NAME"),
        "{start}"
    );
    for line in &lines[3..6] {
        assert_eq!(line, "exec --pwd /root instance://hermes_NAME");
    }
    assert_eq!(lines.last().unwrap(), "instance stop hermes_NAME");
    assert_eq!(lines.len(), 7);
}

// EX-29, EX-30
#[tokio::test(flavor = "multi_thread")]
async fn an_image_that_cannot_be_built_is_used_by_its_address_and_what_is_missing_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let plain = SingularityConfig {
        persistent: false,
        cpus: 0.0,
        memory_mb: 0,
        offers: Vec::new(),
        ..config(folder.path(), "1")
    };
    let first = backend(plain.clone());
    assert_eq!(run(&first, "echo one").await.0, "one\n");
    let terminal = launch(
        "term",
        "true",
        Input::Terminal {
            rows: 1,
            columns: 1,
        },
    );
    assert!(matches!(
        first.spawn(terminal).await,
        Err(ExecError::Unavailable { .. })
    ));
    first.close().await.unwrap();
    let lines = record(folder.path());
    assert_eq!(
        lines[2],
        "instance start --containall --no-home --writable-tmpfs docker://debian:12 hermes_NAME"
    );

    let marker = folder.path().join("marker");
    let missing = backend(SingularityConfig {
        programs: Vec::new(),
        ..plain
    });
    let Err(error) = missing
        .spawn(launch(
            "none",
            &format!("touch {}", marker.display()),
            Input::None,
        ))
        .await
    else {
        panic!()
    };
    assert!(error.to_string().contains("Install apptainer"), "{error}");
    assert!(!marker.exists());
}
