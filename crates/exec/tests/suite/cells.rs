//! Commands that are confined one after the other, through the backend of this machine.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use hermes_exec::sandbox::{Mechanism, Rights, Sandbox};
use hermes_exec::{Command, Ended, ExecError, Finished, LocalBackend, LocalOptions, Shell};
use hermes_policy::{Confinement, Mode, Network};
use hermes_testkit::process;
use tokio_util::sync::CancellationToken;

use super::local::{Local, command, warden_program};
use super::sandbox::{bubblewrap, helper, landlock};

/// A shell whose commands may write in one directory.
struct Confined {
    local: Local,
    confinement: Arc<Confinement>,
}

impl Confined {
    fn new(mechanism: Mechanism) -> Result<Self> {
        let mut local = Local::new();
        let (work, scratch) = (local.path().join("work"), local.path().join("scratch"));
        for needed in [&work, &scratch] {
            fs::create_dir_all(needed)?;
        }
        local.backend = Arc::new(LocalBackend::new(LocalOptions {
            warden: warden_program(),
            scratch: scratch.clone(),
            confiner: Some(Arc::new(Sandbox::of(helper(), mechanism))),
        }));
        let confinement = Arc::new(Confinement {
            mode: Mode::WorkspaceWrite,
            writable: vec![work.clone(), scratch],
            protected: vec![work.join(".git/hooks")],
            hidden: Vec::new(),
            exposed: Vec::new(),
            sealed: Vec::new(),
            temporary: Vec::new(),
            network: Network::On,
        });
        Ok(Self { local, confinement })
    }

    fn work(&self) -> PathBuf {
        self.local.path().join("work")
    }

    fn command(&self, text: &str) -> Command {
        Command {
            workdir: Some(self.work().display().to_string()),
            confinement: Some(self.confinement.clone()),
            ..command(text)
        }
    }

    async fn run(&self, shell: &Shell, text: &str) -> Result<Finished, ExecError> {
        shell
            .run(self.command(text), &CancellationToken::new(), &mut |_| {})
            .await
    }

    async fn output(&self, shell: &Shell, text: &str) -> Result<String> {
        let finished = self.run(shell, text).await?;
        Ok(finished.output.text.trim().to_owned())
    }
}

fn mechanisms() -> Vec<Mechanism> {
    let mut all = vec![bubblewrap(Rights::UserNamespace), landlock(None)];
    if nix::unistd::geteuid().is_root() {
        all.push(bubblewrap(Rights::Root));
    }
    all
}

// EX-68
#[tokio::test]
async fn commands_share_a_sandbox_one_after_the_other_and_never_at_once() -> Result<()> {
    const NAMESPACE: &str = "readlink /proc/self/ns/mnt";
    let confined = Confined::new(bubblewrap(Rights::UserNamespace))?;
    let shell = confined.local.shell();
    let first = confined.output(&shell, NAMESPACE).await?;
    assert!(first.starts_with("mnt:"), "{first}");
    assert_eq!(confined.output(&shell, NAMESPACE).await?, first);
    let (one, other) = (confined.local.shell(), confined.local.shell());
    // Each waits for the other, so that both are there at the same time.
    let meet = |ours: &str, theirs: &str| {
        format!("touch {ours}; while ! test -e {theirs}; do sleep 0.01; done; {NAMESPACE}")
    };
    let (left, right) = (meet("left", "right"), meet("right", "left"));
    let (left, right) = tokio::join!(
        confined.output(&one, &left),
        confined.output(&other, &right)
    );
    let (left, right) = (left?, right?);
    assert!(left.starts_with("mnt:") && right.starts_with("mnt:"));
    assert_ne!(left, right);
    Ok(())
}

// EX-13 EX-68
#[tokio::test]
async fn nothing_a_confined_command_leaves_behind_meets_the_next_one() -> Result<()> {
    for mechanism in mechanisms() {
        let confined = Confined::new(mechanism.clone())?;
        let shell = confined.local.shell();
        let left = "env -i setsid bash -c 'sleep 61987 & sleep 61987' >/dev/null 2>&1 & \
                    (trap '' TERM; sleep 61987) >/dev/null 2>&1 & sleep 0.1; echo done";
        assert_eq!(confined.output(&shell, left).await?, "done", "{mechanism}");
        let seen = confined
            .output(&shell, "ps -eo args | grep -cx 'sleep 6198[7]'")
            .await?;
        assert_eq!(seen, "0", "{mechanism}");
        let ours = process::descendants(i32::try_from(std::process::id())?);
        let sleeping = ours
            .iter()
            .filter(|one| command_line(one.pid).contains("sleep 61987"));
        assert_eq!(sleeping.count(), 0, "{mechanism}");
    }
    Ok(())
}

