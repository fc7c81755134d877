//! One conversation's shell, on real bash.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use hermes_exec::{Command, Ended, ExecError, Place, Shell, Startup};
use hermes_testkit::eventually;
use hermes_testkit::process::{Process, find_by_env_marker};
use tokio_util::sync::CancellationToken;

use super::local::{Local, PATIENCE, command, output, run, run_command};

// EX-1
#[tokio::test]
async fn output_and_code_of_a_command() {
    let local = Local::new();
    let shell = local.shell();
    let finished = run(&shell, "echo hi; echo error >&2; exit 2").await;
    assert_eq!(finished.output.text, "hi\nerror\n");
    assert_eq!((finished.exit_code, finished.ended), (2, Ended::Done));
    assert_eq!(finished.place, Place::Host);
    assert_eq!(run(&shell, "kill -9 $$").await.exit_code, 137);
    assert_eq!(run(&shell, "if; then").await.exit_code, 2);
    assert_eq!(
        output(&shell, "printf 'no end of line'").await,
        "no end of line"
    );
}

// EX-2
#[tokio::test]
async fn directory_and_variables_carry_over_in_each_session_alone() {
    let local = Local::new();
    let (one, two) = (local.shell(), local.shell());
    run(&one, "cd /usr && export A='1 \"x\"\n$y' PLAIN; B=2").await;
    run(&two, "cd /etc && export A=2").await;
    assert_eq!(
        output(&one, "pwd; echo \"$A|$B\"").await,
        "/usr\n1 \"x\"\n$y|"
    );
    assert_eq!(output(&two, "pwd; echo $A").await, "/etc\n2");
    run(&one, "cd /var").await;
    assert_eq!(output(&one, "cd -").await, "/usr");
}

// EX-2
#[tokio::test]
async fn a_directory_for_one_command_moves_the_session() {
    let local = Local::new();
    let shell = local.shell();
    let at = |workdir: &str| Command {
        workdir: Some(workdir.to_owned()),
        ..command("pwd")
    };
    let finished = run_command(&shell, at("/usr/bin")).await;
    assert_eq!(finished.directory.to_str(), Some("/usr/bin"));
    assert_eq!(output(&shell, "pwd").await, "/usr/bin");
    let finished = run_command(&shell, at("~")).await;
    assert_eq!(finished.directory, local.path().join("home"));
    let finished = run_command(&shell, at("/does/not/exist")).await;
    assert_eq!(finished.exit_code, 126);
    assert_eq!(finished.directory, local.path().join("home"));
}

