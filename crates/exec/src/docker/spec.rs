//! What a container is made of.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use bollard::models::{ContainerCreateBody, HostConfig, SystemInfo};

use super::{DockerConfig, KIND, arguments, unavailable};
use crate::{ExecError, labels};

/// Keeps the container running while somebody uses it, and for its lifetime after that, whatever becomes of us.
const REST: &str = include_str!("rest.sh");
/// The longest time in seconds between two looks at whether somebody uses it.
const LONGEST_LOOK: u64 = 30;
/// How many seconds may pass until whoever started it uses it.
const ARRIVAL: u64 = 60;
const MAX_PROCESSES: i64 = 256;
const ROOT: &str = "/root";
const WORKSPACE: &str = "/workspace";

/// What is known about the image and the engine when a container is made.
pub(super) struct Surroundings {
    pub(super) engine: SystemInfo,
    pub(super) entrypoint: Vec<String>,
}

/// The directory of this machine for the files of a task's containers.
pub(super) fn folder(config: &DockerConfig) -> PathBuf {
    config
        .sandboxes
        .join(KIND)
        .join(labels::value(&config.task))
}

/// The directories of this machine that a persistent container writes to.
pub(super) fn kept(config: &DockerConfig) -> [PathBuf; 2] {
    let base = folder(config);
    [base.join("home"), base.join("workspace")]
}

/// Whether such a directory is what is mounted, by its name.
pub(super) fn is_kept(source: &str, target: &str, task: &str) -> bool {
    let own = |name: &str| Path::new(source).ends_with(Path::new(KIND).join(task).join(name));
    match target {
        ROOT => own("home"),
        WORKSPACE => own("workspace"),
        _ => false,
    }
}

/// The container to make, with the hash of its making among its labels.
pub(super) fn container(
    config: &DockerConfig,
    surroundings: &Surroundings,
) -> Result<ContainerCreateBody, ExecError> {
    // Images with their own init must be process 1 and run programs from /run.
    let own_init = surroundings
        .entrypoint
        .first()
        .is_some_and(|first| first == "/init");
    let mut capabilities = vec!["DAC_OVERRIDE", "CHOWN", "FOWNER"];
    if config.run_as.is_none() {
        capabilities.extend(["SETUID", "SETGID"]);
    }
    let (binds, tmpfs) = storage(config, own_init);
    let mut host = HostConfig {
        cap_drop: Some(vec!["ALL".to_owned()]),
        cap_add: Some(capabilities.into_iter().map(str::to_owned).collect()),
        security_opt: Some(vec!["no-new-privileges".to_owned()]),
        init: (!own_init).then_some(true),
        binds: Some(binds),
        tmpfs: Some(tmpfs),
        network_mode: (!config.network).then(|| "none".to_owned()),
        ..HostConfig::default()
    };
    limits(config, &surroundings.engine, &mut host);
    let mut body = ContainerCreateBody {
        image: Some(config.image.clone()),
        cmd: Some(main_program(config)),
        working_dir: Some(config.directory.clone()),
        user: config.run_as.map(|(user, group)| format!("{user}:{group}")),
        env: Some(
            config
                .environment
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect(),
        ),
        host_config: Some(host),
        ..ContainerCreateBody::default()
    };
    arguments::apply(&config.arguments, &mut body)?;
    if !config.network {
        // Whatever the further arguments say: off means off.
        body.host_config.get_or_insert_default().network_mode = Some("none".to_owned());
    }
    let making = serde_json::to_value(&body)
        .map_err(|error| unavailable(error.to_string(), "Check terminal.docker_*.".to_owned()))?;
    let mut labels = body.labels.take().unwrap_or_default();
    let ours = labels::all(&config.task, &config.profile, config.lifetime, &making);
    labels.extend(ours.map(|(name, value)| (name.to_owned(), value)));
    body.labels = Some(labels);
    Ok(body)
}

fn main_program(config: &DockerConfig) -> Vec<String> {
    let lifetime = config.lifetime.as_secs().clamp(1, u64::from(u32::MAX));
    let look = (lifetime / 4).clamp(1, LONGEST_LOOK);
    let mut words = ["/bin/sh", "-c", REST, "hermes"]
        .map(str::to_owned)
        .to_vec();
    words.extend([lifetime, look, ARRIVAL].map(|seconds| seconds.to_string()));
    words
}