// EX-1, EX-7, EX-68
#[tokio::test]
async fn what_ends_by_itself_behind_a_confined_command_is_waited_for() -> Result<()> {
    for mechanism in mechanisms() {
        let confined = Confined::new(mechanism.clone())?;
        let shell = confined.local.shell();
        let late = "echo a > >(cat; sleep 0.05; echo late)";
        let said = confined.output(&shell, late).await?;
        assert_eq!(said, "a\nlate", "{mechanism}");
        let pack = "seq 300000 | tee >(gzip -9 > f.gz) >/dev/null";
        confined.output(&shell, pack).await?;
        let count = "gzip -dc f.gz | wc -l";
        assert_eq!(
            confined.output(&shell, count).await?,
            "300000",
            "{mechanism}"
        );
        let count = "seq 3 | tee >(sleep 0.2; wc -l > count) >/dev/null; exit 4";
        let finished = confined.run(&shell, count).await?;
        assert_eq!((finished.exit_code, finished.cut_off), (4, false));
        assert_eq!(
            confined.output(&shell, "cat count").await?,
            "3",
            "{mechanism}"
        );
    }
    Ok(())
}

// EX-7, EX-68: what is asked to end may tidy up, and who does not want to wait for it need not.
#[tokio::test]
async fn what_stays_behind_a_confined_command_is_told_to_end() -> Result<()> {
    for mechanism in mechanisms() {
        let confined = Confined::new(mechanism.clone())?;
        let shell = confined.local.shell();
        let tidies = "(trap '> tidied; exit' TERM; touch ready; while :; do sleep 0.05; done) 2>/dev/null & \
                      until test -e ready; do sleep 0.01; done; echo ok";
        let tidied = confined.work().join("tidied");
        // On a machine that is busy with something else it may need more time than it gets.
        for _ in 0..5 {
            let finished = confined.run(&shell, tidies).await?;
            assert_eq!(finished.output.text.trim(), "ok", "{mechanism}");
            assert!(finished.cut_off, "{mechanism}");
            if tidied.exists() {
                break;
            }
        }
        assert!(tidied.exists(), "{mechanism}");

        let stubborn = "(trap '' TERM; echo begun; sleep 61988) & exit 3";
        let mut quickest = Duration::MAX;
        for _ in 0..3 {
            let cancel = CancellationToken::new();
            let stop = cancel.clone();
            let mut stopped = None;
            let finished = shell
                .run(confined.command(stubborn), &cancel, &mut |said| {
                    if said.contains("begun") {
                        stopped = Some(Instant::now());
                        stop.cancel();
                    }
                })
                .await?;
            assert_eq!(finished.ended, Ended::Interrupted, "{mechanism}");
            quickest = quickest.min(stopped.map_or(Duration::MAX, |at| at.elapsed()));
            let ours = process::descendants(i32::try_from(std::process::id())?);
            let mut sleeping = ours.iter();
            assert!(!sleeping.any(|one| command_line(one.pid).contains("sleep 61988")));
        }
        println!("stopped in {quickest:?}");
        assert!(quickest < Duration::from_secs(1), "{quickest:?}");
    }
    Ok(())
}

