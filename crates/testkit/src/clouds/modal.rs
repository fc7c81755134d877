//! Modal: the control plane and the way into each sandbox, two gRPC services on one port.

mod messages;
mod programs;
mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use http::HeaderMap;
use prost::Message;
use tokio::runtime::Runtime;

use super::yard::Yard;
use super::{Fault, Faults, ground, locked};
use messages as pb;
use programs::Programs;
use wire::{Answer, Refusal, refuse};

const TOKEN: (&str, &str) = ("ak-test", "as-test");
const CONTROL: &str = "/modal.client.ModalClient/";
const ROUTER: &str = "/modal.task_command_router.TaskCommandRouter/";
/// More processors than this are over the quota, in thousandths.
const QUOTA: u32 = 8000;

/// A running vendor, ended with all its sandboxes when dropped.
pub struct Modal {
    state: Arc<State>,
    runtime: Option<Runtime>,
}

/// What all calls share.
struct State {
    port: u16,
    yard: Yard,
    sandboxes: Mutex<BTreeMap<String, Sandbox>>,
    /// Snapshots that sandboxes can be made from.
    images: Mutex<BTreeSet<String>>,
    programs: Programs,
    faults: Faults,
    calls: Mutex<Vec<String>>,
    /// The number in the passes that are accepted.
    passes: Mutex<u32>,
    made: Mutex<u32>,
    /// What was asked for by key, so that a repeated call has no further effect.
    answered: Mutex<BTreeMap<String, String>>,
}

#[derive(Clone)]
struct Sandbox {
    definition: pb::Sandbox,
    tags: Vec<pb::SandboxTag>,
    number: u32,
    looks: u32,
}

impl Modal {
    /// Starts one.
    pub fn start() -> anyhow::Result<Self> {
        let (runtime, listener, port) = ground("modal")?;
        let state = Arc::new(State {
            port,
            yard: Yard::new()?,
            sandboxes: Mutex::default(),
            images: Mutex::default(),
            programs: Programs::default(),
            faults: Faults::default(),
            calls: Mutex::default(),
            passes: Mutex::default(),
            made: Mutex::default(),
            answered: Mutex::default(),
        });
        runtime.spawn(wire::serve(listener, state.clone()));
        Ok(Self {
            state,
            runtime: Some(runtime),
        })
    }

    /// The address of the control plane.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.state.port)
    }

    /// The token that is accepted.
    pub fn token(&self) -> (&'static str, &'static str) {
        TOKEN
    }

    /// Lets something go wrong: the answer is a status of gRPC.
    pub fn fault(&self, fault: Fault) {
        self.state.faults.add(fault);
    }

    /// The ids of the sandboxes that run.
    pub fn sandboxes(&self) -> Vec<String> {
        locked(&self.state.sandboxes).keys().cloned().collect()
    }

    /// Processors in thousandths, memory in MB and image of a sandbox.
    pub fn made_of(&self, id: &str) -> Option<(u32, u32, String)> {
        let sandboxes = locked(&self.state.sandboxes);
        let definition = &sandboxes.get(id)?.definition;
        let resources = definition.resources.clone().unwrap_or_default();
        Some((
            resources.milli_cpu,
            resources.memory_mb,
            definition.image_id.clone(),
        ))
    }

    /// How many calls had this in their path.
    pub fn calls(&self, part: &str) -> usize {
        let calls = locked(&self.state.calls);
        calls.iter().filter(|one| one.contains(part)).count()
    }

    /// Makes every pass into a sandbox worthless.
    pub fn expire_passes(&self) {
        *locked(&self.state.passes) += 1;
    }

    /// Ends a sandbox behind everybody's back.
    pub fn remove(&self, id: &str) {
        self.state.end(id);
    }
}