// EX-2
#[tokio::test]
async fn a_variable_that_is_taken_away_stays_away() {
    let local = Local::new();
    let mut environment = local.environment();
    let more = [
        ("INHERITED", "yes"),
        ("OTHER", "a\nINHERITED=no"),
        ("od-d", ""),
    ];
    environment.extend(more.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let shell = local.shell_with(Startup::Nothing, environment);
    let show = "echo ${INHERITED-gone} ${OTHER-gone} ${MINE-gone}";
    assert_eq!(output(&shell, show).await, "yes a INHERITED=no gone");
    run(&shell, "unset INHERITED; export MINE=1").await;
    run(&shell, "unset MINE; set -eu; false").await;
    assert_eq!(output(&shell, show).await, "gone a INHERITED=no gone");
    run(&shell, "export INHERITED=again").await;
    assert_eq!(output(&shell, show).await, "again a INHERITED=no gone");
}

// EX-3
#[tokio::test]
async fn functions_and_aliases_last_for_the_whole_session() {
    let local = Local::new();
    let home = local.path().join("home");
    std::fs::write(
        home.join(".bashrc"),
        "greet() { echo \"hello $1\"; }\nalias shout='echo LOUD'\nexport FROM_RC=1\n",
    )
    .unwrap();
    let shell = local.shell();
    for _ in 0..3 {
        assert_eq!(
            output(&shell, "greet you; shout; echo $FROM_RC").await,
            "hello you\nLOUD\n1"
        );
    }
    run(&shell, "later() { echo later; }; alias ll='echo listed'").await;
    run(&shell, "true").await;
    assert_eq!(output(&shell, "later; ll").await, "later\nlisted");
    let files = local.shell_with(
        Startup::Files(vec!["~/.bashrc".to_owned()]),
        local.environment(),
    );
    assert_eq!(output(&files, "greet file").await, "hello file");
    let nothing = local.shell_with(Startup::Nothing, local.environment());
    assert_eq!(run(&nothing, "greet me").await.exit_code, 127);
}

// EX-3: what can only be read with extended patterns must not cost what stands behind it.
#[tokio::test]
async fn functions_with_extended_patterns_last_and_so_does_the_switch() {
    const KEPT: &str = "bare a; bare b; shout; later";
    let local = Local::new();
    let rc = "shopt -s extglob\nbare() { case $1 in !(a)) echo other;; *) echo a;; esac; }\n\
              later() { echo later; }\nalias shout='echo LOUD'\n";
    std::fs::write(local.path().join("home/.bashrc"), rc).unwrap();
    let shell = local.shell();
    let expected = "a\nother\nLOUD\nlater";
    assert_eq!(output(&shell, KEPT).await, expected);
    assert_eq!(output(&shell, KEPT).await, expected);
    assert_eq!(output(&shell, "echo @(x|y)").await, "@(x|y)");
    // Switched off it stays off, and functions from before are still there, though patterns are plain ones now.
    run(&shell, "shopt -u extglob").await;
    for _ in 0..2 {
        assert_eq!(output(&shell, KEPT).await, "a\na\nLOUD\nlater");
        assert_eq!(run(&shell, "shopt -q extglob").await.exit_code, 1);
    }
}

// EX-4
#[tokio::test]
async fn state_survives_every_way_to_end_a_command() {
    let local = Local::new();
    let cases = [
        ("cd /usr && export A=1 && exit 3", 3, ""),
        ("cd /usr; export A=1; set -e; false; echo not here", 1, ""),
        (
            "cd /usr; export A=1; exec sh -c 'echo replaced; exit 4'",
            4,
            "replaced",
        ),
        (
            "set -u; cd /usr; export A=1; echo $NOT_SET_AT_ALL 2>/dev/null",
            127,
            "",
        ),
        (
            "trap 'echo bye $?' EXIT; cd /usr; export A=1; exit 5",
            5,
            "bye 5",
        ),
        (
            "set -e; trap 'echo bye $?' EXIT; cd /usr; export A=1; (exit 6)",
            6,
            "bye 6",
        ),
        ("f() { exec true; }; cd /usr; export A=1; f", 0, ""),
        ("cd /usr; export A=1; exec >/dev/null; echo unseen", 0, ""),
        ("cd /usr; export A=1; (exit 7)", 7, ""),
        ("cd /usr; export A=1; kill -TERM $$", 143, ""),
    ];
    for (text, code, expected) in cases {
        let shell = local.shell();
        let finished = run(&shell, text).await;
        assert_eq!(finished.exit_code, code, "{text}: {:?}", finished.output);
        if !text.contains("set -u") {
            assert_eq!(finished.output.text.trim(), expected, "{text}");
        }
        assert_eq!(output(&shell, "pwd; echo $A").await, "/usr\n1", "{text}");
    }
}

// EX-4
#[tokio::test]
async fn what_runs_inside_a_command_is_not_its_end() {
    let local = Local::new();
    let shell = local.shell();
    let text = "cd /usr; (cd /etc; exit 1); (exec true); x=$(cd /var; exit 2; echo); \
                bash -c 'cd /opt; exit'; echo \"$x\"; pwd";
    assert_eq!(output(&shell, text).await, "/usr");
    assert_eq!(output(&shell, "pwd").await, "/usr");
    assert_eq!(output(&shell, "set -x; true").await, "++ true");
}

// EX-5
#[tokio::test]
async fn time_up_keeps_the_output_and_leaves_nobody() {
    let local = Local::new();
    let shell = local.shell();
    let text = "echo begun; export MARK=time-up-$$; echo $MARK; \
                (trap '' TERM; sleep 999) & setsid sleep 998 & \
                (setsid env -i setsid sleep 997 & ) ; sleep 999";
    let finished = run_command(
        &shell,
        Command {
            // A busy machine gets as far as the second line in this time.
            timeout: Duration::from_secs(5),
            ..command(text)
        },
    )
    .await;
    assert_eq!((finished.exit_code, finished.ended), (124, Ended::TimedOut));
    let mut lines = finished.output.text.lines();
    assert_eq!(lines.next(), Some("begun"));
    let mark = lines.next().unwrap().to_owned();
    eventually(PATIENCE, "everything is gone", || {
        (find_by_env_marker("MARK", &mark).is_empty() && sleeping(997) == 0).then_some(())
    })
    .unwrap();
    // The same shell goes on.
    assert_eq!(output(&shell, "echo next").await, "next");
}

// EX-5
#[tokio::test]
async fn what_gave_up_everything_but_an_open_file_ends_with_its_command_and_no_other() {
    let local = Local::new();
    let (one, other) = (local.shell(), local.shell());
    let away = |seconds: u32| format!("env -i setsid -f sleep {seconds}; sleep {seconds}");
    let (first, second) = (own(1), own(2));
    let (stop, stop_other) = (CancellationToken::new(), CancellationToken::new());
    let stopped = until_stopped(&one, away(first), &stop);
    let other = until_stopped(&other, away(second), &stop_other);
    let look = async {
        until(|| sleeping(first) == 2 && sleeping(second) == 2).await;
        stop.cancel();
        until(|| sleeping(first) == 0).await;
        let left = sleeping(second);
        stop_other.cancel();
        left
    };
    let (stopped, other, left) = tokio::join!(stopped, other, look);
    assert_eq!((stopped, other), (Ended::Interrupted, Ended::Interrupted));
    assert_eq!(left, 2, "the other command lost a process");
    until(|| sleeping(second) == 0).await;
}

/// Runs a command that goes on until it is stopped.
async fn until_stopped(shell: &Shell, text: String, stop: &CancellationToken) -> Ended {
    let endless = Command {
        timeout: PATIENCE * 4,
        ..command(&text)
    };
    shell.run(endless, stop, &mut |_| {}).await.unwrap().ended
}

/// So long sleeps only what this process started.
fn own(number: u32) -> u32 {
    1_000_000 + std::process::id() * 10 + number
}

// EX-5, EX-23
#[tokio::test]
async fn what_gave_up_everything_ends_with_its_command_while_another_runs() {
    let python = |seconds: u32| {
        format!(
            "python3 -c \"import subprocess; subprocess.Popen(['/bin/sleep', '{seconds}'], env={{}}, \
             start_new_session=True, close_fds=True)\"; exec sleep {seconds}"
        )
    };
    let forged = |seconds: u32| {
        format!("env -i HERMES_RUN=x setsid -f /bin/sleep {seconds} 64>&-; exec sleep {seconds}")
    };
    type Escape<'a> = (&'a dyn Fn(u32) -> String, [u32; 2]);
    let escapes: [Escape<'_>; 2] = [(&python, [own(1), own(2)]), (&forged, [own(3), own(4)])];
    for (away, [first, second]) in escapes {
        let local = Local::new();
        let (one, other) = (local.shell(), local.shell());
        let (stop, stop_other) = (CancellationToken::new(), CancellationToken::new());
        let stopped = until_stopped(&one, away(first), &stop);
        let other = until_stopped(&other, away(second), &stop_other);
        let look = async {
            until(|| running(first) == 2 && running(second) == 2).await;
            stop.cancel();
            until(|| running(first) == 0).await;
            let left = running(second);
            stop_other.cancel();
            left
        };
        let (stopped, other, left) = tokio::join!(stopped, other, look);
        assert_eq!((stopped, other), (Ended::Interrupted, Ended::Interrupted));
        let text = away(second);
        assert_eq!(left, 2, "the other command lost a process: {text}");
        until(|| running(second) == 0).await;
    }
}

/// How many processes anywhere sleep for so long.
fn running(seconds: u32) -> usize {
    let ends = format!("sleep\0{seconds}\0");
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter(|entry| {
            std::fs::read(entry.path().join("cmdline"))
                .is_ok_and(|line| line.ends_with(ends.as_bytes()) && line.len() < 32)
        })
        .count()
}

// EX-7
#[tokio::test]
async fn what_a_command_leaves_behind_goes_on_beside_the_next_one_and_ends_with_us() {
    let local = Local::new();
    let shell = local.shell();
    let (older, newer) = (own(1), own(2));
    let leaves = format!("(sleep {older} &) ; echo ok");
    assert_eq!(output(&shell, &leaves).await, "ok");
    // The command is over before what it left has become what it is.
    until(|| running(older) == 1).await;
    // The next command gets a nest of its own, and being stopped does not touch what is older.
    let stopped = run_command(
        &shell,
        Command {
            timeout: Duration::from_millis(300),
            ..command(&format!("env -i setsid -f sleep {newer}; sleep {newer}"))
        },
    )
    .await;
    assert_eq!(stopped.ended, Ended::TimedOut);
    until(|| running(newer) == 0).await;
    assert_eq!(running(older), 1);
    drop((shell, local));
    until(|| running(older) == 0).await;
}

async fn until(true_now: impl Fn() -> bool) {
    let wait = async {
        while !true_now() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.unwrap();
}

/// How many processes below us sleep for so long.
fn sleeping(seconds: u32) -> usize {
    let wanted = format!("sleep\0{seconds}\0");
    hermes_testkit::process::descendants(std::process::id().cast_signed())
        .into_iter()
        .filter(|process| {
            std::fs::read(format!("/proc/{}/cmdline", process.pid))
                .is_ok_and(|line| line == wanted.as_bytes())
        })
        .count()
}

// EX-6
#[tokio::test]
async fn a_stop_ends_the_tree_at_once() {
    let local = Local::new();
    let shell = local.shell();
    // On a machine that is busy with something else only the quickest says anything.
    let mut quickest = PATIENCE;
    for _ in 0..3 {
        quickest = quickest.min(time_to_stop(&shell).await);
    }
    println!("stopped in {quickest:?}");
    assert!(quickest < Duration::from_secs(1), "{quickest:?}");
}

/// How long the stop of a stubborn tree takes.
async fn time_to_stop(shell: &Shell) -> Duration {
    let cancel = CancellationToken::new();
    let text = "trap '' TERM; export MARK=stopped-$$; echo $MARK; setsid sleep 999 & \
                while :; do sleep 0.1; done";
    let mut said = String::new();
    let mut stopped_at = None;
    let finished = {
        let token = cancel.clone();
        shell
            .run(command(text), &cancel, &mut |piece| {
                said.push_str(piece);
                if said.contains('\n') && stopped_at.is_none() {
                    stopped_at = Some(Instant::now());
                    token.cancel();
                }
            })
            .await
            .unwrap()
    };
    let took = stopped_at.unwrap().elapsed();
    assert_eq!(
        (finished.exit_code, finished.ended),
        (130, Ended::Interrupted)
    );
    let mark = said.lines().next().unwrap();
    eventually(PATIENCE, "everything is gone", || {
        find_by_env_marker("MARK", mark).is_empty().then_some(())
    })
    .unwrap();
    let finished = shell.run(command("echo never"), &cancel, &mut |_| {}).await;
    assert_eq!(finished.unwrap().output.total_bytes, 0);
    took
}

// EX-6
#[tokio::test]
async fn a_command_that_nobody_waits_for_any_more_ends() {
    let local = Local::new();
    let shell = local.shell();
    let mut said = String::new();
    let never = CancellationToken::new();
    {
        let (begun, seen) = tokio::sync::oneshot::channel();
        let mut begun = Some(begun);
        let mut on_output = |piece: &str| {
            said.push_str(piece);
            if let Some(begun) = begun.take() {
                begun.send(()).unwrap();
            }
        };
        let text = "export MARK=abandoned-$$; echo $MARK; setsid sleep 999 & sleep 999";
        tokio::select! {
            finished = shell.run(command(text), &never, &mut on_output) => panic!("{finished:?}"),
            seen = seen => seen.unwrap(),
        }
    }
    let mark = said.trim();
    for _ in 0..3_000 {
        if find_by_env_marker("MARK", mark).is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{mark} goes on");
}

// EX-7
#[tokio::test]
async fn something_left_behind_does_not_hold_a_command_up() {
    let local = Local::new();
    let shell = local.shell();
    run(&shell, "true").await;
    for text in [
        "(sleep 60 &) ; echo ok",
        "true && sleep 60 & echo ok",
        "setsid sleep 60 & exec echo ok",
        "(while :; do echo; sleep 0.01; done) & sleep 0.2; echo ok",
    ] {
        // A machine that is busy with something else may need more than one try to be quick.
        let mut quickest = PATIENCE;
        for _ in 0..5 {
            let before = Instant::now();
            let finished = run(&shell, text).await;
            assert!(finished.output.text.contains("ok\n"), "{finished:?}");
            quickest = quickest.min(before.elapsed());
        }
        println!("{quickest:?} for {text}");
        assert!(quickest < Duration::from_secs(1), "{text}");
    }
}

// EX-1, EX-7
#[tokio::test]
async fn what_a_process_substitution_says_last_is_in_the_output() {
    let local = Local::new();
    let shell = local.shell();
    for (text, words) in [
        ("echo a > >(cat; sleep 0.05; echo late)", ["a", "late"]),
        (
            "{ echo out; echo err >&2; } > >(tee o.log) 2> >(tee e.log >&2)",
            ["out", "err"],
        ),
    ] {
        // On a machine that is busy with something else it may be silent for long.
        let mut said = String::new();
        for _ in 0..5 {
            said = output(&shell, text).await;
            if words.iter().all(|word| said.contains(word)) {
                break;
            }
        }
        assert!(
            words.iter().all(|word| said.contains(word)),
            "{text}: {said}"
        );
    }
}

// EX-8
#[tokio::test]
async fn two_gigabytes_pass_in_constant_memory() {
    let local = Local::new();
    let shell = local.shell();
    run(&shell, "true").await;
    let before = resident_peak();
    let started = Instant::now();
    let finished = run_command(
        &shell,
        Command {
            timeout: Duration::from_secs(110),
            ..command("yes | head -c 2G")
        },
    )
    .await;
    println!("2 GB in {:?}", started.elapsed());
    assert_eq!(finished.output.total_bytes, 2 << 30);
    assert!(finished.output.text.len() < super::local::OUTPUT_LIMIT + 200);
    let grown = resident_peak() - before;
    println!("grown by {grown} kB");
    assert!(grown < 20 << 10, "{grown} kB");
}

/// The most memory this process ever used, in kB.
fn resident_peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1))
        .and_then(|number| number.parse().ok())
        .unwrap()
}

