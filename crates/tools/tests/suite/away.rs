//! Places that are not this machine, for tools to work in.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hermes_core::{SystemClock, SystemRandom};
use hermes_exec::{
    Backend, BackendConfig, Carriers, DockerConfig, FramedFiles, Granted, Processes,
    ProcessesOptions, Shell, ShellOptions, SshConfig, Startup, WardenProgram, open,
};
use hermes_policy::{Isolation, Unattended};
use hermes_secrets::RedactorHandle;
use hermes_store::{Options, Store};
use hermes_testkit::{Dockerd, Sshd};
use hermes_tools::{
    Behind, Confined, Defined, FileServices, Guard, GuardSettings, LazyConfined, Limits, Remembers,
    Sudo, Workplace,
};

/// The machine behind a server.
pub(super) fn ssh(server: &Sshd, user: &str) -> Arc<dyn Backend> {
    let config = SshConfig {
        host: "127.0.0.1".to_owned(),
        user: user.to_owned(),
        port: server.port(),
        key: Some(server.key()),
        known_hosts: Some(server.known_hosts()),
        program: PathBuf::from("/usr/bin/ssh"),
        carriers: Carriers {
            warden: WardenProgram {
                program: PathBuf::from(env!("CARGO_BIN_EXE_tools-warden")),
                arguments: Vec::new(),
                grace: Duration::from_millis(500),
            },
            environment: Vec::new(),
            directory: PathBuf::from("/"),
        },
        sockets: server.path().join("sockets"),
        connect: Duration::from_secs(10),
    };
    open(BackendConfig::Ssh(config), &SystemRandom).unwrap()
}

/// A container; its `/workspace` is the directory that is returned with it.
pub(super) fn docker(engine: &Dockerd, folder: &Path) -> (Arc<dyn Backend>, PathBuf) {
    let config = DockerConfig {
        engine: engine.address(),
        image: engine.image().to_owned(),
        directory: "/root".to_owned(),
        task: "default".to_owned(),
        profile: "main".to_owned(),
        cpus: 1.0,
        memory_mb: 512,
        disk_mb: 1024,
        persistent: true,
        across_processes: true,
        reaper: true,
        lifetime: Duration::from_secs(300),
        network: false,
        run_as: None,
        workspace: None,
        volumes: Vec::new(),
        offers: Vec::new().into(),
        environment: BTreeMap::new(),
        forwarded: Vec::new(),
        arguments: Vec::new(),
        sandboxes: folder.join("sandboxes"),
        clock: Arc::new(SystemClock),
    };
    let backend = open(BackendConfig::Docker(config), &SystemRandom).unwrap();
    (backend, folder.join("sandboxes/docker/default/workspace"))
}

/// The file tools' view of a place.
pub(super) fn files(backend: &Arc<dyn Backend>, directory: &str) -> FileServices {
    let directory = PathBuf::from(directory);
    FileServices {
        files: Arc::new(FramedFiles::new(backend.clone(), Arc::new(SystemRandom))),
        directory: Some(Arc::new(move || directory.clone())),
        ..FileServices::default()
    }
}

struct Forgetful;

impl Remembers for Forgetful {
    fn always(&self, _: &BTreeSet<String>) {}
}

/// A shell whose own files are in `folder`, which is a directory over there.
pub(super) fn shell(backend: &Arc<dyn Backend>, directory: &str, folder: PathBuf) -> Shell {
    Shell::new(ShellOptions {
        backend: backend.clone(),
        directory: PathBuf::from(directory),
        environment: Vec::new(),
        startup: Startup::Nothing,
        output_limit: 50_000,
        folder,
        ready: None,
        random: Arc::new(SystemRandom),
    })
}

/// Where a session works in such a place. `folder` is one of ours.
pub(super) fn workplace(backend: &Arc<dyn Backend>, directory: &str, folder: &Path) -> Workplace {
    let store = Store::open(Options {
        path: folder.join("hermes.db"),
        blobs: folder.join("blobs"),
        clock: Arc::new(SystemClock),
        redactor: RedactorHandle::default(),
        vfs: None,
    })
    .unwrap();
    let settings = GuardSettings {
        patience: Duration::from_secs(5),
        headless: Unattended::Deny,
        deny: Vec::new(),
        allow: Vec::new(),
        home: "/root".to_owned(),
        product_home: String::new(),
        isolation: Isolation::Full,
    };
    let guard = Guard::new(
        settings,
        store.clone(),
        Arc::new(SystemClock),
        RedactorHandle::default(),
        Arc::new(Forgetful),
        None,
    );
    Workplace {
        backend: backend.clone(),
        scratch: backend.scratch(),
        shell: shell(backend, directory, backend.scratch()),
        outside: shell(backend, directory, backend.scratch()),
        defined: Defined::default(),
        confinement: LazyConfined::new(
            Arc::new(|| Confined::Not("the place itself".to_owned())),
            Granted::default(),
        ),
        granted: Granted::default(),
        environment: Vec::new(),
        processes: Processes::new(ProcessesOptions {
            store,
            redactor: RedactorHandle::default(),
            masking: hermes_exec::guidance::Masking::default(),
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            logs: folder.join("logs"),
            grace: Duration::from_millis(500),
        }),
        behind: Behind::default(),
        guard: Arc::new(guard),
        redactor: RedactorHandle::default(),
        masking: hermes_exec::guidance::Masking::default(),
        random: Arc::new(SystemRandom),
        limits: Limits {
            usual: Duration::from_secs(60),
            most: Duration::from_secs(600),
        },
        sudo: Sudo::new(None),
        checkpoints: None,
    }
}