impl Drop for Modal {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl State {
    /// One call: its answers, or why there are none.
    async fn answer(&self, path: &str, headers: &HeaderMap, body: &[u8]) -> Answer {
        locked(&self.calls).push(path.to_owned());
        if let Some(method) = path.strip_prefix(CONTROL) {
            let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
            let token = (header("x-modal-token-id"), header("x-modal-token-secret"));
            if token != (Some(TOKEN.0), Some(TOKEN.1)) {
                return refuse(16, "Token ID is malformed or unknown");
            }
            if header("x-modal-client-version").is_none() {
                return refuse(9, "Client version is required");
            }
            let key = header("x-idempotency-key").unwrap_or_default();
            return self.control(method, key, body);
        }
        let Some(method) = path.strip_prefix(ROUTER) else {
            return refuse(12, "no such method");
        };
        let pass = format!("Bearer {}", self.pass());
        if headers.get("authorization").map(|value| value.as_bytes()) != Some(pass.as_bytes()) {
            return refuse(16, "the pass has expired");
        }
        programs::answer(self, method, body).await
    }

    fn pass(&self) -> String {
        format!("pass-{}", *locked(&self.passes))
    }

    fn control(&self, method: &str, key: &str, body: &[u8]) -> Answer {
        match method {
            "AppGetOrCreate" => one(&pb::Id {
                id: "ap-1".to_owned(),
            }),
            "EnvironmentGetOrCreate" => one(&pb::Environment {
                metadata: Some(pb::EnvironmentMetadata {
                    settings: Some(pb::EnvironmentSettings {
                        image_builder_version: "2025.06".to_owned(),
                    }),
                }),
            }),
            "ImageGetOrCreate" => self.image(&read(body)?),
            "ImageJoinStreaming" => self.join(&read(body)?),
            "SandboxCreate" => self.make(&read(body)?, key),
            "SandboxGetTaskId" => self.task(&read(body)?),
            "SandboxList" => self.list(&read(body)?),
            "SandboxSnapshotFs" => self.snapshot(&read(body)?),
            "SandboxTerminate" => {
                let pb::Id { id } = read(body)?;
                if self.end(&id) {
                    one(&pb::Nothing {})
                } else {
                    refuse(5, "no such sandbox")
                }
            }
            "TaskGetCommandRouterAccess" => {
                let pb::Id { id } = read(body)?;
                match self.sandbox_of(&id) {
                    Some(_) => one(&pb::Access {
                        jwt: self.pass(),
                        url: format!("http://127.0.0.1:{}", self.port),
                    }),
                    None => refuse(5, "no such task"),
                }
            }
            _ => refuse(12, "no such method"),
        }
    }

    fn image(&self, request: &pb::ImageRequest) -> Answer {
        let commands = request
            .image
            .clone()
            .unwrap_or_default()
            .dockerfile_commands;
        let Some((from, added)) = commands.split_first() else {
            return refuse(3, "not an image");
        };
        let made = from.starts_with("FROM ") && added.iter().all(|line| line.starts_with("RUN "));
        if request.builder_version != "2025.06" || !made {
            return refuse(3, "not an image");
        }
        // One that has to be fetched first; how that went is told by the stream.
        let id = match from.contains("missing") {
            true => "im-missing",
            false => "im-base",
        };
        one(&pb::ImageAnswer {
            image_id: id.to_owned(),
            result: None,
        })
    }

    fn join(&self, request: &pb::JoinRequest) -> Answer {
        if request.last_entry_id.is_empty() {
            // The first stream ends before there is a result.
            let entry = pb::JoinAnswer {
                entry_id: "1".to_owned(),
                task_logs: vec![pb::TaskLog {
                    data: "pulling\n".to_owned(),
                }],
                ..pb::JoinAnswer::default()
            };
            return one(&entry);
        }
        let (status, exception) = match request.image_id == "im-missing" {
            true => (2, "manifest unknown"),
            false => (1, ""),
        };
        one(&pb::JoinAnswer {
            result: Some(pb::Outcome {
                status,
                exception: exception.to_owned(),
            }),
            ..pb::JoinAnswer::default()
        })
    }