#[tokio::test]
async fn bytes_that_are_no_text_arrive() {
    let local = Local::new();
    let shell = local.shell();
    let finished = run(&shell, r"printf 'a\xff\xc3\xa4\x1e\n'").await;
    assert_eq!(finished.output.text, "a\u{fffd}ä\u{1e}\n");
    let mut pieces = String::new();
    let never = CancellationToken::new();
    let slow = command(r"printf '\xe2\x82'; sleep 0.2; printf '\xac'");
    let finished = shell
        .run(slow, &never, &mut |piece| pieces.push_str(piece))
        .await;
    assert_eq!(
        (finished.unwrap().output.text, pieces),
        ("€".into(), "€".into())
    );
}

#[tokio::test]
async fn a_directory_that_is_gone_gives_way_to_the_next_one_above() {
    let local = Local::new();
    let shell = local.shell();
    run(&shell, "mkdir -p a/b/c && cd a/b/c").await;
    std::fs::remove_dir_all(local.path().join("a/b")).unwrap();
    let finished = run(&shell, "pwd").await;
    assert_eq!(finished.directory, local.path().join("a"));
    assert_eq!(finished.missing_directory, Some(local.path().join("a/b/c")));
    assert_eq!(run(&shell, "pwd").await.missing_directory, None);
}