fn storage(config: &DockerConfig, own_init: bool) -> (Vec<String>, HashMap<String, String>) {
    let run = if own_init {
        "size=64m,nosuid,exec"
    } else {
        "size=64m,noexec,nosuid"
    };
    let mut tmpfs: BTreeMap<&str, String> = BTreeMap::from([
        ("/tmp", "size=512m,mode=1777,nosuid,exec".to_owned()),
        ("/var/tmp", "size=256m,mode=1777,noexec,nosuid".to_owned()),
        ("/run", run.to_owned()),
    ]);
    let mut binds = Vec::new();
    let targets: Vec<&str> = config
        .volumes
        .iter()
        .filter_map(|volume| volume.split(':').nth(1))
        .collect();
    let own_workspace = config.workspace.is_some() || targets.contains(&WORKSPACE);
    if config.persistent {
        let [home, workspace] = kept(config);
        binds.push(format!("{}:{ROOT}", home.display()));
        if !own_workspace {
            binds.push(format!("{}:{WORKSPACE}", workspace.display()));
        }
    } else {
        // Memory starts out as root's.
        let owner = config.run_as.map_or_else(String::new, |(user, group)| {
            format!(",uid={user},gid={group}")
        });
        tmpfs.extend([
            ("/home", format!("size=1g,exec{owner}")),
            ("/root", format!("size=1g,exec{owner}")),
        ]);
        if !own_workspace {
            tmpfs.insert(WORKSPACE, format!("size=10g,exec{owner}"));
        }
    }
    if let Some(workspace) = &config.workspace {
        binds.push(format!("{}:{WORKSPACE}", workspace.display()));
    }
    for offer in config.offers.list() {
        binds.push(format!("{}:{}:ro", offer.from.display(), offer.to));
    }
    binds.extend(config.volumes.iter().cloned());
    let tmpfs = tmpfs
        .into_iter()
        .filter(|(target, _)| !targets.contains(target))
        .map(|(target, options)| (target.to_owned(), options))
        .collect();
    (binds, tmpfs)
}

/// Limits, as far as the engine says that its machine can hold them.
fn limits(config: &DockerConfig, engine: &SystemInfo, host: &mut HostConfig) {
    if config.cpus > 0.0 && engine.cpu_cfs_quota == Some(true) {
        // Settings allow a few thousand processors at most, so this is exact.
        host.nano_cpus = Some((config.cpus * 1e9).round() as i64);
    }
    if config.memory_mb > 0 && engine.memory_limit == Some(true) {
        host.memory = Some(i64::from(config.memory_mb) << 20);
    }
    if engine.pids_limit == Some(true) {
        host.pids_limit = Some(MAX_PROCESSES);
    }
    let backing = |name: &str| {
        engine.driver_status.iter().flatten().any(|pair| {
            pair.first().is_some_and(|key| key == "Backing Filesystem")
                && pair.get(1).is_some_and(|value| value == name)
        })
    };
    if config.disk_mb > 0 && engine.driver.as_deref() == Some("overlay2") && backing("xfs") {
        let size = format!("{}m", config.disk_mb);
        host.storage_opt = Some(HashMap::from([("size".to_owned(), size)]));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn config() -> DockerConfig {
        DockerConfig {
            engine: String::new(),
            image: "image".to_owned(),
            directory: "/root".to_owned(),
            task: "default".to_owned(),
            profile: "main".to_owned(),
            cpus: 1.0,
            memory_mb: 512,
            disk_mb: 1024,
            persistent: false,
            across_processes: true,
            reaper: true,
            lifetime: Duration::from_secs(300),
            network: true,
            run_as: None,
            workspace: None,
            volumes: Vec::new(),
            offers: Vec::new().into(),
            environment: BTreeMap::new(),
            forwarded: Vec::new(),
            arguments: Vec::new(),
            sandboxes: PathBuf::from("/sandboxes"),
            clock: std::sync::Arc::new(hermes_core::SystemClock),
        }
    }

    fn made(engine: SystemInfo, entrypoint: &[&str]) -> HostConfig {
        let surroundings = Surroundings {
            engine,
            entrypoint: entrypoint.iter().map(|&word| word.to_owned()).collect(),
        };
        let body = container(&config(), &surroundings).unwrap();
        body.host_config.unwrap()
    }

    // EX-20
    #[test]
    fn an_image_with_an_init_of_its_own_gets_none_of_ours_and_may_run_from_run() {
        for (entrypoint, ours) in [
            (&["/init"][..], false),
            (&["/init", "x"], false),
            (&["sh"], true),
            (&[], true),
        ] {
            let host = made(SystemInfo::default(), entrypoint);
            assert_eq!(host.init == Some(true), ours, "{entrypoint:?}");
            let run = host.tmpfs.unwrap().remove("/run").unwrap();
            assert_eq!(run.contains("noexec"), ours, "{entrypoint:?}: {run}");
        }
    }

    // EX-20
    #[test]
    fn the_disk_is_limited_only_where_the_engine_can_do_so() {
        let engine = |driver: &str, backing: &str| SystemInfo {
            driver: Some(driver.to_owned()),
            driver_status: Some(vec![vec![
                "Backing Filesystem".to_owned(),
                backing.to_owned(),
            ]]),
            ..SystemInfo::default()
        };
        let limited = made(engine("overlay2", "xfs"), &[]).storage_opt.unwrap();
        assert_eq!(limited.get("size").map(String::as_str), Some("1024m"));
        for (driver, backing) in [("overlay2", "extfs"), ("vfs", "xfs")] {
            let host = made(engine(driver, backing), &[]);
            assert_eq!(host.storage_opt, None, "{driver} on {backing}");
        }
    }
}
