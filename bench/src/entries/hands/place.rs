//! A place of a session's own on this machine, as the program makes one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use futures_core::future::BoxFuture;
use hermes_core::{
    Answer, AnsweredBy, Asker, CallId, Consultation, Question, Reply, RunMode, SessionId,
    SystemClock, SystemRandom, ToolContext, ToolError, ToolHost, ToolOutcome, TurnId,
};
use hermes_exec::guidance::Masking;
use hermes_exec::sandbox::{Helper, Sandbox};
use hermes_exec::{
    Backend, Granted, LocalBackend, LocalOptions, Processes, ProcessesOptions, Shell, ShellOptions,
    Startup, WardenProgram,
};
use hermes_policy::confine::Surroundings;
use hermes_policy::{Confinement, Isolation, Mode, Network, Unattended};
use hermes_secrets::RedactorHandle;
use hermes_store::{Options, Store};
use hermes_tools::{
    Behind, Confined, Defined, Guard, GuardSettings, LazyConfined, Limits, Remembers, Sudo,
    Workplace,
};
use tokio_util::sync::CancellationToken;

/// Where programs are.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Whether commands are confined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Confining {
    Yes,
    No,
}

/// A workplace and the surroundings of its calls.
pub(super) struct Place {
    pub(super) workplace: Arc<Workplace>,
    pub(super) context: ToolContext,
    sandbox: Arc<Sandbox>,
    _folder: tempfile::TempDir,
}

impl Place {
    pub(super) fn new(hermes: &Path, confining: Confining) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let root = folder.path().to_owned();
        let sandbox = Arc::new(Sandbox::new(
            Helper {
                program: hermes.to_owned(),
                argument: "__confine".to_owned(),
            },
            std::env::split_paths(PATH).collect(),
        ));
        let backend = backend(hermes, &root, sandbox.clone());
        let workplace = workplace(&root, &backend, confining)?;
        Ok(Self {
            workplace: Arc::new(workplace),
            context: context(&root)?,
            sandbox,
            _folder: folder,
        })
    }

    pub(super) fn confined_by(&self) -> String {
        self.sandbox.describe()
    }
}

fn backend(hermes: &Path, root: &Path, sandbox: Arc<Sandbox>) -> Arc<dyn Backend> {
    Arc::new(LocalBackend::new(LocalOptions {
        warden: WardenProgram {
            program: hermes.to_owned(),
            arguments: vec!["__warden".to_owned()],
            grace: Duration::from_millis(500),
        },
        scratch: root.join("scratch"),
        confiner: Some(sandbox),
    }))
}

fn store(root: &Path) -> anyhow::Result<Store> {
    Ok(Store::open(Options {
        path: root.join("hermes.db"),
        blobs: root.join("blobs"),
        clock: Arc::new(SystemClock),
        redactor: RedactorHandle::default(),
        vfs: None,
    })?)
}

/// How commands are confined.
fn confined(root: &Path, confining: Confining) -> impl Fn() -> Confined + Send + Sync + use<> {
    let around = Surroundings {
        workspace: root.to_owned(),
        scratch: root.join("scratch"),
        temporary: vec![PathBuf::from("/tmp")],
        writable: Vec::new(),
        hidden: Vec::new(),
        home: Some(root.to_owned()),
        product_home: root.join("home"),
    };
    move || match confining {
        Confining::No => Confined::Not("off".to_owned()),
        Confining::Yes => Confined::By(
            Arc::new(Confinement::for_workspace(
                Mode::WorkspaceWrite,
                &around,
                Network::On,
            )),
            "workspace-write".to_owned(),
        ),
    }
}

