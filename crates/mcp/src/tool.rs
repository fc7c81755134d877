//! The tools of servers as the engine knows tools.

use std::convert::Infallible;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_config::McpTrust;
use hermes_core::{
    Beside, Effect, Handling, Tool, ToolContext, ToolError, ToolOutcome, ToolResult, ToolSpec,
};
use hermes_secrets::RedactorHandle;
use serde_json::{Map, Value as Json};
use tokio::sync::watch;

use crate::consent::Consent;
use crate::{
    Answers, Caller, Catalog, Fleet, Namespace, Operation, RecoveryPolicy, Remote, RemoteTool,
    Server, Shelf, Trouble, Utility, allows_utility, normalise_schema,
};

/// What the tools of one server have in common.
pub(crate) struct Offer {
    pub(crate) fleet: Fleet,
    pub(crate) server: Server,
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) redactor: RedactorHandle,
    pub(crate) policy: RecoveryPolicy,
    pub(crate) consent: Consent,
}

/// A tool of a server, or one of our own for its resources and prompts.
pub(crate) struct McpTool {
    spec: ToolSpec,
    remote: Remote,
    /// The same for all tools of a server; there may be thousands.
    answers: Arc<Answers>,
    offer: Arc<Offer>,
}

impl McpTool {
    /// Everything that can be called at a server.
    pub(crate) fn all(catalog: &Catalog, namespace: &Namespace, offer: &Arc<Offer>) -> Vec<Self> {
        let settings = offer.server.settings().tools.clone();
        let utilities = Utility::ALL
            .into_iter()
            .filter(|utility| match utility.is_about_prompts() {
                true => catalog.prompts,
                false => catalog.resources,
            })
            .filter(|utility| allows_utility(settings.as_ref(), *utility))
            .map(Remote::Utility);
        let tools = catalog
            .tools
            .iter()
            .map(|tool| Remote::Tool(tool.name.clone()));
        let server = offer.server.name();
        let names = namespace.name(server, tools.chain(utilities));
        let reader = Remote::Utility(Utility::ReadResource);
        let answers = Arc::new(Answers::new(
            server.to_owned(),
            names.wire(&reader).map(str::to_owned),
            Arc::clone(&offer.shelf),
            offer.redactor.clone(),
        ));
        names
            .iter()
            .filter_map(|(wire, remote)| {
                let spec = match remote {
                    Remote::Utility(utility) => utility.spec(wire, server),
                    Remote::Tool(name) => spec(wire, server, catalog.tool(name)?),
                };
                Some(Self {
                    spec,
                    remote: remote.clone(),
                    answers: Arc::clone(&answers),
                    offer: Arc::clone(offer),
                })
            })
            .collect()
    }

    fn operation(&self, arguments: Json) -> Result<Operation, ToolError> {
        let mut arguments = match arguments {
            Json::Object(map) => map,
            _ => Map::new(),
        };
        let mut text = |key: &str| match arguments.remove(key) {
            Some(Json::String(text)) if !text.is_empty() => Ok(text),
            Some(_) | None => Err(ToolError::ForModel {
                message: format!("`{key}` is missing"),
            }),
        };
        Ok(match &self.remote {
            Remote::Tool(name) => Operation::CallTool {
                name: name.clone(),
                repeatable: self.spec.effect != Effect::Mutating,
                arguments,
            },
            Remote::Utility(Utility::ListResources) => Operation::ListResources,
            Remote::Utility(Utility::ListPrompts) => Operation::ListPrompts,
            Remote::Utility(Utility::ReadResource) => Operation::ReadResource { uri: text("uri")? },
            Remote::Utility(Utility::GetPrompt) => {
                let name = text("name")?;
                let arguments = match arguments.remove("arguments") {
                    Some(Json::Object(map)) => map,
                    Some(_) | None => Map::new(),
                };
                Operation::GetPrompt { name, arguments }
            }
        })
    }

    async fn run(&self, arguments: Json, context: &ToolContext) -> ToolOutcome {
        self.allowed(&arguments, context).await?;
        let operation = self.operation(arguments)?;
        let asked = operation.asked();
        let (progress, said) = watch::channel(String::new());
        let caller = Caller {
            session: context.session.clone(),
            asker: Arc::clone(&context.asker),
            cancel: context.cancel.clone(),
            progress: Some(progress),
        };
        let server = self.offer.server.name();
        let answer = tokio::select! {
            answer = self.offer.fleet.call(server, operation, caller) => answer,
            never = show(said, context) => match never {},
        };
        match answer {
            Ok(answer) => {
                let rendered = self.answers.render(asked, answer).await;
                Ok(ToolResult {
                    content: rendered.content,
                    media: rendered.media,
                })
            }
            Err(Trouble::Interrupted) if context.cancel.is_cancelled() => Err(ToolError::Cancelled),
            Err(trouble) => Ok(ToolResult {
                content: self.answers.trouble(&trouble),
                media: Vec::new(),
            }),
        }
    }

    /// A server that is not trusted changes nothing without a yes.
    async fn allowed(&self, arguments: &Json, context: &ToolContext) -> Result<(), ToolError> {
        let server = &self.offer.server;
        let trusted = server.settings().trust == McpTrust::Trusted;
        if trusted || self.spec.effect == Effect::ReadOnly {
            return Ok(());
        }
        let asked = &self.offer.consent;
        asked
            .ask(server.name(), &self.spec.name, arguments, context)
            .await
    }
}

/// Shows what a server says about how far a call is. Only the last word counts: a server may say a lot.
async fn show(mut said: watch::Receiver<String>, context: &ToolContext) -> Infallible {
    while said.changed().await.is_ok() {
        let words = said.borrow_and_update().clone();
        context.host.show(context, format!("{words}\n")).await;
    }
    std::future::pending().await
}

fn spec(wire: &str, server: &str, tool: &RemoteTool) -> ToolSpec {
    let described = tool
        .description
        .clone()
        .filter(|text| !text.trim().is_empty());
    ToolSpec {
        name: wire.to_owned(),
        description: described
            .unwrap_or_else(|| format!("Tool {} of MCP server {server}.", tool.name)),
        parameters: normalise_schema(&tool.schema),
        effect: tool.effect,
    }
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn server(&self) -> Option<&str> {
        Some(self.offer.server.name())
    }

    fn handling(&self) -> Handling {
        let parallel = self.offer.server.settings().supports_parallel_tool_calls;
        // While a person is asked the engine's time stands still.
        let deadline = self.offer.policy.longest_call();
        Handling {
            beside: match parallel {
                true => Beside::Anything,
                false => Beside::Nothing,
            },
            deadline,
            untrusted: true,
            ..Handling::default()
        }
    }

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(self.run(arguments, context))
    }
}
