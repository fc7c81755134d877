//! What confined commands can still do, with each mechanism, and how one is chosen.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hermes_exec::ExecError;
use hermes_exec::sandbox::{Helper, Mechanism, Rights, Sandbox};
use hermes_policy::confine::Surroundings;
use hermes_policy::{Confinement, Mode, Network};
use tempfile::TempDir;

/// Where the session of a cell keeps what is its own.
pub(super) const OWN: &str = "home/.hermes/cache/shells/hermes-0000000000000001/session-a";

/// Sockets whose other end acts outside: engines, agents, multiplexers, and connections of other sessions of ours.
pub(super) const DOORS: [&str; 5] = [
    "run/docker.sock",
    "temporary/ssh-abc/agent.1",
    "temporary/tmux-0/default",
    "temporary/hermes-ssh-0/abc-0",
    "temporary/hermes-proxy-0123456789abcdef",
];

/// A directory with a repository, a home with credentials and files that are nobody's business, and a sandbox
/// around the repository.
pub(super) struct Cell {
    _directory: TempDir,
    pub(super) root: PathBuf,
    pub(super) surroundings: Surroundings,
    pub(super) sandbox: Sandbox,
    /// In front of everything that is run, such as a change of user.
    before: Vec<String>,
}

impl Cell {
    pub(super) fn new(mechanism: Mechanism) -> Result<Self> {
        Self::with(Sandbox::of(helper(), mechanism))
    }

    fn with(sandbox: Sandbox) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let root = fs::canonicalize(directory.path())?;
        for path in [
            "work",
            OWN,
            "temporary",
            "outside",
            "home/.ssh",
            "home/.cache",
            "home/.hermes/skills/one",
        ] {
            fs::create_dir_all(root.join(path))?;
        }
        for (path, text) in [
            ("outside/file", "untouched"),
            ("home/notes", "readable"),
            ("home/.ssh/id_test", "CREDENTIAL"),
            ("home/.netrc", "CREDENTIAL"),
            ("home/.hermes/.env", "CREDENTIAL"),
            ("home/.hermes/skills/one/SKILL.md", "a skill"),
        ] {
            fs::write(root.join(path), text)?;
        }
        let git = Command::new("git")
            .args(["init", "--quiet", "work"])
            .current_dir(&root)
            .status()?;
        ensure!(git.success(), "git init");
        fs::create_dir_all(root.join("work/.git/hooks"))?;
        Ok(Self {
            surroundings: Surroundings {
                workspace: root.join("work"),
                scratch: root.join(OWN),
                temporary: vec![root.join("temporary")],
                home: Some(root.join("home")),
                product_home: root.join("home/.hermes"),
                writable: Vec::new(),
                hidden: vec![root.join("run")],
            },
            root,
            _directory: directory,
            sandbox,
            before: Vec::new(),
        })
    }

    /// The same, for somebody who is not root.
    fn for_nobody(mechanism: Mechanism) -> Result<Self> {
        const NOBODY: u32 = 65534;
        let mut cell = Self::new(mechanism)?;
        let program = cell.root.join("helper");
        fs::copy(helper().program, &program)?;
        let argument = helper().argument;
        let helper = Helper { program, argument };
        cell.sandbox = Sandbox::of(helper, cell.sandbox.mechanism().clone());
        let owned = Command::new("chown")
            .args(["-R", &NOBODY.to_string()])
            .arg(&cell.root)
            .status()?;
        ensure!(owned.success(), "chown");
        cell.before = [
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "--",
        ]
        .map(String::from)
        .to_vec();
        Ok(cell)
    }

    /// Opens sockets that must not be reached.
    pub(super) fn doors(&self) -> Result<Vec<UnixListener>> {
        let open = |path: &str| {
            let path = self.root.join(path);
            fs::create_dir_all(path.parent().context("a socket lies somewhere")?)?;
            Ok(UnixListener::bind(&path)?)
        };
        let listeners = DOORS.into_iter().map(open).collect::<Result<_>>()?;
        let reach = Command::new("chmod")
            .args(["-R", "a+rwX"])
            .arg(&self.root)
            .status()?;
        ensure!(reach.success(), "chmod");
        Ok(listeners)
    }

    pub(super) fn mechanism(&self) -> &Mechanism {
        self.sandbox.mechanism()
    }

    /// Whether paths are covered by mounts, with all that only mounts can do.
    pub(super) fn has_mounts(&self) -> bool {
        match self.mechanism() {
            Mechanism::Bubblewrap { .. } => true,
            Mechanism::Landlock { mounts, .. } => mounts.is_some(),
            Mechanism::None { .. } => false,
        }
    }

    pub(super) fn command(&self, mode: Mode, network: Network, argv: &[&str]) -> Result<Command> {
        let confinement = Confinement::for_workspace(mode, &self.surroundings, network);
        let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
        let work = self.root.join("work");
        let wrapped = self.sandbox.wrap(&confinement, &argv, Some(&work))?;
        let mut line = self.before.clone();
        line.extend(["timeout", "--kill-after=1", "60"].map(String::from));
        line.extend(wrapped.argv);
        let (program, rest) = line.split_first().context("an empty command line")?;
        let mut command = Command::new(program);
        command
            .args(rest)
            .current_dir(&self.root)
            .envs(wrapped.environment)
            .env("HOME", self.root.join("home"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("TMPDIR", self.root.join("temporary"))
            .env("ROOT", &self.root)
            .env("OWN", self.root.join(OWN))
            .stdin(Stdio::null());
        Ok(command)
    }

    /// Runs a script in the workspace, with the network.
    pub(super) fn run(&self, script: &str) -> Result<Ran> {
        self.run_with(Mode::WorkspaceWrite, Network::On, &["bash", "-c", script])
    }

    pub(super) fn python(&self, network: Network, script: &str) -> Result<Ran> {
        self.run_with(Mode::WorkspaceWrite, network, &["python3", "-c", script])
    }

    pub(super) fn run_with(&self, mode: Mode, network: Network, argv: &[&str]) -> Result<Ran> {
        Ok(Ran::from(self.command(mode, network, argv)?.output()?))
    }

    pub(super) fn read(&self, path: &str) -> Result<String> {
        fs::read_to_string(self.root.join(path)).with_context(|| path.to_owned())
    }
}

/// How a command ended and what it said.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) code: Option<i32>,
    pub(super) text: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        Self {
            code: output.status.code(),
            text,
        }
    }
}

