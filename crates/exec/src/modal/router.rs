//! The way into one sandbox: a server of its own, with a pass that has to be renewed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hermes_http::{AuthScheme, BaseUrl};
use hermes_secrets::{Origin, Secret, SecretName};
use prost::Message;
use url::Url;

use super::control::{Control, explain};
use super::grpc::{Answers, CONTENT_TYPE, Code, Failure, Service, framed};
use super::proto::{TaskGetCommandRouterAccessRequest, TaskGetCommandRouterAccessResponse};
use super::unavailable;
use crate::ExecError;
use crate::tether::{self, Wish};

const NAME: &str = "modal.task_command_router.TaskCommandRouter";
const ATTEMPTS: u32 = 6;
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// A sandbox's own server.
pub(super) struct Router {
    control: Arc<Control>,
    pub(super) task: String,
    service: Mutex<Service>,
    /// How often the pass was renewed.
    edition: AtomicU64,
}

impl Router {
    pub(super) async fn find(control: &Arc<Control>, task: &str) -> Result<Self, ExecError> {
        Ok(Self {
            service: Mutex::new(access(control, task).await?),
            control: Arc::clone(control),
            task: task.to_owned(),
            edition: AtomicU64::new(0),
        })
    }

    pub(super) fn edition(&self) -> u64 {
        self.edition.load(Ordering::Relaxed)
    }

    pub(super) fn next_id(&self) -> String {
        self.control.next_id()
    }

    fn service(&self) -> Service {
        self.service
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Asks for another pass when the one at hand is not accepted any more.
    pub(super) async fn renew(&self) -> Result<(), Failure> {
        let fresh = access(&self.control, &self.task)
            .await
            .map_err(|error| Failure::Status {
                code: Code::NotFound,
                message: error.to_string(),
            })?;
        *self.service.lock().unwrap_or_else(PoisonError::into_inner) = fresh;
        self.edition.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Calls a method, several times if that may help: all of them may be called twice.
    pub(super) async fn call<A: Message + Default>(
        &self,
        method: &str,
        request: &impl Message,
        limit: Duration,
    ) -> Result<A, Failure> {
        let mut pause = FIRST_PAUSE;
        let mut attempt = 0;
        loop {
            let called = self.service().unary(method, request, limit, &[]).await;
            let failure = match called {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            attempt += 1;
            if attempt == ATTEMPTS || failure.is_patience() {
                return Err(failure);
            }
            match failure.code() {
                Some(Code::Unauthenticated) => self.renew().await?,
                _ if failure.is_transient() => tokio::time::sleep(pause).await,
                _ => return Err(failure),
            }
            pause *= 2;
        }
    }

    /// Calls a method with many answers, once.
    pub(super) async fn stream<A: Message + Default>(
        &self,
        method: &str,
        request: &impl Message,
        silence: Duration,
    ) -> Result<Answers<A>, Failure> {
        self.service().stream(method, request, silence).await
    }

    /// The same as a wish.
    pub(super) fn wish(&self, method: &str, request: &impl Message) -> Wish {
        let service = self.service();
        let url = service.base.join(&service.path(method));
        let mut wish = Wish::post(&url, CONTENT_TYPE, &framed(request)).shared();
        for (secret, _) in &service.secrets {
            wish = wish.secret("authorization", "Bearer ", secret);
        }
        wish
    }
}

async fn access(control: &Control, task: &str) -> Result<Service, ExecError> {
    let what = "finding the way into the sandbox";
    let request = TaskGetCommandRouterAccessRequest {
        task_id: task.to_owned(),
    };
    let access: TaskGetCommandRouterAccessResponse = control
        .call("TaskGetCommandRouterAccess", &request, what)
        .await?;
    let wrong = |cause: &str| {
        let cause = format!("the address {} of the sandbox {cause}", access.url);
        unavailable(cause, "Check MODAL_SERVER_URL.".to_owned())
    };
    let url: Url = access.url.parse().map_err(|_| wrong("is not one"))?;
    let origin = Origin::of(&url).map_err(|_| wrong("has no host"))?;
    let ours = control.service.base.origin();
    let ours = ours.map_err(|_| wrong("has no host"))?;
    if origin.scheme() != "https" && ours.scheme() == "https" {
        return Err(wrong("is less secure than the API"));
    }
    let name = SecretName::new("MODAL_TASK_TOKEN").map_err(|_| wrong("has no pass"))?;
    let pass = Secret::builder(name, access.jwt.clone())
        .origins([origin.into()])
        .child(tether::child())
        .build()
        .map_err(|_| wrong("has no pass"))?;
    Ok(Service {
        http: control.service.http.clone(),
        base: BaseUrl::from(url),
        name: NAME,
        headers: Vec::new(),
        secrets: vec![(pass, AuthScheme::Bearer)],
    })
}

/// Why something did not start.
pub(super) fn trouble(failure: &Failure, what: &str) -> ExecError {
    match failure.code() {
        Some(Code::NotFound | Code::FailedPrecondition) => ExecError::Gone(failure.to_string()),
        _ => explain(failure, what),
    }
}
