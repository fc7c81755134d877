//! What confined commands try and must not achieve.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use hermes_exec::sandbox::Mechanism;
use hermes_policy::{Mode, Network};
use hermes_testkit::eventually;
use hermes_testkit::process::descendants;

use super::sandbox::{Cell, DOORS, LIMIT, OWN, Ran, cells};

// EX-68
#[test]
fn nothing_outside_is_written_by_any_way() -> Result<()> {
    const TRICKS: &str = r#"
        out=$ROOT/outside
        echo bad > $out/file
        echo bad > $out/new
        ln -s $out/file link; echo bad > link
        ln $out/file hard && echo bad > hard
        mv $out/file $out/renamed
        mv $out/file stolen
        echo bad > mine; mv mine $out/file
        mkdir sub; mv sub $out/sub
        truncate -s 0 $out/file
        rm -f $out/file
        exec 3< $out/file; echo bad > /proc/self/fd/3
        echo bad > /proc/self/root$out/file
        (cd $out && echo bad > file)
        ln -s $out inner; echo bad > inner/new
        python3 -c 'import os,sys; os.open(sys.argv[1], os.O_RDONLY|os.O_TRUNC)' $out/file
        true
    "#;
    for cell in cells()? {
        let ran = cell.run(TRICKS)?;
        let left = cell.read("outside/file");
        assert_eq!(
            left.ok().as_deref(),
            Some("untouched"),
            "{}: {}",
            cell.mechanism(),
            ran.text
        );
        let entries = fs::read_dir(cell.root.join("outside"))?.count();
        assert_eq!(entries, 1, "{}: {}", cell.mechanism(), ran.text);
    }
    Ok(())
}

// EX-68
#[test]
fn modes_and_times_outside_stay_where_there_are_mounts() -> Result<()> {
    for cell in cells()?.into_iter().filter(|cell| cell.has_mounts()) {
        let before = fs::metadata(cell.root.join("outside/file"))?;
        let ran =
            cell.run("chmod 777 $ROOT/outside/file; touch -d 2001-01-01 $ROOT/outside/file")?;
        let after = fs::metadata(cell.root.join("outside/file"))?;
        assert_eq!(
            before.permissions(),
            after.permissions(),
            "{}: {}",
            cell.mechanism(),
            ran.text
        );
        assert_eq!(
            before.modified()?,
            after.modified()?,
            "{}: {}",
            cell.mechanism(),
            ran.text
        );
    }
    Ok(())
}

// EX-68
#[test]
fn credentials_and_our_own_home_are_not_read_by_any_way() -> Result<()> {
    const TRICKS: &str = r#"
        cat ~/.ssh/id_test ~/.netrc ~/.hermes/.env
        cat /proc/self/root$HOME/.ssh/id_test /proc/self/cwd/../home/.netrc
        ln -s ~/.ssh keys; cat keys/id_test
        ln ~/.ssh/id_test hard; cat hard
        mv ~/.ssh stolen; cat stolen/id_test
        mv ~/.hermes/.env stolen; cat stolen
        cp -r ~/.ssh copied; cat copied/id_test
        tar -cf - ~/.hermes | cat
        mv ~/.hermes/skills ~/.hermes/../x; cat ~/.hermes/skills/../.env
        umount ~/.ssh; cat ~/.ssh/id_test
        mount --bind ~ sub; cat sub/.netrc
        cat /etc/shadow
        true
    "#;
    for cell in cells()? {
        let ran = cell.run(TRICKS)?;
        assert!(
            !ran.text.contains("CREDENTIAL"),
            "{}: {}",
            cell.mechanism(),
            ran.text
        );
        assert!(
            !ran.text.contains("root:"),
            "{}: {}",
            cell.mechanism(),
            ran.text
        );
        let key = cell.read("home/.ssh/id_test")?;
        assert_eq!(key, "CREDENTIAL", "{}", cell.mechanism());
    }
    Ok(())
}

