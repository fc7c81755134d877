//! The sandboxes of an account.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::control::Control;
use super::proto::{
    AppGetOrCreateRequest, AppGetOrCreateResponse, CREATE_IF_MISSING, GenericResult, NetworkAccess,
    Nothing, OPEN, Resources, STATUS_SUCCESS, STATUS_UNKNOWN, Sandbox as Definition,
    SandboxCreateRequest, SandboxGetTaskIdRequest, SandboxGetTaskIdResponse, SandboxId,
    SandboxInfo, SandboxListRequest, SandboxListResponse, SandboxSnapshotFsRequest, SandboxTag,
};
use super::snapshots::Snapshots;
use super::{ModalConfig, image, unavailable};
use crate::lease::Leases;
use crate::sandboxes::{Inventory, Sandbox, is_free};
use crate::{ExecError, labels};

/// The app that all our sandboxes belong to.
const APP: &str = "hermes-agent";
/// On sandboxes whose files are kept: a tag of ours.
const KEPT: &str = "hermes-kept";
/// No sandbox lives longer, whatever runs in it.
const LONGEST_LIFE: Duration = Duration::from_secs(24 * 60 * 60);
/// A sandbox in which nothing has run for so many times its lifetime is ended by the vendor, should we all be gone.
const ABANDONED: u32 = 2;
/// Smaller disks cannot be asked for, in MB; every sandbox has more than our default anyway.
const SMALLEST_DISK: u32 = 512 << 10;
/// How long a sandbox may take to start.
const START: Duration = Duration::from_secs(600);
const LOOK: f32 = 10.0;
const SNAPSHOT: f32 = 55.0;
/// More pages of sandboxes are not read.
const MAX_PAGES: usize = 50;

/// An account, seen with its token.
#[derive(Clone)]
pub(crate) struct Account {
    pub(super) control: Arc<Control>,
    pub(super) environment: String,
    pub(super) snapshots: Snapshots,
}

/// A sandbox and the task that runs it.
pub(super) struct Running {
    pub(super) id: String,
    pub(super) task: String,
}

impl Account {
    async fn app(&self) -> Result<String, ExecError> {
        let request = AppGetOrCreateRequest {
            app_name: APP.to_owned(),
            environment_name: self.environment.clone(),
            object_creation_type: CREATE_IF_MISSING,
        };
        let answer: AppGetOrCreateResponse = self
            .control
            .call("AppGetOrCreate", &request, "signing in")
            .await?;
        Ok(answer.app_id)
    }

    /// Finds the sandbox that fits, or makes one, and has it running.
    pub(super) async fn ensure(
        &self,
        config: &ModalConfig,
        leases: &Leases,
    ) -> Result<Running, ExecError> {
        let cloud = &config.cloud;
        let app = self.app().await?;
        let mut tags: BTreeMap<&str, String> =
            labels::all(&cloud.task, &cloud.profile, cloud.lifetime, &making(config)).into();
        if cloud.persistent {
            tags.insert(KEPT, "1".to_owned());
        }
        let wanted = [labels::OURS, labels::TASK, labels::PROFILE]
            .map(|name| (name, tags.get(name).cloned().unwrap_or_default()));
        for one in self.list(&app, &wanted).await? {
            let alike = tag(&one, labels::CONFIG) == tags.get(labels::CONFIG).map(String::as_str);
            if alike && cloud.persistent {
                match self.running(&one.id, &cloud.image).await {
                    Ok(running) => return Ok(running),
                    Err(error) => tracing::info!(%error, "a sandbox cannot be used any more"),
                }
            }
            // It has no clock of ours, so only who uses it counts.
            if !alike && is_free(leases, &one.id, 0, cloud.lifetime, &*cloud.clock) {
                tracing::info!(sandbox = one.id, "made differently, so it is replaced");
                self.remove(&one.id).await?;
            }
        }
        let config_tag = tags.get(labels::CONFIG).cloned().unwrap_or_default();
        let snapshot = self
            .snapshots
            .last(&labels::value(&cloud.task), &config_tag)
            .filter(|_| cloud.persistent);
        if let Some(snapshot) = snapshot {
            match self.make(config, &app, &snapshot, &tags).await {
                Ok(running) => return Ok(running),
                Err(error) => {
                    tracing::warn!(%error, "the kept files cannot be used; starting from the image");
                    self.note(self.snapshots.forget(&labels::value(&cloud.task)));
                }
            }
        }
        let image = image::find(&self.control, &app, &self.environment, &cloud.image).await?;
        self.make(config, &app, &image, &tags).await
    }

