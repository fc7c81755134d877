use std::path::Path;
use std::process::Stdio;

use hermes_core::SystemRandom;
use hermes_testkit::{eventually, process};
use tokio::process::Command;

use super::*;

/// The far side is a shell on this machine.
struct Here {
    shell: &'static [&'static str],
    scratch: PathBuf,
    patience: Duration,
    every: Duration,
    /// Where programs are, when it is not where they are for us.
    programs: Option<PathBuf>,
}

impl Carrier for Here {
    fn place(&self) -> Place {
        Place::Away {
            kind: "here",
            label: self.shell.join(" "),
        }
    }

    fn scratch(&self) -> PathBuf {
        self.scratch.clone()
    }

    fn pulse(&self) -> Pulse {
        Pulse {
            every: self.every,
            patience: self.patience,
        }
    }

    fn open(&self, role: Role, crew: &Crew) -> BoxFuture<'_, Result<Channel, ExecError>> {
        let mut command = Command::new(self.shell[0]);
        command.args(&self.shell[1..]).args(["-c", role.boot()]);
        if let Some(programs) = &self.programs {
            command.env("PATH", programs);
            for name in ["LANG", "LC_ALL", "LC_CTYPE"] {
                command.env_remove(name);
            }
        }
        let channel = program::carry(started(command), crew);
        Box::pin(async move { channel })
    }

    fn explain(&self, closed: &Closed) -> ExecError {
        ExecError::Gone(closed.complaint.clone())
    }

    fn beat(&self, _running: usize) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    fn close(&self) -> BoxFuture<'_, Result<(), ExecError>> {
        Box::pin(async { Ok(()) })
    }
}

/// A program that we start ourselves: there is no warden beside unit tests.
fn started(mut command: Command) -> Process {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let pid = child.id().unwrap();
    Process {
        pid: Some(pid),
        output: Box::new(child.stdout.take().unwrap()),
        errors: Some(Box::new(child.stderr.take().unwrap())),
        input: Some(Box::new(child.stdin.take().unwrap())),
        exit: Box::pin(async move {
            let status = child.wait().await.unwrap();
            Ok(match status.code() {
                Some(code) => Exit::Code(code),
                None => {
                    Exit::Signal(std::os::unix::process::ExitStatusExt::signal(&status).unwrap())
                }
            })
        }),
        cut_off: None,
        control: Arc::new(Killed(pid)),
    }
}

struct Killed(u32);

impl Control for Killed {
    fn end(&self, _how: Ending) -> BoxFuture<'_, Result<(), ExecError>> {
        let pid = nix::unistd::Pid::from_raw(self.0 as i32);
        // It may have ended by itself.
        let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
        Box::pin(async { Ok(()) })
    }

    fn resize(&self, _rows: u16, _columns: u16) -> BoxFuture<'_, Result<(), ExecError>> {
        Box::pin(async { Ok(()) })
    }
}

const SHELLS: [&[&str]; 3] = [&["bash"], &["dash"], &["busybox", "sh"]];
const LONG: Duration = Duration::from_secs(60);

fn backend(shell: &'static [&'static str], scratch: &Path) -> Supervised<Here> {
    let carrier = Here {
        shell,
        scratch: scratch.to_owned(),
        patience: Duration::ZERO,
        every: Duration::from_secs(3600),
        programs: None,
    };
    Supervised::new(carrier, &SystemRandom)
}

/// A directory with all programs of this machine but perl.
fn without_perl() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in ["/usr/bin", "/bin"].map(std::fs::read_dir) {
        for program in entry.unwrap().flatten() {
            let name = program.file_name();
            let link = folder.path().join(&name);
            if !name.to_string_lossy().starts_with("perl") && link.symlink_metadata().is_err() {
                std::os::unix::fs::symlink(program.path(), link).unwrap();
            }
        }
    }
    folder
}

fn launch(id: &str, argv: &[&str], input: Input) -> Launch {
    Launch {
        id: RunId::new(id),
        argv: argv.iter().map(|text| (*text).to_owned()).collect(),
        directory: None,
        environment: Vec::new(),
        input,
        confinement: None,
    }
}