// EX-68: what the program was started with leads nobody inside to what lies outside.
#[test]
fn directories_that_were_open_before_lead_nowhere() -> Result<()> {
    const OPENED: &str = r#"exec "$@" 8<"$ROOT/outside" 9<"$ROOT/home/.ssh""#;
    const TRICKS: &str = r#"
        for open in /proc/self/fd/*; do
            cat $open/id_test; echo bad > $open/new; rm -f $open/file
        done
        true
    "#;
    for cell in cells()? {
        let argv = ["bash", "-c", TRICKS];
        let inner = cell.command(Mode::WorkspaceWrite, Network::On, &argv)?;
        let mut outer = Command::new("bash");
        outer
            .args(["-c", OPENED, "bash"])
            .arg(inner.get_program())
            .args(inner.get_args())
            .stdin(Stdio::null());
        for (name, value) in inner.get_envs() {
            outer.env(name, value.unwrap_or_default());
        }
        let ran = Ran::from(outer.output()?);
        let said = format!("{}: {}", cell.mechanism(), ran.text);
        assert!(!ran.text.contains("CREDENTIAL"), "{said}");
        let entries = fs::read_dir(cell.root.join("outside"))?.flatten();
        let names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        assert_eq!(names, ["file"], "{said}");
    }
    Ok(())
}

// EX-68
#[test]
fn hooks_cannot_be_planted_where_there_are_mounts() -> Result<()> {
    const TRICKS: &str = r#"
        echo bad > .git/hooks/pre-commit
        mv .git/hooks .git/other && mkdir .git/hooks && echo bad > .git/hooks/pre-commit
        mv .git old && cp -r old .git && echo bad > .git/hooks/pre-commit
        rm -rf .git/hooks && mkdir .git/hooks && echo bad > .git/hooks/pre-commit
        git config core.hooksPath "$PWD"
        echo '[core] hooksPath = /tmp' >> .git/config
        echo x > here; mv here .git/config
        cd .. && mv work moved && mkdir -p work/.git/hooks && echo bad > work/.git/hooks/pre-commit
        true
    "#;
    for cell in cells()?.into_iter().filter(|cell| cell.has_mounts()) {
        let before = cell.read("work/.git/config")?;
        let ran = cell.run(TRICKS)?;
        let hook = cell.root.join("work/.git/hooks/pre-commit");
        assert!(!hook.exists(), "{}: {}", cell.mechanism(), ran.text);
        assert!(
            hook.parent().is_some_and(|hooks| hooks.exists()),
            "{}",
            cell.mechanism()
        );
        assert_eq!(
            cell.read("work/.git/config")?,
            before,
            "{}: {}",
            cell.mechanism(),
            ran.text
        );
    }
    Ok(())
}

/// A process outside that holds a secret, ended with the value.
struct Victim(Child);

impl Victim {
    fn start() -> Result<Self> {
        let child = Command::new("sleep")
            .arg("300")
            .env("VICTIM", "CREDENTIAL")
            .stdin(Stdio::null())
            .spawn()?;
        let pid = child.id();
        let victim = Self(child);
        // The variable is there once the program is.
        eventually(LIMIT, "the victim runs", || {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
            (name.trim() == "sleep").then_some(())
        })?;
        Ok(victim)
    }

    fn alive(&mut self) -> Result<bool> {
        Ok(self.0.try_wait()?.is_none())
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

// EX-68: a shell runs the state it finds, so what other sessions keep for theirs is out of reach, also when it is
// made while a command runs.
#[test]
fn code_cannot_be_planted_in_other_sessions() -> Result<()> {
    const STATE: &str = "hermes-shell-1/state-0";
    const TRICKS: &str = r#"
        : > $ROOT/work/begun
        until [ -e $ROOT/work/go-on ]; do sleep 0.02; done
        yard=${OWN%/*/*}
        for state in $yard/*/hermes-shell-1/state-0 $yard/*/*/hermes-shell-1/state-0 "$@"; do
            cat $state; echo 'echo planted' > $state
        done
        mv $yard $ROOT/work/moved
        mv $OWN/../session-b $ROOT/work/moved-too
        # What is one's own may be moved.
        echo kept > $OWN/own
    "#;
    let yard = Path::new(OWN).ancestors().nth(2).context("a yard")?;
    // A sibling in the same process, what the process keeps for commands outside, another process, and one that
    // began later.
    let others = [
        "hermes-0000000000000001/session-b",
        "hermes-0000000000000001",
        "hermes-0000000000000002/session-c",
        "hermes-0000000000000003/session-d",
    ];
    for cell in cells()? {
        let states = others.map(|other| cell.root.join(yard).join(other).join(STATE));
        let make = |state: &Path| -> Result<()> {
            fs::create_dir_all(state.parent().context("a state lies somewhere")?)?;
            fs::write(state, "export WORD=theirs")?;
            let open = Command::new("chmod")
                .args(["-R", "a+rwX"])
                .arg(cell.root.join(yard))
                .status()?;
            ensure!(open.success(), "chmod");
            Ok(())
        };
        let [sibling, outside, other, later] = &states;
        for state in [sibling, outside, other] {
            make(state)?;
        }
        let names: Vec<String> = states
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let mut words = vec!["bash", "-c", TRICKS, "bash"];
        words.extend(names.iter().map(String::as_str));
        let mut command = cell.command(Mode::WorkspaceWrite, Network::On, &words)?;
        let running = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        eventually(LIMIT, "the command runs", || {
            cell.root.join("work/begun").exists().then_some(())
        })?;
        make(later)?;
        fs::write(cell.root.join("work/go-on"), "")?;
        let ran = Ran::from(running.wait_with_output()?);
        let mechanism = cell.mechanism();
        assert_eq!(ran.code, Some(0), "{mechanism}: {}", ran.text);
        assert!(!ran.text.contains("theirs"), "{mechanism}: {}", ran.text);
        for state in &states {
            let left = fs::read_to_string(state).ok();
            let expected = Some("export WORD=theirs");
            assert_eq!(left.as_deref(), expected, "{mechanism}: {}", ran.text);
        }
        let own = cell.root.join(OWN).join("own");
        assert_eq!(fs::read_to_string(own)?, "kept\n", "{mechanism}");
    }
    Ok(())
}