    async fn make(
        &self,
        config: &ModalConfig,
        app: &str,
        image: &str,
        tags: &BTreeMap<&str, String>,
    ) -> Result<Running, ExecError> {
        let cloud = &config.cloud;
        let seconds = |time: Duration| u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
        let definition = Definition {
            entrypoint_args: ["sleep", "infinity"].map(str::to_owned).to_vec(),
            image_id: image.to_owned(),
            resources: Some(Resources {
                memory_mb: cloud.memory_mb,
                // Settings allow a few thousand processors at most, so this is exact.
                milli_cpu: (cloud.cpus * 1000.0).round() as u32,
                ephemeral_disk_mb: match cloud.disk_mb {
                    disk if disk >= SMALLEST_DISK => disk,
                    _ => 0,
                },
            }),
            timeout_secs: seconds(LONGEST_LIFE),
            network_access: Some(NetworkAccess {
                network_access_type: OPEN,
            }),
            idle_timeout_secs: Some(seconds(cloud.lifetime * ABANDONED).max(60)),
            direct_sandbox_commands_enabled: true,
        };
        let request = SandboxCreateRequest {
            app_id: app.to_owned(),
            definition: Some(definition),
            tags: tags.iter().map(|(name, value)| pair(name, value)).collect(),
        };
        let what = "making the sandbox";
        let made: SandboxId = self.control.call("SandboxCreate", &request, what).await?;
        match self.running(&made.sandbox_id, &cloud.image).await {
            Ok(running) => Ok(running),
            Err(error) => {
                // One that does not start would be paid for all the same.
                self.remove(&made.sandbox_id).await?;
                Err(error)
            }
        }
    }

    /// Waits until the sandbox runs.
    async fn running(&self, id: &str, image: &str) -> Result<Running, ExecError> {
        let deadline = Instant::now() + START;
        let request = SandboxGetTaskIdRequest {
            sandbox_id: id.to_owned(),
            timeout: Some(LOOK),
        };
        while Instant::now() < deadline {
            let what = "starting the sandbox";
            let answer: SandboxGetTaskIdResponse = self
                .control
                .call("SandboxGetTaskId", &request, what)
                .await?;
            if let Some(result) = answer.task_result
                && result.status != STATUS_UNKNOWN
            {
                return Err(ended(&result, image));
            }
            if let Some(task) = answer.task_id.filter(|task| !task.is_empty()) {
                let id = id.to_owned();
                return Ok(Running { id, task });
            }
        }
        Err(ExecError::TimedOut {
            what: "starting the sandbox".to_owned(),
            limit: START,
        })
    }

    /// The running sandboxes with these tags, newest first.
    async fn list(
        &self,
        app: &str,
        tags: &[(&str, String)],
    ) -> Result<Vec<SandboxInfo>, ExecError> {
        let mut request = SandboxListRequest {
            app_id: app.to_owned(),
            before_timestamp: 0.0,
            tags: tags.iter().map(|(name, value)| pair(name, value)).collect(),
        };
        let mut all: Vec<SandboxInfo> = Vec::new();
        for _ in 0..MAX_PAGES {
            let what = "listing sandboxes";
            let page: SandboxListResponse =
                self.control.call("SandboxList", &request, what).await?;
            let Some(last) = page.sandboxes.last() else {
                break;
            };
            request.before_timestamp = last.created_at;
            all.extend(page.sandboxes);
        }
        Ok(all)
    }