async fn text(process: &mut Process) -> String {
    let mut output = Vec::new();
    process.output.read_to_end(&mut output).await.unwrap();
    String::from_utf8(output).unwrap()
}

fn survivors(backend: &Supervised<Here>, run: &str) -> Vec<process::Process> {
    process::find_by_env_marker("HERMES_RUN", &format!("{}.{run}.", backend.name))
}

#[tokio::test]
async fn a_command_gets_its_words_its_directory_and_its_variables_whatever_is_in_them() {
    let odd = "it's \"a\"\n$HOME `x` \\ back\tslash é";
    for shell in SHELLS {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("it's a\ndirectory");
        std::fs::create_dir(&directory).unwrap();
        let backend = backend(shell, scratch.path());
        let mut run = launch("odd1", &["printf", "%s|%s", odd, "last"], Input::None);
        run.directory = Some(directory.clone());
        let mut process = backend.spawn(run).await.unwrap();
        assert_eq!(text(&mut process).await, format!("{odd}|last"), "{shell:?}");
        assert_eq!(process.exit.await.unwrap(), Exit::Code(0));

        let mut run = launch(
            "odd2",
            &["sh", "-c", "pwd; printf %s \"$odd\"; exit 7"],
            Input::None,
        );
        run.directory = Some(directory.clone());
        run.environment = vec![("odd".to_owned(), odd.to_owned())];
        let mut process = backend.spawn(run).await.unwrap();
        let expected = format!("{}\n{odd}", directory.display());
        assert_eq!(text(&mut process).await, expected, "{shell:?}");
        assert_eq!(process.exit.await.unwrap(), Exit::Code(7));
        backend.close().await.unwrap();
        assert_eq!(
            std::fs::read_dir(scratch.path()).unwrap().count(),
            1,
            "{shell:?}"
        );
    }
}

#[tokio::test]
async fn a_megabyte_of_input_and_its_end_reach_the_command() {
    for shell in SHELLS {
        let scratch = tempfile::tempdir().unwrap();
        let backend = backend(shell, scratch.path());
        let run = launch(
            "sum",
            &["sh", "-c", "wc -c; echo over >&2; exit 3"],
            Input::Pipe,
        );
        let mut process = backend.spawn(run).await.unwrap();
        let mut input = process.input.take().unwrap();
        input.write_all(&vec![7; 1 << 20]).await.unwrap();
        input.shutdown().await.unwrap();
        drop(input);
        assert_eq!(
            text(&mut process).await.trim(),
            "1048576\nover",
            "{shell:?}"
        );
        assert_eq!(process.exit.await.unwrap(), Exit::Code(3));
    }
}

// EX-23
#[tokio::test]
async fn ending_a_command_ends_also_what_left_its_group_or_dropped_its_environment() {
    let tree = "trap '' TERM; setsid sleep 987 & (setsid sh -c 'env -i sleep 987 & sleep 987' &) ; env -i sleep 987 & echo up; wait; sleep 987";
    for shell in SHELLS {
        let scratch = tempfile::tempdir().unwrap();
        let backend = backend(shell, scratch.path());
        let run = launch("tree", &["bash", "-c", tree], Input::None);
        let mut process = backend.spawn(run).await.unwrap();
        let launcher = process.pid.unwrap() as i32;
        let mut line = [0; 3];
        process.output.read_exact(&mut line).await.unwrap();
        let started = eventually(LONG, "the tree", || {
            let all = survivors(&backend, "tree");
            (all.len() >= 4).then_some(all)
        })
        .unwrap();
        let mut whole = started;
        whole.extend(process::descendants(launcher));
        process.control.end(Ending::Kill).await.unwrap();
        assert_eq!(process.exit.await.unwrap(), Exit::Code(137), "{shell:?}");
        eventually(LONG, "silence", || {
            (!whole.iter().any(|one| one.alive())).then_some(())
        })
        .unwrap_or_else(|_| {
            panic!(
                "{shell:?}: {:?}",
                whole
                    .iter()
                    .filter(|one| one.alive())
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
            )
        });
        process.control.end(Ending::Kill).await.unwrap();
    }
}