pub(super) fn helper() -> Helper {
    Helper {
        program: env!("CARGO_BIN_EXE_hermes-confine").into(),
        argument: "confine".into(),
    }
}

/// The directories programs are looked for in here.
fn search() -> Vec<PathBuf> {
    ["/usr/local/bin", "/usr/bin", "/bin"]
        .map(PathBuf::from)
        .to_vec()
}

pub(super) fn bubblewrap(rights: Rights) -> Mechanism {
    Mechanism::Bubblewrap {
        program: "/usr/bin/bwrap".into(),
        version: "any".into(),
        rights,
        own_processes: true,
    }
}

pub(super) fn landlock(mounts: Option<Rights>) -> Mechanism {
    Mechanism::Landlock { abi: 6, mounts }
}

/// Every way of confining there is: as root with and without a user namespace, and as somebody else.
pub(super) fn cells() -> Result<Vec<Cell>> {
    let user = Rights::UserNamespace;
    let mut cells = vec![
        Cell::new(bubblewrap(user))?,
        Cell::new(landlock(Some(user)))?,
        Cell::new(landlock(None))?,
    ];
    if nix::unistd::geteuid().is_root() {
        cells.push(Cell::new(bubblewrap(Rights::Root))?);
        cells.push(Cell::new(landlock(Some(Rights::Root)))?);
        cells.push(Cell::for_nobody(bubblewrap(user))?);
        cells.push(Cell::for_nobody(landlock(Some(user)))?);
        cells.push(Cell::for_nobody(landlock(None))?);
    }
    Ok(cells)
}