    /// Keeps the files of a sandbox for the next one.
    async fn snapshot(&self, one: &SandboxInfo) -> Result<(), ExecError> {
        let request = SandboxSnapshotFsRequest {
            sandbox_id: one.id.clone(),
            timeout: SNAPSHOT,
        };
        let what = "keeping the files of the sandbox";
        // The answer has the same shape as the one about an image.
        let taken: super::proto::ImageGetOrCreateResponse = self
            .control
            .call("SandboxSnapshotFs", &request, what)
            .await?;
        let failed = taken
            .result
            .filter(|result| ![STATUS_UNKNOWN, STATUS_SUCCESS].contains(&result.status));
        if let Some(result) = failed {
            let next = "The sandbox is left running.".to_owned();
            return Err(unavailable(
                format!("{what} failed: {}", result.exception),
                next,
            ));
        }
        let task = tag(one, labels::TASK).unwrap_or_default();
        let making = tag(one, labels::CONFIG).unwrap_or_default();
        self.note(self.snapshots.keep(task, making, &taken.image_id));
        Ok(())
    }

    fn note(&self, written: std::io::Result<()>) {
        if let Err(error) = written {
            tracing::warn!(%error, "modal_snapshots.json could not be changed");
        }
    }
}

impl Inventory for Account {
    async fn all(&self) -> Result<Vec<(String, Sandbox)>, ExecError> {
        let app = self.app().await?;
        let all = self.list(&app, &[(labels::OURS, "1".to_owned())]).await?;
        let known = all.into_iter().map(|one| {
            let labels = one
                .tags
                .iter()
                .map(|tag| (tag.tag_name.clone(), tag.tag_value.clone()))
                .collect();
            let sandbox = Sandbox {
                image: one.image_id.clone(),
                running: true,
                // Whole seconds of this century fit.
                created_at: one.created_at as i64,
                ..Sandbox::from_labels(one.id.clone(), &labels)
            };
            (one.id, sandbox)
        });
        Ok(known.collect())
    }

    /// A sandbox of Modal cannot rest, so its files are kept and it is ended.
    async fn stop(&self, id: &str) -> Result<(), ExecError> {
        let app = self.app().await?;
        let all = self.list(&app, &[(labels::OURS, "1".to_owned())]).await?;
        let Some(one) = all.iter().find(|one| one.id == id) else {
            return Ok(());
        };
        if tag(one, KEPT).is_some() {
            match self.snapshot(one).await {
                Err(ExecError::Gone(_)) => return Ok(()),
                taken => taken?,
            }
        }
        self.remove(id).await
    }

    async fn remove(&self, id: &str) -> Result<(), ExecError> {
        let request = SandboxId {
            sandbox_id: id.to_owned(),
        };
        let what = "ending the sandbox";
        let ended: Result<Nothing, _> = self.control.call("SandboxTerminate", &request, what).await;
        match ended {
            Ok(Nothing {}) | Err(ExecError::Gone(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Tells why a sandbox that has ended cannot be used.
fn ended(result: &GenericResult, image: &str) -> ExecError {
    let why = match result.exception.as_str() {
        "" => "no reason given",
        why => why,
    };
    unavailable(
        format!("the sandbox of {image} has ended: {why}"),
        "Check terminal.modal_image.".to_owned(),
    )
}

fn pair(name: &str, value: &str) -> SandboxTag {
    SandboxTag {
        tag_name: name.to_owned(),
        tag_value: value.to_owned(),
    }
}

fn tag<'a>(one: &'a SandboxInfo, name: &str) -> Option<&'a str> {
    let found = one.tags.iter().find(|tag| tag.tag_name == name)?;
    Some(&found.tag_value)
}

/// What sandboxes made alike have in common.
fn making(config: &ModalConfig) -> Value {
    let cloud = &config.cloud;
    json!({
        "image": cloud.image,
        "cpus": cloud.cpus,
        "memory": cloud.memory_mb,
        "disk": cloud.disk_mb,
        "kept": cloud.persistent,
    })
}
