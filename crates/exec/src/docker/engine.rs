//! Finding or making the container.

use std::collections::HashMap;
use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use bollard::errors::Error;
use bollard::models::{
    ContainerCreateBody, ContainerInspectResponse, ContainerSummary, ContainerSummaryStateEnum,
};
use bollard::query_parameters::{
    CreateContainerOptions, InspectContainerOptions, ListContainersOptions, RemoveContainerOptions,
    StartContainerOptions, StopContainerOptions,
};
use bollard::{API_DEFAULT_VERSION, Docker};
use tokio::time::timeout;

use super::spec::{self, Surroundings};
use super::{DockerConfig, unavailable};
use crate::lease::Leases;
use crate::sandboxes::{Inventory, Sandbox, is_free};
use crate::{ExecError, labels, turn};

const GREETING: Duration = Duration::from_secs(5);
/// How long any request to the engine may take.
const ANSWER: Duration = Duration::from_secs(120);
/// How long containers have to end by themselves, in seconds.
const GRACE: i32 = 10;
const SETTINGS: &str = "Check the settings terminal.docker_*.";

/// A connection to the engine.
#[derive(Clone)]
pub(crate) struct Engine {
    pub(super) docker: Docker,
    pub(super) socket: PathBuf,
}

/// The container that was found or made.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) engine: Engine,
    pub(super) id: String,
    pub(super) name: String,
}

impl Engine {
    pub(crate) async fn connect(address: &str) -> Result<Self, ExecError> {
        let Some(socket) = address.strip_prefix("unix://") else {
            return Err(unavailable(
                format!("{address} is not a local socket"),
                "Set DOCKER_HOST to unix:// and the path of the engine's socket.".to_owned(),
            ));
        };
        let connect = async {
            Docker::connect_with_unix(socket, ANSWER.as_secs(), API_DEFAULT_VERSION)?
                .negotiate_version()
                .await
        };
        let next = "Start Docker or Podman, or set DOCKER_HOST to its socket.";
        let docker = match timeout(GREETING, connect).await {
            Ok(Ok(docker)) => docker,
            Ok(Err(error)) => return Err(unavailable(chain(&error), next.to_owned())),
            Err(_) => {
                let cause = format!("the engine at {socket} does not answer");
                return Err(unavailable(cause, next.to_owned()));
            }
        };
        Ok(Self {
            docker,
            socket: PathBuf::from(socket),
        })
    }

    /// Makes a request with a limit of time. A container that is not there or not running is `Gone`.
    pub(super) async fn limited<T>(
        &self,
        what: &str,
        request: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, ExecError> {
        match timeout(ANSWER, request).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(Error::DockerResponseServerError {
                status_code: 404 | 409,
                message,
            })) => Err(ExecError::Gone(message)),
            Ok(Err(error)) => {
                let next = match error {
                    Error::DockerResponseServerError {
                        status_code: 400, ..
                    } => SETTINGS,
                    _ => "Look at the engine's own log.",
                };
                let cause = format!("{what} failed: {}", chain(&error));
                Err(unavailable(cause, next.to_owned()))
            }
            Err(_) => Err(ExecError::TimedOut {
                what: what.to_owned(),
                limit: ANSWER,
            }),
        }
    }

    /// The containers of this task, or all of ours.
    pub(super) async fn containers(
        &self,
        labels: &[(&str, &str)],
    ) -> Result<Vec<ContainerSummary>, ExecError> {
        let wanted = labels.iter().map(|(name, value)| format!("{name}={value}"));
        let options = ListContainersOptions {
            all: true,
            filters: Some(HashMap::from([("label".to_owned(), wanted.collect())])),
            ..ListContainersOptions::default()
        };
        self.limited(
            "listing containers",
            self.docker.list_containers(Some(options)),
        )
        .await
    }

    /// Finds the container that fits, or makes one. Others of the same task are removed unless in use.
    pub(super) async fn ensure(
        &self,
        config: &DockerConfig,
        name: &str,
        leases: &Leases,
    ) -> Result<Found, ExecError> {
        let _turn = turn::take(&spec::folder(config)).await?;
        let entrypoint = self.image(&config.image).await?;
        let engine = self
            .limited("asking the engine", self.docker.info())
            .await?;
        let body = spec::container(config, &Surroundings { engine, entrypoint })?;
        let hash = body
            .labels
            .as_ref()
            .and_then(|labels| labels.get(labels::CONFIG));
        let wanted = [
            (labels::OURS, "1"),
            (labels::TASK, &labels::value(&config.task)),
            (labels::PROFILE, &labels::value(&config.profile)),
        ];
        let mut all = self.containers(&wanted).await?;
        all.sort_by_key(|one| one.state != Some(ContainerSummaryStateEnum::RUNNING));
        for one in all {
            let Some(found) = self.name(&one) else {
                continue;
            };
            let alike = one
                .labels
                .as_ref()
                .and_then(|labels| labels.get(labels::CONFIG))
                == hash;
            if alike && config.across_processes && self.is_usable(config, &found).await? {
                return Ok(found);
            }
            let created = one.created.unwrap_or(0);
            let clock = &*config.clock;
            if !alike && is_free(leases, &found.name, created, config.lifetime, clock) {
                tracing::info!(
                    container = found.name,
                    "made differently, so it is replaced"
                );
                self.remove(&found.id).await?;
            }
        }
        self.make(config, body, name).await
    }

    /// Whether it runs, or does after starting it, with no network where there must be none.
    async fn is_usable(&self, config: &DockerConfig, found: &Found) -> Result<bool, ExecError> {
        let look = self
            .docker
            .inspect_container(&found.id, None::<InspectContainerOptions>);
        let look = match self.limited("looking at the container", look).await {
            Err(ExecError::Gone(_)) => return Ok(false),
            look => look?,
        };
        if !config.network && is_connected(&look) {
            self.remove(&found.id).await?;
            return Ok(false);
        }
        if look.state.is_some_and(|state| state.running == Some(true)) {
            return Ok(true);
        }
        match self.start(&found.id).await {
            Ok(()) => Ok(true),
            Err(error) => {
                tracing::info!(%error, "a stopped container does not start and is replaced");
                self.remove(&found.id).await?;
                Ok(false)
            }
        }
    }

    async fn make(
        &self,
        config: &DockerConfig,
        body: ContainerCreateBody,
        name: &str,
    ) -> Result<Found, ExecError> {
        if config.persistent {
            for directory in spec::kept(config) {
                std::fs::create_dir_all(&directory).map_err(|source| ExecError::Io {
                    what: format!("cannot make {}", directory.display()),
                    source,
                })?;
            }
        }
        // The name may still belong to one that was made before.
        let mut chosen = name.to_owned();
        let mut attempt = 1;
        let id = loop {
            let options = CreateContainerOptions {
                name: Some(chosen.clone()),
                ..CreateContainerOptions::default()
            };
            let create = self.docker.create_container(Some(options), body.clone());
            match self.limited("making the container", create).await {
                Err(ExecError::Gone(_)) if attempt < 10 => {
                    chosen = format!("{name}-{attempt}");
                    attempt += 1;
                }
                Err(ExecError::Gone(message)) => {
                    return Err(unavailable(message, SETTINGS.to_owned()));
                }
                created => break created?.id,
            }
        };
        if let Err(error) = self.start(&id).await {
            // A half-made container would be in the way for ever.
            self.remove(&id).await?;
            return Err(match error {
                ExecError::Gone(message) => unavailable(message, SETTINGS.to_owned()),
                other => other,
            });
        }
        Ok(Found {
            engine: self.clone(),
            id,
            name: chosen,
        })
    }

    async fn start(&self, id: &str) -> Result<(), ExecError> {
        let start = self
            .docker
            .start_container(id, None::<StartContainerOptions>);
        self.limited("starting the container", start).await
    }

    pub(super) fn name(&self, one: &ContainerSummary) -> Option<Found> {
        Some(Found {
            engine: self.clone(),
            id: one.id.clone()?,
            name: one
                .names
                .as_ref()?
                .first()?
                .trim_start_matches('/')
                .to_owned(),
        })
    }
}

