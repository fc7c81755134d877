//! What clients are answered.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::ServeParts;
use super::channels::Channels;
use super::conversations::Conversations;
use super::events::{Event, Events};
use super::offer::Offer;
use super::parameter::Arguments;
use super::permissions::Permissions;

const NAME: &str = "hermes";
const INSTRUCTIONS: &str = "Reads the conversations of a Hermes agent. Begin with conversations_list; \
    its session_key names a conversation everywhere. events_wait tells when something new was said or a session \
    waits for a yes, which permissions_respond gives or refuses.";
/// What a client is called that did not say.
const SOMEBODY: &str = "a program";
/// Longest name of a client that is written down.
const MOST_NAME: usize = 60;

/// The server, as every connection has it.
#[derive(Clone)]
pub(super) struct Hermes {
    conversations: Conversations,
    channels: Channels,
    permissions: Permissions,
    events: Events,
    stop: CancellationToken,
}

impl Hermes {
    pub(super) fn new(parts: ServeParts, events: Events, stop: CancellationToken) -> Self {
        Self {
            conversations: Conversations::new(parts.store.clone()),
            channels: Channels::new(parts.store.clone(), parts.channels),
            permissions: Permissions::new(parts.store),
            events,
            stop,
        }
    }

    async fn answer(&self, offer: Offer, given: Arguments, client: &str) -> Result<Json, String> {
        let whole = |name| given.whole(name, offer.parameters());
        let session = given.text("session_key");
        match offer {
            Offer::ConversationsList => {
                let (platform, search) = (given.text("platform"), given.text("search"));
                let conversations = &self.conversations;
                conversations.list(platform, search, whole("limit")).await
            }
            Offer::ConversationGet => {
                let key = given.required("session_key")?;
                self.conversations.get(&key).await
            }
            Offer::MessagesRead => {
                let key = given.required("session_key")?;
                self.conversations.messages(&key, whole("limit")).await
            }
            Offer::AttachmentsFetch => {
                let key = given.required("session_key")?;
                let message = given.required("message_id")?;
                self.conversations.attachments(&key, &message).await
            }
            Offer::EventsPoll => {
                let most = usize::try_from(whole("limit")).unwrap_or(usize::MAX);
                let found = self
                    .events
                    .poll(whole("after_cursor"), session.as_deref(), most);
                let events: Vec<Json> = found.events.iter().map(Event::to_json).collect();
                Ok(json!({
                    "events": events, "next_cursor": found.next, "missed": found.missed,
                }))
            }
            Offer::EventsWait => {
                let limit = Duration::from_millis(whole("timeout_ms"));
                let waiting = self
                    .events
                    .wait(whole("after_cursor"), session.as_deref(), limit);
                Ok(match waiting.await {
                    Some(event) => json!({ "event": event.to_json() }),
                    None => json!({ "event": null, "reason": "timeout" }),
                })
            }
            Offer::MessagesSend => {
                let target = given.required("target")?;
                given.required("message")?;
                Err(unsent(&target))
            }
            Offer::PermissionsListOpen => self.permissions.open().await,
            Offer::PermissionsRespond => {
                let (id, decision) = (given.required("id")?, given.required("decision")?);
                self.permissions.respond(&id, &decision, client).await
            }
            Offer::ChannelsList => {
                let platform = given.text("platform");
                self.channels.list(platform.as_deref()).await
            }
        }
    }
}

impl ServerHandler for Hermes {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(NAME, env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = Offer::ALL.into_iter().map(Offer::tool).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(offer) = Offer::named(&request.name) else {
            let name: String = request.name.chars().take(100).collect();
            return Err(ErrorData::invalid_params(
                format!("there is no tool `{name}`"),
                None,
            ));
        };
        tracing::debug!(tool = %request.name, "asked");
        let given = Arguments(request.arguments.unwrap_or_default());
        let client = client(&context);
        let answer = tokio::select! {
            answer = self.answer(offer, given, &client) => answer,
            () = context.ct.cancelled() => Err("the call was taken back".to_owned()),
            () = self.stop.cancelled() => Err("the server is ending".to_owned()),
        };
        let text = |json: Json| vec![ContentBlock::text(json.to_string())];
        Ok(match answer {
            Ok(answer) => CallToolResult::success(text(answer)),
            Err(why) => {
                tracing::debug!(tool = %request.name, "not answered: {why}");
                CallToolResult::error(text(json!({ "error": why })))
            }
        }
        .into())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        Offer::named(name).map(Offer::tool)
    }
}

/// What the client calls itself, on one line.
fn client(context: &RequestContext<RoleServer>) -> String {
    let info = context.peer.peer_info();
    let name = info.as_deref().map_or("", |info| &info.client_info.name);
    let name = name.chars().filter(|letter| !letter.is_control());
    let name: String = name.take(MOST_NAME).collect();
    match name.trim() {
        "" => SOMEBODY.to_owned(),
        name => name.to_owned(),
    }
}

/// Why a message stays here.
fn unsent(target: &str) -> String {
    match target.split_once(':') {
        Some((platform, id)) if !platform.is_empty() && !id.is_empty() => format!(
            "the message to {target} was not sent: no gateway is running for this home, and only a gateway sends to \
             chat platforms"
        ),
        _ => {
            format!("{target} is no target; it has the form platform:id, as channels_list gives it")
        }
    }
}