pub(super) const LIMIT: Duration = Duration::from_secs(60);

// EX-68
#[test]
fn everyday_work_in_the_workspace_passes() -> Result<()> {
    const WORK: &str = r#"
        set -eu
        printf 'one\ntwo\n' > file.txt
        sed -i 's/two/three/' file.txt
        git -c user.name=a -c user.email=a@example.org add file.txt
        git -c user.name=a -c user.email=a@example.org commit --quiet -m first
        git checkout --quiet -b topic
        git log --oneline | grep -q first
        cat <<END | sort | head -1 > sorted
b
a
END
        grep -qx a sorted
        made=$(mktemp); echo x > "$made"; mv "$made" moved
        mkdir -p target/debug/deps; echo x > target/debug/deps/a; mv target/debug/deps/a target/b
        ln target/b hard; ln -s target/b soft; cat soft hard > /dev/null
        printf '#!/bin/sh\necho ran\n' > run.sh; chmod +x run.sh; ./run.sh | grep -q ran
        python3 -m venv --without-pip .venv; .venv/bin/python -c 'import multiprocessing; multiprocessing.Lock()'
        mkfifo pipe; (echo through > pipe &); grep -q through pipe
        echo cached > ~/.cache/entry
        echo kept > "$OWN/own"
        test "$(cat ~/notes)" = readable
        test "$(cat ~/.hermes/skills/one/SKILL.md)" = 'a skill'
        ls / ~ /etc > /dev/null
        echo x > /dev/null; head -c 4 /dev/urandom > /dev/null
        (sleep 0.01; echo late) & wait
        exit 7
    "#;
    for cell in cells()? {
        // Temporary directories are seldom empty.
        let _doors = cell.doors()?;
        let ran = cell.run(WORK)?;
        assert_eq!(ran.code, Some(7), "{}: {}", cell.mechanism(), ran.text);
        assert_eq!(
            fs::read_to_string(cell.root.join(OWN).join("own"))?,
            "kept\n"
        );
    }
    Ok(())
}

// EX-68
#[test]
fn reading_only_writes_nothing_but_scratch() -> Result<()> {
    for cell in cells()? {
        let script = r#"echo x > new; echo x > "$ROOT/temporary/new"; echo x > ~/.cache/new
            echo x > "$OWN/new" && cat "$ROOT/outside/file""#;
        let ran = cell.run_with(Mode::ReadOnly, Network::On, &["bash", "-c", script])?;
        assert!(
            ran.text.contains("untouched"),
            "{}: {}",
            cell.mechanism(),
            ran.text
        );
        for path in ["work/new", "temporary/new", "home/.cache/new"] {
            assert!(
                !cell.root.join(path).exists(),
                "{}: {path}",
                cell.mechanism()
            );
        }
    }
    Ok(())
}

// EX-68
#[test]
fn full_access_is_the_plain_command() -> Result<()> {
    let cell = Cell::new(bubblewrap(Rights::UserNamespace))?;
    let confinement = Confinement::for_workspace(Mode::Full, &cell.surroundings, Network::On);
    let argv = ["bash".to_owned(), "-c".into(), "true".into()];
    assert_eq!(cell.sandbox.wrap(&confinement, &argv, None)?.argv, argv);
    Ok(())
}

#[test]
fn a_command_that_does_not_exist_says_so() -> Result<()> {
    for cell in cells()? {
        let missing = ["/nowhere/missing"];
        let ran = cell.run_with(Mode::WorkspaceWrite, Network::On, &missing)?;
        assert_ne!(ran.code, Some(0), "{}", cell.mechanism());
        assert!(
            ran.text.contains("/nowhere/missing"),
            "{}: {}",
            cell.mechanism(),
            ran.text
        );
    }
    Ok(())
}