// EX-23
#[tokio::test]
async fn what_gave_up_session_environment_and_parent_still_ends_with_its_command_alone() {
    for shell in SHELLS {
        let scratch = tempfile::tempdir().unwrap();
        let backend = backend(shell, scratch.path());
        let away = |seconds: u32| {
            format!(
                "(env -i setsid sleep {seconds} >/dev/null 2>&1 </dev/null &); echo up; sleep {seconds}"
            )
        };
        let mut runs = Vec::new();
        for (id, seconds) in [("ended", own(1)), ("kept", own(2))] {
            let run = launch(id, &["sh", "-c", &away(seconds)], Input::None);
            let mut process = backend.spawn(run).await.unwrap();
            process.output.read_exact(&mut [0; 3]).await.unwrap();
            eventually(LONG, "the one that went away", || {
                (sleeping(seconds).len() == 2).then_some(())
            })
            .unwrap();
            runs.push(process);
        }
        let (kept, ended) = (runs.pop().unwrap(), runs.pop().unwrap());
        ended.control.end(Ending::Kill).await.unwrap();
        assert_eq!(ended.exit.await.unwrap(), Exit::Code(137), "{shell:?}");
        assert!(sleeping(own(1)).is_empty(), "{shell:?}");
        assert_eq!(sleeping(own(2)).len(), 2, "{shell:?}");
        // What outlives its command ends with the connection.
        kept.control.end(Ending::Terminate).await.unwrap();
        backend.close().await.unwrap();
        assert!(sleeping(own(2)).is_empty(), "{shell:?}");
    }
}

/// Starts a process that gives up parent, session, environment and every descriptor.
fn nowhere(seconds: u32) -> String {
    format!(
        "python3 -c \"import subprocess as s; n = s.DEVNULL; s.Popen(['sleep', '{seconds}'], env={{}}, \
         start_new_session=True, close_fds=True, stdin=n, stdout=n, stderr=n)\""
    )
}

/// Whatever gives up everything ends with its command. The three numbers are slept by nobody else.
async fn nothing_gets_away(backend: &Supervised<Here>, [alone, left, held]: [u32; 3]) {
    let shell = backend.carrier.shell;
    let stopped = format!("{}; echo up; sleep {alone}", nowhere(alone));
    let run = launch("stopped", &["sh", "-c", &stopped], Input::None);
    let mut process = backend.spawn(run).await.unwrap();
    process.output.read_exact(&mut [0; 3]).await.unwrap();
    eventually(LONG, "both", || (sleeping(alone).len() == 2).then_some(())).unwrap();
    process.control.end(Ending::Kill).await.unwrap();
    assert_eq!(process.exit.await.unwrap(), Exit::Code(137), "{shell:?}");
    assert!(sleeping(alone).is_empty(), "{shell:?}");

    // What holds the record lives on until the connection ends; what holds nothing does not.
    let over = format!("{}; sleep {held} & exit 3", nowhere(left));
    let run = launch("over", &["sh", "-c", &over], Input::None);
    let process = backend.spawn(run).await.unwrap();
    assert_eq!(process.exit.await.unwrap(), Exit::Code(3), "{shell:?}");
    assert!(sleeping(left).is_empty(), "{shell:?}");
    assert_eq!(sleeping(held).len(), 1, "{shell:?}");
    backend.close().await.unwrap();
    assert!(sleeping(held).is_empty(), "{shell:?}");
}

// EX-23
#[tokio::test]
async fn what_gave_up_everything_ends_with_its_command_where_there_is_perl() {
    for shell in SHELLS {
        let scratch = tempfile::tempdir().unwrap();
        let backend = backend(shell, scratch.path());
        nothing_gets_away(&backend, [own(1), own(2), own(3)]).await;
    }
}

