//! Runs one command on a backend, shows what it prints and then waits to be killed.
//!
//! The first argument is the warden's program, the next one says which backend, the following ones what it needs, the
//! last one is the command.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::{SystemClock, SystemRandom};
use hermes_exec::{
    Backend, BackendConfig, Carriers, CloudConfig, DaytonaConfig, DockerConfig, Input, Launch,
    ManagedModalConfig, ModalConfig, RunId, SingularityConfig, SshConfig, TetherProgram,
    WardenProgram, open,
};
use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings};
use tokio::io::AsyncReadExt;

#[expect(clippy::too_many_lines, reason = "one arm for each backend")]
fn config(warden: &str, arguments: &[String]) -> Result<BackendConfig, Box<dyn Error>> {
    match arguments {
        [kind, port, user, key, known_hosts, sockets] if kind == "ssh" => {
            Ok(BackendConfig::Ssh(SshConfig {
                host: "127.0.0.1".to_owned(),
                user: user.clone(),
                port: port.parse()?,
                key: Some(PathBuf::from(key)),
                known_hosts: Some(PathBuf::from(known_hosts)),
                program: PathBuf::from("/usr/bin/ssh"),
                carriers: carriers(warden, Vec::new()),
                sockets: PathBuf::from(sockets),
                connect: Duration::from_secs(10),
            }))
        }
        [kind, engine, image, sandboxes] if kind == "docker" => {
            Ok(BackendConfig::Docker(DockerConfig {
                engine: engine.clone(),
                image: image.clone(),
                directory: "/root".to_owned(),
                task: "default".to_owned(),
                profile: "main".to_owned(),
                cpus: 0.0,
                memory_mb: 0,
                disk_mb: 0,
                persistent: true,
                across_processes: true,
                reaper: false,
                lifetime: Duration::from_secs(300),
                network: false,
                run_as: None,
                workspace: None,
                volumes: Vec::new(),
                offers: Vec::new().into(),
                environment: BTreeMap::new(),
                forwarded: Vec::new(),
                arguments: Vec::new(),
                sandboxes: PathBuf::from(sandboxes),
                clock: Arc::new(SystemClock),
            }))
        }
        [kind, program, record, scratch, sandboxes] if kind == "singularity" => {
            let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
            Ok(BackendConfig::Singularity(SingularityConfig {
                programs: vec![PathBuf::from(program)],
                carriers: carriers(
                    warden,
                    vec![
                        variable("PATH", "/usr/bin:/bin"),
                        variable("RECORD", record),
                    ],
                ),
                image: "docker://debian:12".to_owned(),
                directory: "/root".to_owned(),
                task: "default".to_owned(),
                profile: "main".to_owned(),
                cpus: 0.0,
                memory_mb: 0,
                persistent: false,
                lifetime: Duration::from_secs(300),
                offers: Vec::new().into(),
                scratch: PathBuf::from(scratch),
                sandboxes: PathBuf::from(sandboxes),
                clock: Arc::new(SystemClock),
            }))
        }
        [kind, url, key, sandboxes, tether] if kind == "daytona" => {
            let cloud = cloud(sandboxes, tether)?;
            Ok(BackendConfig::Daytona(DaytonaConfig::new(cloud, url, key)?))
        }
        [kind, url, id, secret, sandboxes, tether] if kind == "modal" => {
            let cloud = cloud(sandboxes, tether)?;
            let snapshots = cloud.sandboxes.join("modal_snapshots.json");
            let config = ModalConfig::new(cloud, url, (id, secret), snapshots)?;
            Ok(BackendConfig::Modal(config))
        }
        [kind, url, token, sandboxes, tether] if kind == "modal-managed" => {
            let cloud = cloud(sandboxes, tether)?;
            let config = ManagedModalConfig::new(cloud, url, token)?;
            Ok(BackendConfig::ManagedModal(config))
        }
        _ => Err("unknown backend".into()),
    }
}

fn carriers(warden: &str, environment: Vec<(String, String)>) -> Carriers {
    Carriers {
        warden: WardenProgram {
            program: PathBuf::from(warden),
            arguments: Vec::new(),
            grace: Duration::from_millis(500),
        },
        environment,
        directory: PathBuf::from("/"),
    }
}

fn cloud(sandboxes: &str, tether: &str) -> Result<CloudConfig, Box<dyn Error>> {
    Ok(CloudConfig {
        image: "debian:12".to_owned(),
        task: "default".to_owned(),
        profile: "main".to_owned(),
        cpus: 1.0,
        memory_mb: 1024,
        disk_mb: 0,
        persistent: true,
        lifetime: Duration::from_secs(300),
        sandboxes: PathBuf::from(sandboxes),
        http: ClientBuilder::new(ClientSettings::default(), AddressPolicy::Any).build()?,
        tether: TetherProgram {
            program: PathBuf::from(tether),
            arguments: Vec::new(),
            environment: Vec::new(),
        },
        clock: Arc::new(SystemClock),
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let command = arguments.pop().ok_or("no command")?;
    let (warden, arguments) = arguments.split_first().ok_or("no warden")?;
    let backend: Arc<dyn Backend> = open(config(warden, arguments)?, &SystemRandom)?;
    let launch = Launch {
        id: RunId::new("victim"),
        argv: vec!["bash".to_owned(), "-c".to_owned(), command],
        directory: None,
        environment: Vec::new(),
        input: Input::None,
        confinement: None,
    };
    let mut process = backend.spawn(launch).await?;
    let mut stdout = std::io::stdout();
    let mut buffer = [0; 4096];
    loop {
        let count = process.output.read(&mut buffer).await?;
        if count == 0 {
            std::future::pending::<()>().await;
        }
        stdout.write_all(&buffer[..count])?;
        stdout.flush()?;
    }
}