fn command_line(pid: i32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

// EX-68
#[tokio::test]
async fn what_a_command_makes_is_protected_from_the_next_one() -> Result<()> {
    let confined = Confined::new(bubblewrap(Rights::UserNamespace))?;
    let shell = confined.local.shell();
    let made = confined
        .output(
            &shell,
            "git init --quiet && mkdir -p .git/hooks && echo made",
        )
        .await?;
    assert_eq!(made, "made");
    let hooked = confined
        .output(&shell, "echo x > .git/hooks/pre-commit; echo $?")
        .await?;
    assert!(hooked.ends_with('1'), "{hooked}");
    assert!(!confined.work().join(".git/hooks/pre-commit").exists());
    Ok(())
}

// EX-68: a process that swaps a directory for a link while sandboxes are made gets nothing opened by it.
#[tokio::test]
async fn what_changes_under_a_sandbox_in_the_making_opens_nothing() -> Result<()> {
    const SWAP: &str = r#"
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
os.makedirs('.git/hooks', exist_ok=True)
os.symlink('../other', 'link')
while not os.path.exists('enough'):
    libc.renameat2(-100, b'.git', -100, b'link', 2)
"#;
    const TRY: &str =
        "cat ../other/secret; echo bad > ../other/planted; echo bad > ../other/hooks/planted; true";
    const ROUNDS: usize = 25;
    for mechanism in mechanisms() {
        let confined = Confined::new(mechanism.clone())?;
        let other = confined.local.path().join("other");
        fs::create_dir_all(other.join("hooks"))?;
        fs::write(other.join("secret"), "CREDENTIAL")?;
        fs::write(confined.work().join("swap.py"), SWAP)?;
        let (swapping, shell) = (confined.local.shell(), confined.local.shell());
        let tries = async {
            let mut said = String::new();
            for round in 0..ROUNDS {
                // Each in a sandbox of its own: what is there differs from the last time.
                let unlike = confined.work().join(format!("unlike-{round}"));
                fs::create_dir_all(&unlike)?;
                let mut confinement = (*confined.confinement).clone();
                confinement.hidden = vec![unlike, other.join("secret")];
                let command = Command {
                    confinement: Some(Arc::new(confinement)),
                    ..confined.command(TRY)
                };
                let cancel = CancellationToken::new();
                match shell.run(command, &cancel, &mut |_| {}).await {
                    Ok(finished) => said.push_str(&finished.output.text),
                    Err(ExecError::Confinement(why)) => said.push_str(&why),
                    Err(error) => return Err(error.into()),
                }
            }
            anyhow::Ok(said)
        };
        let tries = async {
            let said = tries.await;
            fs::write(confined.work().join("enough"), "")?;
            said
        };
        let swap = "python3 swap.py";
        let (swapped, said) = tokio::join!(confined.output(&swapping, swap), tries);
        let (swapped, said) = (swapped?, said?);
        let mut links = [".git", "link"].iter();
        let swapping = links.any(|name| confined.work().join(name).is_symlink());
        assert!(swapping, "{mechanism}: {swapped}");
        assert!(!said.contains("CREDENTIAL"), "{mechanism}: {said}");
        for planted in ["planted", "hooks/planted"] {
            let there = other.join(planted).exists();
            assert!(!there, "{mechanism}: {planted}: {said}");
        }
    }
    Ok(())
}

// EX-68
#[tokio::test]
async fn a_command_cannot_reach_the_process_that_starts_the_next_one() -> Result<()> {
    let confined = Confined::new(bubblewrap(Rights::UserNamespace))?;
    let shell = confined.local.shell();
    let tried = confined
        .output(
            &shell,
            "kill -9 1; cat /proc/1/environ; head -c 1 /proc/1/mem; readlink /proc/1/fd/0 || echo denied; echo tried",
        )
        .await?;
    assert!(tried.ends_with("tried"), "{tried}");
    assert_eq!(tried.matches("denied").count(), 3, "{tried}");
    let killed = confined.run(&shell, "kill -9 -1; kill -9 $$").await?;
    assert_eq!(killed.exit_code, 137, "{killed:?}");
    assert_eq!(confined.output(&shell, "echo alive").await?, "alive");
    Ok(())
}

// EX-68
#[tokio::test]
async fn a_cell_that_dies_under_a_command_is_replaced_for_the_next() -> Result<()> {
    let confined = Confined::new(landlock(None))?;
    let shell = confined.local.shell();
    // Without namespaces the warden inside is there to be killed, by whoever it started.
    let command = "echo begun; kill -9 $PPID; sleep 30";
    let lost = confined.run(&shell, command).await?;
    assert_eq!((lost.ended, lost.exit_code), (Ended::Lost, -1), "{lost:?}");
    assert_eq!(lost.output.text.trim(), "begun");
    assert_eq!(confined.output(&shell, "echo again").await?, "again");
    Ok(())
}

// EX-68
#[tokio::test]
async fn a_sandbox_that_cannot_be_made_says_why_and_runs_nothing() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("bwrap");
    fs::write(
        &program,
        "#!/bin/sh\necho 'no namespaces today' >&2\nexit 1\n",
    )?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    let confined = Confined::new(Mechanism::Bubblewrap {
        program,
        version: "1".into(),
        rights: Rights::UserNamespace,
        own_processes: true,
    })?;
    let shell = confined.local.shell();
    let refused = confined.run(&shell, "touch ran").await;
    let Err(ExecError::Confinement(why)) = refused else {
        anyhow::bail!("{refused:?}");
    };
    assert!(why.contains("no namespaces today"), "{why}");
    assert!(!Path::new(&confined.work().join("ran")).exists());
    Ok(())
}

// EX-68
#[tokio::test]
async fn a_confined_terminal_has_a_name_and_a_size() -> Result<()> {
    for mechanism in mechanisms() {
        let confined = Confined::new(mechanism.clone())?;
        let shell = confined.local.shell();
        // Not the first command of its cell, which could have inherited a terminal.
        confined.output(&shell, "true").await?;
        let command = Command {
            terminal: Some((33, 77)),
            ..confined.command("tty; test -w $(tty) && stty size")
        };
        let ran = shell
            .run(command, &CancellationToken::new(), &mut |_| {})
            .await?;
        let text = ran.output.text.replace('\r', "");
        let (name, size) = text.trim().split_once('\n').unwrap_or_default();
        assert!(name.starts_with("/dev/pts/"), "{mechanism}: {text}");
        assert_eq!(size, "33 77", "{mechanism}");
    }
    Ok(())
}
