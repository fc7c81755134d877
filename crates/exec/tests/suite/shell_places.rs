//! A shell where it is hard to go on: on a full disk, in a directory whose name is no text.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command as Program;
use std::sync::Arc;

use hermes_core::SystemRandom;
use hermes_exec::{Backend, Command, Shell, ShellOptions, Startup};
use hermes_testkit::{Dockerd, Sshd};

use super::away::read;
use super::local::{Local, OUTPUT_LIMIT, command, output, run, run_command};
use super::{docker, ssh};

/// A disk of 64 kB, there as long as the value.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None` without the right to mount; where all tests must count, there has to be one.
    fn at(place: &Path) -> Option<Self> {
        std::fs::create_dir(place).unwrap();
        let mounted = Program::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
            .arg(place)
            .status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(Self(place.to_owned()));
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "whether all tests must count is said in the environment"
        )]
        let must_count = std::env::var_os("CI").is_some();
        assert!(!must_count, "cannot mount a small disk");
        None
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Program::new("umount").arg("-l").arg(&self.0).status());
    }
}

// EX-2, EX-4: a state that does not fit is no state; the one before it holds, and that is said.
#[tokio::test]
async fn a_state_that_does_not_fit_on_the_disk_is_said_and_the_one_before_it_holds() {
    let local = Local::new();
    let place = local.path().join("small");
    let Some(_disk) = SmallDisk::at(&place) else {
        return;
    };
    let shell = Shell::new(ShellOptions {
        backend: Arc::clone(&local.backend),
        directory: local.path().to_owned(),
        environment: local.environment(),
        startup: Startup::Nothing,
        output_limit: OUTPUT_LIMIT,
        folder: place.clone(),
        ready: None,
        random: Arc::new(SystemRandom),
    });
    let finished = run(&shell, "export KEPT=before; f() { echo from f; }").await;
    assert_eq!(finished.unsaved, None);
    for command in [
        "export LATER=$(head -c 100000 /dev/zero | tr '\\0' x); cd /usr; echo said",
        "trap : EXIT; export LATER=$(head -c 100000 /dev/zero | tr '\\0' x); echo said",
    ] {
        let finished = run(&shell, command).await;
        assert_eq!(
            (finished.output.text.trim(), finished.exit_code),
            ("said", 0)
        );
        let folder = finished.unsaved.unwrap();
        assert!(folder.starts_with(&place), "{}", folder.display());
        let next = run(&shell, "echo \"$KEPT${LATER:+ later}\"; f; pwd").await;
        assert_eq!(next.output.text, "before\nfrom f\n/usr\n");
        assert_eq!(next.unsaved, None);
    }
}

// EX-2, EX-4
#[tokio::test]
async fn a_state_that_cannot_be_written_is_no_part_of_the_output() {
    let local = Local::new();
    let shell = local.shell();
    for command in ["echo one", "trap 'echo two' EXIT"] {
        assert_eq!(run(&shell, "true").await.unsaved, None);
        let scratch = local.backend.scratch();
        let finished = run(&shell, &format!("rm -rf {}; {command}", scratch.display())).await;
        let expected = command.rsplit("echo ").next().unwrap();
        let expected = expected.trim_end_matches("' EXIT");
        assert_eq!(finished.output.text.trim(), expected);
        assert!(finished.unsaved.unwrap().starts_with(&scratch));
        std::fs::create_dir_all(shell.folder().await.unwrap()).unwrap();
    }
}

// EX-2, EX-21: what is lost is said once, and the shell goes on from there.
#[tokio::test]
async fn a_state_that_was_lost_is_said_once() {
    let local = Local::new();
    let shell = local.shell();
    for lost in ["first", "again"] {
        let finished = run(&shell, &format!("export KEPT={lost}")).await;
        assert!(!finished.started_over);
        std::fs::remove_dir_all(shell.folder().await.unwrap()).unwrap();
        let finished = run(&shell, "echo \"<$KEPT>\"; export NEXT=here").await;
        assert_eq!(finished.output.text, "<>\n");
        assert!(finished.started_over);
        assert_eq!(finished.unsaved, None);
        let finished = run(&shell, "echo \"<$NEXT>\"").await;
        assert_eq!(finished.output.text, "<here>\n");
        assert!(!finished.started_over);
        assert_eq!(finished.unsaved, None);
    }
    // Nothing was exported yet: nothing is lost.
    let fresh = local.shell();
    std::fs::remove_dir_all(fresh.folder().await.unwrap()).unwrap();
    let finished = run(&fresh, "echo new").await;
    assert_eq!(finished.output.text, "new\n");
    assert!(!finished.started_over);
}

