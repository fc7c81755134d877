//! Apptainer, as a script that writes down its words and runs the rest here.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::{Clock, ManualClock, SystemClock, SystemRandom};
use hermes_exec::sandboxes::{self, Operator, Reclaimed};
use hermes_exec::{
    Backend, BackendConfig, Ending, ExecError, Exit, Input, Lease, Leases, Offer, Owner,
    SingularityConfig, open,
};

use super::away::{
    FIVE_SECONDS, a_tree_ends, begun, bytes_go_through, is_unavailable, launch,
    nothing_outlives_us, run, start, time_until_gone, wait_for,
};
use super::local::carriers;

/// Knows its instances by files, and ends what runs in one when it is stopped.
const RECORDER: &str = r#"#!/bin/bash
printf '%s\n' "$*" >>"$RECORD"
known=$RECORD.d
mkdir -p "$known"
case "$1 $2" in
build*) [ -z "$NO_BUILD" ] || { echo 'no network' >&2; exit 1; }; : >"$2" ;;
'instance start')
    [ ! -e "$known/${!#}" ] || { echo "instance ${!#} already exists" >&2; exit 255; }
    : >"$known/${!#}" ;;
'instance stop')
    [ -e "$known/$3" ] || { echo "no instance found with name $3" >&2; exit 255; }
    for pid in $(cat "$known/$3"); do kill -9 "$pid" 2>/dev/null; done
    rm "$known/$3"
    [ -z "$SLOW_STOP" ] || { : >"$RECORD.stopped"; sleep "$SLOW_STOP"; } ;;
'instance list')
    all=''
    for one in "$known"/*; do
        [ -e "$one" ] && all="$all,{\"instance\":\"${one##*/}\",\"pid\":1,\"img\":\"/image.sif\",\"ip\":\"\"}"
    done
    printf '{"instances":[%s]}' "${all#,}" ;;
