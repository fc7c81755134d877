//! A shell where it is hard to go on: on a full disk, in a directory whose name is no text.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command as Program;
use std::sync::Arc;

use hermes_core::SystemRandom;
use hermes_exec::{Shell, ShellOptions, Startup};

use super::local::{Local, OUTPUT_LIMIT, output, run};

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