impl Inventory for Engine {
    async fn all(&self) -> Result<Vec<(String, Sandbox)>, ExecError> {
        let all = self.containers(&[(labels::OURS, "1")]).await?;
        let known = all.into_iter().filter_map(|one| {
            let found = self.name(&one)?;
            let labels = one.labels.unwrap_or_default().into_iter().collect();
            let mut sandbox = Sandbox {
                image: one.image.unwrap_or_default(),
                running: one.state == Some(ContainerSummaryStateEnum::RUNNING),
                created_at: one.created.unwrap_or(0),
                ..Sandbox::from_labels(found.name, &labels)
            };
            let mounts = one.mounts.unwrap_or_default().into_iter();
            let kept = mounts.filter_map(|mount| {
                let (source, target) = (mount.source?, mount.destination?);
                spec::is_kept(&source, &target, &sandbox.task).then(|| PathBuf::from(source))
            });
            sandbox.kept = kept.collect();
            sandbox.kept.sort();
            Some((found.id, sandbox))
        });
        Ok(known.collect())
    }

    async fn stop(&self, id: &str) -> Result<(), ExecError> {
        let options = StopContainerOptions {
            t: Some(GRACE),
            ..StopContainerOptions::default()
        };
        let stop = self.docker.stop_container(id, Some(options));
        gone_is_fine(self.limited("stopping the container", stop).await)
    }

    async fn remove(&self, id: &str) -> Result<(), ExecError> {
        self.stop(id).await?;
        let options = RemoveContainerOptions {
            force: true,
            v: true,
            ..RemoveContainerOptions::default()
        };
        let remove = self.docker.remove_container(id, Some(options));
        gone_is_fine(self.limited("removing the container", remove).await)
    }
}

/// Whether a container has a network, by its making or because somebody connected it later.
fn is_connected(container: &ContainerInspectResponse) -> bool {
    let settings = container.network_settings.as_ref();
    let networks = settings.and_then(|settings| settings.networks.as_ref());
    networks
        .into_iter()
        .flat_map(|networks| networks.keys())
        .any(|name| name != "none")
}

fn gone_is_fine(result: Result<(), ExecError>) -> Result<(), ExecError> {
    match result {
        Err(ExecError::Gone(_)) => Ok(()),
        other => other,
    }
}

/// An error with its causes, which is where the engine's socket and the system's words are.
pub(super) fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    // EX-24: made without a network, and connected to one behind our back.
    #[test]
    fn a_container_that_was_connected_later_does_not_count_as_offline() {
        for (networks, connected) in [
            (r#"{"none": {}}"#, false),
            ("{}", false),
            ("null", false),
            (r#"{"none": {}, "bridge": {}}"#, true),
            (r#"{"host": {}}"#, true),
            (r#"{"company": {}}"#, true),
        ] {
            let text = format!(
                r#"{{"HostConfig": {{"NetworkMode": "none"}}, "NetworkSettings": {{"Networks": {networks}}}}}"#
            );
            let container = serde_json::from_str(&text).unwrap();
            assert_eq!(is_connected(&container), connected, "{networks}");
        }
        assert!(!is_connected(&ContainerInspectResponse::default()));
    }
}