// EX-23
#[tokio::test]
async fn what_gave_up_everything_ends_with_its_command_where_there_is_python_and_no_perl() {
    let programs = without_perl();
    for shell in SHELLS {
        let scratch = tempfile::tempdir().unwrap();
        let mut backend = backend(shell, scratch.path());
        if let Some(carrier) = Arc::get_mut(&mut backend.carrier) {
            carrier.programs = Some(programs.path().to_owned());
        }
        // The command sees nothing of who watches over it.
        let plain = "yes | head -1; env | grep -c '^LC_'; command -v perl; kill -9 $$";
        let run = launch("plain", &["sh", "-c", plain], Input::None);
        let mut process = backend.spawn(run).await.unwrap();
        assert_eq!(text(&mut process).await, "y\n0\n", "{shell:?}");
        assert_eq!(process.exit.await.unwrap(), Exit::Code(137), "{shell:?}");
        nothing_gets_away(&backend, [own(1), own(2), own(3)]).await;
    }
}

/// So long sleeps only what this process started.
fn own(number: u32) -> u32 {
    1_000_000 + std::process::id() * 10 + number
}

/// Who sleeps for so long, anywhere.
fn sleeping(seconds: u32) -> Vec<i32> {
    let wanted = format!("sleep\0{seconds}\0");
    let all = std::fs::read_dir("/proc").unwrap();
    all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            std::fs::read(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| line == wanted.as_bytes())
        })
        .collect()
}

