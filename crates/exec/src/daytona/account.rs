//! The sandboxes of an account.

use std::collections::BTreeMap;
use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::api::{Described, State, broken};
use super::{DaytonaConfig, unavailable};
use crate::lease::Leases;
use crate::rest::{Again, Server};
use crate::sandboxes::{Inventory, Sandbox, is_free};
use crate::{ExecError, labels};

/// How long a sandbox may take to start; its image may have to be built first.
const START: Duration = Duration::from_secs(900);
const FIRST_LOOK: Duration = Duration::from_millis(200);
const LONGEST_LOOK: Duration = Duration::from_secs(2);
/// More pages of sandboxes are not read.
const MAX_PAGES: usize = 50;
/// Disks are not larger than this, in GB.
const MAX_DISK: u32 = 10;
/// A sandbox nobody has spoken to for so many times its lifetime is stopped by the vendor, should we all be gone.
const ABANDONED: u32 = 2;

/// An account, seen with its key.
#[derive(Clone)]
pub(crate) struct Account {
    pub(super) server: Server,
}

impl Account {
    /// Finds the sandbox that fits, or makes one, and has it started.
    pub(super) async fn ensure(
        &self,
        config: &DaytonaConfig,
        name: &str,
        leases: &Leases,
    ) -> Result<Described, ExecError> {
        let cloud = &config.cloud;
        let making = making(config);
        let labels: BTreeMap<_, _> =
            labels::all(&cloud.task, &cloud.profile, cloud.lifetime, &making).into();
        let wanted = [labels::OURS, labels::TASK, labels::PROFILE]
            .map(|name| (name, labels.get(name).cloned().unwrap_or_default()));
        let mut all = self.list(&wanted).await?;
        all.sort_by_key(|one| one.state != State::Started);
        for one in all {
            let alike = one.labels.get(labels::CONFIG) == labels.get(labels::CONFIG);
            let usable = match one.state {
                State::Started | State::Stopped | State::Archived | State::Moving => true,
                State::Error | State::BuildFailed => false,
                State::Destroying | State::Destroyed => continue,
            };
            if alike && usable && cloud.persistent {
                match self.started(one, &cloud.image).await {
                    Err(ExecError::Gone(_)) => continue,
                    found => return found,
                }
            }
            let created = one.created_at();
            let clock = &*cloud.clock;
            if (!alike || !usable) && is_free(leases, one.name(), created, cloud.lifetime, clock) {
                tracing::info!(sandbox = one.name(), "made differently, so it is replaced");
                self.remove(&one.id).await?;
            }
        }
        let made = self.make(config, making, &labels, name).await?;
        match self.started(made.clone(), &cloud.image).await {
            Ok(started) => Ok(started),
            Err(error) => {
                // One that does not start would be in the way for ever.
                self.remove(&made.id).await?;
                Err(error)
            }
        }
    }

    async fn make(
        &self,
        config: &DaytonaConfig,
        making: Value,
        labels: &BTreeMap<&str, String>,
        name: &str,
    ) -> Result<Described, ExecError> {
        let mut body = making;
        if let Some(body) = body.as_object_mut() {
            body.insert("name".to_owned(), json!(name));
            let mut labels = json!(labels);
            labels["hermes_task_id"] = json!(config.cloud.task);
            body.insert("labels".to_owned(), labels);
        }
        let (path, what) = ("sandbox", "making the sandbox");
        let made = self
            .server
            .json(Method::POST, path, Some(&body), Again::Yes, what)
            .await;
        match made {
            // The name is taken when an earlier attempt went through without our hearing of it.
            Err(error) => match self.look(name).await {
                Ok(found) if found.labels.contains_key(labels::OURS) => Ok(found),
                Ok(_) | Err(_) => Err(match error {
                    ExecError::Gone(said) => unavailable(
                        said,
                        "Check DAYTONA_TARGET and terminal.daytona_image.".to_owned(),
                    ),
                    error => error,
                }),
            },
            made => made,
        }
    }

    /// Starts it if it is not, and waits until it is.
    async fn started(&self, sandbox: Described, image: &str) -> Result<Described, ExecError> {
        let deadline = Instant::now() + START;
        let mut pause = FIRST_LOOK;
        let mut one = sandbox;
        let mut asked = false;
        loop {
            match one.state {
                State::Started => return Ok(one),
                State::Stopped | State::Archived if !asked => {
                    asked = true;
                    let path = format!("sandbox/{}/start", one.id);
                    let what = "starting the sandbox";
                    self.server
                        .ask(Method::POST, &path, None, Again::Yes, what)
                        .await?;
                }
                State::Error | State::BuildFailed => return Err(broken(&one, image)),
                State::Destroying | State::Destroyed => {
                    return Err(ExecError::Gone(format!("{} was removed", one.name())));
                }
                State::Stopped | State::Archived | State::Moving => {}
            }
            if Instant::now() > deadline {
                return Err(ExecError::TimedOut {
                    what: "starting the sandbox".to_owned(),
                    limit: START,
                });
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_LOOK);
            one = self.look(&one.id).await?;
        }
    }

