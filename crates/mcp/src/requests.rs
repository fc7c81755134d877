//! What servers ask of us and tell us in the middle of a session.

mod callers;
mod elicitation;
mod log;
mod progress;
mod sampling;

use std::path::PathBuf;
use std::sync::Arc;

use hermes_config::McpElicitation;
use hermes_core::Random;
use hermes_secrets::RedactorHandle;
use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CustomNotification, ElicitRequestParams, ElicitResult,
    ElicitationCapability, ErrorData, FormElicitationCapability, Implementation,
    ProgressNotificationParam, ProtocolVersion, RequestParamsMeta, RootsCapabilities,
    SamplingCapability, UrlElicitationCapability,
};
#[expect(
    deprecated,
    reason = "servers of the present protocol still use sampling, roots and log messages"
)]
use rmcp::model::{
    CreateMessageRequestParams, CreateMessageResult, ListRootsResult,
    LoggingMessageNotificationParam, Root,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use tokio::sync::Notify;
use url::Url;

use crate::Link;
pub use callers::Caller;
pub(crate) use callers::{Callers, Entered};
pub(crate) use progress::{Following, Progress};
pub(crate) use sampling::SamplingDesk;
pub use sampling::{Sample, Sampled, Sampler, SamplingCounts};

/// Listens to one session of a server.
#[derive(Clone)]
pub(crate) struct Ears {
    pub(crate) server: Arc<str>,
    /// Told that the server's tools are others now.
    pub(crate) tools_changed: Arc<Notify>,
    /// Told that some task of the server's is in another state.
    pub(crate) task_news: Arc<Notify>,
    pub(crate) callers: Arc<Callers>,
    pub(crate) progress: Arc<Progress>,
    pub(crate) sampling: Option<Arc<SamplingDesk>>,
    pub(crate) elicitation: McpElicitation,
    pub(crate) directory: PathBuf,
    pub(crate) redactor: RedactorHandle,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) log_text: usize,
}

impl Ears {
    /// Lets the person of a call open what a server names.
    pub(crate) async fn visited(&self, caller: &Caller, links: &[Link]) -> bool {
        elicitation::visited(self, caller, links).await
    }
}

#[expect(
    deprecated,
    reason = "servers of the present protocol still use sampling, roots and log messages"
)]
impl ClientHandler for Ears {
    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let Some(desk) = &self.sampling else {
            return Err(ErrorData::invalid_request(
                "sampling is switched off for this server",
                None,
            ));
        };
        let meta = params.meta().unwrap_or(&context.meta);
        let task = crate::task::related(Some(&meta.0.0)).map(str::to_owned);
        let caller = self.callers.behind(task.as_deref()).await;
        let session = caller.map(|caller| caller.session);
        desk.answer(params, session, &context.ct).await
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        let root = Url::from_directory_path(&self.directory)
            .map(|url| Root::new(url.to_string()))
            .into_iter();
        Ok(ListRootsResult::new(root.collect()))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let meta = request.meta().unwrap_or(&context.meta);
        let task = crate::task::related(Some(&meta.0.0)).map(str::to_owned);
        Ok(elicitation::answer(self, request, task.as_deref(), &context.ct).await)
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        log::pass_on(&self.server, &params, self.log_text, &self.redactor);
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.progress.note(&self.server, &params, &self.redactor);
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        _: NotificationContext<RoleClient>,
    ) {
        if notification.method == crate::task::NEWS {
            self.task_news.notify_waiters();
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        // The refresh happens elsewhere: asking the server from here would wait for ourselves.
        self.tools_changed.notify_one();
    }

    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(RootsCapabilities::default());
        capabilities.sampling = self.sampling.as_ref().map(|_| {
            let mut sampling = SamplingCapability::default();
            sampling.tools = Some(serde_json::Map::new());
            sampling
        });
        capabilities.elicitation = self.elicitation.enabled.then(|| {
            ElicitationCapability::new()
                .with_form(FormElicitationCapability::default())
                .with_url(UrlElicitationCapability::default())
        });
        ClientConfig::new(
            capabilities,
            Implementation::new("hermes", env!("CARGO_PKG_VERSION")),
        )
        // The newest version has no handshake, so it cannot be named in one.
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}