/// A shell elsewhere, in the directory for temporary files there.
pub(super) fn elsewhere(backend: &Arc<dyn Backend>) -> Shell {
    Shell::new(ShellOptions {
        backend: Arc::clone(backend),
        directory: PathBuf::from("/"),
        environment: Vec::new(),
        startup: Startup::Nothing,
        output_limit: OUTPUT_LIMIT,
        folder: backend.scratch(),
        ready: None,
        random: Arc::new(SystemRandom),
    })
}

// EX-2, EX-3: also a state with odd text, handed on by a command on a terminal, by one that ends the shell and by one
// that fails, and found by one in the background.
#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_was_lost_elsewhere_is_put_back() {
    let server = Sshd::start().unwrap();
    let backend = ssh::backend(ssh::config(&server));
    let shell = elsewhere(&backend);
    let define = "export ODD=$'a\\tb\\x1ec\\x1f\\r\\n\\'d\\xe9'; f() { echo \"from f\"; }; alias g='echo from g'; cd /usr";
    let show = "f; g; pwd; printf %s \"$ODD\" | od -An -tx1";
    let expected = "from f\nfrom g\n/usr\n 61 09 62 1e 63 1f 0d 0a 27 64 e9\n";
    for (ending, terminal) in [
        ("", None),
        ("", Some((24, 80))),
        ("; exit 3", None),
        ("; set -e; false", None),
        ("; exec true", None),
    ] {
        let command = Command {
            terminal,
            ..command(&format!("{define}{ending}"))
        };
        run_command(&shell, command).await;
        std::fs::remove_dir_all(backend.scratch()).unwrap();
        let finished = run(&shell, show).await;
        assert_eq!(finished.output.text, expected, "{ending:?} {terminal:?}");
        assert!(!finished.started_over && finished.unsaved.is_none());
        run(&shell, "unset -f f; unalias g; unset ODD; cd /").await;
    }
    // What a command sends elsewhere holds nothing of ours.
    let folder = tempfile::tempdir().unwrap();
    let sent = folder.path().join("sent");
    run(&shell, &format!("exec >{}; echo mine", sent.display())).await;
    assert_eq!(std::fs::read_to_string(&sent).unwrap(), "mine\n");
    // What is too long to be kept here is lost, and that is said.
    run(
        &shell,
        "export LONG=$(head -c 90000 /dev/zero | tr '\\0' x)",
    )
    .await;
    std::fs::remove_dir_all(backend.scratch()).unwrap();
    let finished = run(&shell, "echo \"<$LONG>\"").await;
    assert_eq!(finished.output.text, "<>\n");
    assert!(finished.started_over && finished.unsaved.is_none());

    run(&shell, "export SEEN=behind").await;
    std::fs::remove_dir_all(backend.scratch()).unwrap();
    // What the judge of commands is told is what the next command finds.
    assert!(shell.saved().await.unwrap().unwrap().contains("SEEN"));
    let launch = shell
        .background(&command("echo $SEEN; read line"))
        .await
        .unwrap();
    let mut process = backend.spawn(launch).await.unwrap();
    drop(process.input.take());
    assert_eq!(read(&mut process).await, "behind\n");
    backend.close().await.unwrap();
    assert!(!backend.scratch().exists());
}

// EX-2, EX-21
#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_was_removed_or_stopped_takes_no_state_along() {
    let (engine, folder) = (Dockerd::start().unwrap(), tempfile::tempdir().unwrap());
    let backend = docker::backend(docker::config(&engine, folder.path()));
    let shell = elsewhere(&backend);
    run(&shell, "export KEPT=yes; f() { echo from f; }; cd /etc").await;
    for how in [&["rm", "-f"][..], &["stop", "-t", "0"]] {
        let id = docker::inspect(&engine)["Id"].as_str().unwrap().to_owned();
        let words: Vec<&str> = how.iter().copied().chain([id.as_str()]).collect();
        engine.docker(&words).unwrap();
        let finished = run(&shell, "echo $KEPT; f; pwd").await;
        assert_eq!(finished.output.text, "yes\nfrom f\n/etc\n", "{how:?}");
        assert!(!finished.started_over && finished.unsaved.is_none());
    }
    backend.close().await.unwrap();
}

// EX-2
#[tokio::test]
async fn a_directory_whose_name_is_no_text_is_gone_on_in() {
    let local = Local::new();
    let shell = local.shell();
    let finished = run(&shell, "mkdir $'caf\\xe9 \\'x' && cd $'caf\\xe9 \\'x'").await;
    let name = finished.directory.file_name().unwrap();
    assert_eq!(name.as_bytes(), b"caf\xe9 'x");
    let finished = run(&shell, "echo here > file; cat file").await;
    assert_eq!(finished.output.text, "here\n");
    assert_eq!(finished.missing_directory, None);
    assert!(finished.directory.join("file").exists());
    assert_eq!(
        output(&shell, "cd ..; ls").await,
        "caf\u{fffd} 'x\nhome\nscratch"
    );
}