fn workplace(
    root: &Path,
    backend: &Arc<dyn Backend>,
    confining: Confining,
) -> anyhow::Result<Workplace> {
    let store = store(root)?;
    let environment = [
        ("PATH", PATH.to_owned()),
        ("HOME", root.display().to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec();
    let shell = || {
        Shell::new(ShellOptions {
            backend: backend.clone(),
            directory: root.to_owned(),
            environment: environment.clone(),
            startup: Startup::Nothing,
            output_limit: 50_000,
            folder: backend.scratch(),
            ready: None,
            random: Arc::new(SystemRandom),
        })
    };
    let guard = Guard::new(
        guard_settings(),
        store.clone(),
        Arc::new(SystemClock),
        RedactorHandle::default(),
        Arc::new(Forgetful),
        None,
    );
    Ok(Workplace {
        shell: shell(),
        defined: Defined::default(),
        outside: shell(),
        backend: backend.clone(),
        scratch: backend.scratch(),
        confinement: LazyConfined::new(Arc::new(confined(root, confining)), Granted::default()),
        granted: Granted::default(),
        environment: environment.clone(),
        processes: Processes::new(ProcessesOptions {
            store,
            redactor: RedactorHandle::default(),
            masking: Masking::default(),
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            logs: root.join("logs"),
            grace: Duration::from_millis(500),
        }),
        behind: Behind::default(),
        guard: Arc::new(guard),
        redactor: RedactorHandle::default(),
        masking: Masking::default(),
        random: Arc::new(SystemRandom),
        limits: Limits {
            usual: Duration::from_secs(60),
            most: Duration::from_secs(600),
        },
        sudo: Sudo::new(None),
        checkpoints: None,
    })
}

fn guard_settings() -> GuardSettings {
    GuardSettings {
        patience: Duration::from_secs(5),
        headless: Unattended::Deny,
        deny: Vec::new(),
        allow: Vec::new(),
        home: "/nowhere".to_owned(),
        product_home: String::new(),
        isolation: Isolation::None,
    }
}

/// The surroundings of a call.
pub(super) fn context(directory: &Path) -> anyhow::Result<ToolContext> {
    Ok(ToolContext {
        session: SessionId::try_from("bench".to_owned())?,
        turn: TurnId(1),
        call: CallId("call".to_owned()),
        directory: directory.to_owned(),
        cancel: CancellationToken::new(),
        deadline: Duration::from_secs(600),
        asker: Arc::new(Nobody),
        mode: RunMode::Off,
        attended: false,
        lasting: true,
        origin: hermes_core::Origin::Conversation,
        nested: false,
        host: Arc::new(Nobody),
    })
}

struct Forgetful;

impl Remembers for Forgetful {
    fn always(&self, _: &BTreeSet<String>) {}
}

struct Nobody;

impl Asker for Nobody {
    fn ask(&self, _: Question, _: CancellationToken) -> BoxFuture<'_, Reply> {
        Box::pin(async {
            Reply {
                answer: Answer::no(),
                by: AnsweredBy::Runtime,
            }
        })
    }
}

impl ToolHost for Nobody {
    fn show<'a>(&'a self, _: &'a ToolContext, _: String) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn tell<'a>(&'a self, _: &'a ToolContext, _: String) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn consult<'a>(&'a self, _: &'a ToolContext, _: Consultation) -> BoxFuture<'a, Option<String>> {
        Box::pin(async { None })
    }

    fn offered(&self) -> Vec<String> {
        Vec::new()
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        _: serde_json::Value,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            Err(ToolError::ForModel {
                message: format!("no {name} here"),
            })
        })
    }
}

/// Everything that runs below a process now.
pub(super) fn below(pid: u32) -> anyhow::Result<Vec<u32>> {
    let mut parents = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(one) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // Processes come and go while this looks.
        if let Ok(fields) = fields(one) {
            parents.push((one, fields.get(1).context("a short stat file")?.parse()?));
        }
    }
    let mut found: Vec<u32> = Vec::new();
    loop {
        let known = |pids: &[u32], one: u32| one == pid || pids.contains(&one);
        let more: Vec<u32> = parents
            .iter()
            .filter(|(one, parent): &&(u32, u32)| known(&found, *parent) && !found.contains(one))
            .map(|(one, _)| *one)
            .collect();
        if more.is_empty() {
            return Ok(found);
        }
        found.extend(more);
    }
}

/// Processor time a process has used, in hundredths of a second.
pub(super) fn ticks(pid: u32) -> anyhow::Result<u64> {
    let fields = fields(pid)?;
    let field = |at: usize| -> anyhow::Result<u64> {
        Ok(fields.get(at).context("a short stat file")?.parse()?)
    };
    Ok(field(11)? + field(12)?)
}

/// The peak of resident memory of each warden below this process, in KiB; those that are gone keep what is known.
pub(super) fn note_wardens(peaks: &mut BTreeMap<u32, u64>) -> anyhow::Result<()> {
    for pid in below(std::process::id())? {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}"));
        let is_warden = read("cmdline").is_ok_and(|line| line.contains("__warden"));
        let status = read("status").unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        if let (true, Some(peak)) = (is_warden, peak) {
            peaks.insert(pid, peak);
        }
    }
    Ok(())
}

fn fields(pid: u32) -> anyhow::Result<Vec<String>> {
    let path = PathBuf::from(format!("/proc/{pid}/stat"));
    let text = std::fs::read_to_string(path)?;
    let (_, fields) = text.rsplit_once(')').context("an odd stat file")?;
    Ok(fields.split_whitespace().map(str::to_owned).collect())
}

/// Ends a process that was started here.
pub(super) fn end(pid: u32) {
    if let Ok(pid) = i32::try_from(pid) {
        let pid = nix::unistd::Pid::from_raw(pid);
        // It may have ended by itself.
        let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
    }
}