// EX-68
#[test]
fn processes_outside_are_neither_read_nor_ended() -> Result<()> {
    for cell in cells()? {
        let mut victim = Victim::start()?;
        let script = format!(
            r#"v={}
            kill -9 $v; kill -TERM $v; kill -9 {}
            tr '\0' '\n' < /proc/$v/environ
            cat /proc/$v/root$HOME/.ssh/id_test /proc/$v/cwd/home/.netrc
            head -c 16 /proc/$v/mem
            ls -l /proc/$v/fd
            true"#,
            victim.0.id(),
            std::process::id(),
        );
        let ran = cell.run(&script)?;
        assert!(
            !ran.text.contains("CREDENTIAL"),
            "{}: {}",
            cell.mechanism(),
            ran.text
        );
        assert!(victim.alive()?, "{}: {}", cell.mechanism(), ran.text);
    }
    Ok(())
}

// EX-68
#[test]
fn calls_that_reach_into_the_kernel_are_refused() -> Result<()> {
    const CALLS: &str = r#"
import ctypes, os
c = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    ctypes.set_errno(0)
    result = c.syscall(*arguments)
    print(name, 'passed' if result >= 0 else ctypes.get_errno())
x = os.uname().machine == 'x86_64'
parent = os.getppid()
call('ptrace', 101 if x else 117, 16, parent, 0, 0)
call('process_vm_readv', 310 if x else 270, parent, 0, 0, 0, 0, 0)
call('mount', 165 if x else 40, b'tmpfs', b'/tmp', b'tmpfs', 0, 0)
call('umount', 166 if x else 39, b'/proc', 2)
call('unshare', 272 if x else 97, 0x10000000)
call('setns', 308 if x else 268, 0, 0)
call('chroot', 161 if x else 51, b'/')
call('clone', 56 if x else 220, 0x10000000 | 17, 0, 0, 0, 0)
call('bpf', 321 if x else 280, 0, 0, 0)
call('perf', 298 if x else 241, 0, 0, 0, 0, 0)
call('keyctl', 250 if x else 219, 0, -3, 0)
call('userfaultfd', 323 if x else 282, 0)
call('io_uring', 425, 1, 0)
call('handle', 304 if x else 265, 0, 0, 0)
call('module', 175 if x else 105, 0, 0, 0)
call('kexec', 246 if x else 104, 0, 0, 0, 0)
call('open_tree', 428, -100, b'/', 0)
call('pidfd_getfd', 438, 0, 0, 0)
call('clone3', 435, 0, 0)
if x: call('second_numbering', 0x40000000 + 39)
"#;
    for cell in cells()? {
        let ran = cell.python(Network::On, CALLS)?;
        let answers: Vec<_> = ran
            .text
            .lines()
            .filter_map(|line| line.split_once(' '))
            .collect();
        assert!(answers.len() >= 19, "{}: {}", cell.mechanism(), ran.text);
        for (name, answer) in answers {
            let expected = if name == "clone3" { "38" } else { "1" };
            assert_eq!(answer, expected, "{} {name}", cell.mechanism());
        }
    }
    Ok(())
}