#[tokio::test]
async fn without_bash_it_says_so() {
    let local = Local::new();
    let shell = local.shell_with(
        Startup::Login,
        vec![("PATH".to_owned(), "/nowhere".to_owned())],
    );
    let refused = shell
        .run(command("true"), &CancellationToken::new(), &mut |_| {})
        .await;
    assert!(
        matches!(&refused, Err(ExecError::Unavailable { cause, .. }) if cause.contains("bash")),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_command_of_a_megabyte_runs() {
    let local = Local::new();
    let shell = local.shell();
    let text = format!("x='{}'; cd /usr; echo ${{#x}}; cat", "ä".repeat(500_000));
    assert_eq!(output(&shell, &text).await, "500000");
    let finished = run_command(
        &shell,
        Command {
            input: Some(b"read by cat".to_vec()),
            ..command(&text)
        },
    )
    .await;
    assert_eq!(finished.output.text, "500000\nread by cat");
    assert_eq!(output(&shell, "pwd").await, "/usr");
}

#[tokio::test]
async fn input_is_read_and_ends() {
    let local = Local::new();
    let shell = local.shell();
    let finished = run_command(
        &shell,
        Command {
            input: Some(vec![b'x'; 300_000]),
            ..command("wc -c")
        },
    )
    .await;
    assert_eq!(finished.output.text.trim(), "300000");
    assert_eq!(output(&shell, "cat; echo empty").await, "empty");
    let finished = run_command(
        &shell,
        Command {
            input: Some(vec![b'x'; 300_000]),
            ..command("exec true")
        },
    )
    .await;
    assert_eq!(finished.exit_code, 0);
}

// EX-19
#[tokio::test]
async fn a_command_can_have_a_terminal() {
    let local = Local::new();
    let shell = local.shell();
    assert_eq!(output(&shell, "tty").await, "not a tty");
    let finished = run_command(
        &shell,
        Command {
            terminal: Some((33, 99)),
            ..command("cd /usr; tty; stty size; echo here > /dev/tty")
        },
    )
    .await;
    let lines: Vec<&str> = finished.output.text.lines().map(str::trim).collect();
    assert!(lines[0].starts_with("/dev/pts/"), "{lines:?}");
    assert_eq!(&lines[1..3], ["33 99", "here"]);
    assert_eq!(output(&shell, "pwd").await, "/usr");
}

#[tokio::test]
async fn the_state_is_for_its_owner_only() {
    let local = Local::new();
    let shell = local.shell();
    run(&shell, "umask 000; export SECRET=x; exec true").await;
    run(&shell, "umask 000").await;
    let mut files = 0;
    for folder in std::fs::read_dir(local.path().join("scratch")).unwrap() {
        let folder = folder.unwrap().path();
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700);
        for file in std::fs::read_dir(folder).unwrap() {
            assert_eq!(mode(&file.unwrap().path()), 0o600);
            files += 1;
        }
    }
    assert_eq!(files, 2);
}

#[tokio::test]
async fn start_up_files_that_fail_do_not_keep_anybody_from_working() {
    let local = Local::new();
    let home = local.path().join("home");
    std::fs::write(home.join(".bashrc"), "export EARLY=1\nexit 9\n").unwrap();
    let shell = local.shell();
    assert_eq!(output(&shell, "echo works; export A=1").await, "works");
    assert_eq!(output(&shell, "echo $A").await, "1");
}

#[tokio::test]
async fn a_lost_warden_is_noticed_and_replaced() {
    let me = std::process::id().cast_signed();
    // Of the wardens above a command, the one it has for itself and the one of all.
    for of_all in [false, true] {
        let local = Local::new();
        let shell = local.shell();
        let text = "export MARK=lost-$$; echo $MARK; setsid sleep 999 & \
                    (trap '' TERM HUP; setsid env -u HERMES_RUN sleep 998 &) ; sleep 999";
        let mut said = String::new();
        let never = CancellationToken::new();
        let outcome = shell
            .run(command(text), &never, &mut |piece| {
                let before = said.contains('\n');
                said.push_str(piece);
                if said.contains('\n') && !before {
                    let mark = said.lines().next().unwrap().to_owned();
                    let root: i32 = mark.rsplit_once('-').unwrap().1.parse().unwrap();
                    let nest = parent(root);
                    let first = parent(nest);
                    assert_eq!(parent(first), me);
                    // All three sleepers are there.
                    eventually(PATIENCE, "what it runs", || {
                        (find_by_env_marker("MARK", &mark).len() >= 3).then_some(())
                    })
                    .unwrap();
                    let lost = nix::unistd::Pid::from_raw(if of_all { first } else { nest });
                    nix::sys::signal::kill(lost, nix::sys::signal::Signal::SIGKILL).unwrap();
                }
            })
            .await;
        assert_eq!(outcome.unwrap().ended, Ended::Lost);
        let mark = said.lines().next().unwrap();
        eventually(PATIENCE, "what it ran is gone", || {
            find_by_env_marker("MARK", mark).is_empty().then_some(())
        })
        .unwrap();
        assert_eq!(output(&shell, "echo again").await, "again");
    }
    assert!(Process::of(me).is_some());
}

fn parent(pid: i32) -> i32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = stat.rsplit_once(')').unwrap().1;
    fields.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_lost_warden_ends_nothing_that_others_run() {
    let (one, other) = (Local::new(), Local::new());
    let (losing, keeping) = (one.shell(), other.shell());
    let done = other.path().join("done");
    let never = CancellationToken::new();
    let (tell, told) = tokio::sync::oneshot::channel::<i32>();
    let mut tell = Some(tell);
    let lost = async {
        let outcome = losing
            .run(command("echo $$; sleep 999"), &never, &mut |piece| {
                if let Some(tell) = tell.take() {
                    tell.send(piece.trim().parse().unwrap()).unwrap();
                }
            })
            .await;
        assert_eq!(outcome.unwrap().ended, Ended::Lost);
        std::fs::write(&done, "").unwrap();
    };
    // Begun later, as whatever belongs to the lost command would be.
    let kept = async {
        let first = parent(parent(told.await.unwrap()));
        let text = format!(
            "echo begun; while [ ! -e {} ]; do sleep 0.02; done; echo whole",
            done.display()
        );
        let mut said = String::new();
        keeping
            .run(command(&text), &never, &mut |piece| {
                let before = said.len();
                said.push_str(piece);
                if before == 0 {
                    let first = nix::unistd::Pid::from_raw(first);
                    nix::sys::signal::kill(first, nix::sys::signal::Signal::SIGKILL).unwrap();
                }
            })
            .await
            .unwrap()
    };
    let ((), kept) = tokio::join!(lost, kept);
    assert_eq!(kept.output.text, "begun\nwhole\n");
}

// A signal without a name ends a command like any other.
#[tokio::test]
async fn a_command_may_end_by_any_signal() {
    let local = Local::new();
    let shell = local.shell();
    assert_eq!(run(&shell, "kill -s RTMIN+2 $$").await.exit_code, 128 + 36);
    assert_eq!(output(&shell, "echo again").await, "again");
}

#[tokio::test]
async fn a_command_costs_little_more_than_bash() {
    let local = Local::new();
    let shell = local.shell();
    run(&shell, "true").await;
    let mut bare = Vec::new();
    let mut ours = Vec::new();
    let start = async |script: &str| {
        let mut program = tokio::process::Command::new("bash");
        let status = program.args(["-c", script]).status().await;
        assert!(status.unwrap().success());
    };
    for _ in 0..300 {
        let before = Instant::now();
        // Whoever looks after the command is a process more.
        start("/bin/true; true").await;
        bare.push(before.elapsed());
        let before = Instant::now();
        run(&shell, "true").await;
        ours.push(before.elapsed());
    }
    // On a machine that is busy with something else only the quickest says anything.
    let (bare, ours) = (bare.iter().min().unwrap(), ours.iter().min().unwrap());
    println!("bash {bare:?}, through a shell {ours:?}");
    assert!(*ours < *bare * 2, "{bare:?} {ours:?}");
}

#[tokio::test]
async fn nothing_of_a_shell_stays_behind_when_the_backend_is_closed() {
    let local = Local::new();
    let shell = local.shell();
    run(&shell, "export TOLD=only-here").await;
    let scratch = local.backend.scratch();
    assert!(scratch.exists());
    local.backend.close().await.unwrap();
    assert!(!scratch.exists());
    local.backend.close().await.unwrap();
}