#[test]
fn a_workspace_inside_the_hidden_home_can_be_worked_in() -> Result<()> {
    for mut cell in cells()? {
        let inside = cell.root.join("home/.hermes/projects/one");
        // Made by whoever owns the rest, so that everybody may write it.
        fs::create_dir_all(&inside)?;
        fs::set_permissions(&inside, fs::Permissions::from_mode(0o777))?;
        cell.surroundings.writable.push(inside.clone());
        let ran = cell.run("cd ~/.hermes/projects/one && echo x > file && cat ../../.env")?;
        assert!(
            !ran.text.contains("CREDENTIAL"),
            "{}: {}",
            cell.mechanism(),
            ran.text
        );
        assert!(
            inside.join("file").exists(),
            "{}: {}",
            cell.mechanism(),
            ran.text
        );
    }
    Ok(())
}

// EX-68
#[test]
fn bubblewrap_is_used_where_it_is_and_landlock_where_it_is_not() -> Result<()> {
    let found = Sandbox::new(helper(), search());
    assert!(
        matches!(found.mechanism(), Mechanism::Bubblewrap { .. }),
        "{}",
        found.describe()
    );
    let empty = tempfile::tempdir()?;
    let without = Sandbox::new(helper(), vec![empty.path().into()]);
    assert!(
        matches!(without.mechanism(), Mechanism::Landlock { .. }),
        "{}",
        without.describe()
    );
    let broken = empty.path().join("bwrap");
    fs::write(
        &broken,
        "#!/bin/sh\n[ \"$1\" = --version ] && echo bubblewrap 9 && exit\nexit 1\n",
    )?;
    fs::set_permissions(&broken, fs::Permissions::from_mode(0o755))?;
    let instead = Sandbox::new(helper(), vec![empty.path().into()]);
    assert!(
        matches!(instead.mechanism(), Mechanism::Landlock { .. }),
        "{}",
        instead.describe()
    );
    let ran = Cell::with(found)?.run("echo confined")?;
    assert_eq!(ran.text.trim(), "confined");
    Ok(())
}

// EX-68
#[test]
fn where_nothing_works_nothing_runs_and_the_reason_is_told() -> Result<()> {
    let program = "/nowhere/helper".into();
    let argument = "confine".into();
    let sandbox = Sandbox::new(Helper { program, argument }, search());
    assert!(matches!(sandbox.mechanism(), Mechanism::None { .. }));
    assert!(
        sandbox.describe().contains("bubblewrap"),
        "{}",
        sandbox.describe()
    );
    let surroundings = Surroundings {
        workspace: "/tmp".into(),
        ..Surroundings::default()
    };
    let confinement = Confinement::for_workspace(Mode::ReadOnly, &surroundings, Network::On);
    let wrapped = sandbox.wrap(&confinement, &["true".into()], Some(Path::new("/")));
    assert!(matches!(wrapped, Err(ExecError::Confinement(_))));
    Ok(())
}

// EX-5, EX-68: what left its session, dropped its environment and lost its parent still belongs to its command.
#[test]
fn an_orphan_stays_below_the_command_that_made_it() -> Result<()> {
    for cell in cells()? {
        let script = "env -i setsid -f sleep 97531; echo up; sleep 97532";
        let argv = ["bash", "-c", script];
        let mut command = cell.command(Mode::WorkspaceWrite, Network::On, &argv)?;
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let pid = i32::try_from(child.id())?;
        let found = hermes_testkit::eventually(Duration::from_secs(30), "both", || {
            let below = hermes_testkit::process::descendants(pid);
            let sleeping = below.iter().filter(|one| {
                let words = fs::read_to_string(format!("/proc/{}/cmdline", one.pid));
                words.is_ok_and(|words| words.starts_with("sleep\0"))
            });
            (sleeping.count() == 2).then_some(below)
        });
        let ended = found
            .as_ref()
            .map(|below| below.iter().rev().copied().collect::<Vec<_>>());
        for one in ended.into_iter().flatten() {
            // What ends with its parent may be gone already.
            let _ = nix::sys::signal::kill(
                nix::unistd::Pid::from_raw(one.pid),
                nix::sys::signal::Signal::SIGKILL,
            );
        }
        child.kill()?;
        child.wait()?;
        found?;
    }
    Ok(())
}