#[tokio::test]
async fn a_held_pipe_does_not_hold_up_the_end() {
    let scratch = tempfile::tempdir().unwrap();
    let backend = backend(SHELLS[1], scratch.path());
    let run = launch("held", &["sh", "-c", "sleep 987 & echo ok"], Input::None);
    let process = backend.spawn(run).await.unwrap();
    let exit = timeout(Duration::from_secs(10), process.exit)
        .await
        .unwrap();
    assert_eq!(exit.unwrap(), Exit::Code(0));
    assert!(!survivors(&backend, "held").is_empty());
    backend.close().await.unwrap();
    assert!(survivors(&backend, "held").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_started_ends_when_nobody_holds_the_connection_or_nothing_is_heard() {
    let mut cases = tokio::task::JoinSet::new();
    for shell in SHELLS {
        for patience in [Duration::ZERO, Duration::from_secs(5)] {
            cases.spawn(ends_without_us(shell, patience));
        }
    }
    while let Some(case) = cases.join_next().await {
        case.unwrap();
    }
}

async fn ends_without_us(shell: &'static [&'static str], patience: Duration) {
    let scratch = tempfile::tempdir().unwrap();
    let mut backend = backend(shell, scratch.path());
    if let Some(carrier) = Arc::get_mut(&mut backend.carrier) {
        carrier.patience = patience;
    }
    let tree = "trap '' TERM HUP; setsid sleep 987 & sleep 986";
    let run = launch("left", &["bash", "-c", tree], Input::None);
    let process = backend.spawn(run).await.unwrap();
    // Without patience the end of the connection has to do it, with it the silence.
    let waited = tokio::task::spawn_blocking(move || {
        let all = eventually(LONG, "the tree", || {
            let all = survivors(&backend, "left");
            (all.len() >= 3).then_some(all)
        })
        .unwrap();
        let kept = (patience > Duration::ZERO).then_some((backend, process));
        let silent = eventually(LONG, "silence", || {
            (!all.iter().any(|one| one.alive())).then_some(())
        });
        drop(kept);
        silent
    });
    let silent = waited.await.unwrap();
    silent.unwrap_or_else(|_| panic!("{shell:?} {patience:?}"));
}

#[tokio::test]
async fn a_guard_that_was_killed_is_replaced_and_what_it_left_is_ended() {
    let scratch = tempfile::tempdir().unwrap();
    let mut backend = backend(SHELLS[0], scratch.path());
    if let Some(carrier) = Arc::get_mut(&mut backend.carrier) {
        carrier.every = Duration::from_secs(2);
    }
    let run = launch("old", &["setsid", "sleep", "987"], Input::None);
    let process = backend.spawn(run).await.unwrap();
    let old = eventually(LONG, "the command", || {
        survivors(&backend, "old").first().copied()
    })
    .unwrap();
    let guard = eventually(LONG, "the guard", || {
        process::descendants(std::process::id() as i32)
            .into_iter()
            .find(|one| {
                process::descendants(one.pid)
                    .iter()
                    .any(|child| child.to_string().ends_with("(cat)"))
            })
    })
    .unwrap();
    let pump = process::descendants(guard.pid)
        .into_iter()
        .find(|child| child.to_string().ends_with("(cat)"))
        .unwrap();
    let pid = nix::unistd::Pid::from_raw(guard.pid);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
    assert!(matches!(process.exit.await, Err(ExecError::Gone(_))));
    let mut next = backend
        .spawn(launch("new", &["echo", "again"], Input::None))
        .await
        .unwrap();
    assert_eq!(text(&mut next).await, "again\n");
    eventually(LONG, "the old command's end", || {
        (!old.alive()).then_some(())
    })
    .unwrap();
    eventually(LONG, "the end of what carried its reports", || {
        (!pump.alive()).then_some(())
    })
    .unwrap();
}

/// What lies in a directory.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// The directory of a backend with something in it, as a shell leaves it.
async fn with_a_state(backend: &Supervised<Here>) -> PathBuf {
    let state = backend.scratch().join("hermes-shell-1");
    let make = format!(
        "mkdir {0}; echo 'export KEY=1' >{0}/state-0",
        state.display()
    );
    let run = launch("state", &["sh", "-c", &make], Input::None);
    let process = backend.spawn(run).await.unwrap();
    assert_eq!(process.exit.await.unwrap(), Exit::Code(0));
    assert!(state.join("state-0").exists());
    state
}

// EX-23: states of shells hold exported variables.
#[tokio::test(flavor = "multi_thread")]
async fn what_shells_kept_goes_when_the_connection_ends_however_it_does() {
    for shell in SHELLS {
        let scratch = tempfile::tempdir().unwrap();
        let closed = backend(shell, scratch.path());
        with_a_state(&closed).await;
        closed.close().await.unwrap();
        assert_eq!(names(scratch.path()), [""; 0], "{shell:?}");

        let dropped = backend(shell, scratch.path());
        with_a_state(&dropped).await;
        drop(dropped);
        let folder = scratch.path().to_owned();
        tokio::task::spawn_blocking(move || {
            eventually(LONG, "nothing is left", || {
                names(&folder).is_empty().then_some(())
            })
        })
        .await
        .unwrap()
        .unwrap();
    }
}

// EX-23
#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_guard_left_is_removed_by_the_next_one_and_nothing_else() {
    for shell in SHELLS {
        let scratch = tempfile::tempdir().unwrap();
        let killed = backend(shell, scratch.path());
        let state = with_a_state(&killed).await;
        let home = scratch.path().join(format!("hermes-{}-0", killed.name));
        let pid = std::fs::read_to_string(home.join("guard")).unwrap();
        let pid = pid.lines().next().unwrap().parse().unwrap();
        let pid = nix::unistd::Pid::from_raw(pid);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
        let waiting = killed.guard.lock().await.clone().unwrap();
        waiting.gone().cancelled().await;
        assert!(state.exists() && home.exists(), "{shell:?}");

        let lives = backend(shell, scratch.path());
        let kept = with_a_state(&lives).await;
        let stranger = scratch.path().join("hermes-other");
        std::fs::create_dir(&stranger).unwrap();
        let next = backend(shell, scratch.path());
        let process = next.spawn(launch("next", &["true"], Input::None)).await;
        process.unwrap().exit.await.unwrap();
        assert!(!state.exists() && !home.exists(), "{shell:?}");
        assert!(!killed.scratch().exists(), "{shell:?}");
        assert!(kept.exists() && stranger.exists(), "{shell:?}");

        // The one whose guard was killed goes on, with a directory of its own again.
        let again = with_a_state(&killed).await;
        for one in [&lives, &next, &killed] {
            one.close().await.unwrap();
        }
        assert!(!again.exists(), "{shell:?}");
        assert_eq!(names(scratch.path()), ["hermes-other"], "{shell:?}");
    }
}