    /// Whether a sandbox is there and started; one that cannot be asked about is.
    pub(super) async fn runs(&self, id: &str) -> bool {
        match self.look(id).await {
            Ok(one) => one.state == State::Started,
            Err(ExecError::Gone(_)) => false,
            Err(_) => true,
        }
    }

    async fn look(&self, id: &str) -> Result<Described, ExecError> {
        let path = format!("sandbox/{id}");
        let what = "looking at the sandbox";
        self.server
            .json(Method::GET, &path, None, Again::Yes, what)
            .await
    }

    /// The sandboxes with these labels. Older servers answer with a list, newer ones with pages.
    async fn list(&self, labels: &[(&str, String)]) -> Result<Vec<Described>, ExecError> {
        let labels: BTreeMap<_, _> = labels.iter().cloned().collect();
        let mut all = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let path = page(&json!(labels), cursor.as_deref());
            let mut page: Value = self
                .server
                .json(Method::GET, &path, None, Again::Yes, "listing sandboxes")
                .await?;
            let items = match &mut page {
                Value::Array(_) => page.take(),
                page => page.get_mut("items").map(Value::take).unwrap_or_default(),
            };
            let items: Vec<Described> = serde_json::from_value(items).map_err(|error| {
                let next = "Check DAYTONA_API_URL.".to_owned();
                unavailable(format!("the list of sandboxes is not one: {error}"), next)
            })?;
            all.extend(items);
            cursor = page
                .get("nextCursor")
                .and_then(|cursor| Some(cursor.as_str()?.to_owned()));
            if cursor.is_none() {
                break;
            }
        }
        // Servers that do not know the filter answer with everything.
        all.retain(|one| {
            labels
                .iter()
                .all(|(name, value)| one.labels.get(*name) == Some(value))
        });
        Ok(all)
    }

    /// The server inside the sandbox that runs commands.
    pub(super) async fn toolbox(&self, sandbox: &Described) -> Result<Server, ExecError> {
        let url = match &sandbox.toolbox_proxy_url {
            Some(url) => url.clone(),
            None => {
                let path = format!("sandbox/{}/toolbox-proxy-url", sandbox.id);
                let what = "looking for the toolbox";
                let answer: Value = self
                    .server
                    .json(Method::GET, &path, None, Again::Yes, what)
                    .await?;
                let url = answer.get("url").and_then(Value::as_str);
                url.unwrap_or_default().to_owned()
            }
        };
        self.server
            .at(&format!("{}/{}", url.trim_end_matches('/'), sandbox.id))
    }
}

impl Inventory for Account {
    async fn all(&self) -> Result<Vec<(String, Sandbox)>, ExecError> {
        let all = self.list(&[(labels::OURS, "1".to_owned())]).await?;
        let known = all.into_iter().map(|one| {
            let sandbox = Sandbox {
                image: one.snapshot.clone().unwrap_or_default(),
                running: matches!(one.state, State::Started | State::Moving),
                created_at: one.created_at(),
                ..Sandbox::from_labels(one.name().to_owned(), &one.labels)
            };
            (one.id, sandbox)
        });
        Ok(known.collect())
    }

    async fn stop(&self, id: &str) -> Result<(), ExecError> {
        let path = format!("sandbox/{id}/stop");
        let what = "stopping the sandbox";
        gone_is_fine(
            self.server
                .ask(Method::POST, &path, None, Again::Yes, what)
                .await,
        )
    }

    async fn remove(&self, id: &str) -> Result<(), ExecError> {
        let path = format!("sandbox/{id}");
        let what = "removing the sandbox";
        gone_is_fine(
            self.server
                .ask(Method::DELETE, &path, None, Again::Yes, what)
                .await,
        )
    }
}

/// The path of one page of the list.
fn page(labels: &Value, cursor: Option<&str>) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("labels", &labels.to_string());
    if let Some(cursor) = cursor {
        query.append_pair("cursor", cursor);
    }
    format!("sandbox?{}", query.finish())
}

fn gone_is_fine<T>(result: Result<T, ExecError>) -> Result<(), ExecError> {
    match result {
        Ok(_) | Err(ExecError::Gone(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// What sandboxes made alike have in common.
fn making(config: &DaytonaConfig) -> Value {
    let cloud = &config.cloud;
    let minutes = (cloud.lifetime * ABANDONED).as_secs().div_ceil(60).max(15);
    let gigabytes = |megabytes: u32| megabytes.div_ceil(1024);
    let mut body = json!({
        "buildInfo": { "dockerfileContent": format!("FROM {}\n", cloud.image) },
        "autoStopInterval": minutes,
    });
    let limits = [
        // Settings allow a few thousand processors at most, so this is exact.
        ("cpu", cloud.cpus.ceil() as u32),
        ("memory", gigabytes(cloud.memory_mb)),
        ("disk", gigabytes(cloud.disk_mb).min(MAX_DISK)),
    ];
    for (name, value) in limits {
        if value > 0 {
            body[name] = json!(value);
        }
    }
    if !cloud.persistent {
        // Gone once it is stopped, by whomever.
        body["autoDeleteInterval"] = json!(0);
    }
    if let Some(target) = &config.target {
        body["target"] = json!(target);
    }
    body
}