    fn make(&self, request: &pb::CreateRequest, key: &str) -> Answer {
        if let Some(id) = locked(&self.answered).get(key) {
            return one(&pb::Id { id: id.clone() });
        }
        let definition = request.definition.clone().unwrap_or_default();
        let image = definition.image_id.clone();
        let resources = definition.resources.clone().unwrap_or_default();
        if resources.milli_cpu > QUOTA {
            return refuse(8, "CPU limit of the workspace exceeded");
        }
        let known = image == "im-base" || locked(&self.images).contains(&image);
        if !known || definition.entrypoint_args != ["sleep", "infinity"] {
            return refuse(5, "no such image");
        }
        let number = {
            let mut made = locked(&self.made);
            *made += 1;
            *made
        };
        let id = format!("sb-{number}");
        let made = match image.as_str() {
            "im-base" => self.yard.make(&id),
            snapshot => self.yard.copy(snapshot, &id),
        };
        if let Err(error) = made {
            return refuse(13, &error.to_string());
        }
        let sandbox = Sandbox {
            definition,
            tags: request.tags.clone(),
            number,
            looks: 0,
        };
        locked(&self.sandboxes).insert(id.clone(), sandbox);
        locked(&self.answered).insert(key.to_owned(), id.clone());
        one(&pb::Id { id })
    }

    /// A sandbox runs the second time somebody looks.
    fn task(&self, request: &pb::Id) -> Answer {
        let mut sandboxes = locked(&self.sandboxes);
        let Some(sandbox) = sandboxes.get_mut(&request.id) else {
            return refuse(5, "no such sandbox");
        };
        sandbox.looks += 1;
        let task = (sandbox.looks > 1).then(|| request.id.replace("sb-", "ta-"));
        one(&pb::TaskAnswer {
            task_id: task,
            task_result: None,
        })
    }

    /// One sandbox a page, the newest first.
    fn list(&self, request: &pb::ListRequest) -> Answer {
        let sandboxes = locked(&self.sandboxes);
        let before = request.before_timestamp;
        let newest = sandboxes
            .iter()
            .filter(|(_, one)| before == 0.0 || f64::from(one.number) < before)
            .filter(|(_, one)| request.tags.iter().all(|tag| one.tags.contains(tag)))
            .max_by_key(|(_, one)| one.number);
        let page = newest.map(|(id, sandbox)| pb::Info {
            id: id.clone(),
            created_at: f64::from(sandbox.number),
            tags: sandbox.tags.clone(),
            image_id: sandbox.definition.image_id.clone(),
        });
        one(&pb::ListAnswer {
            sandboxes: page.into_iter().collect(),
        })
    }

    fn snapshot(&self, request: &pb::Id) -> Answer {
        if !locked(&self.sandboxes).contains_key(&request.id) {
            return refuse(5, "no such sandbox");
        }
        let image = format!("im-of-{}", request.id);
        if let Err(error) = self.yard.copy(&request.id, &image) {
            return refuse(13, &error.to_string());
        }
        locked(&self.images).insert(image.clone());
        one(&pb::ImageAnswer {
            image_id: image,
            result: Some(pb::Outcome {
                status: 1,
                exception: String::new(),
            }),
        })
    }

    fn end(&self, id: &str) -> bool {
        let known = locked(&self.sandboxes).remove(id).is_some();
        self.programs.forget(&id.replace("sb-", "ta-"));
        self.yard.remove(id);
        known
    }

    /// The sandbox that a task runs.
    fn sandbox_of(&self, task: &str) -> Option<String> {
        let id = task.replace("ta-", "sb-");
        locked(&self.sandboxes).contains_key(&id).then_some(id)
    }
}

fn read<M: Message + Default>(body: &[u8]) -> Result<M, Refusal> {
    M::decode(body).map_err(|error| Refusal {
        code: 3,
        message: error.to_string(),
    })
}

/// The one answer of a call.
fn one(message: &impl Message) -> Answer {
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    // There is room for one.
    let _ = sender.try_send(Ok(message.encode_to_vec()));
    Ok(receiver)
}