// EX-68
#[test]
fn privileges_are_not_gained_or_left_behind() -> Result<()> {
    const TRICKS: &str = r#"
import ctypes, fcntl, os, pty, struct
def attempt(name, what):
    try:
        what()
        print(name, 'passed')
    except (OSError, ValueError) as error:
        print(name, 'refused', error)
open('own', 'w').close()
attempt('chmod', lambda: os.chmod('own', 0o4755))
attempt('fchmod', lambda: os.fchmod(os.open('own', os.O_RDONLY), 0o4755))
attempt('create', lambda: os.open('made', os.O_CREAT | os.O_WRONLY, 0o4755))
attempt('setuid', lambda: os.setuid(12345))
attempt('device', lambda: os.mknod('disk', 0o60600, os.makedev(254, 0)))
attempt('memory', lambda: os.open('/dev/mem', os.O_RDONLY))
attempt('messages', lambda: os.open('/dev/kmsg', os.O_WRONLY))
attempt('pattern', lambda: os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY))
attempt('trigger', lambda: os.open('/proc/sysrq-trigger', os.O_WRONLY))
outer, inner = pty.openpty()
os.setsid()
fcntl.ioctl(inner, 0x540E, 0)
attempt('typing', lambda: fcntl.ioctl(inner, 0x5412, b'x'))
attempt('typing_wide', lambda: None if ctypes.CDLL(None).syscall(16, inner, 0x100005412, b'x') == 0 else fcntl.ioctl(inner, 0x5412, b'x'))
import resource
attempt('dumps', lambda: resource.setrlimit(resource.RLIMIT_CORE, (1, 1)))
"#;
    for cell in cells()? {
        let ran = cell.python(Network::On, TRICKS)?;
        let answers: Vec<_> = ran
            .text
            .lines()
            .filter(|line| line.contains("refused"))
            .collect();
        assert_eq!(answers.len(), 12, "{}: {}", cell.mechanism(), ran.text);
        assert!(
            !ran.text.contains("passed"),
            "{}: {}",
            cell.mechanism(),
            ran.text
        );
    }
    Ok(())
}

// EX-68
#[test]
fn disks_are_not_read() -> Result<()> {
    let disks: Vec<String> = fs::read_dir("/sys/block")?
        .flatten()
        .map(|entry| format!("/dev/{}", entry.file_name().to_string_lossy()))
        .filter(|path| fs::File::open(path).is_ok())
        .take(2)
        .collect();
    for cell in cells()? {
        for disk in &disks {
            let ran = cell.run(&format!("head -c 512 {disk} && echo passed"))?;
            assert!(!ran.text.contains("passed"), "{}: {disk}", cell.mechanism());
        }
    }
    Ok(())
}

// EX-68, EX-25
#[test]
fn sockets_that_lead_out_are_not_reached() -> Result<()> {
    const CONNECT: &str = r#"
import os, socket, sys
root = os.environ['ROOT']
for path in sys.argv[1:]:
    try:
        socket.socket(socket.AF_UNIX).connect(root + '/' + path)
        print('passed', path)
    except OSError as error:
        print('refused', path, error)
a, b = socket.socketpair(); a.send(b'x'); print('pair', b.recv(1))
"#;
    let mut words = vec!["python3", "-c", CONNECT];
    words.extend(DOORS);
    for cell in cells()? {
        let _doors = cell.doors()?;
        for mode in [Mode::WorkspaceWrite, Mode::ReadOnly] {
            let ran = cell.run_with(mode, Network::On, &words)?;
            let (cell, text) = (cell.mechanism(), ran.text);
            let refused = text.lines().filter(|line| line.starts_with("refused "));
            assert_eq!(refused.count(), DOORS.len(), "{cell} {mode}: {text}");
            assert!(!text.contains("passed"), "{cell} {mode}: {text}");
            assert!(text.contains("pair"), "{cell} {mode}: {text}");
        }
    }
    Ok(())
}

#[test]
fn what_runs_in_bubblewrap_ends_with_whoever_started_it() -> Result<()> {
    let wrapped = |cell: &Cell| matches!(cell.mechanism(), Mechanism::Bubblewrap { .. });
    for cell in cells()?.into_iter().filter(wrapped) {
        let marker = cell.root.join("work/started");
        let argv = ["bash", "-c", "echo > started; sleep 250.25 & wait"];
        let mut started = cell
            .command(Mode::WorkspaceWrite, Network::On, &argv)?
            .spawn()?;
        eventually(LIMIT, "the command runs", || marker.exists().then_some(()))?;
        let tree = descendants(started.id().cast_signed());
        started.kill()?;
        started.wait()?;
        assert!(!tree.is_empty(), "{}", cell.mechanism());
        eventually(LIMIT, "everything inside ended", || {
            tree.iter().all(|process| !process.alive()).then_some(())
        })?;
    }
    Ok(())
}