exec*)
    shift; while [ "${1#instance:}" = "$1" ]; do shift; done
    name=${1#instance://}; shift
    [ -e "$known/$name" ] || { echo "no instance found with name $name" >&2; exit 255; }
    echo $$ >>"$known/$name"
    exec "$@" ;;
esac
"#;

/// In the place of what builds an image.
const BUILDS_FOR_EVER: &str =
    "build*) trap '' TERM; : >\"$RECORD.building\"; while :; do sleep 0.1; done; ";

/// The same in the place of what starts an instance.
const STARTS_FOR_EVER: &str =
    "'instance start') trap '' TERM; : >\"$RECORD.starting\"; while :; do sleep 0.1; done; ";

fn config(folder: &Path, no_build: &str) -> SingularityConfig {
    let program = folder.join("apptainer");
    std::fs::write(&program, RECORDER).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    SingularityConfig {
        programs: vec![folder.join("none"), program],
        carriers: carriers(vec![
            variable("PATH", "/usr/bin:/bin"),
            variable("RECORD", folder.join("record").to_str().unwrap()),
            variable("NO_BUILD", no_build),
        ]),
        image: "docker://debian:12".to_owned(),
        directory: "/root".to_owned(),
        task: "a/task".to_owned(),
        profile: "main".to_owned(),
        cpus: 2.0,
        memory_mb: 512,
        persistent: true,
        lifetime: Duration::from_secs(300),
        offers: vec![Offer {
            from: PathBuf::from("/skills"),
            to: concat!("/root", "/.hermes/skills").to_owned(),
        }]
        .into(),
        scratch: folder.join("scratch"),
        sandboxes: folder.join("sandboxes"),
        clock: Arc::new(SystemClock),
    }
}

fn backend(config: SingularityConfig) -> Arc<dyn Backend> {
    open(BackendConfig::Singularity(config), &SystemRandom).unwrap()
}

fn leases(folder: &Path) -> Leases {
    Leases::of(&folder.join("sandboxes"), "singularity")
}

/// The instances that run.
fn running(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder.join("record.d")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

/// How many were started so far.
fn starts(folder: &Path) -> usize {
    let text = std::fs::read_to_string(folder.join("record")).unwrap();
    text.matches("instance start").count()
}

/// Somebody else who lives as long as the value.
struct Somebody(std::process::Child);

impl Somebody {
    fn new() -> Self {
        Self(Command::new("sleep").arg("600").spawn().unwrap())
    }

    /// Says that they use the sandbox of a lease, a command of theirs running in it.
    fn uses(&self, leases: &Leases, like: &Lease) {
        let owner = Owner {
            pid: self.0.id(),
            started: 0,
        };
        let lease = Lease {
            owner,
            running: 1,
            ..like.clone()
        };
        leases.write(&lease).unwrap();
    }
}

impl Drop for Somebody {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The only lease there is.
fn lease(leases: &Leases) -> Lease {
    let all: Vec<Lease> = leases.all().unwrap().into_values().flatten().collect();
    let [lease] = all.as_slice() else {
        panic!("{all:?}")
    };
    lease.clone()
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
    let leases = leases(folder.path());
    assert_eq!(leases.all().unwrap().len(), 1);
    backend.close().await.unwrap();
    assert!(leases.all().unwrap().is_empty());
    let lines = record(folder.path());
    let build = &lines[0];
    assert!(
        build.starts_with("build DIR/scratch/hermes-images/")
            && build.ends_with("docker://debian:12"),
        "{build}"
    );
    let image = "DIR/scratch/hermes-images/";
    assert_eq!(lines[1..3], ["instance list --json"; 2]);
    let start = &lines[3];
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
    for line in &lines[4..7] {
        assert_eq!(line, "exec --pwd /root instance://hermes_NAME");
    }
    assert_eq!(lines.last().unwrap(), "instance stop hermes_NAME");
    assert_eq!(lines.len(), 8);
}

// EX-29, EX-30
#[tokio::test(flavor = "multi_thread")]
async fn an_image_that_cannot_be_built_is_used_by_its_address_and_what_is_missing_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let plain = SingularityConfig {
        persistent: false,
        cpus: 0.0,
        memory_mb: 0,
        offers: Vec::new().into(),
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
        lines[3],
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

// EX-23, EX-29
#[tokio::test(flavor = "multi_thread")]
async fn a_tree_ends_when_it_is_told_to_and_when_we_are_killed() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), "");
    let backend = backend(config.clone());
    let mark = folder.path().display().to_string();
    a_tree_ends(&backend, &format!("{mark}-told")).await;
    backend.close().await.unwrap();
    let program = config.programs.last().unwrap();
    let record = folder.path().join("record");
    let arguments = elsewhere(program, &record, &config);
    nothing_outlives_us(&arguments, &format!("{mark}-killed")).await;
    let watched = folder.path().to_owned();
    wait_for("the instance's end", move || running(&watched).is_empty()).await;
    let next = super::singularity::backend(config);
    run(&next, "true").await;
    assert_eq!(running(folder.path()).len(), 1);
    next.close().await.unwrap();
}

// EX-29
#[tokio::test(flavor = "multi_thread")]
async fn bytes_go_through_an_instance_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let backend = backend(config(folder.path(), ""));
    bytes_go_through(&backend, 300_000).await;
    backend.close().await.unwrap();
}

// EX-21, EX-22, EX-29
#[tokio::test(flavor = "multi_thread")]
async fn an_instance_with_kept_files_is_shared_and_is_replaced_when_made_differently() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), "");
    let first = backend(config.clone());
    run(&first, "true").await;
    let leases = leases(folder.path());
    let name = running(folder.path());
    // Another process with the same settings works in the same one.
    let second = backend(config.clone());
    run(&second, "true").await;
    assert_eq!(
        (running(folder.path()), starts(folder.path())),
        (name.clone(), 1)
    );
    // Other settings cannot have it while somebody uses it: its files cannot be mounted twice.
    let somebody = Somebody::new();
    somebody.uses(&leases, &lease(&leases));
    let changed = SingularityConfig {
        memory_mb: 1024,
        ..config
    };
    let marker = folder.path().join("marker");
    let other = backend(changed.clone());
    let next = "container_persistent";
    is_unavailable(&other, "singularity", "other settings", next, &marker).await;
    assert_eq!(starts(folder.path()), 1);
    // Nor does it go when we leave.
    first.close().await.unwrap();
    assert_eq!(running(folder.path()), name);
    drop(somebody);
    assert_eq!(run(&other, "echo new").await.0, "new\n");
    assert_eq!((running(folder.path()), starts(folder.path())), (name, 2));
    let words = std::fs::read_to_string(folder.path().join("record")).unwrap();
    assert!(words.contains("--memory 1024M"), "{words}");
    other.close().await.unwrap();
    assert_eq!(running(folder.path()), [""; 0]);
    // What somebody outside runs under the name is not ours to stop.
    run(&second, "true").await;
    let records = folder.path().join("sandboxes/singularity/instances");
    std::fs::remove_dir_all(records).unwrap();
    is_unavailable(
        &backend(changed),
        "singularity",
        "other settings",
        next,
        &marker,
    )
    .await;
}

// EX-22, EX-31
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_instance_stops_unless_something_runs_in_it_and_starts_again() {
    let folder = tempfile::tempdir().unwrap();
    let config = SingularityConfig {
        lifetime: Duration::from_secs(2),
        persistent: false,
        ..config(folder.path(), "")
    };
    let backend = backend(config.clone());
    let job = launch("job", "sleep 963", Input::None);
    let job = backend.spawn(job).await.unwrap();
    run(&backend, "echo short").await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(running(folder.path()).len(), 1);
    let listed = sandboxes::list(Operator::Singularity(&config), &config.sandboxes);
    let listed = listed.await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (&*listed[0].image, &*listed[0].task, &*listed[0].profile),
        ("docker://debian:12", "atask", "main")
    );
    assert_eq!((listed[0].running, listed[0].leases.len()), (true, 1));
    job.control.end(Ending::Kill).await.unwrap();
    job.exit.await.unwrap();
    let watched = folder.path().to_owned();
    wait_for("stopped", move || running(&watched).is_empty()).await;
    assert_eq!(run(&backend, "echo again").await.0, "again\n");
    assert_eq!(starts(folder.path()), 2);
    backend.close().await.unwrap();
    assert_eq!(running(folder.path()), [""; 0]);
}

// EX-31: whoever comes while the idle instance is being stopped does not get lost with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_meets_the_idle_stop_runs_in_a_new_instance() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = SingularityConfig {
        lifetime: Duration::from_secs(1),
        persistent: false,
        ..config(folder.path(), "")
    };
    // The stop goes on for a while after the instance is gone.
    let slow = ("SLOW_STOP".to_owned(), "2".to_owned());
    config.carriers.environment.push(slow);
    let backend = backend(config);
    run(&backend, "true").await;
    let stopped = folder.path().join("record.stopped");
    wait_for("stopped", move || stopped.exists()).await;
    assert_eq!(run(&backend, "echo again").await.0, "again\n");
    assert_eq!(starts(folder.path()), 2);
}

// EX-22: what others left is found by everybody, and the leases of containers elsewhere are not theirs to clear.
#[tokio::test(flavor = "multi_thread")]
async fn instances_that_were_left_are_stopped_and_only_those_of_the_profile_that_asks() {
    let folder = tempfile::tempdir().unwrap();
    let config = SingularityConfig {
        persistent: false,
        ..config(folder.path(), "")
    };
    let left = backend(config.clone());
    run(&left, "true").await;
    let leases = leases(folder.path());
    let ours = lease(&leases);
    let name = ours.sandbox.clone();
    // As if its owner had been killed; a container of Docker has a lease of its own beside it.
    let dead = Owner {
        pid: ours.owner.pid,
        started: 1,
    };
    leases.forget(&name).unwrap();
    leases
        .write(&Lease {
            owner: dead,
            ..ours.clone()
        })
        .unwrap();
    let docker = Leases::new(&config.sandboxes);
    let container = Lease {
        sandbox: "hermes-container".to_owned(),
        owner: dead,
        ..ours
    };
    docker.write(&container).unwrap();

    let operator = || Operator::Singularity(&config);
    let clock = ManualClock::new(SystemClock.now());
    let reclaim = async |profile| {
        let reclaimed = sandboxes::reclaim(operator(), &config.sandboxes, profile, &clock);
        reclaimed.await.unwrap()
    };
    assert_eq!(reclaim("main").await, []);
    clock.advance(Duration::from_secs(301));
    assert_eq!(reclaim("other").await, []);
    assert_eq!(reclaim("main").await, [Reclaimed::Stopped(name)]);
    assert_eq!(running(folder.path()), [""; 0]);

    assert_eq!(docker.all().unwrap().len(), 1);
    assert_eq!(run(&left, "echo back").await.0, "back\n");
    let name = running(folder.path()).remove(0);
    let removed = sandboxes::remove(operator(), &config.sandboxes, &name).await;
    assert!(removed.unwrap());
    assert_eq!(running(folder.path()), [""; 0]);
}

// EX-23, EX-29
#[tokio::test(flavor = "multi_thread")]
async fn an_image_is_built_no_longer_when_we_were_killed() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), "");
    let record = folder.path().join("record");
    let program = config.programs.last().unwrap();
    std::fs::write(program, RECORDER.replace("build*) ", BUILDS_FOR_EVER)).unwrap();
    let arguments = elsewhere(program, &record, &config);
    let runner = start(&arguments, "true");
    let building = record.with_extension("building");
    wait_for("the build", move || building.exists()).await;
    let named = program.display().to_string();
    assert!(running_from(&named) >= 1);
    let took = time_until_gone(runner, move || running_from(&named) == 0).await;
    assert!(took < FIVE_SECONDS, "{took:?}");
}

// EX-23, EX-29
#[tokio::test(flavor = "multi_thread")]
async fn an_instance_is_started_no_longer_when_we_were_killed() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), "");
    let record = folder.path().join("record");
    let program = config.programs.last().unwrap();
    std::fs::write(
        program,
        RECORDER.replace("'instance start')", STARTS_FOR_EVER),
    )
    .unwrap();
    let arguments = elsewhere(program, &record, &config);
    let runner = start(&arguments, "true");
    let starting = record.with_extension("starting");
    wait_for("the start", move || starting.exists()).await;
    let named = program.display().to_string();
    assert!(running_from(&named) >= 1);
    let took = time_until_gone(runner, move || running_from(&named) == 0).await;
    assert!(took < FIVE_SECONDS, "{took:?}");
}

// EX-23: whoever still uses the instance keeps it.
#[tokio::test(flavor = "multi_thread")]
async fn an_instance_that_somebody_else_uses_goes_on_when_we_were_killed() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), "");
    let record = folder.path().join("record");
    let program = config.programs.last().unwrap();
    let runner = begun(
        &elsewhere(program, &record, &config),
        "echo up; exec sleep 964",
    );
    let (somebody, leases) = (Somebody::new(), leases(folder.path()));
    somebody.uses(&leases, &lease(&leases));
    let watcher = format!("\0watch\0{}\0", program.display());
    assert_eq!(processes(|line| line.contains(&watcher)), 1);
    time_until_gone(runner, move || {
        processes(|line| line.contains(&watcher)) == 0
    })
    .await;
    assert_eq!(running(folder.path()).len(), 1);
}

/// What makes another process use the same instances.
fn elsewhere<'a>(
    program: &'a Path,
    record: &'a Path,
    config: &'a SingularityConfig,
) -> [&'a OsStr; 5] {
    [
        "singularity".as_ref(),
        program.as_os_str(),
        record.as_os_str(),
        config.scratch.as_os_str(),
        config.sandboxes.as_os_str(),
    ]
}

/// How many processes run this script.
fn running_from(script: &str) -> usize {
    let begin = format!("/bin/bash\0{script}\0");
    processes(|line| line.starts_with(&begin))
}

/// How many processes have such a command line.
fn processes(wanted: impl Fn(&str) -> bool) -> usize {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = all.map(|entry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default());
    lines
        .filter(|line| wanted(&String::from_utf8_lossy(line)))
        .count()
}
